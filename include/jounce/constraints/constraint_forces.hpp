// Constrained forward dynamics to any order: the forces of constraints, order by order.
//
// In the equations of motion and the constraints, differentiated k times, the unknowns are multiplied by the same matrix at every order
// (paper A's Lemma 2, for constraints):
//
//   [ M  -J^T ] [ a_k ]   [ tau_k - b_k ]
//   [ J   0   ] [ l_k ] = [     - g_k   ]
//
// The articulated-body algorithm is a factorization M = L D L^T (Featherstone, ch. 8): its sweep inwards computes u = L^-1 f from
// forces f, its sweep outwards does the rest. So the sweep inwards over the columns of J^T gives Y = L^-1 J^T, which is sparse, and
//
//   J M^-1 J^T = Y^T D^-1 Y
//
// is factored once. The same sweep gives K, the wrenches on bodies that the rows amount to, and with them the violation of the
// constraints without the sweep outwards: if bodies have additional accelerations c (articulated_bodies.hpp),
//
//   J a = Y^T D^-1 u - sum over bodies of K . c.
//
// Then, at each order: the sweep inwards without l_k; l_k; u += Y l_k and the wrenches += K l_k; and the sweep outwards.
//
// Redundant rows, which are combinations of earlier ones, get no force here: the motion does not depend on how forces are shared. If
// the least forces are wanted, the multipliers of these rows are given (set_shares).
#pragma once

#include "jounce/algorithms/articulated_bodies.hpp"
#include "jounce/constraints/constraint_series.hpp"
#include "jounce/constraints/rounding_growth.hpp"
#include "jounce/constraints/row_factors.hpp"
#include "jounce/motion/bias_by_order.hpp"

JOUNCE_BEGIN

// One state at a time. T is double, or DoubleDouble where doubles lose digits.
template <class T>
class ConstraintForces {
 public:
  using V = Vec3<T>;
  using Wrench = jounce::Wrench<T>;
  using PlacedFrame = jounce::PlacedFrame<T>;
  using Series = ConstraintSeries<T>;

  template <class Arena>
  ConstraintForces(const Tree& tree, const Constraints& all, int order, BodyPlaces<T>& places, ArticulatedBodies<T>& factors,
                   BiasByOrder<T>& bias, Arena& arena)
      : tree_(tree),
        all_(all),
        order_(order),
        places_(places),
        factors_(factors),
        bias_(bias),
        series_(arena.template take<Series>(all.count)),
        offset_(arena.template take<V>(2 * std::size_t(all.count))),
        reach_(arena.template take<double>(2 * std::size_t(all.count))),
        frame_(arena.template take<PlacedFrame>(2 * std::size_t(all.count))),
        named_(arena.template take<PlacedFrame>(all.count)),
        K_(arena.template take<Six<T>>(std::size_t(all.path_count) * all.rows)),
        rows_(all.rows, arena),
        strength_(arena.template take<Strength>(all.rows)),
        stride_(rows_.stride()),
        Y_(arena.template take<T>(std::size_t(tree.nv) * stride_)),
        W_(arena.template take<T>(std::size_t(tree.widest) * stride_)),
        sum_(arena.template take<Six<T>>(all.rows)),
        size_(arena.template take<double>(all.rows)),
        left_(arena.template take<double>(all.rows)),
        push_(arena.template take<double>(stride_)),
        geared_(arena.template take<Geared>(all.count)),
        residual_(arena.template take<double>(all.rows)),
        known_(arena.template take<T>(all.rows)),
        refined_(arena.template take<T>(stride_)),
        share_(arena.template take<T>(all.rows)),
        independent_(arena.template take<bool>(all.rows)),
        natural_(arena.template take<T>(all.rows * std::size_t(round_up(tree.nv, RowFactors<T>::width)))),
        basis_(arena.template take<T>(all.rows * std::size_t(round_up(tree.nv, RowFactors<T>::width)))),
        l_(arena.template take<T>((order + 1) * std::size_t(stride_))),
        felt_(arena.template take<int>(tree.nv)),
        x_(arena.template take<T>(tree.nv)),
        z_(arena.template take<T>(tree.nv)),
        loose_(arena.template take<double>(round_up(tree.nv, RowFactors<T>::width))),
        velocity_(arena.template take<V>((order + 2) * std::size_t(all.count))),
        spin_(arena.template take<V>((order + 2) * std::size_t(all.count))),
        growth_(order, arena) {
    for (int i = 0; i < all.count; ++i) {
      Series made(all.each[i], order + 3, arena);
      if (series_) series_[i] = made;
    }
  }

  // kp and kd of (d/dt)^2 + kd d/dt + kp on the violation; if zero, the accelerations obey, and an existing violation remains.
  void set_correction(double kp, double kd) { kp_ = kp, kd_ = kd; }
  // How the places that constraint i is attached to move in the world, (order + 2, 6) derivatives of the twist in world axes about the
  // place; null: they do not.
  void set_motion(int i, const double* twist, std::ptrdiff_t step) {
    moving_ |= twist != nullptr;
    for (int k = 0; k < order_ + 2; ++k) {
      const auto x = [&](int c) -> T { return twist ? over_factorial<T>(k, twist[k * step + c]) : 0.0; };
      velocity_[i * (order_ + 2) + k] = {x(0), x(1), x(2)};
      spin_[i * (order_ + 2) + k] = {x(3), x(4), x(5)};
    }
  }
  // Multipliers (order + 1, rows), as derivatives, of redundant rows; null: they are zero.
  void set_shares(const double* multipliers) { shares_ = multipliers; }

  const Consistency& consistency() const { return consistency_; }
  const Series& series(int i) const { return series_[i]; }
  const T& multiplier(int k, int row) const { return l_[k * std::ptrdiff_t(stride_) + row]; }

  // The wrenches of order k as far as they are known; outwards, after the twists of order k.
  void apply(int k) {
    if (k == 0) start();
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie == Tie::gear) continue;
      series_[i].prepare_wrenches(k, l_ + c.first, stride_);
      if (k == 0) continue;
      if (c.b.body >= 0) factors_.wrenches()[c.b.body] -= about_point(2 * i + 1, series_[i].wrench_on_b(k));
      if (on_body_a(c)) factors_.wrenches()[c.a.body] -= about_point(2 * i, series_[i].wrench_on_a(k));
    }
  }
  // The same for forces on coordinates.
  void add_forces(int k, T* u) const {
    for (int i = 0; i < all_.count; ++i)
      if (const Constraint& c = all_.each[i]; c.tie == Tie::gear)
        for (int j = 1; j <= k; ++j) u[c.v[0]] -= series_[i].gear_slope(j) * multiplier(k - j, c.first);
  }

  // Between the sweeps of order k.
  void solve(int k) {
    if (k == 0) {
      gather();
      for (int r = 0; r < all_.rows; ++r) push_[r] = rounded(rows_.square(r));
      rows_.factor();
      const bool lost = !std::is_same_v<T, double> || rows_.doubtful() || (rows_.dependent() > 0 && masses_are_unequal());
      if (lost || may_lose_rates()) judge_rows();
      if (lost || consistency_.nearly >= 0) factor_again();
      consistency_.dependent = rows_.dependent();
    }
    if (shares_) {
      for (int r = 0; r < all_.rows; ++r)
        share_[r] = rows_.is_dependent(r) ? over_factorial<T>(k, shares_[k * std::ptrdiff_t(all_.rows) + r]) : 0.0;
      spread(share_);
    }
    T* l = l_ + k * std::ptrdiff_t(stride_);
    accelerate(l);
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      Series& s = series_[i];
      s.prepare(k + 1);
      const bool carried = moving_ && c.tie != Tie::gear && c.a.body < 0;  // by a place with given motion in the world
      V va, wa;
      if (carried) twist_of(2 * i, c.a, k + 1, va, wa);
      for (int r = 0; r < c.count; ++r) {
        T broken = double(k + 1) * (c.tie == Tie::gear ? known_gear(i, k + 1) : s.known_speed(k + 1, r));
        if (carried) broken -= double(k + 1) * s.speed_of_a(r, va, wa);
        if (kp_ != 0 || kd_ != 0)
          broken +=
              kd_ * s.speed(k, r) + (r < c.holonomic ? kp_ * (k == 0 ? T(residual_[c.first + r]) : s.speed(k - 1, r) / double(k)) : T(0.0));
        known_[c.first + r] = broken;
        l[c.first + r] = -(l[c.first + r] + broken);
      }
    }
    rows_.solve(l);
    for (int c = 0; c < tree_.nv; ++c) loose_[c] = rounded(z_[c]);
    spread(l);
    if (rows_.doubtful()) refine(l);
    for (int r = 0; shares_ && r < all_.rows; ++r) l[r] += share_[r];
    for (int i = 0; i < all_.count; ++i)
      if (!series_[i].is_gear()) series_[i].finish_wrenches(k, l + all_.each[i].first);
  }

  const RowFactors<T>& factored_rows() const { return rows_; }  // J M^-1 J^T, after solve(0)
  // Its wrench of order zero on the body of B, or A, in world axes about that body's fixed point.
  Six<T> on_body(int i, bool b) const {
    return about_point(2 * i + (b ? 1 : 0), b ? series_[i].wrench_on_b(0) : series_[i].wrench_on_a(0));
  }
  const PlacedFrame& placed(int i, bool b) const { return frame_[2 * i + (b ? 1 : 0)]; }
  const PlacedFrame& named(int i) const { return named_[i]; }
  // From the origin of the frame that the force refers to, to B's.
  V lever(int i) const { return frame_[2 * i + 1].x - named_[i].x; }

  // After both sweeps of order k: of two joints with a gear between them, the one whose rate is a small difference of large ones, in
  // natural sizes, gets it from the other.
  void settle(int k) {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie != Tie::gear || c.v[0] == c.v[1] || factors_.holds(c.v[0]) || factors_.holds(c.v[1])) continue;
      if (kp_ != 0 || kd_ != 0 || rows_.is_dependent(c.first)) continue;
      T *rate = bias_.rate(k + 1), &first = rate[c.v[0]], &second = rate[c.v[1]];
      const T known = series_[i].known_gear_speed(k + 1), slope = series_[i].gear_slope(0);
      const double of_first = std::fabs(loose_[c.v[0]]) / all_.coordinate_sizes[c.v[0]];
      const double of_second = std::fabs(loose_[c.v[1]]) / all_.coordinate_sizes[c.v[1]];
      if (of_first <= of_second)
        second = slope * first - known;
      else if (!(slope == 0.0))
        first = (second + known) / slope;
    }
  }

  // How much of the motion and of the forces of order k may be rounding error, in natural sizes. Before constraints act, light bodies take
  // accelerations that may be far larger than those that remain; so do those that each row gives by itself, where forces cancel: of D^-1 Y
  // l no entry exceeds sqrt(D^-1) sqrt(A) |l|, as A sums D^-1 Y^2. And a heavy body that moves by their rounding error takes a force. That
  // of a gear, which may be far smaller than others, is weighed by itself.
  void weigh(int k) {
    const T *rate = bias_.rate(k + 1), *l = l_ + k * std::ptrdiff_t(stride_);
    Numbers loose_squared(0.0), left_squared(0.0), moved_squared(0.0), borne_squared(0.0), pushed_squared(0.0);
    together(tree_.nv, [&](const auto& at) {
      const Numbers weight = at(all_.path_weights), x = at(rate), before = weight * at(loose_), after = weight * x,
                    moved = at(all_.moves) * x;
      loose_squared += before * before, left_squared += after * after, moved_squared += moved * moved;
    });
    together(all_.rows, [&](const auto& at) {
      const Numbers x = at(l), load = at(all_.row_sizes) * x;
      borne_squared += load * load, pushed_squared += at(push_) * (x * x);
    });
    const double left = (k + 1) * root(left_squared), loose = root(loose_squared) + left, borne = root(borne_squared);
    if (k == 0)
      consistency_.loose = loose, start_weighing();
    else
      kept_ *= slow_, borne_ *= slow_, overshot_ *= RoundingGrowth::overshoot;
    if (left > kept_) kept_ = left;
    if (borne > borne_) borne_ = borne;
    const double error = growth_.error(k, unit_rounding * (loose + std::sqrt(most_ease_) * root(pushed_squared)), rows_unit_);
    growth_.found(k, root(moved_squared), all_.most_moved * error);
    const double rounded_off = error / overshot_;
    note_cancelled(rounded_off, kept_);
    note_cancelled(rounded_off * heaviest_, borne_);
    for (int i = 0; i < all_.count; ++i)
      if (const Constraint& c = all_.each[i]; c.tie == Tie::gear && !rows_.is_dependent(c.first)) {
        const double load = all_.row_sizes[c.first] * std::fabs(rounded(multiplier(k, c.first)));
        Geared& gear = geared_[i];
        gear = k == 0 ? Geared{load, heavier(c)} : Geared{slow_ * gear.load, gear.pivot};
        note_cancelled(rounded_off * gear.pivot, std::fmax(load, gear.load));
      }
    if (rows_.dependent() > 0) judge(k, 1e10 * unit_rounding * loose);
  }

  // The same, before the next order.
  void finish(int k) { set_twists(k + 1); }

  // In the end, subtracts from the forces of order k where accelerations are prescribed what constraints on coordinates provide.
  void take_forces(int k, const bool* held, T* tau) const {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie != Tie::gear) continue;
      if (held[c.v[1]]) tau[c.v[1]] -= gear_force(i, k, 1);
      if (held[c.v[0]]) tau[c.v[0]] -= gear_force(i, k, 0);
    }
  }
  // Coefficient k of the force of a gear on its first or second coordinate.
  T gear_force(int i, int k, int which) const {
    const int row = all_.each[i].first;
    if (which == 1) return multiplier(k, row);
    T sum = 0.0;
    for (int j = 0; j <= k; ++j) sum -= series_[i].gear_slope(j) * multiplier(k - j, row);
    return sum;
  }
  // Coefficient k of the wrench on the body that the force refers to, in the given axes: [force; moment].
  void force(int i, int k, Axes axes, double* out) const {
    const Constraint& c = all_.each[i];
    for (int r = 0; r < 6; ++r) out[r] = 0;
    if (c.tie == Tie::gear) {
      out[0] = rounded(gear_force(i, k, 0)), out[1] = rounded(gear_force(i, k, 1));
      return;
    }
    const Series& s = series_[i];
    const PlacedFrame& named = named_[i];
    const V lever = frame_[2 * i + (c.on_a ? 0 : 1)].x - named.x;  // fixed in the body, as both are
    const auto about_named = [&](int j) {
      const Wrench& w = c.on_a ? s.wrench_on_a(j) : s.wrench_on_b(j);
      return Wrench{w.f, w.m + cross_of(lever, w.f)};
    };
    Wrench w;
    if (axes == Axes::body) {
      w = about_named(k);
      w = {apply_transpose(named.R, w.f), apply_transpose(named.R, w.m)};
    } else if (axes == Axes::mixed) {
      w = s.turned_to_world(k, c.on_a, about_named);
    } else {
      w = s.wrench_in_world(k, c.on_a);
      for (int j = 0; j <= k; ++j) w.m += cross_of(s.origin(j, c.on_a), s.wrench_in_world(k - j, c.on_a).f);
    }
    const T u[6] = {w.f.x, w.f.y, w.f.z, w.m.x, w.m.y, w.m.z};
    for (int r = 0; r < 6; ++r) out[r] = rounded(u[r]);
  }

 private:
  using P = Together<T>;
  static constexpr double unit_rounding = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-104;
  // Below this power k + 1 of the least that masses allow to be left of a row, derivatives of order k may lose more than eight digits.
  static constexpr double rates_doubtful = 1e-7;

  static V vector(const Triple<T>& u) { return {u[0], u[1], u[2]}; }
  static Triple<T> triple(const V& u) { return Triple<T>::of(u.x, u.y, u.z); }
  static bool on_body_a(const Constraint& c) { return c.hold == Hold::frame && c.a.body >= 0; }

  Six<T> about_point(int side, const Wrench& w) const { return Six<T>::of(triple(w.f), triple(w.m + cross_of(offset_[side], w.f))); }

  // What a frame's origin, relative to the fixed point of its body, is made of: squares, without cancellation.
  double reach(const Frame& frame) const {
    if (frame.body < 0) return 0;
    const V x = vector(places_.position(frame.body)), p{frame.p[0], frame.p[1], frame.p[2]};
    return rounded(dot(x, x) + dot(p, p));
  }
  // Returns the frame's origin relative to the fixed point of its body.
  V place(const Frame& frame, PlacedFrame& to) const {
    if (frame.body < 0) {
      for (int i = 0; i < 9; ++i) to.R[i] = frame.R[i];
      straighten(to.R);
      return to.x = {frame.p[0], frame.p[1], frame.p[2]};
    }
    const V c[3] = {vector(places_.column(frame.body, 0)), vector(places_.column(frame.body, 1)), vector(places_.column(frame.body, 2))};
    for (int j = 0; j < 3; ++j) {
      const V column = frame.R[j] * c[0] + frame.R[3 + j] * c[1] + frame.R[6 + j] * c[2];
      to.R[j] = column.x, to.R[3 + j] = column.y, to.R[6 + j] = column.z;
    }
    straighten(to.R);
    const V offset = vector(places_.position(frame.body)) + frame.p[0] * c[0] + frame.p[1] * c[1] + frame.p[2] * c[2];
    to.x = vector(places_.point(frame.body)) + offset;
    return offset;
  }

  void start() {
    consistency_ = {};
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie == Tie::gear) {
        series_[i].set_driver(0, bias_.position(c.q[0]));
        continue;
      }
      offset_[2 * i + 1] = place(c.b, frame_[2 * i + 1]), reach_[2 * i + 1] = reach(c.b);
      if (c.hold == Hold::frame) offset_[2 * i] = place(c.a, frame_[2 * i]), reach_[2 * i] = reach(c.a);
      place(c.named, named_[i]);
      const V g{tree_.gravity[0], tree_.gravity[1], tree_.gravity[2]}, none{0.0, 0.0, 0.0};
      series_[i].start(frame_[2 * i], frame_[2 * i + 1], on_body_a(c) || (moving_ && c.a.body < 0), on_body_a(c) ? g : none,
                       c.b.body >= 0 ? g : none);
    }
    for (int i = 0; i < all_.count; ++i) {
      series_[i].prepare(0);
      if (series_[i].is_flat()) consistency_.flat = i;
    }
    set_twists(0);
    if (kp_ != 0) set_residuals();
  }

  void set_residuals() {
    for (int i = 0; i < all_.count; ++i)
      for (int r = 0; r < all_.each[i].count; ++r) residual_[all_.each[i].first + r] = residual(i, r);
  }
  double residual(int i, int r) const {
    const Constraint& c = all_.each[i];
    if (c.tie == Tie::gear) return rounded(gear_residual<T>(c, bias_.position(c.q[0]), bias_.position(c.q[1])));
    T turned[9];
    relative_rotation(c, frame_[2 * i], frame_[2 * i + 1], turned);
    double R[9];
    for (int j = 0; j < 9; ++j) R[j] = rounded(turned[j]);
    return series_[i].residual(r, R);
  }

  // For a gear: the known part of its speed of order n, including prescribed rates of that order.
  T known_gear(int i, int n) const {
    const Constraint& c = all_.each[i];
    const auto given = [&](int column) { return factors_.holds(column) ? bias_.rate(n)[column] : T(0.0); };
    return series_[i].known_gear_speed(n) + given(c.v[1]) - series_[i].gear_slope(0) * given(c.v[0]);
  }

  // Coefficient n of the twist of a frame in axes fixed in it, about its origin.
  JOUNCE_INLINE void twist_of(int side, const Frame& frame, int n, V& v, V& w) const {
    const Constraint& c = all_.each[side / 2];
    v = w = {0.0, 0.0, 0.0};
    if (side % 2 == 0 && !on_body_a(c)) {
      if (moving_ && c.a.body < 0)
        series_[side / 2].own_twist_of_a(n, velocity_ + (side / 2) * (order_ + 2), spin_ + (side / 2) * (order_ + 2), v, w);
      return;
    }
    if (frame.body < 0) return;
    const Six<T>& u = bias_.twist(frame.body, n);
    w = vector(u.angular());
    v = vector(u.linear()) + cross_of(w, offset_[side]);
  }

  void set_twists(int n) {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie == Tie::gear) {
        const T first = bias_.rate(n)[c.v[0]];
        series_[i].finish_gear(n, first, bias_.rate(n)[c.v[1]]);
        series_[i].set_driver(n + 1, first / double(n + 1));
        continue;
      }
      V va, wa, vb, wb;
      twist_of(2 * i, c.a, n, va, wa);
      twist_of(2 * i + 1, c.b, n, vb, wb);
      series_[i].finish(n, va, wa, vb, wb);
    }
  }

  // The sweep inwards over the columns of J^T: K, wrenches on bodies, and Y, forces on coordinates; and J M^-1 J^T.
  void gather() {
    std::memset((void*)Y_, 0, sizeof(T) * tree_.nv * stride_);
    std::memset((void*)z_, 0, sizeof(T) * tree_.nv);
    rows_.clear();
    least_ease_ = most_ease_ = 0;
    for (int t = 0; t < all_.path_count; ++t)
      for (int r = all_.path[t].begin; r < all_.path[t].end; ++r) K(t)[r] = Six<T>::zero();
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      for (int r = 0; r < c.count; ++r) {
        const int row = c.first + r;
        strength_[row] = {0, 0};
        if (c.tie == Tie::gear) {
          start_coordinate(c.v[0], row, -series_[i].gear_slope(0));
          start_coordinate(c.v[1], row, 1.0);
          continue;
        }
        const double moment = series_[i].moment_made_of(r);
        if (c.b.body >= 0) start_wrench(row, c.b.body, 2 * i + 1, series_[i].on_b(r), moment, {0.0, 0.0, 0.0});
        if (on_body_a(c)) start_wrench(row, c.a.body, 2 * i, series_[i].on_a(r), moment, series_[i].apart());
      }
    }
    for (int t = all_.path_count - 1; t >= 0; --t) {
      const Body& b = tree_.bodies[all_.path[t].body];
      if (b.single && !factors_.holds(b.column))
        gather_single(t, b);
      else
        gather_several(t, b);
    }
  }

  // A row that is a wrench on a body, about the origin of its frame; `moment`: the square of what its own is made of, to which `lever`,
  // from there to where the force is, adds.
  JOUNCE_INLINE void start_wrench(int row, int body, int side, const Wrench& w, double moment, const V& lever) {
    K(all_.place[body])[row] -= about_point(side, w);
    const double force = rounded(dot(w.f, w.f));
    strength_[row].force += force;
    strength_[row].moment += moment + force * (rounded(dot(lever, lever)) + reach_[side]);
  }
  // A row that is a force on a coordinate by itself.
  void start_coordinate(int column, int row, const T& force) {
    if (factors_.holds(column)) return;
    Y(column)[row] += force;
    for (int i = 0; i < tree_.cluster_count; ++i) {
      const Cluster& cluster = tree_.clusters[i];
      for (int c = 0; c < cluster.count; ++c)
        if (factors_.own(cluster, c) == column) rows_.scale(row) += force * force * factors_.block(cluster)[c * (cluster.count + 1)];
    }
  }

  void start_weighing() {
    const double* g = tree_.gravity;
    const double weight = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), fall = weight / all_.extent;
    pace_ = std::sqrt(weight / all_.length), slow_ = std::sqrt(fall), kept_ = fall, borne_ = 0, overshot_ = 1;
    heaviest_ = least_ease_ > 0 ? 1 / least_ease_ : 0.0;
    growth_.start(moved(bias_.rate(0)));
    double yielding = 0;  // the largest acceleration that one of a row takes, squared, over most_ease_
    for (int r = 0; r < all_.rows; ++r) yielding += all_.row_sizes[r] * all_.row_sizes[r] * rounded(rows_.inverse_pivot(r));
    rows_unit_ = unit_rounding * std::fmax(1.0, std::sqrt(most_ease_ * yielding));
  }
  // How fast rates turn frames and move them.
  double moved(const T* rate) const {
    Numbers squared(0.0);
    together(tree_.nv, [&](const auto& at) {
      const Numbers x = at(all_.moves) * at(rate);
      squared += x * x;
    });
    return root(squared);
  }
  // What sizes are summed in: for doubles, several at once. part(at) gets those of tables with `count` entries, zeros behind them.
  using Numbers = std::conditional_t<std::is_same_v<T, double>, P, double>;
  template <class Part>
  static JOUNCE_INLINE void together(int count, const Part& part) {
    if constexpr (std::is_same_v<T, double>) {
      int i = 0;
      for (; i + RowFactors<T>::width <= count; i += RowFactors<T>::width) part([&](const double* x) { return P::load(x + i); });
      if (i < count) part([&](const double* x) { return only(P::load(x + i), 0, count - i); });
    } else {
      for (int i = 0; i < count; ++i) part([&](const auto* x) { return rounded(x[i]); });
    }
  }
  static JOUNCE_INLINE double root(const Numbers& squares) { return std::sqrt(total(squares)); }
  // How easily a coordinate moves, in its natural size.
  JOUNCE_INLINE void note_ease(int column, const T& inverse_pivot) {
    const double weight = all_.path_weights[column], ease = weight * weight * rounded(inverse_pivot);
    least_ease_ = ease < least_ease_ || least_ease_ == 0 ? ease : least_ease_;
    most_ease_ = ease > most_ease_ ? ease : most_ease_;
  }
  void note_cancelled(double rounded_off, double size) {
    if (rounded_off > consistency_.cancelled * size) consistency_.cancelled = rounded_off / size;
  }
  // The larger pivot of the mass matrix, in natural sizes, of the two coordinates of a gear.
  double heavier(const Constraint& gear) const {
    double most = 0;
    for (int i = 0; i < tree_.cluster_count; ++i) {
      const Cluster& cluster = tree_.clusters[i];
      for (int c = 0; c < cluster.count; ++c) {
        const int column = factors_.own(cluster, c);
        if ((column != gear.v[0] && column != gear.v[1]) || factors_.holds(column)) continue;
        const double size = all_.coordinate_sizes[column], pivot = size * size / rounded(factors_.block(cluster)[c * (cluster.count + 1)]);
        if (pivot > most) most = pivot;
      }
    }
    return most;
  }

  // (S . K)^2 from the sizes of the terms of S and K, ignoring cancellation: where it is much larger than the square itself, the latter
  // is rounding error.
  JOUNCE_INLINE void add_scale(const T& inverse, const Six<T>& S, int begin, int end) {
    const V linear = vector(S.linear()), angular = vector(S.angular());
    const T a = inverse * dot(linear, linear), b = inverse * dot(angular, angular);
    for (int r = begin; r < end; ++r) rows_.scale(r) += a * strength_[r].force + b * strength_[r].moment;
  }

  JOUNCE_INLINE void gather_single(int t, const Body& b) {
    const int begin = all_.path[t].begin, end = all_.path[t].end, up = b.parent >= 0 ? all_.place[b.parent] : -1;
    const Six<T> S = factors_.screw(b.screw), G = factors_.G(b.column);
    const Six<T>* own = K(t);
    T* y = Y(b.column);
    const T inverse = factors_.inverse_pivot(b);
    note_ease(b.column, inverse);
    add_scale(inverse, S, begin, end);
    for (int r = begin; r < end; ++r) {
      y[r] -= dot(S, own[r]);
      if (up < 0) continue;
      Six<T> sum = K(up)[r] + own[r];
      sum.add(y[r], G);
      K(up)[r] = sum;
    }
    rows_.add_squares(inverse, y, begin, end);
  }

  JOUNCE_NOINLINE void gather_several(int t, const Body& b) {
    const Cluster& cluster = tree_.clusters[b.cluster];
    const int begin = all_.path[t].begin, end = all_.path[t].end, up = b.parent >= 0 ? all_.place[b.parent] : -1, n = cluster.count;
    const Six<T>* own = K(t);
    for (int c = 0; c < b.count && n > 0; ++c)
      if (const int column = factors_.own(cluster, b.local + c); !factors_.holds(column)) {
        T* y = Y(column);
        const Six<T> S = factors_.screw(b.screw + c);
        const T inverse = factors_.block(cluster)[(b.local + c) * (n + 1)];
        note_ease(column, inverse);
        add_scale(inverse * b.ratio * b.ratio, S, begin, end);
        for (int r = begin; r < end; ++r) y[r] -= b.ratio * dot(S, own[r]);
      }
    for (int r = begin; up >= 0 && r < end; ++r) K(up)[r] += own[r];
    if (tree_.bodies + cluster.body != &b || n == 0 || (cluster.alone && factors_.holds(b.column))) return;
    const T* L = factors_.block(cluster);
    for (int c = 0; c < n; ++c) {
      const int column = factors_.own(cluster, c);
      const T* y = Y(column);
      T* w = W_ + c * std::ptrdiff_t(stride_);
      for (int r = begin; cluster.up >= 0 && r < end; ++r) K(all_.place[cluster.up])[r].add(y[r], factors_.G(column));
      for (int r = RowFactors<T>::first_lane(begin); r < end; r += RowFactors<T>::width) {
        P sum = P::load(y + r);
        for (int d = 0; d < c; ++d) sum -= P(L[c * n + d]) * P::load(W_ + d * std::ptrdiff_t(stride_) + r);
        sum.store(w + r);
      }
      rows_.add_squares(L[c * n + c], w, begin, end);
    }
  }

  // Whether so little may be left of a row, in natural sizes, that derivatives lose digits: its pivot is at most the square of that times
  // what the easiest coordinate adds.
  bool may_lose_rates() const {
    if (order_ == 0) return false;
    double most = 0, left = 1;
    for (int r = 0; r < all_.rows; ++r) {
      const double yielding = all_.row_sizes[r] * all_.row_sizes[r] * rounded(rows_.inverse_pivot(r));
      most = yielding > most ? yielding : most;
    }
    for (int k = 0; k <= order_; ++k) left /= most_ease_ * most;
    return left < rates_doubtful * rates_doubtful;
  }
  // Judged by the pivots of the mass matrix.
  JOUNCE_NOINLINE bool masses_are_unequal() const {
    double least = 0, most = 0;
    for (int i = 0; i < tree_.cluster_count; ++i) {
      const Cluster& cluster = tree_.clusters[i];
      for (int c = 0; c < cluster.count; ++c) {
        const int column = factors_.own(cluster, c);
        if (factors_.holds(column)) continue;
        const double size = all_.coordinate_sizes[column], ease = rounded(factors_.block(cluster)[c * (cluster.count + 1)]) / (size * size);
        if (most == 0 || ease < least) least = ease;
        if (ease > most) most = ease;
      }
    }
    return most > unequal_masses * least;
  }
  // Which rows are independent, and whether one nearly is not, as J in natural sizes says.
  JOUNCE_NOINLINE void judge_rows() {
    int free = 0, count = 0;  // coordinates; those that rows depend on
    for (int c = 0; c < tree_.nv; ++c) {
      if (factors_.holds(c)) continue;
      ++free;
      if (all_.path_weights[c] > 0) felt_[count++] = c;
    }
    const int size = round_up(count, RowFactors<T>::width);
    for (int i = 0; i < all_.count; ++i)
      for (int r = 0; r < all_.each[i].count; ++r)
        write_natural(i, r, count, natural_ + (all_.each[i].first + r) * std::ptrdiff_t(size), size);
    OrthonormalRows<T> basis(size, basis_);
    const LeastRow least = find_independent(all_.rows, size, natural_, size_, basis, independent_);
    const bool moves = basis.count() < free;
    if (moves && order_ > 0 && std::pow(least.left, order_ + 1) < rates_lost) consistency_.nearly = constraint_of(least.row);
  }
  JOUNCE_NOINLINE void factor_again() {
    rows_.factor_again(
        OrthonormalRows<T>(tree_.nv, basis_), [&](int row) { return independent_[row]; }, [&](int row, T* x) { write_half(row, x); });
    consistency_.lost = rows_.lost(), consistency_.loses = constraint_of(rows_.loses());
  }
  // A row of J in natural sizes, at the coordinates that rows depend on.
  void write_natural(int i, int r, int count, T* to, int size) const {
    const Constraint& c = all_.each[i];
    T* x = x_;
    for (int j = 0; j < tree_.nv; ++j) x[j] = 0.0;
    if (c.tie == Tie::gear) {
      x[c.v[0]] -= series_[i].gear_slope(0), x[c.v[1]] += 1.0;
    } else {
      if (c.b.body >= 0) write_moved(c.b.body, about_point(2 * i + 1, series_[i].on_b(r)), x);
      if (on_body_a(c)) write_moved(c.a.body, about_point(2 * i, series_[i].on_a(r)), x);
    }
    for (int j = 0; j < count; ++j) to[j] = x[felt_[j]] * (all_.coordinate_sizes[felt_[j]] / all_.row_sizes[c.first + r]);
    for (int j = count; j < size; ++j) to[j] = 0.0;
  }
  // What a wrench on a body does to the coordinates.
  void write_moved(int body, const Six<T>& wrench, T* x) const {
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& b = tree_.bodies[i];
      const Cluster& cluster = tree_.clusters[b.cluster];
      for (int c = 0; c < b.count; ++c)
        x[b.single ? b.column : factors_.own(cluster, b.local + c)] += b.ratio * dot(factors_.screw(b.screw + c), wrench);
    }
  }
  // A row of Y^T D^-1/2.
  void write_half(int row, T* x) const {
    for (int column = 0; column < tree_.nv; ++column) x[column] = 0.0;
    for (int i = 0; i < tree_.cluster_count; ++i) {
      const Cluster& cluster = tree_.clusters[i];
      const T* L = factors_.block(cluster);
      const int n = cluster.count;
      for (int c = 0; c < n; ++c) {
        const int column = factors_.own(cluster, c);
        if (factors_.holds(column)) continue;
        x_[c] = Y(column)[row];
        for (int d = 0; d < c; ++d)
          if (!factors_.holds(factors_.own(cluster, d))) x_[c] -= L[c * n + d] * x_[d];
        x[column] = square_root(L[c * n + c]) * x_[c];
      }
    }
  }

  // J a of this order as it would be without this order's multipliers, after the sweep inwards.
  JOUNCE_INLINE void accelerate(T* out) {
    const Six<T>* c = factors_.accelerations();
    const T* u = factors_.force();
    const int m = all_.rows;
    for (int r = 0; r < m; ++r) sum_[r] = Six<T>::zero();
    for (int r = 0; r < stride_; ++r) out[r] = 0.0;
    for (int t = 0; t < all_.path_count; ++t) {
      const PathBody& at = all_.path[t];
      const Body& b = tree_.bodies[at.body];
      for (int r = at.begin; r < at.end; ++r) sum_[r].add_products(K(t)[r], c[at.body]);
      if (b.single && !factors_.holds(b.column)) {
        z_[b.column] = factors_.inverse_pivot(b) * u[b.column];
        add_row(z_[b.column], Y(b.column), at, out);
      } else if (const Cluster& cluster = tree_.clusters[b.cluster]; cluster.body == at.body && cluster.count > 0) {
        if (cluster.alone && factors_.holds(b.column)) continue;
        for (int d = 0; d < cluster.count; ++d) {
          const int column = factors_.own(cluster, d);
          x_[d] = factors_.holds(column) ? T(0.0) : u[column];
        }
        factors_.solve_block(cluster, x_);
        for (int d = 0; d < cluster.count; ++d) {
          const int column = factors_.own(cluster, d);
          z_[column] = x_[d];
          add_row(x_[d], Y(column), at, out);
        }
      }
    }
    for (int r = 0; r < m; ++r) out[r] -= sum_[r].total();
  }
  JOUNCE_INLINE static void add_row(const T& s, const T* y, const PathBody& at, T* out) {
    for (int r = RowFactors<T>::first_lane(at.begin); r < at.end; r += RowFactors<T>::width)
      (P::load(out + r) + P(s) * P::load(y + r)).store(out + r);
  }

  // Once more, for the remaining residual.
  JOUNCE_NOINLINE void refine(T* l) {
    T* more = refined_;
    accelerate(more);
    for (int r = 0; r < all_.rows; ++r) more[r] = -(more[r] + known_[r]);
    rows_.solve(more);
    spread(more);
    for (int r = 0; r < all_.rows; ++r) l[r] += more[r];
  }

  // Whether redundant rows agree with the others, or contradict them: by what the accelerations leave of a row, beside the size of the
  // terms that meet there. Terms count with the size of the wrenches that the row is made of: where these cancel, what is left is as small
  // as its own rounding errors. The accelerations, and squares of velocities, of the coordinates that a row depends on meet in it, a part
  // of all others, and `least`; and no less than what the order before becomes at the pace of the robot.
  JOUNCE_NOINLINE void judge(int k, double least) {
    double common = pace_ * pace_, pace = pace_;  // 1/s, of a robot that falls, or moves as this one does
    for (int c = 0; c < tree_.nv; ++c) common = std::fmax(common, agility(k, c)), pace = std::fmax(pace, std::sqrt(agility(0, c)));
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      for (int r = 0; r < c.count; ++r) {
        const int row = c.first + r;
        double size = (common_fraction * common + least + met_by(k, row)) * all_.row_sizes[row];
        T left = known_[row];
        if (c.tie == Tie::gear) {
          for (int j = 0; j < 2; ++j) {
            const T term = (j == 1 ? T(1.0) : -series_[i].gear_slope(0)) * double(k + 1) * bias_.rate(k + 1)[c.v[j]];
            size += std::fabs(rounded(term));
            if (!factors_.holds(c.v[j])) left += term;
          }
        } else {
          size += (k + 1) * series_[i].known_size(r);
          if (c.b.body >= 0) left += met(row, about_point(2 * i + 1, series_[i].on_b(r)), factors_.acceleration(c.b.body), size);
          if (on_body_a(c)) left += met(row, about_point(2 * i, series_[i].on_a(r)), factors_.acceleration(c.a.body), size);
        }
        size_[row] = k == 0 ? size : std::fmax(size, pace * size_[row]);
        left_[row] = std::fabs(rounded(left));
      }
    }
    for (int row = 0; row < all_.rows; ++row) {
      if (!rows_.is_dependent(row)) continue;
      double size = size_[row];
      for (int j = 0; j < all_.rows; ++j) size += std::fabs(rounded(rows_.combination(row)[j])) * size_[j];
      const double error = size > 0 ? left_[row] / size : 0;
      if (error > consistency_.error) consistency_.error = error, consistency_.contradicts = constraint_of(row);
    }
  }
  // The acceleration of a coordinate or, at order zero, the square of its velocity, in natural sizes.
  double agility(int k, int c) const {
    const double size = all_.coordinate_sizes[c], speed = rounded(bias_.rate(0)[c]) / size;
    return std::fmax((k + 1) * std::fabs(rounded(bias_.rate(k + 1)[c])) / size, k == 0 ? speed * speed : 0.0);
  }
  // The largest among the coordinates that a row depends on.
  double met_by(int k, int row) const {
    double most = 0;
    for (int t = 0; t < all_.path_count; ++t) {
      const PathBody& at = all_.path[t];
      const Cluster& cluster = tree_.clusters[tree_.bodies[at.body].cluster];
      for (int c = 0; c < cluster.count && at.begin <= row && row < at.end; ++c)
        most = std::fmax(most, agility(k, factors_.own(cluster, c)));
    }
    return most;
  }
  // What an acceleration contributes to a row, given by its wrench; adds the size of its terms.
  T met(int row, const Six<T>& wrench, const Six<T>& acceleration, double& size) const {
    size += uncancelled(row, acceleration);
    return dot(wrench, acceleration);
  }
  // The size of S . K from the sizes of the terms of S and K.
  double uncancelled(int row, const Six<T>& S) const {
    const V linear = vector(S.linear()), angular = vector(S.angular());
    return std::sqrt(rounded(dot(linear, linear)) * strength_[row].force) +
           std::sqrt(rounded(dot(angular, angular)) * strength_[row].moment);
  }
  JOUNCE_NOINLINE int constraint_of(std::ptrdiff_t row) const {
    int found = -1;
    for (int i = 0; i < all_.count; ++i)
      if (all_.each[i].first <= row) found = i;
    return found;
  }

  // Adds the effect of the multipliers to wrenches and forces.
  JOUNCE_INLINE void spread(const T* l) {
    Six<T>* wrench = factors_.wrenches();
    T* u = factors_.force();
    for (int t = 0; t < all_.path_count; ++t) {
      const PathBody& at = all_.path[t];
      const Body& b = tree_.bodies[at.body];
      Six<T> sum = wrench[at.body];
      for (int r = at.begin; r < at.end; ++r) sum.add(l[r], K(t)[r]);
      wrench[at.body] = sum;
      if (b.single) {
        u[b.column] += product(Y(b.column), l, at);
      } else if (const Cluster& cluster = tree_.clusters[b.cluster]; cluster.body == at.body) {
        for (int c = 0; c < cluster.count; ++c) {
          const int column = factors_.own(cluster, c);
          u[column] += product(Y(column), l, at);
        }
      }
    }
  }
  static T product(const T* a, const T* b, const PathBody& at) {
    T sum = 0.0;
    for (int i = at.begin; i < at.end; ++i) sum += a[i] * b[i];
    return sum;
  }

  Six<T>* K(int place) const { return K_ + place * std::ptrdiff_t(all_.rows); }
  T* Y(int column) const { return Y_ + column * std::ptrdiff_t(stride_); }

  const Tree& tree_;
  const Constraints& all_;
  int order_;
  BodyPlaces<T>& places_;
  ArticulatedBodies<T>& factors_;
  BiasByOrder<T>& bias_;
  Series* series_;
  V* offset_;           // (count, 2) origins of A and B from the fixed points of their bodies
  double* reach_;       // (count, 2) what these are made of
  PlacedFrame* frame_;  // (count, 2)
  PlacedFrame* named_;  // (count)
  Six<T>* K_;           // (path, rows)
  RowFactors<T> rows_;  // J M^-1 J^T
  struct Strength {
    double force, moment;
  }* strength_;  // (rows) squares of the rows' wrenches, both sides together
  int stride_;   // of tables with rows side by side
  T *Y_, *W_;    // (nv, rows); the same of a cluster, times L^-1
  Six<T>* sum_;
  double *size_, *left_, *push_;
  struct Geared {
    double load, pivot;
  }* geared_;  // (count) of gears, in natural sizes: what the load of order zero becomes at that pace, and the larger pivot of M
  double* residual_;
  T *known_, *refined_, *share_;
  bool* independent_;    // (rows) by J in natural sizes
  T *natural_, *basis_;  // (rows, nv) that J, and an orthonormal basis
  const double* shares_ = nullptr;
  T* l_;                 // (order + 1, rows)
  int* felt_;            // (nv) the coordinates that rows depend on
  T *x_, *z_;            // (nv) of a row, or D^-1 u of a cluster; D^-1 u
  double* loose_;        // (nv) D^-1 u without this order's multipliers
  V *velocity_, *spin_;  // (count, order + 2) of places that move
  RoundingGrowth growth_;
  bool moving_ = false;
  double kp_ = 0, kd_ = 0;
  // In natural sizes: of a robot that falls, and of its bodies, 1/s; where constraints act, the least and the largest inverse pivot of M,
  // and the largest pivot; rates, loads; the rounding error that a term of size 1 in a row brings.
  double pace_ = 0, slow_ = 0, least_ease_ = 0, most_ease_ = 0, heaviest_ = 0, kept_ = 0, borne_ = 0, rows_unit_ = 0, overshot_ = 1;
  Consistency consistency_;
};

JOUNCE_END
