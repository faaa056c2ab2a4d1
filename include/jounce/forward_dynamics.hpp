// Forward and hybrid dynamics to any order (paper A, Algorithms 3 and 4): Lemma 2, literally.
//
//   tau_k = M(q) a_k + b_k    for every Taylor coefficient k, with the same M:
//
// M is factored once (articulated_bodies.hpp); then, order by order, b_k comes from inverse dynamics with the coefficients
// known so far (inverse_dynamics_by_order.hpp), and a_k = M^-1 (tau_k - b_k). Where the acceleration of a joint is prescribed, it is part of
// b_k, its row and column of M are left out, and its force is what inverse dynamics gives in the end.
//
// T is double, or a Pack with a state in each lane.
#pragma once

#include "jounce/articulated_bodies.hpp"
#include "jounce/fold.hpp"
#include "jounce/inverse_dynamics_by_order.hpp"
#include "jounce/passive_forces.hpp"
#include "jounce/shape_forces.hpp"

JOUNCE_BEGIN

template <class T>
class ForwardDynamics {
 public:
  using Ring = ArrayRing<T, -1>;

  template <class Arena>
  ForwardDynamics(const Tree& tree, int order, Arena& arena, int section_coefficients = 1)
      : tree_(tree),
        order_(order),
        motion_(Motion<Ring>::allocate(tree, arena, section_coefficients)),
        world_(tree, motion_, arena),
        factors_(tree, world_, arena),
        inverse_(tree, motion_, order, arena),
        shapes_(tree, order + 1, arena),
        tau_(arena.template take<T>((order + 1) * std::size_t(tree.nv))),
        x_(arena.template take<T>(tree.nv)) {}

  Motion<Ring>& motion() { return motion_; }
  WorldFrame<Ring>& world() { return world_; }
  ArticulatedBodies<T>& factors() { return factors_; }
  InverseDynamicsByOrder<T>& inverse() { return inverse_; }

  T* rate(int k) { return inverse_.rate(k); }        // coefficient k of v: rate(0), and what is prescribed of the others; then all
  T* tau(int k) { return tau_ + k * tree_.nv; }      // coefficient k of the forces; then those where accelerations are prescribed, too

  // Positions, from motion(), and the factors. Returns the body that has no inertia to move, or -1.
  int start(const bool* held) {
    held_ = held;
    world_.place(Axes::body);
    world_.weigh();
    const int singular = factors_.factor(held);
    if (singular < 0) inverse_.start();
    return singular;
  }

  // From rate(0) on. before(k) is called once the configuration's coefficients to k + 1 are known and no dynamics of order k is
  // yet, to set tau(k) and what is prescribed of rate(k + 1); apply(k) when wrenches from outside are to be applied.
  template <class Before, class Apply>
  void run(const Before& before, const Apply& apply) {
    inverse_.start_moving();
    for (int k = 0; k <= order_; ++k) {
      inverse_.extend(k);
      before(k);
      inverse_.fill_slots(k + 1);
      inverse_.bias(k, apply);
      T* force = inverse_.force(k);
      add_passive(k);
      for (int c = 0; c < tree_.nv; ++c) x_[c] = force[c];
      for (int i = 0; i < tree_.follower_count; ++i) x_[tree_.followers[i].leader_v] += T(tree_.followers[i].ratio) * force[tree_.followers[i].v];
      for (int c = 0; c < tree_.nv; ++c) x_[c] = tau(k)[c] - x_[c];
      factors_.solve(x_, x_);
      inverse_.add_solved(k, x_);
      if (held_ && k == order_) inverse_.finish(k);
    }
    for (int k = 0; held_ && k <= order_; ++k) {
      fold_lines(tree_, 1, 1, inverse_.force(k));
      for (int c = 0; c < tree_.nv; ++c)
        if (held_[c]) tau(k)[c] = inverse_.force(k)[c];
    }
  }

 private:
  void add_passive(int k) {
    if (tree_.passive) add_passive_forces(tree_, motion_.q, inverse_.rate(0), inverse_.stride(), k, k + 1, inverse_.force(0));
    if (tree_.soft) shapes_.add_forces(tree_, motion_.q, inverse_.rate(0), inverse_.stride(), k, k + 1, inverse_.force(0));
  }

  const Tree& tree_;
  int order_;
  Motion<Ring> motion_;
  WorldFrame<Ring> world_;
  ArticulatedBodies<T> factors_;
  InverseDynamicsByOrder<T> inverse_;
  ShapeForces shapes_;
  const bool* held_ = nullptr;
  T *tau_, *x_;
};

JOUNCE_END
