// One constraint along a motion, as Taylor series: its rows, how fast the motion violates it, and its wrenches.
//
// Frames. Frame A carries axes that coincide with the world's at the instant of the expansion and have turned by E_a(t) since, E_a(0) =
// 1; so does B. In A's axes the motion of B relative to A is
//
//   v = E_a^T (x_b' - x_a') - w_a x p,    w = E_a^T (W_b - W_a),    p' = v,    E' = E [w],
//
// where x' and W are velocities in world axes, E times the frame's own twist. At order n the twists of order n appear with the identity
// as their factor, and everything else is known: N [v; w] = 0 gives J a_k = -(what is known), with the same J at every order.
//
// The wrench on B is N^T l in A's axes, about B's origin; the opposite one acts on A. In B's own axes it is E_b^T E_a N^T l.
//
// This is paper A's Lemma 2, for constraints; we know of no paper that has it.
#pragma once

#include "jounce/ring/arena.hpp"
#include "jounce/spatial/lie.hpp"
#include "jounce/spatial/rotation_series.hpp"
#include "jounce/tree/constraint.hpp"

JOUNCE_BEGIN

template <class T>
struct Wrench {
  Vec3<T> f, m;

  JOUNCE_INLINE Wrench& operator+=(const Wrench& b) {
    f += b.f, m += b.m;
    return *this;
  }
  friend JOUNCE_INLINE Wrench operator-(const Wrench& a) { return {-a.f, -a.m}; }
};

// A frame at the instant: its axes in the world, by rows, and its origin.
template <class T>
struct PlacedFrame {
  T R[9];
  Vec3<T> x;
};

// B in A, in world axes, by rows.
template <class T>
void relative_rotation(const Constraint& constraint, const PlacedFrame<T>& a, const PlacedFrame<T>& b, T* R) {
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      R[3 * r + c] = constraint.hold == Hold::frame || r != c ? 0.0 : 1.0;
      for (int j = 0; constraint.hold == Hold::frame && j < 3; ++j) R[3 * r + c] += b.R[3 * r + j] * a.R[3 * c + j];
    }
}

// How far q_1 is from f(q_0).
template <class T>
T gear_residual(const Constraint& constraint, const T& first, const T& second) {
  T f = 0.0;
  for (int m = constraint.degree; m >= 0; --m) f = f * first + constraint.polynomial[m];
  return second - f;
}

// T is double or DoubleDouble.
template <class T>
class ConstraintSeries {
 public:
  using V = Vec3<T>;
  using Wrench = jounce::Wrench<T>;
  using PlacedFrame = jounce::PlacedFrame<T>;

  ConstraintSeries() = default;

  // `length`: number of coefficients.
  template <class Arena>
  ConstraintSeries(const Constraint& constraint, int length, Arena& arena)
      : constraint_(&constraint),
        a_(length, arena),
        b_(length, arena),
        rows_(arena.template take<T>(length * std::size_t(constraint.count) * 6)),
        p_(arena.template take<V>(length)),
        v_(arena.template take<V>(length)),
        w_(arena.template take<V>(length)),
        at_a_(arena.template take<Wrench>(length)),
        in_world_(arena.template take<Wrench>(length)),
        on_a_(arena.template take<Wrench>(length)),
        on_b_(arena.template take<Wrench>(length)),
        direction_(arena.template take<V>(constraint.tie == Tie::universal || constraint.tie == Tie::rolling ? length : 0)),
        cosine_(arena.template take<T>(constraint.tie == Tie::rolling ? 3 * length : 0)),
        powers_(arena.template take<T>(constraint.tie == Tie::gear ? (constraint.degree + 3) * std::size_t(length) : 0)),
        length_(length) {
    angular_ = constraint.tie == Tie::universal || constraint.tie == Tie::rolling;
    for (int i = 0; i < constraint.count; ++i)
      angular_ |= constraint.rows[i][3] != 0 || constraint.rows[i][4] != 0 || constraint.rows[i][5] != 0;
  }

  bool is_gear() const { return constraint_->tie == Tie::gear; }
  bool varies() const { return constraint_->tie != Tie::joint; }
  bool a_moves() const { return a_.moves; }
  bool needs_wrench_on_a() const { return a_.moves || constraint_->on_a; }  // users may name a frame that is fixed in the world
  bool is_flat() const { return flat_; }                                    // a wheel that touches everywhere

  // From the poses of the frames; A matters only if it is not where B is. `fall`: free fall as contained in the twists of bodies, for
  // each side.
  void start(const PlacedFrame& a, const PlacedFrame& b, bool a_moves, const V& fall_a, const V& fall_b) {
    const Constraint& c = *constraint_;
    PlacedFrame held = c.hold == Hold::frame ? a : b;
    if (c.hold == Hold::upright)
      for (int i = 0; i < 9; ++i) held.R[i] = i % 4 == 0 ? 1.0 : 0.0;
    a_.start(held, a_moves, fall_a), b_.start(b, true, fall_b);
    p_[0] = b.x - held.x;
    axis_ = apply(held.R, V{c.axis[0], c.axis[1], c.axis[2]});
    other_ = apply(b.R, V{c.other[0], c.other[1], c.other[2]});
    for (int i = 0; i < c.count; ++i) {
      const double* row = c.rows[i];
      put(apply(held.R, V{row[0], row[1], row[2]}), rows_ + 6 * i);
      put(apply(held.R, V{row[3], row[4], row[5]}), rows_ + 6 * i + 3);
    }
  }

  // What lower orders contribute to order n, n from 0 on; after finish(n - 1).
  void prepare(int n) {
    if (is_gear()) return extend_slope(n);
    b_.prepare(n, angular_);
    known_v_ = b_.known_velocity, known_w_ = b_.known_spin;
    if (a_.moves) {
      a_.prepare(n, angular_);
      known_v_ -= a_.known_velocity, known_w_ -= a_.known_spin;
      for (int j = 1; j <= n; ++j) {
        known_v_ += apply_transpose(a_.E + 9 * j, b_.velocity[n - j] - a_.velocity[n - j]) - cross_of(a_.w[n - j], p_[j]);
        if (angular_) known_w_ += apply_transpose(a_.E + 9 * j, b_.spin[n - j] - a_.spin[n - j]);
      }
    }
    if (varies()) extend_rows(n);
  }

  // The motion relative to A at order n, from the twists of A and B at that order in their own axes, about their origins, including
  // free fall.
  void finish(int n, const V& va, const V& wa, const V& vb, const V& wb) {
    v_[n] = known_v_ + vb, w_[n] = known_w_ + wb;
    if (a_.moves) v_[n] -= va + cross_of(wa, p_[0]), w_[n] -= wa;
    p_[n + 1] = reciprocal<T>(n + 1) * v_[n];
    b_.finish(n, vb, wb);
    if (a_.moves) a_.finish(n, va, wa);
  }
  // Coefficient n of the twist of an A whose motion in the world is given, in its own axes; after prepare(n).
  void own_twist_of_a(int n, const V* velocity, const V* spin, V& v, V& w) const {
    v = velocity[n], w = spin[n];
    for (int j = 1; j <= n; ++j) v += apply_transpose(a_.E + 9 * j, velocity[n - j]), w += apply_transpose(a_.E + 9 * j, spin[n - j]);
  }

  // The same for a gear: coefficient n of its first coordinate, before prepare(n), and of the rates of both.
  void set_driver(int n, const T& q) { power(1)[n] = q; }
  void finish_gear(int n, const T& first, const T& second) {
    rate_of_first()[n] = first;
    T& rate = gear_rate()[n];
    rate = second;
    for (int j = 0; j <= n; ++j) rate -= slope()[j] * rate_of_first()[n - j];
  }
  T gear_slope(int j) const { return slope()[j]; }

  // Coefficient n of how fast row i is violated.
  T speed(int n, int i) const {
    if (is_gear()) return gear_rate()[n];
    T sum = 0.0;
    for (int j = 0; j <= (varies() ? n : 0); ++j) {
      const T* row = this->row(j, i);
      sum += dot(at(row), v_[n - j]) + dot(at(row + 3), w_[n - j]);
    }
    return sum;
  }

  // The contribution of a twist of A, to be subtracted.
  T speed_of_a(int i, const V& va, const V& wa) const {
    const T* row = this->row(0, i);
    return dot(at(row), va + cross_of(wa, p_[0])) + dot(at(row + 3), wa);
  }

  // The part of it that is known before the twists of order n are.
  T known_speed(int n, int i) const {
    const T* row = this->row(0, i);
    T sum = dot(at(row), known_v_);
    if (angular_) sum += dot(at(row + 3), known_w_);
    for (int j = 1; varies() && j <= n; ++j) {
      row = this->row(j, i);
      sum += dot(at(row), v_[n - j]) + dot(at(row + 3), w_[n - j]);
    }
    return sum;
  }
  // The size of the terms of its first part, without cancellation.
  double known_size(int i) const {
    const T *row = this->row(0, i), u[6] = {known_v_.x, known_v_.y, known_v_.z, known_w_.x, known_w_.y, known_w_.z};
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += std::fabs(rounded(row[j] * u[j]));
    return sum;
  }
  T known_gear_speed(int n) const {
    T sum = 0.0;
    for (int j = 1; j <= n; ++j) sum -= slope()[j] * rate_of_first()[n - j];
    return sum;
  }

  const V& apart() const { return p_[0]; }  // from A's origin to B's, at the instant

  // The square of the terms that the moment of row i is made of, without cancellation: what is much smaller is rounding error. The row of
  // a ball along the normal of its plane is an example, radius a x a, and so is that of a universal joint whose axes are parallel.
  double moment_made_of(int i) const {
    const Constraint& c = *constraint_;
    if (c.tie == Tie::rolling) return c.length * c.length;
    if (c.tie == Tie::universal && i == 3) return 1;
    const V m = at(row(0, i) + 3);
    return rounded(dot(m, m));
  }

  // Row i at the instant, as wrenches on B and on A about their origins.
  Wrench on_b(int i) const { return {at(row(0, i)), at(row(0, i) + 3)}; }
  Wrench on_a(int i) const { return opposite(on_b(i)); }
  Wrench opposite(const Wrench& w) const { return {-w.f, -(w.m + cross_of(p_[0], w.f))}; }

  // Coefficient k of the wrenches, from multipliers below k, in axes fixed in B and A: on_b(), on_a().
  void prepare_wrenches(int k, const T* l, int stride) {
    Wrench sum{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int j = 1; varies() && j <= k; ++j)
      for (int i = 0; i < constraint_->count; ++i) {
        const T *row = this->row(j, i), x = l[(k - j) * stride + i];
        sum.f += x * at(row), sum.m += x * at(row + 3);
      }
    at_a_[k] = in_world_[k] = sum;
    for (int j = 1; a_.moves && j <= k; ++j) in_world_[k] += turned(a_.E + 9 * j, at_a_[k - j]);
    on_b_[k] = in_world_[k];
    for (int j = 1; j <= k; ++j) {
      on_b_[k].f += apply_transpose(b_.E + 9 * j, in_world_[k - j].f);
      if (angular_) on_b_[k].m += apply_transpose(b_.E + 9 * j, in_world_[k - j].m);
    }
    if (!needs_wrench_on_a()) return;
    on_a_[k] = opposite(sum);
    for (int j = 1; j <= k; ++j) on_a_[k].m -= cross_of(p_[j], at_a_[k - j].f);
  }
  // With the multipliers of order k.
  void finish_wrenches(int k, const T* l) {
    Wrench sum{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int i = 0; i < constraint_->count; ++i) sum.f += l[i] * on_b(i).f, sum.m += l[i] * on_b(i).m;
    at_a_[k] += sum, in_world_[k] += sum, on_b_[k] += sum;
    if (needs_wrench_on_a()) on_a_[k] += opposite(sum);
  }
  const Wrench& wrench_on_a(int k) const { return on_a_[k]; }
  const Wrench& wrench_on_b(int k) const { return on_b_[k]; }
  // A wrench with coefficients u(j) in axes fixed in B, or A, turned to world axes.
  template <class U>
  Wrench turned_to_world(int k, bool in_a, const U& u) const {
    const Side& side = in_a ? a_ : b_;
    Wrench sum = u(k);
    for (int j = 1; side.moves && j <= k; ++j) sum += turned(side.E + 9 * j, u(k - j));
    return sum;
  }
  // The wrench on B, or on A, in world axes, about the origin of its frame.
  Wrench wrench_in_world(int k, bool on_a) const {
    if (!on_a) return in_world_[k];
    return turned_to_world(k, true, [&](int j) { return on_a_[j]; });
  }
  V origin(int k, bool of_a) const { return of_a && !a_.moves && k > 0 ? V{0.0, 0.0, 0.0} : (of_a ? a_ : b_).x[k]; }

  const T* row(int k, int i) const { return rows_ + 6 * (std::ptrdiff_t(k) * constraint_->count + i); }
  const T* turned_a(int k) const { return a_.E + 9 * k; }

  // For a motion given by poses: coefficient n of how far the frames have turned since the instant, by rows, and of where they are.
  void set_pose(int n, const T* Ea, const V& xa, const T* Eb, const V& xb) {
    for (int i = 0; i < 9; ++i) a_.E[9 * n + i] = Ea[i], b_.E[9 * n + i] = Eb[i];
    a_.x[n] = xa, b_.x[n] = xb;
    if (n > 0) {
      p_[n] = xb - xa;
      for (int j = 1; a_.moves && j <= n; ++j) p_[n] += apply_transpose(a_.E + 9 * j, b_.x[n - j] - a_.x[n - j]);
    }
    if (varies() && !is_gear()) extend_rows(n);
  }
  // The residual of row i; 0 if it does not come from a position. R: B in A, by rows, in the world's axes.
  double residual(int i, const double* R) const {
    const Constraint& c = *constraint_;
    const Vec3<double> a = rounded(axis_), p = rounded(p_[0]), n = rounded(at(row(0, i))), m = rounded(at(row(0, i) + 3));
    if (i >= c.holonomic || c.hold != Hold::frame) return 0;
    if (c.tie == Tie::distance) return 0.5 * rounded(dot(p_[0], p_[0]) - T(c.length) * c.length);
    if (c.tie == Tie::universal && i == 3) return dot(a, rounded(other_)) - c.length;
    if (c.tie == Tie::rolling) return dot(a, p) + dot(a, contact());
    if (c.turning == 3) return dot(n, p) + dot(m, rotation_vector(R));
    if (c.turning == 2 && dot(n, n) > 0 && dot(m, m) > 0) {  // a helical joint's pitch: the nearest turn
      double angle = dot(a, rotation_about(R, a));
      const double turn = 6.283185307179586 * c.length, left = dot(n, p) - c.length * angle;
      return turn != 0 ? left - turn * std::round(left / turn) : left;
    }
    if (c.turning == 2) return dot(n, p) + tilt(m, a, jounce::apply(R, a));
    return dot(n, p);
  }

 private:
  struct Side {
    T* E;                // (length, 9) how far it has turned
    V *x, *v, *w;        // where it is; its own twist
    V *velocity, *spin;  // the same in world axes
    V known_velocity, known_spin, fall;
    bool moves;

    Side() = default;
    template <class Arena>
    Side(int length, Arena& arena)
        : E(arena.template take<T>(9 * std::size_t(length))),
          x(arena.template take<V>(length)),
          v(arena.template take<V>(length)),
          w(arena.template take<V>(length)),
          velocity(arena.template take<V>(length)),
          spin(arena.template take<V>(length)) {}

    void start(const PlacedFrame& at, bool does_move, const V& its_fall) {
      for (int i = 0; i < 9; ++i) E[i] = i % 4 == 0 ? 1.0 : 0.0;
      x[0] = at.x;
      moves = does_move, fall = its_fall;
    }
    void prepare(int n, bool spins) {
      known_velocity = n == 1 ? fall : V{0.0, 0.0, 0.0}, known_spin = {0.0, 0.0, 0.0};
      for (int j = 1; j <= n; ++j) known_velocity += apply(E + 9 * j, v[n - j]);
      for (int j = 1; spins && j <= n; ++j) known_spin += apply(E + 9 * j, w[n - j]);
    }
    void finish(int n, const V& own_v, const V& own_w) {
      v[n] = own_v, w[n] = own_w;
      velocity[n] = known_velocity + own_v, spin[n] = known_spin + own_w;
      x[n + 1] = reciprocal<T>(n + 1) * velocity[n];
      next_rotation(n, [&](int j) { return E + 9 * j; }, [&](int j) { return w[j]; }, E + 9 * (n + 1));
    }
  };

  static Vec3<double> rounded(const V& u) { return {jounce::rounded(u.x), jounce::rounded(u.y), jounce::rounded(u.z)}; }
  static double rounded(const T& x) { return jounce::rounded(x); }
  static V at(const T* u) { return {u[0], u[1], u[2]}; }
  static void put(const V& u, T* to) { to[0] = u.x, to[1] = u.y, to[2] = u.z; }
  static Wrench turned(const T* E, const Wrench& w) { return {apply(E, w.f), apply(E, w.m)}; }

  // A quaternion's logarithm, for a rotation that is small where it matters.
  static Vec3<double> rotation_vector(const double* R) {
    const Vec3<double> twice{R[7] - R[5], R[2] - R[6], R[3] - R[1]};  // 2 sin(angle) axis
    const double s = 0.5 * std::sqrt(dot(twice, twice)), c = 0.5 * (R[0] + R[4] + R[8] - 1);
    const double angle = std::atan2(s, c);
    if (s > 1e-8) return (angle / (2 * s)) * twice;
    if (c > 0) return 0.5 * twice;
    const int i = R[0] >= R[4] && R[0] >= R[8] ? 0 : R[4] >= R[8] ? 1 : 2;  // half a turn: R + 1 = 2 axis axis^T
    const Vec3<double> axis{R[i] + (i == 0), R[3 + i] + (i == 1), R[6 + i] + (i == 2)};
    return (angle / std::sqrt(dot(axis, axis))) * axis;
  }
  // How far a direction b is turned away from a, about m; half a turn if they are opposite, when any m will do.
  static double tilt(const Vec3<double>& m, const Vec3<double>& a, const Vec3<double>& b) {
    const Vec3<double> across = cross_of(a, b);
    const double s = std::sqrt(dot(across, across)), c = dot(a, b);
    if (s > 1e-9) return std::atan2(s, c) / s * dot(m, across);
    return c > 0 ? dot(m, across) : 3.141592653589793 * std::sqrt(dot(m, m));
  }
  // The turn about a, times a.
  static Vec3<double> rotation_about(const double* R, const Vec3<double>& a) {
    const Vec3<double> twice{R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    return std::atan2(0.5 * dot(twice, a), 0.5 * (R[0] + R[4] + R[8] - dot(a, jounce::apply(R, a)))) * a;
  }

  void set_row(int n, int i, const V& linear, const V& angular) {
    T* to = rows_ + 6 * (std::ptrdiff_t(n) * constraint_->count + i);
    put(linear, to), put(angular, to + 3);
  }

  void extend_rows(int n) {
    const Constraint& c = *constraint_;
    const V none{0.0, 0.0, 0.0};
    if (c.tie == Tie::distance) return set_row(n, 0, p_[n], none);
    if (c.tie == Tie::joint) return;
    extend_direction(n);
    if (c.tie == Tie::universal) {
      for (int i = 0; n > 0 && i < 3; ++i) set_row(n, i, none, none);
      set_row(n, 3, none, cross_of(direction_[n], axis_));
      return;
    }
    const V lever = contact_coefficient(n);  // c x e in w . (c x e)
    for (int i = 0; i < c.count; ++i) {
      const V e = at(row(0, i));
      set_row(n, i, n == 0 ? e : none, cross_of(lever, e));
    }
  }

  // B's own direction in A's axes.
  void extend_direction(int n) {
    direction_[n] = jounce::apply(b_.E + 9 * n, other_);
    for (int j = 1; a_.moves && j <= n; ++j) direction_[n] += apply_transpose(a_.E + 9 * j, jounce::apply(b_.E + 9 * (n - j), other_));
  }

  // From B's origin to the point of contact, with h = a . b and y = (1 - h^2)^(-1/2): -length (a - h b) y.
  V contact_coefficient(int n) {
    const Constraint& c = *constraint_;
    T *h = cosine_, *z = h + length_, *y = z + length_;
    h[n] = dot(axis_, direction_[n]);
    z[n] = n == 0 ? 1.0 : 0.0;
    for (int j = 0; j <= n; ++j) z[n] -= h[j] * h[n - j];
    if (n == 0) {
      flat_ = !(z[0] > 1e-12);
      y[0] = flat_ ? 0.0 : 1.0 / square_root(z[0]);
    } else {
      y[n] = 0.0;
      for (int j = 1; j <= n; ++j) y[n] += (-0.5 * j - (n - j)) * z[j] * y[n - j];
      y[n] = flat_ ? 0.0 : y[n] / (double(n) * z[0]);
    }
    V sum = y[n] * axis_;
    for (int i = 0; i <= n; ++i)
      for (int j = 0; i + j <= n; ++j) sum -= (y[i] * h[j]) * direction_[n - i - j];
    return -c.length * sum;
  }
  Vec3<double> contact() const {
    const Vec3<double> a = rounded(axis_), b = rounded(other_);
    const double h = dot(a, b), square = 1 - h * h;
    return square > 1e-12 ? (-constraint_->length / std::sqrt(square)) * (a - h * b) : Vec3<double>{0, 0, 0};
  }

  // Coefficient n of the powers of q_0, and of f'(q_0).
  void extend_slope(int n) {
    const Constraint& c = *constraint_;
    slope()[n] = n == 0 && c.degree > 0 ? c.polynomial[1] : 0.0;
    for (int m = 2; m <= c.degree; ++m) {
      if (m > 2) {
        power(m - 1)[n] = 0.0;
        for (int j = 0; j <= n; ++j) power(m - 1)[n] += power(1)[j] * power(m - 2)[n - j];
      }
      slope()[n] += m * c.polynomial[m] * power(m - 1)[n];
    }
  }
  T* power(int m) const { return powers_ + std::ptrdiff_t(m - 1) * length_; }  // of q_0, m from 1 to the degree
  T* slope() const { return powers_ + std::ptrdiff_t(constraint_->degree) * length_; }
  T* gear_rate() const { return slope() + length_; }
  T* rate_of_first() const { return slope() + 2 * length_; }

  const Constraint* constraint_;
  Side a_, b_;
  T* rows_;         // (length, count, 6)
  V *p_, *v_, *w_;  // B relative to A
  Wrench *at_a_, *in_world_, *on_a_, *on_b_;
  V* direction_;
  T *cosine_, *powers_;
  V axis_, other_, known_v_, known_w_;
  int length_;
  bool angular_;  // whether it has rows on w
  bool flat_ = false;
};

JOUNCE_END
