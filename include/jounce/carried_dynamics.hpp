// Robots with soft bodies at order zero, in their own coordinates: mass matrix, partial derivatives, and forward dynamics in time
// linear in the number of bodies.
//
// The carrier's bodies are seen in world axes (world_frame.hpp). Each has the screws J of the own coordinates that move it in its
// parent: one of a joint, or the n of a soft body, whose sections ("stations") all hang on one parent and share coordinates. Such
// bodies make a group. For what lies below a body its screws stay the same; so do, with V and A the twists and accelerations
// (gravity: the world falls upwards), and X = dS v, Y = dS a + dS' v the changes of a station's own twist and acceleration,
//
//   by q:  eta = V_p x J + X,     psi = A_p x J + Y + V x X - eta x V_p       (p the parent)
//   by v:  eta = J,               psi = S' + X + V x J + V_p x J
//
// from which the wrench of any body i below changes by J x* F_i (by q only) + I_i psi + B_i eta, B_i eta = I_i' eta + eta x* (I_i V_i).
// With sums over subtrees, row d and column c of dtau/dq are
//
//   P_d . psi_c + Q_d . eta_c    for c above d,    P_d = sum I J_d,  Q_d = sum B^T J_d    over the bodies of d's group,
//   J_d . R_c                    for d above c,    R_c = sum J_c x* F + I psi_c + B eta_c,
//   sum of J_d . (I psi_c + B eta_c) + dS_d/dq_c . F    within a group
//
// (after Singh, Russell and Wensing 2022, for coordinates that move several bodies). Forward dynamics is the articulated-body
// algorithm with a group in the place of a joint.
#pragma once

#include "jounce/arena.hpp"
#include "jounce/coriolis_matrix.hpp"
#include "jounce/soft_body.hpp"

JOUNCE_BEGIN

class CarriedDynamics {
 public:
  using Ring = ArrayRing<double, -1>;
  using A = Series<double, 1>;
  using Twist = Screw<A>;

  template <class Arena>
  CarriedDynamics(const Tree& tree, const CoordinateMap& map, const WorldFrame<Ring>& world, Arena& arena)
      : tree_(tree),
        map_(map),
        world_(world),
        J_(arena.template take<Twist>(map.entry_count)),
        eta_(arena.template take<Twist>(map.entry_count)),
        psi_(arena.template take<Twist>(map.entry_count)),
        psi_v_(arena.template take<Twist>(map.entry_count)),
        state_(arena.template take<State>(tree.size + 1) + 1),
        sums_(arena.template take<Sums>(map.widest_group)),
        inertia_(arena.template take<Square>(tree.size + 1) + 1),
        block_(arena.template take<double>(std::size_t(map.entry_count) * map.widest_group)),
        share_(arena.template take<Twist>(map.entry_count)),
        rest_(arena.template take<double>(map.entry_count)) {}

  // Screws, from the Jacobians (n, 6) of the stations; after WorldFrame::place.
  void set_columns(const double* columns) {
    for (int i = 0; i < tree_.size; ++i) {
      const CarriedBody& own = map_.carried[i];
      if (own.station >= 0)
        for (int c = 0; c < own.count; ++c) J_[own.first + c] = to_world(i, columns + map_.stations[own.station].column + 6 * c);
      else
        for (int c = 0; c < own.count; ++c)
          J_[own.first + c] = scaled(A(map_.entries[own.first + c].ratio), world_.screw(tree_.bodies[i].v + c));
    }
  }

  // M (nv, nv), zero before; after WorldFrame::weigh_subtrees.
  void mass_matrix(double* M) {
    const int nv = map_.nv;
    for (int g = 0; g < map_.group_count; ++g) {
      const Group group = map_.groups[g];
      const int m = map_.carried[group.first].count;
      for (int c = 0; c < m; ++c) sums_[c].P = zero();
      for (int b = group.first; b < group.end; ++b)
        for (int c = 0; c < m; ++c) {
          const Twist momentum = world_.moments(b).momentum(screw(b, c));
          sums_[c].P += momentum;
          for (int d = 0; d < m; ++d) M[at(b, d) * nv + at(b, c)] += leading(pairing(screw(b, d), momentum));
        }
      for (int a = parent(group.first); a >= 0; a = parent(a))
        for (int e = map_.carried[a].first, end = e + map_.carried[a].count; e < end; ++e)
          for (int c = 0; c < m; ++c) {
            const double x = leading(pairing(sums_[c].P, J_[e]));
            M[at(group.first, c) * nv + map_.entries[e].column] += x;
            M[std::ptrdiff_t(map_.entries[e].column) * nv + at(group.first, c)] += x;
          }
    }
    for (int e = 0; e < map_.entry_count; ++e)
      if (const Entry& entry = map_.entries[e]; entry.coordinate >= 0)
        M[std::ptrdiff_t(entry.column) * (nv + 1)] += entry.ratio * entry.ratio * tree_.armature[entry.coordinate];
  }

  // dtau/dq, dtau/dv and M, zero before. v: (2, nv) own velocity and acceleration; full: the same of the carrier; `columns` and
  // `seconds`: two rows of each. After WorldFrame::weigh.
  void derivatives(const double* v, const double* full, const double* columns, const double* seconds, double* K, double* D, double* M) {
    move(full, full + tree_.nv);
    for (int i = 0; i < tree_.size; ++i) vary(i, v, columns + map_.columns, seconds);
    gather();
    const int nv = map_.nv;
    for (int g = 0; g < map_.group_count; ++g) {
      const Group group = map_.groups[g];
      const int m = map_.carried[group.first].count;
      for (int c = 0; c < m; ++c) sums_[c] = {zero(), zero(), zero(), zero()};
      for (int b = group.first; b < group.end; ++b) {
        const State& s = state_[b];
        for (int c = 0; c < m; ++c) {
          const int e = map_.carried[b].first + c;
          const Twist IJ = s.inertia.momentum(J_[e]), by_q = s.inertia.momentum(psi_[e]) + s.apply(eta_[e]),
                      by_v = s.inertia.momentum(psi_v_[e]) + s.apply(J_[e]);
          for (int d = 0; d < m; ++d) {
            const std::ptrdiff_t dc = std::ptrdiff_t(at(b, d)) * nv + at(b, c);
            const Twist& J = screw(b, d);
            K[dc] += leading(pairing(J, by_q));
            D[dc] += leading(pairing(J, by_v));
            M[dc] += leading(pairing(J, IJ));
          }
          sums_[c].P += IJ;
          sums_[c].Q += s.apply_transpose(J_[e]);
          sums_[c].R += by_q + cross_force(J_[e], s.F);
          sums_[c].R_v += by_v;
        }
        add_curvature(b, seconds, K);
      }
      for (int a = parent(group.first); a >= 0; a = parent(a))
        for (int e = map_.carried[a].first, end = e + map_.carried[a].count; e < end; ++e)
          for (int c = 0; c < m; ++c) {
            const std::ptrdiff_t column = map_.entries[e].column, own = at(group.first, c), dc = own * nv + column, cd = column * nv + own;
            const Sums& s = sums_[c];
            K[dc] += leading(pairing(s.P, psi_[e]) + pairing(s.Q, eta_[e]));
            K[cd] += leading(pairing(J_[e], s.R));
            D[dc] += leading(pairing(s.P, psi_v_[e]) + pairing(s.Q, J_[e]));
            D[cd] += leading(pairing(J_[e], s.R_v));
            const double x = leading(pairing(s.P, J_[e]));
            M[dc] += x, M[cd] += x;
          }
    }
    for (int e = 0; e < map_.entry_count; ++e)
      if (const Entry& entry = map_.entries[e]; entry.coordinate >= 0) {
        const std::ptrdiff_t diagonal = std::ptrdiff_t(entry.column) * (nv + 1);
        const double square = entry.ratio * entry.ratio;
        M[diagonal] += square * tree_.armature[entry.coordinate];
        D[diagonal] += square * tree_.damping[entry.coordinate];
        K[diagonal] += square * tree_.stiffness[entry.coordinate];
      }
  }

  // Accelerations; `full` is (2, nv of the carrier) for zero own acceleration, q and v the carrier's; tau without what shapes take.
  // Returns the first body whose inertia has no inverse, or -1. After WorldFrame::weigh.
  int forward(const double* full_q, const double* full, const double* tau, double* acc) {
    move(full, full + tree_.nv);
    for (int i = 0; i < tree_.size; ++i) {
      inertia_[i].set(world_.moments(i));
      const Twist momentum = world_.moments(i).momentum(state_[i].V);
      state_[i].F = cross_force(state_[i].V, momentum);
    }
    for (int g = map_.group_count - 1; g >= 0; --g)
      if (const int singular = fold(map_.groups[g], full_q, full, tau); singular >= 0) return singular;
    state_[-1].A = fall();
    for (int g = 0; g < map_.group_count; ++g) unfold(map_.groups[g], acc);
    return -1;
  }

 private:
  struct State {
    Twist V, A, F, momentum, W;  // W: twist in the parent; F and momentum become sums over what the body carries
    Twist bias;                  // acceleration relative to the parent's, of the velocities
    Moments<jounce::Series<double, 1>> inertia;
    MomentumRate<jounce::Series<double, 1>> rate;

    // I' t + t x* momentum, and with the transposed matrix
    Twist apply(const Twist& t) const { return rate.apply(t) + rate.apply_transpose(t) + cross_force(t, momentum); }
    Twist apply_transpose(const Twist& t) const { return rate.apply(t) + rate.apply_transpose(t) + minus(cross_force(t, momentum)); }
  };
  struct Sums {
    Twist P, Q, R, R_v;
  };
  // A symmetric 6x6 matrix.
  struct Square {
    double x[36];

    void set(const Moments<A>& m) {
      const double mass = m.mass, h[3] = {leading(m.first.x), leading(m.first.y), leading(m.first.z)};
      const double xx = leading(m.xx), yy = leading(m.yy), zz = leading(m.zz), xy = leading(m.xy), xz = leading(m.xz), yz = leading(m.yz);
      const double full[36] = {mass, 0, 0,     0,    h[2],    -h[1], 0,     mass,  0,    -h[2],   0,   h[0],
                               0,    0, mass,  h[1], -h[0],   0,     0,     -h[2], h[1], yy + zz, -xy, -xz,
                               h[2], 0, -h[0], -xy,  xx + zz, -yz,   -h[1], h[0],  0,    -xz,     -yz, xx + yy};
      for (int i = 0; i < 36; ++i) x[i] = full[i];
    }
    Twist apply(const Twist& t) const {
      const double v[6] = {leading(t.v.x), leading(t.v.y), leading(t.v.z), leading(t.w.x), leading(t.w.y), leading(t.w.z)};
      double y[6] = {};
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) y[i] += x[6 * i + j] * v[j];
      return {{A(y[0]), A(y[1]), A(y[2])}, {A(y[3]), A(y[4]), A(y[5])}};
    }
    void add(const Square& b) {
      for (int i = 0; i < 36; ++i) x[i] += b.x[i];
    }
    // -= u w^T
    void subtract(const Twist& u, const Twist& w) {
      const double a[6] = {leading(u.v.x), leading(u.v.y), leading(u.v.z), leading(u.w.x), leading(u.w.y), leading(u.w.z)};
      const double b[6] = {leading(w.v.x), leading(w.v.y), leading(w.v.z), leading(w.w.x), leading(w.w.y), leading(w.w.z)};
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) x[6 * i + j] -= a[i] * b[j];
    }
  };

  static Twist zero() {
    const A o(0.0);
    return {{o, o, o}, {o, o, o}};
  }
  static Twist minus(const Twist& a) { return {-a.v, -a.w}; }
  static Twist cross_twist(const Twist& a, const Twist& b) { return {cross(a.w, b.v) + cross(a.v, b.w), cross(a.w, b.w)}; }
  static Twist cross_force(const Twist& a, const Twist& f) { return {cross(a.w, f.v), cross(a.v, f.v) + cross(a.w, f.w)}; }

  Twist fall() const {
    const A o(0.0);
    return {{A(-tree_.gravity[0]), A(-tree_.gravity[1]), A(-tree_.gravity[2])}, {o, o, o}};
  }
  int parent(int i) const { return tree_.bodies[i].parent; }
  const Twist& screw(int body, int c) const { return J_[map_.carried[body].first + c]; }
  std::ptrdiff_t at(int body, int c) const { return map_.entries[map_.carried[body].first + c].column; }

  // A twist in a body's own axes, and back for a wrench.
  Twist to_world(int i, const double* t) const {
    const Pose<A>& pose = world_.pose(i);
    const Vec3<A> w = turn(pose.R, Vec3<A>{A(t[3]), A(t[4]), A(t[5])});
    return {turn(pose.R, Vec3<A>{A(t[0]), A(t[1]), A(t[2])}) + cross(pose.x, w), w};
  }
  Twist wrench_in_body(int i, const Twist& f) const {
    const Pose<A>& pose = world_.pose(i);
    return {turn_back(pose.R, f.v), turn_back(pose.R, f.w - cross(pose.x, f.v))};
  }

  // Twists and accelerations.
  void move(const double* v, const double* a) {
    state_[-1].V = zero();
    state_[-1].A = fall();
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      State& s = state_[i];
      s.W = s.bias = zero();
      for (int c = b.v, end = c + freedom(b.joint); c < end; ++c) {
        s.W += scaled(A(v[c]), world_.screw(c));
        s.bias += scaled(A(a[c]), world_.screw(c));
      }
      s.V = state_[b.parent].V + s.W;
      s.bias += cross_twist(s.V, s.W);
      s.A = state_[b.parent].A + s.bias;
    }
  }

  // How a coordinate changes what it carries.
  void vary(int i, const double* v, const double* rates, const double* seconds) {
    const CarriedBody& own = map_.carried[i];
    const State &s = state_[i], &p = state_[parent(i)];
    for (int c = 0; c < own.count; ++c) {
      const int e = own.first + c;
      const Twist& J = J_[e];
      Twist X = zero(), Y = zero(), rate = zero();
      if (own.station >= 0) {
        const Station& station = map_.stations[own.station];
        const double *T = seconds + station.second + 6 * own.count * c, *dT = T + map_.seconds;
        const double *velocity = v + map_.entries[own.first].column, *acceleration = velocity + map_.nv;
        double x[6] = {}, y[6] = {};
        for (int d = 0; d < own.count; ++d, T += 6, dT += 6)
          for (int k = 0; k < 6; ++k) {
            x[k] += T[k] * velocity[d];
            y[k] += T[k] * acceleration[d] + dT[k] * velocity[d];
          }
        X = to_world(i, x);
        Y = to_world(i, y);
        rate = to_world(i, rates + station.column + 6 * c);
      }
      eta_[e] = cross_twist(p.V, J) + X;
      psi_[e] = cross_twist(p.A, J) + Y + cross_twist(s.V, X) + cross_twist(p.V, eta_[e]);
      psi_v_[e] = rate + X + cross_twist(s.V, J) + cross_twist(p.V, J);
    }
  }

  // Inertias, their rates, wrenches and momenta, with all that a body carries.
  void gather() {
    for (int i = 0; i < tree_.size; ++i) {
      State& s = state_[i];
      s.inertia = world_.moments(i);
      s.rate = MomentumRate<A>::of(s.inertia, s.V);
      s.momentum = s.inertia.momentum(s.V);
      s.F = s.inertia.momentum(s.A) + cross_force(s.V, s.momentum);
    }
    for (int i = tree_.size - 1; i >= 0; --i)
      if (const int up = parent(i); up >= 0) {
        State& p = state_[up];
        const State& s = state_[i];
        p.inertia += s.inertia, p.rate += s.rate, p.momentum += s.momentum, p.F += s.F;
      }
  }

  // dS_d/dq_c . F of a station
  void add_curvature(int b, const double* seconds, double* K) const {
    const CarriedBody& own = map_.carried[b];
    if (own.station < 0) return;
    const Twist f = wrench_in_body(b, state_[b].F);
    const double w[6] = {leading(f.v.x), leading(f.v.y), leading(f.v.z), leading(f.w.x), leading(f.w.y), leading(f.w.z)};
    const double* T = seconds + map_.stations[own.station].second;
    for (int c = 0; c < own.count; ++c)
      for (int d = 0; d < own.count; ++d, T += 6)
        for (int k = 0; k < 6; ++k) K[at(b, d) * map_.nv + at(b, c)] += T[k] * w[k];
  }

  // Articulated inertia and bias of a group, onto its parent. What each group keeps: its screws times inertia, summed (share_), the
  // Cholesky factor of its own block, and the forces that are left (rest_), at the entries of its first body.
  int fold(const Group& group, const double* full_q, const double* full, const double* tau) {
    const CarriedBody& first = map_.carried[group.first];
    const int m = first.count, up = parent(group.first);
    double* L = block_ + std::ptrdiff_t(first.first) * map_.widest_group;
    double* u = rest_ + first.first;
    Twist* U = share_ + first.first;
    Square all{};
    Twist bias = zero();
    for (int c = 0; c < m * m; ++c) L[c] = 0;
    for (int c = 0; c < m; ++c) {
      const Entry& entry = map_.entries[first.first + c];
      u[c] = tau[entry.column];
      U[c] = zero();
      if (entry.coordinate >= 0) {
        const int x = entry.coordinate;
        L[c * (m + 1)] += entry.ratio * entry.ratio * tree_.armature[x];
        const double spring = tree_.stiffness[x] == 0 ? 0 : tree_.stiffness[x] * (full_q[tree_.bodies[group.first].q] - tree_.rest[x]);
        u[c] -= entry.ratio * (tree_.damping[x] * full[x] + spring);
      }
    }
    for (int b = group.first; b < group.end; ++b) {
      const Twist q = inertia_[b].apply(state_[b].bias) + state_[b].F;
      bias += q;
      all.add(inertia_[b]);
      for (int c = 0; c < m; ++c) {
        const Twist IJ = inertia_[b].apply(screw(b, c));
        U[c] += IJ;
        u[c] -= leading(pairing(screw(b, c), q));
        for (int d = 0; d <= c; ++d) L[c * m + d] += leading(pairing(screw(b, d), IJ));
      }
    }
    for (int c = 0; c < m; ++c) {  // Cholesky
      const double whole = L[c * (m + 1)];
      for (int d = 0; d <= c; ++d) {
        double sum = L[c * m + d];
        for (int k = 0; k < d; ++k) sum -= L[c * m + k] * L[d * m + k];
        if (d < c)
          L[c * m + d] = sum / L[d * (m + 1)];
        else if (sum > 1e-14 * whole)
          L[c * (m + 1)] = std::sqrt(sum);
        else
          return group.first;
      }
    }
    for (int c = 0; c < m; ++c)  // U and u by L^-1
      for (int k = 0; k <= c; ++k) {
        const double f = k < c ? -L[c * m + k] : 0;
        if (k < c) {
          U[c] += scaled(A(f), U[k]);
          u[c] += f * u[k];
        } else {
          U[c] = scaled(A(1 / L[c * (m + 1)]), U[c]);
          u[c] /= L[c * (m + 1)];
        }
      }
    if (up < 0) return -1;
    for (int c = 0; c < m; ++c) {
      all.subtract(U[c], U[c]);
      bias += scaled(A(u[c]), U[c]);
    }
    inertia_[up].add(all);
    state_[up].F += bias;
    return -1;
  }

  void unfold(const Group& group, double* acc) {
    const CarriedBody& first = map_.carried[group.first];
    const int m = first.count;
    const double* L = block_ + std::ptrdiff_t(first.first) * map_.widest_group;
    double* u = rest_ + first.first;
    const Twist& A_p = state_[parent(group.first)].A;
    for (int c = 0; c < m; ++c) u[c] -= leading(pairing(share_[first.first + c], A_p));
    for (int c = m - 1; c >= 0; --c) {  // by L^-T
      for (int k = c + 1; k < m; ++k) u[c] -= L[k * m + c] * u[k];
      u[c] /= L[c * (m + 1)];
      acc[map_.entries[first.first + c].column] = u[c];
    }
    for (int b = group.first; b < group.end; ++b) {
      state_[b].A = A_p + state_[b].bias;
      for (int c = 0; c < m; ++c) state_[b].A += scaled(A(u[c]), screw(b, c));
    }
  }

  const Tree& tree_;
  const CoordinateMap& map_;
  const WorldFrame<Ring>& world_;
  Twist *J_, *eta_, *psi_, *psi_v_;
  State* state_;
  Sums* sums_;
  Square* inertia_;
  double* block_;
  Twist* share_;
  double* rest_;
};

JOUNCE_END
