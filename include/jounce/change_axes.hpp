// The twist of a free joint, and the wrench dual to it, between body, world and mixed axes, at every order.
//
// With H = (R, x) the pose of the body in its parent, the twist is
//   body   H^-1 H' = (v, w),     mixed   (x', R w) = (R v, R w),     world   H' H^-1 = (x' - R w x x, R w).
// Given the series in one of them, R and x are series too:  R' = R [w]  or  R' = [R w] R,  and x' from the above. The wrench
// (f, n) becomes (R f, R n) in mixed axes and (R f, R n + x x R f) in the world's.
#pragma once

#include "jounce/lie.hpp"
#include "jounce/ring.hpp"
#include "jounce/tree.hpp"

JOUNCE_BEGIN

class FreeMotion {
 public:
  static constexpr int longest = max_order + 3;  // one more than a stack has rows
  using Vector = double[longest][3];

  // From the configuration of the joint and `rows` derivatives of its twist in the given axes, `step` doubles apart.
  FreeMotion(const FreeJoint& joint, const double* q, const double* twist, int rows, int step, Axes axes) : rows_(rows) {
    double u[4] = {q[3], q[4], q[5], q[6]}, R[9];
    normalize(u);
    rotation_of(u, R);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) R_[0][i][j] = joint.R[3 * i] * R[j] + joint.R[3 * i + 1] * R[3 + j] + joint.R[3 * i + 2] * R[6 + j];
    const Vec3<double> x = apply(joint.R, Vec3<double>{q[0], q[1], q[2]});
    x_[0][0] = joint.p[0] + x.x, x_[0][1] = joint.p[1] + x.y, x_[0][2] = joint.p[2] + x.z;
    read(twist, step, velocity_);
    for (int k = 0; k < rows; ++k) advance(k, axes);
  }

  // Writes `rows` derivatives of the twist in other axes.
  void twist(Axes from, Axes to, double* out, int step) const {
    Vector linear, angular;
    for (int k = 0; k < rows_; ++k)
      for (int i = 0; i < 3; ++i) {
        linear[k][i] = from == Axes::body ? 0.0 : (k + 1) * x_[k + 1][i];  // x'
        angular[k][i] = velocity_[1][k][i];
      }
    if (from == Axes::body) {
      turn(velocity_[0], linear);
      turn(velocity_[1], angular);
    }
    if (to == Axes::world) subtract_cross(angular, x_, linear);
    if (to == Axes::body) {
      turn_back(linear, linear);
      turn_back(angular, angular);
    }
    write(linear, angular, out, step);
  }

  // The same for a wrench with `rows` derivatives, in place.
  void wrench(Axes from, Axes to, double* value, int rows, int step) {
    rows_ = rows;
    double w[2][longest][3];
    read(value, step, w);
    if (from == Axes::body) {
      turn(w[0], w[0]);
      turn(w[1], w[1]);
    }
    if (from == Axes::world) subtract_cross(x_, w[0], w[1]);
    if (to == Axes::world) subtract_cross(w[0], x_, w[1]);
    if (to == Axes::body) {
      turn_back(w[0], w[0]);
      turn_back(w[1], w[1]);
    }
    write(w[0], w[1], value, step);
  }

 private:
  void read(const double* rows, int step, double (&out)[2][longest][3]) const {
    for (int k = 0; k < rows_; ++k)
      for (int i = 0; i < 6; ++i) out[i / 3][k][i % 3] = factorial.inverse[k] * rows[k * step + i];
  }
  void write(const Vector& first, const Vector& second, double* rows, int step) const {
    for (int k = 0; k < rows_; ++k)
      for (int i = 0; i < 3; ++i) {
        rows[k * step + i] = factorial.value[k] * first[k][i];
        rows[k * step + 3 + i] = factorial.value[k] * second[k][i];
      }
  }

  // Coefficients k + 1 of R and x.
  void advance(int k, Axes axes) {
    double dR[3][3] = {}, dx[3] = {};
    const auto &v = velocity_[0], &w = velocity_[1];
    for (int j = 0; j <= k; ++j) {
      const double *a = w[k - j], (&R)[3][3] = R_[j], *x = x_[j];
      for (int i = 0; i < 3; ++i) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int c = 0; c < 3; ++c)
          dR[i][c] += axes == Axes::body ? R[i][(c + 1) % 3] * a[(c + 2) % 3] - R[i][(c + 2) % 3] * a[(c + 1) % 3]  // R [w]
                                         : a[i1] * R[i2][c] - a[i2] * R[i1][c];                                     // [w] R
        if (axes == Axes::body) dx[i] += R[i][0] * v[k - j][0] + R[i][1] * v[k - j][1] + R[i][2] * v[k - j][2];
        if (axes == Axes::world) dx[i] += a[i1] * x[i2] - a[i2] * x[i1];
      }
    }
    for (int i = 0; i < 3; ++i) {
      x_[k + 1][i] = (dx[i] + (axes == Axes::body ? 0.0 : v[k][i])) / (k + 1);
      for (int c = 0; c < 3; ++c) R_[k + 1][i][c] = dR[i][c] / (k + 1);
    }
  }

  void turn(const Vector& u, Vector& out) const {
    Vector y = {};
    for (int k = 0; k < rows_; ++k)
      for (int j = 0; j <= k; ++j)
        for (int i = 0; i < 3; ++i)
          for (int c = 0; c < 3; ++c) y[k][i] += R_[j][i][c] * u[k - j][c];
    copy(y, out);
  }
  void turn_back(const Vector& u, Vector& out) const {
    Vector y = {};
    for (int k = 0; k < rows_; ++k)
      for (int j = 0; j <= k; ++j)
        for (int i = 0; i < 3; ++i)
          for (int c = 0; c < 3; ++c) y[k][i] += R_[j][c][i] * u[k - j][c];
    copy(y, out);
  }
  // out -= a x b
  void subtract_cross(const Vector& a, const Vector& b, Vector& out) const {
    for (int k = 0; k < rows_; ++k)
      for (int j = 0; j <= k; ++j)
        for (int i = 0; i < 3; ++i) {
          const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
          out[k][i] -= a[j][i1] * b[k - j][i2] - a[j][i2] * b[k - j][i1];
        }
  }
  void copy(const Vector& from, Vector& to) const {
    for (int k = 0; k < rows_; ++k)
      for (int i = 0; i < 3; ++i) to[k][i] = from[k][i];
  }

  int rows_;
  double velocity_[2][longest][3];  // linear, angular, in the axes given
  double R_[longest][3][3], x_[longest][3];
};

JOUNCE_END
