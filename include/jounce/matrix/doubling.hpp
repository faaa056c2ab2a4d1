// An optimal control problem over an interval, as a map between its ends, and intervals put together.
//
// With x the state and p = P x the gradient of the cost-to-go, (x, p)' = M (x, p), M = [A -G; -Q -A^T], G = B R^-1 B^T, is linear. Over
// an interval of any length, solved for what is unknown at each end,
//
//   x(1) = F x(0) - G p(1),    p(0) = H x(0) + F^T p(1),
//
// where G and H are positive semidefinite. One step in discrete time has this form to begin with: F = A, H = Q. Two equal intervals
// one after the other, with W = (1 + G H)^-1,
//
//   F <- F W F,    G <- G + F W G F^T,    H <- H + F^T H W F,
//
// so k doublings reach 2^k intervals, and H the solution P of the stationary Riccati equation. Nothing is subtracted that could
// cancel. (B. D. O. Anderson, Second-order convergent algorithms for the steady-state Riccati equation, Int. J. Control 28, 1978;
// E. K.-W. Chu, H.-Y. Fan and W.-W. Lin, A structure-preserving doubling algorithm for continuous-time algebraic Riccati equations,
// Linear Algebra Appl. 396, 2005.)
#pragma once

#include "jounce/matrix/factors.hpp"

JOUNCE_BEGIN

class Interval {
 public:
  template <class Arena>
  Interval(int n, Arena& arena)
      : F(Matrix::take(n, n, arena)),
        G(Matrix::take(n, n, arena)),
        H(Matrix::take(n, n, arena)),
        factors_(n, arena),
        WF_(Matrix::take(n, n, arena)),
        WG_(Matrix::take(n, n, arena)),
        turned_(Matrix::take(n, n, arena)),
        product_(Matrix::take(n, n, arena)) {}

  Matrix F, G, H;

  // Appends the same interval once more. False if W does not exist.
  bool double_up() {
    multiply(G, H, factors_.matrix());
    factors_.matrix().add_identity(1);
    if (!factors_.factor()) return false;
    WF_.copy(F), WG_.copy(G);
    factors_.solve(WF_), factors_.solve(WG_);
    multiply(H, WF_, product_);
    multiply_transposed(F, product_, turned_);
    turned_.symmetrize();
    H.add(1, turned_);
    multiply(F, WG_, product_);
    turned_.transpose(F);
    multiply<Into::add>(product_, turned_, G);
    G.symmetrize();
    multiply(F, WF_, product_);
    const Matrix old = F;
    F = product_, product_ = old;
    return true;
  }

  // P(0) = H + F^T P (1 + G P)^-1 F of P(1); P is replaced.
  bool back(const Matrix& P) {
    multiply(G, P, factors_.matrix());
    factors_.matrix().add_identity(1);
    if (!factors_.factor()) return false;
    WF_.copy(F);
    factors_.solve(WF_);
    multiply(P, WF_, product_);
    multiply_transposed(F, product_, WG_);
    P.copy(H), P.add(1, WG_);
    P.symmetrize();
    return true;
  }

 private:
  Factors factors_;
  Matrix WF_, WG_, turned_, product_;
};

// The interval with (N) z(1) = (L) z(0), z = (x, p): N and L of 2 n rows.
class Pencil {
 public:
  template <class Arena>
  Pencil(int n, Arena& arena) : N(Matrix::take(2 * n, 2 * n, arena)), L(Matrix::take(2 * n, 2 * n, arena)), factors_(2 * n, arena), n_(n) {}

  Matrix N, L;

  // M of the equations above, times `scale`; G and Q symmetric.
  static void set_hamiltonian(const Matrix& M, const Matrix& A, const Matrix& G, const Matrix& Q, double scale) {
    const int n = A.rows;
    M.set_zero();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        M(i, j) = scale * A(i, j), M(i, n + j) = -scale * G(i, j);
        M(n + i, j) = -scale * Q(i, j), M(n + i, n + j) = -scale * A(j, i);
      }
  }

  // False if the ends do not determine each other. L is overwritten.
  bool solve(Interval& out) {
    const Matrix& S = factors_.matrix();  // what multiplies (x(1), p(0)); then L multiplies (x(0), p(1))
    S.copy(N);
    for (int i = 0; i < 2 * n_; ++i)
      for (int j = n_; j < 2 * n_; ++j) S(i, j) = -L(i, j), L(i, j) = -N(i, j);
    if (!factors_.factor()) return false;
    factors_.solve(L);
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) {
        out.F(i, j) = 0.5 * (L(i, j) + L(n_ + j, n_ + i));
        out.G(i, j) = -0.5 * (L(i, n_ + j) + L(j, n_ + i));
        out.H(i, j) = 0.5 * (L(n_ + i, j) + L(n_ + j, i));
      }
    for (int i = 0; i < n_; ++i)
      for (int j = n_; j < out.F.stride; ++j) out.F(i, j) = out.G(i, j) = out.H(i, j) = 0;
    return true;
  }

 private:
  Factors factors_;
  int n_;
};

JOUNCE_END
