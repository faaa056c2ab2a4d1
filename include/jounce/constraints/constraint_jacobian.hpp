// The Jacobian of constraints and its time derivatives, and how far a configuration is from obeying them.
//
// A row N of a constraint (constraint_series.hpp) is the wrench W = [f; m] on B, in world axes about a fixed point: f = E_a N_f and m =
// E_a N_m + x_b x f. Its product with the screw of a coordinate that moves B is that coordinate's entry of the row, with the opposite
// sign for one that moves A. A row that constrains nothing, such as that of a contact with the plane that its body moves in anyway, is
// exactly zero rather than rounding error: rank tests on J compare its rows with each other.
#pragma once

#include "jounce/constraints/constraint_series.hpp"
#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

template <class Ring>
class ConstraintJacobian {
 public:
  using S = typename Ring::Velocity;
  using V = Vec3<double>;

  template <class Arena>
  ConstraintJacobian(const Tree& tree, const Constraints& all, const Motion<Ring>& motion, const WorldFrame<Ring>& world, int rows,
                     Arena& arena)
      : tree_(tree),
        all_(all),
        motion_(motion),
        world_(world),
        rows_(rows),
        series_(arena.template take<ConstraintSeries<double>>(all.count)),
        frame_(arena.template take<PlacedFrame<double>>(2 * std::size_t(all.count))),
        wrench_(arena.template take<V>(4 * std::size_t(rows))) {
    for (int i = 0; i < all.count; ++i) {
      ConstraintSeries<double> made(all.each[i], rows + 1, arena);
      if (series_) series_[i] = made;
    }
  }

  // A wheel that lies flat on its plane, or -1.
  std::int32_t flat() const {
    for (int i = 0; i < all_.count; ++i)
      if (series_[i].is_flat()) return i;
    return -1;
  }

  // After WorldFrame::place.
  void place() {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      if (c.tie == Tie::gear) {
        for (int k = 0; k < rows_; ++k) {
          series_[i].set_driver(k, k == 0 ? motion_.q[c.q[0]] : motion_.rate[(k - 1) * motion_.stride + c.v[0]] / k);
          series_[i].prepare(k);
        }
        continue;
      }
      const bool a_moves = c.hold == Hold::frame && c.a.body >= 0;
      Moved a, b;
      set(c.b, b);
      if (c.hold == Hold::frame) set(c.a, a);
      frame_[2 * i] = a.frame, frame_[2 * i + 1] = b.frame;
      series_[i].start(a.frame, b.frame, a_moves, {0, 0, 0}, {0, 0, 0});
      for (int k = 0; k < rows_ && k < padded_length<S>; ++k) {
        double Ea[9], Eb[9];
        const V xa = c.hold == Hold::frame ? a.coefficient(k, Ea) : (k == 0 ? b.coefficient(0, Ea) : a.nothing(Ea));
        const V xb = b.coefficient(k, Eb);
        series_[i].set_pose(k, Ea, xa, Eb, xb);
      }
    }
  }

  // Derivatives 0 .. rows - 1 into out (rows, constraints' rows, nv).
  void run(double* out) {
    const std::ptrdiff_t nv = tree_.nv, step = all_.rows * nv;
    for (std::ptrdiff_t i = 0; i < rows_ * step; ++i) out[i] = 0;
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      for (int r = 0; r < c.count; ++r) {
        double* row = out + (c.first + r) * nv;
        if (c.tie == Tie::gear) {
          row[c.v[1]] += 1;
          for (int k = 0; k < rows_; ++k) row[k * step + c.v[0]] -= factorial.value[k] * series_[i].gear_slope(k);
          continue;
        }
        double size = 0;
        if (c.b.body >= 0) {
          set_wrench(i, r, c.b.body);
          size = add(c.b.body, 1, row, step);
        }
        if (c.hold == Hold::frame && c.a.body >= 0) {
          set_wrench(i, r, c.a.body);
          const double other = add(c.a.body, -1, row, step);
          if (other > size) size = other;
        }
        bool says = false;
        for (int k = 0; k < nv; ++k) says |= !(std::fabs(row[k]) <= rounding_fraction * size);
        for (int k = 0; !says && k < nv; ++k) row[k] = 0;
      }
    }
  }

  // (constraints' rows, 6) the wrench of a unit multiplier of each row on the body that the force refers to: in world axes, about the
  // world's origin; zero for gears.
  void wrenches(double* out) const {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      for (int r = 0; r < c.count; ++r) {
        Wrench<double> w{{0, 0, 0}, {0, 0, 0}};
        if (c.tie != Tie::gear) {
          w = series_[i].on_b(r);
          w.m += cross_of(series_[i].origin(0, false), w.f);
        }
        if (c.on_a) w = -w;
        double* to = out + 6 * (c.first + r);
        to[0] = w.f.x, to[1] = w.f.y, to[2] = w.f.z, to[3] = w.m.x, to[4] = w.m.y, to[5] = w.m.z;
      }
    }
  }

  // (constraints' rows)
  void residuals(double* out) const {
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& c = all_.each[i];
      double R[9];
      if (c.tie != Tie::gear) relative_rotation(c, frame_[2 * i], frame_[2 * i + 1], R);
      for (int r = 0; r < c.count; ++r)
        out[c.first + r] = c.tie == Tie::gear ? gear_residual(c, motion_.q[c.q[0]], motion_.q[c.q[1]]) : series_[i].residual(r, R);
    }
  }

 private:
  // The pose of a frame along the motion, and how far it has turned since the instant.
  struct Moved {
    PlacedFrame<double> frame;
    double R[9][padded_length<S>];
    double x[3][padded_length<S>], first[9];
    bool fixed = false;

    V nothing(double* E) const {
      for (int i = 0; i < 9; ++i) E[i] = 0;
      return {0, 0, 0};
    }
    V coefficient(int k, double* E) const {
      if (fixed && k > 0) return nothing(E);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
          E[3 * r + c] = k == 0 ? r == c : 0.0;
          for (int j = 0; k > 0 && j < 3; ++j) E[3 * r + c] += R[3 * r + j][k] * first[3 * c + j];
        }
      if (k == 0) return frame.x;
      return {x[0][k], x[1][k], x[2][k]};
    }
  };

  void set(const Frame& frame, Moved& to) const {
    if (frame.body < 0) {
      for (int i = 0; i < 9; ++i) to.frame.R[i] = frame.R[i];
      to.frame.x = {frame.p[0], frame.p[1], frame.p[2]};
      to.fixed = true;
      return;
    }
    const Pose<S>& pose = world_.pose(frame.body);
    const Vec3<S>* columns[3] = {&pose.R.cx, &pose.R.cy, &pose.R.cz};
    for (int c = 0; c < 3; ++c) columns[c]->x.store(to.R[c]), columns[c]->y.store(to.R[3 + c]), columns[c]->z.store(to.R[6 + c]);
    const Vec3<S> x = pose.x + apply(pose.R, frame.p);
    x.x.store(to.x[0]), x.y.store(to.x[1]), x.z.store(to.x[2]);
    for (int i = 0; i < 9; ++i) to.first[i] = to.R[i][0];
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        to.frame.R[3 * r + c] = to.first[3 * r] * frame.R[c] + to.first[3 * r + 1] * frame.R[3 + c] + to.first[3 * r + 2] * frame.R[6 + c];
    const auto& point = world_.point(frame.body);
    to.frame.x = {to.x[0][0] + point.x, to.x[1][0] + point.y, to.x[2][0] + point.z};
  }

  // Row r of constraint i as a wrench, about the fixed point of a body.
  void set_wrench(int i, int r, int body) {
    const ConstraintSeries<double>& s = series_[i];
    V *f = wrench_, *m = f + rows_;
    const auto& point = world_.point(body);
    for (int k = 0; k < rows_; ++k) {
      f[k] = m[k] = {0, 0, 0};
      for (int j = 0; j <= (s.varies() ? k : 0); ++j) {
        if (k > j && !s.a_moves()) continue;  // E_a is the identity
        const double *row = s.row(j, r), *E = s.turned_a(k - j);
        f[k] += apply(E, V{row[0], row[1], row[2]});
        m[k] += apply(E, V{row[3], row[4], row[5]});
      }
      if (k == 0) moment_ = std::sqrt(s.moment_made_of(r)) + size_of(s.origin(0, false) - V{point.x, point.y, point.z}) * size_of(f[0]);
      for (int j = 0; j <= k; ++j) {
        V x = s.origin(k - j, false);
        if (k == j) x -= V{point.x, point.y, point.z};
        m[k] += cross_of(x, f[j]);
      }
    }
  }
  static double size_of(const V& u) { return std::fabs(u.x) + std::fabs(u.y) + std::fabs(u.z); }

  // Returns the size of the terms of the largest entry, without cancellation.
  double add(int body, double sign, double* row, std::ptrdiff_t step) const {
    const V *f = wrench_, *m = f + rows_;
    const double force = size_of(f[0]);
    double size = 0;
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c) {
        const Screw<S>& J = world_.screw(b.screw + c);
        double v[6][padded_length<S>];
        J.v.x.store(v[0]), J.v.y.store(v[1]), J.v.z.store(v[2]), J.w.x.store(v[3]), J.w.y.store(v[4]), J.w.z.store(v[5]);
        const V linear{v[0][0], v[1][0], v[2][0]}, angular{v[3][0], v[4][0], v[5][0]};
        const double own = std::fabs(b.ratio) * (force * size_of(linear) + moment_ * size_of(angular));
        if (own > size) size = own;
        const int column = b.column < tree_.nv ? b.column + c : tree_.followers[b.column - tree_.nv].leader_v;
        for (int k = 0; k < rows_; ++k) {
          double sum = 0;
          for (int j = 0; j <= k; ++j)
            sum += f[j].x * v[0][k - j] + f[j].y * v[1][k - j] + f[j].z * v[2][k - j] + m[j].x * v[3][k - j] + m[j].y * v[4][k - j] +
                   m[j].z * v[5][k - j];
          row[k * step + column] += sign * b.ratio * factorial.value[k] * sum;
        }
      }
    }
    return size;
  }

  const Tree& tree_;
  const Constraints& all_;
  const Motion<Ring>& motion_;
  const WorldFrame<Ring>& world_;
  int rows_;
  ConstraintSeries<double>* series_;
  PlacedFrame<double>* frame_;
  V* wrench_;
  double moment_ = 0;  // what that of the wrench is made of, at the instant
};

JOUNCE_END
