// The six numbers of a twist or wrench at one order, as two triples: linear and angular. With registers of eight doubles, a single
// state holds both in one.
#pragma once

#include "jounce/spatial/spatial.hpp"
#include "jounce/spatial/triple.hpp"

JOUNCE_BEGIN

template <class T>
struct Six {
  using V = Triple<T>;
  V v, w;

  static JOUNCE_INLINE Six of(const V& linear, const V& angular) { return {linear, angular}; }
  static JOUNCE_INLINE Six zero() { return {V::zero(), V::zero()}; }
  JOUNCE_INLINE const V& linear() const { return v; }
  JOUNCE_INLINE const V& angular() const { return w; }
  JOUNCE_INLINE T operator[](int i) const { return i < 3 ? v[i] : w[i - 3]; }

  friend JOUNCE_INLINE Six operator+(const Six& a, const Six& b) { return {a.v + b.v, a.w + b.w}; }
  friend JOUNCE_INLINE Six operator-(const Six& a, const Six& b) { return {a.v - b.v, a.w - b.w}; }
  JOUNCE_INLINE Six& operator+=(const Six& b) { return *this = *this + b; }
  JOUNCE_INLINE Six& operator-=(const Six& b) { return *this = *this - b; }
  // this += s a; add_products: this += a b, entry by entry
  JOUNCE_INLINE void add(const T& s, const Six& a) {
    v.add(s, a.v);
    w.add(s, a.w);
  }

  // The same for both halves: see triple.hpp.
  template <class C>
  friend JOUNCE_INLINE Six sum_of_rows(const C* M, const Six& a) {
    return {sum_of_rows(M, a.v), sum_of_rows(M, a.w)};
  }
  // Sums of cross products of a twist a with a twist or wrench b: the functions that accumulate, and crossed(), which returns the sum.
  JOUNCE_INLINE void add_motion_cross(const Six& a, const Six& b) {
    v.add_cross(a.w, b.v), v.add_cross(a.v, b.w);
    w.add_cross(a.w, b.w);
  }
  JOUNCE_INLINE void add_wrench_cross(const Six& a, const Six& b) {
    v.add_cross(a.w, b.v);
    w.add_cross(a.v, b.v), w.add_cross(a.w, b.w);
  }
  JOUNCE_INLINE Six crossed() const { return {v.crossed(), w.crossed()}; }

  JOUNCE_INLINE void add_products(const Six& a, const Six& b) {
    v += products(a.v, b.v);
    w += products(a.w, b.w);
  }
  JOUNCE_INLINE T total() const { return (v + w).total()[0]; }
  friend JOUNCE_INLINE T dot(const Six& a, const Six& b) { return (products(a.v, b.v) + products(a.w, b.w)).total()[0]; }
};

#if defined(JOUNCE_VECTOR_EXTENSIONS) && defined(__AVX512F__)
template <>
struct Six<double> {
  using P = Pack<8>;
  using V = Triple<double>;
  P r;  // the fourth lane of each half is ignored

  static JOUNCE_INLINE Six of(const V& linear, const V& angular) { return {joined(linear.r, angular.r)}; }
  static JOUNCE_INLINE Six zero() { return {P(0.0)}; }
  JOUNCE_INLINE V linear() const { return {half_of<0>(r)}; }
  JOUNCE_INLINE V angular() const { return {half_of<1>(r)}; }
  JOUNCE_INLINE double operator[](int i) const { return r[i < 3 ? i : i + 1]; }

  friend JOUNCE_INLINE Six operator+(const Six& a, const Six& b) { return {a.r + b.r}; }
  friend JOUNCE_INLINE Six operator-(const Six& a, const Six& b) { return {a.r - b.r}; }
  JOUNCE_INLINE Six& operator+=(const Six& b) { return *this = *this + b; }
  JOUNCE_INLINE Six& operator-=(const Six& b) { return *this = *this - b; }
  JOUNCE_INLINE void add(double s, const Six& a) { r += P(s) * a.r; }

  template <int i>
  JOUNCE_INLINE P all() const {
    return shuffle<8>(r, r, [](int lane) { return (lane & 4) + i; });
  }
  static JOUNCE_INLINE P twice(const double* p) { return P(P::V(_mm512_broadcast_f64x4(Pack<4>::load(p).v))); }
  friend JOUNCE_INLINE Six sum_of_rows(const double* M, const Six& a) {
    return {twice(M) * a.all<0>() + twice(M + 3) * a.all<1>() + twice(M + 6) * a.all<2>()};
  }
  // y z x of both halves; the halves exchanged; one half twice, or with zeros in the other
  JOUNCE_INLINE Six next() const {
    return {shuffle<8>(r, r, [](int i) { return (i & 3) < 3 ? (i & 4) + ((i & 3) + 1) % 3 : i; })};
  }
  JOUNCE_INLINE Six exchanged() const {
    return {shuffle<8>(r, r, [](int i) { return i ^ 4; })};
  }
  JOUNCE_INLINE Six angular_twice() const {
    return {shuffle<8>(r, r, [](int i) { return i | 4; })};
  }
  template <int half>
  JOUNCE_INLINE Six linear_in() const {
    return {shuffle<8>(r, P(0.0), [](int i) { return i / 4 == half ? i & 3 : 8 + i; })};
  }
  JOUNCE_INLINE void add_products(const Six& a, const Six& b) { r += a.r * b.r; }
  JOUNCE_INLINE void subtract_products(const Six& a, const Six& b) { r -= a.r * b.r; }
  template <int half>
  JOUNCE_INLINE void add_cross(const Six& a, const Six& b) {
    const Six w = a.angular_twice(), v = a.linear_in<half>(), n = b.next(), e = b.exchanged(), en = e.next();
    add_products(w, n), subtract_products(w.next(), b);
    add_products(v, en), subtract_products(v.next(), e);
  }
  JOUNCE_INLINE void add_motion_cross(const Six& a, const Six& b) { add_cross<0>(a, b); }
  JOUNCE_INLINE void add_wrench_cross(const Six& a, const Six& b) { add_cross<1>(a, b); }
  JOUNCE_INLINE Six crossed() const { return next(); }

  JOUNCE_INLINE double total() const { return (linear() + angular()).total()[0]; }
  friend JOUNCE_INLINE double dot(const Six& a, const Six& b) { return Six{a.r * b.r}.total(); }
};
#endif

template <class T>
JOUNCE_INLINE Six<T> motion_cross(const Six<T>& a, const Six<T>& b) {
  Six<T> y = Six<T>::zero();
  y.add_motion_cross(a, b);
  return y.crossed();
}
template <class T>
JOUNCE_INLINE Six<T> wrench_cross(const Six<T>& a, const Six<T>& b) {
  Six<T> y = Six<T>::zero();
  y.add_wrench_cross(a, b);
  return y.crossed();
}

template <class S>
JOUNCE_INLINE auto leading(const Screw<S>& s) {
  using T = decltype(leading(s.v.x));
  return Six<T>::of(Triple<T>::of(leading(s.v.x), leading(s.v.y), leading(s.v.z)),
                    Triple<T>::of(leading(s.w.x), leading(s.w.y), leading(s.w.z)));
}

JOUNCE_END
