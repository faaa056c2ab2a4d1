// Articulated-body inertias and the factors that forward dynamics needs of them (Featherstone's ABA; paper A, Lemma 2).
//
// Acting on the acceleration (a, w') of a body's origin, in body axes, an inertia gives the wrench
//   f = A a + H w',   n = H^T a + J w'.
// Of a rigid body A = m, H = -[h], J the inertia about the origin. With S the joint's directions, U = I S, D = S^T U + armature,
//   I_parent = I_own + sum over children of X^T (I - U D^-1 U^T) X,
// where X = (E, d) is the body frame in the parent's; the middle term is missing where the joint's motion is prescribed.
#pragma once

#include <cmath>

#include "jounce/ring.hpp"
#include "jounce/tree.hpp"
#include "jounce/vec3.hpp"

JOUNCE_BEGIN

template <class T>
JOUNCE_INLINE Vec3<T> cross_of(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// A body frame in its joint frame (turned only) and in its parent's frame.
template <class T>
struct Placement {
  T joint[9], E[9];
  Vec3<T> d;

  // E = R joint, d = p + R in_joint
  JOUNCE_INLINE void place(const Body& b, const Vec3<T>& in_joint) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        E[3 * i + j] = T(b.R[3 * i]) * joint[j] + T(b.R[3 * i + 1]) * joint[3 + j] + T(b.R[3 * i + 2]) * joint[6 + j];
    d = {T(b.p[0]) + T(b.R[0]) * in_joint.x + T(b.R[1]) * in_joint.y + T(b.R[2]) * in_joint.z,
         T(b.p[1]) + T(b.R[3]) * in_joint.x + T(b.R[4]) * in_joint.y + T(b.R[5]) * in_joint.z,
         T(b.p[2]) + T(b.R[6]) * in_joint.x + T(b.R[7]) * in_joint.y + T(b.R[8]) * in_joint.z};
  }
};

// Below this fraction of the inertia it is part of, a pivot is rounding error.
constexpr double singular_fraction = 1e-12;

JOUNCE_INLINE bool any_at_most(double a, double b) { return !(a > b); }
template <int W>
JOUNCE_INLINE bool any_at_most(const Pack<W>& a, const Pack<W>& b) {
  bool any = false;
  for (int i = 0; i < W; ++i) any |= !(a[i] > b[i]);
  return any;
}

template <class T>
class ArticulatedInertia {
 public:
  struct Entry {
    T A[9], H[9], J[9];
    int dof;
    T U[6][6];  // column c of U: U[c], [linear; angular]
    T L[6][6];  // D = L diag(pivot) L^T, L unit lower triangular; the inverses of the pivots on the diagonal

    // u -= S^T (f, t)
    JOUNCE_INLINE void subtract_projection(const Body& b, const Vec3<T>& f, const Vec3<T>& t, T* u) const {
      if (dof == 1) {
        u[0] -= b.joint == Joint::revolute ? t.z : b.joint == Joint::prismatic ? f.z : t.z + T(b.slide) * f.z;
        return;
      }
      T* angular = u + dof - 3;
      angular[0] -= t.x, angular[1] -= t.y, angular[2] -= t.z;
      if (dof == 6) u[0] -= f.x, u[1] -= f.y, u[2] -= f.z;
    }
    // (a, w) += S d
    JOUNCE_INLINE void add_joint(const Body& b, const T* d, Vec3<T>& a, Vec3<T>& w) const {
      if (dof == 1) {
        if (b.joint != Joint::revolute) a.z += T(b.slide) * d[0];
        if (b.joint != Joint::prismatic) w.z += d[0];
        return;
      }
      const T* angular = d + dof - 3;
      w += Vec3<T>{angular[0], angular[1], angular[2]};
      if (dof == 6) a += Vec3<T>{d[0], d[1], d[2]};
    }
    // x = D^-1 x
    JOUNCE_INLINE void solve_pivots(T* x) const {
      if (dof == 1) {
        x[0] = L[0][0] * x[0];
        return;
      }
      for (int i = 0; i < dof; ++i)
        for (int j = 0; j < i; ++j) x[i] -= L[i][j] * x[j];
      for (int i = dof - 1; i >= 0; --i) {
        x[i] = L[i][i] * x[i];
        for (int j = i + 1; j < dof; ++j) x[i] -= L[j][i] * x[j];
      }
    }
    // (f, t) += U D^-1 u
    JOUNCE_INLINE void add_answer(const T* u, Vec3<T>& f, Vec3<T>& t) const {
      T x[6];
      for (int c = 0; c < dof; ++c) x[c] = u[c];
      solve_pivots(x);
      for (int c = 0; c < dof; ++c) {
        f += Vec3<T>{U[c][0] * x[c], U[c][1] * x[c], U[c][2] * x[c]};
        t += Vec3<T>{U[c][3] * x[c], U[c][4] * x[c], U[c][5] * x[c]};
      }
    }
    // d = D^-1 (u - U^T (a, w))
    JOUNCE_INLINE void solve(const T* u, const Vec3<T>& a, const Vec3<T>& w, T* d) const {
      for (int c = 0; c < dof; ++c)
        d[c] = u[c] - (U[c][0] * a.x + U[c][1] * a.y + U[c][2] * a.z + U[c][3] * w.x + U[c][4] * w.y + U[c][5] * w.z);
      solve_pivots(d);
    }
    // (f, t) += I (a, w)
    JOUNCE_INLINE void add_momentum(const Vec3<T>& a, const Vec3<T>& w, Vec3<T>& f, Vec3<T>& t) const {
      f += apply(A, a) + apply(H, w);
      t += apply_transpose(H, a) + apply(J, w);
    }
  };

  template <class Arena>
  ArticulatedInertia(const Tree& tree, Arena& arena)
      : tree_(tree), entry_(arena.template take<Entry>(tree.size)), placement_(arena.template take<Placement<T>>(tree.size)) {}

  Entry& operator[](int i) { return entry_[i]; }
  const Entry& operator[](int i) const { return entry_[i]; }
  Placement<T>& placement(int i) { return placement_[i]; }
  const Placement<T>& placement(int i) const { return placement_[i]; }

  // Needs the placements. False, with the body, where an inertia has no inverse.
  bool factor(const bool* prescribed, int& singular_body) {
    for (int i = 0; i < tree_.size; ++i) rigid(tree_.bodies[i], entry_[i]);
    for (int i = tree_.size - 1; i >= 0; --i) {
      const Body& b = tree_.bodies[i];
      Entry& e = entry_[i];
      const bool given = prescribed && prescribed[b.v];
      if (!given && !pivots(b, e)) {
        singular_body = i;
        return false;
      }
      if (b.parent >= 0) add_to_parent(i, b, e, !given);
    }
    return true;
  }

 private:
  static void rigid(const Body& b, Entry& e) {
    const double m = b.mass, *h = b.first, *s = b.second;
    const double A[9] = {m, 0, 0, 0, m, 0, 0, 0, m}, H[9] = {0, h[2], -h[1], -h[2], 0, h[0], h[1], -h[0], 0};
    const double J[9] = {s[1] + s[2], -s[3], -s[4], -s[3], s[0] + s[2], -s[5], -s[4], -s[5], s[0] + s[1]};
    for (int i = 0; i < 9; ++i) e.A[i] = T(A[i]), e.H[i] = T(H[i]), e.J[i] = T(J[i]);
    e.dof = b.joint == Joint::free ? 6 : b.joint == Joint::spherical ? 3 : 1;
  }

  // U = I S and the factors of D = S^T U + armature.
  bool pivots(const Body& b, Entry& e) const {
    const double* armature = tree_.armature + b.v;
    if (e.dof == 1) {
      const T slide(b.slide), turn(b.joint == Joint::prismatic ? 0.0 : 1.0);
      for (int r = 0; r < 3; ++r) {
        e.U[0][r] = slide * e.A[3 * r + 2] + turn * e.H[3 * r + 2];
        e.U[0][3 + r] = slide * e.H[6 + r] + turn * e.J[3 * r + 2];
      }
      const T D = slide * e.U[0][2] + turn * e.U[0][5] + T(armature[0]);
      const T whole = slide * slide * (e.A[0] + e.A[4] + e.A[8]) + turn * (e.J[0] + e.J[4] + e.J[8]) + T(armature[0]);
      if (any_at_most(D, T(singular_fraction) * whole)) return false;
      e.L[0][0] = T(1.0) / D;
      return true;
    }
    const int first = 6 - e.dof;  // a spherical joint has the angular directions only
    for (int c = 0; c < e.dof; ++c)
      for (int r = 0; r < 6; ++r) e.U[c][r] = entry(e, r, first + c);
    for (int i = 0; i < e.dof; ++i) {
      T scaled[6];  // L_ij times pivot j
      const T diagonal = e.U[i][first + i] + T(armature[i]);
      T pivot = diagonal;
      for (int j = 0; j < i; ++j) {
        T sum = e.U[j][first + i];
        for (int k = 0; k < j; ++k) sum -= scaled[k] * e.L[j][k];
        scaled[j] = sum;
        e.L[i][j] = sum * e.L[j][j];
        pivot -= sum * e.L[i][j];
      }
      if (any_at_most(pivot, T(singular_fraction) * diagonal)) return false;
      e.L[i][i] = T(1.0) / pivot;
    }
    return true;
  }

  // Entry (r, c) of the 6 x 6 matrix [[A, H], [H^T, J]].
  static JOUNCE_INLINE const T& entry(const Entry& e, int r, int c) {
    if (r < 3) return c < 3 ? e.A[3 * r + c] : e.H[3 * r + c - 3];
    return c < 3 ? e.H[3 * c + r - 3] : e.J[3 * (r - 3) + c - 3];
  }

  void add_to_parent(int i, const Body& b, const Entry& e, bool reduce) {
    T A[9], H[9], J[9];
    for (int k = 0; k < 9; ++k) A[k] = e.A[k], H[k] = e.H[k], J[k] = e.J[k];
    if (reduce) subtract_joint(e, A, H, J);
    const Placement<T>& at = placement_[i];
    turn_matrix(at.E, A);
    turn_matrix(at.E, H);
    turn_matrix(at.E, J);
    // H' = H + ([d] A)^T,  J' = J + [d] H' + ([d] H)^T
    T dA[9], dH[9];
    left_cross(at.d, A, dA);
    left_cross(at.d, H, dH);
    Entry& parent = entry_[b.parent];
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        parent.A[3 * r + c] += A[3 * r + c];
        H[3 * r + c] += dA[3 * c + r];
        J[3 * r + c] += dH[3 * c + r];
      }
    left_cross(at.d, H, dH);
    for (int k = 0; k < 9; ++k) {
      parent.H[k] += H[k];
      parent.J[k] += J[k] + dH[k];
    }
  }

  // I -= U D^-1 U^T
  static void subtract_joint(const Entry& e, T* A, T* H, T* J) {
    if (e.dof == 1) {
      for (int r = 0; r < 3; ++r) {
        const T x = e.L[0][0] * e.U[0][r], y = e.L[0][0] * e.U[0][3 + r];
        for (int c = 0; c < 3; ++c) {
          A[3 * r + c] -= x * e.U[0][c];
          H[3 * r + c] -= x * e.U[0][3 + c];
          J[3 * r + c] -= y * e.U[0][3 + c];
        }
      }
      return;
    }
    for (int r = 0; r < 6; ++r) {
      T x[6];
      for (int c = 0; c < e.dof; ++c) x[c] = e.U[c][r];
      e.solve_pivots(x);
      for (int c = 0; c < 6; ++c) {
        if (r >= 3 && c < 3) continue;
        T sum(0.0);
        for (int k = 0; k < e.dof; ++k) sum += x[k] * e.U[k][c];
        (r < 3 ? (c < 3 ? A[3 * r + c] : H[3 * r + c - 3]) : J[3 * (r - 3) + c - 3]) -= sum;
      }
    }
  }

  // M = E M E^T
  static JOUNCE_INLINE void turn_matrix(const T* E, T* M) {
    T EM[9];
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) EM[3 * r + c] = E[3 * r] * M[c] + E[3 * r + 1] * M[3 + c] + E[3 * r + 2] * M[6 + c];
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) M[3 * r + c] = EM[3 * r] * E[3 * c] + EM[3 * r + 1] * E[3 * c + 1] + EM[3 * r + 2] * E[3 * c + 2];
  }

  // [d] M
  static JOUNCE_INLINE void left_cross(const Vec3<T>& d, const T* M, T* out) {
    for (int c = 0; c < 3; ++c) {
      out[c] = d.y * M[6 + c] - d.z * M[3 + c];
      out[3 + c] = d.z * M[c] - d.x * M[6 + c];
      out[6 + c] = d.x * M[3 + c] - d.y * M[c];
    }
  }

  const Tree& tree_;
  Entry* entry_;
  Placement<T>* placement_;
};

JOUNCE_END
