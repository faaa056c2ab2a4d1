// The first sweep of an order: coefficient k of every body's motion, and the wrench it takes, with the unknown accelerations
// of this order zero. The recursion is that of inverse_dynamics.hpp, one coefficient of it.
#pragma once

#include "jounce/hybrid_tables.hpp"
#include "jounce/newton_euler.hpp"

JOUNCE_BEGIN

template <class T>
class HybridBias : public HybridTables<T> {
 protected:
  using Base = HybridTables<T>;
  using Base::ball;
  using Base::Base;
  using Base::cosine_;
  using Base::is_ball;
  using Base::is_prescribed;
  using Base::joint_angular;
  using Base::level;
  using Base::rate_;
  using Base::sine_;
  using Base::slid;
  using Base::state_;
  using Base::stride_;
  using Base::tree_;
  using typename Base::Level;
  using typename Base::State;

 public:
  void bias(int k) {
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      const Level& parent = level(b.parent, k);
      Level &own = level(i, k), &next = level(i, k + 1);
      State& s = state_[i];
      next.w_P = apply_transpose(b.R, level(b.parent, k + 1).w);
      own.a_P = apply_transpose(b.R, parent.a + apply(state_[b.parent].W, b.p));
      if (is_ball(b))
        bias_ball(i, b, k);
      else
        bias_screw(i, b, k);
      if (b.massless)
        s.p_f = s.p_n = {T(0.0), T(0.0), T(0.0)};
      else
        newton_euler(b, own.a, s.W, s.p_f, s.p_n);
    }
  }

 private:
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
      for (int j = 0; j <= k + 1; ++j) next.w += apply_transpose(ball(i, j).R, level(i, k + 1 - j).w_P);
      for (int j = 0; j <= k; ++j) own.a += apply_transpose(ball(i, j).R, level(i, k - j).a_P);
    } else {
      own.a = apply_transpose(ball(i, k).R, level(i, 0).a_P);
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
    return jounce::acceleration_matrix(xx, yy, zz, xy, xz, yz, ax, ay, az);
  }
  Mat3<T> acceleration_matrix(int i, int k) const {
    return acceleration_matrix_of(k, level(i, k + 1).w, [&](int j) -> const Vec3<T>& { return level(i, j).w; });
  }
};

JOUNCE_END
