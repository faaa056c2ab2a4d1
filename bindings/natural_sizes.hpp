// Natural sizes of the rows of constraints and of the coordinates that they tie.
//
// Whether a row of J is a combination of others is decided in J with each row divided by its size and each column multiplied by its own:
// there, 1 is large and what counts as nothing is the same for all. The sizes come from geometry and never from J, whose entries may be
// rounding error. Entry (r, c) is at most
//
//   B_rc = |f| (|v| + |w| l) + |m| |w|,
//
// with f and m the force and the moment of the row, v and w the linear and the angular velocity that a unit of the coordinate gives its
// body, and l the length of the chain of bodies from there to the constraint, whose first stretch is measured beside an axis that stays
// where it is; of a gear, 1 and its slope. The sizes R_r and C_c minimize
//
//   sum over B_rc > 0 of log(B_rc C_c / R_r)^2 + prior sum over c of log(C_c / radian or length of the robot)^2
//
// (Curtis and Reid, J. Inst. Maths Applics 10, 1972, for the first sum), shifted so that the median coordinate of what hangs together has
// that size. In other units B changes by a factor for each row and each
// column, which R and C follow: J in natural sizes has no units.
//
// Loads that redundant rows share are measured otherwise: two hinges of a door are alike, wherever they are. A force counts as the
// moment that it makes at the length of the robot.
#pragma once

#include <vector>

#include "jounce/tree/constraint.hpp"

namespace jounce {

struct NaturalSizes {
  double length, extent;  // of the robot: between joints and constraints; or the radius of gyration, if that is larger
  std::vector<double> rows, coordinates;
  std::vector<double> moves;  // how far a unit of a coordinate turns frames of constraints, rad, or moves them, in lengths of the robot
  std::vector<double> loads;  // of rows: forces compare with moments, each times its row's, where redundant rows share a load
};

NaturalSizes natural_sizes(const Tree& tree, const Constraints& constraints);

}  // namespace jounce
