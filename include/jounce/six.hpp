// Six numbers of a twist or wrench, for arithmetic at order zero: of one state, padded to a whole register; of several, one of them
// in each lane.
#pragma once

#include "jounce/spatial.hpp"

JOUNCE_BEGIN

template <class T>
struct Six {
  static constexpr int size = 6;
  T x[6];

  JOUNCE_INLINE T& operator[](int i) { return x[i]; }
  JOUNCE_INLINE const T& operator[](int i) const { return x[i]; }
  JOUNCE_INLINE void clear() {
    for (T& number : x) number = T(0.0);
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
  static constexpr int size = 8;
  alignas(64) double x[8];

  JOUNCE_INLINE double& operator[](int i) { return x[i]; }
  JOUNCE_INLINE const double& operator[](int i) const { return x[i]; }
  JOUNCE_INLINE void clear() {
    for (double& number : x) number = 0;
  }
  template <class F, class B>
  JOUNCE_INLINE void set_combined(const Six& a, int count, const F& f, const B& b) {
    using P = Pack<native_width>;
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
  for (int i = 6; i < Six<T>::size; ++i) to[i] = T(0.0);
}

JOUNCE_END
