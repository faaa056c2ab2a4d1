#include <algorithm>

#include "answers.hpp"
#include "bind.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

// Poses (..., pose_rows, count, 4, 4) and twists (..., rows, count, 6) of `count` frames from `first` on. pose_rows = -1
// stands for all that v determines, one more than its rows.
nb::tuple forward_kinematics(const CoreModel& model, nb::handle q_, nb::handle v_, int first, int frame_count, int pose_rows,
                             nb::handle frame, nb::handle velocity_frame) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  const Axes velocity_axes = velocity_frame.is_none() && v_.is_none() ? axes : velocity_axes_named(tree, velocity_frame, axes);
  if (first < 0 || frame_count < 0 || frame_count > int(model.frames().size()) - first) fail("no such frames");
  const bool moving = !v_.is_none() || pose_rows < 0;
  MovingStates motion(model, q_, v_, moving ? MovingStates::Velocity::stack : MovingStates::Velocity::none, velocity_axes);
  motion.expect(highest_order + 1);
  Inputs inputs;
  motion.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  motion.broadcast(batch);
  const int rows = motion.rows();
  if (pose_rows < 0 || pose_rows > rows + 1) pose_rows = rows + 1;
  Shape pose_shape = batch, twist_shape = batch;
  pose_shape.append({pose_rows, frame_count, 4, 4});
  twist_shape.append({rows, frame_count, 6});
  Output pose(nb::none(), pose_shape), twist(nb::none(), twist_shape);

  const ForwardKinematicsCall call{&tree,       motion.states(), model.frames().data() + first, frame_count, axes, pose_rows,
                                   pose.data(), twist.data()};
  const auto kernel = kernels().forward_kinematics(rows + 1, false);
  Answers("the motion of frames", batch, {motion.states().q, motion.states().q_step},
          {pose.written(batch, std::max(1, pose_rows)), twist.written(batch, std::max(1, rows))})
      .run(cost(tree, rows + 1), kernel.workspace(call),
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return nb::make_tuple(std::move(pose).object(), std::move(twist).object());
}

}  // namespace

void bind_forward_kinematics(nb::class_<CoreModel>& c) {
  c.def("_forward_kinematics", watched<&forward_kinematics>, any("q"), any("v"), nb::arg("first"), nb::arg("count"), nb::arg("pose_rows"),
        any("frame"), any("velocity_frame"), nb::sig(forward_kinematics_signature));
}

}  // namespace jounce
