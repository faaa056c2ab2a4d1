// The configuration manifold, joint by joint: q (+) dv and q1 (-) q0 in body coordinates, exact on SE(3) and SO(3).
#pragma once

#include "jounce/spatial/lie.hpp"
#include "jounce/tree/soft_body.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

// False for joints that follow others, and for sections.
constexpr bool has_own_coordinates(const Tree& tree, const Body& b) { return b.v < tree.nv; }

// Calls with(place in q, place in v) for the coordinates of shapes.
template <class With>
void for_each_shape_coordinate(const Tree& tree, const With& with) {
  for (int i = 0; tree.soft && i < tree.soft->count; ++i)
    for (int c = 0; c < tree.soft->bodies[i].n; ++c) with(tree.soft->bodies[i].q + c, tree.soft->bodies[i].v + c);
}

// The configuration reached from q by the constant body velocity dv in unit time: H exp(dv).
inline void integrate(const Tree& tree, const double* q, const double* dv, double* out) {
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    const bool free = b.joint == Joint::free;
    if (!has_quaternion(b.joint)) {
      if (has_own_coordinates(tree, b)) out[b.q] = q[b.q] + dv[b.v];
      continue;
    }
    const double* d = dv + b.v;
    double u[4] = {q[b.q + 3 * free], q[b.q + 3 * free + 1], q[b.q + 3 * free + 2], q[b.q + 3 * free + 3]}, step[4];
    normalize(u);
    const Vec3<double> w{d[3 * free], d[3 * free + 1], d[3 * free + 2]};
    if (free) {
      double R[9];
      rotation_of(u, R);
      const Vec3<double> x = apply(R, exponential_translation({d[0], d[1], d[2]}, w));
      out[b.q] = q[b.q] + x.x, out[b.q + 1] = q[b.q + 1] + x.y, out[b.q + 2] = q[b.q + 2] + x.z;
    }
    exponential(w, step);
    multiply(u, step, out + b.q + 3 * free);
  }
  for_each_shape_coordinate(tree, [&](int at, int v) { out[at] = q[at] + dv[v]; });
}

// The body velocity that leads from q0 to q1 in unit time: log(H0^-1 H1).
inline void difference(const Tree& tree, const double* q0, const double* q1, double* out) {
  for (int i = 0; i < tree.size; ++i) {
    const Body& b = tree.bodies[i];
    const bool free = b.joint == Joint::free;
    if (!has_quaternion(b.joint)) {
      if (has_own_coordinates(tree, b)) out[b.v] = q1[b.q] - q0[b.q];
      continue;
    }
    double u0[4], u1[4], u[4];
    for (int k = 0; k < 4; ++k) u0[k] = q0[b.q + 3 * free + k], u1[k] = q1[b.q + 3 * free + k];
    normalize(u0);
    normalize(u1);
    divide(u0, u1, u);
    const Vec3<double> w = logarithm(u);
    double* d = out + b.v;
    if (free) {
      double R[9];
      rotation_of(u0, R);
      const Vec3<double> apart{q1[b.q] - q0[b.q], q1[b.q + 1] - q0[b.q + 1], q1[b.q + 2] - q0[b.q + 2]};
      const Vec3<double> v = logarithm_translation(apply_transpose(R, apart), w);
      d[0] = v.x, d[1] = v.y, d[2] = v.z;
    }
    d[3 * free] = w.x, d[3 * free + 1] = w.y, d[3 * free + 2] = w.z;
  }
  for_each_shape_coordinate(tree, [&](int at, int v) { out[v] = q1[at] - q0[at]; });
}

JOUNCE_END
