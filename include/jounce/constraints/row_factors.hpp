// A = L diag(pivot) L^T for the symmetric matrix A = J M^-1 J^T, some of whose rows may be combinations of others.
//
// Rows are factored one after another; of a row that earlier ones already imply, only rounding error is left. It gets no pivot and no
// column in L, so that solutions are zero there. What counts as rounding error is judged by the size of the terms of the row's diagonal
// element: a row that cancels altogether is as small as its own rounding errors.
//
// A contains squares: of a row that has half of its digits in common with others, none is left there. Such rows are factored again,
// from a B with A = B B^T.
#pragma once

#include "jounce/constraints/independent_rows.hpp"
#include "jounce/ring/arena.hpp"
#include "jounce/ring/ring.hpp"
#include "jounce/tree/constraint.hpp"

JOUNCE_BEGIN

template <class T>
class RowFactors {
 public:
  using P = Together<T>;
  static constexpr int width = sizeof(P) / sizeof(T);

  template <class Arena>
  RowFactors(int rows, Arena& arena)
      : rows_(rows),
        stride_(round_up(rows, width)),
        A_(arena.template take<T>(std::size_t(rows) * stride_)),
        L_(arena.template take<T>(std::size_t(rows) * stride_)),
        scale_(arena.template take<T>(rows)),
        pivot_(arena.template take<T>(rows)) {}

  int stride() const { return stride_; }  // of tables with rows side by side
  static int first_lane(int row) { return row / width * width; }

  void clear() {
    clear(A_, rows_ * std::ptrdiff_t(stride_));
    clear(scale_, rows_);
  }
  // A += s y y^T for rows from begin to end: its upper half, and slightly more.
  JOUNCE_INLINE void add_squares(const T& s, const T* y, int begin, int end) {
    for (int r = begin; r < end; ++r) {
      const P f(s * y[r]);
      for (int c = first_lane(r); c < end; c += width) (P::load(A(r) + c) + f * P::load(y + c)).store(A(r) + c);
    }
  }
  const T& square(int row) const { return A(row)[row]; }  // the diagonal element, until it is factored
  T& scale(int row) { return scale_[row]; }               // the size of the terms of the diagonal element, without cancellation

  void factor() {
    clear(L_, rows_ * std::ptrdiff_t(stride_));
    dependent_ = 0;
    doubtful_ = false;
    for (int k = 0; k < rows_; ++k) pivot_[k] = square(k);  // before anything is taken off it
    for (int k = 0; k < rows_; ++k) {
      const T* row = A(k);
      if (!(row[k] > rounding_fraction_of_terms * scale_[k]) || row[k] == 0.0) {
        pivot_[k] = 0.0;
        ++dependent_;
        continue;
      }
      doubtful_ |= row[k] < doubtful_fraction_of_terms * scale_[k] || row[k] < doubtful_fraction_of_square * pivot_[k];
      pivot_[k] = 1.0 / row[k];
      for (int i = k + 1; i < rows_; ++i) {
        const T f = row[i] * pivot_[k];
        if (f == 0.0) continue;
        L(i)[k] = f;
        for (int j = first_lane(i); j < rows_; j += width) (P::load(A(i) + j) - P(f) * P::load(row + j)).store(A(i) + j);
      }
    }
    for (int i = 0; dependent_ > 0 && i < rows_; ++i)
      if (is_dependent(i)) combine(i);
  }
  // The same from rows of B; write(i, x) writes row i, and is_independent(i) says whether it is to have a pivot. Those without may be
  // combinations of later ones, too.
  template <class IsIndependent, class Write>
  void factor_again(OrthonormalRows<T> basis, const IsIndependent& is_independent, const Write& write) {
    clear(L_, rows_ * std::ptrdiff_t(stride_));
    dependent_ = 0;
    doubtful_ = true;
    lost_ = 0;
    for (int i = 0; i < rows_; ++i) {
      pivot_[i] = 0.0;
      if (!is_independent(i)) continue;
      write(i, basis.next());
      const T whole = square_root(basis.product(basis.next(), basis.next())), left = write_parts(basis, i);
      if (!(left > 0.0)) continue;
      if (const double lost = rounding * rounded(whole / left); lost > lost_) lost_ = lost, loses_ = i;
      pivot_[i] = 1.0 / (left * left);
      basis.keep(left);
    }
    for (int i = 0; i < rows_; ++i)
      if (is_dependent(i)) {
        ++dependent_;
        write(i, basis.next());
        write_parts(basis, i);
        combine(i);
      }
  }
  double lost() const { return lost_; }  // relative error of what was factored again, at worst, in row loses()
  int loses() const { return loses_; }
  int dependent() const { return dependent_; }
  const T& inverse_pivot(int row) const { return pivot_[row]; }  // zero of a dependent row
  bool is_dependent(int row) const { return pivot_[row] == 0.0; }
  bool doubtful() const { return doubtful_; }             // whether a pivot has lost digits
  const T* combination(int row) const { return L(row); }  // of a dependent row: the factors of others in it

  // x = A^-1 x, with room for stride() numbers, all of them finite. L is zero beyond its triangle.
  JOUNCE_INLINE void solve(T* x) const {
    for (int i = 1; i < rows_; ++i) {
      P sums(0.0);
      for (int j = 0; j < i; j += width) sums += P::load(L(i) + j) * P::load(x + j);
      x[i] -= total(sums);
    }
    for (int i = 0; i < rows_; ++i) x[i] *= pivot_[i];
    for (int i = rows_ - 1; i > 0; --i) {
      const P f(x[i]);
      for (int j = 0; j < i; j += width) (P::load(x + j) - f * P::load(L(i) + j)).store(x + j);
    }
  }

  // The same for all columns of a table (rows, stride).
  void solve_table(int stride, T* x) const {
    const auto row = [&](int i) { return x + i * std::ptrdiff_t(stride); };
    const auto subtract = [&](T* to, const T& f, const T* from) {
      for (int c = 0; c < stride; c += width) (P::load(to + c) - P(f) * P::load(from + c)).store(to + c);
    };
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < i; ++j)
        if (L(i)[j] != 0.0) subtract(row(i), L(i)[j], row(j));
    for (int i = 0; i < rows_; ++i)
      for (int c = 0; c < stride; c += width) (P(pivot_[i]) * P::load(row(i) + c)).store(row(i) + c);
    for (int i = rows_ - 1; i > 0; --i)
      for (int j = 0; j < i; ++j)
        if (L(i)[j] != 0.0) subtract(row(j), L(i)[j], row(i));
  }

 private:
  static void clear(T* x, std::ptrdiff_t count) { std::memset((void*)x, 0, sizeof(T) * count); }

  // The parts of the next row of B along those in the basis, as factors of the rows that these come from; what is left of it.
  T write_parts(OrthonormalRows<T>& basis, int i) {
    T* parts = A(i);  // A itself is spent
    clear(parts, stride_);
    const T left = basis.project(parts);
    for (int j = 0, k = 0; k < basis.count(); ++j)
      if (pivot_[j] != 0.0) L(i)[j] = parts[k++] * square_root(pivot_[j]);
    return left;
  }

  // Makes factors of rows of those of their parts, of which L has one in dependent row i for each independent row.
  void combine(int i) {
    for (int j = rows_ - 1; j > 0; --j)
      for (int k = 0; k < j && !(L(i)[j] == 0.0); ++k) L(i)[k] -= L(i)[j] * L(j)[k];
  }

  T* A(int row) const { return A_ + row * std::ptrdiff_t(stride_); }
  T* L(int row) const { return L_ + row * std::ptrdiff_t(stride_); }

  int rows_, stride_;
  T *A_, *L_, *scale_, *pivot_;
  int dependent_ = 0;
  bool doubtful_ = false;
  static constexpr double rounding = std::is_same_v<T, double> ? 1e-14 : 1e-30;  // of a row, with what it is multiplied by afterwards
  double lost_ = 0;
  int loses_ = 0;
};

JOUNCE_END
