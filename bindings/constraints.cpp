#include "answers.hpp"
#include "bind.hpp"
#include "consistency.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

using Velocity = MovingStates::Velocity;

// The Jacobian of all constraints with derivatives, (..., K + 1, rows, nv) for a stack v of K rows, or (..., 1, rows, nv) without one;
// the residuals of q, (..., rows); and the wrenches of unit multipliers, (..., rows, 6), in world axes about the world's origin.
nb::object constraint_rows(const CoreModel& model, nb::handle q, nb::handle v, nb::handle frame, nb::handle order) {
  const Tree& tree = model.tree();
  const Constraints& constraints = model.constraints();
  MovingStates moving(model, q, v, v.is_none() ? Velocity::none : Velocity::stack_or_row, axes_named(frame, "frame"));
  moving.expect(highest_order);
  moving.expect_order(order, moving.rows() + 1);
  Inputs inputs;
  moving.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  moving.broadcast(batch);
  const int rows = moving.rows() + 1;
  Shape shape = batch, residual_shape = batch, wrench_shape = batch;
  shape.append({rows, constraints.rows, tree.nv});
  residual_shape.push_back(constraints.rows);
  wrench_shape.append({constraints.rows, 6});
  Output jacobian(nb::none(), shape), residual(nb::none(), residual_shape), wrench(nb::none(), wrench_shape);
  std::vector<std::int32_t> flat(std::size_t(product(batch)), -1);
  const ConstraintRowsCall call{&tree, &constraints, moving.states(), rows, jacobian.data(), residual.data(), wrench.data(), flat.data()};
  const auto kernel = kernels().constraint_rows(rows, false);
  Answers("the constraints' Jacobian", batch, {moving.states().q, moving.states().q_step},
          {jacobian.written(batch, rows), residual.written(batch), wrench.written(batch)})
      .run(2 * cost(tree, rows), kernel.workspace(call),
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  for (std::size_t i = 0; i < flat.size(); ++i) expect_upright(model, flat[i], batch, std::ptrdiff_t(i));
  return nb::make_tuple(std::move(jacobian).object(), std::move(residual).object(), std::move(wrench).object());
}

nb::object sizes(const std::vector<double>& from) {
  Output out(nb::none(), Shape{std::ptrdiff_t(from.size())});
  std::copy(from.begin(), from.end(), out.data());
  return std::move(out).object();
}

}  // namespace

void bind_constraints(nb::class_<CoreModel>& c) {
  c.def("_constraint_rows", watched<&constraint_rows>, any("q"), any("v"), any("frame"), nb::arg("order") = nb::none(),
        nb::sig(constraint_rows_signature));
  c.def(
      "_natural_sizes",
      [](const CoreModel& model) {
        const NaturalSizes& of = model.sizes();
        return nb::make_tuple(sizes(of.rows), sizes(of.coordinates), sizes(of.loads), of.length);
      },
      nb::sig("def _natural_sizes(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
              "numpy.typing.NDArray[numpy.float64], float]"),
      "Natural sizes of the constraints' rows (rows,), of the coordinates (nv,) and of the rows' loads (rows,); the robot's length.");
}

}  // namespace jounce
