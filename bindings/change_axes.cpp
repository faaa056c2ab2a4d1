#include <algorithm>

#include "answers.hpp"
#include "bind.hpp"
#include "docs.hpp"
#include "jounce/motion/motion.hpp"
#include "jounce/ring/arena.hpp"

namespace jounce {
namespace {

// The free joints of one state, with some coefficients of their motion.
struct Space {
  FreeAxes<double> free;
  double *q, *row;
  template <class Arena>
  Space(const Tree& tree, int rows, Arena& arena)
      : free(tree, rows + 1, arena), q(arena.template take<double>(tree.nq)), row(arena.template take<double>(tree.nv)) {}

  static std::size_t workspace(const Tree& tree, int rows) {
    ArenaSize size;
    Space(tree, rows, size);
    return size.bytes();
  }

  void start(const Tree& tree, const double* configuration) {
    std::copy_n(configuration, tree.nq, q);
    for (int j = 0; j < tree.quaternion_count; ++j) normalize_quaternion(q + tree.quaternions[j]);
    free.start(q);
  }
  // Row k of derivatives, as coefficients.
  double* coefficients(const Tree& tree, const double* rows, int k) {
    for (int j = 0; j < tree.nv; ++j) row[j] = factorial.inverse[k] * rows[std::ptrdiff_t(k) * tree.nv + j];
    return row;
  }
  // The inverse; entries of other joints stay as given.
  void write(const Tree& tree, const double* rows, int k, double* out) const {
    out += std::ptrdiff_t(k) * tree.nv;
    std::copy_n(rows + std::ptrdiff_t(k) * tree.nv, tree.nv, out);
    for (int i = 0; i < tree.free_joint_count; ++i)
      for (int j = tree.free_joints[i].v; j < tree.free_joints[i].v + 6; ++j) out[j] = factorial.value[k] * row[j];
  }
};

nb::object change_velocity_frame(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle source, nb::handle target,
                                 nb::handle order) {
  const Tree& tree = model.tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q(q_, "q", 1), v(v_, "v", 2);
  expect_configuration(tree, q);
  expect_stack(tree, v, 1, highest_order + 2, "v, dv/dt, ...");
  const int rows = int(v.size(-2));
  expect_order(order, q, v, true, rows, one_for_each);
  const Inputs inputs{&q, &v};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.append({rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), size = std::ptrdiff_t(rows) * tree.nv;
  Answers("the velocity in other axes", batch, {}, {out.written(batch)})
      .run(cost(tree, rows), Space::workspace(tree, rows),
           [&, q = q.data(), v = v.data(), result = out.data()](std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
             Arena arena(block);
             Space space(tree, rows, arena);
             for (std::ptrdiff_t i = begin; i < end; ++i) {
               space.start(tree, q + i * q_step);
               for (int k = 0; k < rows; ++k) {
                 space.free.change_twists(k, from, to, space.coefficients(tree, v + i * v_step, k));
                 space.write(tree, v + i * v_step, k, result + i * size);
               }
             }
           });
  return std::move(out).object();
}

nb::object change_force_frame(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle tau_, nb::handle source, nb::handle target,
                              nb::handle order) {
  const Tree& tree = model.tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q(q_, "q", 1), v(v_, "v", 2), tau(tau_, "tau", 2);
  expect_configuration(tree, q);
  expect_stack(tree, tau, 1, highest_order + 1, "forces and their derivatives");
  const int force_rows = int(tau.size(-2));
  expect_stack(tree, v, force_rows > 1 ? force_rows - 1 : 1, highest_order + 2, "v, dv/dt, ..., one row fewer than tau at least");
  const int rows = int(v.size(-2));
  expect_order(order, q, tau, true, force_rows, "one force for each state is tau[..., None, :]");
  const Inputs inputs{&q, &v, &tau};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.append({force_rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), tau_step = tau.broadcast(batch);
  const std::ptrdiff_t size = std::ptrdiff_t(force_rows) * tree.nv;
  const int twists = rows < force_rows ? rows : force_rows;
  Answers("the force in other axes", batch, {}, {out.written(batch)})
      .run(cost(tree, rows), Space::workspace(tree, force_rows),
           [&, q = q.data(), v = v.data(), tau = tau.data(), result = out.data()](std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
             Arena arena(block);
             Space space(tree, force_rows, arena);
             for (std::ptrdiff_t i = begin; i < end; ++i) {
               space.start(tree, q + i * q_step);
               for (int k = 0; k < twists; ++k) space.free.change_twists(k, from, from, space.coefficients(tree, v + i * v_step, k));
               for (int k = 0; k < force_rows; ++k) {
                 space.free.change_wrenches(k, from, to, space.coefficients(tree, tau + i * tau_step, k));
                 space.write(tree, tau + i * tau_step, k, result + i * size);
               }
             }
           });
  return std::move(out).object();
}

}  // namespace

void bind_change_axes(nb::class_<CoreModel>& c) {
  c.def("change_velocity_frame", &change_velocity_frame, any("q"), any("v"), any("source"), any("target"), nb::kw_only(),
        nb::arg("order") = nb::none(), nb::sig(change_velocity_frame_signature), change_velocity_frame_doc);
  c.def("change_force_frame", &change_force_frame, any("q"), any("v"), any("tau"), any("source"), any("target"), nb::kw_only(),
        nb::arg("order") = nb::none(), nb::sig(change_force_frame_signature), change_force_frame_doc);
}

}  // namespace jounce
