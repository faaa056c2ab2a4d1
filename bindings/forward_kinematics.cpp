#include "bind.hpp"
#include "docs.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

// Poses (..., pose_rows, count, 4, 4) and twists (..., rows, count, 6) of `count` frames from `first` on. pose_rows = -1
// stands for all that v determines, one more than its rows.
nb::tuple forward_kinematics(const CoreModel& model, nb::handle q_, nb::handle v_, int first, int frame_count, int pose_rows,
                             nb::handle frame, nb::handle given_frame) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame"), given_axes = axes_named(given_frame, "frame");
  if (first < 0 || frame_count < 0 || frame_count > int(model.frames().size()) - first) fail("no such frames");
  const bool moving = !v_.is_none() || pose_rows < 0;
  Input q(q_, "q", 1), v = moving ? Input(v_, "v", 2) : Input();
  expect_configuration(tree, q);
  if (moving) expect_stack(tree, v, 1, highest_order + 1, "v, dv/dt, ...");
  const npy_intp rows = moving ? v.size(-2) : 0;
  if (pose_rows < 0 || pose_rows > rows + 1) pose_rows = int(rows) + 1;

  const Input* inputs[] = {&q, &v};
  const Shape batch = broadcast_shape(inputs, moving ? 2 : 1);
  Shape pose_shape = batch, twist_shape = batch;
  pose_shape.insert(pose_shape.end(), {pose_rows, frame_count, 4, 4});
  twist_shape.insert(twist_shape.end(), {rows, frame_count, 6});
  Output pose(nb::none(), pose_shape), twist(nb::none(), twist_shape);

  States given{};
  given.q_step = q.broadcast(batch), given.q = q.data();
  if (moving) given.v_step = given.rest_step = v.broadcast(batch), given.v = v.data(), given.rest = v.data() + tree.nv;
  given.rows = int(rows);
  const std::ptrdiff_t count = product(batch), size = rows * tree.nv;
  const bool change = moving && given_axes != Axes::body && tree.free_joint_count > 0;
  const auto in_body = scratch(change ? count * size : 0);
  States states = given;
  if (change) states.v = in_body.get(), states.rest = in_body.get() + tree.nv, states.v_step = states.rest_step = size;

  const ForwardKinematicsCall call{&tree, states, model.frames().data() + first, frame_count, axes, pose_rows, pose.data(), twist.data()};
  const auto kernel = kernels().forward_kinematics(int(rows) + 1);
  for_each_part(count, cost(tree, rows + 1), kernel.workspace(tree, int(rows), 0),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  if (change)
                    for (std::ptrdiff_t i = begin; i < end; ++i)
                      change_twists(tree, given.q + i * given.q_step, given.v + i * given.v_step, given.rest + i * given.rest_step,
                                    int(rows), given_axes, Axes::body, &in_body[i * size]);
                  kernel.run(call, begin, end, workspace);
                });
  return nb::make_tuple(std::move(pose).object(), std::move(twist).object());
}

}  // namespace

void bind_forward_kinematics(nb::class_<CoreModel>& c) {
  c.def("_forward_kinematics", &forward_kinematics, any("q"), any("v"), nb::arg("first"), nb::arg("count"), nb::arg("pose_rows"),
        any("frame"), any("given_frame"), nb::sig(forward_kinematics_signature));
}

}  // namespace jounce
