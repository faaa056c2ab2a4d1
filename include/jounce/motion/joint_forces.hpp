// The force that a joint itself requires at every order: armature * dv/dt + damping * v + friction + stiffness * displacement.
#pragma once

#include "jounce/motion/friction.hpp"
#include "jounce/motion/motion.hpp"
#include "jounce/spatial/springs.hpp"

JOUNCE_BEGIN

// The springs of a spherical or free joint, from coefficients of its coordinates: calls with(state, spring) for each state.
template <class T, class With>
void for_each_ball_spring(const Body& b, const T* q, const T* rate, int stride, int n, const With& with) {
  const bool free = b.joint == Joint::free;
  const int turn = free ? 3 : 0;
  for (int s = 0; s < states((const T*)nullptr); ++s) {
    BallSpring spring;
    for (int i = 0; i < 4; ++i) spring.quaternion[i] = state(q[b.q + turn + i], s);
    for (int i = 0; i < 3; ++i) spring.position[i] = free ? state(q[b.q + i], s) : 0.0;
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < 3; ++i) {
        spring.v[k][i] = state(rate[k * stride + b.v + i], s);
        spring.w[k][i] = state(rate[k * stride + b.v + turn + i], s);
      }
    spring.run(n, free);
    with(s, spring);
  }
}

// Adds coefficients [from, to) of these forces to `force`, by columns; all tables have a row of `stride` per coefficient.
template <class T>
JOUNCE_NOINLINE void add_joint_forces(const Tree& tree, const T* q, const T* rate, int stride, int from, int to, T* force) {
  for (int k = from; k < to; ++k)
    for (int j = 0; j < tree.columns; ++j)
      force[k * stride + j] += T((k + 1) * tree.armature[j]) * rate[(k + 1) * stride + j] + T(tree.damping[j]) * rate[k * stride + j];
  if (tree.friction_count > 0) add_friction(tree, rate, stride, from, to, force);
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    if (b.joint == Joint::section) continue;
    if (is_ball(b.joint)) {
      const int turn = angular(b);
      if (tree.stiffness[turn] == 0 && tree.stiffness[b.v] == 0) continue;
      for_each_ball_spring(b, q, rate, stride, to, [&](int s, const BallSpring& spring) {
        for (int k = from; k < to; ++k)
          for (int c = 0; c < 3; ++c) {
            state(force[k * stride + turn + c], s) += tree.stiffness[turn] * spring.rotation_vector[c][k];
            if (b.joint == Joint::free) state(force[k * stride + b.v + c], s) += tree.stiffness[b.v] * spring.displacement[c][k];
          }
      });
    } else if (tree.stiffness[b.v] != 0) {
      const T stiffness(tree.stiffness[b.v]);
      if (from == 0) force[b.v] += stiffness * (q[b.q] - T(tree.rest[b.v]));
      for (int k = from > 0 ? from : 1; k < to; ++k) force[k * stride + b.v] += T(tree.stiffness[b.v] / k) * rate[(k - 1) * stride + b.v];
    }
  }
}

// Adds the derivatives of these forces to K (positions), D (velocities) and M (accelerations): derivative k of each, matrices (columns,
// columns).
template <class Ring>
void add_joint_force_derivatives(const Tree& tree, const Motion<Ring>& motion, int rows, double* K, double* D, double* M) {
  const std::ptrdiff_t nv = tree.columns, size = nv * nv;
  for (int c = 0; c < nv; ++c) {
    D[c * nv + c] += tree.damping[c];
    if (M) M[c * nv + c] += tree.armature[c];
  }
  if (tree.friction_count > 0) add_friction_derivatives(tree, motion.rate, motion.stride, rows, D);
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    if (b.joint == Joint::section) continue;
    if (!is_ball(b.joint)) {
      K[b.v * nv + b.v] += tree.stiffness[b.v];
      continue;
    }
    const int angular = motion.angular(b);
    const bool free = b.joint == Joint::free;
    if (tree.stiffness[angular] == 0 && tree.stiffness[b.v] == 0) continue;
    for_each_ball_spring(b, motion.q, motion.rate, motion.stride, rows, [&](int, BallSpring& spring) {
      spring.run_tangent(rows);
      for (int k = 0; k < rows; ++k) {
        double* block = K + k * size;
        const double scale = factorial.value[k];
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) block[(angular + r) * nv + angular + c] += scale * tree.stiffness[angular] * spring.tangent[r][c][k];
        if (!free) continue;
        const double stiffness = tree.stiffness[b.v];  // R^T x changes by dv + R^T x x dw
        for (int r = 0; r < 3; ++r) {
          if (k == 0) block[(b.v + r) * nv + b.v + r] += stiffness;
          const int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
          block[(b.v + r) * nv + angular + r2] += scale * stiffness * spring.displacement[r1][k];
          block[(b.v + r) * nv + angular + r1] -= scale * stiffness * spring.displacement[r2][k];
        }
      }
    });
  }
}

JOUNCE_END
