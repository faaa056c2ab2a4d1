// A^+ of a small matrix of unknown rank, by two orthogonalizations: A = Q T W^T with orthonormal columns in Q and W and T lower
// triangular, so that A^+ = W T^-1 Q^T.
//
// Columns of A enter Q largest first, each minus its projection onto those before it; the rank is reached when less than `negligible`
// of the largest is left. Projecting twice makes them orthogonal to rounding error (Giraud, Langou, Rozloznik 2005).
#pragma once

#include <cmath>
#include <cstddef>

namespace jounce {

constexpr double negligible = 1e-6;

class PseudoInverse {
 public:
  // For matrices (m, n); needs numbers(m, n) doubles to work in.
  PseudoInverse(std::ptrdiff_t m, std::ptrdiff_t n, double* space)
      : m_(m),
        n_(n),
        most_(m < n ? m : n),
        Q_(space),
        W_(Q_ + most_ * m),
        T_(W_ + most_ * n),
        left_(T_ + most_ * most_),
        Y_(left_ + m * n) {}
  static std::ptrdiff_t numbers(std::ptrdiff_t m, std::ptrdiff_t n) {
    const std::ptrdiff_t most = m < n ? m : n;
    return most * (m + n + most) + m * n + most * m;
  }

  std::ptrdiff_t rank() const { return rank_; }

  // A^+ (n, m) of A (m, n), both row-major.
  void run(const double* A, double* inverse) {
    span(A);
    for (std::ptrdiff_t i = 0; i < rank_; ++i) {  // row i of Q^T A = T W^T
      double* w = W_ + i * n_;
      for (std::ptrdiff_t c = 0; c < n_; ++c) {
        double sum = 0;
        for (std::ptrdiff_t r = 0; r < m_; ++r) sum += Q_[i * m_ + r] * A[r * n_ + c];
        w[c] = sum;
      }
      double* t = T_ + i * most_;
      for (std::ptrdiff_t j = 0; j < i; ++j) t[j] = 0;
      project_twice(w, W_, i, n_, t);
      t[i] = normalize(w, n_);
      for (std::ptrdiff_t r = 0; r < m_; ++r) {  // row i of T^-1 Q^T
        double sum = Q_[i * m_ + r];
        for (std::ptrdiff_t j = 0; j < i; ++j) sum -= t[j] * Y_[j * m_ + r];
        Y_[i * m_ + r] = sum / t[i];
      }
    }
    for (std::ptrdiff_t c = 0; c < n_; ++c)
      for (std::ptrdiff_t r = 0; r < m_; ++r) {
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < rank_; ++i) sum += W_[i * n_ + c] * Y_[i * m_ + r];
        inverse[c * m_ + r] = sum;
      }
  }

 private:
  // An orthonormal basis of the span of A's columns.
  void span(const double* A) {
    for (std::ptrdiff_t c = 0; c < n_; ++c)
      for (std::ptrdiff_t r = 0; r < m_; ++r) left_[c * m_ + r] = A[r * n_ + c];
    double largest = 0;
    for (rank_ = 0; rank_ < most_; ++rank_) {
      std::ptrdiff_t best = 0;
      double size = -1;
      for (std::ptrdiff_t c = 0; c < n_; ++c)
        if (const double own = squares(left_ + c * m_, m_); own > size) size = own, best = c;
      double* q = Q_ + rank_ * m_;
      for (std::ptrdiff_t r = 0; r < m_; ++r) q[r] = left_[best * m_ + r];
      project_twice(q, Q_, rank_, m_, nullptr);
      const double length = normalize(q, m_);
      if (rank_ == 0) largest = length;
      if (!(length > negligible * largest)) return;
      for (std::ptrdiff_t c = 0; c < n_; ++c) take_off(left_ + c * m_, q, m_);
    }
  }
  // x without its parts along the first `count` rows of an orthonormal basis; those parts are added to `parts`.
  static void project_twice(double* x, const double* basis, std::ptrdiff_t count, std::ptrdiff_t size, double* parts) {
    for (int again = 0; again < 2; ++again)
      for (std::ptrdiff_t j = 0; j < count; ++j) {
        const double part = take_off(x, basis + j * size, size);
        if (parts) parts[j] += part;
      }
  }
  static double take_off(double* x, const double* q, std::ptrdiff_t size) {
    double part = 0;
    for (std::ptrdiff_t i = 0; i < size; ++i) part += q[i] * x[i];
    for (std::ptrdiff_t i = 0; i < size; ++i) x[i] -= part * q[i];
    return part;
  }
  static double squares(const double* x, std::ptrdiff_t size) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < size; ++i) sum += x[i] * x[i];
    return sum;
  }
  static double normalize(double* x, std::ptrdiff_t size) {
    const double length = std::sqrt(squares(x, size));
    for (std::ptrdiff_t i = 0; length > 0 && i < size; ++i) x[i] /= length;
    return length;
  }

  std::ptrdiff_t m_, n_, most_;
  double *Q_, *W_, *T_, *left_, *Y_;  // (rank, m), (rank, n), (rank, rank); remaining columns of A; T^-1 Q^T
  std::ptrdiff_t rank_ = 0;
};

}  // namespace jounce
