// Six numbers of a twist or wrench, for arithmetic at order zero: of one state, each half padded to half a register of eight; of
// several, one of them in each lane.
#pragma once

#include "jounce/spatial.hpp"
#include "jounce/triple.hpp"

JOUNCE_BEGIN

template <class T>
struct Six {
  T x[6];

  JOUNCE_INLINE const T* linear() const { return x; }
  JOUNCE_INLINE const T* angular() const { return x + 3; }
  JOUNCE_INLINE void set(const Triple<T>& v, const Triple<T>& w) {
    for (int i = 0; i < 3; ++i) x[i] = v[i], x[3 + i] = w[i];
  }

  JOUNCE_INLINE T& operator[](int i) { return x[i]; }
  JOUNCE_INLINE const T& operator[](int i) const { return x[i]; }
  JOUNCE_INLINE void clear() {
    for (T& number : x) number = T(0.0);
  }
  JOUNCE_INLINE void clear_padding() {}
  JOUNCE_INLINE void add(const Six& b) {
    for (int r = 0; r < 6; ++r) x[r] += b.x[r];
  }
  JOUNCE_INLINE void set_scaled(const T& s, const Six& a) {
    for (int r = 0; r < 6; ++r) x[r] = s * a.x[r];
  }
  // this = a + b + s c
  JOUNCE_INLINE void set_sum(const Six& a, const Six& b, const T& s, const Six& c) {
    for (int r = 0; r < 6; ++r) x[r] = a.x[r] + b.x[r] + s * c.x[r];
  }
  // this = sum of s_i rows_i
  JOUNCE_INLINE void set_product(const Six& s, const Six* rows) {
    for (int r = 0; r < 6; ++r)
      x[r] = (s.x[0] * rows[0].x[r] + s.x[1] * rows[1].x[r] + s.x[2] * rows[2].x[r]) +
             (s.x[3] * rows[3].x[r] + s.x[4] * rows[4].x[r] + s.x[5] * rows[5].x[r]);
  }
  // this = a + sum over `count` of f(i) b(i)
  template <class F, class B>
  JOUNCE_INLINE void set_combined(const Six& a, int count, const F& f, const B& b) {
    for (int r = 0; r < 6; ++r) {
      T sum = a.x[r];
      for (int i = 0; i < count; ++i) sum += f(i) * b(i).x[r];
      x[r] = sum;
    }
  }
};

template <>
struct Six<double> {
  alignas(64) double x[8];

  JOUNCE_INLINE const double* linear() const { return x; }
  JOUNCE_INLINE const double* angular() const { return x + 4; }
  JOUNCE_INLINE void set(const Triple<double>& v, const Triple<double>& w) {
    v.store(x);
    w.store(x + 4);
  }
  JOUNCE_INLINE double& operator[](int i) { return x[i < 3 ? i : i + 1]; }
  JOUNCE_INLINE const double& operator[](int i) const { return x[i < 3 ? i : i + 1]; }
  JOUNCE_INLINE void clear() {
    for (double& number : x) number = 0;
  }
  JOUNCE_INLINE void clear_padding() { x[3] = x[7] = 0; }
  using P = Pack<native_width>;
  JOUNCE_INLINE void add(const Six& b) {
    for (int l = 0; l < 8; l += native_width) (P::load(x + l) + P::load(b.x + l)).store(x + l);
  }
  JOUNCE_INLINE void set_scaled(double s, const Six& a) {
    for (int l = 0; l < 8; l += native_width) (P(s) * P::load(a.x + l)).store(x + l);
  }
  JOUNCE_INLINE void set_sum(const Six& a, const Six& b, double s, const Six& c) {
    for (int l = 0; l < 8; l += native_width) (P::load(a.x + l) + P::load(b.x + l) + P(s) * P::load(c.x + l)).store(x + l);
  }
  JOUNCE_INLINE void set_product(const Six& s, const Six* rows) {
    for (int l = 0; l < 8; l += native_width) {
      const auto row = [&](int i) JOUNCE_LAMBDA_INLINE { return P(s[i]) * P::load(rows[i].x + l); };
      ((row(0) + row(1) + row(2)) + (row(3) + row(4) + row(5))).store(x + l);
    }
  }
  template <class F, class B>
  JOUNCE_INLINE void set_combined(const Six& a, int count, const F& f, const B& b) {
    for (int l = 0; l < 8; l += native_width) {
      P sum = P::load(a.x + l);
      for (int i = 0; i < count; ++i) sum += P(f(i)) * P::load(b(i).x + l);
      sum.store(x + l);
    }
  }
};

template <class T>
JOUNCE_INLINE T dot(const Six<T>& a, const Six<T>& b) {
  return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5]);
}

template <class T, class S>
JOUNCE_INLINE void set_leading(Six<T>& to, const Screw<S>& s) {
  to[0] = leading(s.v.x), to[1] = leading(s.v.y), to[2] = leading(s.v.z);
  to[3] = leading(s.w.x), to[4] = leading(s.w.y), to[5] = leading(s.w.z);
  to.clear_padding();
}

JOUNCE_END
