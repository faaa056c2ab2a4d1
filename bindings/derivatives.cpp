#include <nanobind/stl/vector.h>

#include <algorithm>

#include "answers.hpp"
#include "bind.hpp"
#include "consistency.hpp"

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
nb::tuple inverse_dynamics_derivatives(const CoreModel& model, nb::handle q, nb::handle v, nb::handle a, nb::handle wrenches_,
                                       nb::handle wrench_frame, nb::handle order) {
  const Tree& tree = model.tree();
  const Axes wrench_axes = axes_named(wrench_frame, "wrench_frame");
  MovingStates moving(model, q, v, a, Axes::body);
  WrenchArguments wrenches(model, wrenches_, moving.stacked());
  moving.expect(highest_order + 2);
  const int rows = moving.rows() - 1;
  moving.expect_order(order, rows);
  wrenches.expect(rows);
  Inputs inputs;
  moving.add_to(inputs);
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  if (moving.stacked()) shape.push_back(rows);
  shape.append({tree.nv, tree.nv});
  Output K(nb::none(), shape), D(nb::none(), shape), M(nb::none(), shape);
  moving.broadcast(batch);
  wrenches.broadcast(batch);
  const std::ptrdiff_t count = K.states(batch), wrench_size = std::ptrdiff_t(rows) * wrenches.count() * 6;
  const auto gathered = scratch(count * wrench_size);
  const DerivativesCall call{&tree,   moving.states(), {gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes},
                             rows,    K.data(),        D.data(),
                             M.data()};
  const auto kernel = kernels().inverse_dynamics_derivatives(rows, false);
  Answers("the derivative of inverse dynamics", batch, {moving.states().q, moving.states().q_step},
          {K.written(batch, rows), D.written(batch, rows), M.written(batch, rows)})
      .run(4 * cost(tree, rows + 1), kernel.workspace(call), [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
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
    Inputs inputs{&q_, &v_, &tau_};
    wrenches_.add_to(inputs);
    batch_ = broadcast_shape(inputs);
    q_step_ = q_.broadcast(batch_), v_step_ = v_.broadcast(batch_), tau_step_ = tau_.broadcast(batch_);
    wrenches_.broadcast(batch_);
  }

  const Shape& batch() const { return batch_; }
  Shapes shapes() const { return {q_.data(), q_step_, true}; }

  // acc (nv) and the blocks for each state; then(begin, end) is called for states that are done.
  template <class Then>
  void run(const Answers& answers, double* acc, Block K, Block D, Block inverse, const Then& then) const {
    run(answers, kernels().forward_dynamics_derivatives(1, false), acc, K, D, inverse, [](const auto& call) { return call; }, then);
  }

  // The same with a kernel whose call is made from that of the plain one.
  template <class Kernel, class With, class Then>
  void run(const Answers& answers, const Kernel& kernel, double* acc, Block K, Block D, Block inverse, const With& with,
           const Then& then) const {
    const std::ptrdiff_t count = tree_.nv == 0 ? 0 : product(batch_), wrench_size = wrenches_.count() * 6;
    const auto gathered = scratch(count * wrench_size);
    std::vector<Solvability> equations(count);
    const ForwardDerivativesCall plain{&tree_,
                                       {q_.data(), v_.data(), nullptr, q_step_, v_step_, 0, 1, Axes::body},
                                       tau_.data(),
                                       tau_step_,
                                       {gathered.get(), wrench_size, wrenches_.frames(), wrenches_.count(), wrench_axes_},
                                       acc,
                                       K,
                                       D,
                                       inverse,
                                       equations.data()};
    const auto call = with(plain);
    answers.run(10 * cost(tree_, 2), kernel.workspace(call), model_, equations,
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  wrenches_.gather(begin, end, 1, gathered.get());
                  kernel.run(call, begin, end, workspace);
                  then(begin, end);
                });
  }

  const double* q(std::ptrdiff_t i) const { return q_.data() + i * q_step_; }
  const double* v(std::ptrdiff_t i) const { return v_.data() + i * v_step_; }
  const double* tau(std::ptrdiff_t i) const { return tau_.data() + i * tau_step_; }

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
  square.append({model.tree().nv, model.tree().nv});
  Output acc(nb::none(), row), K(nb::none(), square), D(nb::none(), square), inverse(nb::none(), square);
  const std::ptrdiff_t nv = model.tree().nv;
  const auto block = [nv](const Output& x) { return Block{x.data(), nv, nv * nv}; };
  const Shape& batch = derivatives.batch();
  const Answers answers("the derivative of forward dynamics", batch, derivatives.shapes(),
                        {acc.written(batch, by_the_way), K.written(batch), D.written(batch), inverse.written(batch)});
  derivatives.run(answers, acc.data(), block(K), block(D), block(inverse), [](std::ptrdiff_t, std::ptrdiff_t) {});
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(inverse).object(), std::move(acc).object());
}

// da/dq, da/dv, da/dtau and a under constraints whose rows are constant; their forces (..., count, 6) and the derivatives of these with
// respect to q, v and tau, (..., count, 6, nv); the constraints' Jacobian, how J v changes with q, (..., rows, nv), and the number of
// redundant rows.
nb::tuple constrained_derivatives(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle wrenches,
                                  nb::handle wrench_frame) {
  const ForwardDerivatives derivatives(model, q, v, tau, wrenches, wrench_frame);
  const Constraints& constraints = model.constraints();
  for (int i = 0; i < constraints.count; ++i)
    if (constraints.each[i].tie != Tie::joint) fail("constraint " + model.constraint_name(i) + " has rows that change");
  const Shape& batch = derivatives.batch();
  const std::ptrdiff_t nv = model.tree().nv, m = constraints.rows, n = constraints.count;
  const auto made = [&](std::initializer_list<npy_intp> item) {
    Shape shape = batch;
    shape.append(item);
    return Output(nb::none(), shape);
  };
  Output acc = made({nv}), K = made({nv, nv}), D = made({nv, nv}), inverse = made({nv, nv});
  Output forces = made({n, 6}), by_q = made({n, 6, nv}), by_v = made({n, 6, nv}), by_tau = made({n, 6, nv});
  Output jacobian = made({m, nv}), speed = made({m, nv});
  const auto block = [nv](const Output& x) { return Block{x.data(), nv, nv * nv}; };
  std::vector<Consistency> consistency(nv == 0 ? 0 : product(batch));
  const Answers answers("the derivative of constrained dynamics", batch, derivatives.shapes(),
                        {acc.written(batch, by_the_way), K.written(batch), D.written(batch), inverse.written(batch)});
  derivatives.run(
      answers, kernels().constrained_derivatives(1, false), acc.data(), block(K), block(D), block(inverse),
      [&](const ForwardDerivativesCall& plain) {
        return ConstrainedDerivativesCall{plain,         &constraints,    forces.data(), by_q.data(),       by_v.data(),
                                          by_tau.data(), jacobian.data(), speed.data(),  consistency.data()};
      },
      [](std::ptrdiff_t, std::ptrdiff_t) {});
  int dependent = 0;
  warn_of_unequal_masses(model, consistency.data(), consistency.empty() ? Shape{0} : batch);
  for (const Consistency& each : consistency) {
    dependent = std::max(dependent, each.dependent);
    if (each.error > contradiction_fraction)
      fail_as("ConstraintError",
              "constraint " + model.constraint_name(each.contradicts) + " contradicts others: no motion obeys all of them");
  }
  return nb::make_tuple(std::move(K).object(), std::move(D).object(), std::move(inverse).object(), std::move(acc).object(),
                        std::move(forces).object(), std::move(by_q).object(), std::move(by_v).object(), std::move(by_tau).object(),
                        std::move(jacobian).object(), std::move(speed).object(), dependent);
}

// A (2 nv, 2 nv) and B (2 nv, columns) of paper B's Proposition 1, and q, v, tau and a, each an array of its own.
nb::tuple linearize(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle columns_, nb::handle wrenches,
                    nb::handle wrench_frame) {
  const Tree& tree = model.tree();
  const bool all = columns_.is_none();
  const auto columns = all ? std::vector<int>() : nb::cast<std::vector<int>>(columns_);
  const std::ptrdiff_t nv = tree.nv, nu = all ? nv : std::ptrdiff_t(columns.size());
  for (int c : columns)
    if (c < 0 || c >= nv) fail("no such column");
  const ForwardDerivatives derivatives(model, q, v, tau, wrenches, wrench_frame);
  Shape row = derivatives.batch(), q_shape = row, A_shape = row, B_shape = row;
  row.push_back(nv);
  q_shape.push_back(tree.nq);
  A_shape.append({2 * nv, 2 * nv});
  B_shape.append({2 * nv, nu});
  Output acc(nb::none(), row), A(nb::none(), A_shape), B(nb::none(), B_shape);
  Output own_q(nb::none(), q_shape), own_v(nb::none(), row), own_tau(nb::none(), row);
  const std::ptrdiff_t size = nv * nv, count = product(derivatives.batch());
  const auto scattered = scratch(all ? 0 : count * size);  // M^-1 if B has only some of its columns
  const Block inverse = all ? Block{B.data() + size, nv, 2 * size} : Block{scattered.get(), nv, size};
  double* lower = A.data() + 2 * size;
  const Answers answers(
      "the linearization", derivatives.batch(), derivatives.shapes(),
      {acc.written(derivatives.batch(), by_the_way), {lower, 2 * size, 4 * size}, {B.data() + nv * nu, nv * nu, 2 * nv * nu}});
  derivatives.run(answers, acc.data(), {lower, 2 * nv, 4 * size}, {lower + nv, 2 * nv, 4 * size}, inverse,
                  [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                    for (std::ptrdiff_t i = begin; i < end; ++i) {
                      double *a = A.data() + i * 4 * size, *b = B.data() + i * 2 * nv * nu;
                      const double* X = inverse.first + i * inverse.state;
                      std::fill(a, a + 2 * size, 0.0);
                      for (std::ptrdiff_t r = 0; r < nv; ++r) a[r * 2 * nv + nv + r] = 1;
                      subtract_brackets(tree, derivatives.v(i), a);
                      b = std::fill_n(b, nv * nu, 0.0);
                      for (std::ptrdiff_t r = 0; r < nv && !all; ++r)
                        for (std::ptrdiff_t c = 0; c < nu; ++c) b[r * nu + c] = X[r * nv + columns[c]];
                      std::copy_n(derivatives.q(i), tree.nq, own_q.data() + i * tree.nq);
                      std::copy_n(derivatives.v(i), nv, own_v.data() + i * nv);
                      std::copy_n(derivatives.tau(i), nv, own_tau.data() + i * nv);
                    }
                  });
  return nb::make_tuple(std::move(A).object(), std::move(B).object(), std::move(own_q).object(), std::move(own_v).object(),
                        std::move(own_tau).object(), std::move(acc).object());
}

// (..., r + 1, nv, 10 bodies)
nb::object regressor(const CoreModel& model, nb::handle q, nb::handle v, nb::handle frame, nb::handle order) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  MovingStates moving(model, q, v, nb::none(), axes);
  moving.expect(highest_order + 2);
  moving.expect_order(order, moving.rows() - 1);
  Inputs inputs;
  moving.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  moving.broadcast(batch);
  const int rows = moving.rows() - 1, bodies = model.body_count();
  Shape shape = batch;
  shape.append({rows, tree.nv, 10 * bodies});
  Output out(nb::none(), shape);
  const RegressorCall call{&tree, moving.states(), model.frames().data(), bodies, rows, out.data()};
  const auto kernel = kernels().regressor(rows + 1, false);
  Answers("the regressor", batch, {}, {out.written(batch)})
      .run(10 * cost(tree, rows + 1), kernel.workspace(call),
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

}  // namespace

#define JOUNCE_GIVEN "numpy.typing.ArrayLike"
#define JOUNCE_ARRAY "numpy.typing.NDArray[numpy.float64]"
#define JOUNCE_WRENCHES "wrenches: collections.abc.Mapping[str, " JOUNCE_GIVEN "] | None, wrench_frame: str"

void bind_derivatives(nb::class_<CoreModel>& c) {
  c.def("_inverse_dynamics_derivatives", watched<&inverse_dynamics_derivatives>, any("q"), any("v"), any("a"), any("wrenches"),
        any("wrench_frame"), nb::arg("order") = nb::none(),
        nb::sig("def _inverse_dynamics_derivatives(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", a: " JOUNCE_GIVEN
                " | None, " JOUNCE_WRENCHES ", order: int | None = None) -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
  c.def("_forward_dynamics_derivatives", watched<&forward_dynamics_derivatives>, any("q"), any("v"), any("tau"), any("wrenches"),
        any("wrench_frame"),
        nb::sig("def _forward_dynamics_derivatives(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", tau: " JOUNCE_GIVEN ", " JOUNCE_WRENCHES
                ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
  c.def("_constrained_derivatives", watched<&constrained_derivatives>, any("q"), any("v"), any("tau"), any("wrenches"), any("wrench_frame"),
        nb::sig("def _constrained_derivatives(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", tau: " JOUNCE_GIVEN ", " JOUNCE_WRENCHES
                ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY
                ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", int]"));
  c.def("_regressor", &regressor, any("q"), any("v"), any("frame"), nb::arg("order") = nb::none(),
        nb::sig("def _regressor(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", frame: str, order: int | None = None) -> " JOUNCE_ARRAY));
  c.def("_linearize", watched<&linearize>, any("q"), any("v"), any("tau"), any("columns"), any("wrenches"), any("wrench_frame"),
        nb::sig("def _linearize(self, q: " JOUNCE_GIVEN ", v: " JOUNCE_GIVEN ", tau: " JOUNCE_GIVEN
                ", columns: list[int] | None, " JOUNCE_WRENCHES ") -> tuple[" JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY
                ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY ", " JOUNCE_ARRAY "]"));
}

}  // namespace jounce
