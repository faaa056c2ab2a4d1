// Forward, inverse and hybrid dynamics, order by order (paper A, Algorithms 3 and 4, Lemma 2).
//
// Coefficient k of the forces is affine in coefficient k of the accelerations, with the same matrix at every order (Lemma 2):
//   tau_k = M(q) a_k + b_k,    b_k from the coefficients below k.
// So the articulated inertias are computed once, at order zero, and each order takes three sweeps over the tree:
//
//   bias      forward   coefficient k of every body's acceleration and wrench with a_k = 0 (or as prescribed),
//   gather    backward  the bias wrenches of the articulated bodies, p = own + sum over children of X^T (p + U D^-1 u),
//                       u = tau_k - S^T p, and what the turning of the joints adds from the orders below,
//   solve     forward   d = D^-1 (u - U^T X dA), dA <- X dA + S d: what a_k adds to each acceleration; a_k = d.
//
// The recursion for one coefficient is that of inverse_dynamics.hpp: in body axes, with w, the classical acceleration a of the
// origin and W = [w'] + [w]^2. Only the last term of each convolution, which holds coefficient k itself, is unknown; it is
// linear with the geometry at order zero, X = (E, d). A joint whose acceleration is prescribed keeps its u out of the sweeps.
//
// T is double, or a Pack with a state in each lane; the order is a number, not a type.
#pragma once

#include "jounce/hybrid_solve.hpp"

JOUNCE_BEGIN

// One external wrench on a body: coefficients by order, in body axes or, with the body's pose carried along, in the world's.
template <class T>
struct AppliedWrench {
  int body;
  Axes axes;
  double p[3];  // the point it acts about, in the body (mixed axes)
  T* value;     // (n, 6) coefficients
  T* rotation;  // (n + 1, 9) of the body in the world; unless axes is body
  T* position;  // (n + 2, 3)
};

template <class T>
class HybridDynamics : public HybridSolve<T> {
 public:
  using Base = HybridSolve<T>;
  using Base::Base;

  // Order k, the ones below done. force(k) holds tau (or receives it), rate(k + 1) the prescribed accelerations (or receives
  // them). before(k) is called once the configuration's coefficients of this order are known and no dynamics is yet.
  template <class Before>
  void advance(int k, AppliedWrench<T>* wrenches, int wrench_count, const Before& before) {
    this->extend_joints(k);
    before(k);
    this->bias(k);
    for (int i = 0; i < wrench_count; ++i) apply_wrench(wrenches[i], k);
    this->gather(k);
    this->solve(k);
  }

 private:
  using Base::level;
  using Base::state_;
  using Base::tree_;
  using typename Base::State;

  // Subtracts an external wrench, turned into body axes by the coefficients of the body's pose (paper A, E5).
  void apply_wrench(AppliedWrench<T>& in, int k) {
    State& s = state_[in.body];
    const T zero(0.0);
    Vec3<T> f{zero, zero, zero}, t{zero, zero, zero};
    if (in.axes == Axes::body) {
      const T* w = in.value + 6 * k;
      f = {w[0], w[1], w[2]};
      t = {w[3], w[4], w[5]};
    } else {
      extend_pose(in, k);
      for (int j = 0; j <= k; ++j) {
        const T *R = in.rotation + 9 * (k - j), *w = in.value + 6 * j;
        f += apply_transpose(R, Vec3<T>{w[0], w[1], w[2]});
        Vec3<T> moment{w[3], w[4], w[5]};
        if (in.axes == Axes::world)
          for (int l = 0; l <= j; ++l) {
            const T *x = in.position + 3 * l, *g = in.value + 6 * (j - l);
            moment -= Vec3<T>{x[1] * g[2] - x[2] * g[1], x[2] * g[0] - x[0] * g[2], x[0] * g[1] - x[1] * g[0]};
          }
        t += apply_transpose(R, moment);
      }
      if (in.axes == Axes::mixed) {
        const T x(in.p[0]), y(in.p[1]), z(in.p[2]);
        t += Vec3<T>{y * f.z - z * f.y, z * f.x - x * f.z, x * f.y - y * f.x};
      }
    }
    s.p_f -= f;
    s.p_n -= t;
  }

  // Coefficient k of the body's rotation (R' = R [w]) and position (x'' = R a + g) in the world.
  void extend_pose(AppliedWrench<T>& in, int k) {
    if (k == 0) return;
    const T scale(1.0 / k);
    T* R = in.rotation + 9 * k;
    for (int row = 0; row < 3; ++row) {
      Vec3<T> sum{T(0.0), T(0.0), T(0.0)};
      for (int j = 0; j < k; ++j) {
        const T* r = in.rotation + 9 * j + 3 * row;
        const Vec3<T>& w = level(in.body, k - 1 - j).w;
        sum += Vec3<T>{r[1] * w.z - r[2] * w.y, r[2] * w.x - r[0] * w.z, r[0] * w.y - r[1] * w.x};
      }
      R[3 * row] = scale * sum.x, R[3 * row + 1] = scale * sum.y, R[3 * row + 2] = scale * sum.z;
    }
    if (k < 2) return;
    const T over(1.0 / (k * (k - 1)));
    for (int row = 0; row < 3; ++row) {
      T sum(k == 2 ? tree_.gravity[row] : 0.0);
      for (int j = 0; j <= k - 2; ++j) {
        const T* r = in.rotation + 9 * j + 3 * row;
        const Vec3<T>& a = level(in.body, k - 2 - j).a;
        sum += r[0] * a.x + r[1] * a.y + r[2] * a.z;
      }
      in.position[3 * k + row] = over * sum;
    }
  }
};

JOUNCE_END
