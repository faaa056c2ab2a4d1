// Inverse dynamics by the recursion in world axes, for comparison with the one in body axes that jounce uses. In a fixed frame the
// wrench on a body is the rate of its momentum, so that over series there is little to write down:
//
//   V_i = V_P + S v,   F_i = (I_i V_i)' - (m g, h x g),   summed towards the root,   tau = S . F.
#pragma once

#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

template <class Ring>
class WorldFrameInverseDynamics {
 public:
  using Sv = typename Ring::Velocity;
  using Sa = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;

  template <class Arena>
  WorldFrameInverseDynamics(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree),
        motion_(motion),
        world_(tree, motion, arena),
        twist_(arena.template take<Screw<Sv>>(tree.size + 1) + 1),
        wrench_(arena.template take<Screw<Sa>>(tree.size + 1) + 1) {}

  template <class Out>
  void run(const Out& out) {
    const Sv still(0.0);
    const Sa zero(0.0);
    const double* g = tree_.gravity;
    world_.place(Axes::body);
    world_.set_inertias();
    twist_[-1] = {{still, still, still}, {still, still, still}};
    wrench_[-1] = {{zero, zero, zero}, {zero, zero, zero}};
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      twist_[i] = twist_[b.parent];
      for (int c = b.v; c < b.v + freedom(b.joint); ++c) twist_[i] += scaled(motion_.velocity_factor(c), world_.screw(c));
      const Moments<Sv>& m = world_.moments(i);
      wrench_[i] = derivative(m.momentum(twist_[i]));
      wrench_[i].v -= m.mass * Vec3<Sa>{Sa(g[0]), Sa(g[1]), Sa(g[2])};
      wrench_[i].w += cross(g, truncate<n>(m.first));
    }
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      for (int c = b.v; c < b.v + freedom(b.joint); ++c) out(c, pairing(truncate<n>(world_.screw(c)), wrench_[i]));
      wrench_[b.parent] += wrench_[i];
    }
  }

 private:
  const Tree& tree_;
  const Motion<Ring>& motion_;
  WorldFrame<Ring> world_;
  Screw<Sv>* twist_;
  Screw<Sa>* wrench_;
};

JOUNCE_END
