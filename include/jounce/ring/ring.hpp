// Rings: the series that an algorithm of order r computes with. Velocities carry one coefficient more than accelerations and forces,
// whose derivatives run from 0 to r.
#pragma once

#include "jounce/ring/double_double.hpp"
#include "jounce/ring/series.hpp"

JOUNCE_BEGIN

// Coefficients in arrays. T = double, or DoubleDouble: one state; T = Pack<W>: W states.
template <class T, int r>
struct ArrayRing {
  static constexpr int order = r;
  static constexpr bool in_lanes = false;
  static constexpr int padded = r + 2;  // coefficients that load() may read
  using Coefficient = T;
  using Velocity = Series<T, r + 2>;
  using Acceleration = Series<T, r + 1>;
};

// Coefficients across SIMD lanes: one state.
template <int r, int W>
struct LaneRing {
  static constexpr int order = r;
  static constexpr bool in_lanes = true;
  using Coefficient = double;
  using Velocity = LaneSeries<r + 2, W>;
  using Acceleration = LaneSeries<r + 1, W>;
  static constexpr int padded = Velocity::blocks * W;
};

// How many states a coefficient holds, and one of them.
JOUNCE_INLINE constexpr int states(const double*) { return 1; }
JOUNCE_INLINE constexpr int states(const DoubleDouble*) { return 1; }
template <int W>
JOUNCE_INLINE constexpr int states(const Pack<W>*) {
  return W;
}
JOUNCE_INLINE double& state(double& x, int) { return x; }
JOUNCE_INLINE double state(const double& x, int) { return x; }
JOUNCE_INLINE DoubleDouble& state(DoubleDouble& x, int) { return x; }
JOUNCE_INLINE double state(const DoubleDouble& x, int) { return rounded(x); }
template <int W>
JOUNCE_INLINE double& state(Pack<W>& x, int i) {
  return reinterpret_cast<double*>(&x)[i];
}

template <int W>
JOUNCE_INLINE double state(const Pack<W>& x, int i) {
  return x[i];
}

constexpr int max_order = 30;

// k! and 1 / k!, to convert between derivatives and Taylor coefficients.
struct Factorials {
  double value[max_order + 3], inverse[max_order + 3];
  constexpr Factorials() : value{}, inverse{} {
    value[0] = inverse[0] = 1;
    for (int k = 1; k < max_order + 3; ++k) {
      value[k] = k * value[k - 1];
      inverse[k] = 1 / value[k];
    }
  }
};
inline constexpr Factorials factorial;

// 1 / n and x / k!, to all digits of T.
template <class T>
JOUNCE_INLINE auto reciprocal(int n) {
  if constexpr (std::is_same_v<T, DoubleDouble>)
    return DoubleDouble(1.0) / double(n);
  else
    return 1.0 / n;
}
template <class T>
JOUNCE_INLINE auto over_factorial(int k, double x) {
  if constexpr (std::is_same_v<T, DoubleDouble>)
    return DoubleDouble(x) / factorial.value[k];
  else
    return factorial.inverse[k] * x;
}

// What rows of numbers are processed in: for doubles, several at once.
template <class T>
using Together = std::conditional_t<std::is_same_v<T, double>, Pack<native_width>, T>;

// The sum of such a row.
template <class T>
JOUNCE_INLINE T total(const T& x) {
  return x;
}
template <int W>
JOUNCE_INLINE double total(const Pack<W>& x) {
  double sum = x[0];
  for (int i = 1; i < W; ++i) sum += x[i];
  return sum;
}

JOUNCE_END
