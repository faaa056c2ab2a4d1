// 3-vectors and 3x3 matrices over any ring, and constant rotations acting on them.
#pragma once

#include "jounce/ring/config.hpp"

JOUNCE_BEGIN

template <class S>
struct Vec3 {
  S x, y, z;

  friend JOUNCE_INLINE Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend JOUNCE_INLINE Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend JOUNCE_INLINE Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  friend JOUNCE_INLINE Vec3 operator*(double s, const Vec3& a) { return {s * a.x, s * a.y, s * a.z}; }
  friend JOUNCE_INLINE Vec3 operator*(const S& s, const Vec3& a)
    requires(!std::is_same_v<S, double>)
  {
    return {s * a.x, s * a.y, s * a.z};
  }
  JOUNCE_INLINE Vec3& operator+=(const Vec3& b) { return *this = *this + b; }
  JOUNCE_INLINE Vec3& operator-=(const Vec3& b) { return *this = *this - b; }
};

// R u for a row-major 3x3 matrix R of constants or of the ring's own elements.
template <class C, class S>
JOUNCE_INLINE Vec3<S> apply(const C* R, const Vec3<S>& u) {
  return {R[0] * u.x + R[1] * u.y + R[2] * u.z, R[3] * u.x + R[4] * u.y + R[5] * u.z, R[6] * u.x + R[7] * u.y + R[8] * u.z};
}

// R^T u
template <class C, class S>
JOUNCE_INLINE Vec3<S> apply_transpose(const C* R, const Vec3<S>& u) {
  return {R[0] * u.x + R[3] * u.y + R[6] * u.z, R[1] * u.x + R[4] * u.y + R[7] * u.z, R[2] * u.x + R[5] * u.y + R[8] * u.z};
}

// p x u for a constant p.
template <class S>
JOUNCE_INLINE Vec3<S> cross(const double* p, const Vec3<S>& u) {
  return {p[1] * u.z - p[2] * u.y, p[2] * u.x - p[0] * u.z, p[0] * u.y - p[1] * u.x};
}

// a x b for vectors of numbers.
template <class T>
JOUNCE_INLINE Vec3<T> cross_of(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
JOUNCE_INLINE T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// u + R x, u + p x x and u + M p, each product added separately: one fused instruction each.
template <class S>
JOUNCE_INLINE Vec3<S> plus_apply(const Vec3<S>& u, const double* R, const Vec3<S>& x) {
  return {u.x + R[0] * x.x + R[1] * x.y + R[2] * x.z, u.y + R[3] * x.x + R[4] * x.y + R[5] * x.z,
          u.z + R[6] * x.x + R[7] * x.y + R[8] * x.z};
}
template <class S>
JOUNCE_INLINE Vec3<S> plus_cross(const Vec3<S>& u, const double* p, const Vec3<S>& x) {
  return {u.x + p[1] * x.z - p[2] * x.y, u.y + p[2] * x.x - p[0] * x.z, u.z + p[0] * x.y - p[1] * x.x};
}

// A matrix over the ring, by columns.
template <class S>
struct Mat3 {
  Vec3<S> cx, cy, cz;
};

// M p for a constant p.
template <class S>
JOUNCE_INLINE Vec3<S> apply(const Mat3<S>& M, const double* p) {
  return p[0] * M.cx + p[1] * M.cy + p[2] * M.cz;
}

template <class S>
JOUNCE_INLINE Vec3<S> plus_apply(const Vec3<S>& u, const Mat3<S>& M, const double* p) {
  return {u.x + p[0] * M.cx.x + p[1] * M.cy.x + p[2] * M.cz.x, u.y + p[0] * M.cx.y + p[1] * M.cy.y + p[2] * M.cz.y,
          u.z + p[0] * M.cx.z + p[1] * M.cy.z + p[2] * M.cz.z};
}

JOUNCE_END
