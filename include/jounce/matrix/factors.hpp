// P A = L U with the largest pivot of each column, and solutions of A X = B (Golub and Van Loan, Matrix Computations, 3.4). Eight
// columns at a time: what they do to the others is one product of matrices.
#pragma once

#include "jounce/matrix/dense.hpp"

JOUNCE_BEGIN

class Factors {
 public:
  // For square matrices of n rows.
  template <class Arena>
  Factors(int n, Arena& arena) : LU_(Matrix::take(n, n, arena)), pivot_(arena.template take<int>(n)) {}

  // To be filled with A before factor().
  const Matrix& matrix() const { return LU_; }
  int size() const { return LU_.rows; }

  // False if a pivot is zero or not a number, or if nobody wants the answer.
  bool factor() {
    const int n = size();
    for (int begin = 0; begin < n; begin += block) {
      const int end = begin + block < n ? begin + block : n;
      if (unwanted() || !factor_columns(begin, end)) return false;
      if (end == n) break;
      eliminate<true>(LU_, begin, end, end);
      update(LU_, end, n, begin, end - begin, end);
    }
    return true;
  }

  // X = A^-1 X.
  void solve(const Matrix& X) const {
    const int n = size();
    for (int i = 0; i < n; ++i)
      if (pivot_[i] != i) swap_rows(X, i, pivot_[i]);
    for (int begin = 0; begin < n; begin += block) {
      const int end = begin + block < n ? begin + block : n;
      if (unwanted()) return;
      if (begin > 0) update(X, begin, end, 0, begin, 0);
      eliminate<true>(X, begin, end, 0);
    }
    for (int begin = (n - 1) / block * block; n > 0 && begin >= 0; begin -= block) {
      const int end = begin + block < n ? begin + block : n;
      if (end < n) update(X, begin, end, end, n - end, 0);
      eliminate<false>(X, begin, end, 0);
    }
  }

  // The mean of log |pivot|, which is log |det A| / n; pivots below `least` are left out.
  double mean_log(double least) const {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < size(); ++i)
      if (const double pivot = std::fabs(LU_(i, i)); pivot > least) sum += std::log(pivot), ++count;
    return count > 0 ? sum / count : 0;
  }

 private:
  static constexpr int block = 8;
  using Register = Pack<native_width>;

  static void swap_rows(const Matrix& x, int i, int j) {
    double *a = x.row(i), *b = x.row(j);
    for (int c = 0; c < x.stride; c += native_width) {
      const Register u = Register::load(a + c), v = Register::load(b + c);
      v.store(a + c), u.store(b + c);
    }
  }
  // y -= s x, from a column on that is a multiple of a register's.
  static JOUNCE_INLINE void subtract(double* y, double s, const double* x, int from, int to) {
    const Register factor(s);
    for (int c = from; c < to; c += native_width) (Register::load(y + c) - factor * Register::load(x + c)).store(y + c);
  }

  // Rows [begin, end) of X minus L or U there, in columns [from, from + count), times the rows of X that belong to them.
  void update(const Matrix& X, int begin, int end, int from, int count, int column) const {
    if (begin < end && column < X.stride)
      multiply_numbers<Into::subtract>(end - begin, count, X.stride - column, LU_.row(begin) + from, LU_.stride, 1, X.row(from) + column,
                                       X.stride, X.row(begin) + column, X.stride);
  }

  // Rows [begin, end) of X, from a column on, times the inverse of the block of L, or of U, on the diagonal.
  template <bool lower>
  void eliminate(const Matrix& X, int begin, int end, int column) const {
    double inverse[block];
    for (int i = begin; i < end && !lower; ++i) inverse[i - begin] = 1 / LU_(i, i);
    if (end - begin == block) {  // in registers
      for (int c = column; c < X.stride; c += native_width) {
        Register x[block];
        unroll<block>([&](auto i) JOUNCE_LAMBDA_INLINE { x[i] = Register::load(X.row(begin + i) + c); });
        unroll<block>([&](auto k) JOUNCE_LAMBDA_INLINE {
          constexpr int i = lower ? int(k) : block - 1 - int(k);
          if constexpr (!lower) x[i] = Register(inverse[i]) * x[i];
          unroll<block>([&](auto j) JOUNCE_LAMBDA_INLINE {
            if constexpr (lower ? j > i : j < i) x[j] -= Register(LU_(begin + j, begin + i)) * x[i];
          });
        });
        unroll<block>([&](auto i) JOUNCE_LAMBDA_INLINE { x[i].store(X.row(begin + i) + c); });
      }
      return;
    }
    for (int k = begin; k < end; ++k) {
      const int i = lower ? k : begin + end - 1 - k;
      for (int j = lower ? begin : i + 1; j < (lower ? i : end); ++j) subtract(X.row(i), LU_(i, j), X.row(j), column, X.stride);
      if (!lower)
        for (int c = column; c < X.stride; c += native_width)
          (Register(inverse[i - begin]) * Register::load(X.row(i) + c)).store(X.row(i) + c);
    }
  }

  bool factor_columns(int begin, int end) {
    const int n = size(), last = begin + block < LU_.stride ? begin + block : LU_.stride;
    for (int k = begin; k < end; ++k) {
      int best = k;
      for (int i = k + 1; i < n; ++i)
        if (std::fabs(LU_(i, k)) > std::fabs(LU_(best, k))) best = i;
      pivot_[k] = best;
      if (best != k) swap_rows(LU_, k, best);
      const double pivot = LU_(k, k);
      if (!(std::fabs(pivot) > 0) || pivot - pivot != 0) return false;
      double behind[block];  // row k behind its diagonal
      for (int c = begin; c < last; c += native_width)
        only(Register::load(LU_.row(k) + c), k + 1 - c, native_width).store(behind + c - begin);
      for (int i = k + 1; i < n; ++i) {
        const double factor = LU_(i, k) / pivot;
        subtract(LU_.row(i) + begin, factor, behind, 0, last - begin);
        LU_(i, k) = factor;
      }
    }
    return true;
  }

  Matrix LU_;
  int* pivot_;
};

JOUNCE_END
