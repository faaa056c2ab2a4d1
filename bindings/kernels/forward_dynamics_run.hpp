// Forward dynamics, between the rows of a call and the coefficients of ForwardDynamics.
#pragma once

#include "jounce/algorithms/forward_dynamics.hpp"
#include "select.hpp"

JOUNCE_BEGIN

// For the states of one T.
template <class T>
class ForwardDynamicsRun {
 public:
  static constexpr int width = states((const T*)nullptr);

  template <class Arena>
  ForwardDynamicsRun(const ForwardDynamicsCall& call, Arena& arena)
      : call_(call), tree_(*call.tree), rows_(call.rows), turned_(call.axes != Axes::body), dynamics_(tree_, rows_ - 1, arena) {
    const bool posed = call.wrenches.axes != Axes::body;
    wrench_ = arena.template take<T>(std::size_t(call.wrenches.count) * 6 * rows_);
    pose_ = arena.template take<T>(posed ? std::size_t(call.wrenches.count) * 12 * (rows_ + 2) : 0);
    free_ = FreeAxes<T>(tree_, turned_ ? rows_ + 1 : 0, arena);
  }

  ForwardDynamics<T>& dynamics() { return dynamics_; }

  template <class Constrained = NoConstraints>
  Solvability operator()(std::ptrdiff_t first, int count, Constrained&& constraints = {}) {
    const States at{call_.q, call_.v, nullptr, call_.q_step, call_.v_step, 0, 1, Axes::body};
    dynamics_.motion().read(tree_, at, first, count, 1);
    dynamics_.start(call_.prescribed);
    for (int s = 0; s < width; ++s) read(first + (s < count ? s : count - 1), s);
    read_wrenches(first, count);
    if (turned_) free_.start(dynamics_.motion().q), free_.change_twists(0, call_.axes, Axes::body, dynamics_.rate(0));
    dynamics_.run(
        [&](int k) {
          if (turned_) to_body_axes(k);
        },
        [&](int k) {
          for (int i = 0; i < call_.wrenches.count; ++i)
            if (call_.wrenches.frames[i].body >= 0) apply_wrench(i, k);  // on the world no joint feels it
        },
        constraints);
    const Solvability equations = dynamics_.factors().equations();
    if (equations.singular) return equations;
    for (int k = 0; call_.prescribed && k < rows_; ++k) constraints.take_forces(k, call_.prescribed, dynamics_.tau(k));
    if (turned_) from_body_axes();
    for (int k = 0; k < rows_; ++k) {
      T *rate = dynamics_.rate(k + 1), *tau = dynamics_.tau(k);
      for (int j = 0; j < tree_.nv; ++j) rate[j] = T(factorial.value[k + 1]) * rate[j];
      const std::ptrdiff_t step = std::ptrdiff_t(rows_) * tree_.nv, at = first * step + k * std::ptrdiff_t(tree_.nv);
      store_states(rate, step, count, tree_.nv, call_.acc_out + at);
      if (!call_.tau_out) continue;
      for (int j = 0; j < tree_.nv; ++j) tau[j] = T(factorial.value[k]) * tau[j];
      store_states(tau, step, count, tree_.nv, call_.tau_out + at);
    }
    return equations;
  }

 private:
  void read(std::ptrdiff_t from, int s) {
    const double *v = call_.v + from * call_.v_step, *tau = call_.tau + from * call_.tau_step;
    const bool* given = call_.prescribed;
    for (int j = 0; j < tree_.nv; ++j) state(dynamics_.rate(0)[j], s) = v[j];
    for (int k = 0; k < rows_; ++k) {
      const double* acc = given ? call_.acc + from * call_.acc_step + std::ptrdiff_t(k) * tree_.nv : nullptr;
      for (int j = 0; j < tree_.nv; ++j) {
        state(dynamics_.rate(k + 1)[j], s) = given && given[j] ? over_factorial<T>(k + 1, acc[j]) : 0.0;
        state(dynamics_.tau(k)[j], s) = given && given[j] ? 0.0 : over_factorial<T>(k, tau[std::ptrdiff_t(k) * tree_.nv + j]);
      }
    }
  }

  static void put(T* to, const Vec3<T>& a, const Vec3<T>& b) {
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = b.x, to[4] = b.y, to[5] = b.z;
  }
  static Vec3<T> at(const T* u) { return {u[0], u[1], u[2]}; }

  bool held(int free_joint) const { return call_.prescribed && call_.prescribed[tree_.free_joints[free_joint].v]; }

  // Coefficient k of the free joints' forces, or k + 1 of their twists where those are prescribed.
  void to_body_axes(int k) {
    for (int i = 0; i < tree_.free_joint_count; ++i) {
      if (held(i)) {
        free_.set_twist(i, k + 1, call_.axes, dynamics_.rate(k + 1)), free_.twist(i, k + 1, Axes::body, dynamics_.rate(k + 1));
      } else {
        if (k > 0) free_.set_twist(i, k, Axes::body, dynamics_.rate(k));
        free_.set_wrench(i, k, call_.axes, dynamics_.tau(k)), free_.wrench(i, k, Axes::body, dynamics_.tau(k));
      }
    }
  }

  // The results.
  void from_body_axes() {
    for (int i = 0; i < tree_.free_joint_count; ++i)
      for (int k = 0; k < rows_; ++k) {
        if (held(i)) {
          free_.set_wrench(i, k, Axes::body, dynamics_.tau(k)), free_.wrench(i, k, call_.axes, dynamics_.tau(k));
        } else {
          if (k + 1 == rows_) free_.set_twist(i, rows_, Axes::body, dynamics_.rate(rows_));
          free_.twist(i, k + 1, call_.axes, dynamics_.rate(k + 1));
        }
      }
  }

  // Coefficients of the external wrenches; those given in body axes, in the body's axes about its origin.
  void read_wrenches(std::ptrdiff_t first, int count) {
    const Wrenches& in = call_.wrenches;
    for (int i = 0; i < in.count; ++i) {
      T* w = wrench_ + i * 6 * rows_;
      for (int s = 0; s < width; ++s) {
        const double* value = in.value + (first + (s < count ? s : count - 1)) * in.step + 6 * i;
        for (int k = 0; k < rows_; ++k)
          for (int c = 0; c < 6; ++c) state(w[6 * k + c], s) = over_factorial<T>(k, value[(k * in.count) * 6 + c]);
      }
      if (in.axes != Axes::body) continue;
      const Frame& frame = in.frames[i];
      for (int k = 0; k < rows_; ++k) {
        const Vec3<T> f = jounce::apply(frame.R, at(w + 6 * k));
        put(w + 6 * k, f, jounce::apply(frame.R, at(w + 6 * k + 3)) + cross(frame.p, f));
      }
    }
  }

  // Coefficient k of a wrench, turned into body axes by the coefficients of the body's pose (paper A, E5).
  void apply_wrench(int i, int k) {
    const Wrenches& in = call_.wrenches;
    const Frame& frame = in.frames[i];
    const T *w = wrench_ + i * 6 * rows_, zero(0.0);
    if (in.axes == Axes::body) return apply(frame.body, at(w + 6 * k), at(w + 6 * k + 3));
    T *R = pose_ + i * 12 * (rows_ + 2), *x = R + 9 * (rows_ + 2);
    dynamics_.bias().extend_pose(frame.body, k, R, x);
    Vec3<T> f{zero, zero, zero}, t = f;
    for (int j = 0; j <= k; ++j) {
      Vec3<T> moment = at(w + 6 * j + 3);
      if (in.axes == Axes::world)
        for (int l = 0; l <= j; ++l) moment -= cross_of(at(x + 3 * l), at(w + 6 * (j - l)));
      f += apply_transpose(R + 9 * (k - j), at(w + 6 * j));
      t += apply_transpose(R + 9 * (k - j), moment);
    }
    if (in.axes == Axes::mixed) t += cross(frame.p, f);
    apply(frame.body, f, t);
  }
  void apply(int body, const Vec3<T>& f, const Vec3<T>& t) {
    dynamics_.apply_wrench(body, Triple<T>::of(f.x, f.y, f.z), Triple<T>::of(t.x, t.y, t.z));
  }

  const ForwardDynamicsCall& call_;
  const Tree& tree_;
  int rows_;
  bool turned_;
  ForwardDynamics<T> dynamics_;
  FreeAxes<T> free_;
  T *wrench_, *pose_;
};

JOUNCE_END
