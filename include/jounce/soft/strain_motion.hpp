// The steps of a soft body along a motion, one Taylor coefficient at a time: the exponential of each step as a function of the shape's
// coordinates. Steps lie side by side in SIMD lanes.
//
// With dexp_{-Omega} the tangent of the exponential in body axes, a step by itself has the screws (body twist for a unit rate of coordinate
// c)
//
//   S_c = dexp_{-Omega} dOmega/dq_c,     dexp_{-Omega} = [A B; 0 A] for twists [linear; angular] and Omega = (v, w):
//
//   A = c_1 - c_2 [w] + c_3 w w^T,      B = s_1 - s_2 [w] - c_2 [v] + s_3 w w^T + c_3 (w v^T + v w^T),      s_k = (w . v) (k c_{k+2} -
//   c_{k+1})
//
// with Stumpff's functions c_k of |w|^2, and s_k their derivatives in the direction v: the group of motions is that of rotations over dual
// numbers w + eps v. exp(Omega) has R = c_0 + c_1 [w] + c_2 w w^T, and the translation A^T v.
//
// Series grow here: coefficient k of every number is computed from lower ones, by code that runs for k = 0, 1, 2, ... and finds every
// number in the same place each time. So a motion may become known as it goes (forward dynamics), at the cost of one that is known in
// advance.
//
// T is a Pack with one step per lane. A Dual of Packs gives, instead of screws, the derivative in one direction of their pairings with
// constant wrenches G: S_c . G = (dexp_{-Omega}^T G) . dOmega/dq_c, whose first factor is pulled back through the Magnus expansion once
// for all coordinates. For a bracket y = [a, b], a wrench f on y is b x* f on a and -a x* f on b.
#pragma once

#include "jounce/ring/dual.hpp"
#include "jounce/ring/stumpff.hpp"
#include "jounce/tree/soft_body.hpp"

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
        columns_(stumpff + stumpff_count(length)),
        places_(columns_ + (is_dual<T> ? int(pull_places) : n * column_places)),
        memory_(arena.template take<T>(std::size_t(places_) * length)) {}

  // Steps first, first + 1, ... of a body.
  void set(const SoftBody& body, int first) {
    uniform_ = body.uniform;
    stride_ = body.padded_steps;
    strain_ = body.strain + first;
  }

  // Coefficient k, from those of the coordinates: q(c, k).
  template <class Q>
  void extend(int k, const Q& q) {
    k_ = k;
    now_ = memory_ + std::ptrdiff_t(k) * places_;
    if (uniform_) {
      combine(linear(0), q, omega);
      if (k == 0)
        for (int i = 0; i < 6; ++i) now_[omega + i] += strain(i);
    } else {
      combine(linear(0), q, a1);
      combine(linear(n_), q, a2);
      combine(linear(2 * n_), q, a3);
      if (k == 0)
        for (int i = 0; i < 6; ++i) now_[a1 + i] += strain(i);
    }
    run_order();
  }

  // The same along coordinate c, from the motion of the same steps, which already has that coefficient.
  template <class P>
  void extend(int k, const StrainMotion<P>& motion, int c) {
    k_ = k;
    now_ = memory_ + std::ptrdiff_t(k) * places_;
    const P* given = motion.memory_ + std::ptrdiff_t(k) * motion.places_;
    for (int part = 0; part < (uniform_ ? 1 : 3); ++part)
      for (int i = 0; i < 6; ++i) {
        const int at = uniform_ ? omega + i : a1 + 6 * part + i;
        now_[at] = {given[at], k == 0 ? strain(linear(part * n_ + c) + i).x : P(0.0)};
      }
    run_order();
  }

  // Coefficient k of component i of screw c, of the rotation's entries by rows and of the translation; for uniform steps, the latter
  // two only at order zero.
  const T& screw(int c, int i, int k) const { return memory_[std::ptrdiff_t(k) * places_ + columns_ + c * column_places + i]; }
  T& wrench(int i, int k) { return memory_[std::ptrdiff_t(k) * places_ + columns_ + G + i]; }  // must be set before extend(k)
  const T& rotation(int i, int k) const { return memory_[std::ptrdiff_t(k) * places_ + R + i]; }
  const T& translation(int i, int k) const { return memory_[std::ptrdiff_t(k) * places_ + x + i]; }

  // The derivative of screw c's pairing with the wrenches, at the order of the last extend(); all steps together.
  double pairing(int c) const
    requires is_dual<T>
  {
    using P = decltype(T::x);
    P sum(0.0);
    for (int part = 0; part < (uniform_ ? 1 : 3); ++part)
      for (int i = 0; i < 6; ++i)
        sum += now_[columns_ + mu + 6 * part + i].d * P::load(strain_ + std::ptrdiff_t(linear(part * n_ + c) + i) * stride_);
    double total = 0;
    for (int i = 0; i < W; ++i) total += sum[i];
    return total;
  }

 private:
  template <class>
  friend class StrainMotion;

  // The layout of the numbers of one order: what all coordinates share, then Stumpff's functions, then a part for each coordinate.
  // clang-format off
  enum Place {
    omega = 0, a1 = 6, a2 = 12, a3 = 18, C1 = 24, doubled = 30, outer = 36, inner = 42, C2 = 48, last = 54,
    square = 60, along, slope, s = slope + 4, ww = s + 4, wv = ww + 6, A = wv + 6, B = A + 9, R = B + 9, x = R + 9, stumpff = x + 3,
    screw_ = 0, d_doubled = 6, d_outer = 12, d_inner = 18, d_omega = 24, d_C2 = 30, d_first = 36, d_second = 42, column_places = 48,
    G = 0, lambda = 6, on_outer = 12, on_inner = 18, on_doubled = 24, on_C1 = 30, mu = 36, pull_places = 54
  };
  // clang-format on
  static int stumpff_count(int length) { return 6 + 2 * (length - 1) + (is_dual<T> ? 2 : 0); }

  // Number i of the steps' strains, and where the six of a coordinate begin: a_1's, a_2's and a_3's, n each.
  JOUNCE_INLINE T strain(int i) const { return load_lanes<T>(strain_ + std::ptrdiff_t(i) * stride_); }
  int linear(int c) const { return 6 + 6 * c; }
  JOUNCE_INLINE void load(int first, T (&d)[6]) const {
    for (int i = 0; i < 6; ++i) d[i] = strain(first + i);
  }

  // Coefficient k of a product of series, by their places.
  template <int order>
  JOUNCE_INLINE T product(int a, int b) const {
    if constexpr (order == 0) return now_[a] * now_[b];
    if constexpr (order == 1) return memory_[a] * now_[b] + now_[a] * memory_[b];
    const T *left = memory_ + a, *right = now_ + b;
    T sum = *left * *right;
    for (int j = 1; j <= k_; ++j) {
      left += places_, right -= places_;
      sum += *left * *right;
    }
    return sum;
  }

  // y = sum over coordinates of (n, 6) constants times q
  template <class Q>
  void combine(int first, const Q& q, int y) {
    T sum[6];
    for (T& each : sum) each = T(0.0);
    for (int c = 0; c < n_; ++c) {
      const T shape = q(c, k_);
      for (int i = 0; i < 6; ++i) sum[i] += strain(first + 6 * c + i) * shape;
    }
    for (int i = 0; i < 6; ++i) now_[y + i] = sum[i];
  }

  // [a, b] of twists that are series.
  template <int order>
  JOUNCE_INLINE void bracket(int a, int b, int y) {
    if constexpr (order >= 0) {  // each number is loaded once
      T sum[6];
      for (T& each : sum) each = T(0.0);
      for (int j = 0; j <= order; ++j) {
        T u[6], v[6];
        for (int i = 0; i < 6; ++i) u[i] = memory_[j * places_ + a + i], v[i] = memory_[(order - j) * places_ + b + i];
        for (int i = 0; i < 3; ++i) {
          const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
          sum[i] += u[3 + i1] * v[i2] - u[3 + i2] * v[i1] + u[i1] * v[3 + i2] - u[i2] * v[3 + i1];
          sum[3 + i] += u[3 + i1] * v[3 + i2] - u[3 + i2] * v[3 + i1];
        }
      }
      for (int i = 0; i < 6; ++i) now_[y + i] = sum[i];
      return;
    }
    for (int i = 0; i < 3; ++i) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      now_[y + i] = product<order>(a + 3 + i1, b + i2) - product<order>(a + 3 + i2, b + i1) + product<order>(a + i1, b + 3 + i2) -
                    product<order>(a + i2, b + 3 + i1);
      now_[y + 3 + i] = product<order>(a + 3 + i1, b + 3 + i2) - product<order>(a + 3 + i2, b + 3 + i1);
    }
  }
  // a x* f of a twist and a wrench.
  template <int order>
  JOUNCE_NOINLINE void dual_bracket(int a, int f, T (&y)[6]) const {
    for (int i = 0; i < 3; ++i) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      y[i] = product<order>(a + 3 + i1, f + i2) - product<order>(a + 3 + i2, f + i1);
      y[3 + i] = product<order>(a + 3 + i1, f + 3 + i2) - product<order>(a + 3 + i2, f + 3 + i1) + product<order>(a + i1, f + i2) -
                 product<order>(a + i2, f + i1);
    }
  }
  // Component i of [d, b], d constant.
  JOUNCE_INLINE T bracket_with(const T* d, int b, int i) const {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    const T* y = now_ + b;
    if (i >= 3) return d[3 + i1] * y[3 + i2] - d[3 + i2] * y[3 + i1];
    return d[3 + i1] * y[i2] - d[3 + i2] * y[i1] + d[i1] * y[3 + i2] - d[i2] * y[3 + i1];
  }

  template <int order>
  JOUNCE_NOINLINE void run();
  void run_order() {
    if (k_ == 0)
      run<0>();
    else if (k_ == 1)
      run<1>();
    else
      run<-1>();
  }

  // Omega from a_1, a_2 and a_3; C_1 is stored with the opposite sign.
  template <int order>
  JOUNCE_NOINLINE void magnus() {
    T* m = now_;
    bracket<order>(a1, a2, C1);
    for (int i = 0; i < 6; ++i) {
      m[doubled + i] = T(2.0) * m[a3 + i] - m[C1 + i];
      m[outer + i] = T(-20.0) * m[a1 + i] - m[a3 + i] - m[C1 + i];
    }
    bracket<order>(a1, doubled, C2);
    for (int i = 0; i < 6; ++i) m[inner + i] = m[a2 + i] + T(1.0 / 60) * m[C2 + i];
    bracket<order>(outer, inner, last);
    for (int i = 0; i < 6; ++i) m[omega + i] = m[a1 + i] + T(1.0 / 12) * m[a3 + i] - T(1.0 / 240) * m[last + i];
  }

  // dOmega/dq_c, for the constant derivatives d_1, d_2, d_3 of a_1, a_2, a_3.
  template <int order>
  JOUNCE_NOINLINE void magnus_derivative(int c, int at) {
    T d1[6], d2[6], d3[6];
    load(linear(c), d1), load(linear(n_ + c), d2), load(linear(2 * n_ + c), d3);
    T* m = now_ + at;
    for (int i = 0; i < 6; ++i) {
      const T change = bracket_with(d2, a1, i) - bracket_with(d1, a2, i);
      m[d_doubled + i] = order == 0 ? change + T(2.0) * d3[i] : change;
      m[d_outer + i] = order == 0 ? change - T(20.0) * d1[i] - d3[i] : change;
    }
    bracket<order>(a1, at + d_doubled, at + d_C2);
    for (int i = 0; i < 6; ++i) {
      const T change = T(1.0 / 60) * (bracket_with(d1, doubled, i) + m[d_C2 + i]);
      m[d_inner + i] = order == 0 ? change + d2[i] : change;
    }
    bracket<order>(at + d_outer, inner, at + d_first);
    bracket<order>(outer, at + d_inner, at + d_second);
    for (int i = 0; i < 6; ++i) {
      const T change = T(-1.0 / 240) * (m[d_first + i] + m[d_second + i]);
      m[d_omega + i] = order == 0 ? change + d1[i] + T(1.0 / 12) * d3[i] : change;
    }
  }

  // A and B and, for steps that others start from or at order zero, R and the translation.
  template <int order>
  JOUNCE_NOINLINE void exponential() {
    constexpr int v = omega, w = omega + 3, c = stumpff;
    T* m = now_;
    m[square] = product<order>(w, w) + product<order>(w + 1, w + 1) + product<order>(w + 2, w + 2);
    m[along] = product<order>(w, v) + product<order>(w + 1, v + 1) + product<order>(w + 2, v + 2);
    extend_stumpff<order>();
    for (int k = 1; k <= 3; ++k) {
      m[slope + k] = T(double(k)) * m[c + k + 2] - m[c + k + 1];
      m[s + k] = product<order>(along, slope + k);
    }
    for (int i = 0; i < 6; ++i) {  // xx yy zz yz xz xy: entries i and i, or the two other than i
      const int a = i < 3 ? i : (i + 1) % 3, b = i < 3 ? i : (i + 2) % 3;
      m[ww + i] = product<order>(w + a, w + b);
      m[wv + i] = product<order>(w + a, v + b) + product<order>(w + b, v + a);
    }
    for (int i = 0; i < 3; ++i) {
      m[A + 4 * i] = m[c + 1] + product<order>(c + 3, ww + i);
      m[B + 4 * i] = m[s + 1] + product<order>(s + 3, ww + i) + product<order>(c + 3, wv + i);
      const T turn = product<order>(c + 2, w + i), more = product<order>(s + 2, w + i) + product<order>(c + 2, v + i);
      const T both = product<order>(c + 3, ww + 3 + i), rest = product<order>(s + 3, ww + 3 + i) + product<order>(c + 3, wv + 3 + i);
      const int a = (i + 1) % 3, b = (i + 2) % 3;  // [w]_ba = w_i
      m[A + 3 * b + a] = both - turn, m[A + 3 * a + b] = both + turn;
      m[B + 3 * b + a] = rest - more, m[B + 3 * a + b] = rest + more;
    }
    if (uniform_ && order != 0) return;
    for (int i = 0; i < 3; ++i) {
      const T turn = product<order>(c + 1, w + i), both = product<order>(c + 2, ww + 3 + i);
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      m[R + 4 * i] = m[c] + product<order>(c + 2, ww + i);
      m[R + 3 * b + a] = both + turn, m[R + 3 * a + b] = both - turn;
      m[x + i] = product<order>(A + i, v) + product<order>(A + 3 + i, v + 1) + product<order>(A + 6 + i, v + 2);
    }
  }

  // c_0 ... c_5 of a series u, and as many more as their further coefficients need: c_n' = (n c_{n+2} - c_{n+1}) u' / 2.
  template <int order>
  JOUNCE_INLINE void extend_stumpff() {
    const int count = stumpff_count(K_);
    T* c = now_ + stumpff;
    if constexpr (order == 0) return stumpff_values_of(now_[square], count, c, 1);
    const T half(0.5 / k_);
    for (int n = 0; n < count - 2 * k_; ++n) {
      T sum(0.0);
      const T *below = memory_ + stumpff + n, *u = now_ + square;
      for (int j = 0; j < k_; ++j, below += places_, u -= places_) sum += (T(n) * below[2] - below[1]) * (T(k_ - j) * *u);
      c[n] = half * sum;
    }
  }

  JOUNCE_INLINE void tangent_of_constant(int first, int at) {
    T *m = now_, y[6];
    load(first, y);
    for (int i = 0; i < 3; ++i) {
      m[at + i] = m[A + 3 * i] * y[0] + m[A + 3 * i + 1] * y[1] + m[A + 3 * i + 2] * y[2] + m[B + 3 * i] * y[3] + m[B + 3 * i + 1] * y[4] +
                  m[B + 3 * i + 2] * y[5];
      m[at + 3 + i] = m[A + 3 * i] * y[3] + m[A + 3 * i + 1] * y[4] + m[A + 3 * i + 2] * y[5];
    }
  }
  template <int order>
  JOUNCE_NOINLINE void tangent(int at) {
    const int y = at + d_omega;
    if constexpr (order >= 0) {
      T sum[6];
      for (T& each : sum) each = T(0.0);
      for (int j = 0; j <= order; ++j) {
        const T *m = memory_ + j * places_, *u = memory_ + (order - j) * places_ + y;
        for (int i = 0; i < 3; ++i)
          for (int l = 0; l < 3; ++l) {
            const T a = m[A + 3 * i + l];
            sum[i] += a * u[l] + m[B + 3 * i + l] * u[3 + l];
            sum[3 + i] += a * u[3 + l];
          }
      }
      for (int i = 0; i < 6; ++i) now_[at + i] = sum[i];
      return;
    }
    for (int i = 0; i < 3; ++i) {
      T v(0.0), w(0.0);
      for (int j = 0; j < 3; ++j) {
        v += product<order>(A + 3 * i + j, y + j) + product<order>(B + 3 * i + j, y + 3 + j);
        w += product<order>(A + 3 * i + j, y + 3 + j);
      }
      now_[at + i] = v, now_[at + 3 + i] = w;
    }
  }

  // lambda = dexp^T G, which is the wrench on Omega, and mu, those on a_1, a_2 and a_3.
  template <int order>
  JOUNCE_NOINLINE void pull_back() {
    const int at = columns_, f = at + G, n = at + G + 3;
    T *m = now_, *own = now_ + at, y[6], u[6];
    for (int i = 0; i < 3; ++i) {
      T force(0.0), moment(0.0);
      for (int j = 0; j < 3; ++j) {
        const int a = A + 3 * j + i, b = B + 3 * j + i;
        force += product<order>(a, f + j);
        moment += product<order>(b, f + j) + product<order>(a, n + j);
      }
      own[lambda + i] = own[mu + i] = force, own[lambda + 3 + i] = own[mu + 3 + i] = moment;
    }
    if (uniform_) return;
    dual_bracket<order>(inner, at + lambda, y);
    dual_bracket<order>(outer, at + lambda, u);
    for (int i = 0; i < 6; ++i) own[on_outer + i] = T(-1.0 / 240) * y[i], own[on_inner + i] = T(1.0 / 240) * u[i];
    dual_bracket<order>(a1, at + on_inner, y);
    for (int i = 0; i < 6; ++i) {
      own[on_doubled + i] = T(-1.0 / 60) * y[i];
      own[on_C1 + i] = T(0.0) - own[on_doubled + i] - own[on_outer + i];
      own[mu + 12 + i] = T(1.0 / 12) * own[lambda + i] + T(2.0) * own[on_doubled + i] - own[on_outer + i];
    }
    dual_bracket<order>(a1, at + on_C1, y);
    for (int i = 0; i < 6; ++i) own[mu + 6 + i] = own[on_inner + i] - y[i];
    dual_bracket<order>(doubled, at + on_inner, y);
    dual_bracket<order>(a2, at + on_C1, u);
    for (int i = 0; i < 6; ++i) own[mu + i] = m[at + lambda + i] - T(20.0) * own[on_outer + i] + T(1.0 / 60) * y[i] + u[i];
  }

  int n_, K_, k_ = 0;
  int columns_, places_;
  bool uniform_ = true;
  int stride_ = 0;
  const double* strain_ = nullptr;
  T *memory_, *now_ = nullptr;
};

// Outside the class, so that it can be compiled once for many users.
template <class T>
template <int order>
JOUNCE_NOINLINE void StrainMotion<T>::run() {
  if (!uniform_) magnus<order>();
  exponential<order>();
  if constexpr (is_dual<T>) return pull_back<order>();
  for (int c = 0; c < n_; ++c) {
    const int at = columns_ + c * column_places;
    if (uniform_) {
      tangent_of_constant(linear(c), at);
    } else {
      magnus_derivative<order>(c, at);
      tangent<order>(at);
    }
  }
}

JOUNCE_END
