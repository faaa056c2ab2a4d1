// Linear-quadratic regulators, from A, B, Q and R: u = -K x about one state (riccati.hpp), and along a motion.
//
// Along a motion, P of the cost-to-go solves -P' = A^T P + P A - P B R^-1 B^T P + Q backward in time. A and B change little between the
// times at which they are given, but P may not: so each interval uses their mean, for which the equation has a closed-form solution,
// the exponential of M of doubling.hpp: as a Pade approximant it is a pencil, (V - U) z(1) = (V + U) z(0), of which the interval is
// made without the exponential itself, whose parts that grow would drown the others. It is exact for constant A and B.
#pragma once

#include "jounce/matrix/exponential.hpp"
#include "jounce/matrix/riccati.hpp"

JOUNCE_BEGIN

// R = L L^T, and what is divided by L.
class InputWeight {
 public:
  template <class Arena>
  InputWeight(int inputs, Arena& arena) : L_(Matrix::take(inputs, inputs, arena)) {}

  // False if R is not positive definite.
  bool set(const double* R) {
    const int m = L_.rows;
    for (int i = 0; i < m && !unwanted(); ++i)
      for (int j = 0; j <= i; ++j) {
        double sum = R[i * m + j];
        for (int k = 0; k < j; ++k) sum -= L_(i, k) * L_(j, k);
        if (i == j && !(sum > 0)) return false;
        L_(i, j) = i == j ? std::sqrt(sum) : sum / L_(j, j);
      }
    return true;
  }
  // X = L^-1 X and X = L^-T X.
  void divide(const Matrix& X) const {
    for (int i = 0; i < L_.rows && !unwanted(); ++i) {
      for (int j = 0; j < i; ++j) subtract(X, i, L_(i, j), j);
      divide_row(X, i);
    }
  }
  void divide_transposed(const Matrix& X) const {
    for (int i = L_.rows - 1; i >= 0 && !unwanted(); --i) {
      for (int j = i + 1; j < L_.rows; ++j) subtract(X, i, L_(j, i), j);
      divide_row(X, i);
    }
  }

 private:
  static void subtract(const Matrix& X, int i, double factor, int j) {
    for (int c = 0; c < X.stride; ++c) X(i, c) -= factor * X(j, c);
  }
  void divide_row(const Matrix& X, int i) const {
    for (int c = 0; c < X.stride; ++c) X(i, c) /= L_(i, i);
  }

  Matrix L_;
};

// The transpose of numbers by rows, (columns, rows).
inline void load_transposed(const Matrix& to, const double* from) {
  for (int i = 0; i < to.rows; ++i) {
    for (int j = 0; j < to.columns; ++j) to(i, j) = from[std::ptrdiff_t(j) * to.rows + i];
    for (int j = to.columns; j < to.stride; ++j) to(i, j) = 0;
  }
}

class Regulator {
 public:
  template <class Arena>
  Regulator(int n, int inputs, bool discrete, Arena& arena) : weight_(inputs, arena), riccati_(n, inputs, discrete, arena) {}

  // All by rows: A (n, n), B (n, inputs), Q (n, n), R (inputs, inputs), K (inputs, n), P (n, n). `unseen`: see StationaryRiccati.
  bool run(const double* A, const double* B, const double* Q, const double* R, double* K, double* P, bool* unseen) {
    const int n = riccati_.A.rows;
    if (!weight_.set(R)) return false;
    riccati_.A.load(A, n), riccati_.Q.load(Q, n);
    load_transposed(riccati_.T, B);
    weight_.divide(riccati_.T);
    if (!riccati_.run(unseen)) return false;
    weight_.divide_transposed(riccati_.feedback);
    riccati_.feedback.store(K, n), riccati_.P.store(P, n);
    return true;
  }

 private:
  InputWeight weight_;
  StationaryRiccati riccati_;
};

// F, G and H of the interval between two times.
class RiccatiInterval {
 public:
  template <class Arena>
  RiccatiInterval(int n, int inputs, Arena& arena)
      : weight_(inputs, arena),
        pade_(2 * n, arena, PadeApproximant::Kind::hamiltonian),
        pencil_(n, arena),
        interval_(n, arena),
        T_(Matrix::take(inputs, n, arena)),
        A_(Matrix::take(n, n, arena)),
        G_(Matrix::take(n, n, arena)),
        Q_(Matrix::take(n, n, arena)),
        n_(n) {}

  // The weights, the same for all intervals.
  bool start(const double* Q, const double* R) {
    Q_.load(Q, n_);
    largest_ = largest(Q_);
    return weight_.set(R);
  }
  // A (2, n, n) and B (2, n, inputs) at both ends; F, G and H (3, n, n). False if there is no answer in numbers.
  bool run(const double* A, const double* B, double step, double* out) {
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) A_(i, j) = 0.5 * (A[i * n_ + j] + A[n_ * n_ + i * n_ + j]);
    load_transposed(T_, B);
    for (int i = 0; i < T_.rows; ++i)
      for (int j = 0; j < n_; ++j) T_(i, j) = 0.5 * (T_(i, j) + B[n_ * T_.rows + j * T_.rows + i]);
    weight_.divide(T_);
    multiply_transposed(T_, T_, G_);
    // P in units that make the quadratic terms equal: G and Q times and by a power of two
    const double g = largest(G_),
                 unit = g > 0 && largest_ > 0 ? std::pow(2.0, std::round(0.5 * std::log(largest_ / g) / std::log(2.0))) : 1;
    G_.scale(unit), Q_.scale(1 / unit);
    Pencil::set_hamiltonian(pade_.X(), A_, G_, Q_, step);
    Q_.scale(unit);
    const int halvings = pade_.run();
    if (halvings < 0) return false;
    pade_.U(pencil_.L);
    pencil_.N.copy(pade_.V()), pencil_.N.add(-1, pencil_.L);
    pencil_.L.add(1, pade_.V());
    if (!pencil_.solve(interval_)) return false;
    for (int i = 0; i < halvings; ++i)
      if (!interval_.double_up()) return false;
    interval_.G.scale(1 / unit), interval_.H.scale(unit);
    interval_.F.store(out, n_), interval_.G.store(out + n_ * n_, n_), interval_.H.store(out + 2 * n_ * n_, n_);
    return true;
  }

 private:
  static double largest(const Matrix& x) {
    double most = 0;
    for (int i = 0; i < x.rows; ++i)
      for (int j = 0; j < x.columns; ++j)
        if (const double size = std::fabs(x(i, j)); size > most) most = size;
    return most;
  }

  InputWeight weight_;
  PadeApproximant pade_;
  Pencil pencil_;
  Interval interval_;
  Matrix T_, A_, G_, Q_;
  int n_;
  double largest_ = 0;
};

// From the end of a motion to its beginning, over intervals that are known.
class BackwardRiccati {
 public:
  template <class Arena>
  BackwardRiccati(int n, int inputs, Arena& arena)
      : weight_(inputs, arena),
        interval_(n, arena),
        T_(Matrix::take(inputs, n, arena)),
        P_(Matrix::take(n, n, arena)),
        K_(Matrix::take(inputs, n, arena)) {}

  // intervals (count - 1, 3, n, n), B (count, n, inputs), end (n, n); K (count, inputs, n) and P (count, n, n).
  bool run(int count, const double* intervals, const double* B, const double* R, const double* end, double* K, double* P) {
    const int n = P_.rows, m = K_.rows;
    const std::ptrdiff_t square = std::ptrdiff_t(n) * n;
    if (!weight_.set(R)) return false;
    P_.load(end, n);
    for (int k = count - 1; k >= 0 && !unwanted(); --k) {
      if (k < count - 1) {
        const double* own = intervals + 3 * square * k;
        interval_.F.load(own, n), interval_.G.load(own + square, n), interval_.H.load(own + 2 * square, n);
        if (!interval_.back(P_)) return false;
      }
      load_transposed(T_, B + std::ptrdiff_t(n) * m * k);
      weight_.divide(T_);
      multiply(T_, P_, K_);
      weight_.divide_transposed(K_);
      P_.store(P + square * k, n), K_.store(K + std::ptrdiff_t(n) * m * k, n);
    }
    return true;
  }

 private:
  InputWeight weight_;
  Interval interval_;
  Matrix T_, P_, K_;
};

JOUNCE_END
