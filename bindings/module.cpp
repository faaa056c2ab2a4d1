// The Python module: arguments in, kernels run over states and threads, arrays out.
#define JOUNCE_OWNS_NUMPY_API
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string_view>

#include "arguments.hpp"
#include "core_model.hpp"
#include "docs.hpp"
#include "jounce/change_axes.hpp"
#include "jounce/configuration.hpp"
#include "parallel.hpp"

namespace jounce {
namespace {

Axes axes_named(nb::handle name, const char* argument) {
  const char* text = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
  const std::string_view given = text ? text : "";
  if (given == "body") return Axes::body;
  if (given == "world") return Axes::world;
  if (given == "mixed") return Axes::mixed;
  PyErr_Clear();
  fail(std::string(argument) + " is " + nb::repr(name).c_str() + ", expected 'body', 'world' or 'mixed'");
}

// Quaternions within 1e-6 of unit length are normalised by the kernels; others are an error.
void expect_unit_quaternions(const Tree& tree, const Input& q) {
  if (tree.quaternion_count == 0) return;
  const npy_intp states = q.total() / tree.nq;
  for (npy_intp s = 0; s < states; ++s)
    for (int i = 0; i < tree.quaternion_count; ++i) {
      const double* u = q.data() + s * tree.nq + tree.quaternions[i];
      const double length = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
      if (!(std::fabs(length - 1) <= 1e-6)) {
        const int at = tree.quaternions[i];
        fail(std::string(q.name()) + "[..., " + std::to_string(at) + ":" + std::to_string(at + 4) + "] is a quaternion of length " +
             std::to_string(length) + (q.batch_dimensions() ? " in state " + std::to_string(s) : "") + ", expected 1");
      }
    }
}

Input configuration(const Tree& tree, nb::handle object, const char* name) {
  Input q(object, name, 1);
  q.expect_last(tree.nq, "nq");
  q.expect_finite();
  expect_unit_quaternions(tree, q);
  return q;
}

Input velocity(const Tree& tree, nb::handle object, const char* name, int core) {
  Input v(object, name, core);
  v.expect_last(tree.nv, "nv");
  v.expect_finite();
  return v;
}

// A stack of at least `least` rows. Where the rows are missing altogether, says what they are.
Input stack(const Tree& tree, nb::handle object, const char* name, int least, int most, const char* what) {
  Input v(object, name, 1);
  v.expect_last(tree.nv, "nv");
  const std::string wanted = std::string("expected a stack (..., rows, ") + std::to_string(tree.nv) + ") of " + what;
  if (v.dimensions() < 2 || v.size(-2) < least) fail(std::string(name) + " has shape " + describe(v.shape()) + ", " + wanted);
  if (v.size(-2) > most)
    fail(std::string(name) + " has " + std::to_string(v.size(-2)) + " rows, expected at most " + std::to_string(most) +
         ": the highest order is " + std::to_string(highest_order));
  return velocity(tree, object, name, 2);
}

// Microseconds that one state takes, roughly: to decide on threads.
double cost(const Tree& tree, npy_intp rows) { return 0.02 * double(tree.size + 1) * double(rows) * (1 + 0.1 * double(rows)); }

// Free joints' columns of a velocity stack into other axes; the rest is copied.
void change_twists(const Tree& tree, const double* q, const double* v, const double* rest, int rows, Axes from, Axes to, double* out) {
  for (int k = 0; k < rows; ++k) {
    const double* row = k == 0 ? v : rest + std::ptrdiff_t(k - 1) * tree.nv;
    for (int j = 0; j < tree.nv; ++j) out[std::ptrdiff_t(k) * tree.nv + j] = row[j];
  }
  for (int i = 0; from != to && i < tree.free_joint_count; ++i) {
    const FreeJoint& joint = tree.free_joints[i];
    double* twist = out + joint.v;
    FreeMotion(joint, q + joint.q, twist, rows, tree.nv, from).twist(from, to, twist, tree.nv);
  }
}

// The same for a stack of generalized forces, in place; `v` (with at least as many rows) is in axes `axes`.
void change_wrenches(const Tree& tree, const double* q, const double* v, int rows, Axes axes, Axes from, Axes to, double* tau,
                     int force_rows) {
  for (int i = 0; from != to && i < tree.free_joint_count; ++i) {
    const FreeJoint& joint = tree.free_joints[i];
    FreeMotion(joint, q + joint.q, v + joint.v, rows, tree.nv, axes).wrench(from, to, tau + joint.v, force_rows, tree.nv);
  }
}

// wrenches={name: stack} as one array (states, rows, count, 6).
struct WrenchArguments {
  std::vector<Frame> frames;
  std::vector<Input> inputs;

  WrenchArguments(const CoreModel& model, nb::handle self, nb::handle given, npy_intp rows, bool stacked) {
    if (given.is_none()) return;
    if (!PyDict_Check(given.ptr())) fail(std::string("wrenches must be a dict of name: array, got a ") + Py_TYPE(given.ptr())->tp_name);
    for (auto [name, value] : nb::borrow<nb::dict>(given)) {
      const int index = nb::cast<int>(self.attr("frame_index")(name));
      Input w(value, "wrenches", stacked ? 2 : 1);
      const Shape shape = w.shape();
      if (w.size(-1) != 6 || (stacked && w.size(-2) != rows))
        fail(std::string("wrenches[") + nb::repr(name).c_str() + "] has shape " + describe(shape) + ", expected (..., " +
             (stacked ? std::to_string(rows) + ", " : "") + "6): a [force; moment] for each row of torque");
      w.expect_finite();
      frames.push_back(model.frames()[index]);
      inputs.push_back(std::move(w));
    }
  }

  std::vector<double> gather(const Shape& batch, npy_intp rows) {
    const npy_intp states = product(batch), count = npy_intp(inputs.size());
    std::vector<double> all(states * rows * count * 6);
    for (npy_intp i = 0; i < count; ++i) {
      const std::ptrdiff_t step = inputs[i].broadcast(batch);
      for (npy_intp s = 0; s < states; ++s)
        for (npy_intp k = 0; k < rows; ++k)
          for (int c = 0; c < 6; ++c) all[((s * rows + k) * count + i) * 6 + c] = inputs[i].data()[s * step + k * 6 + c];
    }
    return all;
  }
};

nb::object inverse_dynamics(nb::handle self, nb::handle q_, nb::handle v_, nb::handle a_, nb::handle wrenches_, nb::handle wrench_frame,
                            nb::handle frame, nb::handle out_) {
  const CoreModel& model = *nb::inst_ptr<CoreModel>(self);
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame");
  const bool stacked = a_.is_none();
  Input q = configuration(tree, q_, "q");
  Input v = stacked ? stack(tree, v_, "v", 2, highest_order + 2, "v, dv/dt, ... (or v and a apart)") : velocity(tree, v_, "v", 1);
  Input a = stacked ? Input() : velocity(tree, a_, "a", 1);
  const npy_intp rows = stacked ? v.size(-2) : 2;
  WrenchArguments wrenches(model, self, wrenches_, rows - 1, stacked);

  std::vector<const Input*> inputs{&q, &v};
  if (!stacked) inputs.push_back(&a);
  for (const Input& w : wrenches.inputs) inputs.push_back(&w);
  const Shape batch = broadcast_shape(inputs.data(), int(inputs.size()));
  Shape shape = batch;
  if (stacked) shape.push_back(rows - 1);
  shape.push_back(tree.nv);
  const npy_intp count = product(batch), size = rows * tree.nv;

  Output out(out_, shape);
  for (const Input* input : inputs)
    if (!out_.is_none() && out.overlaps(*input)) fail(std::string("out shares memory with ") + input->name());
  States states;
  states.q_step = q.broadcast(batch), states.q = q.data();
  states.v_step = v.broadcast(batch), states.v = v.data();
  states.rest_step = stacked ? states.v_step : a.broadcast(batch);
  states.rest = stacked ? v.data() + tree.nv : a.data();
  states.rows = int(rows);

  const std::vector<double> wrench_values = wrenches.inputs.empty() ? std::vector<double>() : wrenches.gather(batch, rows - 1);
  const Wrenches applied{wrench_values.data(), std::ptrdiff_t((rows - 1) * wrenches.inputs.size() * 6), wrenches.frames.data(),
                         int(wrenches.frames.size()), axes_named(wrench_frame, "wrench_frame")};

  const bool change = axes != Axes::body && tree.free_joint_count > 0;
  std::vector<double> in_body(change ? count * size : 0);
  const States given = states;
  if (change) states.v = in_body.data(), states.rest = in_body.data() + tree.nv, states.v_step = states.rest_step = size;

  const InverseDynamicsCall call{&tree, states, applied, out.data()};
  const auto kernel = kernels().inverse_dynamics(int(rows) - 2, count > 1);
  for_each_part(count, cost(tree, rows), kernel.workspace(tree), [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    if (change)
      for (std::ptrdiff_t i = begin; i < end; ++i)
        change_twists(tree, given.q + i * given.q_step, given.v + i * given.v_step, given.rest + i * given.rest_step, int(rows), axes,
                      Axes::body, &in_body[i * size]);
    kernel.run(call, begin, end, workspace);
    if (change)
      for (std::ptrdiff_t i = begin; i < end; ++i)
        change_wrenches(tree, given.q + i * given.q_step, &in_body[i * size], int(rows), Axes::body, Axes::body, axes,
                        call.tau + i * (rows - 1) * tree.nv, int(rows) - 1);
  });
  return std::move(out).object();
}

// Poses (states, pose_rows, frames, 4, 4) and twists (states, rows, frames, 6) of the first `count` frames, or of one.
nb::tuple forward_kinematics(nb::handle self, nb::handle q_, nb::handle v_, int first, int frame_count, int pose_rows, nb::handle frame,
                             nb::handle twist_axes) {
  const CoreModel& model = *nb::inst_ptr<CoreModel>(self);
  const Tree& tree = model.tree();
  const Axes axes = axes_named(frame, "frame"), given_axes = axes_named(twist_axes, "frame");
  if (first < 0 || frame_count < 0 || first + frame_count > int(model.frames().size())) fail("no such frames");
  Input q = configuration(tree, q_, "q");
  const bool moving = !v_.is_none();
  Input v = moving ? stack(tree, v_, "v", 1, highest_order + 1, "v, dv/dt, ...") : Input();
  const npy_intp rows = moving ? v.size(-2) : 0;
  if (pose_rows < 0 || pose_rows > rows + 1) fail("too many derivatives of the pose");

  const Input* inputs[] = {&q, &v};
  const Shape batch = broadcast_shape(inputs, moving ? 2 : 1);
  const npy_intp count = product(batch), size = rows * tree.nv;
  Shape pose_shape = batch, twist_shape = batch;
  pose_shape.insert(pose_shape.end(), {pose_rows, frame_count, 4, 4});
  twist_shape.insert(twist_shape.end(), {rows, frame_count, 6});
  Output pose(nb::none(), pose_shape), twist(nb::none(), twist_shape);

  States states{};
  states.q_step = q.broadcast(batch), states.q = q.data();
  if (moving) states.v_step = states.rest_step = v.broadcast(batch), states.v = v.data(), states.rest = v.data() + tree.nv;
  states.rows = int(rows);
  const bool change = moving && given_axes != Axes::body && tree.free_joint_count > 0;
  std::vector<double> in_body(change ? count * size : 0);
  const States given = states;
  if (change) states.v = in_body.data(), states.rest = in_body.data() + tree.nv, states.v_step = states.rest_step = size;

  const ForwardKinematicsCall call{&tree, states, model.frames().data() + first, frame_count, axes, pose_rows, pose.data(), twist.data()};
  const auto kernel = kernels().forward_kinematics(int(rows) + 1);
  for_each_part(count, cost(tree, rows + 1), kernel.workspace(tree), [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    if (change)
      for (std::ptrdiff_t i = begin; i < end; ++i)
        change_twists(tree, given.q + i * given.q_step, given.v + i * given.v_step, given.rest + i * given.rest_step, int(rows), given_axes,
                      Axes::body, &in_body[i * size]);
    kernel.run(call, begin, end, workspace);
  });
  return nb::make_tuple(std::move(pose).object(), std::move(twist).object());
}

nb::object change_velocity_frame(nb::handle self, nb::handle q_, nb::handle v_, nb::handle source, nb::handle target) {
  const Tree& tree = nb::inst_ptr<CoreModel>(self)->tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q = configuration(tree, q_, "q"), v = stack(tree, v_, "v", 1, highest_order + 2, "v, dv/dt, ...");
  const int rows = int(v.size(-2));
  const Input* inputs[] = {&q, &v};
  const Shape batch = broadcast_shape(inputs, 2);
  Shape shape = batch;
  shape.insert(shape.end(), {rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), size = std::ptrdiff_t(rows) * tree.nv;
  const double *qs = q.data(), *vs = v.data();
  double* result = out.data();
  for_each_part(product(batch), 1.0, 0, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
    for (std::ptrdiff_t i = begin; i < end; ++i)
      change_twists(tree, qs + i * q_step, vs + i * v_step, vs + i * v_step + tree.nv, rows, from, to, result + i * size);
  });
  return std::move(out).object();
}

nb::object change_force_frame(nb::handle self, nb::handle q_, nb::handle v_, nb::handle tau_, nb::handle source, nb::handle target) {
  const Tree& tree = nb::inst_ptr<CoreModel>(self)->tree();
  const Axes from = axes_named(source, "source"), to = axes_named(target, "target");
  Input q = configuration(tree, q_, "q"), tau = stack(tree, tau_, "tau", 1, highest_order + 1, "forces and their derivatives");
  const int force_rows = int(tau.size(-2));
  Input v = stack(tree, v_, "v", force_rows > 1 ? force_rows - 1 : 1, highest_order + 2, "v, dv/dt, ..., one row fewer than tau at least");
  const int rows = int(v.size(-2));
  const Input* inputs[] = {&q, &v, &tau};
  const Shape batch = broadcast_shape(inputs, 3);
  Shape shape = batch;
  shape.insert(shape.end(), {force_rows, tree.nv});
  Output out(nb::none(), shape);
  const std::ptrdiff_t q_step = q.broadcast(batch), v_step = v.broadcast(batch), tau_step = tau.broadcast(batch);
  const std::ptrdiff_t size = std::ptrdiff_t(force_rows) * tree.nv;
  const double *qs = q.data(), *vs = v.data(), *taus = tau.data();
  double* result = out.data();
  for_each_part(product(batch), 1.0, 0, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      for (std::ptrdiff_t j = 0; j < size; ++j) result[i * size + j] = taus[i * tau_step + j];
      change_wrenches(tree, qs + i * q_step, vs + i * v_step, rows, from, from, to, result + i * size, force_rows);
    }
  });
  return std::move(out).object();
}

template <class F>
nb::object on_configurations(const Tree& tree, Input& first, Input& second, int item, const F& f) {
  const Input* inputs[] = {&first, &second};
  const Shape batch = broadcast_shape(inputs, 2);
  Shape shape = batch;
  shape.push_back(item);
  Output out(nb::none(), shape);
  const std::ptrdiff_t a_step = first.broadcast(batch), b_step = second.broadcast(batch);
  const double *a = first.data(), *b = second.data();
  double* result = out.data();
  for_each_part(product(batch), 0.01 * double(tree.size + 1), 0, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void*) {
    for (std::ptrdiff_t i = begin; i < end; ++i) f(tree, a + i * a_step, b + i * b_step, result + i * item);
  });
  return std::move(out).object();
}

nb::object integrate_all(nb::handle self, nb::handle q_, nb::handle dv_) {
  const Tree& tree = nb::inst_ptr<CoreModel>(self)->tree();
  Input q = configuration(tree, q_, "q"), dv = velocity(tree, dv_, "dv", 1);
  return on_configurations(tree, q, dv, tree.nq, integrate);
}

nb::object difference_all(nb::handle self, nb::handle q0_, nb::handle q1_) {
  const Tree& tree = nb::inst_ptr<CoreModel>(self)->tree();
  Input q0 = configuration(tree, q0_, "q0"), q1 = configuration(tree, q1_, "q1");
  return on_configurations(tree, q0, q1, tree.nv, difference);
}

int import_numpy() {
  import_array1(-1);
  return 0;
}

}  // namespace
}  // namespace jounce

NB_MODULE(_core, m) {
  using namespace jounce;
  if (import_numpy() != 0) nb::raise_python_error();
  m.doc() = "The compiled core of jounce.";
  m.attr("MAX_ORDER") = highest_order;

  // None is for our own checks to refuse, with an error that names the argument.
  const auto any = [](const char* name) { return nb::arg(name).none(); };
  nb::class_<CoreModel>(m, "CoreModel")
      .def(nb::init<nb::dict>(), nb::arg("compiled"))
      .def_prop_ro(
          "nq", [](const CoreModel& model) { return model.tree().nq; }, "Length of a configuration q.")
      .def_prop_ro(
          "nv", [](const CoreModel& model) { return model.tree().nv; }, "Length of a velocity v.")
      .def("inverse_dynamics", &inverse_dynamics, any("q"), any("v"), nb::arg("a") = nb::none(), nb::kw_only(),
           nb::arg("wrenches") = nb::none(), nb::arg("wrench_frame").none() = "body", nb::arg("frame").none() = "body",
           nb::arg("out") = nb::none(), nb::sig(inverse_dynamics_signature), inverse_dynamics_doc)
      .def("_forward_kinematics", &forward_kinematics, any("q"), any("v"), nb::arg("first"), nb::arg("count"), nb::arg("pose_rows"),
           any("frame"), any("given_frame"), nb::sig(forward_kinematics_signature))
      .def("change_velocity_frame", &change_velocity_frame, any("q"), any("v"), any("source"), any("target"),
           nb::sig(change_velocity_frame_signature), change_velocity_frame_doc)
      .def("change_force_frame", &change_force_frame, any("q"), any("v"), any("tau"), any("source"), any("target"),
           nb::sig(change_force_frame_signature), change_force_frame_doc)
      .def("integrate", &integrate_all, any("q"), any("dv"), nb::sig(integrate_signature), integrate_doc)
      .def("difference", &difference_all, any("q0"), any("q1"), nb::sig(difference_signature), difference_doc);

  m.def("num_threads", &thread_count, "How many threads a batch may use.");
  m.def("set_num_threads", &set_thread_count, nb::arg("n"), "Lets a batch use n threads; 0 stands for one a core.");
  m.def("instruction_set", [] { return kernels().name; }, "Which build of the kernels runs: generic, avx2 or avx512.");
  m.def(
      "instruction_sets",
      [] {
        nb::list names;
        for (const char* name : available_kernels()) names.append(name);
        return names;
      },
      nb::sig("def instruction_sets() -> list[str]"), "The builds that this machine can run, the best last.");
  m.def("use_instruction_set", &choose_kernels, nb::arg("name"), "Makes all calls use one build, for tests and measurements.");
}
