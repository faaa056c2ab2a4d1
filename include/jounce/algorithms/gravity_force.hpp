// The generalized forces that hold a robot against gravity, and their time derivatives (paper A, (12); paper C, (47)):
//   g_c = -J_c . (m g, h x g),   m and h the mass and its first moment of all that coordinate c moves.
#pragma once

#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

// Derivatives 0 .. rows - 1 into out (rows, columns); after WorldFrame::gather_inertias.
template <class Ring>
void gravity_force(const Tree& tree, const WorldFrame<Ring>& world, int rows, double* out) {
  using S = typename Ring::Velocity;
  const double* g = tree.gravity;
  for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(rows) * tree.columns; ++i) out[i] = 0;
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    const Moments<S>& m = world.moments(i);
    const Vec3<S> moment = cross(g, m.first);  // -h x g
    for (int c = 0; c < b.count; ++c) {
      const Screw<S>& J = world.screw(b.screw + c);
      const S force = as_factor(J.w.x) * moment.x + as_factor(J.w.y) * moment.y + as_factor(J.w.z) * moment.z -
                      m.mass * (g[0] * J.v.x + g[1] * J.v.y + g[2] * J.v.z);
      double coefficients[padded_length<S>];
      force.store(coefficients);
      for (int k = 0; k < rows; ++k) out[k * tree.columns + b.column + c] += factorial.value[k] * coefficients[k];
    }
  }
}

JOUNCE_END
