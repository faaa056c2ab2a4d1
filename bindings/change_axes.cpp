#include "bind.hpp"
#include "docs.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

nb::object change_velocity_frame(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle source, nb::handle target) {
  const Tree& tree = model.tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q(q_, "q", 1), v(v_, "v", 2);
  expect_configuration(tree, q);
  expect_stack(tree, v, 1, highest_order + 2, "v, dv/dt, ...");
  const int rows = int(v.size(-2));
  const Inputs inputs{&q, &v};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.append({rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), size = std::ptrdiff_t(rows) * tree.nv;
  for_each_part(out.states(batch), cost(tree, rows), 0,
                [&, q = q.data(), v = v.data(), result = out.data()](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
                  for (std::ptrdiff_t i = begin; i < end; ++i)
                    change_twists(tree, q + i * q_step, v + i * v_step, v + i * v_step + tree.nv, rows, from, to, result + i * size);
                });
  return std::move(out).object();
}

nb::object change_force_frame(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle tau_, nb::handle source, nb::handle target) {
  const Tree& tree = model.tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q(q_, "q", 1), v(v_, "v", 2), tau(tau_, "tau", 2);
  expect_configuration(tree, q);
  expect_stack(tree, tau, 1, highest_order + 1, "forces and their derivatives");
  const int force_rows = int(tau.size(-2));
  expect_stack(tree, v, force_rows > 1 ? force_rows - 1 : 1, highest_order + 2, "v, dv/dt, ..., one row fewer than tau at least");
  const int rows = int(v.size(-2));
  const Inputs inputs{&q, &v, &tau};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.append({force_rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), tau_step = tau.broadcast(batch);
  const std::ptrdiff_t size = std::ptrdiff_t(force_rows) * tree.nv;
  for_each_part(out.states(batch), cost(tree, rows), 0,
                [&, q = q.data(), v = v.data(), tau = tau.data(), result = out.data()](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
                  for (std::ptrdiff_t i = begin; i < end; ++i) {
                    for (std::ptrdiff_t j = 0; j < size; ++j) result[i * size + j] = tau[i * tau_step + j];
                    change_wrenches(tree, q + i * q_step, v + i * v_step, rows, from, from, to, result + i * size, force_rows);
                  }
                });
  return std::move(out).object();
}

}  // namespace

void bind_change_axes(nb::class_<CoreModel>& c) {
  c.def("change_velocity_frame", &change_velocity_frame, any("q"), any("v"), any("source"), any("target"),
        nb::sig(change_velocity_frame_signature), change_velocity_frame_doc);
  c.def("change_force_frame", &change_force_frame, any("q"), any("v"), any("tau"), any("source"), any("target"),
        nb::sig(change_force_frame_signature), change_force_frame_doc);
}

}  // namespace jounce
