// Poses of bodies as series: R_0i = R_0P R and x_i = x_P + R_0P d, with R and d the joint's rotation and translation and P the
// joint frame in the parent. Over the ring of Taylor series their coefficients are the derivatives of the pose, divided by k!.
#pragma once

#include "jounce/motion/motion.hpp"
#include "jounce/spatial/spatial.hpp"

JOUNCE_BEGIN

// The joint frame of a body, which is fixed in its parent.
template <class S>
JOUNCE_INLINE Pose<S> joint_frame(const Body& b, const Pose<S>& parent) {
  const auto column = [&](const double* R) { return R[0] * parent.R.cx + R[3] * parent.R.cy + R[6] * parent.R.cz; };
  return {{column(b.R), column(b.R + 1), column(b.R + 2)}, parent.x + apply(parent.R, b.p)};
}

// From the joint frame to the body, for a joint that turns about and slides along z.
template <class Ring, class S>
JOUNCE_INLINE void move_screw(const Motion<Ring>& motion, const Body& b, Pose<S>& pose) {
  if (turns(b.joint)) {
    const auto c = motion.cos(b.v), s = motion.sin(b.v);
    const Vec3<S> x = pose.R.cx, y = pose.R.cy;
    pose.R.cx = {c * x.x + s * y.x, c * x.y + s * y.y, c * x.z + s * y.z};
    pose.R.cy = {c * y.x - s * x.x, c * y.y - s * x.y, c * y.z - s * x.z};
  }
  if (b.joint != Joint::revolute) {
    const auto d = motion.position_factor(b);
    pose.x += b.slide * Vec3<S>{d * pose.R.cz.x, d * pose.R.cz.y, d * pose.R.cz.z};
  }
}

// The same for a spherical or free joint.
template <class Ring, class S>
JOUNCE_INLINE void move_ball(const BallMotion<Ring>& joint, const Body& b, Pose<S>& pose) {
  const Mat3<S> R = pose.R;
  const auto combined = [&](const auto& x, const auto& y, const auto& z) {
    return Vec3<S>{x * R.cx.x + y * R.cy.x + z * R.cz.x, x * R.cx.y + y * R.cy.y + z * R.cz.y, x * R.cx.z + y * R.cy.z + z * R.cz.z};
  };
  const auto turned = [&](int j) { return combined(joint.entry(0, j), joint.entry(1, j), joint.entry(2, j)); };
  pose.R = {turned(0), turned(1), turned(2)};
  if (is_free(b.joint)) pose.x += combined(joint.position(0), joint.position(1), joint.position(2));
}

JOUNCE_END
