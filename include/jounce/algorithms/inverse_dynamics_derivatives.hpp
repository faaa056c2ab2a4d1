// Partial derivatives of inverse dynamics, along a motion: tau = tau(q, v, v') changes by K dq + D dv + M dv', dq in
// left-trivialized tangent coordinates (Carpentier and Mansard 2018; Singh, Russell and Wensing 2022; paper B, section 4).
//
// In world axes, with J the screws, V and A the twist and acceleration of a body (A of the world is minus gravity), h = I V and
// f = I A + V x* h: moving coordinate d of body j moves all that j carries by J_d, but not the twist V_p that j has from its
// parent p. So besides the rigid displacement, which turns a wrench f by J_d x* f, the carried bodies' twists and accelerations
// change as if there were
//
//   S' = V_p x J_d,   S'' = A_p x J_d + V_p x S',      and         df = J_d x* f + I S'' + 2B S',
//
// 2B = V x* I - I V x + (. x* h). For dv the same with J_d for S' and J_d' + S' for S''. Written out, 2B (v, w) = (-2p x w, Q w)
// with p the linear momentum and Q = (tr J - J)' - [l], l the angular momentum. So with sums over all that is carried,
//
//   K_cd = J_c . (J_d x* F + I S''_d + 2B S'_d)        D_cd = J_c . (I (J' + S')_d + 2B J_d)             c above d,
//   K_dc = S''_c . I J_d + S'_c . 2B^T J_d             D_dc = (J' + S')_c . I J_d + J_c . 2B^T J_d       d at or below c.
//
// The linear part of 2B^T J is zero. Everything is a series: K, D and M come with their derivatives along the motion.
//
// The screws S of a soft body's section change with its shape. As its coordinates are true ones, S' is the screw's own derivative in
// world axes, J' = V x J + dS/dt (for a joint with one axis that is V_p x J), S'' = A x J + V x (J' + dS/dt) + d2S/dt2 its second one
// with A for V', and 2 J' replaces J' + S'. Within a section K_cd also has the term dS_c/dq_d . F (soft_curvature.hpp), and columns
// below or above it see sums over sections.
#pragma once

#include "jounce/motion/columns.hpp"
#include "jounce/soft/soft_curvature.hpp"

JOUNCE_BEGIN

// Positions and velocities in `Ring`, whose Velocity has as many coefficients as the result.
template <class Ring>
class InverseDynamicsDerivatives {
 public:
  using S = typename Ring::Velocity;
  static constexpr int n = Ring::order + 2;

  template <class Arena>
  InverseDynamicsDerivatives(const Tree& tree, const Motion<Ring>& motion, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : tree_(tree),
        motion_(motion),
        world_(world),
        rows_(rows),
        acceleration_(arena.template take<double>(n * motion.stride)),
        body_(arena.template take<Carried>(tree.size + 1) + 1),
        change_(arena.template take<Change>(tree.screws)),
        above_(tree.screws, rows, arena),
        position_right_(tree.screws, rows, arena),
        velocity_right_(tree.screws, rows, arena),
        fixed_wrench_(tree.screws, rows, arena),
        momenta_(tree.screws, rows, arena),
        position_left_(tree.screws, rows, arena),
        velocity_left_(tree.screws, rows, arena),
        row_(arena.template take<double>(2 * above_.stride())) {}

  double* acceleration(int k) { return acceleration_ + k * motion_.stride; }  // coefficient k of v'

  // Twists, accelerations and the wrenches they require; after WorldFrame::place in body axes and set_inertias().
  void forward() {
    const S zero(0.0);
    const Vec3<S> none{zero, zero, zero};
    const double* g = tree_.gravity;
    Carried& ground = body_[-1];
    ground.V = {none, none};
    ground.A = {{S(-g[0]), S(-g[1]), S(-g[2])}, none};
    has_fixed_wrenches_ = false;
    for (int i = 0; i < tree_.size; ++i) move(i);
  }

  // An external wrench on body i, in world axes about world.point(i): fixed in the body or (apply_fixed_wrench) in the world; the
  // latter may act at a point x that moves with the body.
  void apply_wrench(int i, const Screw<S>& f) {
    body_[i].F.v -= f.v;
    body_[i].F.w -= f.w;
  }
  void apply_fixed_wrench(int i, const Screw<S>& f, const Vec3<S>* x) {
    if (!has_fixed_wrenches_) {
      const S zero(0.0);
      const Vec3<S> none{zero, zero, zero};
      for (int j = 0; j < tree_.size; ++j) body_[j].E = {none, none}, body_[j].pull = none, body_[j].pull_moment = {none, none, none};
      has_fixed_wrenches_ = true;
    }
    Carried& b = body_[i];
    b.E += f;
    if (!x) return;
    b.pull += f.v;  // [f][x] = x f^T - (f . x) 1
    const auto column = [&](const S& s) { return Vec3<S>{as_factor(s) * x->x, as_factor(s) * x->y, as_factor(s) * x->z}; };
    Mat3<S> y{column(f.v.x), column(f.v.y), column(f.v.z)};
    const S dot = y.cx.x + y.cy.y + y.cz.z;
    y.cx.x -= dot, y.cy.y -= dot, y.cz.z -= dot;
    b.pull_moment.cx += y.cx, b.pull_moment.cy += y.cy, b.pull_moment.cz += y.cz;
  }

  // The wrench required by all that a section carries, in its own axes; after run().
  Screw<S> section_wrench(int i) const {
    const Pose<S>& pose = world_.pose(i);
    const Screw<S> F = has_fixed_wrenches_ ? body_[i].F - body_[i].E : body_[i].F;
    return {turn_back(pose.R, F.v), turn_back(pose.R, F.w - cross(pose.x, F.v))};
  }

  // Derivatives 0 .. rows - 1 of K, D and M, each (rows, columns, columns); M may be null.
  void run(double* K, double* D, double* M) {
    gather();
    const std::ptrdiff_t columns = tree_.columns, size = columns * columns;
    for (double* matrix : {K, D, M})
      if (matrix) std::memset(matrix, 0, sizeof(double) * rows_ * size);
    for (int k = 0; k < rows_; ++k, K += size, D += size, M = M ? M + size : M)
      for (int i = 0; i < tree_.size; ++i) {
        const Body& b = tree_.bodies[i];
        const bool is_section = b.joint == Joint::section;
        for (int s = b.screw; s < b.screw + b.count; ++s) {
          const int c = b.column + s - b.screw;
          if (is_section) write<true>(k, s, c, b.screw, b.screw + b.count, b.column - b.screw, b.screw + b.count, K, D, M);
          for_each_range(tree_, b, [&](int begin, int end) JOUNCE_LAMBDA_INLINE {
            write<false>(k, s, c, begin, end, 0, is_section || begin != b.column ? begin : b.column + b.count, K, D, M);
          });
        }
      }
  }

 private:
  struct Carried {
    Screw<S> V, A;             // of the body
    Moments<S> m;              // from here on for all that it carries
    Screw<S> h, F;             // momentum, and the wrench that its motion requires
    S xx, yy, zz, xy, xz, yz;  // d/dt of the second moments
    Screw<S> E;                // wrenches that are fixed in the world, of which `pull` are forces at points of the body
    Vec3<S> pull;
    Mat3<S> pull_moment;

    JOUNCE_INLINE void carry(const Carried& b, bool wrenches) {
      m += b.m;
      h += b.h;
      F += b.F;
      xx += b.xx, yy += b.yy, zz += b.zz, xy += b.xy, xz += b.xz, yz += b.yz;
      if (!wrenches) return;
      E += b.E;
      pull += b.pull;
      pull_moment.cx += b.pull_moment.cx, pull_moment.cy += b.pull_moment.cy, pull_moment.cz += b.pull_moment.cz;
    }

    // 2B (., w) and the angular part of 2B^T (v, w).
    JOUNCE_INLINE Screw<S> twice_b(const Vec3<S>& w) const {
      const auto& x = as_factor(w.x);
      const auto& y = as_factor(w.y);
      const auto& z = as_factor(w.z);
      return {-2.0 * cross(h.v, w),
              Vec3<S>{x * (yy + zz) - y * xy - z * xz, y * (xx + zz) - x * xy - z * yz, z * (xx + yy) - x * xz - y * yz} - cross(h.w, w)};
    }
    JOUNCE_INLINE Vec3<S> twice_b_transpose(const Screw<S>& t) const {
      const auto& x = as_factor(t.w.x);
      const auto& y = as_factor(t.w.y);
      const auto& z = as_factor(t.w.z);
      return 2.0 * cross(h.v, t.v) + cross(h.w, t.w) +
             Vec3<S>{x * (yy + zz) - y * xy - z * xz, y * (xx + zz) - x * xy - z * yz, z * (xx + yy) - x * xz - y * yz};
    }
  };

  struct Change {
    Screw<S> rate, second, both;  // S', S'' and J' + S'
  };

  // The entries of screw s of column c with the table's columns [begin, end), which lie `shift` before those of the matrices. Those
  // from `below` on are carried by it; earlier ones move together with it, and are added up if several sections do.
  template <bool add>
  JOUNCE_INLINE void write(int k, int s, int c, int begin, int end, int shift, int below, double* K, double* D, double* M) {
    const std::ptrdiff_t n = tree_.columns;
    const double scale = factorial.value[k];
    const auto put = [&](double& to, double x) JOUNCE_LAMBDA_INLINE { to = add ? to + scale * x : scale * x; };
    const auto lower = [&](double* out) JOUNCE_LAMBDA_INLINE {
      for (int d = begin; d < end; ++d) put(out[(d + shift) * n + c], row_[d]);
    };
    const auto upper = [&](double* out, int from) JOUNCE_LAMBDA_INLINE {
      for (int d = from; d < end; ++d) put(out[c * n + d + shift], row_[d]);
    };
    if (M) {
      pairings<6>(above_, momenta_, k, s, begin, end, row_);
      upper(M, begin);
      if (!add) lower(M);
    }
    pairings<9>(position_left_, momenta_, k, s, begin, end, row_);
    if (has_fixed_wrenches_) {
      double* more = row_ + above_.stride();
      pairings<6>(above_, fixed_wrench_, k, s, begin, end, more);
      for (int d = begin; d < end; ++d) row_[d] -= more[d];
    }
    lower(K);
    pairings<9>(velocity_left_, momenta_, k, s, begin, end, row_);
    lower(D);
    if (below >= end) return;
    pairings<6>(above_, position_right_, k, s, below, end, row_);
    upper(K, below);
    pairings<6>(above_, velocity_right_, k, s, below, end, row_);
    upper(D, below);
  }

  JOUNCE_INLINE FactorView<double> acceleration_of(int c) const { return {acceleration_ + c, motion_.stride}; }

  JOUNCE_NOINLINE void move(int i) {
    const Body& b = tree_.bodies[i];
    const Carried& parent = body_[b.parent];
    Carried& own = body_[i];
    if (b.joint == Joint::section) {
      move_section(i, b, parent, own);
    } else if (is_ball(b.joint)) {
      Screw<S> joint = Screw<S>::zero();
      own.A = parent.A;
      for (int c = b.v, end = c + freedom(b.joint); c < end; ++c) {
        joint += scaled(motion_.velocity_factor(c), world_.screw(c));
        own.A += scaled(acceleration_of(c), world_.screw(c));
      }
      own.V = parent.V + joint;
      own.A += bracket(own.V, joint);
      for (int c = b.v, end = c + freedom(b.joint); c < end; ++c) {
        const Screw<S>& J = world_.screw(c);
        const Screw<S> rate = bracket(parent.V, J);
        change_[c] = {rate, bracket(parent.A, J) + bracket(parent.V, rate), rate + bracket(own.V, J)};
      }
    } else {
      const Screw<S>& J = world_.screw(b.v);
      const Screw<S> rate = bracket(parent.V, J);
      const auto v = motion_.velocity_factor(b.v);
      own.V = parent.V + scaled(v, J);
      own.A = parent.A + scaled(acceleration_of(b.v), J) + scaled(v, rate);
      change_[b.v] = {rate, bracket(parent.A, J) + bracket(parent.V, rate), rate + rate};
    }
    weigh(b, i, own);
  }

  JOUNCE_NOINLINE void move_section(int i, const Body& b, const Carried& parent, Carried& own) {
    const SectionTables<double>& sections = motion_.sections;
    const Pose<S>& pose = world_.pose(i);
    const Screw<S> joint = to_world(pose, sections.template twist_derivative<S>(b, 0, rows_));
    own.V = parent.V + joint;
    own.A = parent.A + to_world(pose, sections.template twist_derivative<S>(b, 1, rows_)) + bracket(own.V, joint);
    for (int s = b.screw; s < b.screw + b.count; ++s) {
      const Screw<S>& J = world_.screw(s);
      const Screw<S> shape = to_world(pose, sections.template screw_derivative<S>(s, 1, rows_));
      const Screw<S> rate = bracket(own.V, J) + shape;
      change_[s] = {rate,
                    bracket(own.A, J) + bracket(own.V, rate + shape) + to_world(pose, sections.template screw_derivative<S>(s, 2, rows_)),
                    rate + rate};
    }
  }

  JOUNCE_INLINE void weigh(const Body& b, int i, Carried& own) {
    const Moments<S>& m = own.m = world_.moments(i);
    if (b.massless) {
      const S zero(0.0);
      const Vec3<S> none{zero, zero, zero};
      own.h = own.F = {none, none};
      own.xx = own.yy = own.zz = own.xy = own.xz = own.yz = zero;
      return;
    }
    own.h = m.momentum(own.V);
    own.F = m.momentum(own.A) + dual_bracket(own.V, own.h);
    // x' = v + w x x, so J' = Y + Y^T with Y = v h^T + [w] J
    const Vec3<S>&h = m.first, &v = own.V.v, &w = own.V.w;
    const Vec3<S> jx{m.xx, m.xy, m.xz}, jy{m.xy, m.yy, m.yz}, jz{m.xz, m.yz, m.zz};
    const auto along = [&](const S& s) { return Vec3<S>{as_factor(s) * v.x, as_factor(s) * v.y, as_factor(s) * v.z}; };
    const Vec3<S> x = along(h.x) + cross(w, jx), y = along(h.y) + cross(w, jy), z = along(h.z) + cross(w, jz);
    own.xx = x.x + x.x, own.yy = y.y + y.y, own.zz = z.z + z.z;
    own.xy = x.y + y.x, own.xz = x.z + z.x, own.yz = y.z + z.y;
  }

  // The sums over what each body carries, and the columns computed from them.
  void gather() {
    for (int i = tree_.size - 1; i >= 0; --i)
      if (const int parent = tree_.bodies[i].parent; parent >= 0) body_[parent].carry(body_[i], has_fixed_wrenches_);
    above_.clear();
    momenta_.clear();
    position_right_.clear();
    velocity_right_.clear();
    if (has_fixed_wrenches_) fixed_wrench_.clear();
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; c < b.count; ++c) fill(b.screw + c, b.joint == Joint::section ? b.column + c : -1, body_[i]);
    }
  }

  // The columns of screw s; for a section also what columns above its body see, which is the sum over sections: added to column c.
  JOUNCE_NOINLINE void fill(int s, int c, const Carried& b) {
    const Screw<S>& J = world_.screw(s);
    const Change& change = change_[s];
    const Screw<S> momentum = b.m.momentum(J), velocity = b.m.momentum(change.both) + b.twice_b(J.w);
    const Vec3<S> twice = b.twice_b_transpose(J);
    Screw<S> position = dual_bracket(J, b.F) + b.m.momentum(change.second) + b.twice_b(change.rate.w), left;
    if (has_fixed_wrenches_) {
      position.w += cross(b.pull, J.v) - turn(b.pull_moment, J.w);
      left = dual_bracket(J, b.E) + Screw<S>{cross(b.pull, J.w), turn_back(b.pull_moment, J.w)};
      fixed_wrench_.set(s, left);
    }
    above_.set(s, J);
    momenta_.set(s, momentum);
    momenta_.set_vector(s, twice, 6);
    position_left_.set(s, change.second);
    position_left_.set_vector(s, change.rate.w, 6);
    velocity_left_.set(s, change.both);
    velocity_left_.set_vector(s, J.w, 6);
    position_right_.set(s, position);
    velocity_right_.set(s, velocity);
    if (c < 0) return;
    momenta_.add(c, momentum);
    momenta_.add_vector(c, twice, 6);
    position_right_.add(c, position);
    velocity_right_.add(c, velocity);
    if (has_fixed_wrenches_) fixed_wrench_.add(c, left);
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  const WorldFrame<Ring>& world_;
  int rows_;
  double* acceleration_;
  Carried* body_;
  Change* change_;
  Columns<6> above_, position_right_, velocity_right_, fixed_wrench_;
  Columns<9> momenta_, position_left_, velocity_left_;
  double* row_;
  bool has_fixed_wrenches_ = false;
};

JOUNCE_END
