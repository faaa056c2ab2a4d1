// A^+ of a small matrix of unknown rank, in natural sizes, by two orthogonalizations.
//
// Those of its rows that are independent (independent_rows.hpp) give an orthonormal basis W of all of them. So A = X W with X = A W^T, of
// full column rank; with X = Q U, Q orthonormal and U upper triangular, A^+ = W^T U^-1 Q^T. If rows have weights, A is the weighted
// matrix, and which of its rows are independent is decided without them.
#pragma once

#include <cmath>
#include <cstddef>

#include "jounce/constraints/independent_rows.hpp"

namespace jounce {

class PseudoInverse {
 public:
  // For matrices (m, n); needs numbers(m, n) doubles to work in.
  PseudoInverse(std::ptrdiff_t m, std::ptrdiff_t n, double* space)
      : m_(m),
        n_(n),
        most_(m < n ? m : n),
        W_(space),
        Q_(W_ + most_ * n),
        U_(Q_ + most_ * m),
        rows_(U_ + most_ * most_),
        squares_(rows_ + m * n) {}
  static std::ptrdiff_t numbers(std::ptrdiff_t m, std::ptrdiff_t n) {
    const std::ptrdiff_t most = m < n ? m : n;
    return most * (m + n) + most * most + m * n + m;
  }

  // A^+ (n, m) of A (m, n), both row-major; weights (m), or null.
  void run(const double* A, const double* weights, double* inverse) {
    for (std::ptrdiff_t r = 0; r < m_; ++r)
      for (std::ptrdiff_t c = 0; c < n_; ++c) rows_[r * n_ + c] = A[r * n_ + c] / (weights ? weights[r] : 1.0);
    OrthonormalRows<double> W(n_, W_);
    find_independent(m_, n_, rows_, squares_, W, nullptr);
    const std::ptrdiff_t rank = W.count();
    OrthonormalRows<double> Q(m_, Q_);
    for (std::ptrdiff_t i = 0; i < rank; ++i) {  // column i of X, and of U
      for (std::ptrdiff_t r = 0; r < m_; ++r) {
        double sum = 0;
        for (std::ptrdiff_t c = 0; c < n_; ++c) sum += A[r * n_ + c] * W.row(i)[c];
        Q.next()[r] = sum;
      }
      double* u = U_ + i * most_;
      for (std::ptrdiff_t j = 0; j < i; ++j) u[j] = 0;
      u[i] = Q.project(u);
      Q.keep(u[i]);
    }
    for (std::ptrdiff_t i = rank - 1; i >= 0; --i)  // U^-1 Q^T, in place
      for (std::ptrdiff_t r = 0; r < m_; ++r) {
        double sum = Q.row(i)[r];
        for (std::ptrdiff_t j = i + 1; j < rank; ++j) sum -= U_[j * most_ + i] * Q.row(j)[r];
        Q.row(i)[r] = sum / U_[i * most_ + i];
      }
    for (std::ptrdiff_t c = 0; c < n_; ++c)
      for (std::ptrdiff_t r = 0; r < m_; ++r) {
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < rank; ++i) sum += W.row(i)[c] * Q.row(i)[r];
        inverse[c * m_ + r] = sum;
      }
  }

 private:
  std::ptrdiff_t m_, n_, most_;
  double *W_, *Q_, *U_, *rows_, *squares_;  // (most, n), (most, m); columns of U; A without weights, and what is left of its rows
};

}  // namespace jounce
