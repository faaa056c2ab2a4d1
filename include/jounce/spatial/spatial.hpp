// Spatial algebra over any ring: poses, twists and wrenches ("screws"), their brackets, and the inertia of a body.
#pragma once

#include "jounce/ring/series.hpp"
#include "jounce/spatial/vec3.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

template <class S>
struct Pose {
  Mat3<S> R;
  Vec3<S> x;

  static Pose identity() {
    const S one(1.0), zero(0.0);
    return {{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}, {zero, zero, zero}};
  }
};

// Vectors turned by a rotation series.
template <class S>
JOUNCE_INLINE Vec3<S> turn(const Mat3<S>& R, const Vec3<S>& u) {
  const auto& x = as_factor(u.x);
  const auto& y = as_factor(u.y);
  const auto& z = as_factor(u.z);
  return {x * R.cx.x + y * R.cy.x + z * R.cz.x, x * R.cx.y + y * R.cy.y + z * R.cz.y, x * R.cx.z + y * R.cy.z + z * R.cz.z};
}

template <class Sr, class S>
JOUNCE_INLINE Vec3<S> turn_back(const Mat3<Sr>& R, const Vec3<S>& u) {
  const auto row = [&](const Vec3<Sr>& c) { return as_factor(c.x) * u.x + as_factor(c.y) * u.y + as_factor(c.z) * u.z; };
  return {row(R.cx), row(R.cy), row(R.cz)};
}

// a x b
template <class Sa, class S>
JOUNCE_INLINE Vec3<S> cross(const Vec3<Sa>& a, const Vec3<S>& b) {
  const auto& x = as_factor(a.x);
  const auto& y = as_factor(a.y);
  const auto& z = as_factor(a.z);
  return {y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x};
}

// A twist, or a wrench [force; moment].
template <class S>
struct Screw {
  Vec3<S> v, w;

  friend JOUNCE_INLINE Screw operator+(const Screw& a, const Screw& b) { return {a.v + b.v, a.w + b.w}; }
  friend JOUNCE_INLINE Screw operator-(const Screw& a, const Screw& b) { return {a.v - b.v, a.w - b.w}; }
  friend JOUNCE_INLINE Screw operator-(const Screw& a) { return {-a.v, -a.w}; }
  JOUNCE_INLINE Screw& operator+=(const Screw& b) { return *this = *this + b; }

  static JOUNCE_INLINE Screw zero() {
    const S o(0.0);
    return {{o, o, o}, {o, o, o}};
  }
};

// A twist in a body's own axes, transformed to world axes.
template <class S>
JOUNCE_INLINE Screw<S> to_world(const Pose<S>& pose, const Screw<S>& t) {
  const Vec3<S> w = turn(pose.R, t.w);
  return {turn(pose.R, t.v) + cross(pose.x, w), w};
}

template <class Factor, class S>
JOUNCE_INLINE Screw<S> scaled(const Factor& s, const Screw<S>& a) {
  return {{s * a.v.x, s * a.v.y, s * a.v.z}, {s * a.w.x, s * a.w.y, s * a.w.z}};
}

// a . b, the power of a wrench and a twist.
template <class S>
JOUNCE_INLINE S pairing(const Screw<S>& a, const Screw<S>& b) {
  return as_factor(a.v.x) * b.v.x + as_factor(a.v.y) * b.v.y + as_factor(a.v.z) * b.v.z + as_factor(a.w.x) * b.w.x +
         as_factor(a.w.y) * b.w.y + as_factor(a.w.z) * b.w.z;
}

template <int L, class S>
JOUNCE_INLINE auto truncate(const Vec3<S>& u) {
  return Vec3<decltype(truncate<L>(u.x))>{truncate<L>(u.x), truncate<L>(u.y), truncate<L>(u.z)};
}
template <int L, class S>
JOUNCE_INLINE auto truncate(const Screw<S>& a) {
  return Screw<decltype(truncate<L>(a.v.x))>{truncate<L>(a.v), truncate<L>(a.w)};
}
template <class S>
JOUNCE_INLINE auto derivative(const Screw<S>& a) {
  using D = decltype(derivative(a.v.x));
  return Screw<D>{{derivative(a.v.x), derivative(a.v.y), derivative(a.v.z)}, {derivative(a.w.x), derivative(a.w.y), derivative(a.w.z)}};
}

// Mass, first moment (mass times centre of mass) and second moment (integral of x x^T dm).
template <class S>
struct Moments {
  double mass;
  Vec3<S> first;
  S xx, yy, zz, xy, xz, yz;

  static Moments none() {
    const S zero(0.0);
    return {0.0, {zero, zero, zero}, zero, zero, zero, zero, zero, zero};
  }

  JOUNCE_INLINE Moments& operator+=(const Moments& b) {
    mass += b.mass;
    first += b.first;
    xx += b.xx, yy += b.yy, zz += b.zz, xy += b.xy, xz += b.xz, yz += b.yz;
    return *this;
  }

  // Rotational inertia times w: (trace(J) - J) w.
  JOUNCE_INLINE Vec3<S> turning(const Vec3<S>& w) const {
    const auto& x = as_factor(w.x);
    const auto& y = as_factor(w.y);
    const auto& z = as_factor(w.z);
    return {x * (yy + zz) - y * xy - z * xz, y * (xx + zz) - x * xy - z * yz, z * (xx + yy) - x * xz - y * yz};
  }

  // Momentum of a twist: linear, and angular about the fixed point.
  JOUNCE_INLINE Screw<S> momentum(const Screw<S>& t) const { return {mass * t.v - cross(first, t.w), cross(first, t.v) + turning(t.w)}; }
};

template <int L, class S>
JOUNCE_INLINE auto truncate(const Moments<S>& m) {
  using A = decltype(truncate<L>(m.xx));
  return Moments<A>{
      m.mass,           truncate<L>(m.first), truncate<L>(m.xx), truncate<L>(m.yy), truncate<L>(m.zz), truncate<L>(m.xy), truncate<L>(m.xz),
      truncate<L>(m.yz)};
}

// a x b of twists, and a x* f of a twist and a wrench.
template <class S>
JOUNCE_INLINE Screw<S> bracket(const Screw<S>& a, const Screw<S>& b) {
  return {cross(a.w, b.v) + cross(a.v, b.w), cross(a.w, b.w)};
}
template <class S>
JOUNCE_INLINE Screw<S> dual_bracket(const Screw<S>& a, const Screw<S>& f) {
  return {cross(a.w, f.v), cross(a.v, f.v) + cross(a.w, f.w)};
}

// The moments of a body at a pose: [R x] P [R x]^T with P the 4x4 matrix of its moments in its own axes.
template <class S>
JOUNCE_INLINE Moments<S> moments_of(const Body& b, const Pose<S>& pose) {
  const double *h = b.first, *J = b.second;
  const Mat3<S>& R = pose.R;
  const Vec3<S> a = J[0] * R.cx + J[3] * R.cy + J[4] * R.cz + h[0] * pose.x, c = J[3] * R.cx + J[1] * R.cy + J[5] * R.cz + h[1] * pose.x,
                d = J[4] * R.cx + J[5] * R.cy + J[2] * R.cz + h[2] * pose.x, e = apply(R, h) + b.mass * pose.x;
  const auto second = [&](S Vec3<S>::* i, S Vec3<S>::* j) JOUNCE_LAMBDA_INLINE {
    return as_factor(R.cx.*j) * (a.*i) + as_factor(R.cy.*j) * (c.*i) + as_factor(R.cz.*j) * (d.*i) + as_factor(pose.x.*j) * (e.*i);
  };
  using V = Vec3<S>;
  return {b.mass,
          e,
          second(&V::x, &V::x),
          second(&V::y, &V::y),
          second(&V::z, &V::z),
          second(&V::x, &V::y),
          second(&V::x, &V::z),
          second(&V::y, &V::z)};
}

// B = [m[w], -G; m[v] + G, N] in a form that can be summed: `turning` = m w, `moving` = m v, G = [w][h], N = -[v][h] + [w] (tr J - J).
template <class S>
struct MomentumRate {
  Vec3<S> turning, moving;
  Mat3<S> G, N;

  static MomentumRate none() {
    const S zero(0.0);
    const Vec3<S> o{zero, zero, zero};
    return {o, o, {o, o, o}, {o, o, o}};
  }

  JOUNCE_INLINE MomentumRate& operator+=(const MomentumRate& b) {
    turning += b.turning, moving += b.moving;
    G.cx += b.G.cx, G.cy += b.G.cy, G.cz += b.G.cz;
    N.cx += b.N.cx, N.cy += b.N.cy, N.cz += b.N.cz;
    return *this;
  }

  static JOUNCE_NOINLINE MomentumRate of(const Moments<S>& m, const Screw<S>& V) {
    const Vec3<S>& h = m.first;
    MomentumRate b{m.mass * V.w, m.mass * V.v, double_cross(V.w, h), double_cross(V.v, h)};
    const Vec3<S> jx{m.yy + m.zz, -m.xy, -m.xz}, jy{-m.xy, m.xx + m.zz, -m.yz}, jz{-m.xz, -m.yz, m.xx + m.yy};
    b.N = {cross(V.w, jx) - b.N.cx, cross(V.w, jy) - b.N.cy, cross(V.w, jz) - b.N.cz};
    return b;
  }

  // B t and B^T t
  JOUNCE_INLINE Screw<S> apply(const Screw<S>& t) const {
    return {cross(turning, t.v) - turn(G, t.w), cross(moving, t.v) + turn(G, t.v) + turn(N, t.w)};
  }
  JOUNCE_INLINE Screw<S> apply_transpose(const Screw<S>& t) const {
    return {turn_back(G, t.w) - cross(turning, t.v) - cross(moving, t.w), turn_back(N, t.w) - turn_back(G, t.v)};
  }

 private:
  // [a][b] = b a^T - (a . b) 1
  static JOUNCE_INLINE Mat3<S> double_cross(const Vec3<S>& a, const Vec3<S>& b) {
    const auto column = [&](const auto& s) { return Vec3<S>{s * b.x, s * b.y, s * b.z}; };
    Mat3<S> y{column(as_factor(a.x)), column(as_factor(a.y)), column(as_factor(a.z))};
    const S x = y.cx.x, xy = x + y.cy.y, yz = y.cy.y + y.cz.z, xz = x + y.cz.z;
    y.cx.x = -yz, y.cy.y = -xz, y.cz.z = -xy;
    return y;
  }
};

JOUNCE_END
