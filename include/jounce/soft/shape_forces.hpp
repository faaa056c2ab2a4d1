// The forces that the shapes of soft bodies require by themselves: stiffness q + viscosity v and, for nonlinear ones, dU/dq and dR/dv
// of a recorded energy U(q) and dissipation R(q, v). Also their energies and their derivatives along a motion.
#pragma once

#include "jounce/ring/arena.hpp"
#include "jounce/ring/ring.hpp"
#include "jounce/tree/soft_body.hpp"

JOUNCE_BEGIN

class ShapeForces {
 public:
  template <class Arena>
  ShapeForces(const Tree& tree, int length, Arena& arena)
      : length_(length), values_(arena.template take<double>(tree.soft ? std::size_t(tree.soft->recorded_values) * length : 0)) {}

  // Adds coefficients [from, to) to `force`; tables have a row of `stride` per coefficient.
  template <class T>
  JOUNCE_NOINLINE void add_forces(const Tree& tree, const T* q, const T* rate, int stride, int from, int to, T* force) const {
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& b = tree.soft->bodies[i];
      for (int k = from; k < to; ++k) {
        const T *shape = k == 0 ? q + b.q : rate + (k - 1) * stride + b.v, *velocity = rate + k * stride + b.v;
        T* out = force + k * stride + b.v;
        const double scale = k == 0 ? 1.0 : 1.0 / k;
        for (int c = 0; c < b.n; ++c)
          for (int d = 0; d < b.n; ++d)
            out[c] += T(scale * b.stiffness[c * b.n + d]) * shape[d] + T(b.viscosity[c * b.n + d]) * velocity[d];
      }
      for (int s = 0; s < states((const T*)nullptr); ++s) {
        const auto at = [&](int c, int k) { return k == 0 ? state(q[b.q + c], s) : state(rate[(k - 1) * stride + b.v + c], s) / k; };
        const auto rates = [&](int c, int k) { return state(rate[k * stride + b.v + c], s); };
        const auto add = [&](int c, int k, double x) {
          if (k >= from) state(force[k * stride + b.v + c], s) += x;
        };
        run(b.elastic, b.n, to, at, rates, add);
        run(b.viscous, b.n, to, at, rates, add);
      }
    }
  }

  // Adds derivatives 0 .. rows - 1 of the forces' partial derivatives with respect to q and v to K and D, (rows, columns, columns).
  JOUNCE_NOINLINE void add_derivatives(const Tree& tree, const double* q, const double* rate, int stride, int rows, double* K,
                                       double* D) const {
    const std::ptrdiff_t columns = tree.columns, size = columns * columns;
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& b = tree.soft->bodies[i];
      const auto entry = [&](int c, int d) { return (b.v + c) * columns + b.v + d; };
      for (int c = 0; c < b.n; ++c)
        for (int d = 0; d < b.n; ++d) {
          K[entry(c, d)] += b.stiffness[c * b.n + d];
          D[entry(c, d)] += b.viscosity[c * b.n + d];
        }
      const auto at = [&](int c, int k) { return k == 0 ? q[b.q + c] : rate[(k - 1) * stride + b.v + c] / k; };
      const auto rates = [&](int c, int k) { return rate[k * stride + b.v + c]; };
      run(b.elastic_gradient, b.n, rows, at, rates,
          [&](int j, int k, double x) { K[k * size + entry(j / b.n, j % b.n)] += factorial.value[k] * x; });
      run(b.viscous_gradient, b.n, rows, at, rates, [&](int j, int k, double x) {
        const int c = j / (2 * b.n), d = j % (2 * b.n);
        (d < b.n ? K[k * size + entry(c, d)] : D[k * size + entry(c, d - b.n)]) += factorial.value[k] * x;
      });
    }
  }

  // Adds `rows` coefficients of the energy.
  JOUNCE_NOINLINE void add_energy(const Tree& tree, const double* q, const double* rate, int stride, int rows, double* energy) const {
    for (int i = 0; i < tree.soft->count; ++i) {
      const SoftBody& b = tree.soft->bodies[i];
      const auto at = [&](int c, int k) { return k == 0 ? q[b.q + c] : rate[(k - 1) * stride + b.v + c] / k; };
      for (int k = 0; k < rows; ++k)
        for (int j = 0; j <= k; ++j)
          for (int c = 0; c < b.n; ++c)
            for (int d = 0; d < b.n; ++d) energy[k] += 0.5 * b.stiffness[c * b.n + d] * at(c, j) * at(d, k - j);
      run(b.energy, b.n, rows, at, at, [&](int, int k, double x) { energy[k] += x; });
    }
  }

 private:
  // `count` coefficients of a recorded function of the shape's coordinates, and of their rates if it takes both.
  template <class Position, class Rate, class Out>
  void run(const Recording* recording, int n, int count, const Position& position, const Rate& rate, const Out& out) const {
    if (!recording) return;
    for (int k = 0; k < count; ++k) {
      for (int c = 0; c < n; ++c) values_[std::ptrdiff_t(c) * length_ + k] = position(c, k);
      for (int c = n; c < recording->inputs; ++c) values_[std::ptrdiff_t(c) * length_ + k] = rate(c - n, k);
    }
    replay(*recording, 0, count, length_, values_);
    for (int j = 0; j < recording->output_count; ++j)
      for (int k = 0; k < count; ++k) out(j, k, values_[std::ptrdiff_t(recording->outputs[j]) * length_ + k]);
  }

  int length_;
  double* values_;
};

JOUNCE_END
