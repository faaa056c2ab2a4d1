#include "consistency.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "answers.hpp"
#include "bind.hpp"

namespace jounce {
namespace {

constexpr double too_far_off = 1e-8;                 // of its size: such an answer comes with a warning
constexpr double one_ulp = 0x1p-52, push = 0x1p-30;  // relative changes of the velocity: its rounding error, and what it is tried with

thread_local int unjudged_rates = 0;

std::string in_state(const Shape& batch, std::ptrdiff_t i) { return batch.empty() ? "" : ", in state " + std::to_string(i); }

double largest(const double* x, std::ptrdiff_t count) {
  double most = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) most = std::max(most, std::fabs(x[i]));
  return most;
}

// Constraints of constant rank can be obeyed from any velocity that obeys them; so one is tried. It is the acceleration from rest under
// forces that would give each coordinate one of its natural size, without the constraints. Returns how the states that were listed fare.
std::vector<Consistency> tried(const ConstrainedDynamicsCall& call, const std::vector<std::ptrdiff_t>& states) {
  const Tree& tree = *call.dynamics.tree;
  const double* sizes = call.constraints->coordinate_sizes;
  const std::ptrdiff_t n = std::ptrdiff_t(states.size()), nv = tree.nv;
  const auto q = scratch(n * tree.nq), v = scratch(n * nv), wanted = scratch(n * nv), tau = scratch(n * nv), acc = scratch(n * nv);
  std::vector<Solvability> equations(n);
  std::vector<Consistency> consistency(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    std::copy_n(call.dynamics.q + states[i] * call.dynamics.q_step, tree.nq, q.get() + i * tree.nq);
    for (std::ptrdiff_t j = 0; j < nv; ++j) v[i * nv + j] = 0, wanted[i * nv + j] = sizes[j] * std::sin(1.0 + 2.3 * double(j));
  }
  const InverseDynamicsCall forces{&tree, {q.get(), v.get(), wanted.get(), tree.nq, nv, nv, 2, Axes::body}, {}, tau.get()};
  const auto inverse = kernels().inverse_dynamics(2, false);
  for_each_part(n, cost(tree, 2), inverse.workspace(forces),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { inverse.run(forces, begin, end, workspace); });
  ConstrainedDynamicsCall trial{};
  trial.dynamics = call.dynamics;
  trial.constraints = call.constraints;
  trial.consistency = consistency.data();
  ForwardDynamicsCall& at = trial.dynamics;
  at.q = q.get(), at.q_step = tree.nq, at.v = v.get(), at.v_step = nv, at.tau = tau.get(), at.tau_step = nv;
  at.prescribed = nullptr, at.acc = nullptr, at.tau_out = nullptr;  // rows implied by prescribed motions are judged by those
  at.rows = 1, at.wrenches = {}, at.axes = Axes::body, at.acc_out = acc.get();
  at.equations = equations.data();
  const auto kernel = kernels().constrained_dynamics(2, false);
  const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) { kernel.run(trial, begin, end, workspace); };
  for_each_part(n, 4 * cost(tree, 2), kernel.workspace(trial), part);
  const double fall = largest(tree.gravity, 3) / call.constraints->length, pace = fall > 0 ? std::sqrt(fall) : 1.0;  // 1/s
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double size = 0;
    for (std::ptrdiff_t j = 0; j < nv; ++j) size = std::max(size, std::fabs(acc[i * nv + j]) / sizes[j]);
    for (std::ptrdiff_t j = i * nv; j < (i + 1) * nv; ++j) {
      v[j] = size > 1e-8 ? 10 * pace / size * acc[j] : 0.0;  // otherwise nothing can move
      tau[j] = 0;
    }
  }
  for_each_part(n, 4 * cost(tree, 2), kernel.workspace(trial), part);
  return consistency;
}

// Where rows are nearly combinations of others, as near a dead centre, derivatives lose digits with every order. How many is found by
// trying: the velocity is changed by some roundings, and the answer changes as it would by its own.
void warn_of_lost_digits(const CoreModel& model, const ConstrainedDynamicsCall& call, const Shape& batch,
                         const std::vector<std::ptrdiff_t>& states) {
  const ForwardDynamicsCall& given = call.dynamics;
  const std::ptrdiff_t count = product(batch), nv = given.tree->nv, rows = given.rows, size = rows * nv;
  const auto v = scratch(count * nv), acc = scratch(count * size), tau = scratch(given.tau_out ? count * size : 0);
  std::vector<Solvability> equations(count);
  std::vector<Consistency> consistency(count);
  for (std::ptrdiff_t i : states)
    for (std::ptrdiff_t j = 0; j < nv; ++j) v[i * nv + j] = given.v[i * given.v_step + j] * (1 + push * std::sin(1.0 + 2.3 * double(j)));
  ConstrainedDynamicsCall pushed = call;
  pushed.dynamics.v = v.get(), pushed.dynamics.v_step = nv, pushed.dynamics.acc_out = acc.get();
  pushed.dynamics.tau_out = given.tau_out ? tau.get() : nullptr;
  pushed.dynamics.equations = equations.data(), pushed.consistency = consistency.data();
  pushed.forces = pushed.multipliers = nullptr;
  const auto kernel = kernels().constrained_dynamics(int(rows) + 1, false);
  for_each_part(std::ptrdiff_t(states.size()), 4 * cost(*given.tree, int(rows) + 1), kernel.workspace(pushed),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  for (std::ptrdiff_t k = begin; k < end; ++k) kernel.run(pushed, states[k], states[k] + 1, workspace);
                });
  const double* sizes = call.constraints->coordinate_sizes;
  double worst = too_far_off;
  std::ptrdiff_t state = -1, order = 0;
  for (std::ptrdiff_t i : states)
    for (std::ptrdiff_t k = 0; k < rows; ++k) {
      const double *was = given.acc_out + i * size + k * nv, *is = acc.get() + i * size + k * nv;
      double change = 0, whole = 0;  // in natural sizes
      for (std::ptrdiff_t j = 0; j < nv; ++j) {
        change = std::max(change, std::fabs(is[j] - was[j]) / sizes[j]);
        whole = std::max(whole, std::fabs(was[j]) / sizes[j]);
      }
      if (const double off = change * (one_ulp / push); off > worst * whole) worst = off / whole, state = i, order = k;
    }
  if (state < 0) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", worst);
  warn_as("PrecisionWarning", "derivative " + std::to_string(order) + " of the acceleration may be off by " + text + " of its size" +
                                  in_state(batch, state) + ": constraint " + model.constraint_name(call.consistency[state].nearly) +
                                  " is nearly redundant in this configuration, as near a dead centre");
}

}  // namespace

void warn_of_unequal_masses(const CoreModel& model, const Consistency* each, const Shape& batch) {
  std::ptrdiff_t worst = 0;
  for (std::ptrdiff_t i = 0; i < product(batch); ++i)
    if (each[i].lost > each[worst].lost) worst = i;
  if (product(batch) == 0 || !(each[worst].lost > too_far_off)) return;
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", each[worst].lost);
  warn_as("PrecisionWarning", "the force of constraint " + model.constraint_name(each[worst].loses) + " may be off by " + text +
                                  " of its size" + in_state(batch, worst) +
                                  ": masses, or what they are behind gears, are very unequal beside it");
}

std::ptrdiff_t expect_consistent(const CoreModel& model, const ConstrainedDynamicsCall& call, const Shape& batch) {
  std::ptrdiff_t most = 0, contradicts = -1;
  std::vector<std::ptrdiff_t> redundant, nearly;
  for (std::ptrdiff_t i = 0; i < product(batch); ++i) {
    const Consistency& each = call.consistency[i];
    if (each.flat >= 0)
      fail_as("ConstraintError", "constraint " + model.constraint_name(each.flat) +
                                     " has no point where it rolls: the wheel lies flat, its axis is along the normal of the plane" +
                                     in_state(batch, i));
    if (each.error > contradiction_fraction && contradicts < 0) contradicts = i;
    if (each.dependent > 0) redundant.push_back(i);
    if (each.nearly >= 0 && unjudged_rates == 0) nearly.push_back(i);
    most = std::max<std::ptrdiff_t>(most, each.dependent);
  }
  if (contradicts < 0 && call.shares) return most;  // all has been tried before
  warn_of_unequal_masses(model, call.consistency, batch);
  const std::vector<Consistency> found = redundant.empty() ? std::vector<Consistency>() : tried(call, redundant);
  for (std::size_t i = 0; i < redundant.size(); ++i) {
    if (!(found[i].error > contradiction_fraction)) continue;
    const std::string what = "constraint " + model.constraint_name(found[i].contradicts) +
                             " loses rank in this configuration, as at a dead centre" + in_state(batch, redundant[i]);
    if (call.dynamics.rows > 1) fail_as("ConstraintError", what + ": the motion has no derivatives that the equations give");
    if (contradicts >= 0) break;
    warn_as("ConstraintWarning", what + ": the accelerations are those of least constraint (Gauss), and not the only ones that obey");
    break;
  }
  if (contradicts >= 0)
    fail_as("ConstraintError", "constraint " + model.constraint_name(call.consistency[contradicts].contradicts) +
                                   " contradicts others, or a prescribed acceleration: no motion obeys all of them" +
                                   in_state(batch, contradicts));
  if (!nearly.empty()) warn_of_lost_digits(model, call, batch, nearly);
  return most;
}

// While one is entered, this thread is not warned of digits that derivatives lose.
class UnjudgedRates {
 public:
  void enter() { ++unjudged_rates; }
  void leave() { --unjudged_rates; }
};

void bind_consistency(nb::module_& m) {
  nb::class_<UnjudgedRates>(m, "UnjudgedRates")
      .def(nb::init<>())
      .def("__enter__", [](UnjudgedRates& self) { self.enter(); })
      .def("__exit__", [](UnjudgedRates& self, nb::args) { self.leave(); }, nb::sig("def __exit__(self, *fault: object) -> None"));
}

}  // namespace jounce
