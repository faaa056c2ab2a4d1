// The spring of a spherical or free joint, as a series: torque stiffness * log R and force stiffness * R^T x, in body axes.
// Both derive from a potential, stiffness (|log R|^2 + |x|^2) / 2.
//
// With the unit quaternion (u, c), c >= 0, the rotation vector is log R = F(c) u, F(c) = 2 acos(c) / sqrt(1 - c^2), which
// satisfies (1 - c^2) F' = c F - 2 and is analytic at c = 1. Its Taylor coefficients at c0 come from that equation, directly
// where c0 is away from 1, and shifted from those at 1 (where F_0 = 2, F_k = -k / (2k + 1) F_{k-1}) otherwise.
#pragma once

#include "jounce/ring/ring.hpp"
#include "jounce/spatial/lie.hpp"
#include "jounce/spatial/rotation_series.hpp"

JOUNCE_BEGIN

struct BallSpring {
  static constexpr int longest = max_order + 1;
  double quaternion[4], position[3];
  double v[longest][3], w[longest][3];                           // coefficients of the joint's velocity
  double rotation_vector[3][longest], displacement[3][longest];  // the results: log R and R^T x
  double tangent[3][3][longest];                                 // how log R changes with R, after run_tangent

  // n coefficients of the results.
  JOUNCE_NOINLINE void run(int n, bool has_position) {
    double u[4][longest], factor[longest];
    turn(n, u);
    composed(u[3], n, 0, factor);
    for (int i = 0; i < 3; ++i) multiply(factor, u[i], n, rotation_vector[i]);
    if (has_position) move(n);
  }

  // R exp([d]) changes u by (c d + u x d) / 2 and c by -u . d / 2, hence log R by F (c d + u x d) / 2 - F' u (u . d) / 2.
  JOUNCE_NOINLINE void run_tangent(int n) {
    double u[4][longest], factor[longest], slope[longest], part[longest], product[longest];
    turn(n, u);
    composed(u[3], n, 0, factor);
    composed(u[3], n, 1, slope);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        multiply(u[a], u[b], n, part);
        multiply(slope, part, n, product);
        for (int k = 0; k < n; ++k) tangent[a][b][k] = -product[k] / 2;
        multiply(factor, u[a == b ? 3 : 3 - a - b], n, product);
        const double sign = a == b || (b - a + 3) % 3 == 2 ? 0.5 : -0.5;  // [u]_ab
        for (int k = 0; k < n; ++k) tangent[a][b][k] += sign * product[k];
      }
  }

 private:
  // The quaternion, its scalar part nonnegative at the start: u' = u (w, 0) / 2.
  void turn(int n, double (&u)[4][longest]) const {
    const double sign = quaternion[3] < 0 ? -1 : 1;
    for (int i = 0; i < 4; ++i) u[i][0] = sign * quaternion[i];
    for (int k = 0; k + 1 < n; ++k) {
      double x = 0, y = 0, z = 0, c = 0;
      for (int j = 0; j <= k; ++j) {
        const double* a = w[k - j];
        x += u[3][j] * a[0] + u[1][j] * a[2] - u[2][j] * a[1];
        y += u[3][j] * a[1] + u[2][j] * a[0] - u[0][j] * a[2];
        z += u[3][j] * a[2] + u[0][j] * a[1] - u[1][j] * a[0];
        c -= u[0][j] * a[0] + u[1][j] * a[1] + u[2][j] * a[2];
      }
      const double scale = 0.5 / (k + 1);
      u[0][k + 1] = scale * x, u[1][k + 1] = scale * y, u[2][k + 1] = scale * z, u[3][k + 1] = scale * c;
    }
  }

  // F(c), or its derivative F'(c), for the series c.
  static void composed(const double* c, int n, int derivative, double* value) {
    double F[longest + 1];
    taylor(c[0], n + derivative, F);
    for (int m = 0; derivative && m < n; ++m) F[m] = (m + 1) * F[m + 1];
    for (int k = 0; k < n; ++k) value[k] = 0;
    value[0] = F[n - 1];
    for (int m = n - 2; m >= 0; --m) {  // Horner with h = c minus its first coefficient: value = value h + F_m
      for (int k = n - 1; k >= 0; --k) {
        double sum = 0;
        for (int j = 1; j <= k; ++j) sum += c[j] * value[k - j];
        value[k] = sum;
      }
      value[0] += F[m];
    }
  }

  static void multiply(const double* a, const double* b, int n, double* y) {
    for (int k = 0; k < n; ++k) {
      double sum = 0;
      for (int j = 0; j <= k; ++j) sum += a[j] * b[k - j];
      y[k] = sum;
    }
  }

  // y = R^T x: y' = v + y x w
  void move(int n) {
    double R[9];
    rotation_of(quaternion, R);
    Vec3<double> y[longest];
    y[0] = apply_transpose(R, Vec3<double>{position[0], position[1], position[2]});
    const auto turn = [&](int j) { return Vec3<double>{w[j][0], w[j][1], w[j][2]}; };
    for (int k = 0; k + 1 < n; ++k)
      y[k + 1] = (1.0 / (k + 1)) * Vec3<double>{v[k][0], v[k][1], v[k][2]} + next_of_fixed_vector(k, [&](int j) { return y[j]; }, turn);
    for (int k = 0; k < n; ++k) displacement[0][k] = y[k].x, displacement[1][k] = y[k].y, displacement[2][k] = y[k].z;
  }

  // F(c0 + h) = sum_m F_m h^m
  static void taylor(double c0, int n, double* F) {
    if (c0 < 0.5) {
      const double rest = 1 - c0 * c0;
      F[0] = 2 * std::acos(c0) / std::sqrt(rest);
      for (int m = 0; m + 1 < n; ++m) F[m + 1] = ((2 * m + 1) * c0 * F[m] + (m > 0 ? m * F[m - 1] : -2.0)) / ((m + 1) * rest);
    } else {
      for (int m = 0; m < n; ++m) F[m] = 0;
      double f = 2;
      for (int i = 0; i < 100; f *= -(i + 1) / (2.0 * i + 3), ++i) {
        double term = f;  // C(i, m) f_i (c0 - 1)^(i - m), from m = i down
        for (int m = i; m >= 0; term *= (c0 - 1) * m / (i - m + 1.0), --m)
          if (m < n) F[m] += term;
      }
    }
  }
};

JOUNCE_END
