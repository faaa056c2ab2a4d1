// The robot as a whole: its centre of mass and its momentum about it, with their time derivatives.
//
// The momentum matrix has the columns I_c J_c, with I_c the inertia of all that coordinate c moves, about the centre of mass
// and in world axes; the momentum is that matrix times v.
#pragma once

#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

template <class Ring>
class Centroidal {
 public:
  using S = typename Ring::Velocity;
  using A = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;

  // After WorldFrame::gather_inertias.
  Centroidal(const Tree& tree, const WorldFrame<Ring>& world) : tree_(tree), world_(world) {
    const S zero(0.0);
    mass_ = 0;
    com_ = {zero, zero, zero};
    for (int i = 0; i < tree.size; ++i) {
      if (tree.bodies[i].parent >= 0) continue;
      mass_ += world.moments(i).mass;
      com_ += world.moments(i).first + world.moments(i).mass * fixed(world.point(i));
    }
    if (mass_ > 0) com_ = 1 / mass_ * com_;
  }

  void center_of_mass(int rows, double* out) const {
    for (int i = 0; i < 3 * rows; ++i) out[i] = 0;
    add(com_, rows, 3, out);
  }

  // out (rows, 6, columns)
  void momentum_matrix(int rows, double* out) const {
    for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(rows) * 6 * tree_.columns; ++i) out[i] = 0;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const Vec3<S> arm = fixed(world_.point(i)) - com_;
      for (int c = 0; c < b.count; ++c) {
        const Screw<S> p = about_com(world_.moments(i).momentum(world_.screw(b.screw + c)), arm);
        add(p, rows, 6 * tree_.columns, tree_.columns, out + b.column + c);
      }
    }
  }

  // out (rows, 6)
  void momentum(int rows, double* out) const {
    const A zero(0.0);
    Screw<A> sum{{zero, zero, zero}, {zero, zero, zero}};
    for (int i = 0; i < tree_.size; ++i)
      sum += about_com(truncate<n>(world_.moments(i)).momentum(world_.joint_twist(i)), truncate<n>(fixed(world_.point(i)) - com_));
    for (int i = 0; i < 6 * rows; ++i) out[i] = 0;
    add(sum, rows, 6, 1, out);
  }

 private:
  static Vec3<S> fixed(const Vec3<double>& p) { return {S(p.x), S(p.y), S(p.z)}; }

  template <class U>
  static JOUNCE_INLINE Screw<U> about_com(const Screw<U>& p, const Vec3<U>& arm) {
    return {p.v, p.w + cross(arm, p.v)};
  }

  template <class U>
  static void add(const U& x, int rows, std::ptrdiff_t step, double* out)
    requires requires { U::length; }
  {
    double c[padded_length<U>];
    x.store(c);
    for (int k = 0; k < rows; ++k) out[k * step] += factorial.value[k] * c[k];
  }
  template <class U>
  static void add(const Vec3<U>& u, int rows, std::ptrdiff_t step, double* out, std::ptrdiff_t apart = 1) {
    add(u.x, rows, step, out);
    add(u.y, rows, step, out + apart);
    add(u.z, rows, step, out + 2 * apart);
  }
  template <class U>
  static void add(const Screw<U>& a, int rows, std::ptrdiff_t step, std::ptrdiff_t apart, double* out) {
    add(a.v, rows, step, out, apart);
    add(a.w, rows, step, out + 3 * apart, apart);
  }

  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  double mass_;
  Vec3<S> com_;
};

JOUNCE_END
