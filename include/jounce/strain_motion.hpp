// The steps of a soft body along a motion, one Taylor coefficient after the other: what each step's exponential makes of the shape's
// coordinates. Steps lie side by side in SIMD lanes.
//
// With dexp_{-Omega} the tangent of the exponential in body axes, a step by itself has the screws (body twist for a unit rate of coordinate c)
//
//   S_c = dexp_{-Omega} dOmega/dq_c,     dexp_{-Omega} = [A B; 0 A] for twists [linear; angular] and Omega = (v, w):
//
//   A = c_1 - c_2 [w] + c_3 w w^T,      B = s_1 - s_2 [w] - c_2 [v] + s_3 w w^T + c_3 (w v^T + v w^T),      s_k = (w . v) (k c_{k+2} - c_{k+1})
//
// with Stumpff's functions c_k of |w|^2, and s_k their derivatives in the direction v: the group of motions is that of rotations over dual
// numbers w + eps v. exp(Omega) has R = c_0 + c_1 [w] + c_2 w w^T, and the translation A^T v.
//
// Series grow here: coefficient k of every number is computed from those below, by code that is run for k = 0, 1, 2, ... and finds
// every number at the same place each time. So a motion may become known as it goes (forward dynamics), at the cost of one that is known.
//
// T is a Pack with a step in each lane, or a Dual of those, which gives the derivative in one direction beside every number.
#pragma once

#include "jounce/dual.hpp"
#include "jounce/soft_body.hpp"
#include "jounce/stumpff.hpp"

JOUNCE_BEGIN

template <class T>
class StrainMotion {
 public:
  static constexpr int W = lanes_of<T>;

  // One group of W steps of a body with n coordinates, for series of `length` coefficients.
  template <class Arena>
  StrainMotion(int n, int length, Arena& arena)
      : n_(n),
        K_(length),
        constant_(arena.template take<T>(6)),
        linear_(arena.template take<T>(6 * n)),
        changes_(arena.template take<T>(12 * n)),
        memory_(arena.template take<T>(std::size_t(places(n, length)) * length)) {}

  // Steps first, first + 1, ... of a body; lanes beyond its last repeat that.
  void set(const SoftBody& body, int first) {
    uniform_ = body.uniform;
    for (int lane = 0; lane < W; ++lane) {
      const StrainStep& step = body.steps[first + lane < body.step_count ? first + lane : body.step_count - 1];
      for (int i = 0; i < 6; ++i) set_lane(constant_[i], lane, step.constant[i]);
      for (int i = 0; i < 6 * n_; ++i) set_lane(linear_[i], lane, step.linear[i]);
      for (int i = 0; i < 12 * n_ && !uniform_; ++i) set_lane(changes_[i], lane, step.changes ? step.changes[i] : 0.0);
    }
  }

  // Coefficient k, from those of the coordinates: q(c) is the series of coordinate c.
  template <class Q>
  void extend(int k, const Q& q) {
    k_ = k;
    next_ = memory_;
    omega_ = take(6);
    if (uniform_) {
      combine(linear_, q, omega_);
      if (k == 0)
        for (int i = 0; i < 6; ++i) omega_[i * K_] += constant_[i];
    } else {
      magnus(q);
    }
    exponential();
    screws_ = take(6 * n_);
    for (int c = 0; c < n_; ++c)
      if (uniform_)
        tangent_of_constant(linear_ + 6 * c, part(screws_, 6 * c));
      else
        tangent(magnus_derivative(c), part(screws_, 6 * c));
  }

  // Coefficient k of component i of screw c, of the rotation's entries by rows and of the translation.
  const T& screw(int c, int i, int k) const { return screws_[(6 * c + i) * K_ + k]; }
  const T& rotation(int i, int k) const { return R_[i * K_ + k]; }
  const T& translation(int i, int k) const { return x_[i * K_ + k]; }

  // Numbers that a motion has, at most.
  static int places(int n, int length) { return 6 * 8 + stumpff_count(length) + 80 + n * 6 * 9; }

 private:
  static int stumpff_count(int length) { return 6 + 2 * (length - 1) + (is_dual<T> ? 2 : 0); }

  T* take(int count) {
    T* place = next_;
    next_ += std::ptrdiff_t(count) * K_;
    return place;
  }

  // Coefficient k of a product of series.
  JOUNCE_INLINE T product(const T* a, const T* b) const {
    T sum = a[0] * b[k_];
    for (int j = 1; j <= k_; ++j) sum += a[j] * b[k_ - j];
    return sum;
  }
  JOUNCE_INLINE T* part(T* a, int i) const { return a + std::ptrdiff_t(i) * K_; }
  JOUNCE_INLINE const T* part(const T* a, int i) const { return a + std::ptrdiff_t(i) * K_; }
  JOUNCE_INLINE T& now(T* a, int i = 0) const { return a[std::ptrdiff_t(i) * K_ + k_]; }
  JOUNCE_INLINE const T& now(const T* a, int i = 0) const { return a[std::ptrdiff_t(i) * K_ + k_]; }

  // y = sum over coordinates of (n, 6) constants times q
  template <class Q>
  void combine(const T* constants, const Q& q, T* y) const {
    for (int i = 0; i < 6; ++i) {
      T sum(0.0);
      for (int c = 0; c < n_; ++c) sum += constants[6 * c + i] * q(c, k_);
      now(y, i) = sum;
    }
  }

  // [a, b] of twists, a and b series.
  T* bracket(const T* a, const T* b) {
    T* y = take(6);
    for (int i = 0; i < 3; ++i) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      now(y, i) = product(part(a, 3 + i1), part(b, i2)) - product(part(a, 3 + i2), part(b, i1)) + product(part(a, i1), part(b, 3 + i2)) -
                  product(part(a, i2), part(b, 3 + i1));
      now(y, 3 + i) = product(part(a, 3 + i1), part(b, 3 + i2)) - product(part(a, 3 + i2), part(b, 3 + i1));
    }
    return y;
  }
  // Component i of [d, b], d constant.
  JOUNCE_INLINE T bracket_with(const T* d, const T* b, int i) const {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    if (i >= 3) return d[3 + i1] * now(b, 3 + i2) - d[3 + i2] * now(b, 3 + i1);
    return d[3 + i1] * now(b, i2) - d[3 + i2] * now(b, i1) + d[i1] * now(b, 3 + i2) - d[i2] * now(b, 3 + i1);
  }

  // Omega from a_1, a_2 and a_3.
  template <class Q>
  void magnus(const Q& q) {
    a1_ = take(6), a2_ = take(6);
    T* a3 = take(6);
    combine(linear_, q, a1_);
    if (k_ == 0)
      for (int i = 0; i < 6; ++i) a1_[i * K_] += constant_[i];
    combine(changes_, q, a2_);
    combine(changes_ + 6 * n_, q, a3);
    const T* C1 = bracket(a1_, a2_);  // with the other sign
    doubled_ = take(6), outer_ = take(6), inner_ = take(6);
    for (int i = 0; i < 6; ++i) {
      now(doubled_, i) = T(2.0) * now(a3, i) - now(C1, i);
      now(outer_, i) = T(-20.0) * now(a1_, i) - now(a3, i) - now(C1, i);
    }
    const T* C2 = bracket(a1_, doubled_);
    for (int i = 0; i < 6; ++i) now(inner_, i) = now(a2_, i) + T(1.0 / 60) * now(C2, i);
    const T* last = bracket(outer_, inner_);
    for (int i = 0; i < 6; ++i) now(omega_, i) = now(a1_, i) + T(1.0 / 12) * now(a3, i) - T(1.0 / 240) * now(last, i);
  }

  // dOmega/dq_c, for the constant derivatives d_1, d_2, d_3 of a_1, a_2, a_3.
  const T* magnus_derivative(int c) {
    const T *d1 = linear_ + 6 * c, *d2 = changes_ + 6 * c, *d3 = changes_ + 6 * (n_ + c), o(0.0);
    T *doubled = take(6), *outer = take(6), *inner = take(6), *y = take(6);
    const auto constant = [&](const T& x) { return k_ == 0 ? x : o; };
    for (int i = 0; i < 6; ++i) {
      const T C1 = bracket_with(d2, a1_, i) - bracket_with(d1, a2_, i);
      now(doubled, i) = C1 + constant(T(2.0) * d3[i]);
      now(outer, i) = C1 - constant(T(20.0) * d1[i] + d3[i]);
    }
    const T* C2 = bracket(a1_, doubled);
    for (int i = 0; i < 6; ++i) now(inner, i) = T(1.0 / 60) * (bracket_with(d1, doubled_, i) + now(C2, i)) + constant(d2[i]);
    const T *first = bracket(outer, inner_), *second = bracket(outer_, inner);
    for (int i = 0; i < 6; ++i) now(y, i) = constant(d1[i] + T(1.0 / 12) * d3[i]) - T(1.0 / 240) * (now(first, i) + now(second, i));
    return y;
  }

  // A, B, R and the translation.
  void exponential() {
    const T *v = omega_, *w = part(omega_, 3);
    T *square = take(1), *along = take(1);
    now(square) = product(w, w) + product(part(w, 1), part(w, 1)) + product(part(w, 2), part(w, 2));
    now(along) = product(w, v) + product(part(w, 1), part(v, 1)) + product(part(w, 2), part(v, 2));
    T* c = stumpff(square);
    T *slopes = take(4), *s = take(4);  // from 1 on
    for (int k = 1; k <= 3; ++k) {
      now(slopes, k) = T(double(k)) * now(c, k + 2) - now(c, k + 1);
      now(s, k) = product(along, part(slopes, k));
    }
    T *ww = take(6), *wv = take(6);  // xx yy zz yz xz xy: entry i and i, or the two others than i
    for (int i = 0; i < 6; ++i) {
      const int a = i < 3 ? i : (i + 1) % 3, b = i < 3 ? i : (i + 2) % 3;
      now(ww, i) = product(part(w, a), part(w, b));
      now(wv, i) = product(part(w, a), part(v, b)) + product(part(w, b), part(v, a));
    }
    A_ = take(9), B_ = take(9);
    for (int i = 0; i < 3; ++i) {
      now(A_, 4 * i) = now(c, 1) + product(part(c, 3), part(ww, i));
      now(B_, 4 * i) = now(s, 1) + product(part(s, 3), part(ww, i)) + product(part(c, 3), part(wv, i));
      const T turn = product(part(c, 2), part(w, i)), more = product(part(s, 2), part(w, i)) + product(part(c, 2), part(v, i));
      const T both = product(part(c, 3), part(ww, 3 + i)), rest = product(part(s, 3), part(ww, 3 + i)) + product(part(c, 3), part(wv, 3 + i));
      const int a = (i + 1) % 3, b = (i + 2) % 3;  // [w]_ba = w_i
      now(A_, 3 * b + a) = both - turn, now(A_, 3 * a + b) = both + turn;
      now(B_, 3 * b + a) = rest - more, now(B_, 3 * a + b) = rest + more;
    }
    R_ = take(9), x_ = take(3);
    for (int i = 0; i < 3; ++i) {
      const T turn = product(part(c, 1), part(w, i)), both = product(part(c, 2), part(ww, 3 + i));
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      now(R_, 4 * i) = now(c, 0) + product(part(c, 2), part(ww, i));
      now(R_, 3 * b + a) = both + turn, now(R_, 3 * a + b) = both - turn;
      now(x_, i) = product(part(A_, i), v) + product(part(A_, 3 + i), part(v, 1)) + product(part(A_, 6 + i), part(v, 2));
    }
  }

  // c_0 ... c_5 of a series u, and as many more as their further coefficients need: c_n' = (n c_{n+2} - c_{n+1}) u' / 2.
  T* stumpff(const T* u) {
    const int count = stumpff_count(K_);
    T* c = take(count);
    if (k_ == 0) {
      stumpff_values_of(u[0], count, c, K_);
      return c;
    }
    const T half(0.5 / k_);
    for (int n = 0; n < count - 2 * k_; ++n) {
      T sum(0.0);
      for (int j = 0; j < k_; ++j) sum += (T(n) * c[(n + 2) * K_ + j] - c[(n + 1) * K_ + j]) * (T(k_ - j) * u[k_ - j]);
      c[n * K_ + k_] = half * sum;
    }
    return c;
  }

  void tangent_of_constant(const T* y, T* S) const {
    for (int i = 0; i < 3; ++i) {
      T v(0.0), w(0.0);
      for (int j = 0; j < 3; ++j) {
        v += now(A_, 3 * i + j) * y[j] + now(B_, 3 * i + j) * y[3 + j];
        w += now(A_, 3 * i + j) * y[3 + j];
      }
      now(S, i) = v, now(S, 3 + i) = w;
    }
  }
  void tangent(const T* y, T* S) const {
    for (int i = 0; i < 3; ++i) {
      T v(0.0), w(0.0);
      for (int j = 0; j < 3; ++j) {
        v += product(part(A_, 3 * i + j), part(y, j)) + product(part(B_, 3 * i + j), part(y, 3 + j));
        w += product(part(A_, 3 * i + j), part(y, 3 + j));
      }
      now(S, i) = v, now(S, 3 + i) = w;
    }
  }

  int n_, K_, k_ = 0;
  bool uniform_ = true;
  T *constant_, *linear_, *changes_, *memory_, *next_ = nullptr;
  T *omega_ = nullptr, *a1_ = nullptr, *a2_ = nullptr, *doubled_ = nullptr, *outer_ = nullptr, *inner_ = nullptr;
  T *A_ = nullptr, *B_ = nullptr, *R_ = nullptr, *x_ = nullptr, *screws_ = nullptr;
};

JOUNCE_END
