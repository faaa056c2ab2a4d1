// The robot as the algorithms see it: an array of bodies, parents before children, each with one primitive joint.
//
// The Python side (core_tables.py) turns every joint of the user's model into these primitives, and chooses each body's internal frame so
// that its joint turns about, or slides along, its own z axis: rotating by a series then only takes a 2x2 matrix. The joint frame P is
// fixed in the parent, x_parent = R x_P + p; the joint moves the body frame in P. Matrices are row-major.
//
// Coordinates. A robot has nq positions and nv velocities of its own. Whatever moves without a coordinate of its own has slots behind
// them, filled from the robot's own before an algorithm runs:
//
//   [0, nv)            own velocities
//   [nv, columns)      one for each joint that follows another: ratio times its leader's
//   [columns, slots)   six for each section of a soft body: its twist relative to the near end, S(q) times the rates of its shape
//
// The first two kinds are the columns of matrices. A matrix or force over columns becomes one over own coordinates by adding the rows
// and columns of followers, times their ratio, to those of their leaders (own_coordinates.hpp). A section has the columns of its body's
// shape.
//
// Clusters. Bodies that share own coordinates have to be solved for together. A cluster is the smallest set of bodies that hangs on one
// body outside it and shares no coordinate with any other: a body and its joint, fingers that follow each other, the sections of a rod.
// Only the articulated-body algorithm needs them (articulated_bodies.hpp).
#pragma once

#include "jounce/ring/config.hpp"

namespace jounce {

enum class Joint : std::int32_t {
  revolute,   // turns about z
  prismatic,  // slides along z
  helical,    // turns about z and slides `slide` metres per radian along it
  spherical,  // turns about any axis: q a quaternion x y z w, v the angular velocity in body axes
  free,       // moves in any way: q position and quaternion, v the twist [linear; angular] in body axes
  section     // moves with the shape of a soft body; v the twist in body axes
};

constexpr int freedom(Joint j) { return j == Joint::free ? 6 : j == Joint::spherical ? 3 : j == Joint::section ? 0 : 1; }
constexpr bool turns(Joint j) { return j == Joint::revolute || j == Joint::helical; }
constexpr bool slides(Joint j) { return j == Joint::prismatic || j == Joint::helical; }
constexpr bool is_ball(Joint j) { return j >= Joint::spherical; }  // turns about any axis
constexpr bool is_free(Joint j) { return j >= Joint::free; }       // and moves in any way
constexpr bool has_quaternion(Joint j) { return j == Joint::spherical || j == Joint::free; }

struct Body {
  Joint joint;
  std::int32_t parent;          // -1: the world
  std::int32_t q, v;            // where its positions and velocities begin among the slots; for a section, its number, and v
  std::int32_t column, count;   // the columns that move it relative to its parent
  std::int32_t screw;           // where its screws are: those of joints by column, then those of sections
  std::int32_t span, span_end;  // ranges of columns: of what it carries and, unless it is a section, its own
  std::int32_t cluster;
  std::int32_t single;  // whether its cluster consists of this body alone, with one coordinate
  std::int32_t block;   // where its cluster's block is
  std::int32_t local;   // which of its cluster's coordinates its first column is
  std::int32_t massless;
  std::int32_t leaf;  // whether it carries nothing
  double ratio;       // of a follower; 1 otherwise
  double R[9], p[3];  // the joint frame in the parent
  double slide;       // metres along z per unit of q; 0 for a revolute joint
  double mass;
  double first[3];   // mass times centre of mass
  double second[6];  // integral of x x^T dm: xx yy zz xy xz yz
};

// A joint that follows another: q = ratio q_leader + offset.
struct Follower {
  std::int32_t q, v, leader_q, leader_v;
  double ratio, offset;
};

// Dry friction of a coordinate: force * tanh(v / speed).
struct Friction {
  std::int32_t column;
  double force, speed;
};

struct Range {
  std::int32_t begin, end;
};

struct Cluster {
  std::int32_t body;          // its first one, and the only one if `alone`
  std::int32_t up;            // what it hangs on, -1: the world
  std::int32_t first, count;  // its own coordinates, in cluster_columns
  std::int32_t block;         // where its block (count, count) is among all blocks
  std::int32_t alone;
  std::int32_t nested;  // whether some of its bodies hang on others of the same cluster
};

// A frame that a user knows by name, fixed in a body (-1: the world).
struct Frame {
  std::int32_t body;
  double R[9], p[3];
};

// A free joint and its frame in the user's frame of the parent, for twists in world or mixed coordinates.
struct FreeJoint {
  std::int32_t q, v, body;
  double R[9], p[3];
};

struct SoftBodies;  // soft_body.hpp

struct Tree {
  const Body* bodies;
  const FreeJoint* free_joints;
  const std::int32_t* quaternions;  // where in q each begins
  const Follower* followers;
  const Range* ranges;
  const Cluster* clusters;
  const std::int32_t* cluster_columns;
  const SoftBodies* soft;                        // null: none
  const double *armature, *damping, *stiffness;  // (columns)
  const Friction* frictions;                     // of the columns that have any
  const double* turns;                           // (columns, plus one register): 1 where a joint turns about its axis, 0 elsewhere
  const double* rest;                            // (columns): where the springs of one-coordinate joints are at rest
  std::int32_t size, free_joint_count, quaternion_count, follower_count, cluster_count, section_count, friction_count;
  std::int32_t nq, nv;                     // own
  std::int32_t positions, columns, slots;  // with those of followers, and with those of sections
  std::int32_t screws;                     // of all joints and sections
  std::int32_t blocks, widest;             // numbers in all clusters' blocks, and the largest count
  std::int32_t general;                    // numbers in the blocks of all clusters, and the largest count
  std::int32_t joint_forces;               // whether any joint has armature, damping, friction or stiffness
  std::int32_t moderate;                   // whether lengths, inertias, springs and gravity are below 2^moderate_exponent
  double gravity[3];
};

// Products of a dozen numbers below two to this power are finite.
constexpr int moderate_exponent = 50;

// Whether the equations of motion can be solved: the body whose joint moves nothing, or so small a difference of large inertias that
// the solution may have the relative error `error`; -1: neither.
struct Solvability {
  std::int32_t doubtful = -1;
  bool singular = false;
  double error = 0;
};

// In which frame the twist and wrench of a free joint, or a wrench on a body, are given.
enum class Axes : std::int32_t {
  body,   // body axes, about the body's origin (left-trivialized)
  world,  // the parent's (the world's) axes, about its origin (right-trivialized, "spatial")
  mixed   // the parent's (the world's) axes, about the body's origin
};

}  // namespace jounce
