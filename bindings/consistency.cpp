#include "consistency.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "answers.hpp"
#include "bind.hpp"
#include "jounce/constraints/independent_rows.hpp"
#include "last_digits.hpp"
#include "thread_pool.hpp"

namespace jounce {
namespace {

constexpr double too_far_off = 1e-8;  // of its size: such an answer comes with a warning

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
  const auto part = [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    run_constrained_dynamics(trial, false, begin, end, workspace);
  };
  for_each_part(n, 4 * cost(tree, 2), kernel.workspace(trial), part);
  const double fall = largest(tree.gravity, 3) / call.constraints->length, pace = fall > 0 ? std::sqrt(fall) : 1.0;  // 1/s
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double size = 0;
    for (std::ptrdiff_t j = 0; j < nv; ++j) size = std::max(size, std::fabs(acc[i * nv + j]) / sizes[j]);
    for (std::ptrdiff_t j = i * nv; j < (i + 1) * nv; ++j) {
      v[j] = size > negligible ? 10 * pace / size * acc[j] : 0.0;  // otherwise nothing can move
      tau[j] = 0;
    }
  }
  for_each_part(n, 4 * cost(tree, 2), kernel.workspace(trial), part);
  return consistency;
}

}  // namespace

void run_constrained_dynamics(const ConstrainedDynamicsCall& call, bool judge_rates, std::ptrdiff_t begin, std::ptrdiff_t end,
                              void* workspace) {
  const int rows = call.dynamics.rows;
  const auto precise = kernels().precise_constrained(rows + 1, false);
  thread_local Workspace more;
  const bool always = call.constraints->unequal_gears;
  if (!always) kernels().constrained_dynamics(rows + 1, false).run(call, begin, end, workspace);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    const Consistency& found = call.consistency[i];
    const bool lost = found.lost > lost_fraction || found.cancelled > lost_fraction || found.error > contradiction_fraction ||
                      (judge_rates && found.nearly >= 0);
    if (always || (lost && !call.dynamics.equations[i].singular)) precise.run(call, i, i + 1, more.at_least(precise.workspace(call)));
  }
}

bool judges_rates() { return unjudged_rates == 0; }

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

void expect_upright(const CoreModel& model, std::int32_t flat, const Shape& batch, std::ptrdiff_t i) {
  if (flat >= 0)
    fail_as("ConstraintError", "constraint " + model.constraint_name(flat) +
                                   " has no point where it rolls: the wheel lies flat, its axis is along the normal of the plane" +
                                   in_state(batch, i));
}

std::ptrdiff_t expect_consistent(const CoreModel& model, const ConstrainedDynamicsCall& call, const Shape& batch) {
  std::ptrdiff_t most = 0, contradicts = -1;
  std::vector<std::ptrdiff_t> redundant, precise;
  for (std::ptrdiff_t i = 0; i < product(batch); ++i) {
    const Consistency& each = call.consistency[i];
    expect_upright(model, each.flat, batch, i);
    if (each.error > contradiction_fraction && contradicts < 0) contradicts = i;
    if (each.dependent > 0) redundant.push_back(i);
    if (each.precise && judges_rates()) precise.push_back(i);
    most = std::max<std::ptrdiff_t>(most, each.dependent);
  }
  if (contradicts < 0 && call.shares) return most;  // all has been tried before
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
  if (precise.empty()) return most;
  const LostDigits lost = lost_digits(call, precise);
  if (!(lost.part > too_far_off)) return most;
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", lost.part);
  const int nearly = call.consistency[lost.state].nearly;
  warn_as("PrecisionWarning", "derivative " + std::to_string(lost.order) + " of the " +
                                  (lost.of_forces ? "forces of constraints" : "acceleration") + " may be off by " + text + " of its size" +
                                  in_state(batch, lost.state) + ": the last digits of the robot and of its state move it as far, " +
                                  (nearly >= 0 ? "as constraint " + model.constraint_name(nearly) +
                                                     " is nearly redundant in this configuration, like near a dead centre"
                                               : std::string("as masses, or what they are behind gears, are very unequal")));
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
