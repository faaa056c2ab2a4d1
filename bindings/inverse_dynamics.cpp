#include <algorithm>
#include <atomic>

#include "answers.hpp"
#include "bind.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

nb::object inverse_dynamics(const CoreModel& model, nb::handle q, nb::handle v, nb::handle a, nb::handle wrenches_, nb::handle wrench_frame,
                            nb::handle frame, nb::handle order, nb::handle out_) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame"), wrench_axes = axes_named(wrench_frame, "wrench_frame");
  MovingStates moving(model, q, v, a, axes);
  WrenchArguments wrenches(model, wrenches_, moving.stacked());
  moving.expect_shapes(highest_order + 2);
  const int rows = moving.rows();
  moving.expect_order(order, rows - 1);
  wrenches.expect(rows - 1);

  Inputs inputs;
  moving.add_to(inputs);
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  if (moving.stacked()) shape.push_back(rows - 1);
  shape.push_back(tree.nv);
  Output out(out_, shape);
  out.expect_apart(inputs);
  if (product(batch) == 0) moving.expect_numbers();  // not checked below
  moving.broadcast(batch);
  wrenches.broadcast(batch);

  const std::ptrdiff_t count = out.states(batch), size = std::ptrdiff_t(rows - 1) * tree.nv,
                       wrench_size = (rows - 1) * wrenches.count() * 6;
  const auto gathered = scratch(count * wrench_size);
  const States& states = moving.states();
  const Wrenches applied{gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes};
  const InverseDynamicsCall call{&tree, states, applied, out.data()};
  const WrenchesToBodyCall to_body{&tree, states, applied, rows - 1, gathered.get()};

  const auto kernel = kernels().inverse_dynamics(rows, count > 1);
  std::size_t workspace_bytes = kernel.workspace(call);
  const bool turn_wrenches = wrenches.count() > 0 && wrench_axes != Axes::body;
  const auto wrench_kernel = turn_wrenches ? kernels().wrenches_to_body(rows - 1, false) : Kernel<WrenchesToBodyCall>{};
  if (turn_wrenches) workspace_bytes = std::max(workspace_bytes, wrench_kernel.workspace(to_body));
  std::atomic<bool> numbers = true;
  const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    if (!moving.are_numbers(begin, end)) {
      std::fill(call.tau + begin * size, call.tau + end * size, 0.0);
      numbers = false;
      return;
    }
    wrenches.gather(begin, end, rows - 1, gathered.get());
    if (turn_wrenches) wrench_kernel.run(to_body, begin, end, workspace);
    kernel.run(call, begin, end, workspace);
  };
  Answers("inverse dynamics", batch, {states.q, states.q_step}, {out.written(batch, rows - 1)})
      .run(cost(tree, rows), workspace_bytes, part);
  if (!numbers) moving.expect_numbers();
  return std::move(out).object();
}

}  // namespace

void bind_inverse_dynamics(nb::class_<CoreModel>& c) {
  c.def("inverse_dynamics", watched<&inverse_dynamics>, any("q"), any("v"), nb::arg("a") = nb::none(), nb::kw_only(),
        nb::arg("wrenches") = nb::none(), nb::arg("wrench_frame").none() = "body", nb::arg("frame").none() = "body",
        nb::arg("order") = nb::none(), nb::arg("out") = nb::none(), nb::sig(inverse_dynamics_signature), inverse_dynamics_doc);
}

}  // namespace jounce
