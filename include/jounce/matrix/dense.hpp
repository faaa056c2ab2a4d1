// Small dense matrices: products over tiles that fit into registers, sums, transposes, norms.
//
// A matrix is stored by rows, each padded to whole registers. The padding of a product or a sum is made of that of its factors or
// terms, which load() and set_identity() set to zero.
#pragma once

#include "jounce/ring/arena.hpp"
#include "jounce/ring/interruption.hpp"
#include "jounce/ring/pack.hpp"

JOUNCE_BEGIN

// |x|
template <int W>
JOUNCE_INLINE Pack<W> magnitude(Pack<W> x) {
#ifdef JOUNCE_VECTOR_EXTENSIONS
  using V = typename Pack<W>::V;
  return Pack<W>(V(x.v < Pack<W>(0.0).v ? -x.v : x.v));
#else
  for (int i = 0; i < W; ++i) x.set(i, std::fabs(x[i]));
  return x;
#endif
}

struct Matrix {
  double* first = nullptr;
  int rows = 0, columns = 0, stride = 0;

  template <class Arena>
  static Matrix take(int rows, int columns, Arena& arena) {
    const int stride = round_up(columns, native_width);
    return {arena.template take<double>(std::size_t(rows) * stride), rows, columns, stride};
  }
  double* row(int i) const { return first + std::ptrdiff_t(i) * stride; }
  double& operator()(int i, int j) const { return row(i)[j]; }
  std::ptrdiff_t size() const { return std::ptrdiff_t(rows) * stride; }

  // `scale` times numbers whose rows begin `step` apart.
  void load(const double* from, std::ptrdiff_t step, double scale = 1) const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) (*this)(i, j) = scale * from[i * step + j];
      for (int j = columns; j < stride; ++j) (*this)(i, j) = 0;
    }
  }
  void store(double* to, std::ptrdiff_t step) const {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) to[i * step + j] = (*this)(i, j);
  }
  void set_zero() const {
    for (std::ptrdiff_t i = 0; i < size(); ++i) first[i] = 0;
  }
  void set_identity(double scale = 1) const {
    set_zero();
    add_identity(scale);
  }
  void add_identity(double scale) const {
    for (int i = 0; i < rows; ++i) (*this)(i, i) += scale;
  }
  // The same numbers as another matrix of this shape, and their sum with `scale` times those of another.
  void copy(const Matrix& x) const { std::memcpy(first, x.first, sizeof(double) * std::size_t(size())); }
  void add(double scale, const Matrix& x) const {
    using P = Pack<native_width>;
    const P s(scale);
    for (std::ptrdiff_t i = 0; i < size(); i += native_width) (P::load(first + i) + s * P::load(x.first + i)).store(first + i);
  }
  void scale(double factor) const {
    using P = Pack<native_width>;
    const P s(factor);
    for (std::ptrdiff_t i = 0; i < size(); i += native_width) (s * P::load(first + i)).store(first + i);
  }
  // The sum of several matrices of this shape, each with a factor.
  template <int count>
  void set_sum(const double (&factor)[count], const Matrix* const (&x)[count]) const {
    using P = Pack<native_width>;
    for (std::ptrdiff_t i = 0; i < size(); i += native_width) {
      P sum(0.0);
      unroll<count>([&](auto k) JOUNCE_LAMBDA_INLINE { sum += P(factor[k]) * P::load(x[k]->first + i); });
      sum.store(first + i);
    }
  }
  // The transpose of a matrix.
  void transpose(const Matrix& x) const {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) (*this)(i, j) = x(j, i);
      for (int j = columns; j < stride; ++j) (*this)(i, j) = 0;
    }
  }
  // The mean of this square matrix and its transpose.
  void symmetrize() const {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < i; ++j) (*this)(i, j) = (*this)(j, i) = 0.5 * ((*this)(i, j) + (*this)(j, i));
  }

  // The largest sum of magnitudes in a column; NaN if one is.
  double norm() const {
    using P = Pack<native_width>;
    double largest = 0;
    for (int c = 0; c < stride; c += native_width) {
      P sum(0.0);
      for (int i = 0; i < rows; ++i) sum += magnitude(P::load(row(i) + c));
      for (int j = 0; j < native_width && c + j < columns; ++j) {
        if (sum[j] != sum[j]) return sum[j];
        if (sum[j] > largest) largest = sum[j];
      }
    }
    return largest;
  }
};

enum class Into { set, add, subtract };  // what a product does to its result

// R rows and P registers of c = a b, where number (r, k) of a is at a[r a_row + k a_inner].
template <Into into, int R, int P>
JOUNCE_NOINLINE void multiply_tile(int inner, const double* a, std::ptrdiff_t a_row, std::ptrdiff_t a_inner, const double* b,
                                   std::ptrdiff_t b_row, double* c, std::ptrdiff_t c_row) {
  using Register = Pack<native_width>;
  Register sum[R][P];
  unroll<R>([&](auto r) JOUNCE_LAMBDA_INLINE {
    unroll<P>([&](auto p) JOUNCE_LAMBDA_INLINE {
      sum[r][p] = into == Into::set ? Register(0.0) : Register::load(c + r * c_row + p * native_width);
    });
  });
  for (int k = 0; k < inner; ++k) {
    Register line[P];
    unroll<P>([&](auto p) JOUNCE_LAMBDA_INLINE { line[p] = Register::load(b + k * b_row + p * native_width); });
    unroll<R>([&](auto r) JOUNCE_LAMBDA_INLINE {
      const Register x(a[r * a_row + k * a_inner]);
      unroll<P>([&](auto p) JOUNCE_LAMBDA_INLINE {
        if constexpr (into == Into::subtract)
          sum[r][p] -= x * line[p];
        else
          sum[r][p] += x * line[p];
      });
    });
  }
  unroll<R>([&](auto r) JOUNCE_LAMBDA_INLINE {
    unroll<P>([&](auto p) JOUNCE_LAMBDA_INLINE { sum[r][p].store(c + r * c_row + p * native_width); });
  });
}

template <Into into, int P>
void multiply_columns(int rows, int inner, const double* a, std::ptrdiff_t a_row, std::ptrdiff_t a_inner, const double* b,
                      std::ptrdiff_t b_row, double* c, std::ptrdiff_t c_row) {
  constexpr int most = native_width == 8 ? 8 : 4;  // rows for which there are registers
  int i = 0;
  for (; i + most <= rows; i += most) multiply_tile<into, most, P>(inner, a + i * a_row, a_row, a_inner, b, b_row, c + i * c_row, c_row);
  if constexpr (most > 4)
    for (; i + 4 <= rows; i += 4) multiply_tile<into, 4, P>(inner, a + i * a_row, a_row, a_inner, b, b_row, c + i * c_row, c_row);
  for (; i < rows; ++i) multiply_tile<into, 1, P>(inner, a + i * a_row, a_row, a_inner, b, b_row, c + i * c_row, c_row);
}

// As multiply_tile(), for any number of rows and for `width` columns, a multiple of a register's. Without an answer if nobody wants one.
template <Into into>
void multiply_numbers(int rows, int inner, int width, const double* a, std::ptrdiff_t a_row, std::ptrdiff_t a_inner, const double* b,
                      std::ptrdiff_t b_row, double* c, std::ptrdiff_t c_row) {
  const int registers = width / native_width;
  int p = 0;
  while (p < registers && !unwanted()) {
    const int left = registers - p, at = p * native_width, now = left == 4 ? 2 : left < 3 ? left : 3;
    if (now == 3) multiply_columns<into, 3>(rows, inner, a, a_row, a_inner, b + at, b_row, c + at, c_row);
    if (now == 2) multiply_columns<into, 2>(rows, inner, a, a_row, a_inner, b + at, b_row, c + at, c_row);
    if (now == 1) multiply_columns<into, 1>(rows, inner, a, a_row, a_inner, b + at, b_row, c + at, c_row);
    p += now;
  }
}

// C = A B, and C = A^T B; C must not be A or B.
template <Into into = Into::set>
void multiply(const Matrix& A, const Matrix& B, const Matrix& C) {
  multiply_numbers<into>(A.rows, A.columns, B.stride, A.first, A.stride, 1, B.first, B.stride, C.first, C.stride);
}
template <Into into = Into::set>
void multiply_transposed(const Matrix& A, const Matrix& B, const Matrix& C) {
  multiply_numbers<into>(A.columns, A.rows, B.stride, A.first, 1, A.stride, B.first, B.stride, C.first, C.stride);
}

JOUNCE_END
