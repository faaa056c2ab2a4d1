// W = [w'] + [w]^2 of an angular velocity w, part by part: the only products of the Newton-Euler equations of a body.
#pragma once

#include "jounce/spatial/newton_euler.hpp"
#include "jounce/spatial/parts.hpp"

JOUNCE_BEGIN

template <class Sa, class Sv>
class SpinSquares;

// Coefficients in arrays: the pairs (j, k - j) and (k - j, j) together, which need the same numbers.
template <class T, int n, int K>
class SpinSquares<Series<T, n>, Series<T, K>> {
 public:
  explicit JOUNCE_INLINE SpinSquares(const Vec3<Series<T, K>>& w) : w_(w) {}

  JOUNCE_INLINE Mat3<T> acceleration_matrix(int k) const {
    T xx(0.0), yy(0.0), zz(0.0), xy(0.0), xz(0.0), yz(0.0);
    for (int j = 0; 2 * j < k; ++j) {
      const Vec3<T> u = part(w_, j), v = part(w_, k - j);
      xx += u.x * v.x, yy += u.y * v.y, zz += u.z * v.z;
      xy += u.x * v.y, xz += u.x * v.z, yz += u.y * v.z;
      xy += u.y * v.x, xz += u.z * v.x, yz += u.z * v.y;
    }
    xx += xx, yy += yy, zz += zz;
    if (k % 2 == 0) {
      const Vec3<T> u = part(w_, k / 2);
      xx += u.x * u.x, yy += u.y * u.y, zz += u.z * u.z;
      xy += u.x * u.y, xz += u.x * u.z, yz += u.y * u.z;
    }
    const Vec3<T> next = part(w_, k + 1);
    const T rate(k + 1.0);
    return jounce::acceleration_matrix(xx, yy, zz, xy, xz, yz, rate * next.x, rate * next.y, rate * next.z);
  }

 private:
  const Vec3<Series<T, K>>& w_;
};

// Coefficients in lanes.
template <int n, int K, int W>
class SpinSquares<LaneSeries<n, W>, LaneSeries<K, W>> {
 public:
  using S = LaneSeries<n, W>;

  explicit JOUNCE_INLINE SpinSquares(const Vec3<LaneSeries<K, W>>& w) : ax_(derivative(w.x)), ay_(derivative(w.y)), az_(derivative(w.z)) {
    const S x = truncate<n>(w.x), y = truncate<n>(w.y), z = truncate<n>(w.z);
    const auto& fx = as_factor(x);
    const auto& fy = as_factor(y);
    const auto& fz = as_factor(z);
    xx_ = fx * x, yy_ = fy * y, zz_ = fz * z, xy_ = fx * y, xz_ = fx * z, yz_ = fy * z;
  }

  JOUNCE_INLINE Mat3<Pack<W>> acceleration_matrix(int i) const {
    return jounce::acceleration_matrix(xx_.b[i], yy_.b[i], zz_.b[i], xy_.b[i], xz_.b[i], yz_.b[i], ax_.b[i], ay_.b[i], az_.b[i]);
  }

 private:
  S xx_, yy_, zz_, xy_, xz_, yz_, ax_, ay_, az_;
};

JOUNCE_END
