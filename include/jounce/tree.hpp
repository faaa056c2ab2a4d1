// The robot as the algorithms see it: an array of bodies, parents before children, each with one primitive joint.
//
// The Python side (compile.py) turns every joint of the user's model into these primitives, and chooses each body's
// internal frame so that its joint turns about, or slides along, its own z axis: a rotation by a series is then a 2x2 one.
// The joint frame P is fixed in the parent, x_parent = R x_P + p; the joint moves the body frame in P. Matrices are row-major.
#pragma once

#include <cstdint>

namespace jounce {

enum class Joint : std::int32_t {
  revolute,   // turns about z
  prismatic,  // slides along z
  helical,    // turns about z and slides `slide` metres a radian along it
  spherical,  // turns about any axis: q a quaternion x y z w, v the angular velocity in body axes
  free        // moves in any way: q position and quaternion, v the twist [linear; angular] in body axes
};

constexpr int freedom(Joint j) { return j == Joint::free ? 6 : j == Joint::spherical ? 3 : 1; }
constexpr bool turns(Joint j) { return j == Joint::revolute || j == Joint::helical; }

struct Body {
  Joint joint;
  std::int32_t parent;  // -1: the world
  std::int32_t q, v;    // where its coordinates begin
  std::int32_t end;     // the column of v after the last one of all that it carries
  std::int32_t massless;
  double R[9], p[3];  // the joint frame in the parent
  double slide;       // metres along z for each unit of q; 0 for a revolute joint
  double mass;
  double first[3];   // mass times centre of mass
  double second[6];  // integral of x x^T dm: xx yy zz xy xz yz
};

// A frame that a user knows by name, fixed in a body (-1: the world).
struct Frame {
  std::int32_t body;
  double R[9], p[3];
};

// A free joint and its frame in the user's frame of the parent, for twists in world or mixed coordinates.
struct FreeJoint {
  std::int32_t q, v;
  double R[9], p[3];
};

struct Tree {
  const Body* bodies;
  const FreeJoint* free_joints;
  const std::int32_t* quaternions;               // where in q each begins
  const double *armature, *damping, *stiffness;  // (nv)
  const double* rest;                            // (nv): where the springs of one-coordinate joints are at rest
  std::int32_t size, free_joint_count, quaternion_count, nq, nv;
  std::int32_t passive;      // whether any of the three is not zero
  std::int32_t depth_first;  // whether the columns of all that a body carries follow its own
  double gravity[3];
};

// In which frame the twist and wrench of a free joint, or a wrench on a body, are given.
enum class Axes : std::int32_t {
  body,   // body axes, about the body's origin (left-trivialized)
  world,  // the parent's (the world's) axes, about its origin (right-trivialized, "spatial")
  mixed   // the parent's (the world's) axes, about the body's origin
};

}  // namespace jounce
