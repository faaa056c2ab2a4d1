// Constraints of a robot as the algorithms see them: what ties a frame B to a frame A, each fixed in a body or in the world.
//
// A constraint is some rows N on the motion of B relative to A. With p the position of B's origin in A's axes, v = p' and w the angular
// velocity of B relative to A in the same axes,
//
//   N [v; w] = 0.
//
// Where a joint closes a loop, its rows are what it does not let move; they are constant in A's axes. Others change as the frames move:
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
  frame,   // where it is given
  here,    // in the world, where B is at the instant and with its axes
  upright  // in the world, where B is, with the world's axes
};

struct Constraint {
  Tie tie;
  Hold hold;
  Frame a, b;
  Frame named;                // the user's frame that its force is about, in the body of A or B
  std::int32_t first, count;  // rows
  std::int32_t holonomic;     // how many of them, from the first on, come from positions
  std::int32_t on_a;          // whether its force is that on A; on B otherwise
  std::int32_t turning;       // rows of a joint on w: 0, 2 (it turns about `axis`) or 3
  double rows[6][6];          // those that are constant
  double axis[3], other[3];   // a in A's axes and b in B's; `other` is zero where there is none
  double length;              // or radius, or metres a radian of a helical joint
  std::int32_t q[2], v[2];    // of a gear
  const double* polynomial;   // its coefficients from the lowest on
  std::int32_t degree;
};

// The bodies between the world and what is constrained, in order, and which rows each feels: from begin to end.
struct PathBody {
  std::int32_t body, begin, end;
};

struct Constraints {
  const Constraint* each;
  const PathBody* path;
  const std::int32_t* place;  // (bodies): where in the path, -1: it is not there
  std::int32_t count, rows, path_count;
};

// A row is a combination of those before it where less than this fraction of what J M^-1 J^T is made of is left of it; below the next
// fraction it has lost digits.
constexpr double dependent_fraction = 1e-10, doubtful_fraction_of_row = 1e-4;

// And it contradicts them where it asks for something else by more than this fraction of the accelerations that meet in it.
constexpr double contradiction_fraction = 1e-6;

// A row of J says nothing where no entry exceeds this fraction of what entries are made of: that is rounding error.
constexpr double rounding_fraction = 1e-13;

// How it went: the constraint that contradicts the others, or -1; and how many rows are combinations of others.
struct Consistency {
  std::int32_t contradicts = -1;
  std::int32_t dependent = 0;
  double error = 0;        // by how much, relative
  std::int32_t flat = -1;  // a wheel that lies on its plane, or -1
};

}  // namespace jounce
