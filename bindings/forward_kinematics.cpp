#include <nanobind/stl/vector.h>

#include <algorithm>

#include "answers.hpp"
#include "bind.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

// Poses (..., pose_rows, count, 4, 4) and twists (..., rows, count, 6) of frames. pose_rows = -1 stands for all that v determines, one
// more than its rows; pose_rows = 0 are twists alone, (..., count, 6) of a plain velocity.
nb::tuple motion_of(const CoreModel& model, nb::handle q_, nb::handle v_, const Frame* frames, int frame_count, int pose_rows,
                    nb::handle frame, nb::handle velocity_frame, nb::handle order) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  const Axes velocity_axes = velocity_frame.is_none() && v_.is_none() ? axes : velocity_axes_named(tree, velocity_frame, axes);
  const bool moving = !v_.is_none() || pose_rows < 0;
  using Velocity = MovingStates::Velocity;
  const Velocity kind = !moving ? Velocity::none : pose_rows == 1 ? Velocity::stack : Velocity::stack_or_row;
  MovingStates motion(model, q_, v_, kind, velocity_axes);
  motion.expect(highest_order + 1);
  motion.expect_order(order, pose_rows < 0 || !moving ? motion.rows() + 1 : motion.rows());
  Inputs inputs;
  motion.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  motion.broadcast(batch);
  const int rows = motion.rows();
  const bool plain = kind == Velocity::stack_or_row && !motion.stacked() && pose_rows == 0;
  if (pose_rows < 0 || pose_rows > rows + 1) pose_rows = rows + 1;
  Shape pose_shape = batch, twist_shape = batch;
  pose_shape.append({pose_rows, frame_count, 4, 4});
  if (!plain) twist_shape.push_back(rows);
  twist_shape.append({frame_count, 6});
  Output pose(nb::none(), pose_shape), twist(nb::none(), twist_shape);

  const ForwardKinematicsCall call{&tree, motion.states(), frames, frame_count, axes, pose_rows, pose.data(), twist.data()};
  const auto kernel = kernels().forward_kinematics(rows + 1, false);
  Answers("the motion of frames", batch, {motion.states().q, motion.states().q_step},
          {pose.written(batch, std::max(1, pose_rows)), twist.written(batch, std::max(1, rows))})
      .run(cost(tree, rows + 1), kernel.workspace(call),
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return nb::make_tuple(std::move(pose).object(), std::move(twist).object());
}

// Of `count` frames from `first` on.
nb::tuple forward_kinematics(const CoreModel& model, nb::handle q, nb::handle v, int first, int count, int pose_rows, nb::handle frame,
                             nb::handle velocity_frame, nb::handle order) {
  if (first < 0 || count < 0 || count > int(model.frames().size()) - first) fail("no such frames");
  return motion_of(model, q, v, model.frames().data() + first, count, pose_rows, frame, velocity_frame, order);
}

// Of the frames with these indices.
nb::tuple forward_kinematics_of(const CoreModel& model, nb::handle q, nb::handle v, const std::vector<int>& indices, int pose_rows,
                                nb::handle frame, nb::handle velocity_frame, nb::handle order) {
  std::vector<Frame> frames;
  frames.reserve(indices.size());
  for (int i : indices) {
    if (i < 0 || i >= int(model.frames().size())) fail("no such frames");
    frames.push_back(model.frames()[i]);
  }
  return motion_of(model, q, v, frames.data(), int(frames.size()), pose_rows, frame, velocity_frame, order);
}

}  // namespace

void bind_forward_kinematics(nb::class_<CoreModel>& c) {
  const auto order = nb::arg("order") = nb::none();
  c.def("_forward_kinematics", watched<&forward_kinematics>, any("q"), any("v"), nb::arg("first"), nb::arg("count"), nb::arg("pose_rows"),
        any("frame"), any("velocity_frame"), order, nb::sig(forward_kinematics_signature));
  c.def("_forward_kinematics_of", watched<&forward_kinematics_of>, any("q"), any("v"), nb::arg("indices"), nb::arg("pose_rows"),
        any("frame"), any("velocity_frame"), order, nb::sig(forward_kinematics_of_signature));
}

}  // namespace jounce
