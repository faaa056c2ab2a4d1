// Forward and hybrid dynamics to any order (paper A, Algorithms 3 and 4): Lemma 2, literally.
//
//   tau_k = M(q) a_k + b_k    for every Taylor coefficient k, with the same M:
//
// M is factored once (articulated_bodies.hpp); then, order by order, b_k comes from inverse dynamics with the coefficients
// known so far (inverse_dynamics_by_order.hpp), and a_k = M^-1 (tau_k - b_k). The sweeps of both go along the tree together. Where the
// acceleration of a joint is prescribed, it is part of b_k, its row and column of M are left out, and its force is what inverse dynamics
// gives in the end.
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
  ForwardDynamics(const Tree& tree, int order, Arena& arena, int section_coefficients = 0)
      : tree_(tree),
        order_(order),
        motion_(Motion<Ring>::allocate(tree, arena, section_coefficients > order + 2 ? section_coefficients : order + 2)),
        places_(tree, motion_, arena),
        factors_(tree, places_, arena),
        inverse_(tree, motion_, places_, order, arena),
        shapes_(tree, order + 1, arena),
        tau_(arena.template take<T>((order + 1) * std::size_t(tree.nv))),
        passive_(arena.template take<T>((order + 1) * std::size_t(inverse_.stride()))),
        x_(arena.template take<T>(tree.nv)) {}

  Motion<Ring>& motion() { return motion_; }
  ArticulatedBodies<T>& factors() { return factors_; }
  InverseDynamicsByOrder<T>& inverse() { return inverse_; }

  T* rate(int k) { return inverse_.rate(k); }    // coefficient k of v: rate(0), and what is prescribed of the others; then all
  T* tau(int k) { return tau_ + k * tree_.nv; }  // coefficient k of the forces; then those where accelerations are prescribed, too

  // Positions, from motion(). `held`: (nv), the coordinates whose accelerations are prescribed, or null; `wrenches`: whether there are any
  // from outside.
  void start(const bool* held, bool wrenches) {
    held_ = held;
    poses_ = order_ > 0 || held || wrenches;
    places_.begin();
    inverse_.start(wrenches);
    factors_.start(held);
  }

  // From rate(0) on. before(k) is called once the configuration's coefficients to k + 1 are known and no dynamics of order k is
  // yet, to set tau(k) and what is prescribed of rate(k + 1); apply(k) when wrenches from outside are to be applied. Returns the body that
  // has no inertia to move, or -1.
  template <class Before, class Apply>
  int run(const Before& before, const Apply& apply) {
    const int n = tree_.size;
    inverse_.fill_slots(0);
    for (int k = 0; k <= order_; ++k) {
      inverse_.extend(k);
      before(k);
      inverse_.fill_slots(k + 1);
      if (k == 0) {
        for (int i = 0; i < n; ++i) {
          places_.place(i);
          factors_.set_body(i);
          inverse_.template move<true>(i, 0);
        }
        if (poses_) inverse_.set_poses();
      } else {
        for (int i = 0; i < n; ++i) inverse_.template move<false>(i, k);
      }
      apply(k);
      start_forces(k);
      if (k == 0) {
        for (int i = n - 1; i >= 0; --i) {
          inverse_.template gather<true>(i, 0);
          subtract_bias(i, 0);
          if (!factors_.reduce(i)) return i;
          factors_.inwards(i);
        }
      } else {
        for (int i = n - 1; i >= 0; --i) {
          inverse_.template gather<false>(i, k);
          subtract_bias(i, k);
          factors_.inwards(i);
        }
      }
      factors_.start_outwards();
      if (k < order_ || held_)
        for (int i = 0; i < n; ++i) {
          factors_.outwards(i, x_);
          if (held_)
            inverse_.template add_solved<true>(i, k, factors_.acceleration(i), factors_.wrench(i, x_), factors_.first_of(i, x_));
          else
            inverse_.template add_solved<false>(i, k, factors_.acceleration(i), factors_.wrench(i, x_), factors_.first_of(i, x_));
        }
      else
        for (int i = 0; i < n; ++i) factors_.outwards(i, x_);
      inverse_.add_solved_rates(k, x_);
    }
    for (int k = 0; held_ && k <= order_; ++k) finish_forces(k);
    return -1;
  }

 private:
  bool has_passive() const { return tree_.passive || tree_.soft; }

  // u = tau, less what joints and shapes take by themselves.
  void start_forces(int k) {
    T *u = factors_.force(), *passive = passive_ + k * inverse_.stride();
    factors_.clear_wrenches();
    inverse_.clear_sections(k);
    for (int c = 0; c < tree_.nv; ++c) u[c] = tau(k)[c];
    if (!has_passive()) return;
    for (int c = 0; c < tree_.columns; ++c) passive[c] = T(0.0);
    if (tree_.passive) add_passive_forces(tree_, motion_.q, inverse_.rate(0), inverse_.stride(), k, k + 1, passive_);
    if (tree_.soft) shapes_.add_forces(tree_, motion_.q, inverse_.rate(0), inverse_.stride(), k, k + 1, passive_);
    fold_lines(tree_, 1, 1, passive);
    for (int c = 0; c < tree_.nv; ++c) u[c] -= passive[c];
  }

  // Once all of a body's columns are complete: a soft body's at its first section.
  JOUNCE_INLINE void subtract_bias(int i, int k) {
    const Body& b = tree_.bodies[i];
    T *u = factors_.force(), *force = inverse_.force(k);
    if (b.column >= tree_.nv)
      u[tree_.followers[b.column - tree_.nv].leader_v] -= T(b.ratio) * force[b.column];
    else if (b.joint != Joint::section)
      for (int c = 0; c < b.count; ++c) u[b.column + c] -= force[b.column + c];
    else if (i == 0 || tree_.bodies[i - 1].joint != Joint::section || tree_.bodies[i - 1].column != b.column)
      for (int c = 0; c < b.count; ++c) u[b.column + c] -= force[b.column + c];
  }

  void finish_forces(int k) {
    T *force = inverse_.force(k), *passive = passive_ + k * inverse_.stride();
    fold_lines(tree_, 1, 1, force);
    for (int c = 0; c < tree_.nv; ++c)
      if (held_[c]) tau(k)[c] = has_passive() ? force[c] + passive[c] : force[c];
  }

  const Tree& tree_;
  int order_;
  Motion<Ring> motion_;
  BodyPlaces<T> places_;
  ArticulatedBodies<T> factors_;
  InverseDynamicsByOrder<T> inverse_;
  ShapeForces shapes_;
  const bool* held_ = nullptr;
  bool poses_ = false;
  T *tau_, *passive_, *x_;
};

JOUNCE_END
