// The second and third sweep of an order: the bias wrenches gathered towards the root, then the accelerations solved for on
// the way back, through the factors of the articulated inertias.
#pragma once

#include "jounce/hybrid_bias.hpp"
#include "jounce/passive_forces.hpp"

JOUNCE_BEGIN

template <class T>
class HybridSolve : public HybridBias<T> {
 protected:
  using Base = HybridBias<T>;
  using Base::angular;
  using Base::ball;
  using Base::Base;
  using Base::cosine_;
  using Base::force_;
  using Base::inertia_;
  using Base::is_ball;
  using Base::is_prescribed;
  using Base::level;
  using Base::n_;
  using Base::q_;
  using Base::rate_;
  using Base::sine_;
  using Base::slid;
  using Base::state_;
  using Base::stride_;
  using Base::tree_;
  using typename Base::BallLevel;
  using typename Base::Inertia;
  using typename Base::Level;
  using typename Base::State;

 public:
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
      const Vec3<T> force = apply(b.R, f);
      state_[b.parent].p_f += force;
      state_[b.parent].p_n += apply(b.R, t) + cross(b.p, force);
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
        for (int j = 0; j <= k; ++j) at.f_P += apply(ball(i, j).R, level(i, k - j).f);
      }
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
      const Vec3<T> force = apply(b.R, f);
      state_[b.parent].p_f += force;
      state_[b.parent].p_n += apply(b.R, t) + cross(b.p, force);
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

 private:
  // A wrench from the body's axes and origin to those of its joint frame, and an acceleration the other way, at order zero.
  JOUNCE_INLINE void to_joint(int i, const Body& b, Vec3<T>& f, Vec3<T>& t) const {
    const T* R = inertia_.placement(i).joint;
    if (is_ball(b)) {
      f = apply(R, f);
      t = apply(R, t);
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
      a = apply_transpose(R, a);
      w = apply_transpose(R, w);
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
      f += apply(ball(i, j).R, level(i, k - j).f);
      t_P += apply(ball(i, j).R, level(i, k - j).t);
    }
    f_P += f;
    if (b.joint != Joint::free) return;
    t_P += cross_of(position(i), f);
    for (int j = 1; j <= k; ++j) {
      const T* d = ball(i, j).d;
      t_P += cross_of(Vec3<T>{d[0], d[1], d[2]}, ball(i, k - j).f_P);
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
      if (stiffness != 0) u[0] -= T(stiffness) * (k == 0 ? q_[b.q] - T(tree_.rest[b.v]) : T(1.0 / k) * rate_[(k - 1) * stride_ + b.v]);
    } else if (tree_.stiffness[b.v] != 0 || tree_.stiffness[angular(b)] != 0) {
      for_each_ball_spring(b, q_, rate_, stride_, k + 1, [&](int s, const BallSpring& spring) {
        for (int i = 0; i < 3; ++i) {
          state(u[dof - 3 + i], s) -= tree_.stiffness[angular(b)] * spring.rotation_vector[i][k];
          if (b.joint == Joint::free) state(u[i], s) -= tree_.stiffness[b.v] * spring.displacement[i][k];
        }
      });
    }
  }
};

JOUNCE_END
