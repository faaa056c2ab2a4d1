// Dense matrices: products and factors against sums written out, the exponential, regulators.
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "jounce/matrix/regulator.hpp"

using namespace jounce;

// Room for what a function makes in it, twice: counted, then taken.
template <class Make>
auto made(const Make& make) {
  ArenaSize size;
  make(size);
  static std::vector<void*> blocks;
  blocks.push_back(std::aligned_alloc(64, (size.bytes() + 64) / 64 * 64));
  Arena arena(blocks.back());
  return make(arena);
}

// The same numbers every time, between -1 and 1.
double number(unsigned& seed) {
  seed = seed * 1664525u + 1013904223u;
  return double(seed >> 8) / double(1 << 23) - 1;
}
std::vector<double> numbers(int count, unsigned seed) {
  std::vector<double> x(count);
  for (double& each : x) each = number(seed);
  return x;
}

Matrix matrix(int rows, int columns) {
  return made([=](auto& arena) { return Matrix::take(rows, columns, arena); });
}
Matrix matrix(int rows, int columns, const std::vector<double>& x) {
  const Matrix A = matrix(rows, columns);
  A.load(x.data(), columns);
  return A;
}

void test_products(int n, int inner, int m) {
  const Matrix A = matrix(n, inner, numbers(n * inner, 1)), B = matrix(inner, m, numbers(inner * m, 2)), At = matrix(inner, n),
               C = matrix(n, m), D = matrix(n, m);
  At.transpose(A);
  multiply(A, B, C);
  multiply_transposed(At, B, D);
  multiply<Into::add>(A, B, D);
  multiply<Into::subtract>(A, B, D);
  double error = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int k = 0; k < inner; ++k) sum += A(i, k) * B(k, j);
      error = std::fmax(error, std::fabs(C(i, j) - sum) + std::fabs(D(i, j) - sum));
    }
  near("products", error, 0.0, 1e-13);
}

void test_factors(int n, int m) {
  auto factors = made([=](auto& arena) { return Factors(n, arena); });
  const Matrix A = matrix(n, n, numbers(n * n, 3)), X = matrix(n, m, numbers(n * m, 4)), B = matrix(n, m), left = matrix(n, m);
  A(0, 0) = 0;  // another row has to be the first
  if (n == 1) A(0, 0) = 2;
  B.copy(X);
  factors.matrix().copy(A);
  that("it has factors", factors.factor());
  factors.solve(X);
  multiply(A, X, left);
  left.add(-1, B);
  near("what is left of A X = B", left.norm() / (1 + X.norm()), 0.0, 1e-13);
  factors.matrix().set_zero();
  that("zero has no factors", !factors.factor());
}

// exp of [0 1; -k 0], times the time, in closed form, from tiny to stiff; with the force as input.
void test_exponential(double k) {
  auto run = made([](auto& arena) { return Discretization(2, 1, arena); });
  const double A[4] = {0, 1, -k, 0}, B[2] = {0, 1}, h = 0.7, w = std::sqrt(k);
  double E[4], F[2];
  that("the exponential is a number", run.run(A, B, h, E, F));
  const double error = 1e-14 * (1 + w * h);
  near("cos", E[0], std::cos(w * h), error), near("sin / w", w * E[1], std::sin(w * h), error);
  near("cos again", E[3], std::cos(w * h), error), near("-w sin", E[2] / w, -std::sin(w * h), error);
  near("the held force", k * F[0], 1 - std::cos(w * h), error), near("its rate", w * F[1], std::sin(w * h), error);
}

void test_overflow() {
  auto run = made([](auto& arena) { return Discretization(1, 1, arena); });
  double A = 1e6, B = 1, E, F;
  that("overflow is no error, but not finite", !run.run(&A, &B, 1, &E, &F) || !(E < 1e308));
  A = std::nan("");
  that("NaN has no exponential", !run.run(&A, &B, 1, &E, &F));
  A = -1e6;
  that("what fades does", run.run(&A, &B, 1, &E, &F) && E == 0);
  near("and F is 1 / rate", F * 1e6, 1.0);
}

// One state: P^2 g - 2 a P - q = 0.
void test_scalar(double a, double q) {
  auto run = made([](auto& arena) { return Regulator(1, 1, false, arena); });
  const double B = 2, R = 0.5, g = B * B / R;
  double K, P;
  bool unseen;
  that("it has a regulator", run.run(&a, &B, &q, &R, &K, &P, &unseen));
  that("Q sees all, or nothing", unseen == (q == 0 && a > 0));
  const double root = std::sqrt(a * a + g * q), exact = a > 0 ? (a + root) / g : q / (root - a);  // without cancellation
  near("P", P, exact, 1e-14), near("K", K, B * exact / R, 1e-14);
}

// x <- a x + u: P = q + a^2 P / (1 + P / r).
void test_scalar_steps(double a, double q) {
  auto run = made([](auto& arena) { return Regulator(1, 1, true, arena); });
  const double B = 1, R = 3, b = R * (1 - a * a) - q;
  double K, P;
  bool unseen;
  that("it has a regulator in discrete time", run.run(&a, &B, &q, &R, &K, &P, &unseen));
  const double exact = (-b + std::sqrt(b * b + 4 * q * R)) / 2;
  near("P in discrete time", P, exact, 1e-13), near("K in discrete time", K, a * exact / (R + exact), 1e-13);
}

void test_none() {
  auto run = made([](auto& arena) { return Regulator(2, 1, false, arena); });
  const double A[4] = {1, 0, 0, -1}, B[2] = {0, 1}, Q[4] = {1, 0, 0, 1}, R = 1, minus = -1, still[4] = {}, none[4] = {};
  double K[2], P[4];
  bool unseen;
  that("what no input reaches has no regulator", !run.run(A, B, Q, &R, K, P, &unseen));
  const double reach[2] = {1, 1};
  that("nor has what stands still, or it says so", !run.run(still, reach, none, &R, K, P, &unseen) || unseen);
  that("nor one for a negative R", !run.run(A, reach, Q, &minus, K, P, &unseen));
}

// Along a motion that does not change, P(t) of one state in closed form: with a = 0, g = q = 1, P = tanh(T - t) from P(T) = 0.
void test_backward() {
  const int count = 4;
  const double time[count] = {0, 0.1, 0.7, 30}, A[2] = {0, 0}, B[count] = {1, 1, 1, 1}, one = 1, zero = 0;
  auto interval = made([](auto& arena) { return RiccatiInterval(1, 1, arena); });
  auto back = made([](auto& arena) { return BackwardRiccati(1, 1, arena); });
  double intervals[3 * (count - 1)], K[count], P[count];
  that("the weights are fine", interval.start(&one, &one));
  for (int k = 0; k + 1 < count; ++k) that("each interval is", interval.run(A, B, time[k + 1] - time[k], intervals + 3 * k));
  that("and the way back", back.run(count, intervals, B, &one, &zero, K, P));
  for (int k = 0; k < count; ++k) near("P(t)", P[k], std::tanh(time[count - 1] - time[k])), near("K(t)", K[k], P[k]);
}

int main() {
  const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 31};
  for (int n : sizes) test_products(n, n, n), test_factors(n, n), test_factors(n, 3);
  test_products(5, 3, 11), test_products(12, 20, 1);
  for (double k : {1e-8, 0.3, 5.0, 100.0, 1e6}) test_exponential(k);
  test_overflow();
  for (double a : {-1e6, -3.0, -1e-6, 0.0, 1e-6, 2.0, 1e3}) test_scalar(a, 1.0);
  test_scalar(1.5, 0.0);  // unstable, and not seen by the cost
  test_scalar(-1.5, 0.0);
  for (double a : {0.0, 0.5, 1.0, -1.0, 3.0}) test_scalar_steps(a, 0.7);
  test_scalar_steps(2.0, 0.0);
  test_none();
  test_backward();
  return failures;
}
