// A motion seen from one common frame: the poses of the bodies, the unit twist of every coordinate ("screw"), and the moments
// of every body's mass, all as series, in world axes and about a fixed point.
//
// In a common frame nothing has to be transformed from body to body: the Jacobian of a body is the screws of the coordinates above it,
// and moments of mass simply add up. Every matrix of the equations of motion is made of these (paper A, section 4, in spatial
// representation). The fixed point is where the root of the body's tree is at the moment, not the world origin, so that a robot far
// from the origin loses no digits; for twists and wrenches, any fixed point will do.
#pragma once

#include "jounce/motion/poses.hpp"

JOUNCE_BEGIN

template <class Ring>
class WorldFrame {
 public:
  using S = typename Ring::Velocity;
  using T = typename Ring::Coefficient;

  template <class Arena>
  WorldFrame(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree),
        motion_(motion),
        pose_(arena.template take<Pose<S>>(tree.size + 1) + 1),
        screw_(arena.template take<Screw<S>>(tree.screws)),
        moments_(arena.template take<Moments<S>>(tree.size)),
        point_(arena.template take<Vec3<T>>(tree.size + 1) + 1),
        path_(arena.template take<int>(tree.size)) {}

  const Pose<S>& pose(int body) const { return pose_[body]; }           // -1: the world; x from point(body)
  const Screw<S>& screw(int i) const { return screw_[i]; }              // the unit twist of a column, from Body::screw on
  const Moments<S>& moments(int body) const { return moments_[body]; }  // after set_inertias()
  const Vec3<T>& point(int body) const { return point_[body]; }         // the fixed point that positions of the body are measured from

  // Poses and screws; those of free joints for velocities in the given axes.
  void place(Axes axes) {
    begin();
    for (int i = 0; i < tree_.size; ++i) place_body(i, axes);
  }

  // The same for one body and those that carry it.
  void place_path(int body, Axes axes) {
    begin();
    int count = 0;
    for (int i = body; i >= 0; i = tree_.bodies[i].parent) path_[count++] = i;
    while (count > 0) place_body(path_[--count], axes);
  }

  // The twist that the joint of a body adds to its parent's; one coefficient fewer than the screws have.
  Screw<typename Ring::Acceleration> joint_twist(int i) const {
    constexpr int n = Ring::order + 1;
    const Body& b = tree_.bodies[i];
    if (!is_ball(b.joint)) return scaled(motion_.velocity_factor(b.v), truncate<n>(screw_[b.v]));
    const Vec3<S> w = turn(pose_[i].R, motion_.velocity3(motion_.angular(b)));
    Vec3<S> v = cross(pose_[i].x, w);
    if (is_free(b.joint)) v += turn(pose_[i].R, motion_.velocity3(b.v));
    return {truncate<n>(v), truncate<n>(w)};
  }

  // The moments of every body by itself.
  void set_inertias() {
    for (int i = 0; i < tree_.size; ++i)
      moments_[i] = tree_.bodies[i].massless ? Moments<S>::none() : moments_of(tree_.bodies[i], pose_[i]);
  }

  // The moments of every body together with all that it carries.
  void gather_inertias() {
    set_inertias();
    for (int i = tree_.size - 1; i >= 0; --i)
      if (tree_.bodies[i].parent >= 0) moments_[tree_.bodies[i].parent] += moments_[i];
  }

 private:
  void begin() {
    pose_[-1] = Pose<S>::identity();
    point_[-1] = {T(0.0), T(0.0), T(0.0)};
  }

  void place_body(int i, Axes axes) {
    const Body& b = tree_.bodies[i];
    Pose<S>& pose = pose_[i];
    pose = joint_frame(b, pose_[b.parent]);
    Pose<S> parent;  // the user's frame of the parent, if it matters
    if (b.joint != Joint::free) axes = Axes::body;
    if (axes != Axes::body) parent = user_frame(b, pose);
    if (is_ball(b.joint))
      move_ball<Ring, S>(BallMotion<Ring>(motion_, b), b, pose);
    else
      move_screw<Ring, S>(motion_, b, pose);
    if (b.parent < 0) {
      point_[i] = {leading(pose.x.x), leading(pose.x.y), leading(pose.x.z)};
      const Vec3<S> shift{constant<S>(point_[i].x), constant<S>(point_[i].y), constant<S>(point_[i].z)};
      pose.x -= shift;
      if (axes != Axes::body) parent.x -= shift;
    } else {
      point_[i] = point_[b.parent];
    }
    add_screws(b, pose, parent, axes);
  }

  void add_screws(const Body& b, const Pose<S>& pose, const Pose<S>& user_parent, Axes axes) {
    const S zero(0.0);
    const Vec3<S> none{zero, zero, zero}, &z = pose.R.cz;
    Screw<S>* own = screw_ + b.screw;
    switch (b.joint) {
      case Joint::revolute:
        *own = {cross(pose.x, z), z};
        break;
      case Joint::prismatic:
        *own = {b.slide * z, none};
        break;
      case Joint::helical:
        *own = {cross(pose.x, z) + b.slide * z, z};
        break;
      case Joint::spherical:
        add_turns(own, pose.R, pose.x);
        break;
      case Joint::free: {
        const Mat3<S>& R = axes == Axes::body ? pose.R : user_parent.R;
        own[0] = {R.cx, none};
        own[1] = {R.cy, none};
        own[2] = {R.cz, none};
        add_turns(own + 3, R, axes == Axes::world ? user_parent.x : pose.x);
        break;
      }
      case Joint::section:
        for (int c = 0; c < b.count; ++c) own[c] = to_world(pose, motion_.sections.template screw_of<S>(b.screw + c));
    }
  }

  static JOUNCE_INLINE void add_turns(Screw<S>* own, const Mat3<S>& R, const Vec3<S>& x) {
    own[0] = {cross(x, R.cx), R.cx};
    own[1] = {cross(x, R.cy), R.cy};
    own[2] = {cross(x, R.cz), R.cz};
  }

  // The user's frame of the parent, from the frame of a free joint in it.
  Pose<S> user_frame(const Body& b, const Pose<S>& joint) const {
    const FreeJoint* f = tree_.free_joints;
    while (f->v != b.v) ++f;
    const auto column = [&](const double* row) { return row[0] * joint.R.cx + row[1] * joint.R.cy + row[2] * joint.R.cz; };
    Pose<S> user{{column(f->R), column(f->R + 3), column(f->R + 6)}, joint.x};
    user.x -= apply(user.R, f->p);
    return user;
  }

  const Tree& tree_;
  const Motion<Ring>& motion_;
  Pose<S>* pose_;
  Screw<S>* screw_;
  Moments<S>* moments_;
  Vec3<T>* point_;
  int* path_;
};

JOUNCE_END
