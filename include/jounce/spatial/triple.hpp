// The three numbers of a vector at one order: for one state in one register, whose fourth lane is ignored; for several states (T a
// Pack) each in a register of its own.
#pragma once

#include "jounce/ring/pack.hpp"

JOUNCE_BEGIN

template <class T>
struct Triple {
  T u[3];

  static JOUNCE_INLINE Triple of(const T& x, const T& y, const T& z) { return {{x, y, z}}; }
  static JOUNCE_INLINE Triple zero() { return {{T(0.0), T(0.0), T(0.0)}}; }
  static JOUNCE_INLINE Triple load(const T* p) { return {{p[0], p[1], p[2]}}; }
  JOUNCE_INLINE void store(T* p) const { p[0] = u[0], p[1] = u[1], p[2] = u[2], p[3] = T(0.0); }  // writes a fourth number
  JOUNCE_INLINE T operator[](int i) const { return u[i]; }

  friend JOUNCE_INLINE Triple operator+(const Triple& a, const Triple& b) { return {{a.u[0] + b.u[0], a.u[1] + b.u[1], a.u[2] + b.u[2]}}; }
  friend JOUNCE_INLINE Triple operator-(const Triple& a, const Triple& b) { return {{a.u[0] - b.u[0], a.u[1] - b.u[1], a.u[2] - b.u[2]}}; }
  JOUNCE_INLINE Triple& operator+=(const Triple& b) { return *this = *this + b; }
  JOUNCE_INLINE Triple& operator-=(const Triple& b) { return *this = *this - b; }
  // this += s a
  JOUNCE_INLINE void add(const T& s, const Triple& a) {
    for (int i = 0; i < 3; ++i) u[i] += s * a.u[i];
  }

  // M^T a for a row-major matrix M.
  template <class C>
  friend JOUNCE_INLINE Triple sum_of_rows(const C* M, const Triple& a) {
    Triple y;
    for (int i = 0; i < 3; ++i) y.u[i] = T(M[i]) * a.u[0] + T(M[3 + i]) * a.u[1] + T(M[6 + i]) * a.u[2];
    return y;
  }
  friend JOUNCE_INLINE Triple cross_of(const Triple& a, const Triple& b) {
    return {{a.u[1] * b.u[2] - a.u[2] * b.u[1], a.u[2] * b.u[0] - a.u[0] * b.u[2], a.u[0] * b.u[1] - a.u[1] * b.u[0]}};
  }
  // Sums of cross products: add_cross() accumulates, crossed() returns the sum.
  JOUNCE_INLINE void add_cross(const Triple& a, const Triple& b) { *this += cross_of(a, b); }
  JOUNCE_INLINE Triple crossed() const { return *this; }
  // The sum of the three, in each of them.
  JOUNCE_INLINE Triple total() const {
    const T sum = u[0] + u[1] + u[2];
    return {{sum, sum, sum}};
  }
  friend JOUNCE_INLINE Triple products(const Triple& a, const Triple& b) { return {{a.u[0] * b.u[0], a.u[1] * b.u[1], a.u[2] * b.u[2]}}; }
  // Column j of the matrix [a].
  template <int j>
  JOUNCE_INLINE Triple skew() const {
    const T o(0.0);
    if constexpr (j == 0) return {{o, u[2], -u[1]}};
    if constexpr (j == 1) return {{-u[2], o, u[0]}};
    return {{u[1], -u[0], o}};
  }
  // Entry j alone, the others zero.
  template <int j>
  JOUNCE_INLINE Triple only_entry() const {
    const T o(0.0);
    return {{j == 0 ? u[0] : o, j == 1 ? u[1] : o, j == 2 ? u[2] : o}};
  }
};

#ifdef JOUNCE_VECTOR_EXTENSIONS
template <>
struct Triple<double> {
  using P = Pack<4>;
  P r;

  static JOUNCE_INLINE Triple of(double x, double y, double z) { return {P(P::V{x, y, z, 0.0})}; }
  static JOUNCE_INLINE Triple zero() { return {P(0.0)}; }
  static JOUNCE_INLINE Triple load(const double* p) { return {P::load(p)}; }  // reads a fourth number
  JOUNCE_INLINE void store(double* p) const { r.store(p); }                   // writes a fourth number
  JOUNCE_INLINE double operator[](int i) const { return r[i]; }

  friend JOUNCE_INLINE Triple operator+(const Triple& a, const Triple& b) { return {a.r + b.r}; }
  friend JOUNCE_INLINE Triple operator-(const Triple& a, const Triple& b) { return {a.r - b.r}; }
  JOUNCE_INLINE Triple& operator+=(const Triple& b) { return *this = *this + b; }
  JOUNCE_INLINE Triple& operator-=(const Triple& b) { return *this = *this - b; }
  JOUNCE_INLINE void add(double s, const Triple& a) { r += P(s) * a.r; }

  template <int i>
  JOUNCE_INLINE P all() const {
    return shuffle<4>(r, r, [](int) { return i; });
  }
  friend JOUNCE_INLINE Triple sum_of_rows(const double* M, const Triple& a) {
    return {P::load(M) * a.all<0>() + P::load(M + 3) * a.all<1>() + P::load(M + 6) * a.all<2>()};
  }
  JOUNCE_INLINE P next() const {  // y z x
    return shuffle<4>(r, r, [](int i) { return i < 3 ? (i + 1) % 3 : 3; });
  }
  friend JOUNCE_INLINE Triple cross_of(const Triple& a, const Triple& b) { return {Triple{a.r * b.next() - a.next() * b.r}.next()}; }
  JOUNCE_INLINE void add_cross(const Triple& a, const Triple& b) {
    r += a.r * b.next();
    r -= a.next() * b.r;
  }
  JOUNCE_INLINE Triple crossed() const { return {next()}; }
  JOUNCE_INLINE Triple total() const {
    return {r + next() + shuffle<4>(r, r, [](int i) { return i < 3 ? (i + 2) % 3 : 3; })};
  }
  friend JOUNCE_INLINE Triple products(const Triple& a, const Triple& b) { return {a.r * b.r}; }
  template <int j>
  JOUNCE_INLINE Triple skew() const {
    constexpr int i1 = (j + 1) % 3, i2 = (j + 2) % 3;  // entry i1 is u[i2], entry i2 is -u[i1]
    constexpr auto sign = [](int i) { return i == i1 ? 1.0 : i == i2 ? -1.0 : 0.0; };
    return {P(P::V{sign(0), sign(1), sign(2), 0.0}) * shuffle<4>(r, r, [](int i) { return i == i1 ? i2 : i1; })};
  }
  template <int j>
  JOUNCE_INLINE Triple only_entry() const {
    return {shuffle<4>(r, P(0.0), [](int i) { return i == j ? i : 4 + i; })};
  }
};
#endif

JOUNCE_END
