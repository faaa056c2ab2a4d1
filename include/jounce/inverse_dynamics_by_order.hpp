// Inverse dynamics one Taylor coefficient after the other, for motions that become known in that order: forward dynamics.
//
// The recursion is that of inverse_dynamics.hpp, in body axes, with w, the classical acceleration a of the origin and
// W = [w'] + [w]^2. Coefficient k of the forces is affine in coefficient k of the accelerations, with the same matrix at every order
// (paper A, Lemma 2):
//
//   tau_k = M(q) a_k + b_k,    b_k from the coefficients below k.
//
// bias(k) computes b_k, with the unknown accelerations of this order zero. What they add once they are known is linear, with the geometry
// at order zero:
//
//   forward    dw' <- E^T dw' + S_w d,    da <- E^T (da - p x dw') + S_a d,    df = I (da, dw'),
//   backward   f <- f + df,    df_parent += X^T df.
//
// The sweeps that add it for order k - 1 and those that compute b_k go along the tree together.
//
// T is double, or a Pack with a state in each lane; the order is a number, not a type.
#pragma once

#include "jounce/motion.hpp"
#include "jounce/newton_euler.hpp"

JOUNCE_BEGIN

template <class T>
class InverseDynamicsByOrder {
 public:
  using Start = Motion<ArrayRing<T, -1>>;

  // To order `order`, from positions and cosines that `start` has.
  template <class Arena>
  InverseDynamicsByOrder(const Tree& tree, const Start& start, int order, Arena& arena)
      : tree_(tree), start_(start), n_(order + 1), K_(order + 2), stride_(round_up(tree.slots, native_width)) {
    rate_ = arena.template take<T>(K_ * stride_);
    cosine_ = arena.template take<T>(K_ * stride_);
    sine_ = arena.template take<T>(K_ * stride_);
    force_ = arena.template take<T>(n_ * stride_);
    solved_ = arena.template take<T>(stride_);
    level_ = arena.template take<Level>((tree.size + 1) * K_) + K_;
    state_ = arena.template take<State>(tree.size + 1) + 1;
    int balls = 0;
    for (int i = 0; i < tree.size; ++i) balls += is_ball(tree.bodies[i].joint);
    ball_ = arena.template take<BallLevel>(balls * (K_ + 1));
    ball_index_ = arena.template take<int>(tree.size);
    sections_ = SectionTables<T>::allocate(tree, K_, arena);
  }

  T* rate(int k) const { return rate_ + k * stride_; }    // coefficient k of the velocities, by slots
  T* force(int k) const { return force_ + k * stride_; }  // coefficient k of the forces, by columns
  const T* q() const { return start_.q; }
  int stride() const { return stride_; }
  const SectionTables<T>& sections() const { return sections_; }

  // The pose of a free joint's body in its joint frame: coefficient k, known once extend(k - 1) has run.
  const T* ball_rotation(int body, int k) const { return ball(body, k).R; }
  const T* ball_position(int body, int k) const { return ball(body, k).d; }

  // Positions; rate(0) is to follow.
  void start() {
    const T zero(0.0);
    const Vec3<T> none{zero, zero, zero};
    for (int k = 0; k < K_; ++k) level(-1, k) = {none, none, none, none, none, none, none};
    level(-1, 0).a = {T(-tree_.gravity[0]), T(-tree_.gravity[1]), T(-tree_.gravity[2])};
    state_[-1] = {{none, none, none}, none, none, none, none, none, none};
    for (int c = 0; c < tree_.columns; ++c) cosine_[c] = start_.cosine[c], sine_[c] = start_.sine[c];
    int balls = 0;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (!is_ball(b.joint)) continue;
      ball_index_[i] = balls++;
      start_.rotation(b, ball(i, 0).R);
      for (int r = 0; r < 3; ++r) ball(i, 0).d[r] = start_.position(b, r);
    }
  }

  // Coefficient k of the slots behind the robot's own velocities, from those.
  void fill_slots(int k) {
    for (int i = 0; i < tree_.follower_count; ++i) {
      const Follower& f = tree_.followers[i];
      rate_[k * stride_ + f.v] = T(f.ratio) * rate_[k * stride_ + f.leader_v];
    }
    if (tree_.soft) sections_.extend(tree_, k, start_.q, rate_, stride_);
  }

  // Velocities at order zero.
  void start_moving() {
    fill_slots(0);
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      Level& own = level(i, 0);
      own.w_P = apply_transpose(b.R, level(b.parent, 0).w);
      own.w = turn_back(i, b, own.w_P) + joint_angular(b, 0);
    }
  }

  // Coefficient k + 1 of the joints' rotations, from velocities to order k.
  void extend(int k) {
    const T scale(1.0 / (k + 1));
    for (int c = 0; c < tree_.columns; ++c) {
      T ds(0.0), dc(0.0);
      for (int j = 0; j <= k; ++j) {
        ds += cosine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
        dc += sine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
      }
      sine_[(k + 1) * stride_ + c] = scale * ds;
      cosine_[(k + 1) * stride_ + c] = -(scale * dc);
    }
    for (int i = 0; tree_.quaternion_count + tree_.section_count > 0 && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (!is_ball(b.joint)) continue;
      BallLevel& next = ball(i, k + 1);
      for (int row = 0; row < 3; ++row) {
        next_of_fixed_vector(k, [&](int j) { return ball(i, j).R + 3 * row; }, [&](int j) { return rate_ + j * stride_ + angular(b); },
                             next.R + 3 * row);
        T sum(0.0);
        for (int j = 0; j <= k && is_free(b.joint); ++j) {  // d' = R v
          const T *r = ball(i, j).R + 3 * row, *v = rate_ + (k - j) * stride_ + b.v;
          sum += r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
        }
        next.d[row] = scale * sum;
      }
    }
  }

  // b_k, into force(k): rate(k + 1) is zero where it is unknown. apply(k) is called for wrenches from outside; those of a body are
  // subtracted by apply_wrench().
  template <class Apply>
  void bias(int k, const Apply& apply) {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (k > 0) add_acceleration(i, b, k - 1);
      move(i, b, k);
    }
    apply(k);
    clear_sections(k);
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      if (k > 0) add_wrench(i, b, k - 1);
      gather(i, b, k);
    }
  }

  // Completes force(k), once rate(k + 1) is known.
  void finish(int k) {
    for (int i = 0; i < tree_.size; ++i) add_acceleration(i, tree_.bodies[i], k);
    for (int i = tree_.size - 1; i >= 0; --i) add_wrench(i, tree_.bodies[i], k);
  }

  void apply_wrench(int i, const Vec3<T>& f, const Vec3<T>& t) {
    state_[i].f -= f;
    state_[i].t -= t;
  }

  // The accelerations of order k that were solved for, by own coordinates; those of rate(k + 1) that were there before stay.
  void add_solved(int k, const T* x) {
    const T scale(1.0 / (k + 1));
    for (int c = 0; c < tree_.nv; ++c) solved_[c] = x[c];
    for (int i = 0; i < tree_.follower_count; ++i) solved_[tree_.followers[i].v] = T(tree_.followers[i].ratio) * x[tree_.followers[i].leader_v];
    for (int i = 0; tree_.soft && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int r = 0; b.joint == Joint::section && r < 6; ++r) {
        T sum(0.0);
        for (int c = 0; c < b.count; ++c) sum += sections_.factor(b.screw + c, r)[0] * x[b.column + c];
        solved_[b.v + r] = sum;
      }
    }
    for (int c = 0; c < tree_.slots; ++c) rate_[(k + 1) * stride_ + c] += scale * solved_[c];
  }

  // A body's rotation (9) and position (3) in the world: coefficient k, from those below, in `R` and `x` by order. R' = R [w], x'' = R a + g.
  void extend_pose(int body, int k, T* R, T* x) const {
    if (k == 0) return world_pose(body, R, x, x + 3);
    for (int row = 0; row < 3; ++row)
      next_of_fixed_vector(k - 1, [&](int j) { return R + 9 * j + 3 * row; },
                           [&](int j) { return &level(body, j).w.x; }, R + 9 * k + 3 * row);
    if (k < 2) return;
    const T over(1.0 / (k * (k - 1)));
    for (int row = 0; row < 3; ++row) {
      T sum(k == 2 ? tree_.gravity[row] : 0.0);
      for (int j = 0; j <= k - 2; ++j) {
        const T* r = R + 9 * j + 3 * row;
        const Vec3<T>& a = level(body, k - 2 - j).a;
        sum += r[0] * a.x + r[1] * a.y + r[2] * a.z;
      }
      x[3 * k + row] = over * sum;
    }
  }

 private:
  // Coefficients of one order of one body.
  struct Level {
    Vec3<T> w_P, w, a_P, a;  // angular velocity and acceleration, of the joint frame in its axes and of the body in its own
    Vec3<T> W_z;             // third column of W
    Vec3<T> f, t;            // wrench through the joint; t about the joint frame's origin where the joint slides
  };
  struct BallLevel {
    T R[9], d[3];  // rotation and position of a joint that turns about any axis
    Mat3<T> W_P;   // of the joint frame
    Vec3<T> f_P;   // force in the axes of the joint frame
  };
  struct State {
    Mat3<T> W;       // of this order
    Vec3<T> f, t;    // the wrench that this order's motion takes
    Vec3<T> da, dw;  // what the accelerations of the order before add to a and w'
    Vec3<T> df, dt;  // and to the wrench
  };

  Level& level(int body, int k) const { return level_[body * K_ + k]; }
  BallLevel& ball(int body, int k) const { return ball_[ball_index_[body] * (K_ + 1) + k]; }

  // Coefficient j of the distance that a joint has slid.
  T slid(const Body& b, int j) const { return T(b.slide) * (j == 0 ? start_.q[b.q] : T(1.0 / j) * rate_[(j - 1) * stride_ + b.v]); }

  Vec3<T> joint_angular(const Body& b, int k) const {
    const T* v = rate_ + k * stride_;
    if (is_ball(b.joint)) return {v[angular(b)], v[angular(b) + 1], v[angular(b) + 2]};
    return {T(0.0), T(0.0), turns(b.joint) ? v[b.v] : T(0.0)};
  }
  Vec3<T> joint_linear(const Body& b) const {
    if (is_free(b.joint)) return {rate_[b.v], rate_[b.v + 1], rate_[b.v + 2]};
    return {T(0.0), T(0.0), slides(b.joint) ? T(b.slide) * rate_[b.v] : T(0.0)};
  }

  // Between the axes of the joint frame and the body's, at order zero.
  JOUNCE_INLINE Vec3<T> turn(int i, const Body& b, const Vec3<T>& u) const {
    if (is_ball(b.joint)) return apply(ball(i, 0).R, u);
    if (!turns(b.joint)) return u;
    const T c = cosine_[b.v], s = sine_[b.v];
    return {c * u.x - s * u.y, c * u.y + s * u.x, u.z};
  }
  JOUNCE_INLINE Vec3<T> turn_back(int i, const Body& b, const Vec3<T>& u) const {
    if (is_ball(b.joint)) return apply_transpose(ball(i, 0).R, u);
    if (!turns(b.joint)) return u;
    const T c = cosine_[b.v], s = sine_[b.v];
    return {c * u.x + s * u.y, c * u.y - s * u.x, u.z};
  }
  Vec3<T> position(int i) const { return {ball(i, 0).d[0], ball(i, 0).d[1], ball(i, 0).d[2]}; }

  // Coefficient k of a body's motion and of the wrench that it takes.
  JOUNCE_INLINE void move(int i, const Body& b, int k) {
    const Level& parent = level(b.parent, k);
    Level &own = level(i, k), &next = level(i, k + 1);
    State& s = state_[i];
    next.w_P = apply_transpose(b.R, level(b.parent, k + 1).w);
    own.a_P = apply_transpose(b.R, plus_apply(parent.a, state_[b.parent].W, b.p));
    if (is_ball(b.joint))
      move_ball(i, b, k);
    else
      move_screw(i, b, k);
    if (b.massless)
      s.f = s.t = {T(0.0), T(0.0), T(0.0)};
    else
      newton_euler(b, own.a, s.W, s.f, s.t);
  }

  JOUNCE_INLINE void move_screw(int i, const Body& b, int k) {
    Level &own = level(i, k), &next = level(i, k + 1);
    State& s = state_[i];
    const T* rate = rate_ + b.v;
    if (turns(b.joint)) {
      T wx(0.0), wy(0.0), ax(0.0), ay(0.0);
      for (int j = 0; j <= k + 1; ++j) {
        const T c = cosine_[j * stride_ + b.v], sn = sine_[j * stride_ + b.v];
        const Vec3<T>& u = level(i, k + 1 - j).w_P;
        wx += c * u.x + sn * u.y;
        wy += c * u.y - sn * u.x;
        if (j > k) break;
        const Vec3<T>& e = level(i, k - j).a_P;
        ax += c * e.x + sn * e.y;
        ay += c * e.y - sn * e.x;
      }
      next.w = {wx, wy, next.w_P.z + rate[(k + 1) * stride_]};
      own.a = {ax, ay, own.a_P.z};
    } else {
      next.w = next.w_P;
      own.a = own.a_P;
    }
    s.W = acceleration_matrix(i, k);
    own.W_z = s.W.cz;
    if (!slides(b.joint)) return;
    const T slide(2 * b.slide);
    for (int j = 0; j <= k; ++j) {
      const T d = slid(b, j);
      const Level& at = level(i, k - j);
      own.a.x += d * at.W_z.x + slide * (rate[j * stride_] * at.w.y);
      own.a.y += d * at.W_z.y - slide * (rate[j * stride_] * at.w.x);
      own.a.z += d * at.W_z.z;
    }
    own.a.z += T((k + 1) * b.slide) * rate[(k + 1) * stride_];
  }

  JOUNCE_NOINLINE void move_ball(int i, const Body& b, int k) {
    Level &own = level(i, k), &next = level(i, k + 1);
    const bool free = is_free(b.joint), moving = b.parent >= 0;
    const T zero(0.0);
    if (moving && free) {
      ball(i, k).W_P = acceleration_matrix_of(k, next.w_P, [&](int j) -> const Vec3<T>& { return level(i, j).w_P; });
      for (int j = 0; j <= k; ++j) {
        const T* d = ball(i, k - j).d;
        const Mat3<T>& W = ball(i, j).W_P;
        own.a_P += Vec3<T>{d[0] * W.cx.x + d[1] * W.cy.x + d[2] * W.cz.x, d[0] * W.cx.y + d[1] * W.cy.y + d[2] * W.cz.y,
                           d[0] * W.cx.z + d[1] * W.cy.z + d[2] * W.cz.z};
      }
    }
    next.w = {zero, zero, zero};
    own.a = {zero, zero, zero};
    if (moving) {
      for (int j = 0; j <= k + 1; ++j) next.w += apply_transpose(ball(i, j).R, level(i, k + 1 - j).w_P);
      for (int j = 0; j <= k; ++j) own.a += apply_transpose(ball(i, j).R, level(i, k - j).a_P);
    } else {
      own.a = apply_transpose(ball(i, k).R, level(i, 0).a_P);
    }
    next.w += joint_angular(b, k + 1);
    if (free) {
      for (int j = 0; j <= k; ++j) {  // (2 w - w_J) x v
        const T *w_J = rate_ + j * stride_ + b.v + 3, *v = rate_ + (k - j) * stride_ + b.v;
        const Vec3<T>& w = level(i, j).w;
        const T two(2.0), x = two * w.x - w_J[0], y = two * w.y - w_J[1], z = two * w.z - w_J[2];
        own.a += Vec3<T>{y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]};
      }
      const T *v = rate_ + (k + 1) * stride_ + b.v, scale(k + 1.0);
      own.a += Vec3<T>{scale * v[0], scale * v[1], scale * v[2]};
    }
    state_[i].W = acceleration_matrix(i, k);
    own.W_z = state_[i].W.cz;
  }

  // Coefficient k of W = [w'] + [w]^2, given coefficient k + 1 of w.
  template <class W>
  static JOUNCE_INLINE Mat3<T> acceleration_matrix_of(int k, const Vec3<T>& next, const W& w) {
    T xx(0.0), yy(0.0), zz(0.0), xy(0.0), xz(0.0), yz(0.0);
    for (int j = 0; j <= k; ++j) {
      const Vec3<T>&a = w(j), &b = w(k - j);
      xx += a.x * b.x, yy += a.y * b.y, zz += a.z * b.z;
      xy += a.x * b.y, xz += a.x * b.z, yz += a.y * b.z;
    }
    const T scale(k + 1.0), ax = scale * next.x, ay = scale * next.y, az = scale * next.z;
    return jounce::acceleration_matrix(xx, yy, zz, xy, xz, yz, ax, ay, az);
  }
  JOUNCE_INLINE Mat3<T> acceleration_matrix(int i, int k) const {
    return acceleration_matrix_of(k, level(i, k + 1).w, [&](int j) -> const Vec3<T>& { return level(i, j).w; });
  }

  // The forces of order k, and its wrenches towards the root.
  JOUNCE_INLINE void gather(int i, const Body& b, int k) {
    State& s = state_[i];
    Level& own = level(i, k);
    own.f = s.f;
    own.t = s.t;
    project(b, own.f, own.t, k, [&](int c, const T& x) { force_[k * stride_ + c] = x; });
    if (b.joint == Joint::section)
      for (int j = 1; j <= k; ++j) add_section(b, j, level(i, k - j).f, level(i, k - j).t, k);
    if (b.parent < 0) return;
    Vec3<T> f, t;
    if (is_ball(b.joint)) {
      gather_ball(i, b, k, f, t);
    } else {
      if (slides(b.joint))  // about the joint frame's origin
        for (int j = 0; j <= k; ++j) {
          const T d = slid(b, j);
          const Vec3<T>& force = level(i, k - j).f;
          own.t.x -= d * force.y;
          own.t.y += d * force.x;
        }
      f = own.f;
      t = own.t;
      if (turns(b.joint)) {
        T fx(0.0), fy(0.0), tx(0.0), ty(0.0);
        for (int j = 0; j <= k; ++j) {
          const T c = cosine_[j * stride_ + b.v], sn = sine_[j * stride_ + b.v];
          const Level& at = level(i, k - j);
          fx += c * at.f.x - sn * at.f.y;
          fy += c * at.f.y + sn * at.f.x;
          tx += c * at.t.x - sn * at.t.y;
          ty += c * at.t.y + sn * at.t.x;
        }
        f.x = fx, f.y = fy, t.x = tx, t.y = ty;
      }
    }
    State& parent = state_[b.parent];
    const Vec3<T> force = apply(b.R, f);
    parent.f += force;
    parent.t = plus_cross(plus_apply(parent.t, b.R, t), b.p, force);
  }

  JOUNCE_NOINLINE void gather_ball(int i, const Body& b, int k, Vec3<T>& f, Vec3<T>& t) {
    const T zero(0.0);
    f = t = {zero, zero, zero};
    for (int j = 0; j <= k; ++j) {
      f += apply(ball(i, j).R, level(i, k - j).f);
      t += apply(ball(i, j).R, level(i, k - j).t);
    }
    if (!is_free(b.joint)) return;
    ball(i, k).f_P = f;
    for (int j = 0; j <= k; ++j) {
      const T* d = ball(i, j).d;
      t += cross_of(Vec3<T>{d[0], d[1], d[2]}, ball(i, k - j).f_P);
    }
  }

  // out(column, S^T (f, t)); of a section only what its screws at order zero make, added.
  template <class Out>
  JOUNCE_INLINE void project(const Body& b, const Vec3<T>& f, const Vec3<T>& t, int k, const Out& out) {
    if (!is_ball(b.joint)) {
      out(b.v, b.joint == Joint::revolute ? t.z : b.joint == Joint::prismatic ? f.z : t.z + T(b.slide) * f.z);
    } else if (b.joint == Joint::section) {
      add_section(b, 0, f, t, k);
    } else {
      const int w = angular(b);
      out(w, t.x), out(w + 1, t.y), out(w + 2, t.z);
      if (b.joint == Joint::free) out(b.v, f.x), out(b.v + 1, f.y), out(b.v + 2, f.z);
    }
  }
  // Coefficient j of a section's screws times a wrench, into force(k).
  void add_section(const Body& b, int j, const Vec3<T>& f, const Vec3<T>& t, int k) {
    for (int c = 0; c < b.count; ++c) {
      const auto S = [&](int r) { return sections_.factor(b.screw + c, r)[j]; };
      force_[k * stride_ + b.column + c] += S(0) * f.x + S(1) * f.y + S(2) * f.z + S(3) * t.x + S(4) * t.y + S(5) * t.z;
    }
  }
  // Columns of soft bodies are sums.
  void clear_sections(int k) {
    for (int i = 0; tree_.soft && i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      for (int c = 0; b.joint == Joint::section && c < b.count; ++c) force_[k * stride_ + b.column + c] = T(0.0);
    }
  }

  // What the accelerations of order k add to the motion, and to the wrench that it takes.
  JOUNCE_INLINE void add_acceleration(int i, const Body& b, int k) {
    const T scale(1.0 / (k + 1));
    State &s = state_[i], &parent = state_[b.parent];
    Level &own = level(i, k), &next = level(i, k + 1);
    s.dw = apply_transpose(b.R, parent.dw);
    s.da = apply_transpose(b.R, parent.da - cross(b.p, parent.dw));
    if (is_free(b.joint) && b.parent >= 0) {
      add_skew(s.dw, ball(i, k).W_P);
      s.da += cross_of(s.dw, position(i));
    }
    next.w_P += Vec3<T>{scale * s.dw.x, scale * s.dw.y, scale * s.dw.z};
    own.a_P += s.da;
    s.da = turn_back(i, b, s.da);
    s.dw = turn_back(i, b, s.dw);
    const T* d = solved_ + b.v;
    if (is_ball(b.joint)) {
      const int turn = angular(b) - b.v;
      s.dw += Vec3<T>{d[turn], d[turn + 1], d[turn + 2]};
      if (is_free(b.joint)) s.da += Vec3<T>{d[0], d[1], d[2]};
    } else {
      if (slides(b.joint)) {
        const T distance = slid(b, 0);
        s.da.x += distance * s.dw.y;
        s.da.y -= distance * s.dw.x;
        s.da.z += T(b.slide) * d[0];
      }
      if (turns(b.joint)) s.dw.z += d[0];
    }
    next.w += Vec3<T>{scale * s.dw.x, scale * s.dw.y, scale * s.dw.z};
    own.a += s.da;
    own.W_z += Vec3<T>{s.dw.y, -s.dw.x, T(0.0)};
    if (b.massless) {
      s.df = s.dt = {T(0.0), T(0.0), T(0.0)};
      return;
    }
    const double *h = b.first, *m = b.second;
    const Vec3<T> &a = s.da, &w = s.dw;
    s.df = b.mass * a - cross(h, w);
    s.dt = Vec3<T>{T(m[1] + m[2]) * w.x - T(m[3]) * w.y - T(m[4]) * w.z, T(m[0] + m[2]) * w.y - T(m[3]) * w.x - T(m[5]) * w.z,
                   T(m[0] + m[1]) * w.z - T(m[4]) * w.x - T(m[5]) * w.y} +
           cross(h, a);
  }

  JOUNCE_INLINE void add_wrench(int i, const Body& b, int k) {
    State& s = state_[i];
    Level& own = level(i, k);
    project(b, s.df, s.dt, k, [&](int c, const T& x) { force_[k * stride_ + c] += x; });
    own.f += s.df;
    if (b.parent < 0) {
      own.t += s.dt;
      return;
    }
    if (slides(b.joint)) {
      const T d = slid(b, 0);
      s.dt.x -= d * s.df.y;
      s.dt.y += d * s.df.x;
    }
    own.t += s.dt;
    const Vec3<T> f = turn(i, b, s.df);
    Vec3<T> t = turn(i, b, s.dt);
    if (is_free(b.joint)) {
      ball(i, k).f_P += f;
      t += cross_of(position(i), f);
    }
    State& parent = state_[b.parent];
    const Vec3<T> force = apply(b.R, f);
    parent.df += force;
    parent.dt = plus_cross(plus_apply(parent.dt, b.R, t), b.p, force);
  }

  static void add_skew(const Vec3<T>& w, Mat3<T>& W) {
    W.cx.y += w.z, W.cx.z -= w.y;
    W.cy.x -= w.z, W.cy.z += w.x;
    W.cz.x += w.y, W.cz.y -= w.x;
  }

  // The body's rotation in the world, its position and the first coefficient of that, at order zero: up the tree,
  // x = d + E x and x' = E (v_J + w_J x x + x').
  void world_pose(int body, T* R, T* x, T* dx) const {
    const T zero(0.0), one(1.0);
    Vec3<T> at{zero, zero, zero}, rate = at;
    Mat3<T> E{{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& b = tree_.bodies[i];
      const auto outwards = [&](const Vec3<T>& u) { return apply(b.R, turn(i, b, u)); };
      Vec3<T> moved{zero, zero, slides(b.joint) ? slid(b, 0) : zero};
      if (is_free(b.joint)) moved = position(i);
      rate = outwards(joint_linear(b) + cross_of(joint_angular(b, 0), at) + rate);
      at = Vec3<T>{T(b.p[0]), T(b.p[1]), T(b.p[2])} + apply(b.R, moved) + outwards(at);
      E = {outwards(E.cx), outwards(E.cy), outwards(E.cz)};
    }
    const Vec3<T>* columns[3] = {&E.cx, &E.cy, &E.cz};
    for (int c = 0; c < 3; ++c) R[c] = columns[c]->x, R[3 + c] = columns[c]->y, R[6 + c] = columns[c]->z;
    x[0] = at.x, x[1] = at.y, x[2] = at.z;
    dx[0] = rate.x, dx[1] = rate.y, dx[2] = rate.z;
  }

  const Tree& tree_;
  const Start& start_;
  int n_, K_, stride_;
  T *rate_, *cosine_, *sine_, *force_;
  T* solved_;
  Level* level_;
  State* state_;
  BallLevel* ball_;
  int* ball_index_;
  SectionTables<T> sections_;
};

JOUNCE_END
