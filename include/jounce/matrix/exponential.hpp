// exp(X) as a quotient of polynomials, and systems x' = A x + B u whose inputs are held, in discrete time.
//
// The diagonal Pade approximant of degree m is exp(X) ~ (V - U)^-1 (V + U), with U = X p(X^2) and V = v(X^2):
//
//   sum over j of b_j X^j = V + U,    b_0 = 1,  b_j = b_(j-1) (m - j + 1) / ((2 m - j + 1) j).
//
// Its error is that of a perturbation of X by less than a rounding error if the roots ||X^k||^(1/k), k = 4 and 6, of norms are below
// theta_m, and if no power of |X| is much larger; otherwise X is halved s times and the result squared s times. Roots of norms of
// powers, not the norm itself, because coordinates and velocities have different units: the norm of A of a stiff spring is k, its fast
// rate sqrt(k). (N. J. Higham, The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26,
// 2005; A. H. Al-Mohy and N. J. Higham, A new scaling and squaring algorithm for the matrix exponential, the same 31, 2009.)
//
// M of doubling.hpp is Hamiltonian, [A -G; -Q -A^T] with symmetric G and Q: the last block of its odd powers is minus the transpose of
// the first, and that of its even powers is the transpose of the first, so of a product three blocks are enough.
//
// With u held, x(h) = exp(h A) x + (integral of exp(s A) ds) B u. The second is (exp(X) - 1) / X at X = h A, times h B; its approximant
// follows from the same polynomials, 2 (V - U)^-1 p. Squaring takes (E, F) to (E E, E F + F).
#pragma once

#include "jounce/matrix/factors.hpp"

JOUNCE_BEGIN

// p and V for a matrix that is halved as often as needed.
class PadeApproximant {
 public:
  enum class Kind { general, hamiltonian };

  template <class Arena>
  PadeApproximant(int n, Arena& arena, Kind kind = Kind::general)
      : kind_(kind),
        X_(Matrix::take(n, n, arena)),
        p_(Matrix::take(n, n, arena)),
        V_(Matrix::take(n, n, arena)),
        term_(Matrix::take(n, n, arena)),
        row_(arena.template take<double>(2 * std::size_t(X_.stride))) {
    for (Matrix& each : power_) each = Matrix::take(n, n, arena);
  }

  const Matrix& X() const { return X_; }  // to be filled; then X / 2^s
  const Matrix& p() const { return p_; }
  const Matrix& V() const { return V_; }
  void U(const Matrix& to) const {
    if (kind_ == Kind::general)
      multiply(X_, p_, to);
    else
      multiply_blocks<Into::set>(X_, p_, to, -1);
  }

  // Returns s, or -1 if X holds what is not a number.
  int run() {
    int halvings = halve_to(std::pow(2.0, 100));  // so that its powers are numbers
    if (halvings < 0) return -1;
    const double size = X_.norm();
    multiply_even(X_, X_, power_[0]);
    const double second = power_[0].norm();
    if (const double root = std::sqrt(second); root <= theta(3) && excess(3, size) == 0) return sums<3>(), halvings;
    multiply_even(power_[0], power_[0], power_[1]);
    const double fourth = power_[1].norm();
    // ||X^6|| is at most ||X^4|| ||X^2||
    if (const double root = larger(std::pow(fourth, 0.25), std::pow(fourth * second, 1.0 / 6)); root <= theta(5) && excess(5, size) == 0)
      return sums<5>(), halvings;
    multiply_even(power_[0], power_[1], power_[2]);
    const double root = larger(std::pow(fourth, 0.25), std::pow(power_[2].norm(), 1.0 / 6));
    if (root <= theta(7) && excess(7, size) == 0) return sums<7>(), halvings;
    if (root <= theta(9) && excess(9, size) == 0) {
      multiply_even(power_[1], power_[1], power_[3]);
      return sums<9>(), halvings;
    }
    int more = 0;
    for (double left = root; left > theta(13); left /= 2) ++more;
    rescale(more);
    const int rest = excess(13, size * std::pow(0.5, more));
    rescale(rest);
    sums_of_thirteen();
    return halvings + more + rest;
  }

 private:
  static double larger(double a, double b) { return a > b ? a : b; }
  static constexpr double theta(int m) {
    return m == 3   ? 1.495585217958292e-2
           : m == 5 ? 2.539398330063230e-1
           : m == 7 ? 9.504178996162932e-1
           : m == 9 ? 2.097847961257068
                    : 4.25;
  }
  struct Coefficients {
    double b[14];
    explicit Coefficients(int m) {
      b[0] = 1;
      for (int j = 1; j <= m; ++j) b[j] = b[j - 1] * (m - j + 1) / ((2.0 * m - j + 1) * j);
    }
  };

  // A product that is an even polynomial of X.
  template <Into into = Into::set>
  void multiply_even(const Matrix& A, const Matrix& B, const Matrix& C) const {
    if (kind_ == Kind::general)
      multiply<into>(A, B, C);
    else
      multiply_blocks<into>(A, B, C, 1);
  }
  // The upper blocks of a product, the lower left one, and `sign` times the transpose of the first.
  template <Into into>
  static void multiply_blocks(const Matrix& A, const Matrix& B, const Matrix& C, double sign) {
    const int n = A.rows / 2;
    multiply_numbers<into>(n, 2 * n, C.stride, A.first, A.stride, 1, B.first, B.stride, C.first, C.stride);
    multiply_numbers<into>(n, 2 * n, round_up(n, native_width), A.row(n), A.stride, 1, B.first, B.stride, C.row(n), C.stride);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) C(n + i, n + j) = sign * C(j, i);
      for (int j = 2 * n; j < C.stride; ++j) C(n + i, j) = 0;
    }
  }

  int halve_to(double most) {
    const double size = X_.norm();
    if (size - size != 0) return -1;
    int count = 0;
    for (double left = size; left > most; left /= 2) ++count;
    if (count > 0) X_.scale(std::pow(0.5, count));
    return count;
  }
  void rescale(int halvings) {
    if (halvings == 0) return;
    const double factor = std::pow(0.5, halvings);
    X_.scale(factor);
    double square = factor * factor, all = square;
    for (int i = 0; i < 3; ++i, all *= square) power_[i].scale(all);
  }

  // Halvings that the powers of |X|, which set the rounding errors, ask for at degree m; `size` is the norm of X.
  int excess(int m, double size) {
    if (size <= theta(m)) return 0;
    using Register = Pack<native_width>;
    const int n = X_.rows, last = 2 * m + 1;
    double *x = row_, *y = row_ + X_.stride, norm[28] = {};            // logarithms of the norms of |X|^k
    double room = std::log(size) - 53 * std::log(2.0);                 // for the last of them
    for (int i = 1; i <= m; ++i) room += std::log(double(m + i) / i);  // binomial coefficient of 2 m and m
    for (int i = 2; i <= last; ++i) room += std::log(double(i));
    if (last * std::log(size) <= room) return 0;
    for (std::ptrdiff_t i = 0; i < X_.size(); i += native_width) magnitude(Register::load(X_.first + i)).store(term_.first + i);
    for (int i = 0; i < n; ++i) x[i] = 1;
    for (int k = 1; k <= last; ++k) {  // 1 |X|^k, whose largest number is the norm of |X|^k
      multiply_numbers<Into::set>(1, n, X_.stride, x, 0, 1, term_.first, X_.stride, y, 0);
      double largest = 0;
      for (int i = 0; i < n; ++i) largest = larger(largest, y[i]);
      if (!(largest > 0)) return 0;
      norm[k] = norm[k - 1] + std::log(largest);
      if (last / k * norm[k] + norm[last % k] <= room) return 0;  // norms of products are at most the products of norms
      for (int i = 0; i < n; ++i) x[i] = y[i] / largest;
    }
    int count = 0;
    for (double left = (norm[last] - room) / std::log(2.0); left > 0; left -= 2 * m) ++count;
    return count;
  }

  // to = sum of b_(2 i) X^(2 i) from i = first on, where power_[i - 1] is X^(2 i).
  template <int count>
  void sum(const Matrix& to, const double* b, int first = 1) const {
    double factor[count];
    const Matrix* x[count];
    for (int i = 0; i < count; ++i) factor[i] = b[2 * (first + i)], x[i] = &power_[i];
    to.set_sum(factor, x);
    if (first == 1) to.add_identity(b[0]);
  }
  template <int m>
  void sums() {
    const Coefficients c(m);
    sum<m / 2>(p_, c.b + 1), sum<m / 2>(V_, c.b);
  }
  void sums_of_thirteen() {
    const Coefficients c(13);
    const Matrix* both[2] = {&V_, &p_};
    for (int odd = 0; odd < 2; ++odd) {  // X^6 times the upper half, plus the lower one
      sum<3>(term_, c.b + odd, 4);
      sum<3>(*both[odd], c.b + odd);
      multiply_even<Into::add>(power_[2], term_, *both[odd]);
    }
  }

  Kind kind_;
  Matrix X_, p_, V_, term_, power_[4];  // X^2, X^4, X^6, X^8
  double* row_;
};

// From x' = A x + B u to x_(k+1) = E x_k + F u_k.
class Discretization {
 public:
  template <class Arena>
  Discretization(int n, int inputs, Arena& arena)
      : pade_(n, arena),
        factors_(n, arena),
        E_(Matrix::take(n, n, arena)),
        next_(Matrix::take(n, n, arena)),
        F_(Matrix::take(n, inputs, arena)),
        B_(Matrix::take(n, inputs, arena)) {}

  // A (n, n), B (n, inputs), E and F of the same shapes. False if an answer is not a number.
  bool run(const double* A, const double* B, double step, double* E, double* F) {
    const int n = E_.rows, m = F_.columns;
    pade_.X().load(A, n, step);
    const int halvings = pade_.run();
    if (halvings < 0) return false;
    B_.load(B, m, 2 * step * std::pow(0.5, halvings));
    pade_.U(E_);
    factors_.matrix().copy(pade_.V()), factors_.matrix().add(-1, E_);
    E_.add(1, pade_.V());
    multiply(pade_.p(), B_, F_);
    if (!factors_.factor()) return false;
    factors_.solve(E_), factors_.solve(F_);
    for (int i = 0; i < halvings; ++i) {
      B_.copy(F_);
      multiply<Into::add>(E_, B_, F_);
      next_.copy(E_);
      multiply(next_, next_, E_);
    }
    E_.store(E, n), F_.store(F, m);
    return true;
  }

 private:
  PadeApproximant pade_;
  Factors factors_;
  Matrix E_, next_, F_, B_;
};

JOUNCE_END
