// Tables of 6-vectors, one for each coordinate, and their products, which turn screws into the matrices of the equations of motion.
//
// The series are stored component by component, with the columns side by side, so that a row of a matrix is computed for many columns
// at once in SIMD lanes, at every order. After the columns come those of the individual sections: what belongs to a column of a soft
// body is the sum over its sections, except for products of a section with itself.
#pragma once

#include "jounce/motion/world_frame.hpp"
#include "jounce/ring/arena.hpp"

JOUNCE_BEGIN

// `n` numbers (6, or 12 for two 6-vectors) per column, with `rows` coefficients. Blocks of one register's width of columns follow each
// other, each with all its components, so that the strides of the loops are constants.
template <int n>
class Columns {
 public:
  static constexpr int block = n * native_width;

  template <class Arena>
  Columns(int columns, int rows, Arena& arena)
      : rows_(rows),
        stride_(round_up(columns, native_width)),
        step_(std::ptrdiff_t(n) * stride_),
        data_(arena.template take<double>(rows * step_)) {}

  // Padding columns are read together with the last one.
  void clear() { std::memset(data_, 0, sizeof(double) * rows_ * step_); }

  template <class S>
  JOUNCE_INLINE void set(int column, const Screw<S>& a, int first_component = 0) {
    set_vector(column, a.v, first_component);
    set_vector(column, a.w, first_component + 3);
  }
  template <class S>
  JOUNCE_INLINE void set_vector(int column, const Vec3<S>& u, int first_component) {
    double* to = at(column) + first_component * native_width;
    put(u.x, to), put(u.y, to + native_width), put(u.z, to + 2 * native_width);
  }

  template <class S>
  JOUNCE_INLINE void add(int column, const Screw<S>& a, int first_component = 0) {
    add_vector(column, a.v, first_component);
    add_vector(column, a.w, first_component + 3);
  }
  template <class S>
  JOUNCE_INLINE void add_vector(int column, const Vec3<S>& u, int first_component) {
    double* to = at(column) + first_component * native_width;
    put<true>(u.x, to), put<true>(u.y, to + native_width), put<true>(u.z, to + 2 * native_width);
  }

  double* at(int column) const { return data_ + unsigned(column) / native_width * block + unsigned(column) % native_width; }
  std::ptrdiff_t step() const { return step_; }  // from one coefficient to the next
  int stride() const { return stride_; }         // columns, padded to fill the last register

 private:
  template <bool more = false, class S>
  JOUNCE_INLINE void put(const S& x, double* to) const {
    const auto write = [&](double& at, double value) JOUNCE_LAMBDA_INLINE { at = more ? at + value : value; };
    if constexpr (S::length == 1) {
      write(*to, leading(x));
    } else {
      double c[padded_length<S>];
      x.store(c);
      for (int k = 0; k < rows_; ++k) write(to[k * step_], c[k]);
    }
  }

  int rows_, stride_;
  std::ptrdiff_t step_;
  double* data_;
};

// row[d] = coefficient k of a_c . b_d over their first n components, for columns d from `begin` to `end`; writes slightly beyond both
// ends.
template <int n, class A, class B>
JOUNCE_INLINE void pairings(const A& a, const B& b, int k, int c, int begin, int end, double* row) {
  using P = Pack<native_width>;
  const std::ptrdiff_t a_step = a.step(), b_step = b.step();
  begin -= begin % native_width;
  const double *left = a.at(c), *right = b.at(begin) + k * b_step;
  for (int d = begin; d < end; d += native_width, right += B::block) {
    P sum(0.0);
    const double *x = left, *y = right;
    for (int j = 0; j <= k; ++j, x += a_step, y -= b_step)
      unroll<n>([&](auto i) JOUNCE_LAMBDA_INLINE { sum += P(x[i * native_width]) * P::load(y + i * native_width); });
    sum.store(row + d);
  }
}

// Calls with(begin, end) for the ranges of columns that a body carries, its own first unless it is a section.
template <class With>
JOUNCE_INLINE void for_each_range(const Tree& tree, const Body& b, const With& with) {
  for (int i = b.span; i < b.span_end; ++i) with(tree.ranges[i].begin, tree.ranges[i].end);
}

JOUNCE_END
