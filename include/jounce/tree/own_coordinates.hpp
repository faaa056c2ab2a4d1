// From columns to own coordinates: with v = G v_own for the velocities of all columns, forces become G^T f and matrices G^T M G. G is
// the identity with one more row for each joint that follows another, which has its ratio in the column of its leader.
#pragma once

#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

// out (lines, nv) = x (lines, columns) G
inline void columns_to_own(const Tree& tree, std::ptrdiff_t lines, const double* x, double* out) {
  for (std::ptrdiff_t i = 0; i < lines; ++i, x += tree.columns, out += tree.nv) {
    for (int c = 0; c < tree.nv; ++c) out[c] = x[c];
    for (int j = 0; j < tree.follower_count; ++j) out[tree.followers[j].leader_v] += tree.followers[j].ratio * x[tree.followers[j].v];
  }
}

// x (blocks, columns, width) becomes G^T x in its first nv lines.
template <class T>
inline void lines_to_own(const Tree& tree, std::ptrdiff_t blocks, std::ptrdiff_t width, T* x) {
  for (std::ptrdiff_t i = 0; i < blocks; ++i, x += tree.columns * width)
    for (int j = 0; j < tree.follower_count; ++j) {
      T *to = x + tree.followers[j].leader_v * width, *from = x + tree.followers[j].v * width;
      for (std::ptrdiff_t c = 0; c < width; ++c) to[c] += T(tree.followers[j].ratio) * from[c];
    }
}

// out (blocks, nv, width) = G^T x (blocks, columns, width), and out (blocks, nv, nv) = G^T x G; x is overwritten.
inline void lines_to_own(const Tree& tree, std::ptrdiff_t blocks, std::ptrdiff_t width, double* x, double* out) {
  lines_to_own(tree, blocks, width, x);
  for (std::ptrdiff_t i = 0; i < blocks; ++i)
    for (std::ptrdiff_t j = 0; j < tree.nv * width; ++j) out[i * tree.nv * width + j] = x[i * tree.columns * width + j];
}
inline void matrices_to_own(const Tree& tree, std::ptrdiff_t blocks, double* x, double* out) {
  lines_to_own(tree, blocks, tree.columns, x);
  for (std::ptrdiff_t i = 0; i < blocks; ++i)
    columns_to_own(tree, tree.nv, x + i * tree.columns * tree.columns, out + i * std::ptrdiff_t(tree.nv) * tree.nv);
}

JOUNCE_END
