// Dry friction of a joint as a series: force * tanh(x), x = v / speed, which is Coulomb's force * sign(v) except at speeds of that order.
//
// With y = tanh x and its slope z = 1 - y^2, y' = z x' and z' = -2 y y'. The slope at the start is computed from exp(-2 |x|): 1 - y^2
// would have no digits left where friction is almost constant.
#pragma once

#include "jounce/ring/ring.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

struct FrictionSeries {
  static constexpr int longest = max_order + 1;
  double value[longest], slope[longest];  // tanh x and its derivative by x

  // n coefficients, from those of the velocity, velocity(k).
  template <class Velocity>
  FrictionSeries(double speed, int n, const Velocity& velocity) {
    const double x = velocity(0) / speed, e = std::exp(-2 * std::fabs(x));
    value[0] = std::tanh(x);
    slope[0] = 4 * e / ((1 + e) * (1 + e));
    double rate[longest];  // x'
    for (int k = 0; k + 1 < n; ++k) rate[k] = slope[0] == 0 ? 0.0 : (k + 1) * velocity(k + 1) / speed;
    for (int k = 0; k + 1 < n; ++k) {
      double rise = 0, bend = 0;
      for (int j = 0; j <= k; ++j) rise += slope[j] * rate[k - j];
      value[k + 1] = rise / (k + 1);
      for (int j = 0; j <= k; ++j) bend += (j + 1) * value[j + 1] * value[k - j];
      slope[k + 1] = -2 * bend / (k + 1);
    }
  }
};

// Adds coefficients [from, to) of the friction of all joints to `force`; tables have a row of `stride` per coefficient.
template <class T>
JOUNCE_NOINLINE void add_friction(const Tree& tree, const T* rate, int stride, int from, int to, T* force) {
  for (int i = 0; i < tree.friction_count; ++i) {
    const Friction& f = tree.frictions[i];
    for (int s = 0; s < states((const T*)nullptr); ++s) {
      const FrictionSeries series(f.speed, to, [&](int k) { return state(rate[k * stride + f.column], s); });
      for (int k = from; k < to; ++k) state(force[k * stride + f.column], s) += f.force * series.value[k];
    }
  }
}

// Adds derivatives 0 .. rows - 1 of how these forces change with velocities to D, matrices (columns, columns).
JOUNCE_NOINLINE inline void add_friction_derivatives(const Tree& tree, const double* rate, int stride, int rows, double* D) {
  const std::ptrdiff_t columns = tree.columns;
  for (int i = 0; i < tree.friction_count; ++i) {
    const Friction& f = tree.frictions[i];
    const FrictionSeries series(f.speed, rows, [&](int k) { return rate[k * stride + f.column]; });
    for (int k = 0; k < rows; ++k)
      D[(k * columns + f.column) * columns + f.column] += factorial.value[k] * (f.force / f.speed) * series.slope[k];
  }
}

JOUNCE_END
