// Constraints of a robot as the algorithms see them: a frame B tied to a frame A, each fixed in a body or in the world.
//
// A constraint is a set of rows N on the motion of B relative to A. With p the position of B's origin in A's axes, v = p' and w the
// angular velocity of B relative to A in the same axes,
//
//   N [v; w] = 0.
//
// For a joint that closes a loop, the rows are the motions that it blocks; they are constant in A's axes. Others change as the frames
// move:
//
//   distance    p                                    from p . p = length^2
//   universal   p = 0 and w . (b x a)                from a . b constant; a fixed in A, b in B
//   rolling     v + w x c = 0, c from B's origin to where it touches the plane of A with normal a: for a ball -length a, for a wheel with
//               axis b, which turns with B, -length (a - (a.b) b) / |a - (a.b) b|; of its three rows only the one along a comes from
//               positions
//   gear        q_1 = f(q_0), a polynomial, between the coordinates of two joints.
#pragma once

#include "jounce/tree/tree.hpp"

namespace jounce {

enum class Tie : std::int32_t { joint, distance, universal, rolling, gear };

// Where A is.
enum class Hold : std::int32_t {
  frame,   // as given
  here,    // in the world, where B is at the instant, with B's axes
  upright  // in the world, where B is, with the world's axes
};

struct Constraint {
  Tie tie;
  Hold hold;
  Frame a, b;
  Frame named;                // the user's frame that its force refers to, in the body of A or B
  std::int32_t first, count;  // rows
  std::int32_t holonomic;     // how many of them, starting with the first, come from positions
  std::int32_t on_a;          // whether its force is the one on A; otherwise on B
  std::int32_t turning;       // rows of a joint on w: 0, 2 (it turns about `axis`) or 3
  double rows[6][6];          // the constant ones
  double axis[3], other[3];   // a in A's axes and b in B's; `other` is zero if there is none
  double length;              // or radius, or metres per radian of a helical joint
  std::int32_t q[2], v[2];    // of a gear
  const double* polynomial;   // its coefficients, lowest first
  std::int32_t degree;
};

// The bodies between the world and the constrained ones, in order, and the rows that each one feels: from begin to end.
struct PathBody {
  std::int32_t body, begin, end;
};

// Tables that are read a register at a time have room for one more behind them.
constexpr int widest_register = 8;

struct Constraints {
  const Constraint* each;
  const PathBody* path;
  const std::int32_t* place;  // (bodies): index in the path; -1 if it is not on it
  std::int32_t count, rows, path_count;
  const double *row_sizes, *coordinate_sizes;  // natural ones; the former with room behind them, as path_weights and moves have
  const double* path_weights;                  // 1 / coordinate_sizes on that path, zero elsewhere
  const double* moves;                         // how far each coordinate turns frames, rad, or moves them, in lengths of the robot
  double most_moved;                           // by a coordinate that changes by its natural size
  double length, extent;                       // of the robot: between joints and constraints; or of its bodies, if these are larger
  bool unequal_gears;                          // whether a gear joins masses that are more unequal than unequal_gear
};

// What is left of a row is rounding error below this fraction of the terms that make up its diagonal element of J M^-1 J^T. Below the
// second fraction of them, or the third of the element itself, it has lost digits, and J itself decides.
constexpr double rounding_fraction_of_terms = 1e-14, doubtful_fraction_of_terms = 1e-6, doubtful_fraction_of_square = 1e-4;

// So does it if coordinates, in natural sizes, resist more unequally than by this factor: a row that moves the heavy ones might be
// taken for rounding error.
constexpr double unequal_masses = 1e6;

// Where more than this part of the accelerations or forces may be rounding error, as larger ones cancelled, they are computed again with
// twice the digits: of 6,000 robots drawn by lot, those whose second derivatives were off by 1e-8 had 1e-11 and more; legged robots have
// 1e-13. Behind gears between very unequal masses that estimate falls short, and their robots are always computed so.
constexpr double lost_fraction = 1e-12, unequal_gear = 1e5;

// Derivatives of order k lose digits like the power k + 1 of what is left of a row of J; below this, perhaps too many.
constexpr double rates_lost = 1e-6;

// It contradicts them if it demands something else by more than this fraction of the accelerations that meet in it.
// This part of all the robot's accelerations, in natural sizes, meets in every row.
constexpr double contradiction_fraction = 1e-6, common_fraction = 1e-4;

// A row of J counts as zero if no entry exceeds this fraction of the terms that entries are made of: that is rounding error.
constexpr double rounding_fraction = 1e-13;

// The outcome: the constraint that contradicts the others, or -1; and how many rows are combinations of others.
struct Consistency {
  std::int32_t contradicts = -1;
  std::int32_t dependent = 0;
  double error = 0;          // by how much, relative
  std::int32_t flat = -1;    // a wheel that lies flat on its plane, or -1
  std::int32_t nearly = -1;  // one with a row that is nearly a combination of others, or -1
  bool precise = false;      // whether it was computed with twice the digits
  std::int32_t loses = -1;   // one whose row loses digits when it is solved for, as masses are unequal, or -1
  double lost = 0;           // by how much that may be off, relative
  double cancelled = 0;      // by how much accelerations or forces may be off, relative, as larger ones cancelled
  double loose = 0;          // the largest acceleration before constraints act, in natural sizes
};

}  // namespace jounce
