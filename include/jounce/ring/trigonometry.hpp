// Sine and cosine of W angles at once, and the Taylor series of both along a motion.
#pragma once

#include "jounce/ring/pack.hpp"

JOUNCE_BEGIN

// Beyond this many radians the reduction below would lose digits, and libm takes over.
constexpr double largest_reduced_angle = 1e6;

// x = k pi/2 + y with |y| <= pi/4, pi/2 in three parts of 33 bits so that each product with k < 2^20 is exact; then the
// Taylor polynomials, whose first neglected terms are below 1e-19 relative to the result.
template <int W>
JOUNCE_INLINE void sincos(const Pack<W>& x, Pack<W>& sine, Pack<W>& cosine) {
#ifdef JOUNCE_VECTOR_EXTENSIONS
  using V = typename Pack<W>::V;
  using I = typename Vector<W>::index;
  constexpr double magic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const V shifted = (x * Pack<W>(0x1.45f306dc9c883p-1)).v + Pack<W>(magic).v;
  I quadrant;
  std::memcpy(&quadrant, &shifted, sizeof(I));
  const Pack<W> k(V(shifted - Pack<W>(magic).v));
  const Pack<W> y = ((x - k * Pack<W>(0x1.921fb544p0)) - k * Pack<W>(0x1.0b4611a6p-34)) - k * Pack<W>(0x1.3198a2e037073p-69);
  const Pack<W> z = y * y;
  Pack<W> s(1.0 / 355687428096000.0), c(-1.0 / 6402373705728000.0);
  constexpr double sine_terms[] = {-1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0,
                                   -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
  constexpr double cosine_terms[] = {1.0 / 20922789888000.0, -1.0 / 87178291200.0, 1.0 / 479001600.0, -1.0 / 3628800.0,
                                     1.0 / 40320.0,          -1.0 / 720.0,         1.0 / 24.0};
  for (double term : sine_terms) s = s * z + Pack<W>(term);
  for (double term : cosine_terms) c = c * z + Pack<W>(term);
  s = y + y * z * s;
  c = Pack<W>(1.0) - (Pack<W>(0.5) * z - z * z * c);
  const I odd = -(quadrant & 1), flip_s = (quadrant & 2) != 0, flip_c = ((quadrant + 1) & 2) != 0;
  const V sv = odd ? c.v : s.v, cv = odd ? s.v : c.v;
  sine = Pack<W>(V(flip_s ? -sv : sv));
  cosine = Pack<W>(V(flip_c ? -cv : cv));
  constexpr double from = largest_reduced_angle;
#else
  constexpr double from = 0;
#endif
  for (int i = 0; i < W; ++i)
    if (!(std::fabs(x[i]) < from)) {
      sine.set(i, std::sin(x[i]));
      cosine.set(i, std::cos(x[i]));
    }
}

// s' = c q', c' = -s q' for the K coefficients of sin q and cos q, given K - 1 of the rate q'; all `stride` doubles apart.
template <int K, class P>
JOUNCE_INLINE void sincos_series(const P& angle, const double* rate, double* sine, double* cosine, int stride) {
  P s[K], c[K], rates[K];
  sincos(angle, s[0], c[0]);
  for (int k = 0; k + 1 < K; ++k) {
    rates[k] = P::load(rate + k * stride);
    P ds = c[0] * rates[k], dc = s[0] * rates[k];
    for (int j = 1; j <= k; ++j) {
      ds += c[j] * rates[k - j];
      dc += s[j] * rates[k - j];
    }
    s[k + 1] = P(1.0 / (k + 1)) * ds;
    c[k + 1] = P(-1.0 / (k + 1)) * dc;
  }
  for (int k = 0; k < K; ++k) {
    s[k].store(sine + k * stride);
    c[k].store(cosine + k * stride);
  }
}

JOUNCE_END
