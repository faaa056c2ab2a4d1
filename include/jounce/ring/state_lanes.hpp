// Moves states between the caller's arrays, one state after another, and SIMD lanes, one state per lane.
#pragma once

#include "jounce/ring/ring.hpp"

JOUNCE_BEGIN

// x[i][j] = x[j][i]: swaps blocks of half the size across the diagonal, then blocks of a quarter, down to single numbers.
template <int W, int half = W / 2>
JOUNCE_INLINE void transpose(Pack<W> (&x)[W]) {
  if constexpr (half > 0) {
    unroll<W>([&](auto i) JOUNCE_LAMBDA_INLINE {
      if constexpr ((i & half) == 0) {
        const Pack<W> a = x[i], b = x[i + half];
        x[i] = shuffle<W>(a, b, [](int lane) { return lane & half ? W + lane - half : lane; });
        x[i + half] = shuffle<W>(a, b, [](int lane) { return lane & half ? W + lane : lane + half; });
      }
    });
    transpose<W, half / 2>(x);
  }
}

// Where blocks of W columns begin. The last one may overlap the one before it, so that nothing outside is touched.
template <int W, class F>
JOUNCE_INLINE void for_each_block(int columns, const F& f) {
  for (int j = 0; j < columns; j += W) f(j + W <= columns ? j : columns - W);
}

// to[j] = number j of each of `count` states, which begin `step` apart; surplus lanes repeat the last state.
JOUNCE_INLINE void load_states(const double* from, std::ptrdiff_t, int, int columns, double* to) {
  for (int j = 0; j < columns; ++j) to[j] = from[j];
}
inline void load_states(const double* from, std::ptrdiff_t, int, int columns, DoubleDouble* to) {
  for (int j = 0; j < columns; ++j) to[j] = from[j];
}
template <int W>
JOUNCE_INLINE void load_states(const double* from, std::ptrdiff_t step, int count, int columns, Pack<W>* to) {
  const auto begin = [&](int s) JOUNCE_LAMBDA_INLINE { return from + (s < count ? s : count - 1) * step; };
  if (columns < W) {
    for (int j = 0; j < columns; ++j)
      for (int s = 0; s < W; ++s) state(to[j], s) = begin(s)[j];
    return;
  }
  for_each_block<W>(columns, [&](int j) JOUNCE_LAMBDA_INLINE {
    Pack<W> block[W];
    for (int s = 0; s < W; ++s) block[s] = Pack<W>::load(begin(s) + j);
    transpose(block);
    for (int i = 0; i < W; ++i) to[j + i] = block[i];
  });
}

// The inverse of load_states.
JOUNCE_INLINE void store_states(const double* from, std::ptrdiff_t, int, int columns, double* to) {
  for (int j = 0; j < columns; ++j) to[j] = from[j];
}
inline void store_states(const DoubleDouble* from, std::ptrdiff_t, int, int columns, double* to) {
  for (int j = 0; j < columns; ++j) to[j] = rounded(from[j]);
}
template <int W>
JOUNCE_INLINE void store_states(const Pack<W>* from, std::ptrdiff_t step, int count, int columns, double* to) {
  if (columns < W) {
    for (int s = 0; s < count; ++s)
      for (int j = 0; j < columns; ++j) to[s * step + j] = from[j][s];
    return;
  }
  for_each_block<W>(columns, [&](int j) JOUNCE_LAMBDA_INLINE {
    Pack<W> block[W];
    for (int i = 0; i < W; ++i) block[i] = from[j + i];
    transpose(block);
    for (int s = 0; s < W && s < count; ++s) block[s].store(to + s * step + j);
  });
}

// Prefetches the memory of a result while the result is being computed: long batches do not fit into the caches.
JOUNCE_INLINE void will_write(const double* to, std::ptrdiff_t size) {
#ifdef __GNUC__
  for (std::ptrdiff_t i = 0; i < size; i += 8) __builtin_prefetch(to + i, 1);
#endif
}

JOUNCE_END
