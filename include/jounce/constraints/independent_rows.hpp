// Which rows of a matrix are independent: the judge of what counts as zero.
//
// Rows enter an orthonormal basis, each minus its projection onto those before it; next is always the first of which at least a tenth as
// much is left as of any other. When less than `negligible` is left of all others, these are combinations of those in the basis. So the
// matrix must be in natural sizes, where 1 is large (natural_sizes.hpp). Projecting twice makes the basis orthogonal to rounding error
// (Giraud, Langou, Rozloznik 2005).
#pragma once

#include "jounce/ring/ring.hpp"

JOUNCE_BEGIN

constexpr double negligible = 1e-6;

// A basis, (most, size), of rows that are added one by one.
template <class T>
class OrthonormalRows {
 public:
  OrthonormalRows(std::ptrdiff_t size, T* space) : size_(size), basis_(space) {}

  std::ptrdiff_t count() const { return count_; }
  T* row(std::ptrdiff_t i) { return basis_ + i * size_; }
  T* next() { return row(count_); }  // where a row is written before it is projected

  // Takes from the next row its parts along the others, adds them to `parts` unless that is null, and returns the length that is left.
  T project(T* parts) {
    for (int again = 0; again < 2; ++again)
      for (std::ptrdiff_t j = 0; j < count_; ++j) {
        const T part = take_off(next(), j);
        if (parts) parts[j] += part;
      }
    return square_root(product(next(), next()));
  }
  // Keeps the next row, whose length this is.
  void keep(const T& length) {
    T* x = next();
    for (std::ptrdiff_t i = 0; i < size_; ++i) x[i] /= length;
    ++count_;
  }
  // Subtracts from x its part along row j, and returns that.
  T take_off(T* x, std::ptrdiff_t j) {
    const T part = product(row(j), x), *y = row(j);
    std::ptrdiff_t i = 0;
    for (; i + width <= size_; i += width) (P::load(x + i) - P(part) * P::load(y + i)).store(x + i);
    for (; i < size_; ++i) x[i] -= part * y[i];
    return part;
  }
  T product(const T* a, const T* b) const {
    P sums(0.0);
    std::ptrdiff_t i = 0;
    for (; i + width <= size_; i += width) sums += P::load(a + i) * P::load(b + i);
    T sum = total(sums);
    for (; i < size_; ++i) sum += a[i] * b[i];
    return sum;
  }

 private:
  using P = Together<T>;
  static constexpr int width = sizeof(P) / sizeof(T);

  std::ptrdiff_t size_, count_ = 0;
  T* basis_;
};

struct LeastRow {
  std::ptrdiff_t row;  // -1: none
  double left;
};

// A basis of m `rows`, which are spent, as are `squares` (m); `independent` (m), unless it is null: which of them it consists of. Returns
// the one of which least was left.
template <class T>
LeastRow find_independent(std::ptrdiff_t m, std::ptrdiff_t n, T* rows, double* squares, OrthonormalRows<T>& basis, bool* independent) {
  const auto square = [&](std::ptrdiff_t r) { squares[r] = rounded(basis.product(rows + r * n, rows + r * n)); };  // what is left
  for (std::ptrdiff_t r = 0; r < m; ++r) square(r);
  for (std::ptrdiff_t r = 0; independent && r < m; ++r) independent[r] = false;
  LeastRow last{-1, 1.0};
  while (basis.count() < m && basis.count() < n) {
    std::ptrdiff_t best = 0;
    double most = 0;
    for (std::ptrdiff_t r = 0; r < m; ++r) most = squares[r] > most ? squares[r] : most;
    while (best + 1 < m && squares[best] < most / 100) ++best;
    for (std::ptrdiff_t c = 0; c < n; ++c) basis.next()[c] = rows[best * n + c];
    const T left = basis.project(nullptr);
    if (!(left > negligible)) break;
    basis.keep(left);
    if (independent) independent[best] = true;
    last = {best, rounded(left)};
    squares[best] = -1;
    for (std::ptrdiff_t r = 0; r < m; ++r)
      if (squares[r] >= 0) basis.take_off(rows + r * n, basis.count() - 1), square(r);
  }
  return last;
}

JOUNCE_END
