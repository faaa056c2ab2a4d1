// Forward and hybrid dynamics to any order (paper A, Algorithms 3 and 4): Lemma 2, literally.
//
//   tau_k = M(q) a_k + b_k    for every Taylor coefficient k, with the same M:
//
// M is factored once (articulated_bodies.hpp). Then, order by order, the coefficients known so far give accelerations and wrenches
// (bias_by_order.hpp), one sweep inwards and one outwards solve for a_k, and the latter gives the bodies their next coefficients. If
// the acceleration of a joint is prescribed, its row and column of M are left out, and its force follows from the wrench through it in
// the end. Constraints act between the two sweeps (constraint_forces.hpp).
//
// T is double, DoubleDouble where doubles lose digits, or a Pack with one state per lane.
#pragma once

#include "jounce/algorithms/articulated_bodies.hpp"
#include "jounce/motion/bias_by_order.hpp"
#include "jounce/motion/joint_forces.hpp"
#include "jounce/soft/shape_forces.hpp"
#include "jounce/tree/own_coordinates.hpp"

JOUNCE_BEGIN

// What run() expects of constraints (constraint_forces.hpp), for when there are none.
struct NoConstraints {
  void apply(int) const {}
  template <class T>
  void add_forces(int, T*) const {}
  void solve(int) const {}
  void settle(int) const {}
  void weigh(int) const {}
  void finish(int) const {}
  template <class T>
  void take_forces(int, const bool*, T*) const {}
};

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
        bias_(tree, motion_, places_, factors_.screws(), order, arena),
        shapes_(tree, order + 1, arena),
        tau_(arena.template take<T>((order + 1) * std::size_t(tree.nv))),
        own_(arena.template take<T>((order + 1) * std::size_t(bias_.stride()))),
        x_(arena.template take<T>(tree.nv)),
        force_(arena.template take<T>(tree.columns)) {}

  Motion<Ring>& motion() { return motion_; }
  ArticulatedBodies<T>& factors() { return factors_; }
  BiasByOrder<T>& bias() { return bias_; }
  BodyPlaces<T>& places() { return places_; }

  T* rate(int k) { return bias_.rate(k); }       // coefficient k of v: rate(0) and any prescribed ones on input; then all
  T* tau(int k) { return tau_ + k * tree_.nv; }  // coefficient k of the forces; then also where accelerations are prescribed

  // Positions, from motion(). `held`: (nv), the coordinates whose accelerations are prescribed, or null.
  void start(const bool* held) {
    held_ = held;
    places_.begin();
    bias_.start(held);
    factors_.start(held);
  }

  // An external wrench on a body in its own axes, at the order of apply(k) below.
  void apply_wrench(int body, const Triple<T>& f, const Triple<T>& t) { factors_.wrenches()[body] -= bias_.outside(body, f, t); }

  // Starts from rate(0). before(k) is called when the configuration's coefficients up to k + 1 are known but the dynamics of order k is
  // not, to set tau(k) and what is prescribed of rate(k + 1); apply(k) when external wrenches are to be applied. Returns the body that
  // has no inertia to move, or -1.
  template <class Before, class Apply, class Constrained = NoConstraints>
  int run(const Before& before, const Apply& apply, Constrained&& constraints = {}) {
    const int n = tree_.size;
    Six<T>*c = factors_.accelerations(), *P = factors_.wrenches();
    bias_.fill_slots(0);
    for (int k = 0; k <= order_; ++k) {
      bias_.extend(k);
      before(k);
      bias_.fill_slots(k + 1);
      P[-1] = Six<T>::zero();
      if (k == 0)
        for (int i = 0; i < n; ++i) {
          places_.place(i);
          factors_.set_body(i);
          bias_.template add<true>(i, 0, c, P);
        }
      else
        for (int i = 0; i < n; ++i) bias_.template add<false>(i, k, c, P);
      apply(k);
      constraints.apply(k);
      start_forces(k);
      constraints.add_forces(k, factors_.force());
      if (k == 0)
        for (int i = n - 1; i >= 0; --i) {
          if (!factors_.reduce(i)) return i;
          factors_.template inwards<true>(i);
        }
      else
        for (int i = n - 1; i >= 0; --i) factors_.template inwards<true>(i);
      constraints.solve(k);
      factors_.start_outwards();
      for (int i = 0; i < n; ++i) {
        factors_.template outwards<true>(i, x_);
        if (k < order_)
          bias_.set(i, k, factors_.acceleration(i), factors_.wrench(i, x_));
        else if (held_ && factors_.holds_body(i))
          bias_.set_wrench(i, k, factors_.wrench(i, x_));
      }
      bias_.set_rates(k, x_);
      constraints.settle(k);
      constraints.weigh(k);
      if (k < order_) constraints.finish(k);
    }
    for (int k = 0; held_ && k <= order_; ++k) finish_forces(k);
    return -1;
  }

 private:
  bool has_own_forces() const { return tree_.joint_forces || tree_.soft; }

  // u = tau minus the forces that joints and shapes require by themselves, and minus what sections add from lower orders.
  void start_forces(int k) {
    T *u = factors_.force(), *own = own_ + k * bias_.stride();
    for (int c = 0; c < tree_.nv; ++c) u[c] = tau(k)[c];
    if (!has_own_forces()) return;
    for (int c = 0; c < tree_.columns; ++c) own[c] = T(0.0);
    if (tree_.joint_forces) add_joint_forces(tree_, motion_.q, bias_.rate(0), bias_.stride(), k, k + 1, own_);
    if (tree_.soft) shapes_.add_forces(tree_, motion_.q, bias_.rate(0), bias_.stride(), k, k + 1, own_);
    lines_to_own(tree_, 1, 1, own);
    for (int c = 0; c < tree_.nv; ++c) u[c] -= own[c];
    bias_.subtract_sections(k, u);
  }

  void finish_forces(int k) {
    T *force = force_, *own = own_ + k * bias_.stride();
    bias_.forces(k, force, [this](int i) { return factors_.holds_body(i); });
    lines_to_own(tree_, 1, 1, force);
    for (int c = 0; c < tree_.nv; ++c)
      if (held_[c]) tau(k)[c] = has_own_forces() ? force[c] + own[c] : force[c];
  }

  const Tree& tree_;
  int order_;
  Motion<Ring> motion_;
  BodyPlaces<T> places_;
  ArticulatedBodies<T> factors_;
  BiasByOrder<T> bias_;
  ShapeForces shapes_;
  const bool* held_ = nullptr;
  T *tau_, *own_, *x_, *force_;
};

JOUNCE_END
