#include <algorithm>

#include "bind.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

// The upper left block of A: -ad_v for free and spherical joints.
void subtract_brackets(const Tree& tree, const double* v, double* A) {
  const std::ptrdiff_t step = 2 * tree.nv;
  const auto skew = [&](int row, int column, const double* u) {
    for (int i = 0; i < 3; ++i) {
      A[(row + (i + 1) % 3) * step + column + (i + 2) % 3] += u[i];
      A[(row + (i + 2) % 3) * step + column + (i + 1) % 3] -= u[i];
    }
  };
  for (int i = 0; i < tree.size; ++i) {
    const int at = tree.bodies[i].v;
    if (tree.bodies[i].joint == Joint::spherical) skew(at, at, v + at);
    if (tree.bodies[i].joint == Joint::free) {
      skew(at, at, v + at + 3);
      skew(at, at + 3, v + at);
      skew(at + 3, at + 3, v + at + 3);
    }
  }
}

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

// Forward dynamics and its derivatives at order zero: from tau = M a + h,  da = M^-1 (dtau - K dq - D dv).
class ForwardDerivatives {
 public:
  ForwardDerivatives(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle wrenches, nb::handle wrench_frame)
      : model_(model),
        tree_(model.tree()),
        wrench_axes_(axes_named(wrench_frame, "wrench_frame")),
        q_(q, "q", 1),
        v_(v, "v", 1),
        tau_(tau, "tau", 1),
        wrenches_(model, wrenches, false) {
    expect_configuration(tree_, q_);
    expect_velocity(tree_, v_);
    expect_velocity(tree_, tau_);
    wrenches_.expect(1);
    std::vector<const Input*> inputs{&q_, &v_, &tau_};
    wrenches_.add_to(inputs);
    batch_ = broadcast_shape(inputs.data(), int(inputs.size()));
    q_step_ = q_.broadcast(batch_), v_step_ = v_.broadcast(batch_), tau_step_ = tau_.broadcast(batch_);
    wrenches_.broadcast(batch_);
  }

  const Shape& batch() const { return batch_; }

  // acc (nv), and K, D, inverse (nv, nv) a state; then(begin, end) is called for states that are done.
  template <class Then>
  void run(double* acc, double* K, double* D, double* inverse, const Then& then) const {
    const std::ptrdiff_t count = product(batch_), wrench_size = wrenches_.count() * 6;
    const auto gathered = scratch(count * wrench_size);
    std::vector<std::int32_t> singular(count, -1);
    const ForwardDerivativesCall call{&tree_,
                                      {q_.data(), v_.data(), nullptr, q_step_, v_step_, 0, 1},
                                      tau_.data(),
                                      tau_step_,
                                      {gathered.get(), wrench_size, wrenches_.frames(), wrenches_.count(), wrench_axes_},
                                      acc,
                                      K,
                                      D,
                                      inverse,
                                      singular.data()};
    const auto& kernel = kernels().forward_dynamics_derivatives;
    for_each_part(count, 10 * cost(tree_, 2), kernel.workspace(tree_, 1, 0),
                  [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                    wrenches_.gather(begin, end, 1, gathered.get());
                    kernel.run(call, begin, end, workspace);
                    if (std::any_of(singular.begin() + begin, singular.begin() + end, [](int body) { return body >= 0; })) return;
                    then(begin, end);
                  });
    expect_regular(model_, singular, batch_, "forward dynamics");
  }

  const double* v(std::ptrdiff_t i) const { return v_.data() + i * v_step_; }

 private:
  const CoreModel& model_;
  const Tree& tree_;
  Axes wrench_axes_;
  Input q_, v_, tau_;
  WrenchArguments wrenches_;
  Shape batch_;
  std::ptrdiff_t q_step_, v_step_, tau_step_;
};

// da/dq, da/dv, M^-1 and a.
nb::tuple forward_dynamics_derivatives(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle wrenches,
                                       nb::handle wrench_frame) {
  const ForwardDerivatives derivatives(model, q, v, tau, wrenches, wrench_frame);
  Shape row = derivatives.batch(), square = row;
  row.push_back(model.tree().nv);
  square.insert(square.end(), {model.tree().nv, model.tree().nv});
  Output acc(nb::none(), row), K(nb::none(), square), D(nb::none(), square), inverse(nb::none(), square);
  derivatives.run(acc.data(), K.data(), D.data(), inverse.data(), [](std::ptrdiff_t, std::ptrdiff_t) {});
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(inverse).object(), std::move(acc).object());
}

// A (2 nv, 2 nv) and B (2 nv, columns) of paper B's Proposition 1, and a.
nb::tuple linearize(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, const std::vector<int>& columns,
                    nb::handle wrenches, nb::handle wrench_frame) {
  const Tree& tree = model.tree();
  const std::ptrdiff_t nv = tree.nv, nu = std::ptrdiff_t(columns.size());
  for (int c : columns)
    if (c < 0 || c >= nv) fail("no such column");
  const ForwardDerivatives derivatives(model, q, v, tau, wrenches, wrench_frame);
  Shape row = derivatives.batch(), A_shape = row, B_shape = row;
  row.push_back(nv);
  A_shape.insert(A_shape.end(), {2 * nv, 2 * nv});
  B_shape.insert(B_shape.end(), {2 * nv, nu});
  Output acc(nb::none(), row), A(nb::none(), A_shape), B(nb::none(), B_shape);
  const std::ptrdiff_t size = nv * nv, count = product(derivatives.batch());
  const auto blocks = scratch(3 * count * size);
  double *K = blocks.get(), *D = K + count * size, *inverse = D + count * size;
  derivatives.run(acc.data(), K, D, inverse, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      double *a = A.data() + i * 4 * size, *b = B.data() + i * 2 * nv * nu;
      std::fill(a, a + 2 * size, 0.0);
      std::fill(b, b + nv * nu, 0.0);
      for (std::ptrdiff_t r = 0; r < nv; ++r) {
        a[r * 2 * nv + nv + r] = 1;
        double* lower = a + (nv + r) * 2 * nv;
        std::copy(K + i * size + r * nv, K + i * size + (r + 1) * nv, lower);
        std::copy(D + i * size + r * nv, D + i * size + (r + 1) * nv, lower + nv);
        for (std::ptrdiff_t c = 0; c < nu; ++c) b[(nv + r) * nu + c] = inverse[i * size + r * nv + columns[c]];
      }
      subtract_brackets(tree, derivatives.v(i), a);
    }
  });
  return nb::make_tuple(std::move(A).object(), std::move(B).object(), std::move(acc).object());
}

// (..., r + 1, nv, 10 bodies)
nb::object regressor(const CoreModel& model, nb::handle q, nb::handle v, nb::handle frame) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  MovingStates moving(model, q, v, MovingStates::Velocity::stack, axes);
  moving.expect(highest_order + 2);
  std::vector<const Input*> inputs;
  moving.add_to(inputs);
  const Shape batch = broadcast_shape(inputs.data(), int(inputs.size()));
  moving.broadcast(batch);
  const int rows = moving.rows() - 1, bodies = model.body_count();
  if (rows < 1) fail("v has 1 row, expected at least two: v, dv/dt, ...");
  Shape shape = batch;
  shape.insert(shape.end(), {rows, tree.nv, 10 * bodies});
  Output out(nb::none(), shape);
  const RegressorCall call{&tree, moving.states(), axes, model.frames().data(), bodies, rows, out.data()};
  const auto kernel = kernels().regressor(rows);
  for_each_part(product(batch), 10 * cost(tree, rows + 1), kernel.workspace(tree, rows, bodies),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  moving.to_body_axes(begin, end);
                  kernel.run(call, begin, end, workspace);
                });
  return std::move(out).object();
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
  c.def("_regressor", &regressor, any("q"), any("v"), any("frame"),
        nb::sig("def _regressor(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", frame: str) -> " JOUNCE_ARRAY));
  c.def("_linearize", &linearize, any("q"), any("v"), any("tau"), nb::arg("columns"), any("wrenches"), any("wrench_frame"),
        nb::sig("def _linearize(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", tau: " JOUNCE_GIVEN ", columns: list[int], " JOUNCE_WRENCHES
                ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
}

}  // namespace jounce
