// What forward dynamics keeps of a motion, order by order: the coefficients of the joints and of the bodies so far.
#pragma once

#include "jounce/articulated_inertia.hpp"
#include "jounce/motion.hpp"

JOUNCE_BEGIN

template <class T>
class HybridTables {
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
  HybridTables(const Tree& tree, int order, Arena& arena) : tree_(tree), n_(order + 1), K_(order + 2), inertia_(tree, arena) {
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
      own.w = apply_transpose(inertia_.placement(i).joint, own.w_P) + joint_angular(b, 0);
    }
  }

  // The pose of a free joint's body in its joint frame: coefficient k, known once extend_joints(k - 1) has run.
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
      rate = apply(p.E, joint_linear(b) + cross_of(joint_angular(b, 0), at) + rate);
      at = p.d + apply(p.E, at);
      T turned[9];
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) turned[3 * r + c] = p.E[3 * r] * R[c] + p.E[3 * r + 1] * R[3 + c] + p.E[3 * r + 2] * R[6 + c];
      for (int j = 0; j < 9; ++j) R[j] = turned[j];
    }
    x[0] = at.x, x[1] = at.y, x[2] = at.z;
    dx[0] = rate.x, dx[1] = rate.y, dx[2] = rate.z;
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

 protected:
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
