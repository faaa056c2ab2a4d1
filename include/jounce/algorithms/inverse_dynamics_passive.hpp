// M a_r + C(q, v) v_r + g in time linear in the number of bodies, for passivity-based control (Slotine and Li), with C the
// Coriolis matrix of paper A's Lemma 1 (coriolis_matrix.hpp). In world axes, with J' from the true velocity v,
//
//   V = sum J v,   V_r = sum J v_r,   A_r = sum (J a_r + J' v_r)    along the tree,
//   F = I A_r + B V_r - (m g, h x g)                                of each body, summed towards the root,
//   tau_c = J_c . F.
#pragma once

#include "jounce/algorithms/coriolis_matrix.hpp"

JOUNCE_BEGIN

class PassiveInverseDynamics {
 public:
  using Ring = ArrayRing<double, 0>;  // J and J'
  using A = Series<double, 1>;

  template <class Arena>
  PassiveInverseDynamics(const Tree& tree, const WorldFrame<Ring>& world, Arena& arena)
      : tree_(tree), world_(world), state_(arena.template take<State>(tree.size + 1) + 1) {}

  // All by columns, v_ref and a_ref in the axes of the screws; after WorldFrame::set_inertias.
  void run(Axes axes, const double* v_ref, const double* a_ref, double* tau) {
    for (int c = 0; c < tree_.columns; ++c) tau[c] = 0;
    const A zero(0.0);
    const Vec3<A> none{zero, zero, zero};
    state_[-1] = {{none, none}, {none, none}, {none, none}, {none, none}};
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const State& parent = state_[b.parent];
      State s{parent.V + world_.joint_twist(i), parent.V_r, parent.A_r, {none, none}};
      for (int i = 0; i < b.count; ++i) {
        const int c = b.column + i;
        const Screw<A> J = truncate<1>(world_.screw(b.screw + i)), dJ = derivative(world_.screw(b.screw + i));
        s.V_r += scaled(A(v_ref[c]), J);
        s.A_r += scaled(A(a_ref[c]), J) + scaled(A(v_ref[c]), dJ);
      }
      if (!b.massless) {
        const Moments<A> m = truncate<1>(world_.moments(i));
        const double* g = tree_.gravity;
        const Vec3<A> fall{A(g[0]), A(g[1]), A(g[2])};
        s.F = m.momentum(s.A_r) + MomentumRate<A>::of(m, s.V).apply(s.V_r);
        s.F.v -= m.mass * fall;
        s.F.w += cross(g, m.first);
      }
      state_[i] = s;
    }
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c) tau[b.column + c] += leading(pairing(truncate<1>(world_.screw(b.screw + c)), state_[i].F));
      state_[b.parent].F += state_[i].F;
    }
    if (tree_.joint_forces) Armature<Ring>(tree_, world_, axes).apply(v_ref, a_ref, tau);
  }

 private:
  struct State {
    Screw<A> V, V_r, A_r, F;
  };
  const Tree& tree_;
  const WorldFrame<Ring>& world_;
  State* state_;
};

JOUNCE_END
