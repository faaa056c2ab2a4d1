// How accelerations and forces under constraints change with positions, velocities and forces, at order zero.
//
// In B's axes, about B's origin, let J_c be the twist of B relative to A for coordinate c, V = J v that motion, F = N^T l the wrench on B,
// and V_c the twist of the body whose joint has the coordinate. As S_c is fixed in that body (for a section, it moves there: s, s', s''),
//
//   J_c' = u x J_c + s',    J_c'' = u' x J_c + u x (J_c' + s') + s'',    u = V_c - V_b,    u' = A_c - A_b - V_b x V_c.
//
// A displacement dq moves B relative to A by eta = J dq, and changes V by eta' + V x eta. Rows that are constant in A's axes turn in B's:
// n' = n x w, and by eta they change by n x eta_w. So N V, which is zero along the motion, changes by
//
//   d(N V)' = N eta'' + (Y + N' + N ad_V) eta' + (Y' + N' ad_V + N ad_A) eta,    Y = [0, V_v x n_f + V_w x n_m],
//
// with dq' = dv - ad_v dq. The forces change by
//
//   d(J^T F) = (as if F were held in B, and its opposite in A) + J^T E J - J_a^T (J x* F),    E eta = F x eta_w,
//
// and da, dl follow from the matrix of the dynamics itself (constraint_forces.hpp). dynamics/constraints/derivatives.py has it at any
// order, and for constraints whose rows are not constant.
#pragma once

#include "jounce/constraints/constraint_forces.hpp"

JOUNCE_BEGIN

class ConstraintPartials {
 public:
  using V = Vec3<double>;

  template <class Arena>
  ConstraintPartials(const Tree& tree, const Constraints& all, ConstraintForces<double>& forces, ArticulatedBodies<double>& factors,
                     BiasByOrder<double>& bias, const SectionTables<double>& sections, const BodyPlaces<double>& places, Arena& arena)
      : tree_(tree),
        all_(all),
        forces_(forces),
        factors_(factors),
        bias_(bias),
        sections_(sections),
        places_(places),
        J_(arena.template take<Six<double>>(tree.nv)),
        dJ_(arena.template take<Six<double>>(tree.nv)),
        ddJ_(arena.template take<Six<double>>(tree.nv)),
        above_(arena.template take<Six<double>>(tree.nv)),
        stride_(round_up(tree.nv, native_width)),
        jacobian_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        speed_q_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        broken_q_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        broken_v_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        Z_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        JX_(arena.template take<double>(std::size_t(all.rows) * stride_)),
        row_(arena.template take<double>(3 * std::size_t(stride_))),
        left_stride_(round_up(tree.nv + all.rows, native_width) + native_width),
        left_(arena.template take<double>(std::size_t(tree.nv) * left_stride_)),
        active_(arena.template take<int>(tree.nv)),
        is_active_(arena.template take<bool>(tree.nv)) {}

  // After constrained dynamics of order zero. Adds to K (nv, nv) the effect of constraints, beyond that of wrenches held in the bodies.
  void run(const double* v, const double* acc, double* K) {
    v_ = v, acc_ = acc;
    for (int i = 0; i < all_.count; ++i) {
      set_jacobian(i);
      add_stiffness(i, K);
      set_rows(i);
    }
  }

  // X = M^-1 (nv, nv) becomes da/dtau. left(), (nv, nv + rows), is that next to Z^T: with the violation of the constraints stacked
  // below K, da/dq = -left [K; broken].
  void project(double* X) {
    const int m = all_.rows, nv = tree_.nv;
    for (int r = 0; r < nv; ++r) std::memcpy(left_ + r * std::ptrdiff_t(left_stride_), X + r * std::ptrdiff_t(nv), sizeof(double) * nv);
    for (int r = 0; r < m; ++r)
      for (int c = 0; c < nv; c += native_width) {
        P sum(0.0);
        for (int k = 0; k < nv; ++k)
          sum += P(jacobian_[r * std::ptrdiff_t(stride_) + k]) * P::load(left_ + k * std::ptrdiff_t(left_stride_) + c);
        sum.store(JX_ + r * std::ptrdiff_t(stride_) + c);
      }
    std::memcpy(Z_, JX_, sizeof(double) * m * stride_);
    forces_.factored_rows().solve_table(stride_, Z_);
    for (int r = 0; r < nv; ++r) {
      double* row = left_ + r * std::ptrdiff_t(left_stride_);
      for (int c = 0; c < nv; c += native_width) {
        P sum = P::load(row + c);
        for (int k = 0; k < m; ++k) sum -= P(JX_[k * std::ptrdiff_t(stride_) + r]) * P::load(Z_ + k * std::ptrdiff_t(stride_) + c);
        sum.store(row + c);
      }
      std::memcpy(X + r * std::ptrdiff_t(nv), row, sizeof(double) * nv);
      for (int k = 0; k < m; ++k) row[nv + k] = Z_[k * std::ptrdiff_t(stride_) + r];
    }
  }
  const double* left() const { return left_; }
  int left_stride() const { return left_stride_; }
  const double* broken_q(int row) const { return broken_q_ + row * std::ptrdiff_t(stride_); }
  const double* broken_v(int row) const { return broken_v_ + row * std::ptrdiff_t(stride_); }

  // Derivatives of the wrenches, (count, 6, nv) each, from K and D of inverse dynamics under constraints, side by side, rows `step`
  // apart.
  void forces(const double* both, std::ptrdiff_t step, double* dq, double* dv, double* dtau) {
    const std::ptrdiff_t nv = tree_.nv;
    // dl = Z (K dq + D dv - dtau) - inertia^-1 r
    forces_.factored_rows().solve_table(stride_, broken_q_);
    forces_.factored_rows().solve_table(stride_, broken_v_);
    for (int k = 0; k < all_.rows; ++k) {
      const double* z = Z_ + k * std::ptrdiff_t(stride_);
      double *q = broken_q_ + k * std::ptrdiff_t(stride_), *v = broken_v_ + k * std::ptrdiff_t(stride_);
      for (int c = 0; c < nv; c += native_width) {
        P by_q = P(0.0) - P::load(q + c), by_v = P(0.0) - P::load(v + c);
        for (int r = 0; r < nv; ++r) {
          const double* row = both + r * step + c;
          by_q += P(z[r]) * P::load(row), by_v += P(z[r]) * P::load(row + nv);
        }
        by_q.store(q + c), by_v.store(v + c);
      }
    }
    for (int i = 0; i < all_.count; ++i) {
      const Constraint& constraint = all_.each[i];
      double rows[6][6];  // as wrenches about the named frame
      for (int r = 0; r < constraint.count; ++r) put(named(i, forces_.series(i).on_b(r)), rows[r]);
      for (int component = 0; component < 6; ++component) {
        const std::ptrdiff_t at = (i * 6 + component) * nv;
        for (int c = 0; c < nv; c += native_width) {
          P by_q(0.0), by_v(0.0), by_tau(0.0);
          for (int r = 0; r < constraint.count; ++r) {
            const P x(rows[r][component]);
            const std::ptrdiff_t row = (constraint.first + r) * std::ptrdiff_t(stride_) + c;
            by_q += x * P::load(broken_q_ + row), by_v += x * P::load(broken_v_ + row), by_tau -= x * P::load(Z_ + row);
          }
          by_q.store(row_ + c), by_v.store(row_ + stride_ + c), by_tau.store(row_ + 2 * stride_ + c);
        }
        std::memcpy(dq + at, row_, sizeof(double) * nv);
        std::memcpy(dv + at, row_ + stride_, sizeof(double) * nv);
        std::memcpy(dtau + at, row_ + 2 * stride_, sizeof(double) * nv);
      }
      set_jacobian(i);
      for (int j = 0; j < count_; ++j) {
        const V w = angular(J_[active_[j]]), u = linear(J_[active_[j]]);
        Wrench<double> change{cross_of(F_.f, w), cross_of(F_.m, w)};
        if (constraint.on_a) change += Wrench<double>{cross_of(w, F_.f), cross_of(u, F_.f) + cross_of(w, F_.m)};
        double numbers[6];
        put(named(i, change), numbers);
        for (int r = 0; r < 6; ++r) dq[(i * 6 + r) * nv + active_[j]] += numbers[r];
      }
    }
  }

  const double* jacobian(int row) const { return jacobian_ + row * std::ptrdiff_t(stride_); }
  const double* speed_q(int row) const { return speed_q_ + row * std::ptrdiff_t(stride_); }

 private:
  using P = Pack<native_width>;

  // A wrench on B, or its opposite on A, about the frame that the force of a constraint refers to, in that frame's axes.
  Wrench<double> named(int i, const Wrench<double>& w) const {
    Wrench<double> own = all_.each[i].on_a ? -w : w;
    own.m += cross_of(forces_.lever(i), own.f);
    const double* R = forces_.named(i).R;
    return {apply_transpose(R, own.f), apply_transpose(R, own.m)};
  }
  static void put(const Wrench<double>& w, double* to) {
    to[0] = w.f.x, to[1] = w.f.y, to[2] = w.f.z, to[3] = w.m.x, to[4] = w.m.y, to[5] = w.m.z;
  }
  static V vector(const Triple<double>& u) { return {u[0], u[1], u[2]}; }
  static V linear(const Six<double>& u) { return vector(u.linear()); }
  static V angular(const Six<double>& u) { return vector(u.angular()); }
  static Six<double> six(const V& v, const V& w) {
    return Six<double>::of(Triple<double>::of(v.x, v.y, v.z), Triple<double>::of(w.x, w.y, w.z));
  }
  // A twist about the fixed point of a body, moved to B's origin.
  Six<double> about_b(const Six<double>& u, const V& b) const { return six(linear(u) + cross_of(angular(u), b), angular(u)); }

  // J, J', J'' of constraint i by own coordinates, and A's part of J; V, A and F.
  void set_jacobian(int i) {
    const Constraint& c = all_.each[i];
    count_ = 0;
    for (int k = 0; k < tree_.nv; ++k) is_active_[k] = false;
    const V b = forces_.placed(i, true).x;  // B's origin in the world
    const Six<double> rest = Six<double>::zero(),
                      fall = Six<double>::of(Triple<double>::of(-tree_.gravity[0], -tree_.gravity[1], -tree_.gravity[2]),
                                             Triple<double>::zero());
    const int body_a = c.hold == Hold::frame ? c.a.body : -1;
    const Six<double> Vb = c.b.body >= 0 ? twist(c.b.body, b) : rest, Ab = c.b.body >= 0 ? acceleration(c.b.body, b) : fall;
    const Six<double> Va = body_a >= 0 ? twist(body_a, b) : rest, Aa = body_a >= 0 ? acceleration(body_a, b) : fall;
    V_ = Vb - Va;
    A_ = Ab - Aa + motion_cross(Vb, Va);
    F_ = forces_.series(i).wrench_on_b(0);
    if (c.b.body >= 0) add_path(c.b.body, 1, b, Vb, Ab);
    if (body_a >= 0) add_path(body_a, -1, b, Vb, Ab);
  }
  Six<double> twist(int body, const V& b) const { return about_b(bias_.twist(body, 0), b - point(body)); }
  Six<double> acceleration(int body, const V& b) const { return about_b(factors_.acceleration(body), b - point(body)); }
  V point(int body) const { return vector(places_.point(body)); }

  void add_path(int body, double sign, const V& b, const Six<double>& Vb, const Six<double>& Ab) {
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& at = tree_.bodies[i];
      const Six<double> Vc = twist(i, b), u = Vc - Vb, du = acceleration(i, b) - Ab - motion_cross(Vb, Vc);
      const V offset = b - point(i);
      for (int k = 0; k < at.count; ++k) {
        const Six<double> S = about_b(factors_.screw(at.screw + k), offset);
        Six<double> first = motion_cross(u, S), second = motion_cross(du, S);
        if (at.joint == Joint::section) {
          const Six<double> moved = about_b(places_.motion_from(i, sections_.coefficient(at.screw + k, 1)), offset);
          Six<double> twice = Six<double>::zero();
          twice.add(2.0, about_b(places_.motion_from(i, sections_.coefficient(at.screw + k, 2)), offset));
          first += moved;
          second += motion_cross(u, first + moved) + twice;
        } else {
          second += motion_cross(u, first);
        }
        const int column = at.column < tree_.nv ? at.column + k : tree_.followers[at.column - tree_.nv].leader_v;
        const double s = sign * at.ratio;
        if (!is_active_[column]) {
          is_active_[column] = true;
          active_[count_++] = column;
          J_[column] = dJ_[column] = ddJ_[column] = above_[column] = Six<double>::zero();
        }
        J_[column].add(s, S), dJ_[column].add(s, first), ddJ_[column].add(s, second);
        if (sign < 0) above_[column].add(at.ratio, S);
      }
    }
  }

  // K += -J^T E J + J_a^T (J x* F)
  void add_stiffness(int i, double* K) const {
    const Constraint& c = all_.each[i];
    const std::ptrdiff_t nv = tree_.nv;
    for (int j = 0; j < count_; ++j) {
      const int k = active_[j];
      const V w = angular(J_[k]), u = linear(J_[k]);
      const Six<double> turned = six(cross_of(F_.f, w), cross_of(F_.m, w));
      const Six<double> carried = six(cross_of(w, F_.f), cross_of(u, F_.f) + cross_of(w, F_.m));
      for (int l = 0; l < count_; ++l) {
        const int r = active_[l];
        K[r * nv + k] -= dot(J_[r], turned);
        if (c.a.body >= 0) K[r * nv + k] += dot(above_[r], carried);
      }
    }
  }

  // Wrench times ad_U, as a wrench: (n ad_U) eta = n . (U x eta).
  static Six<double> crossed(const Six<double>& n, const Six<double>& U) {
    const V f = linear(n), m = angular(n), v = linear(U), w = angular(U);
    return six(cross_of(f, w), cross_of(m, w) + cross_of(f, v));
  }

  void set_rows(int i) {
    const Constraint& c = all_.each[i];
    const V w = angular(V_), v = linear(V_), dw = angular(A_), dv = linear(A_), zero{0, 0, 0};
    for (int r = 0; r < c.count; ++r) {
      const Wrench<double> row = forces_.series(i).on_b(r);
      const V f = row.f, m = row.m, df = cross_of(f, w), dm = cross_of(m, w);
      const Six<double> N = six(f, m), dN = six(df, dm), Y = six(zero, cross_of(v, f) + cross_of(w, m));
      const Six<double> dY = six(zero, cross_of(dv, f) + cross_of(v, df) + cross_of(dw, m) + cross_of(w, dm));
      const Six<double> by_rate = Y + dN + crossed(N, V_);
      const Six<double> by_place = dY + crossed(dN, V_) + crossed(N, A_);
      const Six<double> speed = Y + crossed(N, V_);
      const std::ptrdiff_t at = (c.first + r) * std::ptrdiff_t(stride_);
      double *J = jacobian_ + at, *q = broken_q_ + at, *rate = broken_v_ + at, *s = speed_q_ + at;
      for (int k = 0; k < stride_; ++k) J[k] = q[k] = rate[k] = s[k] = 0;
      for (int j = 0; j < count_; ++j) {
        const int k = active_[j];
        J[k] = dot(N, J_[k]);
        q[k] = dot(N, ddJ_[k]) + dot(by_rate, dJ_[k]) + dot(by_place, J_[k]);
        rate[k] = 2 * dot(N, dJ_[k]) + dot(by_rate, J_[k]);
        s[k] = dot(N, dJ_[k]) + dot(speed, J_[k]);
      }
      for (int j = 0; j < tree_.size; ++j)
        if (const Body& b = tree_.bodies[j]; has_quaternion(b.joint)) bend(b, J, rate, q, s);
    }
  }

  // For the columns of a free or spherical joint: dq' = dv - ad_v dq, dq'' = dv' - ad_a dq - ad_v dq'. q holds the factor of dq, rate
  // that of dq', J that of dq''.
  void bend(const Body& b, const double* J, double* rate, double* q, double* s) const {
    const int n = freedom(b.joint), at = b.column;
    double jv[6], ja[6], jvv[6], rv[6];
    times_bracket(n, J + at, v_ + at, jv);     // J ad_v
    times_bracket(n, J + at, acc_ + at, ja);   // J ad_a
    times_bracket(n, rate + at, v_ + at, rv);  // rate ad_v
    times_bracket(n, jv, v_ + at, jvv);
    for (int k = 0; k < n; ++k) {
      q[at + k] += jvv[k] - rv[k] - ja[k];
      rate[at + k] -= jv[k];
      s[at + k] -= jv[k];
    }
  }
  // x ad_u for a row x, of twists or angular velocities.
  static void times_bracket(int n, const double* x, const double* u, double* out) {
    if (n == 3) {
      const V y = cross_of(V{x[0], x[1], x[2]}, V{u[0], u[1], u[2]});
      out[0] = y.x, out[1] = y.y, out[2] = y.z;
      return;
    }
    const V f{x[0], x[1], x[2]}, m{x[3], x[4], x[5]}, v{u[0], u[1], u[2]}, w{u[3], u[4], u[5]};
    const V a = cross_of(f, w), b = cross_of(m, w) + cross_of(f, v);
    out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = b.x, out[4] = b.y, out[5] = b.z;
  }

  const Tree& tree_;
  const Constraints& all_;
  ConstraintForces<double>& forces_;
  ArticulatedBodies<double>& factors_;
  BiasByOrder<double>& bias_;
  const SectionTables<double>& sections_;
  const BodyPlaces<double>& places_;
  Six<double>*J_, *dJ_, *ddJ_, *above_;
  int stride_;
  double *jacobian_, *speed_q_, *broken_q_, *broken_v_, *Z_, *JX_, *row_;
  int left_stride_;
  double* left_;
  int* active_;  // the columns present in J
  bool* is_active_;
  int count_ = 0;
  Six<double> V_, A_;
  Wrench<double> F_;
  const double *v_ = nullptr, *acc_ = nullptr;
};

JOUNCE_END
