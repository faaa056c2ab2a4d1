// A rigid body's own equations in its own axes, over any ring: W = [w'] + [w]^2, and the wrench that its motion requires,
//   f = m a + W h,   n = h x a + axial(W J),
// with a the classical acceleration of its origin, h and J the first and second moments of its mass.
#pragma once

#include "jounce/spatial/vec3.hpp"
#include "jounce/tree/tree.hpp"

JOUNCE_BEGIN

// W from the entries of w w^T and from w' = (ax, ay, az).
template <class S>
JOUNCE_INLINE Mat3<S> acceleration_matrix(const S& xx, const S& yy, const S& zz, const S& xy, const S& xz, const S& yz, const S& ax,
                                          const S& ay, const S& az) {
  return {{-(yy + zz), xy + az, xz - ay}, {xy - az, -(xx + zz), yz + ax}, {xz + ay, yz - ax, -(xx + yy)}};
}

template <class S>
JOUNCE_INLINE void newton_euler(const Body& b, const Vec3<S>& a, const Mat3<S>& W, Vec3<S>& f, Vec3<S>& n) {
  const double xx = b.second[0], yy = b.second[1], zz = b.second[2], xy = b.second[3], xz = b.second[4], yz = b.second[5];
  f = plus_apply(b.mass * a, W, b.first);
  const Vec3<S> t = cross(b.first, a);
  n = {t.x + yy * W.cy.z - zz * W.cz.y + xy * W.cx.z - xz * W.cx.y + yz * (W.cz.z - W.cy.y),
       t.y + zz * W.cz.x - xx * W.cx.z + yz * W.cy.x - xy * W.cy.z + xz * (W.cx.x - W.cz.z),
       t.z + xx * W.cx.y - yy * W.cy.x + xz * W.cz.y - yz * W.cz.x + xy * (W.cy.y - W.cx.x)};
}

JOUNCE_END
