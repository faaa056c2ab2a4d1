// Forward, inverse and hybrid dynamics, order by order (paper A, Algorithms 3 and 4, Lemma 2).
//
// Coefficient k of the forces is affine in coefficient k of the accelerations, with the same matrix at every order (Lemma 2):
//   tau_k = M(q) a_k + b_k,    b_k from the coefficients below k.
// So the articulated inertias are computed once, at order zero, and each order takes three sweeps over the tree:
//
//   bias      forward   coefficient k of every body's acceleration and wrench with a_k = 0 (or as prescribed),
//   gather    backward  the bias wrenches of the articulated bodies, p = own + sum over children of X^T (p + U D^-1 u),
//                       u = tau_k - S^T p, and what the turning of the joints adds from the orders below,
//   solve     forward   d = D^-1 (u - U^T X dA), dA <- X dA + S d: what a_k adds to each acceleration; a_k = d.
//
// The recursion for one coefficient is that of inverse_dynamics.hpp: in body axes, with w, the classical acceleration a of the
// origin and W = [w'] + [w]^2. Only the last term of each convolution, which holds coefficient k itself, is unknown; it is
// linear with the geometry at order zero, X = (E, d). A joint whose acceleration is prescribed keeps its u out of the sweeps.
//
// T is double, or a Pack with a state in each lane; the order is a number, not a type.
#pragma once

#include "jounce/articulated_inertia.hpp"
#include "jounce/motion.hpp"
#include "jounce/passive_forces.hpp"

JOUNCE_BEGIN

// One external wrench on a body: coefficients by order, in body axes or, with the body's pose carried along, in the world's.
template <class T>
struct AppliedWrench {
  int body;
  Axes axes;
  double p[3];  // the point it acts about, in the body (mixed axes)
  T* value;     // (n, 6) coefficients
  T* rotation;  // (n + 1, 9) of the body in the world; unless axes is body
  T* position;  // (n + 2, 3)
};

template <class T>
class HybridDynamics {
 public:
  // Coefficients of one order of one body.
  struct Level {
    Vec3<T> w_P, w, a_P, a;  // angular velocity and acceleration, of the joint frame in its axes and of the body in its own
    Vec3<T> W_z;             // third column of W
    Vec3<T> f, t;            // wrench through the joint; t about the joint frame's origin where the joint slides
  };
  struct BallLevel {
    T R[9], d[3];  // rotation and position of a spherical or free joint
    Mat3<T> W_P;   // of the joint frame
    Vec3<T> f_P;   // force in the axes of the joint frame
  };
  struct State {
    Mat3<T> W;         // of this order
    Vec3<T> p_f, p_n;  // bias wrench of the articulated body
    Vec3<T> da, dw;    // what this order's accelerations add to a and w'
    T u[6];
  };

  template <class Arena>
  HybridDynamics(const Tree& tree, int order, Arena& arena) : tree_(tree), n_(order + 1), K_(order + 2), inertia_(tree, arena) {
    stride_ = round_up(tree.nv, native_width);
    q_ = arena.template take<T>(tree.nq);
    rate_ = arena.template take<T>(K_ * stride_);
    cosine_ = arena.template take<T>(K_ * stride_);
    sine_ = arena.template take<T>(K_ * stride_);
    force_ = arena.template take<T>(n_ * stride_);
    level_ = arena.template take<Level>((tree.size + 1) * K_) + K_;
    state_ = arena.template take<State>(tree.size + 1) + 1;
    ball_ = arena.template take<BallLevel>(tree.quaternion_count * (K_ + 1));
    ball_index_ = arena.template take<int>(tree.size);
  }

  T* q() { return q_; }
  T* rate(int k) { return rate_ + k * stride_; }    // coefficient k of v; of the result, where it is not prescribed
  T* force(int k) { return force_ + k * stride_; }  // coefficient k of tau; of the result, where acceleration is prescribed
  const ArticulatedInertia<T>& inertia() const { return inertia_; }

  // Positions, from q(), and the articulated inertias. False, with the body, where one is singular.
  bool start(const bool* prescribed, int& singular_body) {
    prescribed_ = prescribed;
    begin_world();
    turn_joints();
    int balls = 0;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      Placement<T>& at = inertia_.placement(i);
      if (is_ball(b)) {
        ball_index_[i] = balls++;
        start_ball(b, ball(i, 0), at);
      } else {
        start_screw(b, at);
      }
    }
    return inertia_.factor(prescribed, singular_body);
  }

  // Velocities at order zero, from rate(0).
  void start_moving() {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      Level& own = level(i, 0);
      own.w_P = apply_transpose(b.R, level(b.parent, 0).w);
      own.w = turn_back_by(inertia_.placement(i).joint, own.w_P) + joint_angular(b, 0);
    }
  }

  // M^-1 f: the sweeps without motion or gravity; the result replaces row 0 of force().
  void apply_inverse_mass() {
    const T zero(0.0);
    state_[-1].da = state_[-1].dw = {zero, zero, zero};
    for (int i = 0; i < tree_.size; ++i) state_[i].p_f = state_[i].p_n = {zero, zero, zero};
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      const Inertia& I = inertia_[i];
      State& s = state_[i];
      for (int c = 0; c < I.dof; ++c) s.u[c] = force_[b.v + c];
      I.subtract_projection(b, s.p_f, s.p_n, s.u);
      if (b.parent < 0) continue;
      Vec3<T> f = s.p_f, t = s.p_n;
      I.add_answer(s.u, f, t);
      to_joint(i, b, f, t);
      const Vec3<T> force = jounce::apply(b.R, f);
      state_[b.parent].p_f += force;
      state_[b.parent].p_n += jounce::apply(b.R, t) + cross(b.p, force);
    }
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      State &s = state_[i], &parent = state_[b.parent];
      s.dw = apply_transpose(b.R, parent.dw);
      s.da = apply_transpose(b.R, parent.da - cross(b.p, parent.dw));
      if (b.joint == Joint::free && b.parent >= 0) s.da += cross_of(s.dw, position(i));
      from_joint(i, b, s.da, s.dw);
      T d[6];
      inertia_[i].solve(s.u, s.da, s.dw, d);
      inertia_[i].add_joint(b, d, s.da, s.dw);
      for (int c = 0; c < inertia_[i].dof; ++c) force_[b.v + c] = d[c];
    }
  }

  // Order k, the ones below done. force(k) holds tau (or receives it), rate(k + 1) the prescribed accelerations (or receives
  // them). before(k) is called once the configuration's coefficients of this order are known and no dynamics is yet.
  template <class Before>
  void advance(int k, AppliedWrench<T>* wrenches, int wrench_count, const Before& before) {
    extend_joints(k);
    before(k);
    bias(k);
    for (int i = 0; i < wrench_count; ++i) apply(wrenches[i], k);
    gather(k);
    solve(k);
  }

  // The pose of a free joint's body in its joint frame: coefficient k, known once before(k - 1) has been called.
  const T* ball_rotation(int body, int k) const { return ball(body, k).R; }
  const T* ball_position(int body, int k) const { return ball(body, k).d; }

  // The body's rotation in the world, its position and the first coefficient of that, at order zero: up the tree,
  // x = d + E x and x' = E (v_J + w_J x x + x').
  void world_pose(int body, T* R, T* x, T* dx) const {
    const T zero(0.0), one(1.0);
    const T identity[9] = {one, zero, zero, zero, one, zero, zero, zero, one};
    for (int i = 0; i < 9; ++i) R[i] = identity[i];
    Vec3<T> at{zero, zero, zero}, rate = at;
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) {
      const Body& b = tree_.bodies[i];
      const Placement<T>& p = inertia_.placement(i);
      rate = turn_by(p.E, joint_linear(b) + cross_of(joint_angular(b, 0), at) + rate);
      at = p.d + turn_by(p.E, at);
      T turned[9];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) turned[3 * r + c] = p.E[3 * r] * R[c] + p.E[3 * r + 1] * R[3 + c] + p.E[3 * r + 2] * R[6 + c];
      for (int j = 0; j < 9; ++j) R[j] = turned[j];
    }
    x[0] = at.x, x[1] = at.y, x[2] = at.z;
    dx[0] = rate.x, dx[1] = rate.y, dx[2] = rate.z;
  }

 private:
  using Inertia = typename ArticulatedInertia<T>::Entry;

  static bool is_ball(const Body& b) { return b.joint == Joint::free || b.joint == Joint::spherical; }
  int angular(const Body& b) const { return b.v + (b.joint == Joint::free ? 3 : 0); }
  Level& level(int body, int k) const { return level_[body * K_ + k]; }
  BallLevel& ball(int body, int k) const { return ball_[ball_index_[body] * (K_ + 1) + k]; }
  bool is_prescribed(const Body& b) const { return prescribed_ && prescribed_[b.v]; }

  // Coefficient j of the distance that a joint has slid.
  T slid(const Body& b, int j) const { return T(b.slide) * (j == 0 ? q_[b.q] : T(1.0 / j) * rate_[(j - 1) * stride_ + b.v]); }

  Vec3<T> joint_angular(const Body& b, int k) const {
    const T* v = rate_ + k * stride_;
    if (is_ball(b)) return {v[angular(b)], v[angular(b) + 1], v[angular(b) + 2]};
    return {T(0.0), T(0.0), turns(b.joint) ? v[b.v] : T(0.0)};
  }

  Vec3<T> joint_linear(const Body& b) const {
    if (b.joint == Joint::free) return {rate_[b.v], rate_[b.v + 1], rate_[b.v + 2]};
    return {T(0.0), T(0.0), b.joint == Joint::prismatic || b.joint == Joint::helical ? T(b.slide) * rate_[b.v] : T(0.0)};
  }

  void begin_world() {
    const T zero(0.0);
    const Vec3<T> none{zero, zero, zero};
    for (int k = 0; k < K_; ++k) level(-1, k) = {none, none, none, none, none, none, none};
    level(-1, 0).a = {T(-tree_.gravity[0]), T(-tree_.gravity[1]), T(-tree_.gravity[2])};
    state_[-1] = {{none, none, none}, none, none, none, none, {}};
  }

  // Cosine and sine of every joint, a register at a time: joints of one state, or states of one joint.
  void turn_joints() {
    for (int c = 0; c < stride_; ++c) sine_[c] = T(0.0);
    for (int i = 0; i < tree_.size; ++i)
      if (turns(tree_.bodies[i].joint)) sine_[tree_.bodies[i].v] = q_[tree_.bodies[i].q];
    constexpr int W = states((const T*)nullptr), width = W == 1 ? native_width : W;
    double *s = reinterpret_cast<double*>(sine_), *c = reinterpret_cast<double*>(cosine_);
    for (int j = 0; j < stride_ * W; j += width) {
      Pack<width> sine, cosine;
      sincos(Pack<width>::load(s + j), sine, cosine);
      sine.store(s + j);
      cosine.store(c + j);
    }
  }

  void start_screw(const Body& b, Placement<T>& at) {
    const T zero(0.0), one(1.0);
    const T c = turns(b.joint) ? cosine_[b.v] : one, s = turns(b.joint) ? sine_[b.v] : zero;
    const T joint[9] = {c, -s, zero, s, c, zero, zero, zero, one};
    for (int i = 0; i < 9; ++i) at.joint[i] = joint[i];
    const T z = b.joint == Joint::revolute ? zero : slid(b, 0);
    at.place(b, {zero, zero, z});
  }

  void start_ball(const Body& b, BallLevel& at0, Placement<T>& at) {
    rotation_of(q_ + b.q + (b.joint == Joint::free ? 3 : 0), at0.R);
    for (int i = 0; i < 3; ++i) at0.d[i] = b.joint == Joint::free ? q_[b.q + i] : T(0.0);
    for (int i = 0; i < 9; ++i) at.joint[i] = at0.R[i];
    at.place(b, {at0.d[0], at0.d[1], at0.d[2]});
  }

  // Coefficient k + 1 of the joints' rotations, from velocities to order k.
  void extend_joints(int k) {
    const T scale(1.0 / (k + 1));
    for (int c = 0; c < tree_.nv; ++c) {
      T ds(0.0), dc(0.0);
      for (int j = 0; j <= k; ++j) {
        ds += cosine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
        dc += sine_[j * stride_ + c] * rate_[(k - j) * stride_ + c];
      }
      sine_[(k + 1) * stride_ + c] = scale * ds;
      cosine_[(k + 1) * stride_ + c] = -(scale * dc);
    }
    if (tree_.quaternion_count == 0) return;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      if (!is_ball(b)) continue;
      T dR[9], dd[3];
      for (T& x : dR) x = T(0.0);
      for (T& x : dd) x = T(0.0);
      for (int j = 0; j <= k; ++j) {
        const BallLevel& at = ball(i, j);
        const T* w = rate_ + (k - j) * stride_ + angular(b);
        for (int row = 0; row < 3; ++row) {  // R' = R [w]
          const T* r = at.R + 3 * row;
          dR[3 * row] += r[1] * w[2] - r[2] * w[1];
          dR[3 * row + 1] += r[2] * w[0] - r[0] * w[2];
          dR[3 * row + 2] += r[0] * w[1] - r[1] * w[0];
          if (b.joint == Joint::free) {  // d' = R v
            const T* v = rate_ + (k - j) * stride_ + b.v;
            dd[row] += r[0] * v[0] + r[1] * v[1] + r[2] * v[2];
          }
        }
      }
      BallLevel& next = ball(i, k + 1);
      for (int j = 0; j < 9; ++j) next.R[j] = scale * dR[j];
      for (int j = 0; j < 3; ++j) next.d[j] = scale * dd[j];
    }
  }

  void bias(int k) {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const Level& parent = level(b.parent, k);
      Level &own = level(i, k), &next = level(i, k + 1);
      State& s = state_[i];
      next.w_P = apply_transpose(b.R, level(b.parent, k + 1).w);
      own.a_P = apply_transpose(b.R, parent.a + jounce::apply(state_[b.parent].W, b.p));
      if (is_ball(b))
        bias_ball(i, b, k);
      else
        bias_screw(i, b, k);
      newton_euler(b, own.a, s.W, s.p_f, s.p_n);
    }
  }

  void bias_screw(int i, const Body& b, int k) {
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
      next.w = {wx, wy, is_prescribed(b) ? next.w_P.z + rate[(k + 1) * stride_] : next.w_P.z};
      own.a = {ax, ay, own.a_P.z};
    } else {
      next.w = next.w_P;
      own.a = own.a_P;
    }
    s.W = acceleration_matrix(i, k);
    own.W_z = s.W.cz;
    if (b.joint == Joint::revolute) return;
    const T slide(2 * b.slide);
    for (int j = 0; j <= k; ++j) {
      const T d = slid(b, j);
      const Level& at = level(i, k - j);
      own.a.x += d * at.W_z.x + slide * (rate[j * stride_] * at.w.y);
      own.a.y += d * at.W_z.y - slide * (rate[j * stride_] * at.w.x);
      own.a.z += d * at.W_z.z;
    }
    if (is_prescribed(b)) own.a.z += T((k + 1) * b.slide) * rate[(k + 1) * stride_];
  }

  void bias_ball(int i, const Body& b, int k) {
    Level &own = level(i, k), &next = level(i, k + 1);
    const bool free = b.joint == Joint::free, moving = b.parent >= 0;
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
      for (int j = 0; j <= k + 1; ++j) next.w += turn_back_by(ball(i, j).R, level(i, k + 1 - j).w_P);
      for (int j = 0; j <= k; ++j) own.a += turn_back_by(ball(i, j).R, level(i, k - j).a_P);
    } else {
      own.a = turn_back_by(ball(i, k).R, level(i, 0).a_P);
    }
    if (is_prescribed(b)) next.w += joint_angular(b, k + 1);
    if (free) {
      for (int j = 0; j <= k; ++j) {  // (2 w - w_J) x v
        const T *w_J = rate_ + j * stride_ + b.v + 3, *v = rate_ + (k - j) * stride_ + b.v;
        const Vec3<T>& w = level(i, j).w;
        const T two(2.0), x = two * w.x - w_J[0], y = two * w.y - w_J[1], z = two * w.z - w_J[2];
        own.a += Vec3<T>{y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]};
      }
      if (is_prescribed(b)) {
        const T *v = rate_ + (k + 1) * stride_ + b.v, scale(k + 1.0);
        own.a += Vec3<T>{scale * v[0], scale * v[1], scale * v[2]};
      }
    }
    state_[i].W = acceleration_matrix(i, k);
    own.W_z = state_[i].W.cz;
  }

  // Coefficient k of W = [w'] + [w]^2, given coefficient k + 1 of w.
  template <class W>
  static Mat3<T> acceleration_matrix_of(int k, const Vec3<T>& next, const W& w) {
    T xx(0.0), yy(0.0), zz(0.0), xy(0.0), xz(0.0), yz(0.0);
    for (int j = 0; j <= k; ++j) {
      const Vec3<T>&a = w(j), &b = w(k - j);
      xx += a.x * b.x, yy += a.y * b.y, zz += a.z * b.z;
      xy += a.x * b.y, xz += a.x * b.z, yz += a.y * b.z;
    }
    const T scale(k + 1.0), ax = scale * next.x, ay = scale * next.y, az = scale * next.z;
    return {{-(yy + zz), xy + az, xz - ay}, {xy - az, -(xx + zz), yz + ax}, {xz + ay, yz - ax, -(xx + yy)}};
  }
  Mat3<T> acceleration_matrix(int i, int k) const {
    return acceleration_matrix_of(k, level(i, k + 1).w, [&](int j) -> const Vec3<T>& { return level(i, j).w; });
  }

  static void newton_euler(const Body& b, const Vec3<T>& a, const Mat3<T>& W, Vec3<T>& f, Vec3<T>& t) {
    if (b.massless) {
      f = t = {T(0.0), T(0.0), T(0.0)};
      return;
    }
    const T m(b.mass), xx(b.second[0]), yy(b.second[1]), zz(b.second[2]), xy(b.second[3]), xz(b.second[4]), yz(b.second[5]);
    const T x(b.first[0]), y(b.first[1]), z(b.first[2]);
    f = {m * a.x + x * W.cx.x + y * W.cy.x + z * W.cz.x, m * a.y + x * W.cx.y + y * W.cy.y + z * W.cz.y,
         m * a.z + x * W.cx.z + y * W.cy.z + z * W.cz.z};
    t = {y * a.z - z * a.y + yy * W.cy.z - zz * W.cz.y + xy * W.cx.z - xz * W.cx.y + yz * (W.cz.z - W.cy.y),
         z * a.x - x * a.z + zz * W.cz.x - xx * W.cx.z + yz * W.cy.x - xy * W.cy.z + xz * (W.cx.x - W.cz.z),
         x * a.y - y * a.x + xx * W.cx.y - yy * W.cy.x + xz * W.cz.y - yz * W.cz.x + xy * (W.cy.y - W.cx.x)};
  }

  // Subtracts an external wrench, turned into body axes by the coefficients of the body's pose (paper A, E5).
  void apply(AppliedWrench<T>& in, int k) {
    State& s = state_[in.body];
    const T zero(0.0);
    Vec3<T> f{zero, zero, zero}, t{zero, zero, zero};
    if (in.axes == Axes::body) {
      const T* w = in.value + 6 * k;
      f = {w[0], w[1], w[2]};
      t = {w[3], w[4], w[5]};
    } else {
      extend_pose(in, k);
      for (int j = 0; j <= k; ++j) {
        const T *R = in.rotation + 9 * (k - j), *w = in.value + 6 * j;
        f += turn_back_by(R, Vec3<T>{w[0], w[1], w[2]});
        Vec3<T> moment{w[3], w[4], w[5]};
        if (in.axes == Axes::world)
          for (int l = 0; l <= j; ++l) {
            const T *x = in.position + 3 * l, *g = in.value + 6 * (j - l);
            moment -= Vec3<T>{x[1] * g[2] - x[2] * g[1], x[2] * g[0] - x[0] * g[2], x[0] * g[1] - x[1] * g[0]};
          }
        t += turn_back_by(R, moment);
      }
      if (in.axes == Axes::mixed) {
        const T x(in.p[0]), y(in.p[1]), z(in.p[2]);
        t += Vec3<T>{y * f.z - z * f.y, z * f.x - x * f.z, x * f.y - y * f.x};
      }
    }
    s.p_f -= f;
    s.p_n -= t;
  }

  // Coefficient k of the body's rotation (R' = R [w]) and position (x'' = R a + g) in the world.
  void extend_pose(AppliedWrench<T>& in, int k) {
    if (k == 0) return;
    const T scale(1.0 / k);
    T* R = in.rotation + 9 * k;
    for (int row = 0; row < 3; ++row) {
      Vec3<T> sum{T(0.0), T(0.0), T(0.0)};
      for (int j = 0; j < k; ++j) {
        const T* r = in.rotation + 9 * j + 3 * row;
        const Vec3<T>& w = level(in.body, k - 1 - j).w;
        sum += Vec3<T>{r[1] * w.z - r[2] * w.y, r[2] * w.x - r[0] * w.z, r[0] * w.y - r[1] * w.x};
      }
      R[3 * row] = scale * sum.x, R[3 * row + 1] = scale * sum.y, R[3 * row + 2] = scale * sum.z;
    }
    if (k < 2) return;
    const T over(1.0 / (k * (k - 1)));
    for (int row = 0; row < 3; ++row) {
      T sum(k == 2 ? tree_.gravity[row] : 0.0);
      for (int j = 0; j <= k - 2; ++j) {
        const T* r = in.rotation + 9 * j + 3 * row;
        const Vec3<T>& a = level(in.body, k - 2 - j).a;
        sum += r[0] * a.x + r[1] * a.y + r[2] * a.z;
      }
      in.position[3 * k + row] = over * sum;
    }
  }

  void gather(int k) {
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      const Inertia& I = inertia_[i];
      State& s = state_[i];
      Vec3<T> f = s.p_f, t = s.p_n;
      if (!is_prescribed(b)) {
        for (int c = 0; c < I.dof; ++c) s.u[c] = force_[k * stride_ + b.v + c];
        if (tree_.passive) subtract_passive(b, k, I.dof, s.u);
        I.subtract_projection(b, s.p_f, s.p_n, s.u);
        if (b.parent >= 0) I.add_answer(s.u, f, t);
      }
      if (b.parent < 0) continue;
      to_joint(i, b, f, t);
      if (k > 0 && is_ball(b)) turned_ball(i, b, k, f, t);
      if (k > 0 && !is_ball(b)) turned_screw(i, b, k, f, t);
      const Vec3<T> force = jounce::apply(b.R, f);
      state_[b.parent].p_f += force;
      state_[b.parent].p_n += jounce::apply(b.R, t) + cross(b.p, force);
    }
  }

  // A wrench from the body's axes and origin to those of its joint frame, and an acceleration the other way, at order zero.
  JOUNCE_INLINE void to_joint(int i, const Body& b, Vec3<T>& f, Vec3<T>& t) const {
    const T* R = inertia_.placement(i).joint;
    if (is_ball(b)) {
      f = turn_by(R, f);
      t = turn_by(R, t);
      if (b.joint == Joint::free) t += cross_of(position(i), f);
      return;
    }
    if (b.joint != Joint::revolute) {
      const T d = slid(b, 0);
      t.x -= d * f.y;
      t.y += d * f.x;
    }
    if (!turns(b.joint)) return;
    const T c = R[0], s = R[3];
    f = {c * f.x - s * f.y, c * f.y + s * f.x, f.z};
    t = {c * t.x - s * t.y, c * t.y + s * t.x, t.z};
  }
  JOUNCE_INLINE void from_joint(int i, const Body& b, Vec3<T>& a, Vec3<T>& w) const {
    const T* R = inertia_.placement(i).joint;
    if (is_ball(b)) {
      a = turn_back_by(R, a);
      w = turn_back_by(R, w);
      return;
    }
    if (turns(b.joint)) {
      const T c = R[0], s = R[3];
      a = {c * a.x + s * a.y, c * a.y - s * a.x, a.z};
      w = {c * w.x + s * w.y, c * w.y - s * w.x, w.z};
    }
    if (b.joint == Joint::revolute) return;
    const T d = slid(b, 0);
    a.x += d * w.y;
    a.y -= d * w.x;
  }
  Vec3<T> position(int i) const { return {ball(i, 0).d[0], ball(i, 0).d[1], ball(i, 0).d[2]}; }

  // What coefficients 1 .. k of the joint's rotation make of the wrenches of lower order, in the joint frame.
  void turned_screw(int i, const Body& b, int k, Vec3<T>& f_P, Vec3<T>& t_P) const {
    if (b.joint != Joint::revolute) {  // s_j z x f, turned with the rest by coefficient 0
      T x(0.0), y(0.0);
      for (int j = 1; j <= k; ++j) {
        const T d = slid(b, j);
        const Vec3<T>& f = level(i, k - j).f;
        x -= d * f.y;
        y += d * f.x;
      }
      const T* R = inertia_.placement(i).joint;
      t_P.x += R[0] * x + R[1] * y;
      t_P.y += R[3] * x + R[4] * y;
    }
    if (!turns(b.joint)) return;
    for (int j = 1; j <= k; ++j) {
      const T c = cosine_[j * stride_ + b.v], s = sine_[j * stride_ + b.v];
      const Level& at = level(i, k - j);
      f_P.x += c * at.f.x - s * at.f.y;
      f_P.y += c * at.f.y + s * at.f.x;
      t_P.x += c * at.t.x - s * at.t.y;
      t_P.y += c * at.t.y + s * at.t.x;
    }
  }

  void turned_ball(int i, const Body& b, int k, Vec3<T>& f_P, Vec3<T>& t_P) const {
    Vec3<T> f{T(0.0), T(0.0), T(0.0)};
    for (int j = 1; j <= k; ++j) {
      f += turn_by(ball(i, j).R, level(i, k - j).f);
      t_P += turn_by(ball(i, j).R, level(i, k - j).t);
    }
    f_P += f;
    if (b.joint != Joint::free) return;
    t_P += cross_of(position(i), f);
    for (int j = 1; j <= k; ++j) {
      const T* d = ball(i, j).d;
      t_P += cross_of(Vec3<T>{d[0], d[1], d[2]}, ball(i, k - j).f_P);
    }
  }

  void solve(int k) {
    const T scale(1.0 / (k + 1));
    const bool last = k + 1 == n_;
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const Inertia& I = inertia_[i];
      State &s = state_[i], &parent = state_[b.parent];
      Level &own = level(i, k), &next = level(i, k + 1);
      s.dw = apply_transpose(b.R, parent.dw);
      s.da = apply_transpose(b.R, parent.da - cross(b.p, parent.dw));
      if (b.joint == Joint::free && b.parent >= 0) {
        add_skew(s.dw, ball(i, k).W_P);
        s.da += cross_of(s.dw, position(i));
      }
      next.w_P += Vec3<T>{scale * s.dw.x, scale * s.dw.y, scale * s.dw.z};
      own.a_P += s.da;
      from_joint(i, b, s.da, s.dw);
      if (!is_prescribed(b)) {
        T d[6];
        I.solve(s.u, s.da, s.dw, d);
        I.add_joint(b, d, s.da, s.dw);
        for (int c = 0; c < I.dof; ++c) rate_[(k + 1) * stride_ + b.v + c] = scale * d[c];
        if (last) continue;  // nobody asks for the wrench
      }
      next.w += Vec3<T>{scale * s.dw.x, scale * s.dw.y, scale * s.dw.z};
      own.a += s.da;
      own.W_z += Vec3<T>{s.dw.y, -s.dw.x, T(0.0)};
      own.f = s.p_f;
      own.t = s.p_n;
      I.add_momentum(s.da, s.dw, own.f, own.t);
      if (is_prescribed(b)) {
        T minus[6];  // -tau
        for (int c = 0; c < I.dof; ++c) minus[c] = T(-(k + 1) * tree_.armature[b.v + c]) * rate_[(k + 1) * stride_ + b.v + c];
        I.subtract_projection(b, own.f, own.t, minus);
        if (tree_.passive) subtract_passive(b, k, I.dof, minus);
        for (int c = 0; c < I.dof; ++c) force_[k * stride_ + b.v + c] = -minus[c];
      }
      if (b.parent < 0) continue;
      if (b.joint == Joint::prismatic || b.joint == Joint::helical)
        for (int j = 0; j <= k; ++j) {
          const T d = slid(b, j);
          const Vec3<T>& f = level(i, k - j).f;
          own.t.x -= d * f.y;
          own.t.y += d * f.x;
        }
      if (b.joint == Joint::free) {
        BallLevel& at = ball(i, k);
        at.f_P = {T(0.0), T(0.0), T(0.0)};
        for (int j = 0; j <= k; ++j) at.f_P += turn_by(ball(i, j).R, level(i, k - j).f);
      }
    }
  }

  static void add_skew(const Vec3<T>& w, Mat3<T>& W) {
    W.cx.y += w.z, W.cx.z -= w.y;
    W.cy.x -= w.z, W.cy.z += w.x;
    W.cz.x += w.y, W.cz.y -= w.x;
  }

  // Damping and springs; the armature is part of D.
  void subtract_passive(const Body& b, int k, int dof, T* u) const {
    for (int c = 0; c < dof; ++c) u[c] -= T(tree_.damping[b.v + c]) * rate_[k * stride_ + b.v + c];
    if (!is_ball(b)) {
      const double stiffness = tree_.stiffness[b.v];
      if (stiffness != 0) u[0] -= T(stiffness) * (k == 0 ? q_[b.q] : T(1.0 / k) * rate_[(k - 1) * stride_ + b.v]);
    } else if (tree_.stiffness[b.v] != 0 || tree_.stiffness[angular(b)] != 0) {
      for_each_ball_spring(b, q_, rate_, stride_, k + 1, [&](int s, const BallSpring& spring) {
        for (int i = 0; i < 3; ++i) {
          state(u[dof - 3 + i], s) -= tree_.stiffness[angular(b)] * spring.rotation_vector[i][k];
          if (b.joint == Joint::free) state(u[i], s) -= tree_.stiffness[b.v] * spring.displacement[i][k];
        }
      });
    }
  }

  const Tree& tree_;
  int n_, K_, stride_;
  ArticulatedInertia<T> inertia_;
  const bool* prescribed_ = nullptr;
  T *q_, *rate_, *cosine_, *sine_, *force_;
  Level* level_;
  State* state_;
  BallLevel* ball_;
  int* ball_index_;
};

JOUNCE_END
