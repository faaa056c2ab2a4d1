#include "states.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "nodes.hpp"

namespace jounce {

Axes axes_named(nb::handle name, const char* argument) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(name.ptr()) ? PyUnicode_AsUTF8AndSize(name.ptr(), &length) : nullptr;
  const std::string_view given(text ? text : "", length);
  if (given == "body") return Axes::body;
  if (given == "world") return Axes::world;
  if (given == "mixed") return Axes::mixed;
  PyErr_Clear();
  fail(nb::str(nb::module_::import_("jounce._checks").attr("not_axes")(argument, name)).c_str());
}

Axes velocity_axes_named(const Tree& tree, nb::handle name, Axes axes) {
  if (!name.is_none()) return axes_named(name, "velocity_frame");
  if (axes == Axes::body || tree.free_joint_count == 0) return axes;
  const std::string frame = axes == Axes::world ? "'world'" : "'mixed'";
  fail("velocity_frame is missing: frame is " + frame +
       ", which sets the axes of twists, but not those of the velocity of this robot's Free joints; "
       "expected velocity_frame='body' (as in Pinocchio), 'world' or 'mixed'");
}

namespace {

double length(const double* u) { return std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]); }

// Those within 1e-6 of unit length are normalised by the kernels.
bool are_quaternions(const Tree& tree, const Input& q, std::ptrdiff_t begin, std::ptrdiff_t end) {
  bool good = true;
  for (std::ptrdiff_t s = begin; s < end; ++s)
    for (int i = 0; i < tree.quaternion_count; ++i) good &= std::fabs(length(q.data() + s * tree.nq + tree.quaternions[i]) - 1) <= 1e-6;
  return good;
}

void expect_configuration_shape(const Tree& tree, const Input& q) {
  q.expect_dimensions();
  q.expect_last(tree.nq, "nq");
}

void expect_configuration_numbers(const Tree& tree, const Input& q) {
  q.expect_finite();
  if (tree.quaternion_count == 0) return;
  const npy_intp states = q.total() / tree.nq;
  if (are_quaternions(tree, q, 0, states)) return;
  for (npy_intp s = 0; s < states; ++s)
    for (int i = 0; i < tree.quaternion_count; ++i) {
      const int at = tree.quaternions[i];
      const double found = length(q.data() + s * tree.nq + at);
      if (!(std::fabs(found - 1) <= 1e-6))
        fail(q.name() + "[..., " + std::to_string(at) + ":" + std::to_string(at + 4) + "] is a quaternion of length " +
             std::to_string(found) + (q.batch_dimensions() ? " in state " + std::to_string(s) : "") + ", expected 1");
    }
}

void expect_velocity_shape(const Tree& tree, const Input& v) {
  v.expect_dimensions();
  v.expect_last(tree.nv, "nv");
}

// Whether a stack has exactly the batch shape of q, as one row for each state would have. A stack of one row is both.
bool has_batch_of(const Input& q, const Input& stack) {
  const int n = q.dimensions();
  if (n == 1 || stack.dimensions() != n || stack.size(-2) == 1) return false;
  for (int d = 0; d < n - 1; ++d)
    if (q.size(d) != stack.size(d)) return false;
  return true;
}

constexpr const char* was_a_forgotten = "was `a` forgotten? With `a`, v is one velocity for each state";

void expect_stack_shape(const Tree& tree, const Input& v, int least, int most, const char* what, const Input* q = nullptr) {
  const std::string nv = std::to_string(tree.nv);
  const auto refuse = [&] {
    fail(v.name() + " has shape " + describe(v.shape()) + ", expected a stack (..., rows, " + nv + ") of " +
         (least > 1 ? "at least " + std::to_string(least) + " rows: " : "") + what);
  };
  if (v.dimensions() == 1 && v.size(-1) == tree.nv) refuse();
  expect_velocity_shape(tree, v);
  if (v.size(-2) < least) refuse();
  if (v.size(-2) > most)
    fail(v.name() + " has " + std::to_string(v.size(-2)) + " rows, expected at most " + std::to_string(most) + ": the highest order is " +
         std::to_string(highest_order) +
         (q && has_batch_of(*q, v) ? std::string(". It has the batch shape of q: ") + (least > 1 ? was_a_forgotten : one_for_each) : ""));
}

}  // namespace

void expect_configuration(const Tree& tree, const Input& q) {
  expect_configuration_shape(tree, q);
  expect_configuration_numbers(tree, q);
}

void expect_velocity(const Tree& tree, const Input& v) {
  expect_velocity_shape(tree, v);
  v.expect_finite();
}

void expect_stack(const Tree& tree, const Input& v, int least, int most, const char* what) {
  expect_stack_shape(tree, v, least, most, what);
  v.expect_finite();
}

void expect_order(nb::handle order, const Input& q, const Input& given, bool stacked, npy_intp rows_of_result, const char* single) {
  if (order.is_none()) {
    if (!stacked || !has_batch_of(q, given) || NodesWatch::again()) return;
    const std::string shape = describe(given.shape()), rows = std::to_string(given.size(-2)), r = std::to_string(rows_of_result - 1);
    nb::module_::import_("jounce._checks")
        .attr("warn_of_batch")(given.name() + " has shape " + shape + ", with the batch shape of q, and is taken for one stack of " + rows +
                               " rows for all states: " + single + ". " + given.name() + "[None], or order=" + r +
                               ", says that one stack for all is meant");
    return;
  }
  if (PyLong_CheckExact(order.ptr()) && PyLong_AsLong(order.ptr()) == rows_of_result - 1) return;
  PyErr_Clear();  // of a number that is too large
  std::string words = given.name() + " has shape " + describe(given.shape());
  if (stacked) words += ", which is a stack of " + std::to_string(given.size(-2)) + (given.size(-2) == 1 ? " row" : " rows");
  if (stacked && (has_batch_of(q, given) || given.name() == "tau")) words += std::string(": ") + single;
  nb::module_::import_("jounce._checks").attr("expect_order")(order, rows_of_result - 1, words);
}

double cost(const Tree& tree, npy_intp rows) {
  const int bodies = tree.soft ? std::max(tree.size, tree.screws) : tree.size;  // a section has a screw for each coordinate of its body
  return 0.02 * double(bodies + 1) * double(rows) * (1 + 0.1 * double(rows));
}

MovingStates::MovingStates(const CoreModel& model, nb::handle q, nb::handle v, Velocity kind, Axes axes)
    : tree_(model.tree()), axes_(axes), kind_(kind), q_(q, "q", 1) {
  const bool stack = kind == Velocity::stack || kind == Velocity::stack_or_row;
  if (kind != Velocity::none) v_ = Input(v, "v", stack ? 2 : 1);
  if (kind != Velocity::stack_or_row) return;
  kind_ = v_.dimensions() == 1 ? Velocity::row : Velocity::stack;
  if (kind_ == Velocity::row) v_.set_core(1);
}

MovingStates::MovingStates(const CoreModel& model, nb::handle q, nb::handle v, nb::handle a, Axes axes)
    : MovingStates(model, q, v, a.is_none() ? Velocity::stack : Velocity::pair, axes) {
  if (kind_ == Velocity::pair) a_ = Input(a, "a", 1);
  least_rows_ = 2;
}

void MovingStates::expect_shapes(int most_rows) const {
  expect_configuration_shape(tree_, q_);
  if (kind_ == Velocity::row || kind_ == Velocity::pair) expect_velocity_shape(tree_, v_);
  if (kind_ == Velocity::pair) expect_velocity_shape(tree_, a_);
  if (kind_ == Velocity::stack)
    expect_stack_shape(tree_, v_, least_rows_, most_rows, least_rows_ == 2 ? "v, dv/dt, ... (or v and a apart)" : "v, dv/dt, ...", &q_);
}

void MovingStates::expect_stated_order(nb::handle order, npy_intp rows_of_result) const {
  jounce::expect_order(order, q_, kind_ == Velocity::none ? q_ : v_, stacked(), rows_of_result,
                       least_rows_ == 2 ? was_a_forgotten : one_for_each);
}

void MovingStates::expect_numbers() const {
  expect_configuration_numbers(tree_, q_);
  if (kind_ != Velocity::none) v_.expect_finite();
  if (kind_ == Velocity::pair) a_.expect_finite();
}

bool MovingStates::are_numbers(std::ptrdiff_t begin, std::ptrdiff_t end) const {
  const auto finite = [&](const Input& x, std::ptrdiff_t step) {
    return step == 0 ? x.is_finite(0, x.total()) : x.is_finite(begin * step, end * step);
  };
  const bool same = states_.q_step == 0;  // the same in all states
  return finite(q_, states_.q_step) && are_quaternions(tree_, q_, same ? 0 : begin, same ? 1 : end) &&
         (kind_ == Velocity::none || finite(v_, states_.v_step)) && (kind_ != Velocity::pair || finite(a_, states_.rest_step));
}

bool MovingStates::is_moderate() const {
  const auto moderate = [](const Input& x) { return kernels().below(x.data(), x.total(), moderate_exponent); };
  return tree_.moderate && !tree_.soft && rows() <= 7 && moderate(q_) && (kind_ == Velocity::none || moderate(v_));
}

int MovingStates::rows() const {
  switch (kind_) {
    case Velocity::none:
      return 0;
    case Velocity::row:
      return 1;
    case Velocity::pair:
      return 2;
    case Velocity::stack:
    case Velocity::stack_or_row:
      break;
  }
  return int(v_.size(-2));
}

void MovingStates::add_to(Inputs& inputs) const {
  inputs.push_back(&q_);
  if (kind_ != Velocity::none) inputs.push_back(&v_);
  if (kind_ == Velocity::pair) inputs.push_back(&a_);
}

void MovingStates::broadcast(const Shape& batch) {
  states_.rows = rows();
  states_.q_step = q_.broadcast(batch), states_.q = q_.data();
  if (kind_ != Velocity::none) {
    states_.v_step = states_.rest_step = v_.broadcast(batch);
    states_.v = v_.data(), states_.rest = v_.data() + tree_.nv;
  }
  if (kind_ == Velocity::pair) states_.rest_step = a_.broadcast(batch), states_.rest = a_.data();
  states_.axes = axes_;
}

const Frame& frame_named(const CoreModel& model, nb::handle name) {
  int index = -1;
  if (PyUnicode_CheckExact(name.ptr())) {  // the usual case, without calling Python
    PyObject* found = PyDict_GetItemWithError(model.frame_index().ptr(), name.ptr());
    if (found) index = int(PyLong_AsLong(found));
  }
  if (index < 0) index = nb::cast<int>(nb::find(model).attr("frame_index")(name));
  if (index < 0 || index >= int(model.frames().size()))
    fail("frame_index gave " + std::to_string(index) + ", which is not a frame of this model");
  return model.frames()[index];
}

WrenchArguments::WrenchArguments(const CoreModel& model, nb::handle given, bool stacked) : stacked_(stacked) {
  if (given.is_none()) return;
  nb::dict items;  // a copy: code that runs below might change the one given
  if (PyDict_Check(given.ptr()))
    items = nb::steal<nb::dict>(PyDict_Copy(given.ptr()));
  else if (!PyMapping_Check(given.ptr()) || !nb::hasattr(given, "keys"))
    fail(std::string("wrenches must be a dict of name: array, got a ") + Py_TYPE(given.ptr())->tp_name);
  else if (PyDict_Update(items.ptr(), given.ptr()) != 0)
    nb::raise_python_error();  // whatever a user's mapping raises, including Ctrl-C
  for (auto [name, value] : items) {
    frames_.push_back(frame_named(model, name));
    inputs_.emplace_back(value, std::string("wrenches[") + nb::repr(name).c_str() + "]", stacked ? 2 : 1);
  }
}

void WrenchArguments::expect(npy_intp rows) const {
  for (const Input& w : inputs_) {
    if (w.dimensions() < (stacked_ ? 2 : 1) || w.size(-1) != 6 || (stacked_ && w.size(-2) != rows))
      fail(w.name() + " has shape " + describe(w.shape()) + ", expected (..., " + (stacked_ ? std::to_string(rows) + ", " : "") +
           "6): a [force; moment] for each row of torque");
    w.expect_finite();
  }
}

void WrenchArguments::add_to(Inputs& inputs) const {
  for (const Input& w : inputs_) inputs.push_back(&w);
}

void WrenchArguments::broadcast(const Shape& batch) {
  for (Input& w : inputs_) steps_.push_back(w.broadcast(batch));
}

void WrenchArguments::gather(std::ptrdiff_t begin, std::ptrdiff_t end, npy_intp rows, double* all) const {
  const std::ptrdiff_t count = std::ptrdiff_t(inputs_.size());
  for (std::ptrdiff_t i = 0; i < count; ++i)
    for (std::ptrdiff_t s = begin; s < end; ++s)
      for (npy_intp k = 0; k < rows; ++k)
        for (int c = 0; c < 6; ++c) all[((s * rows + k) * count + i) * 6 + c] = inputs_[i].data()[s * steps_[i] + k * 6 + c];
}

}  // namespace jounce
