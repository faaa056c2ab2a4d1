// The sections of a soft body along a motion: their Jacobians and body twists as series, and their poses.
//
// With dexp_{-Omega} the tangent of the exponential in body axes, the Jacobian of step k (columns c: the body twist for a unit
// rate of coordinate c) is
//
//   S_k = Ad(exp(Omega_k))^-1 S_from + dexp_{-Omega_k} dOmega_k/dq_c,
//
// and the twist is S_k q'. Everything is made of Stumpff's functions of |w|^2, for Omega = (v, w):
//
//   exp:    R y = c_0 y + c_1 w x y + c_2 (w . y) w,    p = c_1 v + c_2 w x v + c_3 (w . v) w
//   dexp:   T y = c_1 y - c_2 w x y + c_3 (w . y) w     for the angular half, and for the linear half T y_v plus the derivative of T
//           in the direction v, applied to y_w: the group of motions is that of rotations over dual numbers w + eps v.
#pragma once

#include "jounce/lie.hpp"
#include "jounce/poses.hpp"
#include "jounce/soft_body.hpp"
#include "jounce/stumpff.hpp"
#include "jounce/world_frame.hpp"

JOUNCE_BEGIN

// Products with the numbers of a twist, which may be constants.
JOUNCE_INLINE double as_factor(double x) { return x; }

template <class S, class Y>
JOUNCE_INLINE S dot(const Vec3<Y>& y, const Vec3<S>& u) {
  return as_factor(y.x) * u.x + as_factor(y.y) * u.y + as_factor(y.z) * u.z;
}
template <class S>
JOUNCE_INLINE Vec3<S> times(const S& s, const Vec3<S>& u) {
  const auto& f = as_factor(s);
  return {f * u.x, f * u.y, f * u.z};
}
template <class S>
JOUNCE_INLINE Vec3<S> times(const S& s, const Vec3<double>& u) {
  return {u.x * s, u.y * s, u.z * s};
}

// exp(Omega) and its tangent.
template <class S>
class Exponential {
 public:
  explicit JOUNCE_INLINE Exponential(const Screw<S>& omega)
      : v_(omega.v), w_(omega.w), wv_(dot(v_, w_)), c_(dot(w_, w_)), turned_v_(cross(w_, v_)) {
    const auto& f = as_factor(wv_);
    for (int k = 1; k <= 3; ++k) slope_[k] = f * (double(k) * c_.c[k + 2] - c_.c[k + 1]);
  }

  // dexp_{-Omega} y
  template <class Y>
  JOUNCE_INLINE Screw<S> tangent(const Screw<Y>& y) const {
    const S wy = dot(y.w, w_), vy = dot(y.w, v_);
    const Vec3<S> wxy = minus_cross(y.w, w_), vxy = minus_cross(y.w, v_);
    const auto &c2 = as_factor(c_.c[2]), &c3 = as_factor(c_.c[3]);
    const S cwy = c3 * wy;
    Screw<S> out;
    out.w = times(c_.c[1], y.w) - scaled_by(c2, wxy) + times(cwy, w_);
    out.v = times(c_.c[1], y.v) - scaled_by(c2, minus_cross(y.v, w_) + vxy) +
            times(S(c3 * (dot(y.v, w_) + vy) + as_factor(slope_[3]) * wy), w_) + times(slope_[1], y.w) - times(slope_[2], wxy) +
            times(cwy, v_);
    return out;
  }

  // The rotation and translation of exp(Omega).
  Pose<S> pose() const {
    const S c0 = S(1.0) - as_factor(c_.c[2]) * dot(w_, w_);
    const Vec3<S> w1 = times(c_.c[1], w_), w2 = times(c_.c[2], w_);
    const auto column = [&](const S& wi) { return times(wi, w2); };
    Pose<S> y{{column(w_.x), column(w_.y), column(w_.z)}, {}};
    y.R.cx.x += c0, y.R.cy.y += c0, y.R.cz.z += c0;
    y.R.cx.y += w1.z, y.R.cx.z -= w1.y, y.R.cy.x -= w1.z;
    y.R.cy.z += w1.x, y.R.cz.x += w1.y, y.R.cz.y -= w1.x;
    y.x = times(c_.c[1], v_) + times(c_.c[2], turned_v_) + times(S(as_factor(c_.c[3]) * wv_), w_);
    return y;
  }

 private:
  template <class F>
  static JOUNCE_INLINE Vec3<S> scaled_by(const F& f, const Vec3<S>& u) {
    return {f * u.x, f * u.y, f * u.z};
  }
  // w x y, from constants or series y
  template <class Y>
  static JOUNCE_INLINE Vec3<S> minus_cross(const Vec3<Y>& y, const Vec3<S>& w) {
    const auto &a = as_factor(y.x), &b = as_factor(y.y), &c = as_factor(y.z);
    return {c * w.y - b * w.z, a * w.z - c * w.x, b * w.x - a * w.y};
  }

  Vec3<S> v_, w_;
  S wv_;
  Stumpff<5, S> c_;
  Vec3<S> turned_v_;
  S slope_[4];  // of c_1, c_2, c_3 along v
};

// Omega over a step, from a_1, a_2 and a_3, and its derivative for constant derivatives of those.
template <class S>
struct Magnus {
  Screw<S> a1, a2, a3;
  Screw<S> C1, outer, inner, doubled;

  Screw<S> omega() {
    C1 = minus(bracket(a1, a2));
    doubled = plus(scale(2.0, a3), C1);
    outer = plus(plus(scale(-20.0, a1), scale(-1.0, a3)), C1);
    inner = plus(a2, scale(1.0 / 60, bracket(a1, doubled)));
    return plus(plus(a1, scale(1.0 / 12, a3)), scale(-1.0 / 240, bracket(outer, inner)));
  }

  Screw<S> derivative(const Screw<double>& d1, const Screw<double>& d2, const Screw<double>& d3) const {
    const Screw<S> dC1 = minus(plus(bracket(d1, a2), minus(bracket(d2, a1))));
    const Screw<S> d_doubled = add_constant(dC1, 2.0, d3);
    const Screw<S> d_outer = add_constant(add_constant(dC1, -20.0, d1), -1.0, d3);
    const Screw<S> d_inner = add_constant(scale(1.0 / 60, plus(bracket(d1, doubled), bracket(a1, d_doubled))), 1.0, d2);
    const Screw<S> part = scale(-1.0 / 240, plus(bracket(d_outer, inner), bracket(outer, d_inner)));
    return add_constant(add_constant(part, 1.0, d1), 1.0 / 12, d3);
  }

  static JOUNCE_INLINE Screw<S> plus(const Screw<S>& a, const Screw<S>& b) { return a + b; }
  static JOUNCE_INLINE Screw<S> minus(const Screw<S>& a) { return {-a.v, -a.w}; }
  static JOUNCE_INLINE Screw<S> scale(double s, const Screw<S>& a) { return {s * a.v, s * a.w}; }
  static JOUNCE_INLINE Screw<S> add_constant(const Screw<S>& a, double s, const Screw<double>& b) {
    return {{a.v.x + S(s * b.v.x), a.v.y + S(s * b.v.y), a.v.z + S(s * b.v.z)},
            {a.w.x + S(s * b.w.x), a.w.y + S(s * b.w.y), a.w.z + S(s * b.w.z)}};
  }
  // [a, b] of twists; a may be constant
  static JOUNCE_NOINLINE Screw<S> bracket(const Screw<S>& a, const Screw<S>& b) {
    return {cross(a.w, b.v) + cross(a.v, b.w), cross(a.w, b.w)};
  }
  static JOUNCE_INLINE Screw<S> bracket(const Screw<double>& a, const Screw<S>& b) {
    const double v[3] = {a.v.x, a.v.y, a.v.z}, w[3] = {a.w.x, a.w.y, a.w.z};
    return {cross(w, b.v) + cross(v, b.w), cross(w, b.w)};
  }
};

template <class S>
class StrainChain {
 public:
  using T = typename S::Coefficient;

  template <class Arena>
  StrainChain(const CoordinateMap& map, Arena& arena)
      : map_(map), q_(arena.template take<S>(map.widest)), S_(arena.template take<Screw<S>>(std::size_t(map.widest) * map.longest)) {}

  S* coordinates() { return q_; }  // to be set before run()

  // Calls with(station, Jacobian columns) for all stations of a body.
  template <class With>
  void run(const SoftBody& body, const With& with) {
    const int n = body.n;
    for (int k = body.steps; k < body.end; ++k) {
      const StrainStep& step = map_.steps[k];
      Screw<S>* own = S_ + std::ptrdiff_t(k - body.steps) * n;
      const double *constant = map_.numbers + step.linear, *linear = constant + 6;
      Screw<S> omega = screw_of(constant);
      for (int c = 0; c < n; ++c) add(omega, linear + 6 * c, q_[c]);
      if (step.uniform) {
        const Exponential<S> e(omega);
        for (int c = 0; c < n; ++c) own[c] = e.tangent(constants(linear + 6 * c));
      } else {
        Magnus<S> magnus{omega, screw_of(nullptr), screw_of(nullptr)};
        const double *second = linear + 6 * n, *third = second + 6 * n;
        for (int c = 0; c < n; ++c) {
          add(magnus.a2, second + 6 * c, q_[c]);
          add(magnus.a3, third + 6 * c, q_[c]);
        }
        const Exponential<S> e(magnus.omega());
        for (int c = 0; c < n; ++c)
          own[c] = e.tangent(magnus.derivative(constants(linear + 6 * c), constants(second + 6 * c), constants(third + 6 * c)));
        if (step.from >= 0) carry(e.pose(), S_ + std::ptrdiff_t(step.from - body.steps) * n, own, n);
      }
      for (int i = step.stations; i < step.end; ++i) {
        const Station& station = map_.stations[i];
        if (station.shift < 0)
          with(station, [&](int c) -> const Screw<S>& { return own[c]; });
        else
          swell(station, own, n, with);
      }
    }
  }

 private:
  static JOUNCE_INLINE Screw<S> screw_of(const double* y) {
    const auto at = [&](int i) { return S(y ? y[i] : 0.0); };
    return {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}};
  }
  static JOUNCE_INLINE void add(Screw<S>& sum, const double* y, const S& q) {
    if (y[0] != 0) sum.v.x += y[0] * q;
    if (y[1] != 0) sum.v.y += y[1] * q;
    if (y[2] != 0) sum.v.z += y[2] * q;
    if (y[3] != 0) sum.w.x += y[3] * q;
    if (y[4] != 0) sum.w.y += y[4] * q;
    if (y[5] != 0) sum.w.z += y[5] * q;
  }
  static JOUNCE_INLINE Screw<double> constants(const double* y) { return {{y[0], y[1], y[2]}, {y[3], y[4], y[5]}}; }

  // A station at the offset o(q) in its section: J_v + J_w x o + do/dq_c.
  template <class With>
  void swell(const Station& station, const Screw<S>* own, int n, const With& with) {
    const double *at = map_.numbers + station.shift, *slope = at + 3;
    Vec3<S> o{S(at[0]), S(at[1]), S(at[2])};
    for (int c = 0; c < n; ++c) o += Vec3<S>{slope[3 * c] * q_[c], slope[3 * c + 1] * q_[c], slope[3 * c + 2] * q_[c]};
    with(station, [&](int c) {
      Screw<S> moved = own[c];
      moved.v += cross(own[c].w, o) + Vec3<S>{S(slope[3 * c]), S(slope[3 * c + 1]), S(slope[3 * c + 2])};
      return moved;
    });
  }

  // own += Ad(E)^-1 from
  static void carry(const Pose<S>& E, const Screw<S>* from, Screw<S>* own, int n) {
    for (int c = 0; c < n; ++c) {
      own[c].v += turn_back(E.R, from[c].v - cross(E.x, from[c].w));
      own[c].w += turn_back(E.R, from[c].w);
    }
  }

  const CoordinateMap& map_;
  S* q_;
  Screw<S>* S_;
};

JOUNCE_END
