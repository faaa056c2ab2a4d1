// Tables of 6-vectors, one for each coordinate, and their products: what makes screws into matrices of the equations of motion.
//
// The series lie apart here, component by component, with the columns side by side, so that a row of a matrix is made for
// many columns at once in the SIMD lanes, at every order.
#pragma once

#include <cstring>

#include "jounce/arena.hpp"
#include "jounce/world_frame.hpp"

JOUNCE_BEGIN

class Columns {
 public:
  // `components` numbers (6, or 12 for two 6-vectors) for each of nv columns, with `rows` coefficients.
  template <class Arena>
  Columns(const Tree& tree, int rows, int components, Arena& arena)
      : components_(components),
        rows_(rows),
        stride_(round_up(tree.nv, native_width)),
        data_(arena.template take<double>(std::size_t(rows) * components * stride_)) {}

  // Columns beyond the last are read together with it.
  void clear() { std::memset(data_, 0, sizeof(double) * rows_ * components_ * stride_); }

  template <class S>
  JOUNCE_INLINE void set(int column, const Screw<S>& a, int first_component = 0) {
    const S* parts[6] = {&a.v.x, &a.v.y, &a.v.z, &a.w.x, &a.w.y, &a.w.z};
    for (int i = 0; i < 6; ++i) {
      double c[padded_length<S>];
      parts[i]->store(c);
      for (int k = 0; k < rows_; ++k) data_[(std::size_t(k) * components_ + first_component + i) * stride_ + column] = c[k];
    }
  }

  const double* coefficient(int k) const { return data_ + std::size_t(k) * components_ * stride_; }
  int components() const { return components_; }
  int stride() const { return stride_; }

 private:
  int components_, rows_, stride_;
  double* data_;
};

// row[d] = coefficient k of a_c . b_d, for columns d from `begin` to `end`; a little more is written on both sides. Of the
// components of `a`, the first that `b` has count.
JOUNCE_INLINE void pairings(const Columns& a, const Columns& b, int k, int c, int begin, int end, double* row) {
  using P = Pack<native_width>;
  const int stride = b.stride(), n = b.components();
  for (int d = begin / native_width * native_width; d < end; d += native_width) {
    P sum(0.0);
    for (int j = 0; j <= k; ++j) {
      const double *x = a.coefficient(j) + c, *y = b.coefficient(k - j) + d;
      for (int i = 0; i < n; ++i) sum += P(x[i * stride]) * P::load(y + i * stride);
    }
    sum.store(row + d);
  }
}

// Whether columns lie below others: to tell in a row which pairs of coordinates are related.
class Descent {
 public:
  template <class Arena>
  Descent(const Tree& tree, Arena& arena) : tree_(tree), below_(arena.template take<bool>(tree.size)) {}

  // Calls with(begin, end) for the ranges of columns that belong to body i and to what it carries.
  template <class With>
  void for_each(int i, const With& with) {
    const Body& b = tree_.bodies[i];
    if (tree_.depth_first) return with(b.v, b.end);
    below_[i] = true;
    with(b.v, b.v + freedom(b.joint));
    for (int j = i + 1; j < tree_.size; ++j) {
      const Body& other = tree_.bodies[j];
      if (other.v >= b.end) break;
      below_[j] = other.parent >= i && below_[other.parent];
      if (below_[j]) with(other.v, other.v + freedom(other.joint));
    }
  }

 private:
  const Tree& tree_;
  bool* below_;
};

JOUNCE_END
