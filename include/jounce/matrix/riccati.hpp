// The stationary Riccati equations. With R = L L^T and T = L^-1 B^T, so that G = B R^-1 B^T = T^T T,
//
//   A^T P + P A - P G P + Q = 0,    P = Q + A^T P (1 + G P)^-1 A    in discrete time,
//
// for the P whose feedback is stable: x' = (A - G P) x, or x <- (1 + G P)^-1 A x.
//
// 1. Units. x = D z, with powers of two in D that make the rows and columns of the Hamiltonian matrix equally large (P. Benner,
//    Symplectic balancing of Hamiltonian matrices, SIAM J. Sci. Comput. 22, 2001).
// 2. Doubling (doubling.hpp). In continuous time the first interval is that of the Cayley transform, z(1) = (c - M)^-1 (c + M) z(0), as
//    if by the implicit midpoint rule with the step 2 / c: it has the same stable subspace. A rate s of the closed loop fades by
//    |(s + c) / (s - c)|; c is the geometric mean of the rates, |det M|^(1 / 2 n), so that neither the slowest nor the fastest takes
//    many doublings. F vanishes if and only if the feedback is stable, also in what was computed.
// 3. Newton's method (D. Kleinman, On an iterative technique for Riccati equation computations, IEEE Trans. Autom. Control 13, 1968),
//    for the residual: what is left are the rounding errors of the residual itself, in which P G P is (T P)^T (T P): where inputs are
//    cheap, T P is small by cancellation, and P (G P) would have errors of the size of the terms. The linear equations of each step are
//    doubled, too (R. A. Smith, Matrix equation X A + B X = C, SIAM J. Appl. Math. 16, 1968).
//
// Doubling finds the least positive semidefinite P. If Q does not see some unstable motion, that P does nothing about it, and F
// grows. Then Q + c is solved first, whose feedback is stable, and Newton's method converges to the P of Q from there; but if Q does not
// see a motion that neither grows nor fades, to one whose feedback does not either.
#pragma once

#include "jounce/matrix/doubling.hpp"

JOUNCE_BEGIN

// Powers of two d_i, for which D^-1 A D, D^-1 G D^-1 and D Q D are balanced; these replace A, G and Q.
inline void balance(const Matrix& A, const Matrix& G, const Matrix& Q, double* d) {
  const int n = A.rows;
  for (int i = 0; i < n; ++i) d[i] = 1;
  bool changed = true;
  for (int sweep = 0; changed && sweep < 20; ++sweep) {
    changed = false;
    for (int i = 0; i < n && !unwanted(); ++i) {
      double grow = 0, shrink = 0;  // what grows with d_i, and what shrinks
      for (int j = 0; j < n; ++j) {
        if (j != i) grow += std::fabs(A(j, i)), shrink += std::fabs(A(i, j));
        grow += std::fabs(Q(i, j)), shrink += std::fabs(G(i, j));
      }
      if (!(grow > 0) || !(shrink > 0) || grow - grow != 0 || shrink - shrink != 0) continue;
      const double exponent = std::round(0.5 * (std::log(shrink) - std::log(grow)) / std::log(2.0));
      if (exponent == 0) continue;
      const double f = std::pow(2.0, exponent), inverse = std::pow(2.0, -exponent);
      changed = true;
      d[i] *= f;
      for (int j = 0; j < n; ++j) A(j, i) *= f, A(i, j) *= inverse;
      for (int j = 0; j < n; ++j) Q(i, j) *= f, G(i, j) *= inverse;
      for (int j = 0; j < n; ++j) Q(j, i) *= f, G(j, i) *= inverse;
    }
  }
}

// X of X = U^T X U + C or of A^T X + X A + C = 0, for stable U or A.
class Lyapunov {
 public:
  template <class Arena>
  Lyapunov(int n, Arena& arena)
      : X(Matrix::take(n, n, arena)),
        factors_(n, arena),
        turned_(Matrix::take(n, n, arena)),
        U_(Matrix::take(n, n, arena)),
        product_(Matrix::take(n, n, arena)) {}

  Matrix X;  // first C, then the solution

  // U, in discrete time; false if it is not stable.
  bool solve_discrete(const Matrix& U) {
    turned_.transpose(U);
    return double_up();
  }
  // A, in continuous time: U = (c + A) (c - A)^-1, and (c - A)^-T 2 c C (c - A)^-1 instead of C.
  bool solve_continuous(const Matrix& A) {
    factors_.matrix().copy(A);
    if (!factors_.factor()) return false;
    const double c = std::exp(factors_.mean_log(0));
    if (!(c > 0) || c - c != 0) return false;
    turned_.transpose(A);
    factors_.matrix().copy(turned_), factors_.matrix().scale(-1), factors_.matrix().add_identity(c);
    if (!factors_.factor()) return false;
    turned_.add_identity(c);
    factors_.solve(turned_);
    factors_.solve(X);
    product_.transpose(X);
    factors_.solve(product_);
    X.transpose(product_), X.scale(2 * c);
    return double_up();
  }

 private:
  bool double_up() {
    for (int k = 0; k < 64; ++k) {
      U_.transpose(turned_);
      multiply(X, U_, product_);
      multiply<Into::add>(turned_, product_, X);
      multiply(turned_, turned_, product_);
      const Matrix old = turned_;
      turned_ = product_, product_ = old;
      if (unwanted()) return false;
      const double size = turned_.norm();
      if (!(size < 1e100)) return false;
      if (size <= 1e-9) {
        X.symmetrize();
        return X.norm() - X.norm() == 0;
      }
    }
    return false;
  }

  Factors factors_;
  Matrix turned_, U_, product_;  // U^T, U
};

class StationaryRiccati {
 public:
  template <class Arena>
  StationaryRiccati(int n, int inputs, bool discrete, Arena& arena)
      : A(Matrix::take(n, n, arena)),
        Q(Matrix::take(n, n, arena)),
        T(Matrix::take(inputs, n, arena)),
        P(Matrix::take(n, n, arena)),
        feedback(Matrix::take(inputs, n, arena)),
        discrete_(discrete),
        interval_(n, arena),
        pencil_(discrete ? 0 : n, arena),
        hamiltonian_(discrete ? 0 : 2 * n, arena),
        factors_(discrete ? inputs : 0, arena),
        lyapunov_(n, arena),
        G_(Matrix::take(n, n, arena)),
        closed_(Matrix::take(n, n, arena)),
        product_(Matrix::take(n, n, arena)),
        kept_(Matrix::take(n, n, arena)),
        turned_(Matrix::take(n, inputs, arena)),
        TP_(Matrix::take(inputs, n, arena)),
        d_(arena.template take<double>(n)) {}

  Matrix A, Q, T;      // to be filled
  Matrix P, feedback;  // L^T u = -feedback x

  // False if there is no P, or none that can be told from rounding errors. `unseen`: perhaps Q does not see some unstable motion; if it
  // does not see one that neither grows nor fades, P does not stop that.
  bool run(bool* unseen) {
    const int n = A.rows, m = T.rows;
    unseen_ = false;
    multiply_transposed(T, T, G_);
    balance(A, G_, Q, d_);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) T(i, j) /= d_[j];
    turned_.transpose(T);
    const double c = center();
    const bool solved = start(c) || approach(c);
    *unseen = unseen_;
    if (!solved || !close() || unwanted()) return false;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) P(i, j) /= d_[i] * d_[j];
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) feedback(i, j) /= d_[j];
    return true;
  }

 private:
  // The geometric mean of the rates of M, as far as they are not zero.
  double center() {
    if (discrete_) return 1;
    Pencil::set_hamiltonian(hamiltonian_.matrix(), A, G_, Q, 1);
    const double size = hamiltonian_.matrix().norm();
    const double mean = hamiltonian_.factor() ? std::exp(hamiltonian_.mean_log(1e-14 * size)) : 0;
    return mean > 1e-12 * size && mean <= size ? mean : size > 0 ? size : 1;
  }

  bool start(double c) {
    if (doubled(c, 0) && improve(false)) return true;
    if (unwanted()) return false;
    unseen_ = true;
    return doubled(c, c) && improve(true);
  }

  // The same by way of dearer inputs: cheap ones that reach some motion only weakly have a P of many sizes, and doubling may lose the
  // small ones. Each time, the feedback that is known is the first guess.
  bool approach(double c) {
    constexpr int times = 3;
    constexpr double cheaper = 256;
    for (int i = 0; i < times; ++i) price(1 / cheaper);
    if (unwanted() || !start(c)) return false;
    for (int i = 0; i < times; ++i) {
      price(cheaper);
      P.scale(1 / cheaper);
      if (!improve(true)) return false;
    }
    return true;
  }
  void price(double cheaper) { T.scale(std::sqrt(cheaper)), turned_.scale(std::sqrt(cheaper)), G_.scale(cheaper); }

  // P by doubling, with `more` added to Q. False if the feedback is not stable.
  bool doubled(double c, double more) {
    kept_.copy(Q), kept_.add_identity(more);
    if (!(discrete_ ? first_step(kept_) : cayley(c, kept_))) return false;
    for (int k = 0; k < 64; ++k) {
      if (!interval_.double_up()) return false;
      const double size = interval_.F.norm();
      if (!(size < 1e100)) return false;
      if (size > 1e-8) continue;
      P.copy(interval_.H);
      return P.norm() < 1e300;
    }
    return false;
  }
  bool first_step(const Matrix& Q) {
    interval_.F.copy(A), interval_.G.copy(G_), interval_.H.copy(Q);
    return true;
  }
  bool cayley(double c, const Matrix& Q) {
    for (int again = 0; again < 4; ++again, c *= 1.37) {  // it does not exist if c is a rate that Q or G does not see
      Pencil::set_hamiltonian(pencil_.L, A, G_, Q, 1);
      pencil_.N.copy(pencil_.L), pencil_.N.scale(-1);
      pencil_.N.add_identity(c), pencil_.L.add_identity(c);
      if (pencil_.solve(interval_)) return true;
    }
    return false;
  }

  // Newton's method, until the residual is made of rounding errors and no longer falls; of all P, the one with the least. `far`: P belongs
  // to another Q or G, and the first steps are long.
  bool improve(bool far) {
    double least = 0, before = 0, step = 0;
    bool last = false;
    for (int k = 0; k < (far ? 60 : 12); ++k) {
      if (!close() || unwanted()) return false;
      set_residual();
      const double left = lyapunov_.X.norm();
      if (!(left < 1e300)) return false;
      if (k == 0 || (far && k == 1) || left < least) least = left, kept_.copy(P);
      if (last || left == 0) break;
      const double rounding = 1e-12 * (Q.norm() + P.norm() * (discrete_ ? 1 + A.norm() * closed_.norm() : 2 * A.norm()));
      if (!(discrete_ ? lyapunov_.solve_discrete(closed_) : lyapunov_.solve_continuous(closed_))) return false;
      P.add(1, lyapunov_.X);
      const double now = lyapunov_.X.norm();
      last = now <= 1e-14 * P.norm() || (k > 1 && left <= rounding && (left > 0.5 * before || now > 0.5 * step));
      before = left, step = now;
    }
    P.copy(kept_);
    return true;
  }

  // The feedback of P and the closed loop.
  bool close() {
    multiply(T, P, TP_);
    closed_.copy(A);
    if (discrete_) {  // feedback = (1 + T P T^T)^-1 T P A
      multiply(TP_, turned_, factors_.matrix());
      factors_.matrix().add_identity(1);
      if (!factors_.factor()) return false;
      multiply(TP_, A, feedback);
      factors_.solve(feedback);
    } else {
      feedback.copy(TP_);
    }
    multiply<Into::subtract>(turned_, feedback, closed_);
    return true;
  }
  void set_residual() {
    const Matrix& residual = lyapunov_.X;
    residual.copy(Q);
    if (discrete_) {
      residual.add(-1, P);
      multiply(P, closed_, product_);
      multiply_transposed<Into::add>(A, product_, residual);
      residual.symmetrize();
    } else {
      multiply_transposed<Into::subtract>(TP_, TP_, residual);
      multiply(P, A, product_);
      for (int i = 0; i < residual.rows; ++i)
        for (int j = 0; j < residual.rows; ++j) residual(i, j) += product_(i, j) + product_(j, i);
    }
  }

  bool discrete_, unseen_ = false;
  Interval interval_;
  Pencil pencil_;
  Factors hamiltonian_, factors_;
  Lyapunov lyapunov_;
  Matrix G_, closed_, product_, kept_, turned_, TP_;  // turned_: T^T
  double* d_;
};

JOUNCE_END
