// A number and its derivative in one direction: the coefficient type that turns an algorithm into its own derivative.
#pragma once

#include "jounce/ring/stumpff.hpp"

JOUNCE_BEGIN

template <class P>
struct Dual {
  P x, d;

  Dual() = default;
  JOUNCE_INLINE Dual(double value) : x(value), d(0.0) {}
  JOUNCE_INLINE Dual(const P& value, const P& derivative) : x(value), d(derivative) {}

  friend JOUNCE_INLINE Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  friend JOUNCE_INLINE Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  friend JOUNCE_INLINE Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, a.x * b.d + a.d * b.x}; }
  JOUNCE_INLINE Dual& operator+=(const Dual& b) { return *this = *this + b; }
};

template <class T>
constexpr bool is_dual = false;
template <class P>
constexpr bool is_dual<Dual<P>> = true;

// Lanes of a Pack or of a Dual of Packs; 1 for anything else.
template <class T>
constexpr int lanes_of = 1;
template <int W>
constexpr int lanes_of<Pack<W>> = W;
template <class P>
constexpr int lanes_of<Dual<P>> = lanes_of<P>;

template <class T>
JOUNCE_INLINE T load_lanes(const double* p) {
  if constexpr (is_dual<T>)
    return {decltype(T::x)::load(p), decltype(T::x)(0.0)};
  else
    return T::load(p);
}

// Stumpff's functions c_0 ... c_{count-1}, c_k at c[k * stride].
template <int W>
JOUNCE_INLINE void stumpff_values_of(const Pack<W>& u, int count, Pack<W>* c, int stride) {
  stumpff_values(u, count, c, stride);
}
template <int W>
JOUNCE_INLINE void stumpff_values_of(const Dual<Pack<W>>& u, int count, Dual<Pack<W>>* c, int stride) {
  Pack<W> value[128];
  stumpff_values(u.x, count, value, 1);
  for (int k = 0; k < count; ++k) {
    const Pack<W> slope = k + 2 < count ? Pack<W>(0.5) * (Pack<W>(double(k)) * value[k + 2] - value[k + 1]) : Pack<W>(0.0);
    c[k * stride] = {value[k], slope * u.d};
  }
}

JOUNCE_END
