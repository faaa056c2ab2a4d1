// Tables of 6-vectors, one for each coordinate, and their products: what makes screws into matrices of the equations of motion.
//
// The series lie apart here, component by component, with the columns side by side, so that a row of a matrix is made for
// many columns at once in the SIMD lanes, at every order. Behind the columns are those of sections, one by one: what belongs to a column
// of a soft body is the sum over its sections, but for products of one section with itself.
#pragma once

#include "jounce/arena.hpp"
#include "jounce/world_frame.hpp"

JOUNCE_BEGIN

// `n` numbers (6, or 12 for two 6-vectors) for each of some columns, with `rows` coefficients.
template <int n>
class Columns {
 public:
  template <class Arena>
  Columns(int columns, int rows, Arena& arena)
      : rows_(rows), stride_(round_up(columns, native_width)), data_(arena.template take<double>(std::size_t(rows) * n * stride_)) {}

  // Columns beyond the last are read together with it.
  void clear() { std::memset(data_, 0, sizeof(double) * rows_ * n * stride_); }

  template <class S>
  JOUNCE_INLINE void set(int column, const Screw<S>& a, int first_component = 0) {
    double* at = data_ + first_component * stride_ + column;
    put(a.v.x, at), put(a.v.y, at + stride_), put(a.v.z, at + 2 * stride_);
    put(a.w.x, at + 3 * stride_), put(a.w.y, at + 4 * stride_), put(a.w.z, at + 5 * stride_);
  }

  template <class S>
  JOUNCE_INLINE void add(int column, const Screw<S>& a, int first_component = 0) {
    add_vector(column, a.v, first_component);
    add_vector(column, a.w, first_component + 3);
  }
  template <class S>
  JOUNCE_INLINE void add_vector(int column, const Vec3<S>& u, int first_component) {
    double* at = data_ + first_component * stride_ + column;
    put<true>(u.x, at), put<true>(u.y, at + stride_), put<true>(u.z, at + 2 * stride_);
  }

  // The last three of nine components.
  template <class S>
  JOUNCE_INLINE void set_angular(int column, const Vec3<S>& w) {
    double* at = data_ + 6 * stride_ + column;
    put(w.x, at), put(w.y, at + stride_), put(w.z, at + 2 * stride_);
  }

  const double* coefficient(int k) const { return data_ + std::size_t(k) * n * stride_; }
  int stride() const { return stride_; }

 private:
  template <bool more = false, class S>
  JOUNCE_INLINE void put(const S& x, double* at) const {
    const auto write = [&](double& to, double value) JOUNCE_LAMBDA_INLINE { to = more ? to + value : value; };
    if constexpr (S::length == 1) {
      write(*at, leading(x));
    } else {
      double c[padded_length<S>];
      x.store(c);
      for (int k = 0; k < rows_; ++k) write(at[std::size_t(k) * n * stride_], c[k]);
    }
  }

  int rows_, stride_;
  double* data_;
};

// row[d] = coefficient k of a_c . b_d over their first n components, for columns d from `begin` to `end`; a little more is
// written on both sides.
template <int n, class A, class B>
JOUNCE_INLINE void pairings(const A& a, const B& b, int k, int c, int begin, int end, double* row) {
  using P = Pack<native_width>;
  const int stride = a.stride(), b_stride = b.stride();
  for (int d = begin / native_width * native_width; d < end; d += native_width) {
    P sum(0.0);
    for (int j = 0; j <= k; ++j) {
      const double *x = a.coefficient(j) + c, *y = b.coefficient(k - j) + d;
      unroll<n>([&](auto i) JOUNCE_LAMBDA_INLINE { sum += P(x[i * stride]) * P::load(y + i * b_stride); });
    }
    sum.store(row + d);
  }
}

// Calls with(begin, end) for the ranges of columns that a body carries, its own first unless it is a section.
template <class With>
JOUNCE_INLINE void for_each_range(const Tree& tree, const Body& b, const With& with) {
  for (int i = b.span; i < b.span_end; ++i) with(tree.ranges[i].begin, tree.ranges[i].end);
}

JOUNCE_END
