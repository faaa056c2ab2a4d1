// A number that counts what is done with it. Included before all else, it takes the place of `double` in whatever follows: the
// algorithms then compute what they always do, and know how many operations that took.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

struct Operations {
  long additions, products, divisions;  // a difference is an addition; square roots, sines and the like are divisions
  long all() const { return additions + products + divisions; }
};
inline Operations counted;

struct Counted {
  double x;
  Counted() = default;
  template <class N>
    requires std::is_arithmetic_v<N>
  constexpr Counted(N n) : x(double(n)) {}
  template <class N>
    requires std::is_arithmetic_v<N>
  constexpr explicit operator N() const {
    return N(x);
  }

  static constexpr Counted note(long Operations::* what, double value) {
    if (!std::is_constant_evaluated()) ++(counted.*what);
    return value;
  }
  friend constexpr Counted operator+(Counted a, Counted b) { return note(&Operations::additions, a.x + b.x); }
  friend constexpr Counted operator-(Counted a, Counted b) { return note(&Operations::additions, a.x - b.x); }
  friend constexpr Counted operator*(Counted a, Counted b) { return note(&Operations::products, a.x * b.x); }
  friend constexpr Counted operator/(Counted a, Counted b) { return note(&Operations::divisions, a.x / b.x); }
  friend constexpr Counted operator-(Counted a) { return -a.x; }
  constexpr Counted& operator+=(Counted b) { return *this = *this + b; }
  constexpr Counted& operator-=(Counted b) { return *this = *this - b; }
  constexpr Counted& operator*=(Counted b) { return *this = *this * b; }
  constexpr Counted& operator/=(Counted b) { return *this = *this / b; }
  friend constexpr auto operator<=>(Counted a, Counted b) { return a.x <=> b.x; }
  friend constexpr bool operator==(Counted a, Counted b) { return a.x == b.x; }
};

namespace std {
inline Counted sqrt(Counted a) { return Counted::note(&Operations::divisions, sqrt(a.x)); }
inline Counted sin(Counted a) { return Counted::note(&Operations::divisions, sin(a.x)); }
inline Counted cos(Counted a) { return Counted::note(&Operations::divisions, cos(a.x)); }
inline Counted atan2(Counted a, Counted b) { return Counted::note(&Operations::divisions, atan2(a.x, b.x)); }
inline Counted tanh(Counted a) { return Counted::note(&Operations::divisions, tanh(a.x)); }
inline Counted exp(Counted a) { return Counted::note(&Operations::divisions, exp(a.x)); }
inline Counted log(Counted a) { return Counted::note(&Operations::divisions, log(a.x)); }
inline Counted pow(Counted a, Counted b) { return Counted::note(&Operations::divisions, pow(a.x, b.x)); }
inline Counted atan(Counted a) { return Counted::note(&Operations::divisions, atan(a.x)); }
inline Counted acos(Counted a) { return Counted::note(&Operations::divisions, acos(a.x)); }
inline Counted fma(Counted a, Counted b, Counted c) {
  ++counted.products;
  return Counted::note(&Operations::additions, fma(a.x, b.x, c.x));
}
inline Counted fmax(Counted a, Counted b) { return fmax(a.x, b.x); }
inline Counted floor(Counted a) { return floor(a.x); }
inline Counted fabs(Counted a) { return fabs(a.x); }
inline Counted round(Counted a) { return round(a.x); }
}  // namespace std

#define JOUNCE_NO_VECTORS
#define double Counted
