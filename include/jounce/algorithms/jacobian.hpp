// The Jacobian of a frame and its time derivatives: the twist of the frame is J v.
//
// Its columns are the screws of the coordinates above the frame, moved to the point that the axes call for: the world origin, the
// frame's own, or the latter in the frame's axes.
#pragma once

#include "jounce/motion/world_frame.hpp"

JOUNCE_BEGIN

// Derivatives 0 .. rows - 1 into out (rows, 6, nv); after WorldFrame::place.
template <class Ring>
void jacobian(const Tree& tree, const WorldFrame<Ring>& world, const Frame& frame, Axes axes, int rows, double* out) {
  using S = typename Ring::Velocity;
  for (std::ptrdiff_t i = 0; i < std::ptrdiff_t(rows) * 6 * tree.nv; ++i) out[i] = 0;
  const Pose<S>& pose = world.pose(frame.body);
  const auto& point = world.point(frame.body);
  const Vec3<S> x = pose.x + apply(pose.R, frame.p);
  const double world_origin[3] = {point.x, point.y, point.z};
  for (int i = frame.body; i >= 0; i = tree.bodies[i].parent) {
    const Body& b = tree.bodies[i];
    for (int c = 0; c < b.count; ++c) {
      Screw<S> J = world.screw(b.screw + c);
      if (axes == Axes::world)
        J.v += cross(world_origin, J.w);
      else
        J.v -= cross(x, J.w);
      if (axes == Axes::body) J = {apply_transpose(frame.R, turn_back(pose.R, J.v)), apply_transpose(frame.R, turn_back(pose.R, J.w))};
      const int column = b.column < tree.nv ? b.column + c : tree.followers[b.column - tree.nv].leader_v;
      const S* parts[6] = {&J.v.x, &J.v.y, &J.v.z, &J.w.x, &J.w.y, &J.w.z};
      for (int r = 0; r < 6; ++r) {
        double coefficients[padded_length<S>];
        parts[r]->store(coefficients);
        for (int k = 0; k < rows; ++k)
          out[(std::ptrdiff_t(k) * 6 + r) * tree.nv + column] += b.ratio * factorial.value[k] * coefficients[k];
      }
    }
  }
}

JOUNCE_END
