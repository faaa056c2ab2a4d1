// Linear steps, part by part.
//
// A series consists of parts: its coefficients, or the registers that hold several of them. A map with constant coefficients acts on
// each part alike; applied to one part at a time, it keeps everything it needs in registers, however long the series is.
#pragma once

#include "jounce/ring/series.hpp"
#include "jounce/spatial/vec3.hpp"

JOUNCE_BEGIN

template <class S>
JOUNCE_INLINE Vec3<typename S::Part> part(const Vec3<S>& u, int i) {
  return {in_register(u.x.part(i)), in_register(u.y.part(i)), in_register(u.z.part(i))};
}
template <class S>
JOUNCE_INLINE Mat3<typename S::Part> part(const Mat3<S>& M, int i) {
  return {part(M.cx, i), part(M.cy, i), part(M.cz, i)};
}
template <class S>
JOUNCE_INLINE void set_part(Vec3<S>& u, int i, const Vec3<typename S::Part>& x) {
  u.x.part(i) = x.x;
  u.y.part(i) = x.y;
  u.z.part(i) = x.z;
}
template <class S>
JOUNCE_INLINE void set_part(Mat3<S>& M, int i, const Mat3<typename S::Part>& X) {
  set_part(M.cx, i, X.cx);
  set_part(M.cy, i, X.cy);
  set_part(M.cz, i, X.cz);
}

JOUNCE_END
