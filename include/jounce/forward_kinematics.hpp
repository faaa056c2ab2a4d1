// Poses and twists of all bodies as series (paper A, Algorithm 1 and Remark 1).
//
//   w_i = R^T w_P + w_J,   v_i = R^T (v_P + w_P x d) + v_J      twist of body i in its own axes,
//   R_0i = R_0P R,         x_i = x_P + R_0P d                   its pose in the world,
//
// with R and d the joint's rotation and translation, and P the joint frame in the parent. Over the ring of Taylor series the
// coefficients of R_0i and x_i are the derivatives of the pose (Remark 1), divided by k!.
#pragma once

#include "jounce/motion.hpp"
#include "jounce/vec3.hpp"

JOUNCE_BEGIN

template <class Ring>
class ForwardKinematics {
 public:
  using S = typename Ring::Velocity;

  struct State {
    Mat3<S> R;
    Vec3<S> x, v, w;
  };

  template <class Arena>
  ForwardKinematics(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree), motion_(motion), state_(arena.template take<State>(tree.size + 1) + 1) {}

  const State& operator[](int body) const { return state_[body]; }  // -1: the world

  void run() {
    const S one(1.0), zero(0.0);
    const Vec3<S> none{zero, zero, zero};
    state_[-1] = {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}, none, none, none};
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const State& parent = state_[b.parent];
      State s;
      s.R = {column(parent.R, b.R), column(parent.R, b.R + 1), column(parent.R, b.R + 2)};
      s.x = parent.x + apply(parent.R, b.p);
      s.w = apply_transpose(b.R, parent.w);
      s.v = apply_transpose(b.R, parent.v - cross(b.p, parent.w));
      if (b.joint == Joint::free || b.joint == Joint::spherical)
        ball(b, s);
      else
        screw(b, s);
      state_[i] = s;
    }
  }

 private:
  // One column of R_p R, R constant.
  static JOUNCE_INLINE Vec3<S> column(const Mat3<S>& R_p, const double* R) { return R[0] * R_p.cx + R[3] * R_p.cy + R[6] * R_p.cz; }

  void screw(const Body& b, State& s) {
    if (turns(b.joint)) {
      const auto c = motion_.cos(b.v), sn = motion_.sin(b.v);
      s.v = {c * s.v.x + sn * s.v.y, c * s.v.y - sn * s.v.x, s.v.z};
      s.w = {c * s.w.x + sn * s.w.y, c * s.w.y - sn * s.w.x, s.w.z + motion_.velocity(b.v)};
      const Mat3<S> R = s.R;
      s.R.cx = {c * R.cx.x + sn * R.cy.x, c * R.cx.y + sn * R.cy.y, c * R.cx.z + sn * R.cy.z};
      s.R.cy = {c * R.cy.x - sn * R.cx.x, c * R.cy.y - sn * R.cx.y, c * R.cy.z - sn * R.cx.z};
    }
    if (b.joint != Joint::revolute) {
      const auto d = motion_.position_factor(b);
      s.x += b.slide * Vec3<S>{d * s.R.cz.x, d * s.R.cz.y, d * s.R.cz.z};
      s.v += b.slide * Vec3<S>{d * s.w.y, -(d * s.w.x), motion_.velocity(b.v)};
    }
  }

  void ball(const Body& b, State& s) {
    const BallMotion<Ring> joint(motion_, b);
    const Mat3<S> R = s.R;
    const auto turned = [&](int j) {
      const auto x = joint.entry(0, j), y = joint.entry(1, j), z = joint.entry(2, j);
      return Vec3<S>{x * R.cx.x + y * R.cy.x + z * R.cz.x, x * R.cx.y + y * R.cy.y + z * R.cz.y, x * R.cx.z + y * R.cy.z + z * R.cz.z};
    };
    s.R = {turned(0), turned(1), turned(2)};
    if (b.joint == Joint::free) {
      const auto x = joint.position(0), y = joint.position(1), z = joint.position(2);
      s.x += Vec3<S>{x * R.cx.x + y * R.cy.x + z * R.cz.x, x * R.cx.y + y * R.cy.y + z * R.cz.y, x * R.cx.z + y * R.cy.z + z * R.cz.z};
      s.v -= joint.position_cross(s.w);
    }
    s.v = joint.turn_back(s.v);
    s.w = joint.turn_back(s.w) + motion_.velocity3(motion_.angular(b));
    if (b.joint == Joint::free) s.v += motion_.velocity3(b.v);
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  State* state_;
};

// Vectors turned by a rotation series.
template <class S>
JOUNCE_INLINE Vec3<S> turn(const Mat3<S>& R, const Vec3<S>& u) {
  const auto& x = as_factor(u.x);
  const auto& y = as_factor(u.y);
  const auto& z = as_factor(u.z);
  return {x * R.cx.x + y * R.cy.x + z * R.cz.x, x * R.cx.y + y * R.cy.y + z * R.cz.y, x * R.cx.z + y * R.cy.z + z * R.cz.z};
}

template <class Sr, class S>
JOUNCE_INLINE Vec3<S> turn_back(const Mat3<Sr>& R, const Vec3<S>& u) {
  const auto row = [&](const Vec3<Sr>& c) { return as_factor(c.x) * u.x + as_factor(c.y) * u.y + as_factor(c.z) * u.z; };
  return {row(R.cx), row(R.cy), row(R.cz)};
}

// a x b
template <class Sa, class S>
JOUNCE_INLINE Vec3<S> cross(const Vec3<Sa>& a, const Vec3<S>& b) {
  const auto& x = as_factor(a.x);
  const auto& y = as_factor(a.y);
  const auto& z = as_factor(a.z);
  return {y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x};
}

JOUNCE_END
