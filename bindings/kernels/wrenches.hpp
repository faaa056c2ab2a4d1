// External wrenches, from the axes they are given in to world axes, about the fixed point of their body.
#pragma once

#include "jounce/motion/world_frame.hpp"
#include "kernels.hpp"

JOUNCE_BEGIN

// Wrench j of state i, with `rows` derivatives; x is the origin of the frame that it acts on, which is not fixed in the world.
template <class Ring>
JOUNCE_NOINLINE Screw<typename Ring::Velocity> wrench_in_world(const Wrenches& in, std::ptrdiff_t i, int j, int rows,
                                                               const WorldFrame<Ring>& world, Vec3<typename Ring::Velocity>& x) {
  using S = typename Ring::Velocity;
  const Frame& frame = in.frames[j];
  const double* value = in.value + i * in.step + 6 * j;
  double c[6][Ring::padded] = {};
  for (int k = 0; k < rows; ++k)
    for (int l = 0; l < 6; ++l) c[l][k] = factorial.inverse[k] * value[k * in.count * 6 + l];
  Screw<S> f{{S::load(c[0]), S::load(c[1]), S::load(c[2])}, {S::load(c[3]), S::load(c[4]), S::load(c[5])}};
  const Pose<S>& pose = world.pose(frame.body);
  x = pose.x + apply(pose.R, frame.p);
  if (in.axes == Axes::world) {
    const Vec3<double>& point = world.point(frame.body);
    const double p[3] = {point.x, point.y, point.z};
    f.w -= cross(p, f.v);
    return f;
  }
  if (in.axes == Axes::body) f = {turn(pose.R, apply(frame.R, f.v)), turn(pose.R, apply(frame.R, f.w))};
  f.w += cross(x, f.v);
  return f;
}

JOUNCE_END
