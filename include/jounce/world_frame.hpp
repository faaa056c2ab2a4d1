// A motion seen from one common frame: the poses of the bodies, the unit twist of every coordinate ("screw"), and the moments
// of every body's mass, all as series, in world axes and about a fixed point.
//
// In a common frame nothing has to be carried from body to body: the Jacobian of a body is the screws of the coordinates
// above it, and moments of mass simply add up. Every matrix of the equations of motion is made of these (paper A, section 4,
// in spatial representation). The fixed point is where the root of the body's tree is at the moment, not the world origin, so
// that a robot far from the origin loses no digits; a fixed point is as good as any other for twists and wrenches.
#pragma once

#include "jounce/poses.hpp"

JOUNCE_BEGIN

// A twist, or a wrench [force; moment].
template <class S>
struct Screw {
  Vec3<S> v, w;

  friend JOUNCE_INLINE Screw operator+(const Screw& a, const Screw& b) { return {a.v + b.v, a.w + b.w}; }
  JOUNCE_INLINE Screw& operator+=(const Screw& b) { return *this = *this + b; }
};

template <class Factor, class S>
JOUNCE_INLINE Screw<S> scaled(const Factor& s, const Screw<S>& a) {
  return {{s * a.v.x, s * a.v.y, s * a.v.z}, {s * a.w.x, s * a.w.y, s * a.w.z}};
}

// a . b, the power of a wrench and a twist.
template <class S>
JOUNCE_INLINE S pairing(const Screw<S>& a, const Screw<S>& b) {
  return as_factor(a.v.x) * b.v.x + as_factor(a.v.y) * b.v.y + as_factor(a.v.z) * b.v.z + as_factor(a.w.x) * b.w.x +
         as_factor(a.w.y) * b.w.y + as_factor(a.w.z) * b.w.z;
}

template <int L, class S>
JOUNCE_INLINE auto truncate(const Vec3<S>& u) {
  return Vec3<decltype(truncate<L>(u.x))>{truncate<L>(u.x), truncate<L>(u.y), truncate<L>(u.z)};
}
template <int L, class S>
JOUNCE_INLINE auto truncate(const Screw<S>& a) {
  return Screw<decltype(truncate<L>(a.v.x))>{truncate<L>(a.v), truncate<L>(a.w)};
}
template <class S>
JOUNCE_INLINE auto derivative(const Screw<S>& a) {
  using D = decltype(derivative(a.v.x));
  return Screw<D>{{derivative(a.v.x), derivative(a.v.y), derivative(a.v.z)}, {derivative(a.w.x), derivative(a.w.y), derivative(a.w.z)}};
}

// Mass, first moment (mass times centre of mass) and second moment (integral of x x^T dm).
template <class S>
struct Moments {
  double mass;
  Vec3<S> first;
  S xx, yy, zz, xy, xz, yz;

  static Moments none() {
    const S zero(0.0);
    return {0.0, {zero, zero, zero}, zero, zero, zero, zero, zero, zero};
  }

  JOUNCE_INLINE Moments& operator+=(const Moments& b) {
    mass += b.mass;
    first += b.first;
    xx += b.xx, yy += b.yy, zz += b.zz, xy += b.xy, xz += b.xz, yz += b.yz;
    return *this;
  }

  // Rotational inertia times w: (trace(J) - J) w.
  JOUNCE_INLINE Vec3<S> turning(const Vec3<S>& w) const {
    const auto& x = as_factor(w.x);
    const auto& y = as_factor(w.y);
    const auto& z = as_factor(w.z);
    return {x * (yy + zz) - y * xy - z * xz, y * (xx + zz) - x * xy - z * yz, z * (xx + yy) - x * xz - y * yz};
  }

  // Momentum of a twist: linear, and angular about the fixed point.
  JOUNCE_INLINE Screw<S> momentum(const Screw<S>& t) const { return {mass * t.v - cross(first, t.w), cross(first, t.v) + turning(t.w)}; }
};

template <int L, class S>
JOUNCE_INLINE auto truncate(const Moments<S>& m) {
  using A = decltype(truncate<L>(m.xx));
  return Moments<A>{
      m.mass,           truncate<L>(m.first), truncate<L>(m.xx), truncate<L>(m.yy), truncate<L>(m.zz), truncate<L>(m.xy), truncate<L>(m.xz),
      truncate<L>(m.yz)};
}

// The moments of a body at a pose: [R x] P [R x]^T with P the 4x4 matrix of its moments in its own axes.
template <class S>
JOUNCE_INLINE Moments<S> moments_of(const Body& b, const Pose<S>& pose) {
  const double *h = b.first, *J = b.second;
  const Mat3<S>& R = pose.R;
  const Vec3<S> a = J[0] * R.cx + J[3] * R.cy + J[4] * R.cz + h[0] * pose.x, c = J[3] * R.cx + J[1] * R.cy + J[5] * R.cz + h[1] * pose.x,
                d = J[4] * R.cx + J[5] * R.cy + J[2] * R.cz + h[2] * pose.x, e = apply(R, h) + b.mass * pose.x;
  const auto second = [&](S Vec3<S>::* i, S Vec3<S>::* j) JOUNCE_LAMBDA_INLINE {
    return as_factor(R.cx.*j) * (a.*i) + as_factor(R.cy.*j) * (c.*i) + as_factor(R.cz.*j) * (d.*i) + as_factor(pose.x.*j) * (e.*i);
  };
  using V = Vec3<S>;
  return {b.mass,
          e,
          second(&V::x, &V::x),
          second(&V::y, &V::y),
          second(&V::z, &V::z),
          second(&V::x, &V::y),
          second(&V::x, &V::z),
          second(&V::y, &V::z)};
}

template <class Ring>
class WorldFrame {
 public:
  using S = typename Ring::Velocity;

  template <class Arena>
  WorldFrame(const Tree& tree, const Motion<Ring>& motion, Arena& arena)
      : tree_(tree),
        motion_(motion),
        pose_(arena.template take<Pose<S>>(tree.size + 1) + 1),
        screw_(arena.template take<Screw<S>>(tree.nv)),
        moments_(arena.template take<Moments<S>>(tree.size)),
        point_(arena.template take<Vec3<double>>(tree.size + 1) + 1),
        path_(arena.template take<int>(tree.size)) {}

  const Pose<S>& pose(int body) const { return pose_[body]; }           // -1: the world; x from point(body)
  const Screw<S>& screw(int column) const { return screw_[column]; }    // the unit twist of a coordinate
  const Moments<S>& moments(int body) const { return moments_[body]; }  // after weigh()
  const Vec3<double>& point(int body) const { return point_[body]; }    // the fixed point that is the body's origin here

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
    if (b.joint != Joint::free && b.joint != Joint::spherical) return scaled(motion_.velocity_factor(b.v), truncate<n>(screw_[b.v]));
    const Vec3<S> w = turn(pose_[i].R, motion_.velocity3(motion_.angular(b)));
    Vec3<S> v = cross(pose_[i].x, w);
    if (b.joint == Joint::free) v += turn(pose_[i].R, motion_.velocity3(b.v));
    return {truncate<n>(v), truncate<n>(w)};
  }

  // The moments of every body by itself.
  void weigh() {
    for (int i = 0; i < tree_.size; ++i)
      moments_[i] = tree_.bodies[i].massless ? Moments<S>::none() : moments_of(tree_.bodies[i], pose_[i]);
  }

  // The moments of every body together with all that it carries.
  void weigh_subtrees() {
    weigh();
    for (int i = tree_.size - 1; i >= 0; --i)
      if (tree_.bodies[i].parent >= 0) moments_[tree_.bodies[i].parent] += moments_[i];
  }

 private:
  void begin() {
    pose_[-1] = Pose<S>::identity();
    point_[-1] = {0, 0, 0};
  }

  void place_body(int i, Axes axes) {
    const Body& b = tree_.bodies[i];
    Pose<S>& pose = pose_[i];
    pose = joint_frame(b, pose_[b.parent]);
    Pose<S> parent;  // the user's frame of the parent, where that matters
    if (axes != Axes::body && !has_axes(b)) axes = Axes::body;
    if (axes != Axes::body) parent = user_frame(b, pose);
    if (b.joint == Joint::free || b.joint == Joint::spherical)
      move_ball<Ring, S>(BallMotion<Ring>(motion_, b), b, pose);
    else
      move_screw<Ring, S>(motion_, b, pose);
    if (b.parent < 0) {
      point_[i] = {leading(pose.x.x), leading(pose.x.y), leading(pose.x.z)};
      const Vec3<S> shift{S(point_[i].x), S(point_[i].y), S(point_[i].z)};
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
    Screw<S>* own = screw_ + b.v;
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
      }
    }
  }

  static JOUNCE_INLINE void add_turns(Screw<S>* own, const Mat3<S>& R, const Vec3<S>& x) {
    own[0] = {cross(x, R.cx), R.cx};
    own[1] = {cross(x, R.cy), R.cy};
    own[2] = {cross(x, R.cz), R.cz};
  }

  const FreeJoint* free_joint(const Body& b) const {
    const FreeJoint *f = tree_.free_joints, *end = f + tree_.free_joint_count;
    while (f < end && f->v != b.v) ++f;
    return f < end ? f : nullptr;
  }

  // Whether its velocity may be given in several axes. Sections of soft bodies move freely, too, but in body axes only.
  bool has_axes(const Body& b) const { return b.joint == Joint::free && free_joint(b); }

  // The user's frame of the parent, from the frame of a free joint in it.
  Pose<S> user_frame(const Body& b, const Pose<S>& joint) const {
    const FreeJoint* f = free_joint(b);
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
  Vec3<double>* point_;
  int* path_;
};

JOUNCE_END
