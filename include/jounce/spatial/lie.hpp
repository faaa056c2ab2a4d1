// SO(3) and SE(3) at order zero: quaternions x y z w, exponentials and logarithms, accurate from zero to pi.
#pragma once

#include "jounce/ring/double_double.hpp"
#include "jounce/spatial/vec3.hpp"

JOUNCE_BEGIN

// Row-major rotation matrix of a unit quaternion.
template <class T>
JOUNCE_INLINE void rotation_of(const T* u, T R[9]) {
  const T two(2.0), one(1.0);
  const T x = u[0], y = u[1], z = u[2], w = u[3];
  R[0] = one - two * (y * y + z * z), R[1] = two * (x * y - w * z), R[2] = two * (x * z + w * y);
  R[3] = two * (x * y + w * z), R[4] = one - two * (x * x + z * z), R[5] = two * (y * z - w * x);
  R[6] = two * (x * z - w * y), R[7] = two * (y * z + w * x), R[8] = one - two * (x * x + y * y);
}

// The coefficients of the exponential and its tangent, as functions of the square of the angle.
struct ExponentialCoefficients {
  double a;  // sin t / t
  double b;  // (1 - cos t) / t^2
  double c;  // (t - sin t) / t^3
  double d;  // (b - a / 2) / (b t^2)

  explicit ExponentialCoefficients(double square) {
    const double t = std::sqrt(square);
    a = t > 0 ? std::sin(t) / t : 1.0;
    const double half = t > 0 ? std::sin(t / 2) / (t / 2) : 1.0;
    b = half * half / 2;
    if (square < 1) {  // c = sum (-s)^j / (2j+3)!,  b d = sum (j+1) (-s)^j / (2j+4)!
      double power = 1.0 / 6, bd = 0;
      c = 0;
      for (int j = 0; j < 10; ++j) {
        c += power;
        bd += (j + 1) * power / (2 * j + 4);
        power *= -square / ((2 * j + 4) * (2 * j + 5));
      }
      d = bd / b;
    } else {
      c = (1 - a) / square;
      d = (b - a / 2) / (b * square);
    }
  }
};

// A rotation matrix given in doubles is one to sixteen digits. Where T has more, this is the rotation next to it, by a step of Newton's
// method: R (3 - R^T R) / 2.
template <class T>
JOUNCE_INLINE void straighten(T*) {}
inline void straighten(DoubleDouble* R) {
  DoubleDouble made[9];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      made[3 * i + j] = 1.5 * R[3 * i + j];
      for (int k = 0; k < 3; ++k) made[3 * i + j] -= 0.5 * R[3 * i + k] * (R[k] * R[j] + R[3 + k] * R[3 + j] + R[6 + k] * R[6 + j]);
    }
  for (int i = 0; i < 9; ++i) R[i] = made[i];
}

// exp(w) as a quaternion
inline void exponential(const Vec3<double>& w, double u[4]) {
  const double t = std::sqrt(dot(w, w)), s = t > 0 ? std::sin(t / 2) / t : 0.5;
  u[0] = s * w.x, u[1] = s * w.y, u[2] = s * w.z, u[3] = std::cos(t / 2);
}

// The rotation vector of a unit quaternion, its angle in [0, pi].
inline Vec3<double> logarithm(const double u[4]) {
  const double sign = u[3] < 0 ? -1 : 1, s = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double scale = sign * (s > 0 ? 2 * std::atan2(s, sign * u[3]) / s : 2.0);
  return {scale * u[0], scale * u[1], scale * u[2]};
}

// Translation of exp([v; w]), and v of the logarithm of (translation x, rotation vector w).
inline Vec3<double> exponential_translation(const Vec3<double>& v, const Vec3<double>& w) {
  const ExponentialCoefficients k(dot(w, w));
  const Vec3<double> wv = cross_of(w, v);
  return v + k.b * wv + k.c * cross_of(w, wv);
}
inline Vec3<double> logarithm_translation(const Vec3<double>& x, const Vec3<double>& w) {
  const ExponentialCoefficients k(dot(w, w));
  const Vec3<double> wx = cross_of(w, x);
  return x - 0.5 * wx + k.d * cross_of(w, wx);
}

// Quaternion products a b and a^-1 b.
inline void multiply(const double a[4], const double b[4], double y[4]) {
  const double x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  const double z = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
  const double w = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  y[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
  y[0] = x, y[2] = z, y[3] = w;
}
inline void divide(const double a[4], const double b[4], double y[4]) {
  const double inverse[4] = {-a[0], -a[1], -a[2], a[3]};
  multiply(inverse, b, y);
}

inline void normalize(double u[4]) {
  const double scale = 1 / std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
  for (int i = 0; i < 4; ++i) u[i] *= scale;
}

JOUNCE_END
