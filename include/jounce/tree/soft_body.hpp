// Soft bodies as the algorithms see them: how the sections of a body, which are rigid bodies of the tree on one parent, move with the few
// coordinates of its shape.
//
// A body is a chain of steps along its length. Step k leads from the frame of an earlier step (or the near end) to its own by
// exp(Omega). Where the strain is uniform, Omega = constant + linear q, with q the coordinates of the shape, is exact. Otherwise Omega is
// the Magnus expansion of sixth order of the strain field over the step, on three Gauss points (Blanes, Casas, Oteo and Ros 2009, (259)):
// with a_1 = constant + linear q, and a_2, a_3 linear in q, its first and second differences along the step,
//
//   Omega = a_1 + a_3 / 12 - [-20 a_1 - a_3 + C_1, a_2 + C_2] / 240,     C_1 = -[a_1, a_2],     C_2 = [a_1, 2 a_3 + C_1] / 60
//
// (signs for dT/ds = T xi). Sections lie in the frame of a step: fixed there, or at an offset that is linear in q (bodies that swell).
//
// Alternatively, the body is given by recorded functions of q: for each section its position (3) and rotation (9, row-major), its
// screws (n, 6), and their derivatives (n, n, 6); it then has no steps.
#pragma once

#include "jounce/ring/recorded.hpp"
#include "jounce/tree/tree.hpp"

namespace jounce {

// Steps lie side by side so that whole registers of them can be loaded; the last one is repeated as padding.
constexpr int step_padding = 8;

struct Section {
  std::int32_t step;     // the step whose frame it is in
  const double* offset;  // (3), then its slope (n, 3); null: it is fixed there
};

struct SoftBody {
  std::int32_t q, v, n;       // its coordinates
  std::int32_t first, count;  // its sections, among all
  std::int32_t screw;         // where the screws of its first section are among those of all sections
  std::int32_t step_count, padded_steps;
  const std::int32_t* from;  // the step that each one starts from; -1: the near end
  const double* strain;      // constant (6), linear (n, 6), and unless `uniform` the changes a_2 and a_3 (2, n, 6), each (padded_steps)
  std::int32_t uniform;      // whether all steps are uniform and start at the near end
  const double *stiffness, *viscosity;          // (n, n), of the linear part
  const Recording *pose, *screws, *curvature;   // null: it has steps
  const Recording *elastic, *elastic_gradient;  // forces beyond the linear ones: of q (n), and their derivatives (n, n); or null
  const Recording *viscous, *viscous_gradient;  // of (q, v), and their derivatives (n, 2n); or null
  const Recording* energy;                      // of q, beyond the quadratic one; or null
};

struct SoftBodies {
  const SoftBody* bodies;
  const Section* sections;
  std::int32_t count;
  std::int32_t widest;           // the largest n
  std::int32_t recorded_values;  // the most values in any recording
};

}  // namespace jounce
