#include <algorithm>
#include <initializer_list>

#include "answers.hpp"
#include "bind.hpp"
#include "docs_equations.hpp"

namespace jounce {
namespace {

using Velocity = MovingStates::Velocity;

bool is_stack(Velocity kind) { return kind == Velocity::stack || kind == Velocity::stack_or_row; }

// A quantity: its shape in one state, and whether it needs a velocity and so has as many rows as that, or one more.
struct Quantity {
  const char* name;
  Select<EquationsCall> Kernels::* kernel;
  Shape (*shape)(const Tree&);
  bool moving;
};

const Quantity mass_matrix{"the mass matrix", &Kernels::mass_matrix, [](const Tree& t) { return Shape{t.nv, t.nv}; }, false};
const Quantity coriolis_matrix{"the Coriolis matrix", &Kernels::coriolis_matrix, mass_matrix.shape, true};
const Quantity gravity_force{"the gravity force", &Kernels::gravity_force, [](const Tree& t) { return Shape{t.nv}; }, false};
const Quantity jacobian{"the Jacobian", &Kernels::jacobian, [](const Tree& t) { return Shape{6, t.nv}; }, false};
const Quantity center_of_mass{"the center of mass", &Kernels::center_of_mass, [](const Tree&) { return Shape{3}; }, false};
const Quantity momentum{"the momentum", &Kernels::momentum, [](const Tree&) { return Shape{6}; }, true};
const Quantity momentum_matrix{"the momentum matrix", &Kernels::momentum_matrix, jacobian.shape, false};
const Quantity kinetic_energy{"the kinetic energy", &Kernels::kinetic_energy, [](const Tree&) { return Shape{}; }, true};
const Quantity potential_energy{"the potential energy", &Kernels::potential_energy, kinetic_energy.shape, false};

nb::object evaluate(const Quantity& quantity, const CoreModel& model, nb::handle q, nb::handle v, Velocity kind, Axes velocity_axes,
                    nb::handle order, nb::handle out_, const Frame* frame = nullptr, Axes axes = Axes::body) {
  const Tree& tree = model.tree();
  MovingStates moving(model, q, v, kind, velocity_axes);
  moving.expect(highest_order + (quantity.moving ? 1 : 0));
  if (is_stack(kind)) moving.expect_order(order, moving.rows() + (quantity.moving ? 0 : 1));
  Inputs inputs;
  moving.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  moving.broadcast(batch);
  const int rows = moving.rows() + (quantity.moving ? 0 : 1);
  Shape shape = batch;
  if (is_stack(kind)) shape.push_back(rows);
  const Shape item = quantity.shape(tree);
  shape.append(item.begin(), item.end());
  Output out(out_, shape);
  out.expect_apart(inputs);

  const EquationsCall call{&tree, moving.states(), rows, rows * product(item), out.data(), frame, axes};
  const auto kernel = (kernels().*quantity.kernel)(moving.rows() + 1, false);
  Answers answers(quantity.name, batch, {moving.states().q, moving.states().q_step}, {out.written(batch, rows)});
  if (moving.is_moderate()) answers.trust();
  answers.run(2 * cost(tree, rows), kernel.workspace(call),
              [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  nb::object result = std::move(out).object();
  if (!shape.empty() || !out_.is_none()) return result;
  return nb::steal(PyArray_Return(reinterpret_cast<PyArrayObject*>(result.release().ptr())));  // a number, not an array of one
}

// q alone; q and v; q and a stack of v.
template <const Quantity& quantity>
nb::object at_rest(const CoreModel& model, nb::handle q, nb::handle frame, nb::handle out) {
  return evaluate(quantity, model, q, nb::handle(), Velocity::none, axes_named(frame, "frame"), nb::none(), out);
}
template <const Quantity& quantity>
nb::object in_world(const CoreModel& model, nb::handle q, nb::handle out) {
  return evaluate(quantity, model, q, nb::handle(), Velocity::none, Axes::body, nb::none(), out);
}
template <const Quantity& quantity>
nb::object in_motion(const CoreModel& model, nb::handle q, nb::handle v, nb::handle frame, nb::handle out) {
  return evaluate(quantity, model, q, v, Velocity::row, axes_named(frame, "frame"), nb::none(), out);
}
template <const Quantity& quantity>
nb::object derivatives(const CoreModel& model, nb::handle q, nb::handle v, nb::handle frame, nb::handle order, nb::handle out) {
  return evaluate(quantity, model, q, v, quantity.moving ? Velocity::stack : Velocity::stack_or_row, axes_named(frame, "frame"), order,
                  out);
}

nb::object jacobian_of(const CoreModel& model, nb::handle name, nb::handle q, nb::handle v, Velocity kind, nb::handle frame,
                       nb::handle velocity_frame, nb::handle order, nb::handle out) {
  const Axes axes = axes_named(frame, "frame");
  const Axes velocity_axes = velocity_axes_named(model.tree(), velocity_frame, axes);
  return evaluate(jacobian, model, q, v, kind, velocity_axes, order, out, &frame_named(model, name), axes);
}

nb::object jacobian_at_rest(const CoreModel& model, nb::handle name, nb::handle q, nb::handle frame, nb::handle velocity_frame,
                            nb::handle out) {
  return jacobian_of(model, name, q, nb::handle(), Velocity::none, frame, velocity_frame, nb::none(), out);
}
nb::object jacobian_derivatives(const CoreModel& model, nb::handle name, nb::handle q, nb::handle v, nb::handle frame,
                                nb::handle velocity_frame, nb::handle order, nb::handle out) {
  return jacobian_of(model, name, q, v, Velocity::stack_or_row, frame, velocity_frame, order, out);
}

nb::object inverse_dynamics_passive(const CoreModel& model, nb::handle q, nb::handle v, nb::handle v_ref_, nb::handle a_ref_,
                                    nb::handle frame, nb::handle out_) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  MovingStates moving(model, q, v, Velocity::row, axes);
  Input v_ref(v_ref_, "v_ref", 1), a_ref(a_ref_, "a_ref", 1);
  moving.expect(1);
  expect_velocity(tree, v_ref);
  expect_velocity(tree, a_ref);
  Inputs inputs;
  moving.add_to(inputs);
  inputs.append({&v_ref, &a_ref});
  const Shape batch = broadcast_shape(inputs);
  moving.broadcast(batch);
  Shape shape = batch;
  shape.push_back(tree.nv);
  Output out(out_, shape);
  out.expect_apart(inputs);
  const std::ptrdiff_t v_step = v_ref.broadcast(batch), a_step = a_ref.broadcast(batch);
  const PassiveCall call{&tree, moving.states(), v_ref.data(), a_ref.data(), v_step, a_step, out.data()};
  const auto kernel = kernels().inverse_dynamics_passive(2, false);
  Answers("inverse_dynamics_passive", batch, {moving.states().q, moving.states().q_step}, {out.written(batch)})
      .run(2 * cost(tree, 2), kernel.workspace(call),
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

nb::object inverse_mass_matrix(const CoreModel& model, nb::handle q, nb::handle frame, nb::handle out_) {
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  MovingStates moving(model, q, nb::handle(), Velocity::none, axes);
  moving.expect(0);
  Inputs inputs;
  moving.add_to(inputs);
  const Shape batch = broadcast_shape(inputs);
  moving.broadcast(batch);
  Shape shape = batch;
  shape.append({tree.nv, tree.nv});
  Output out(out_, shape);
  out.expect_apart(inputs);
  std::vector<Solvability> equations(out.states(batch));
  const InverseMassMatrixCall call{&tree, moving.states(), out.data(), equations.data()};
  const auto kernel = kernels().inverse_mass_matrix(1, false);
  Answers("the inverse of the mass matrix", batch, {moving.states().q, moving.states().q_step, true}, {out.written(batch)})
      .run(4 * cost(tree, 2), kernel.workspace(call), model, equations,
           [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(call, begin, end, workspace); });
  return std::move(out).object();
}

}  // namespace

void bind_equations(nb::class_<CoreModel>& c) {
  const auto frame = nb::arg("frame").none() = "body";
  const auto order = nb::arg("order") = nb::none();
  const auto out = nb::arg("out") = nb::none();
  const auto rest = [&](const char* name, auto function, const char* signature, const char* doc) {
    c.def(name, function, any("q"), nb::kw_only(), frame, out, nb::sig(signature), doc);
  };
  const auto move = [&](const char* name, auto function, const char* signature, const char* doc) {
    c.def(name, function, any("q"), any("v"), nb::kw_only(), frame, out, nb::sig(signature), doc);
  };
  const auto rates = [&](const char* name, auto function, const char* signature, const char* doc) {
    c.def(name, function, any("q"), any("v"), nb::kw_only(), frame, order, out, nb::sig(signature), doc);
  };
  rest("mass_matrix", watched<&at_rest<mass_matrix>>, mass_matrix_signature, mass_matrix_doc);
  rates("mass_matrix_derivatives", watched<&derivatives<mass_matrix>>, mass_matrix_derivatives_signature, mass_matrix_derivatives_doc);
  rest("inverse_mass_matrix", watched<&inverse_mass_matrix>, inverse_mass_matrix_signature, inverse_mass_matrix_doc);
  move("coriolis_matrix", watched<&in_motion<coriolis_matrix>>, coriolis_matrix_signature, coriolis_matrix_doc);
  rates("coriolis_matrix_derivatives", watched<&derivatives<coriolis_matrix>>, coriolis_matrix_derivatives_signature,
        coriolis_matrix_derivatives_doc);
  rest("gravity_force", watched<&at_rest<gravity_force>>, gravity_force_signature, gravity_force_doc);
  rates("gravity_force_derivatives", watched<&derivatives<gravity_force>>, gravity_force_derivatives_signature,
        gravity_force_derivatives_doc);
  rest("centroidal_momentum_matrix", watched<&at_rest<momentum_matrix>>, momentum_matrix_signature, momentum_matrix_doc);
  rates("centroidal_momentum_matrix_derivatives", watched<&derivatives<momentum_matrix>>, momentum_matrix_derivatives_signature,
        momentum_matrix_derivatives_doc);
  move("centroidal_momentum", watched<&in_motion<momentum>>, momentum_signature, momentum_doc);
  rates("centroidal_momentum_derivatives", watched<&derivatives<momentum>>, momentum_derivatives_signature, momentum_derivatives_doc);
  c.def("center_of_mass", watched<&in_world<center_of_mass>>, any("q"), nb::kw_only(), out, nb::sig(center_of_mass_signature),
        center_of_mass_doc);
  rates("center_of_mass_derivatives", watched<&derivatives<center_of_mass>>, center_of_mass_derivatives_signature,
        center_of_mass_derivatives_doc);
  move("kinetic_energy", watched<&in_motion<kinetic_energy>>, kinetic_energy_signature, kinetic_energy_doc);
  rates("kinetic_energy_derivatives", watched<&derivatives<kinetic_energy>>, kinetic_energy_derivatives_signature,
        kinetic_energy_derivatives_doc);
  c.def("potential_energy", watched<&in_world<potential_energy>>, any("q"), nb::kw_only(), out, nb::sig(potential_energy_signature),
        potential_energy_doc);
  rates("potential_energy_derivatives", watched<&derivatives<potential_energy>>, potential_energy_derivatives_signature,
        potential_energy_derivatives_doc);

  c.def("jacobian", watched<&jacobian_at_rest>, any("name"), any("q"), nb::kw_only(), frame, nb::arg("velocity_frame") = nb::none(), out,
        nb::sig(jacobian_signature), jacobian_doc);
  c.def("jacobian_derivatives", watched<&jacobian_derivatives>, any("name"), any("q"), any("v"), nb::kw_only(), frame,
        nb::arg("velocity_frame") = nb::none(), order, out, nb::sig(jacobian_derivatives_signature), jacobian_derivatives_doc);
  c.def("inverse_dynamics_passive", watched<&inverse_dynamics_passive>, any("q"), any("v"), any("v_ref"), any("a_ref"), nb::kw_only(),
        frame, out, nb::sig(inverse_dynamics_passive_signature), inverse_dynamics_passive_doc);
}

}  // namespace jounce
