#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "answers.hpp"
#include "bind.hpp"
#include "consistency.hpp"
#include "docs.hpp"

namespace jounce {
namespace {

// tau (or acc) goes with v: the same number of dimensions means one row, more mean a stack.
bool is_stack(const Input& v, const Input& tau) {
  if (tau.dimensions() > v.dimensions()) return true;
  if (tau.dimensions() == v.dimensions() || tau.dimensions() <= 1) return false;
  fail(tau.name() + " has shape " + describe(tau.shape()) + " and v " + describe(v.shape()) +
       ", expected as many dimensions (one row each) or one more (a stack of rows)");
}

constexpr const char* one_force_for_each = "for one force for each state, v needs as many dimensions as it has: v[None]";

Input as_row_or_stack(nb::handle object, const char* name, const Input& v, bool& stacked) {
  Input first(object, name, 1);
  stacked = is_stack(v, first);
  first.set_core(stacked ? 2 : 1);
  return first;
}

void expect_rows(const Tree& tree, const Input& x, bool stacked, bool finite) {
  x.expect_dimensions();
  x.expect_last(tree.nv, "nv");
  if (stacked && x.size(-2) < 1) fail(x.name() + " has shape " + describe(x.shape()) + ", expected at least one row");
  if (stacked && x.size(-2) > highest_order + 1)
    fail(x.name() + " has " + std::to_string(x.size(-2)) + " rows, expected at most " + std::to_string(highest_order + 1) +
         ": the highest order is " + std::to_string(highest_order) + (x.name() == "tau" ? std::string("; ") + one_force_for_each : ""));
  if (finite) x.expect_finite();
}

// The columns of one mask value, the others zero, so that unused entries need not be numbers.
std::unique_ptr<double[]> masked(const Tree& tree, const Input& x, const bool* mask, bool wanted) {
  auto copy = scratch(x.total());
  for (npy_intp i = 0; i < x.total(); ++i) {
    const bool used = mask[i % tree.nv] == wanted;
    copy[i] = used ? x.data()[i] : 0.0;
    if (!(copy[i] * 0.0 == 0))
      fail(x.name() + "[..., " + std::to_string(i % tree.nv) + "] is not finite where it is " + (wanted ? "prescribed" : "given"));
  }
  return copy;
}

// Further inputs and outputs of constrained dynamics.
struct Asked {
  nb::handle shares;  // (..., r + 1, rows) multipliers of redundant rows, or None
  nb::handle motion;  // (..., count, r + 2, 6) of the places that constraints are attached to, or None
  const bool* moves;  // (count)
  double kp, kd;
  std::optional<Output> forces, multipliers;
  std::ptrdiff_t dependent = 0;  // redundant rows, in the worst state
  bool judged = true;            // whether contradictions and lost digits are reported
};

// All calls: acc_ is None for forward dynamics, `asked` null unless the forces of constraints are wanted.
nb::object run(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle acc_, nb::handle tau_, const bool* mask,
               nb::handle wrenches_, nb::handle wrench_frame, nb::handle frame, nb::handle order, nb::handle out_, Asked* asked = nullptr) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame"), wrench_axes = axes_named(wrench_frame, "wrench_frame");
  Input q(q_, "q", 1), v(v_, "v", 1);
  bool stacked = false, acc_stacked = false;
  Input tau = as_row_or_stack(tau_, "tau", v, stacked), acc = mask ? as_row_or_stack(acc_, "acc", v, acc_stacked) : Input();
  WrenchArguments wrenches(model, wrenches_, stacked);

  expect_configuration(tree, q);
  expect_velocity(tree, v);
  expect_rows(tree, tau, stacked, !mask);
  const int rows = stacked ? int(tau.size(-2)) : 1;
  if (mask) {
    expect_rows(tree, acc, acc_stacked, false);
    if (acc_stacked != stacked || (stacked && acc.size(-2) != rows))
      fail("acc has shape " + describe(acc.shape()) + " and tau " + describe(tau.shape()) + ", expected the same rows in both");
  }
  if (!asked && (stacked || !order.is_none())) expect_order(order, q, tau, stacked, rows, one_force_for_each);
  wrenches.expect(rows);

  const Constraints& constraints = model.constraints();
  const bool moved = asked && !asked->motion.is_none();
  Input motion = moved ? Input(asked->motion, "motions", 3) : Input();
  const bool shared = asked && !asked->shares.is_none();
  Input shares = shared ? Input(asked->shares, "shares", 2) : Input();
  Inputs inputs{&q, &v, &tau};
  if (mask) inputs.push_back(&acc);
  if (moved) inputs.push_back(&motion);
  if (shared) inputs.push_back(&shares);
  wrenches.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  if (stacked) shape.push_back(rows);
  shape.push_back(tree.nv);
  Output out(out_, shape);
  std::optional<Output> forces;
  if (mask) forces.emplace(nb::none(), shape);
  out.expect_apart(inputs);

  ForwardDynamicsCall call{};
  call.tree = &tree;
  call.rows = rows;
  call.axes = tree.free_joint_count > 0 ? axes : Axes::body;
  call.prescribed = mask;
  call.q_step = q.broadcast(batch), call.q = q.data();
  call.v_step = v.broadcast(batch), call.v = v.data();
  call.tau_step = tau.broadcast(batch), call.tau = tau.data();
  std::unique_ptr<double[]> acc_used, tau_used;
  if (mask) {
    call.acc_step = acc.broadcast(batch);
    acc_used = masked(tree, acc, mask, true), tau_used = masked(tree, tau, mask, false);
    call.acc = acc_used.get(), call.tau = tau_used.get();
  }
  wrenches.broadcast(batch);
  const std::ptrdiff_t count = out.states(batch), wrench_size = std::ptrdiff_t(rows) * wrenches.count() * 6,
                       size = std::ptrdiff_t(rows) * tree.nv;
  const auto gathered = scratch(count * wrench_size);
  call.wrenches = {gathered.get(), wrench_size, wrenches.frames(), wrenches.count(), wrench_axes};
  call.acc_out = out.data();
  call.tau_out = mask ? forces->data() : nullptr;
  std::vector<Solvability> equations(count);
  call.equations = equations.data();

  const auto plain = kernels().forward_dynamics(rows + 1, count > 1);
  const auto constrained = kernels().constrained_dynamics(rows + 1, false);
  const bool obeys = constraints.count > 0, judge_rates = judges_rates() && (!asked || asked->judged);
  std::vector<Consistency> consistency(obeys ? count : 0);
  ConstrainedDynamicsCall with{};
  if (obeys) {
    with.dynamics = call;
    with.constraints = &constraints;
    with.axes = wrench_axes;
    with.consistency = consistency.data();
  }
  if (asked) {
    with.kp = asked->kp, with.kd = asked->kd;
    if (moved) {
      with.motion_step = motion.broadcast(batch), with.motion = motion.data(), with.moves = asked->moves;
      if (motion.size(-3) != constraints.count || motion.size(-2) != rows + 1 || motion.size(-1) != 6)
        fail("motions has shape " + describe(motion.shape()));
    }
    if (shared) {
      with.shares_step = shares.broadcast(batch), with.shares = shares.data();
      if (shares.size(-2) != rows || shares.size(-1) != constraints.rows) fail("shares has shape " + describe(shares.shape()));
    }
    Shape each = batch;
    each.push_back(rows);
    Shape forces_shape = each, multipliers_shape = each;
    forces_shape.append({constraints.count, 6});
    multipliers_shape.push_back(constraints.rows);
    with.forces = asked->forces.emplace(nb::none(), forces_shape).data();
    with.multipliers = asked->multipliers.emplace(nb::none(), multipliers_shape).data();
  }
  const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    wrenches.gather(begin, end, rows, gathered.get());
    if (obeys)
      run_constrained_dynamics(with, judge_rates, begin, end, workspace);
    else
      plain.run(call, begin, end, workspace);
    for (std::ptrdiff_t i = begin; mask && i < end; ++i)  // given values are returned unchanged
      for (std::ptrdiff_t j = 0; j < size; ++j) {
        if (mask[j % tree.nv])
          call.acc_out[i * size + j] = call.acc[i * call.acc_step + j];
        else
          call.tau_out[i * size + j] = call.tau[i * call.tau_step + j];
      }
  };
  const char* what = mask ? "hybrid dynamics" : asked && !asked->judged ? "the motion after an impulse" : "forward dynamics";
  const Answers answers(what, batch, {call.q, call.q_step, true},
                        {out.written(batch, rows), mask ? forces->written(batch, rows) : Written{}});
  answers.run(4 * cost(tree, rows + 1), obeys ? constrained.workspace(with) : plain.workspace(call), model, equations, part);
  if (obeys && asked && !asked->judged) {
    for (const Consistency& each : consistency) asked->dependent = std::max<std::ptrdiff_t>(asked->dependent, each.dependent);
  } else if (obeys) {
    const std::ptrdiff_t dependent = expect_consistent(model, with, batch);
    if (asked) asked->dependent = dependent;
  }
  if (!mask) return std::move(out).object();
  return nb::make_tuple(std::move(out).object(), std::move(*forces).object());
}

nb::object forward_dynamics(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle wrenches,
                            nb::handle wrench_frame, nb::handle frame, nb::handle order, nb::handle out) {
  return run(model, q, v, nb::none(), tau, nullptr, wrenches, wrench_frame, frame, order, out);
}

// The columns of joints and coordinates given by an array of names.
void mark_named(const CoreModel& model, const nb::object& names, bool* mask) {
  for (const nb::handle name : nb::iter(names.attr("ravel")())) {
    const nb::object columns = nb::find(model).attr("coordinate")(nb::str(name));  // which raises errors with names like it
    for (int c = nb::cast<int>(columns.attr("start")); c < nb::cast<int>(columns.attr("stop")); ++c) mask[c] = true;
  }
}

std::unique_ptr<bool[]> mask_of(const CoreModel& model, nb::handle prescribed) {
  const Tree& tree = model.tree();
  const bool plain = PyArray_CheckExact(prescribed.ptr()) && PyArray_ISCARRAY_RO((PyArrayObject*)prescribed.ptr());
  const nb::object any = plain ? nb::borrow(prescribed) : array_from(prescribed, "prescribed", "an array of booleans");
  const nb::object given = plain ? any : nb::steal(PyArray_FROM_OF(any.ptr(), NPY_ARRAY_CARRAY_RO));
  if (!given.is_valid()) nb::raise_python_error();
  auto* array = reinterpret_cast<PyArrayObject*>(given.ptr());
  const Shape shape(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
  auto mask = std::make_unique<bool[]>(tree.nv + 1);
  if (PyArray_TYPE(array) == NPY_UNICODE || (shape.size() == 1 && shape[0] == 0 && tree.nv > 0)) {
    mark_named(model, given, mask.get());
  } else if (PyArray_TYPE(array) == NPY_BOOL && shape.size() == 1 && shape[0] == tree.nv) {
    std::copy_n(static_cast<const npy_bool*>(PyArray_DATA(array)), tree.nv, mask.get());
  } else {
    const nb::str type(nb::steal(PyObject_Str(reinterpret_cast<PyObject*>(PyArray_DESCR(array)))));
    fail("prescribed has shape " + describe(shape) + " and dtype " + type.c_str() + ", expected bool (" + std::to_string(tree.nv) + ",)");
  }
  for (const CoreModel::Coordinates& joint : model.joints())
    for (int c = joint.begin + 1; c < joint.end; ++c)
      if (mask[c] != mask[joint.begin])
        fail("prescribed splits joint " + joint.name + ", coordinates " + std::to_string(joint.begin) + " to " +
             std::to_string(joint.end - 1) + ": expected all of them or none");
  return mask;
}

nb::object hybrid_dynamics(const CoreModel& model, nb::handle q, nb::handle v, nb::handle acc, nb::handle tau, nb::handle prescribed,
                           nb::handle wrenches, nb::handle wrench_frame, nb::handle frame, nb::handle order) {
  return run(model, q, v, acc, tau, mask_of(model, prescribed).get(), wrenches, wrench_frame, frame, order, nb::none());
}

// Also returns the forces of constraints: (acc, tau or None, forces, multipliers, number of redundant rows).
nb::object constrained_dynamics(const CoreModel& model, nb::handle q, nb::handle v, nb::handle acc, nb::handle tau, nb::handle prescribed,
                                nb::handle wrenches, nb::handle wrench_frame, nb::handle frame, nb::handle motion,
                                const std::vector<bool>& moves, nb::handle shares, double kp, double kd) {
  Asked asked{};
  const auto moving = std::make_unique<bool[]>(model.constraints().count + 1);
  if (!motion.is_none() && int(moves.size()) != model.constraints().count) fail("moves has the wrong length");
  std::copy(moves.begin(), moves.end(), moving.get());
  asked.shares = shares, asked.motion = motion, asked.moves = moving.get(), asked.kp = kp, asked.kd = kd;
  const auto mask = prescribed.is_none() ? nullptr : mask_of(model, prescribed);
  nb::object result = run(model, q, v, acc, tau, mask.get(), wrenches, wrench_frame, frame, nb::none(), nb::none(), &asked);
  return nb::make_tuple(mask ? result[0] : result, mask ? nb::object(result[1]) : nb::none(), std::move(*asked.forces).object(),
                        std::move(*asked.multipliers).object(), asked.dependent);
}

// What a robot at rest (v = 0) does when it is pushed: (acc, multipliers, number of redundant rows). Rows that contradict others are for
// the caller to judge.
nb::object pushed(const CoreModel& model, nb::handle q, nb::handle v, nb::handle tau, nb::handle frame) {
  Asked asked{};
  const nb::object none = nb::none();
  asked.shares = asked.motion = none, asked.judged = false;
  nb::object acc = run(model, q, v, none, tau, nullptr, none, nb::str("body"), frame, none, none, &asked);
  return nb::make_tuple(std::move(acc), std::move(*asked.multipliers).object(), asked.dependent);
}

// Whether tau is a stack, and of what order, for calls that ask the core in parts.
void expect_order_of_forces(const CoreModel& model, nb::handle q_, nb::handle v_, nb::handle tau_, nb::handle order) {
  Input q(q_, "q", 1), v(v_, "v", 1);
  bool stacked = false;
  const Input tau = as_row_or_stack(tau_, "tau", v, stacked);
  expect_configuration(model.tree(), q);
  expect_velocity(model.tree(), v);
  expect_rows(model.tree(), tau, stacked, true);
  expect_order(order, q, tau, stacked, stacked ? tau.size(-2) : 1, one_force_for_each);
}

nb::object inverse_mass_matrix_apply(const CoreModel& model, nb::handle q_, nb::handle f_) {
  const Tree& tree = model.tree();
  Input q(q_, "q", 1), f(f_, "f", 1);
  expect_configuration(tree, q);
  expect_velocity(tree, f);
  const Inputs inputs{&q, &f};
  const Shape batch = broadcast_shape(inputs);
  Shape shape = batch;
  shape.push_back(tree.nv);
  Output out(nb::none(), shape);
  InverseMassCall call{};
  call.tree = &tree;
  call.q_step = q.broadcast(batch), call.q = q.data();
  call.f_step = f.broadcast(batch), call.f = f.data();
  call.out = out.data();
  std::vector<Solvability> equations(out.states(batch));
  call.equations = equations.data();
  const auto kernel = kernels().inverse_mass(1, false);
  Answers("inverse_mass_matrix_apply", batch, {call.q, call.q_step, true}, {out.written(batch)})
      .run(2 * cost(tree, 2), kernel.workspace(call), model, equations,
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

nb::object articulated_inertia(const CoreModel& model, nb::handle q_) {
  const Tree& tree = model.tree();
  Input q(q_, "q", 1);
  expect_configuration(tree, q);
  const Shape batch = q.batch();
  Shape shape = batch;
  shape.append({model.body_count(), 6, 6});
  Output out(nb::none(), shape);
  std::vector<Solvability> equations(out.states(batch));
  const ArticulatedInertiaCall call{&tree, q.data(), model.frames().data(), model.body_count(), out.data(), equations.data()};
  const auto kernel = kernels().articulated_inertia(1, false);
  Answers("articulated_inertia", batch, {q.data(), tree.nq, true}, {out.written(batch)})
      .run(2 * cost(tree, 2), kernel.workspace(call), model, equations,
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

}  // namespace

void bind_forward_dynamics(nb::class_<CoreModel>& c) {
  c.def("forward_dynamics", watched<&forward_dynamics>, any("q"), any("v"), any("tau"), nb::kw_only(), nb::arg("wrenches") = nb::none(),
        nb::arg("wrench_frame").none() = "body", nb::arg("frame").none() = "body", nb::arg("order") = nb::none(),
        nb::arg("out") = nb::none(), nb::sig(forward_dynamics_signature), forward_dynamics_doc);
  c.def("hybrid_dynamics", watched<&hybrid_dynamics>, any("q"), any("v"), any("acc"), any("tau"), nb::kw_only(), any("prescribed"),
        nb::arg("wrenches") = nb::none(), nb::arg("wrench_frame").none() = "body", nb::arg("frame").none() = "body",
        nb::arg("order") = nb::none(), nb::sig(hybrid_dynamics_signature), hybrid_dynamics_doc);
  c.def("_constrained_dynamics", watched<&constrained_dynamics>, any("q"), any("v"), any("acc"), any("tau"), any("prescribed"),
        any("wrenches"), any("wrench_frame"), any("frame"), any("motion"), nb::arg("moves"), any("shares"), nb::arg("kp"), nb::arg("kd"),
        nb::sig(constrained_dynamics_signature));
  c.def("_expect_order_of_forces", &expect_order_of_forces, any("q"), any("v"), any("tau"), any("order"),
        nb::sig(expect_order_of_forces_signature));
  c.def("_pushed", watched<&pushed>, any("q"), any("v"), any("tau"), any("frame"), nb::sig(pushed_signature));
  c.def("inverse_mass_matrix_apply", watched<&inverse_mass_matrix_apply>, any("q"), any("f"), nb::sig(inverse_mass_matrix_apply_signature),
        inverse_mass_matrix_apply_doc);
  c.def("articulated_inertia", watched<&articulated_inertia>, any("q"), nb::sig(articulated_inertia_signature), articulated_inertia_doc);
}

}  // namespace jounce
