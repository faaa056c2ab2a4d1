// Rotations and twists: exponentials, logarithms, and triples in registers.
#include "check.hpp"
#include "jounce/spatial/lie.hpp"
#include "jounce/spatial/six.hpp"

using namespace jounce;
using V = Vec3<double>;

void exponentials() {
  for (double angle : {0.0, 1e-9, 0.1, 1.0, 3.0, 3.14159}) {
    const V w{0.6 * angle, 0.0, 0.8 * angle}, v{1, -2, 0.5};
    double u[4], R[9];
    exponential(w, u);
    rotation_of(u, R);
    near("trace", R[0] + R[4] + R[8], 1 + 2 * std::cos(angle), 1e-13);
    const V back = logarithm(u);
    near("log x", back.x, w.x, 1e-12), near("log y", back.y, w.y, 1e-12), near("log z", back.z, w.z, 1e-12);
    const V turned = apply(R, V{0.6, 0, 0.8});
    near("the axis stays", turned.x, 0.6), near("the axis stays", turned.z, 0.8);
    const V there = exponential_translation(v, w), again = logarithm_translation(there, w);
    near("translation x", again.x, v.x, 1e-11), near("translation y", again.y, v.y, 1e-11), near("translation z", again.z, v.z, 1e-11);
  }
}

void quaternions() {
  double a[4], b[4], product[4], back[4];
  exponential(V{0.3, -0.2, 0.5}, a);
  exponential(V{-1.0, 0.4, 0.2}, b);
  multiply(a, b, product);
  divide(a, product, back);
  for (int i = 0; i < 4; ++i) near("a^-1 a b", back[i], b[i]);
}

// A rotation by doubles is one to sixteen digits; the one next to it, to thirty.
void rotations() {
  const double u[4] = {0.2, -0.4, 0.1, std::sqrt(0.79)};
  DoubleDouble R[9];
  double given[9], unchanged[9];
  rotation_of(u, given);
  for (int i = 0; i < 9; ++i) R[i] = unchanged[i] = given[i];
  straighten(R), straighten(unchanged);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const DoubleDouble product = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] + R[3 * i + 2] * R[3 * j + 2];
      that("its rows are orthonormal", std::fabs((product - (i == j ? 1.0 : 0.0)).high) < 1e-30);
      near("it is next to it", R[3 * i + j].high, given[3 * i + j], 1e-15);
      that("doubles stay as they are", unchanged[3 * i + j] == given[3 * i + j]);
    }
}

// Jacobi's identity, and the power of a wrench on a twist in two ways.
void brackets() {
  const auto six = [](double a, double b, double c, double d, double e, double f) {
    return Six<double>::of(Triple<double>::of(a, b, c), Triple<double>::of(d, e, f));
  };
  const auto x = six(1, 2, 3, 4, 5, 6), y = six(-1, 0.5, 2, 0.3, -2, 1), z = six(0.2, 3, -1, 2, 1, 0.7);
  const Six<double> sum = motion_cross(x, motion_cross(y, z)) + motion_cross(y, motion_cross(z, x)) + motion_cross(z, motion_cross(x, y));
  for (int i = 0; i < 6; ++i) near("Jacobi", sum[i], 0.0, 1e-12);
  near("x . (y x* z)", dot(x, wrench_cross(y, z)), -dot(motion_cross(y, x), z), 1e-12);
}

int main() {
  exponentials();
  quaternions();
  rotations();
  brackets();
  return failures;
}
