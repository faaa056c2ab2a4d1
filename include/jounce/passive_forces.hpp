// What a joint itself takes at every order: armature * dv/dt + damping * v + stiffness * (displacement).
#pragma once

#include "jounce/motion.hpp"
#include "jounce/springs.hpp"

JOUNCE_BEGIN

// The spring of a spherical or free joint; isotropic, one stiffness for its three axes.
template <class Ring>
void add_ball_spring(const Tree& tree, const Motion<Ring>& motion, const Body& b, typename Ring::Coefficient* force) {
  using T = typename Ring::Coefficient;
  constexpr int n = Ring::order + 1;
  const int stride = motion.stride, angular = motion.angular(b);
  for (int s = 0; s < states((const T*)nullptr); ++s) {
    double u[4], x[3], v[n][3], w[n][3], displacement[3][n];
    for (int i = 0; i < 4; ++i) u[i] = state(motion.q[angular - b.v + b.q + i], s);
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < 3; ++i) {
        v[k][i] = state(motion.rate[k * stride + b.v + i], s);
        w[k][i] = state(motion.rate[k * stride + angular + i], s);
      }
    rotation_vector_series<n>(u, w, displacement);
    const auto add = [&](int column) {
      for (int k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) state(force[k * stride + column + i], s) += tree.stiffness[column] * displacement[i][k];
    };
    add(angular);
    if (b.joint == Joint::free) {
      double R[9];
      rotation_of(u, R);
      for (int i = 0; i < 3; ++i) x[i] = state(motion.q[b.q + i], s);
      position_in_body_series<n>(x, R, v, w, displacement);
      add(b.v);
    }
  }
}

// Adds to `force`, a table (order + 1, motion.stride) of coefficients.
template <class Ring>
void add_passive_forces(const Tree& tree, const Motion<Ring>& motion, typename Ring::Coefficient* force) {
  using T = typename Ring::Coefficient;
  constexpr int n = Ring::order + 1;
  const int stride = motion.stride;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < tree.nv; ++j)
      force[k * stride + j] +=
          T((k + 1) * tree.armature[j]) * motion.rate[(k + 1) * stride + j] + T(tree.damping[j]) * motion.rate[k * stride + j];
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    if (b.joint == Joint::free || b.joint == Joint::spherical) {
      const int angular = motion.angular(b);
      if (tree.stiffness[angular] != 0 || tree.stiffness[b.v] != 0) add_ball_spring(tree, motion, b, force);
    } else if (tree.stiffness[b.v] != 0) {
      const auto q = motion.position_factor(b);
      for (int k = 0; k < n; ++k) force[k * stride + b.v] += T(tree.stiffness[b.v]) * q[k];
    }
  }
}

JOUNCE_END
