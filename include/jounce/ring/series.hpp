// Truncated Taylor series x(t) = x0 + x1 t + ... + x_{K-1} t^{K-1}: the ring every algorithm of jounce is written over.
// Coefficient k is the k-th derivative divided by k!, so the product is a plain convolution and d/dt a shift.
//
// Two layouts with one interface:
//   Series<T, K>      the coefficients in an array. T is double, or a Pack with one state per lane (batches).
//   LaneSeries<K, W>  the coefficients across the lanes of SIMD registers (a single state at higher order).
//
// A product is written `factor * series`. A factor is read one coefficient at a time (and broadcast); it may be a view of
// coefficients that lie a stride apart, or the result of as_factor().
#pragma once

#include "jounce/ring/pack.hpp"

JOUNCE_BEGIN

// Products of longer series are function calls, not straight-line code.
constexpr int longest_unrolled = native_width < 4 ? 4 : 8;

// Coefficients that lie `stride` apart in memory.
template <class T>
struct FactorView {
  const T* first;
  int stride;
  JOUNCE_INLINE const T& operator[](int k) const { return first[k * stride]; }
};

template <class T, int K>
struct Series {
  static constexpr int length = K, parts = K;
  using Coefficient = T;
  using Part = T;
  T c[K];

  Series() = default;
  JOUNCE_INLINE Series(double x) {
    c[0] = T(x);
    for (int k = 1; k < K; ++k) c[k] = T(0.0);
  }
  // From coefficients that lie `stride` apart.
  static JOUNCE_INLINE Series load(const T* p, int stride = 1) {
    Series y;
    for (int k = 0; k < K; ++k) y.c[k] = p[k * stride];
    return y;
  }
  JOUNCE_INLINE void store(T* p) const {
    for (int k = 0; k < K; ++k) p[k] = c[k];
  }
  JOUNCE_INLINE const T& operator[](int k) const { return c[k]; }
  JOUNCE_INLINE T& part(int i) { return c[i]; }
  JOUNCE_INLINE const T& part(int i) const { return c[i]; }

  friend JOUNCE_INLINE Series operator+(const Series& a, const Series& b) {
    Series y;
    for (int k = 0; k < K; ++k) y.c[k] = a.c[k] + b.c[k];
    return y;
  }
  friend JOUNCE_INLINE Series operator-(const Series& a, const Series& b) {
    Series y;
    for (int k = 0; k < K; ++k) y.c[k] = a.c[k] - b.c[k];
    return y;
  }
  friend JOUNCE_INLINE Series operator-(const Series& a) {
    Series y;
    for (int k = 0; k < K; ++k) y.c[k] = -a.c[k];
    return y;
  }
  friend JOUNCE_INLINE Series operator*(double s, const Series& a) {
    Series y;
    for (int k = 0; k < K; ++k) y.c[k] = T(s) * a.c[k];
    return y;
  }
  JOUNCE_INLINE Series& operator+=(const Series& b) { return *this = *this + b; }
  JOUNCE_INLINE Series& operator-=(const Series& b) { return *this = *this - b; }
};

template <class Factor, class T, int K>
JOUNCE_NOINLINE Series<T, K> multiply_long(const Factor& a, const Series<T, K>& b) {
  Series<T, K> y;
  for (int k = 0; k < K; ++k) {
    T sum = a[0] * b.c[k];
    for (int j = 1; j <= k; ++j) sum += a[j] * b.c[k - j];
    y.c[k] = sum;
  }
  return y;
}

// (a b)_k = sum_j a_j b_{k-j}
template <class Factor, class T, int K>
JOUNCE_INLINE Series<T, K> operator*(const Factor& a, const Series<T, K>& b)
  requires requires { a[0]; }
{
  if constexpr (K > longest_unrolled) return multiply_long(a, b);
  Series<T, K> y;
  const T a0 = a[0];
  unroll<K>([&](auto k) JOUNCE_LAMBDA_INLINE { y.c[k] = a0 * b.c[k]; });
  unroll<K - 1>([&](auto i) JOUNCE_LAMBDA_INLINE {
    constexpr int j = i + 1;
    const T aj = a[j];
    unroll<K - j>([&](auto k) JOUNCE_LAMBDA_INLINE { y.c[k + j] += aj * b.c[k]; });
  });
  return y;
}

// (x, y) seen from axes that a joint has turned: x = c x + s y, y = c y - s x, for the series c and s of cosine and sine.
template <class Factor, class T, int K>
JOUNCE_INLINE void turn_back_unrolled(const Factor& c, const Factor& s, Series<T, K>& x, Series<T, K>& y) {
  T u[K], v[K];
  unroll<K>([&](auto j) JOUNCE_LAMBDA_INLINE {
    const T cj = c[j], sj = s[j];
    unroll<K - j>([&](auto k) JOUNCE_LAMBDA_INLINE {
      if constexpr (decltype(j)::value == 0)
        u[k] = cj * x.c[k], v[k] = cj * y.c[k];
      else
        u[k + j] += cj * x.c[k], v[k + j] += cj * y.c[k];
      u[k + j] += sj * y.c[k], v[k + j] -= sj * x.c[k];
    });
  });
  for (int k = 0; k < K; ++k) x.c[k] = u[k], y.c[k] = v[k];
}

// Not inlined when long: copies overflow the instruction cache.
template <class Factor, class T, int K>
JOUNCE_NOINLINE void turn_back_long(const Factor& c, const Factor& s, Series<T, K>& x, Series<T, K>& y) {
  if constexpr (K <= longest_unrolled) return turn_back_unrolled(c, s, x, y);
  for (int k = K - 1; k >= 0; --k) {  // from the highest down: only numbers no longer needed are overwritten
    T u = c[0] * x.c[k], v = c[0] * y.c[k];
    u += s[0] * y.c[k], v -= s[0] * x.c[k];
    for (int j = 1; j <= k; ++j) {
      const T cj = c[j], sj = s[j], xj = x.c[k - j], yj = y.c[k - j];
      u += cj * xj, v += cj * yj;
      u += sj * yj, v -= sj * xj;
    }
    x.c[k] = u, y.c[k] = v;
  }
}

template <class Factor, class T, int K>
JOUNCE_INLINE void turn_back_about_z(const Factor& c, const Factor& s, Series<T, K>& x, Series<T, K>& y) {
  if constexpr (K <= 2)
    turn_back_unrolled(c, s, x, y);
  else
    turn_back_long(c, s, x, y);
}

// How many coefficients store() writes, and the first of them.
template <class S>
constexpr int padded_length = S::length;
template <class T, int K>
JOUNCE_INLINE T leading(const Series<T, K>& a) {
  return a.c[0];
}

// A constant as a series.
template <class S>
JOUNCE_INLINE S constant(const typename S::Coefficient& x) {
  S y(0.0);
  if constexpr (S::parts == S::length)
    y.part(0) = x;
  else
    y = S(x);
  return y;
}

template <class T, int K>
JOUNCE_INLINE const Series<T, K>& as_factor(const Series<T, K>& a) {
  return a;
}

// The first L coefficients.
template <int L, class T, int K>
JOUNCE_INLINE Series<T, L> truncate(const Series<T, K>& a) {
  static_assert(L <= K);
  return Series<T, L>::load(a.c);
}

// d/dt: one coefficient fewer.
template <class T, int K>
JOUNCE_INLINE Series<T, K - 1> derivative(const Series<T, K>& a) {
  Series<T, K - 1> y;
  for (int k = 0; k + 1 < K; ++k) y.c[k] = T(k + 1.0) * a.c[k + 1];
  return y;
}

template <int K, int W>
struct LaneSeries {
  static constexpr int length = K;
  static constexpr int blocks = (K + W - 1) / W, parts = blocks;
  using Coefficient = double;
  using Part = Pack<W>;
  Pack<W> b[blocks];

  LaneSeries() = default;
  JOUNCE_INLINE LaneSeries(double x) {
    b[0] = Pack<W>::first(x);
    for (int i = 1; i < blocks; ++i) b[i] = Pack<W>(0.0);
  }
  // From `blocks * W` contiguous coefficients, those from K on zero.
  static JOUNCE_INLINE LaneSeries load(const double* p) {
    LaneSeries y;
    for (int i = 0; i < blocks; ++i) y.b[i] = Pack<W>::load(p + i * W);
    return y;
  }
  JOUNCE_INLINE void store(double* p) const {
    for (int i = 0; i < blocks; ++i) b[i].store(p + i * W);
  }

  JOUNCE_INLINE Part& part(int i) { return b[i]; }
  JOUNCE_INLINE const Part& part(int i) const { return b[i]; }

  friend JOUNCE_INLINE LaneSeries operator+(const LaneSeries& x, const LaneSeries& y) {
    LaneSeries z;
    for (int i = 0; i < blocks; ++i) z.b[i] = x.b[i] + y.b[i];
    return z;
  }
  friend JOUNCE_INLINE LaneSeries operator-(const LaneSeries& x, const LaneSeries& y) {
    LaneSeries z;
    for (int i = 0; i < blocks; ++i) z.b[i] = x.b[i] - y.b[i];
    return z;
  }
  friend JOUNCE_INLINE LaneSeries operator-(const LaneSeries& x) {
    LaneSeries z;
    for (int i = 0; i < blocks; ++i) z.b[i] = -x.b[i];
    return z;
  }
  friend JOUNCE_INLINE LaneSeries operator*(double s, const LaneSeries& x) {
    LaneSeries z;
    for (int i = 0; i < blocks; ++i) z.b[i] = Pack<W>(s) * x.b[i];
    return z;
  }
  JOUNCE_INLINE LaneSeries& operator+=(const LaneSeries& y) { return *this = *this + y; }
  JOUNCE_INLINE LaneSeries& operator-=(const LaneSeries& y) { return *this = *this - y; }
};

template <int K, int W>
constexpr int padded_length<LaneSeries<K, W>> = LaneSeries<K, W>::blocks * W;
template <int K, int W>
JOUNCE_INLINE double leading(const LaneSeries<K, W>& a) {
  return a.b[0][0];
}

// t^J x: the lanes move up by J.
template <int J, int K, int W>
JOUNCE_INLINE LaneSeries<K, W> shift(const LaneSeries<K, W>& x) {
  constexpr int whole = J / W, part = J % W;
  LaneSeries<K, W> y;
  for (int i = 0; i < y.blocks; ++i) {
    const Pack<W> high = i >= whole ? x.b[i - whole] : Pack<W>(0.0);
    const Pack<W> low = i > whole ? x.b[i - whole - 1] : Pack<W>(0.0);
    if constexpr (part == 0)
      y.b[i] = high;
    else
      y.b[i] = shift_in<part>(low, high);
  }
  return y;
}

// a b = sum_j a_j t^j b
template <class Factor, int K, int W>
JOUNCE_INLINE LaneSeries<K, W> multiply_unrolled(const Factor& a, const LaneSeries<K, W>& b) {
  LaneSeries<K, W> y = double(a[0]) * b;
  unroll<K - 1>([&](auto i) JOUNCE_LAMBDA_INLINE {
    constexpr int j = i + 1;
    const LaneSeries<K, W> shifted = shift<j>(b);
    const Pack<W> aj(a[j]);
    unroll<LaneSeries<K, W>::blocks - j / W>([&](auto k) JOUNCE_LAMBDA_INLINE { y.b[k + j / W] += aj * shifted.b[k + j / W]; });
  });
  return y;
}

template <class Factor, int K, int W>
JOUNCE_NOINLINE LaneSeries<K, W> multiply_long(const Factor& a, const LaneSeries<K, W>& b) {
  return multiply_unrolled(a, b);
}

template <class Factor, int K, int W>
JOUNCE_INLINE LaneSeries<K, W> operator*(const Factor& a, const LaneSeries<K, W>& b)
  requires requires { a[0]; }
{
  if constexpr (LaneSeries<K, W>::blocks > 2 || K > longest_unrolled)
    return multiply_long(a, b);
  else
    return multiply_unrolled(a, b);
}

template <class Factor, int K, int W>
JOUNCE_INLINE void turn_back_about_z(const Factor& c, const Factor& s, LaneSeries<K, W>& x, LaneSeries<K, W>& y) {
  const LaneSeries<K, W> u = c * x + s * y;
  y = c * y - s * x;
  x = u;
}

// The coefficients of a LaneSeries, in memory, where they can be broadcast by a load.
template <int K, int W>
struct LaneFactor {
  alignas(Pack<W>) double c[LaneSeries<K, W>::blocks * W];
  JOUNCE_INLINE explicit LaneFactor(const LaneSeries<K, W>& x) {
    x.store(c);
#ifdef __GNUC__
    asm("" : "+m"(c));  // or the compiler would extract each coefficient from the register again, by a shuffle
#endif
  }
  JOUNCE_INLINE double operator[](int k) const { return c[k]; }
};

template <int K, int W>
JOUNCE_INLINE LaneFactor<K, W> as_factor(const LaneSeries<K, W>& a) {
  return LaneFactor<K, W>(a);
}

template <int L, int K, int W>
JOUNCE_INLINE LaneSeries<L, W> truncate(const LaneSeries<K, W>& a) {
  static_assert(L <= K);
  LaneSeries<L, W> y;
  for (int i = 0; i < y.blocks; ++i) y.b[i] = a.b[i];
  return y;
}

template <int K, int W>
JOUNCE_INLINE LaneSeries<K - 1, W> derivative(const LaneSeries<K, W>& a) {
  LaneSeries<K - 1, W> y;
  for (int i = 0; i < y.blocks; ++i) {
    const Pack<W> factor = Pack<W>::count(i * W + 1.0);
    const Pack<W> next = i + 1 < a.blocks ? a.b[i + 1] : Pack<W>(0.0);
    y.b[i] = factor * shift_in<-1>(a.b[i], next);
  }
  return y;
}

JOUNCE_END
