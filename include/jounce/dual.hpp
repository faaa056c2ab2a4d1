// A number and its derivatives in W directions: the coefficient type that turns an algorithm into its own derivative.
#pragma once

#include "jounce/pack.hpp"

JOUNCE_BEGIN

template <int W>
struct Dual {
  double x;
  Pack<W> d;

  Dual() = default;
  JOUNCE_INLINE Dual(double value) : x(value), d(0.0) {}
  JOUNCE_INLINE Dual(double value, Pack<W> derivatives) : x(value), d(derivatives) {}

  friend JOUNCE_INLINE Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  friend JOUNCE_INLINE Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  friend JOUNCE_INLINE Dual operator-(const Dual& a) { return {-a.x, -a.d}; }
  friend JOUNCE_INLINE Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, Pack<W>(a.x) * b.d + Pack<W>(b.x) * a.d}; }
  JOUNCE_INLINE Dual& operator+=(const Dual& b) { return *this = *this + b; }
  JOUNCE_INLINE Dual& operator-=(const Dual& b) { return *this = *this - b; }
};

// The number without its derivatives, and how many infinitesimals may be multiplied before the product is zero, less one.
JOUNCE_INLINE double real_part(double x) { return x; }
template <int W>
JOUNCE_INLINE double real_part(const Dual<W>& a) {
  return a.x;
}
template <class T>
constexpr int infinitesimals = 0;
template <int W>
constexpr int infinitesimals<Dual<W>> = 1;

JOUNCE_END
