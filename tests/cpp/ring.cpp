// Series, registers, Stumpff's functions and recorded ones, against closed forms.
#include "jounce/ring/ring.hpp"

#include <vector>

#include "check.hpp"
#include "jounce/ring/dual.hpp"
#include "jounce/ring/recorded.hpp"
#include "jounce/ring/trigonometry.hpp"

using namespace jounce;

template <class S>
void products() {
  // exp(t) exp(-t) = 1, and (1 + t)^2
  double up[S::length], down[S::length], one[16] = {1, 1};
  for (int k = 0; k < S::length; ++k) up[k] = factorial.inverse[k], down[k] = (k % 2 ? -1 : 1) * factorial.inverse[k];
  double padded_up[16] = {}, padded_down[16] = {}, out[16] = {};
  for (int k = 0; k < S::length; ++k) padded_up[k] = up[k], padded_down[k] = down[k];
  const S a = S::load(padded_up), b = S::load(padded_down), c = S::load(one);
  (as_factor(a) * b).store(out);
  for (int k = 0; k < S::length; ++k) near("exp(t) exp(-t)", out[k], k == 0, 1e-15);
  (as_factor(c) * c).store(out);
  const double square[3] = {1, 2, 1};
  for (int k = 0; k < S::length; ++k) near("(1 + t)^2", out[k], k < 3 ? square[k] : 0.0);
  (a - b).store(out);
  for (int k = 0; k < S::length; ++k) near("2 sinh t", out[k], k % 2 ? 2 * factorial.inverse[k] : 0.0);
}

void registers() {
  using P = Pack<native_width>;
  double x[native_width], y[native_width];
  for (int i = 0; i < native_width; ++i) x[i] = i + 1;
  (P(2.0) * P::load(x) + P(1.0)).store(y);
  for (int i = 0; i < native_width; ++i) near("2 x + 1", y[i], 2 * (i + 1) + 1);
}

void stumpff() {
  for (double angle : {0.0, 1e-4, 0.3, 2.0, 6.0}) {
    double c[6];
    stumpff_values(angle * angle, 6, c);
    near("c_0", c[0], std::cos(angle), 1e-13);
    near("c_1", c[1], angle > 0 ? std::sin(angle) / angle : 1.0);
    near("c_2", c[2], angle > 1e-3 ? (1 - std::cos(angle)) / (angle * angle) : 0.5, angle > 1e-3 ? 1e-13 : 1e-8);
    near("c_0 and c_2", c[0] + angle * angle * c[2], 1.0, 1e-13);
  }
}

// f(x) = sin(x^2) along x = t: sin(t^2) = t^2 - t^6 / 6 + ...; and a spline of two parabolas.
void recorded() {
  const double knots[] = {-1, 0, 1}, pieces[] = {0, 0, 1, 1, 2, 3};  // (x + 1)^2, then 1 + 2 x + 3 x^2
  const Piecewise table{knots, pieces, 2, 2};
  const std::vector<Instruction> list = {
      {Operation::multiply, 0, 0, 0}, {Operation::sine, 1, 3, 0}, {Operation::cosine, 1, 2, 0}, {Operation::piecewise, 0, 0, 0}};
  const std::int32_t outputs[] = {2, 4};
  const Recording recording{list.data(), outputs, &table, 1, 4, 2};
  constexpr int K = 8;
  double x[5 * K] = {};
  x[1] = 1;  // t
  replay(recording, 0, K, K, x);
  for (int k = 0; k < K; ++k) near("sin t^2", x[2 * K + k], k == 2 ? 1.0 : k == 6 ? -1.0 / 6 : 0.0);
  for (int k = 0; k < K; ++k) near("a spline at a knot", x[4 * K + k], k < 3 ? k + 1.0 : 0.0);
  x[0] = -0.5;
  replay(recording, 0, 3, K, x);
  near("a spline", x[4 * K], 0.25), near("its slope", x[4 * K + 1], 1.0), near("its curvature", x[4 * K + 2], 1.0);
}

int main() {
  products<Series<double, 1>>();
  products<Series<double, 6>>();
  products<Series<double, 12>>();
  products<LaneSeries<6, 8>>();
  registers();
  stumpff();
  recorded();
  near("10!", factorial.value[10], 3628800);
  return failures;
}
