// The generalized forces that hold a robot against gravity, and their time derivatives (paper A, (5); paper C, (47)):
//   g_c = -J_c . (m g, h x g),   m and h the mass and its first moment of all that coordinate c moves.
#pragma once

#include "jounce/world_frame.hpp"

JOUNCE_BEGIN

// Derivatives 0 .. rows - 1 into out (rows, nv); after WorldFrame::weigh_subtrees.
template <class Ring>
void gravity_force(const Tree& tree, const WorldFrame<Ring>& world, int rows, double* out) {
  using S = typename Ring::Velocity;
  const double* g = tree.gravity;
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    const Moments<S>& m = world.moments(i);
    const Vec3<S> moment = cross(g, m.first);  // -h x g
    for (int c = b.v, end = c + freedom(b.joint); c < end; ++c) {
      const Screw<S>& J = world.screw(c);
      const S force = as_factor(J.w.x) * moment.x + as_factor(J.w.y) * moment.y + as_factor(J.w.z) * moment.z -
                      m.mass * (g[0] * J.v.x + g[1] * J.v.y + g[2] * J.v.z);
      double coefficients[padded_length<S>];
      force.store(coefficients);
      for (int k = 0; k < rows; ++k) out[k * tree.nv + c] = factorial.value[k] * coefficients[k];
    }
  }
}

JOUNCE_END
