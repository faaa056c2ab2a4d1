// Stumpff's functions c_k(u) = sum_j (-u)^j / (2j + k)!, of which exponentials of twists are made, over any ring of series.
//
//   cos t = c_0(t^2),   sin t / t = c_1(t^2),   (1 - cos t) / t^2 = c_2(t^2),   (t - sin t) / t^3 = c_3(t^2),   ...
//
// They are entire: nothing happens at u = 0. Their derivatives are Stumpff functions again, c_k' = (k c_{k+2} - c_{k+1}) / 2,
// and so a series u = u_0 + d goes in by Taylor's formula, sum_j c_k^(j)(u_0) d^j / j!.
#pragma once

#include <cmath>

#include "jounce/dual.hpp"
#include "jounce/series.hpp"

JOUNCE_BEGIN

// 1 / k and 1 / k!
struct Reciprocals {
  double value[1024], factorial[128];
  constexpr Reciprocals() : value{}, factorial{} {
    factorial[0] = 1;
    for (int k = 1; k < 1024; ++k) value[k] = 1.0 / k;
    for (int k = 1; k < 128; ++k) factorial[k] = factorial[k - 1] / k;
  }
};
inline constexpr Reciprocals reciprocals;

// c_0(u) ... c_{count-1}(u). Where u is small against k^2 from above, by c_k = 1/k! - u c_{k+2}, from a power series; where it
// is large from below, by c_{k+2} = (1/k! - c_k) / u. Neither loses digits there.
template <int count>
inline void stumpff_values(double u, double c[count]) {
  static_assert(count >= 2);
  constexpr int top = count - 2;
  const double* inverse_factorial = reciprocals.factorial;
  int first = 0;  // below this, from below
  if (u > 36) {
    while (first < count && double(first) * first < u) ++first;
    const double t = std::sqrt(u);
    c[0] = std::cos(t), c[1] = std::sin(t) / t;
    for (int k = 2; k < first && k < count; ++k) c[k] = (inverse_factorial[k - 2] - c[k - 2]) / u;
  }
  for (int k = top; k < count; ++k) {
    double term = inverse_factorial[k], sum = term;
    const double enough = 1e-18 * term;
    for (int j = 1; std::fabs(term) > enough && j < 300; ++j) {
      term *= -u * reciprocals.value[2 * j + k] * reciprocals.value[2 * j + k - 1];
      sum += term;
    }
    if (k >= first) c[k] = sum;
  }
  for (int k = top - 1; k >= first; --k) c[k] = inverse_factorial[k] - u * c[k + 2];
}

// c_1 ... c_n of a series.
template <int n, class S>
struct Stumpff {
  S c[n + 1];  // c[0] is not set

  explicit JOUNCE_INLINE Stumpff(const S& u) {
    constexpr int depth = S::length - 1 + infinitesimals<typename S::Coefficient>;  // powers of d that are not zero
    constexpr int count = n + 1 + 2 * depth;
    double value[count < 2 ? 2 : count];
    const double u0 = real_part(leading(u));
    stumpff_values<(count < 2 ? 2 : count)>(u0, value);
    for (int k = 1; k <= n; ++k) c[k] = S(value[k]);
    if constexpr (depth > 0) {
      const S d = u - S(u0);
      S power = d;
      double scale = 1;
      for (int j = 1; j <= depth; ++j) {
        for (int k = 1; k < count - 2 * j; ++k) value[k] = 0.5 * (k * value[k + 2] - value[k + 1]);
        scale /= j;
        for (int k = 1; k <= n; ++k) c[k] += (scale * value[k]) * power;
        if (j < depth) power = as_factor(d) * power;
      }
    }
  }
};

JOUNCE_END
