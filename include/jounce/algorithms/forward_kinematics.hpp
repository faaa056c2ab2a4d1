// Poses and twists of all bodies as series (paper A, Algorithm 1 and Remark 1).
//
//   w_i = R^T w_P + w_J,   v_i = R^T (v_P + w_P x d) + v_J      twist of body i in its own axes,
//
// with R and d the joint's rotation and translation, and P the joint frame in the parent; the pose is in poses.hpp.
#pragma once

#include "jounce/motion/poses.hpp"

JOUNCE_BEGIN

template <class Ring>
class ForwardKinematics {
 public:
  using S = typename Ring::Velocity;

  struct State : Pose<S> {
    Vec3<S> v, w;
  };

  template <class Arena>
  ForwardKinematics(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree), motion_(motion), state_(arena.template take<State>(tree.size + 1) + 1) {}

  const State& operator[](int body) const { return state_[body]; }  // -1: the world

  void run() {
    const S zero(0.0);
    const Vec3<S> none{zero, zero, zero};
    state_[-1] = {Pose<S>::identity(), none, none};
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const State& parent = state_[b.parent];
      State s{joint_frame<S>(b, parent), apply_transpose(b.R, parent.v - cross(b.p, parent.w)), apply_transpose(b.R, parent.w)};
      if (is_ball(b.joint))
        ball(b, s);
      else
        screw(b, s);
      state_[i] = s;
    }
  }

 private:
  void screw(const Body& b, State& s) {
    move_screw<Ring, S>(motion_, b, s);
    if (turns(b.joint)) {
      const auto c = motion_.cos(b.v), sn = motion_.sin(b.v);
      s.v = {c * s.v.x + sn * s.v.y, c * s.v.y - sn * s.v.x, s.v.z};
      s.w = {c * s.w.x + sn * s.w.y, c * s.w.y - sn * s.w.x, s.w.z + motion_.velocity(b.v)};
    }
    if (b.joint != Joint::revolute) {
      const auto d = motion_.position_factor(b);
      s.v += b.slide * Vec3<S>{d * s.w.y, -(d * s.w.x), motion_.velocity(b.v)};
    }
  }

  void ball(const Body& b, State& s) {
    const BallMotion<Ring> joint(motion_, b);
    move_ball<Ring, S>(joint, b, s);
    if (is_free(b.joint)) s.v -= joint.position_cross(s.w);
    s.v = joint.turn_back(s.v);
    s.w = joint.turn_back(s.w) + motion_.velocity3(motion_.angular(b));
    if (is_free(b.joint)) s.v += motion_.velocity3(b.v);
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  State* state_;
};

JOUNCE_END
