// Inverse dynamics to any order (RNEA; paper A, Algorithms 1 and 2; paper C, section II).
//
// The recursive Newton-Euler equations over the ring of Taylor series, in body frames, where a body's inertia is constant.
// For a body with angular velocity w and classical acceleration a of its origin (gravity included: the world
// accelerates by -g), all in its own axes, and W = [w'] + [w]^2, a material point x has acceleration a + W x. So
//
//   forward   w_i = R^T w_P + w_J,    a_i = R^T (a_P + W_P d + 2 w_P x d' + d''),    P the joint frame in the parent,
//             f_i = m a + W h,        n_i = h x a + axial(W J),      h and J the first and second moments of mass,
//   backward  tau_i = S^T (f_i, n_i),  f_P = R f_i,  n_P = R n_i + d x f_P.
//
// Compared with spatial (6-vector) algebra, this needs 6 products of series per body for the velocity terms (the entries of w w^T)
// instead of 18, since everything else is linear in W with constant coefficients.
//
// For a translation d = s z along an axis fixed in both frames, R^T W_P z = W_i z, so that in body axes
//   a_i = R^T a_P + s W_i z + 2 s' w_i x z + s'' z,    n_P = R (n_i + s z x f_i).
// For a free joint with velocity v in body axes, R^T d' = v and R^T d'' = v' + w_J x v.
#pragma once

#include "jounce/motion/motion.hpp"
#include "jounce/spatial/newton_euler.hpp"
#include "jounce/spatial/spin_squares.hpp"

JOUNCE_BEGIN

template <class Ring>
class InverseDynamics {
 public:
  using T = typename Ring::Coefficient;
  using Sv = typename Ring::Velocity;
  using Sa = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;

  struct Kinematics {
    Vec3<Sv> w;
    Vec3<Sa> a;
    Mat3<Sa> W;
  };
  struct Wrench {
    Vec3<Sa> f, n;
  };

  template <class Arena>
  InverseDynamics(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree),
        motion_(motion),
        kinematics_(arena.template take<Kinematics>(tree.size + 1) + 1),
        wrench_(arena.template take<Wrench>(tree.size + 1) + 1) {}

  // The world, which is body -1, accelerates by -g and keeps its axes. To be called once, before the first forward().
  void start() {
    const Sv still(0.0);
    const Sa zero(0.0);
    const double* g = tree_.gravity;
    kinematics_[-1] = {
        {still, still, still}, {Sa(-g[0]), Sa(-g[1]), Sa(-g[2])}, {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}}};
  }

  // Each body's kinematics from its parent's, and the wrench that its own motion requires.
  void forward() {
    const Sa zero(0.0);
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (is_ball(b.joint))
        forward_ball(b, kinematics_[b.parent], kinematics_[i]);
      else
        forward_screw(b, kinematics_[b.parent], kinematics_[i]);
      if (b.massless)
        wrench_[i] = {{zero, zero, zero}, {zero, zero, zero}};
      else
        own_wrench(b, kinematics_[i], wrench_[i]);
    }
  }

  const Kinematics& kinematics(int body) const { return kinematics_[body]; }

  // An external wrench on body i, in its axes and about its origin.
  void apply_wrench(int i, const Vec3<Sa>& f, const Vec3<Sa>& t) {
    wrench_[i].f -= f;
    wrench_[i].n -= t;
  }

  // Sums the wrenches towards the root and passes the force of each column to out(column, series); that of a soft body comes in parts,
  // one per section.
  template <class Out>
  void backward(const Out& out) {
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      if (is_ball(b.joint))
        backward_ball(b, wrench_[i], out);
      else
        backward_screw(b, wrench_[i], out);
    }
  }

 private:
  void forward_screw(const Body& b, const Kinematics& parent, Kinematics& k) {
    Vec3<Sv>& w = k.w;
    Vec3<Sa>& a = k.a;
    into_joint_frame(b, parent, w, a);
    if (turns(b.joint)) {
      const auto c = motion_.cos(b.v), s = motion_.sin(b.v);
      turn_back_about_z(c, s, w.x, w.y);
      turn_back_about_z(c, s, a.x, a.y);
      w.z += motion_.velocity(b.v);
    }
    acceleration_matrix(w, k.W);
    const Mat3<Sa>& W = k.W;
    if (b.joint != Joint::revolute) {
      const auto s = motion_.position_factor(b);
      const auto ds = motion_.velocity_factor(b.v);
      a += b.slide * Vec3<Sa>{s * W.cz.x + 2 * (ds * truncate<n>(w.y)), s * W.cz.y - 2 * (ds * truncate<n>(w.x)),
                              s * W.cz.z + derivative(motion_.velocity(b.v))};
    }
  }

  template <class Out>
  void backward_screw(const Body& b, Wrench& own, const Out& out) {
    Vec3<Sa>&f = own.f, &t = own.n;
    if (b.joint == Joint::revolute)
      out(b.v, t.z);
    else if (b.joint == Joint::prismatic)
      out(b.v, f.z);
    else
      out(b.v, t.z + b.slide * f.z);
    if (b.parent < 0) return;
    if (b.joint != Joint::revolute) {
      const auto s = motion_.position_factor(b);
      t.x -= b.slide * (s * f.y);
      t.y += b.slide * (s * f.x);
    }
    if (turns(b.joint)) {
      const auto c = motion_.cos(b.v), s = motion_.sin(b.v);
      turn_back_about_z(c, s, f.y, f.x);
      turn_back_about_z(c, s, t.y, t.x);
    }
    to_parent(b, f, t);
  }

  void forward_ball(const Body& b, const Kinematics& parent, Kinematics& k) {
    const Vec3<Sv> w_J = motion_.velocity3(motion_.angular(b));
    if (b.parent < 0) {
      k.w = w_J;
      k.a = falling(b);
    } else {
      const BallMotion<Ring> ball(motion_, b);
      Vec3<Sv> w_P;
      Vec3<Sa> a_P;
      into_joint_frame(b, parent, w_P, a_P);
      const Vec3<Sv> w_fixed = ball.turn_back(w_P);
      if (is_free(b.joint)) {
        Mat3<Sa> W_P;
        acceleration_matrix(w_P, W_P);
        const auto d = [&](int i) { return ball.position(i); };
        a_P += Vec3<Sa>{d(0) * W_P.cx.x + d(1) * W_P.cy.x + d(2) * W_P.cz.x, d(0) * W_P.cx.y + d(1) * W_P.cy.y + d(2) * W_P.cz.y,
                        d(0) * W_P.cx.z + d(1) * W_P.cy.z + d(2) * W_P.cz.z};
      }
      k.w = w_fixed + w_J;
      k.a = ball.turn_back(a_P);
      if (is_free(b.joint)) k.a += 2 * velocity_cross(w_fixed, b.v);
    }
    if (is_free(b.joint)) {
      const Vec3<Sv> v = motion_.velocity3(b.v);
      k.a += Vec3<Sa>{derivative(v.x), derivative(v.y), derivative(v.z)} + velocity_cross(w_J, b.v);
    }
    acceleration_matrix(k.w, k.W);
  }

  template <class Out>
  void backward_ball(const Body& b, const Wrench& own, const Out& out) {
    if (b.joint == Joint::section) {
      for (int c = 0; c < b.count; ++c) out(b.column + c, section_force(b, c, own));
    } else {
      int column = b.v;
      if (b.joint == Joint::free) {
        out(column++, own.f.x);
        out(column++, own.f.y);
        out(column++, own.f.z);
      }
      out(column++, own.n.x);
      out(column++, own.n.y);
      out(column++, own.n.z);
    }
    if (b.parent < 0) return;
    const BallMotion<Ring> ball(motion_, b);
    const Vec3<Sa> f = ball.turn(own.f);
    Vec3<Sa> t = ball.turn(own.n);
    if (is_free(b.joint)) t += ball.position_cross(f);
    to_parent(b, f, t);
  }

  // S_c . (f, n): the force on column c of a soft body from the wrench on one of its sections.
  JOUNCE_NOINLINE Sa section_force(const Body& b, int c, const Wrench& own) {
    const auto S = [&](int i) { return motion_.sections.factor(b.screw + c, i); };
    return S(0) * own.f.x + S(1) * own.f.y + S(2) * own.f.z + S(3) * own.n.x + S(4) * own.n.y + S(5) * own.n.z;
  }

  // The acceleration of the world in the axes of a body that a ball or free joint connects to it: R(t)^T (-g).
  Vec3<Sa> falling(const Body& b) {
    const Vec3<double> up = apply_transpose(b.R, Vec3<double>{-tree_.gravity[0], -tree_.gravity[1], -tree_.gravity[2]});
    T R0[9];
    motion_.rotation(b, R0);
    T u0[3], u[3][Ring::padded];
    for (int i = 0; i < 3; ++i) u0[i] = R0[i] * T(up.x) + R0[3 + i] * T(up.y) + R0[6 + i] * T(up.z);
    fixed_vector_series<n>(u0, motion_.rate + motion_.angular(b), motion_.stride, u);
    return {Sa::load(u[0]), Sa::load(u[1]), Sa::load(u[2])};
  }

  // w x v, v the linear velocity of a free joint
  Vec3<Sa> velocity_cross(const Vec3<Sv>& w, int column) {
    const Sa x = truncate<n>(w.x), y = truncate<n>(w.y), z = truncate<n>(w.z);
    const auto vx = motion_.velocity_factor(column), vy = motion_.velocity_factor(column + 1), vz = motion_.velocity_factor(column + 2);
    return {vz * y - vy * z, vx * z - vz * x, vy * x - vx * y};
  }

  // W = [w'] + [w]^2
  static void acceleration_matrix(const Vec3<Sv>& w, Mat3<Sa>& W) {
    const SpinSquares<Sa, Sv> squares(w);
    for (int i = 0; i < Sa::parts; ++i) set_part(W, i, squares.acceleration_matrix(i));
  }

  // Linear steps, part by part. Each works on a copy of the body, which no store can change: its numbers are loaded once.

  // The parent's motion at the joint, in the axes of the joint frame.
  static void into_joint_frame(const Body& body, const Kinematics& parent, Vec3<Sv>& w, Vec3<Sa>& a) {
    const Body b = body;
    for (int i = 0; i < Sv::parts; ++i) set_part(w, i, apply_transpose(b.R, part(parent.w, i)));
    for (int i = 0; i < Sa::parts; ++i) set_part(a, i, apply_transpose(b.R, plus_apply(part(parent.a, i), part(parent.W, i), b.p)));
  }

  static void own_wrench(const Body& body, const Kinematics& k, Wrench& wrench) {
    const Body b = body;
    for (int i = 0; i < Sa::parts; ++i) {
      Vec3<typename Sa::Part> f, t;
      newton_euler(b, part(k.a, i), part(k.W, i), f, t);
      set_part(wrench.f, i, f);
      set_part(wrench.n, i, t);
    }
  }

  void to_parent(const Body& body, const Vec3<Sa>& f, const Vec3<Sa>& t) {
    const Body b = body;
    Wrench& parent = wrench_[b.parent];
    for (int i = 0; i < Sa::parts; ++i) {
      const auto force = apply(b.R, part(f, i));
      set_part(parent.f, i, part(parent.f, i) + force);
      set_part(parent.n, i, plus_cross(plus_apply(part(parent.n, i), b.R, part(t, i)), b.p, force));
    }
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  Kinematics* kinematics_;
  Wrench* wrench_;
};

JOUNCE_END
