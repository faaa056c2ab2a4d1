#include <algorithm>

#include "bind.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

// K, D and M of inverse dynamics along a motion: each (..., nv, nv), or with a stack (..., r + 1, nv, nv).
nb::tuple inverse_dynamics_derivatives(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle a_, nb::handle wrenches_,
                                       nb::handle wrench_frame) {
  const Tree& tree = model.tree();
  const Axes wrench_axes = axes_named(wrench_frame, "wrench_frame");
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
  const int rows = stacked ? int(v.size(-2)) - 1 : 1;
  wrenches.expect(rows);
  std::vector<const Input*> inputs{&q, &v};
  if (!stacked) inputs.push_back(&a);
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs.data(), int(inputs.size()));
  Shape shape = batch;
  if (stacked) shape.push_back(rows);
  shape.insert(shape.end(), {tree.nv, tree.nv});
  Output K(nb::none(), shape), D(nb::none(), shape), M(nb::none(), shape);

  States states{};
  states.q_step = q.broadcast(batch), states.q = q.data();
  states.v_step = v.broadcast(batch), states.v = v.data();
  states.rest_step = stacked ? states.v_step : a.broadcast(batch);
  states.rest = stacked ? v.data() + tree.nv : a.data();
  states.rows = rows + 1;
  wrenches.broadcast(batch);
  const std::ptrdiff_t count = product(batch), wrench_size = std::ptrdiff_t(rows) * wrenches.count() * 6;
  const auto gathered = scratch(count * wrench_size);
  const DerivativesCall call{
      &tree, states, {gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes}, rows, K.data(), D.data(), M.data()};
  const auto kernel = kernels().inverse_dynamics_derivatives(rows);
  for_each_part(count, 4 * cost(tree, rows + 1), kernel.workspace(tree, rows, 0),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  wrenches.gather(begin, end, rows, gathered.get());
                  kernel.run(call, begin, end, workspace);
                });
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(M).object());
}

// da/dq, da/dv and M^-1 at order zero, and a: from tau = M a + h,  da = M^-1 (dtau - K dq - D dv).
nb::tuple forward_dynamics_derivatives(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle tau_, nb::handle wrenches_,
                                       nb::handle wrench_frame) {
  const Tree& tree = model.tree();
  const Axes wrench_axes = axes_named(wrench_frame, "wrench_frame");
  Input q(q_, "q", 1), v(v_, "v", 1), tau(tau_, "tau", 1);
  WrenchArguments wrenches(model, wrenches_, false);
  expect_configuration(tree, q);
  expect_velocity(tree, v);
  expect_velocity(tree, tau);
  wrenches.expect(1);
  std::vector<const Input*> inputs{&q, &v, &tau};
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs.data(), int(inputs.size()));
  Shape row = batch, square = batch;
  row.push_back(tree.nv);
  square.insert(square.end(), {tree.nv, tree.nv});
  Output acc(nb::none(), row), K(nb::none(), square), D(nb::none(), square), inverse(nb::none(), square);

  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), tau_step = tau.broadcast(batch), count = product(batch);
  wrenches.broadcast(batch);
  const std::ptrdiff_t wrench_size = wrenches.count() * 6;
  const auto gathered = scratch(count * wrench_size);
  const Wrenches applied{gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes};
  std::vector<std::int32_t> singular(count, -1), also(count, -1);
  const HybridDynamicsCall forward{&tree,    q.data(), v.data(), nullptr, tau.data(), q_step,     v_step,  0,
                                   tau_step, 1,        nullptr,  applied, Axes::body, acc.data(), nullptr, singular.data()};
  const States states{q.data(), v.data(), acc.data(), q_step, v_step, tree.nv, 2};
  const DerivativesCall derivatives{&tree, states, applied, 1, K.data(), D.data(), inverse.data()};
  const InverseMassMatrixCall inversion{&tree, {q.data(), nullptr, nullptr, q_step, 0, 0, 0}, Axes::body, inverse.data(), also.data()};
  const NegativeProductsCall products{tree.nv, inverse.data(), K.data(), D.data()};
  const auto forward_kernel = kernels().hybrid_dynamics(count > 1);
  const auto derivatives_kernel = kernels().inverse_dynamics_derivatives(1);
  const auto& inverse_kernel = kernels().inverse_mass_matrix;
  const auto& products_kernel = kernels().negative_products;
  const std::size_t workspace_bytes =
      std::max({forward_kernel.workspace(tree, 1, wrenches.count()), derivatives_kernel.workspace(tree, 1, 0),
                inverse_kernel.workspace(tree, 1, 0), products_kernel.workspace(tree, 1, 0)});
  for_each_part(count, 10 * cost(tree, 2), workspace_bytes, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    wrenches.gather(begin, end, 1, gathered.get());
    forward_kernel.run(forward, begin, end, workspace);
    for (std::ptrdiff_t i = begin; i < end; ++i)
      if (singular[i] >= 0) return;
    derivatives_kernel.run(derivatives, begin, end, workspace);
    inverse_kernel.run(inversion, begin, end, workspace);
    products_kernel.run(products, begin, end, workspace);
  });
  expect_regular(model, singular, batch, "forward dynamics");
  expect_regular(model, also, batch, "forward dynamics");
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(inverse).object(), std::move(acc).object());
}

}  // namespace

#define JOUNCE_GIVEN "numpy.typing.ArrayLike"
#define JOUNCE_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define JOUNCE_WRENCHES "wrenches: collections.abc.Mapping[str, " JOUNCE_GIVEN "] | None, wrench_frame: str"

void bind_derivatives(nb::class_<CoreModel>& c) {
  c.def("_inverse_dynamics_derivatives", &inverse_dynamics_derivatives, any("q"), any("v"), any("a"), any("wrenches"), any("wrench_frame"),
        nb::sig("def _inverse_dynamics_derivatives(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", a: " JOUNCE_GIVEN
                " | None, " JOUNCE_WRENCHES ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
  c.def("_forward_dynamics_derivatives", &forward_dynamics_derivatives, any("q"), any("v"), any("tau"), any("wrenches"),
        any("wrench_frame"),
        nb::sig("def _forward_dynamics_derivatives(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", tau: " JOUNCE_GIVEN ", " JOUNCE_WRENCHES
                ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
}

}  // namespace jounce
