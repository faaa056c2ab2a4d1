// Pack<W>: W doubles in one SIMD register. It is the coefficient type of a batch (one state per lane) and the storage of a LaneSeries
// (one Taylor coefficient per lane).
#pragma once

#include "jounce/ring/config.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

JOUNCE_BEGIN

#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(JOUNCE_NO_VECTORS)
#define JOUNCE_VECTOR_EXTENSIONS 1
template <int W>
struct Vector {
  typedef double type __attribute__((vector_size(W * sizeof(double))));
  typedef long long index __attribute__((vector_size(W * sizeof(double))));
};
#else
template <int W>
struct Vector {
  struct type {
    double lane[W];
    JOUNCE_HD double& operator[](int i) { return lane[i]; }
    JOUNCE_HD double operator[](int i) const { return lane[i]; }
    friend JOUNCE_HD type operator+(type a, const type& b) {
      return a.each(b, [](double x, double y) { return x + y; });
    }
    friend JOUNCE_HD type operator-(type a, const type& b) {
      return a.each(b, [](double x, double y) { return x - y; });
    }
    friend JOUNCE_HD type operator*(type a, const type& b) {
      return a.each(b, [](double x, double y) { return x * y; });
    }
    friend JOUNCE_HD type operator/(type a, const type& b) {
      return a.each(b, [](double x, double y) { return x / y; });
    }
    friend JOUNCE_HD type operator-(type a) {
      return a.each(a, [](double x, double) { return -x; });
    }
    template <class F>
    JOUNCE_HD type each(const type& b, F f) const {
      type y;
      for (int i = 0; i < W; ++i) y[i] = f(lane[i], b[i]);
      return y;
    }
  };
};
#endif

template <int W>
struct Pack {
  using V = typename Vector<W>::type;
  V v;

  Pack() = default;
  JOUNCE_INLINE Pack(V x) : v(x) {}
  JOUNCE_INLINE Pack(double x) : Pack(splat(x, std::make_index_sequence<W>{})) {}

  // (x, 0, 0, ...) and (x, x + 1, x + 2, ...)
  static JOUNCE_INLINE Pack first(double x) { return Pack(V{x}); }
  static JOUNCE_INLINE Pack count(double x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)
               JOUNCE_LAMBDA_INLINE { return Pack(V{(x + double(I))...}); }(std::make_index_sequence<W>{});
  }

  static JOUNCE_INLINE Pack load(const double* p) {
    Pack y;
    std::memcpy(&y.v, p, sizeof(V));
    return y;
  }
  JOUNCE_INLINE void store(double* p) const { std::memcpy(p, &v, sizeof(V)); }

  JOUNCE_INLINE double operator[](int i) const { return v[i]; }
  JOUNCE_INLINE void set(int i, double x) { v[i] = x; }

  friend JOUNCE_INLINE Pack operator+(Pack a, Pack b) { return Pack(V(a.v + b.v)); }
  friend JOUNCE_INLINE Pack operator-(Pack a, Pack b) { return Pack(V(a.v - b.v)); }
  friend JOUNCE_INLINE Pack operator*(Pack a, Pack b) { return Pack(V(a.v * b.v)); }
  friend JOUNCE_INLINE Pack operator/(Pack a, Pack b) { return Pack(V(a.v / b.v)); }
  friend JOUNCE_INLINE Pack operator-(Pack a) { return Pack(V(-a.v)); }
  JOUNCE_INLINE Pack& operator+=(Pack b) { return *this = *this + b; }
  JOUNCE_INLINE Pack& operator-=(Pack b) { return *this = *this - b; }

 private:
  // A braced list, not a loop: compilers turn it into one broadcast.
  template <std::size_t... I>
  static JOUNCE_INLINE V splat(double x, std::index_sequence<I...>) {
    return V{((void)I, x)...};
  }
};

// The same value, kept in a register. With many of them, the compiler should not reload a number from memory for each use: that takes
// as long as the arithmetic.
JOUNCE_INLINE double in_register(double x) { return x; }
template <int W>
JOUNCE_INLINE Pack<W> in_register(Pack<W> x) {
#if defined(__AVX512F__) && defined(__GNUC__)
  asm("" : "+v"(x.v));
#endif
  return x;
}

// Lanes [begin, end) of x, zero elsewhere.
template <int W>
JOUNCE_INLINE Pack<W> only(Pack<W> x, int begin, int end) {
#ifdef JOUNCE_VECTOR_EXTENSIONS
  using V = typename Pack<W>::V;
  const V lane = Pack<W>::count(0.0).v, first = Pack<W>(begin).v, last = Pack<W>(end).v;
  return Pack<W>(V(((lane >= first) & (lane < last)) ? x.v : Pack<W>(0.0).v));
#else
  for (int i = 0; i < W; ++i)
    if (i < begin || i >= end) x.set(i, 0.0);
  return x;
#endif
}

// f(0), ..., f(N - 1), each with its index as a constant.
template <int N, class F>
JOUNCE_INLINE void unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>)
      JOUNCE_LAMBDA_INLINE { (f(std::integral_constant<int, I>{}), ...); }(std::make_integer_sequence<int, N>{});
}

// Lanes from(0), ..., from(W - 1) of the 2 W lanes of a and b.
template <int W, class From>
JOUNCE_INLINE Pack<W> shuffle(Pack<W> a, Pack<W> b, From from) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) JOUNCE_LAMBDA_INLINE {
#if defined(JOUNCE_VECTOR_EXTENSIONS) && defined(__clang__)
    return Pack<W>(typename Pack<W>::V(__builtin_shufflevector(a.v, b.v, from(int(I))...)));
#elif defined(JOUNCE_VECTOR_EXTENSIONS)
    return Pack<W>(typename Pack<W>::V(__builtin_shuffle(a.v, b.v, typename Vector<W>::index{from(int(I))...})));
#else
    Pack<W> y;
    (y.set(int(I), from(int(I)) < W ? a[from(int(I))] : b[from(int(I)) - W]), ...);
    return y;
#endif
  }(std::make_index_sequence<W>{});
}

// Two packs as one of twice the width, and its halves.
template <int W>
JOUNCE_INLINE Pack<2 * W> joined(Pack<W> low, Pack<W> high) {
#ifdef __AVX512F__
  if constexpr (W == 4) return Pack<8>(Pack<8>::V(_mm512_insertf64x4(_mm512_castpd256_pd512(low.v), high.v, 1)));
#endif
  Pack<2 * W> y;
  for (int i = 0; i < W; ++i) y.set(i, low[i]), y.set(W + i, high[i]);
  return y;
}
template <int half, int W>
JOUNCE_INLINE Pack<W / 2> half_of(Pack<W> x) {
#ifdef __AVX512F__
  if constexpr (W == 8) return Pack<4>(Pack<4>::V(half ? _mm512_extractf64x4_pd(x.v, 1) : _mm512_castpd512_pd256(x.v)));
#endif
  Pack<W / 2> y;
  for (int i = 0; i < W / 2; ++i) y.set(i, x[half * W / 2 + i]);
  return y;
}

// (low[W-J], ..., low[W-1], high[0], ..., high[W-J-1]) for J > 0: `high` moved up by J lanes and filled from `low`;
// for J < 0, `low` moved down by -J lanes and filled from `high`.
template <int J, int W>
JOUNCE_INLINE Pack<W> shift_in(Pack<W> low, Pack<W> high) {
  return shuffle<W>(low, high, [](int lane) { return (J > 0 ? W - J : -J) + lane; });
}

JOUNCE_END
