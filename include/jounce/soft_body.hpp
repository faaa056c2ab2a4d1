// Soft bodies as the algorithms see them: how the sections of a body, which are ordinary rigid bodies of a larger tree (the
// "carrier"), move with the body's own few coordinates.
//
// A body is a chain of steps along its length. Step k leads from the frame of an earlier step (or the near end) to its own by
// exp(Omega). Where the strain is uniform, Omega = constant + linear q, with q the coordinates of the body, is exact. Otherwise Omega is
// the Magnus expansion of sixth order of the strain field over the step, on three Gauss points (Blanes, Casas, Oteo and Ros 2009, (259)):
// with a_1 = constant + linear q, and a_2, a_3 linear in q, its first and second differences along the step,
//
//   Omega = a_1 + a_3 / 12 - [-20 a_1 - a_3 + C_1, a_2 + C_2] / 240,     C_1 = -[a_1, a_2],     C_2 = [a_1, 2 a_3 + C_1] / 60
//
// (signs for dT/ds = T xi). In the frame of a step there are stations, the carrier's bodies: fixed there, or at an offset that is linear in
// q (sections that swell).
//
// Or the body is a recorded function of q, which gives of each station its position (3), rotation (9, row-major) and Jacobian
// (n, 6), and another that gives the Jacobians' derivatives (n, n, 6); it has one step, whose numbers do not matter.
#pragma once

#include <cstdint>

#include "jounce/recorded.hpp"

namespace jounce {

struct StrainStep {
  std::int32_t from;           // the step it starts from; -1: the near end
  std::int32_t stations, end;  // its stations
  std::int32_t uniform;        // whether the strain is
  std::int32_t linear;         // where in `numbers`: constant (6), linear (n, 6), and unless uniform a_2 and a_3 (n, 6) each
};

struct Station {
  std::int32_t q, v;    // of its free joint in the carrier
  std::int32_t column;  // where its Jacobian (n, 6) is among all
  std::int32_t second;  // where the derivatives (n, n, 6) of that are among all
  std::int32_t shift;   // where in `numbers`: offset (3), then its slope (n, 3); -1: it is fixed in the frame of its step
};

struct SoftBody {
  std::int32_t q, v, n;     // its coordinates, among the robot's own
  std::int32_t steps, end;  // its steps
  std::int32_t stiffness;   // where in `numbers`: stiffness (n, n), then viscosity (n, n), of the linear part
  std::int32_t recorded;    // which recordings: this and the next one; -1: none
};

// One coordinate of the carrier that is a multiple of one of the robot's own.
struct Copy {
  std::int32_t to, from;
  double ratio, offset;
};

// One own coordinate of a body of the carrier: `coordinate` of the carrier is `ratio` times it, or -1 for a station's.
struct Entry {
  std::int32_t column, coordinate;
  double ratio;
};

// A body of the carrier: its entries, and which station it is, or -1.
struct CarriedBody {
  std::int32_t first, count, station;
};

// Bodies of the carrier that share coordinates: those of a soft body, or one that hangs on a joint.
struct Group {
  std::int32_t first, end;
};

// From the robot's own coordinates to those of the carrier.
struct CoordinateMap {
  std::int32_t nq, nv, full_nq, full_nv;
  std::int32_t columns, seconds;  // numbers in all Jacobians of stations, and in their derivatives
  std::int32_t widest;            // greatest n, and greatest number of steps of a body
  std::int32_t longest;
  const Copy *positions, *velocities;
  std::int32_t position_count, velocity_count;
  const SoftBody* bodies;
  const StrainStep* steps;
  const Station* stations;
  const double* numbers;
  std::int32_t body_count;
  const Entry* entries;
  const CarriedBody* carried;  // of all bodies of the carrier
  const Group* groups;
  std::int32_t entry_count, group_count, widest_group;
  std::int32_t tree_like;  // whether each coordinate belongs to one group, and springs are of joints with one coordinate
  const Recording* recordings;
  std::int32_t recorded_values;  // most that a recording has
};

}  // namespace jounce
