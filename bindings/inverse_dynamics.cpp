#include <algorithm>

#include "bind.hpp"
#include "docs.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

nb::object inverse_dynamics(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle a_, nb::handle wrenches_,
                            nb::handle wrench_frame, nb::handle frame, nb::handle out_) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame"), wrench_axes = axes_named(wrench_frame, "wrench_frame");
  const bool stacked = a_.is_none();
  Input q(q_, "q", 1), v(v_, "v", stacked ? 2 : 1), a = stacked ? Input() : Input(a_, "a", 1);
  WrenchArguments wrenches(model, wrenches_, stacked);

  expect_configuration(tree, q);
  if (stacked) {
    expect_stack(tree, v, 2, highest_order + 2, "v, dv/dt, ... (or v and a apart)");
  } else {
    expect_velocity(tree, v);
    expect_velocity(tree, a);
  }
  const npy_intp rows = stacked ? v.size(-2) : 2;
  wrenches.expect(rows - 1);

  std::vector<const Input*> inputs{&q, &v};
  if (!stacked) inputs.push_back(&a);
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs.data(), int(inputs.size()));
  Shape shape = batch;
  if (stacked) shape.push_back(rows - 1);
  shape.push_back(tree.nv);
  Output out(out_, shape);
  out.expect_apart(inputs);

  States given;
  given.q_step = q.broadcast(batch), given.q = q.data();
  given.v_step = v.broadcast(batch), given.v = v.data();
  given.rest_step = stacked ? given.v_step : a.broadcast(batch);
  given.rest = stacked ? v.data() + tree.nv : a.data();
  given.rows = int(rows);
  wrenches.broadcast(batch);

  const std::ptrdiff_t count = product(batch), size = rows * tree.nv, wrench_size = (rows - 1) * wrenches.count() * 6;
  const bool change = axes != Axes::body && tree.free_joint_count > 0;
  const auto in_body = scratch(change ? count * size : 0), gathered = scratch(count * wrench_size);
  States states = given;
  if (change) states.v = in_body.get(), states.rest = in_body.get() + tree.nv, states.v_step = states.rest_step = size;
  const Wrenches applied{gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes};
  const InverseDynamicsCall call{&tree, states, applied, out.data()};
  const WrenchesToBodyCall to_body{&tree, states, applied, int(rows) - 1, gathered.get()};

  const auto kernel = kernels().inverse_dynamics(int(rows) - 2, count > 1);
  const auto wrench_kernel = kernels().wrenches_to_body(int(rows) - 1);
  const bool turn_wrenches = wrenches.count() > 0 && wrench_axes != Axes::body;
  const std::size_t workspace_bytes =
      std::max(kernel.workspace(tree, int(rows), 0), turn_wrenches ? wrench_kernel.workspace(tree, int(rows), 0) : 0);
  for_each_part(count, cost(tree, rows), workspace_bytes, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    wrenches.gather(begin, end, rows - 1, gathered.get());
    if (change)
      for (std::ptrdiff_t i = begin; i < end; ++i)
        change_twists(tree, given.q + i * given.q_step, given.v + i * given.v_step, given.rest + i * given.rest_step, int(rows), axes,
                      Axes::body, &in_body[i * size]);
    if (turn_wrenches) wrench_kernel.run(to_body, begin, end, workspace);
    kernel.run(call, begin, end, workspace);
    if (change)
      for (std::ptrdiff_t i = begin; i < end; ++i)
        change_wrenches(tree, given.q + i * given.q_step, &in_body[i * size], int(rows), Axes::body, Axes::body, axes,
                        call.tau + i * (rows - 1) * tree.nv, int(rows) - 1);
  });
  return std::move(out).object();
}

}  // namespace

void bind_inverse_dynamics(nb::class_<CoreModel>& c) {
  c.def("inverse_dynamics", &inverse_dynamics, any("q"), any("v"), nb::arg("a") = nb::none(), nb::kw_only(),
        nb::arg("wrenches") = nb::none(), nb::arg("wrench_frame").none() = "body", nb::arg("frame").none() = "body",
        nb::arg("out") = nb::none(), nb::sig(inverse_dynamics_signature), inverse_dynamics_doc);
}

}  // namespace jounce
