// The dependence of inverse dynamics on the inertial parameters of the bodies, which is linear: tau = Y(q, v, v', ...) pi, with all
// time derivatives.
//
// In a body's own axes a material point x has acceleration a + W x (inverse_dynamics.hpp), so the wrench that a body requires is f = m
// a + W h, n = h x a + axial(W J): its ten parameters are multiplied only by entries of a and W. These wrenches are transformed to
// world axes, where the force of a coordinate is J_c . (f, n).
#pragma once

#include "jounce/algorithms/inverse_dynamics.hpp"
#include "jounce/motion/columns.hpp"

JOUNCE_BEGIN

template <class Ring>
class Regressor {
 public:
  using A = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;
  static constexpr int parameters = 10;  // mass, mass times centre of mass (3), inertia about the origin xx xy yy xz yz zz

  template <class Arena>
  Regressor(const Tree& tree, const Frame* bodies, int body_count, const WorldFrame<Ring>& world, const InverseDynamics<Ring>& dynamics,
            int rows, Arena& arena)
      : tree_(tree),
        bodies_(bodies),
        body_count_(body_count),
        world_(world),
        dynamics_(dynamics),
        rows_(rows),
        screws_(tree.screws, rows, arena),
        wrenches_(padded * body_count, rows, arena),
        row_(arena.template take<double>(wrenches_.stride())) {}

  // Derivatives 0 .. rows - 1 into out (rows, columns, 10 body_count), of rigid bodies; after WorldFrame::place and
  // InverseDynamics::forward.
  void run(double* out) {
    const std::ptrdiff_t width = std::ptrdiff_t(parameters) * body_count_, size = tree_.columns * width;
    std::memset(out, 0, sizeof(double) * rows_ * size);
    screws_.clear();
    wrenches_.clear();
    for (int c = 0; c < tree_.screws; ++c) screws_.set(c, truncate<n>(world_.screw(c)));
    for (int b = 0; b < body_count_; ++b) {
      fill(b);
      for (int i = bodies_[b].body; i >= 0; i = tree_.bodies[i].parent)
        for (int c = 0; c < tree_.bodies[i].count; ++c)
          for (int k = 0; k < rows_; ++k) {
            pairings<6>(screws_, wrenches_, k, tree_.bodies[i].screw + c, padded * b, padded * b + parameters, row_);
            double* to = out + k * size + (tree_.bodies[i].column + c) * width + std::ptrdiff_t(parameters) * b;
            for (int p = 0; p < parameters; ++p) to[p] = factorial.value[k] * row_[padded * b + p];
          }
    }
  }

 private:
  static constexpr int padded = 16;  // columns per body, a multiple of every register's width

  JOUNCE_NOINLINE void fill(int b) {
    const Frame& frame = bodies_[b];
    const auto& motion = dynamics_.kinematics(frame.body);
    const A zero(0.0);
    const Vec3<A> none{zero, zero, zero};
    // Acceleration of the origin and W, in the axes of the frame.
    const Vec3<A> a = apply_transpose(frame.R, motion.a + apply(motion.W, frame.p));
    const auto column = [&](int j) {
      const double axis[3] = {frame.R[j], frame.R[3 + j], frame.R[6 + j]};
      return apply_transpose(frame.R, apply(motion.W, axis));
    };
    const Vec3<A> x = column(0), y = column(1), z = column(2);
    set(b, 0, {a, none});
    set(b, 1, {x, {zero, -a.z, a.y}});
    set(b, 2, {y, {a.z, zero, -a.x}});
    set(b, 3, {z, {-a.y, a.x, zero}});
    // axial(W J) of second moments J, and J = trace(I) / 2 - I.
    const Vec3<A> xx{zero, -x.z, x.y}, yy{y.z, zero, -y.x}, zz{-z.y, z.x, zero};
    const Vec3<A> half = 0.5 * (xx + yy + zz);
    set(b, 4, {none, half - xx});
    set(b, 5, {none, -Vec3<A>{x.z, -y.z, y.y - x.x}});
    set(b, 6, {none, half - yy});
    set(b, 7, {none, -Vec3<A>{-x.y, x.x - z.z, z.y}});
    set(b, 8, {none, -Vec3<A>{z.z - y.y, y.x, -z.x}});
    set(b, 9, {none, half - zz});
  }

  void set(int b, int parameter, const Screw<A>& in_frame) {
    const Frame& frame = bodies_[b];
    const auto& pose = world_.pose(frame.body);
    const Vec3<A> x = truncate<n>(pose.x + apply(pose.R, frame.p));
    const Vec3<A> f = turned(pose.R, apply(frame.R, in_frame.v)), t = turned(pose.R, apply(frame.R, in_frame.w));
    wrenches_.set(padded * b + parameter, Screw<A>{f, t + cross(x, f)});
  }

  template <class R>
  static Vec3<A> turned(const R& rotation, const Vec3<A>& u) {
    return turn(Mat3<A>{truncate<n>(rotation.cx), truncate<n>(rotation.cy), truncate<n>(rotation.cz)}, u);
  }

  const Tree& tree_;
  const Frame* bodies_;
  int body_count_;
  const WorldFrame<Ring>& world_;
  const InverseDynamics<Ring>& dynamics_;
  int rows_;
  Columns<6> screws_, wrenches_;
  double* row_;
};

JOUNCE_END
