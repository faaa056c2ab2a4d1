// Stumpff's functions c_k(u) = sum_j (-u)^j / (2j + k)!, the building blocks of exponentials of twists.
//
//   cos t = c_0(t^2),   sin t / t = c_1(t^2),   (1 - cos t) / t^2 = c_2(t^2),   (t - sin t) / t^3 = c_3(t^2),   ...
//
// They are entire: u = 0 is not special. Their derivatives are Stumpff functions again, c_k' = (k c_{k+2} - c_{k+1}) / 2.
#pragma once

#include "jounce/ring/pack.hpp"

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

// Beyond this the power series would lose digits.
constexpr double largest_stumpff_series = 36;

// c_0(u) ... c_{count-1}(u), count >= 2. Where u is small compared with k^2, downwards in k by c_k = 1/k! - u c_{k+2}, starting from a
// power series; where it is large, upwards by c_{k+2} = (1/k! - c_k) / u. Neither loses digits there.
inline void stumpff_values(double u, int count, double* c) {
  const int top = count - 2;
  const double* inverse_factorial = reciprocals.factorial;
  int first = 0;  // indices below this use the upward recurrence
  if (u > largest_stumpff_series) {
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

// The same for the lanes of a register; c_k at c[k * stride].
template <int W>
inline void stumpff_values(const Pack<W>& u, int count, Pack<W>* c, int stride) {
  double largest = 0;
  for (int i = 0; i < W; ++i) largest = u[i] > largest || u[i] != u[i] ? u[i] : largest;
  if (!(largest <= largest_stumpff_series)) {
    for (int i = 0; i < W; ++i) {
      double values[128];
      stumpff_values(u[i], count, values);
      for (int k = 0; k < count; ++k) c[k * stride].set(i, values[k]);
    }
    return;
  }
  for (int k = count - 2; k < count; ++k) {
    int terms = 0;
    for (double size = 1; size > 1e-18 && terms < 100; ++terms)
      size *= largest * reciprocals.value[2 * terms + k + 2] * reciprocals.value[2 * terms + k + 1];
    Pack<W> sum(1.0);  // Horner: 1 - u / ((k + 1) (k + 2)) (1 - ...)
    for (int j = terms; j >= 1; --j)
      sum = Pack<W>(1.0) - Pack<W>(reciprocals.value[2 * j + k] * reciprocals.value[2 * j + k - 1]) * u * sum;
    c[k * stride] = Pack<W>(reciprocals.factorial[k]) * sum;
  }
  for (int k = count - 3; k >= 0; --k) c[k * stride] = Pack<W>(reciprocals.factorial[k]) - u * c[(k + 2) * stride];
}

JOUNCE_END
