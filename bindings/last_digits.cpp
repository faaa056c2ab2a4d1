#include "last_digits.hpp"

#include <algorithm>
#include <cmath>

#include "arguments.hpp"
#include "chosen_kernels.hpp"
#include "jounce/motion/configuration.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {
namespace {

constexpr double one_ulp = 0x1p-52;
constexpr double large = 1e-2;     // of the largest entry: what counts in an answer
constexpr double rounding = 1e-6;  // of what is solved for on the way: what counts as zero in an answer

// Changes that follow no pattern, each by at most a digit of x or of what is large for it.
class LastDigits {
 public:
  double operator()() { return one_ulp * std::sin(1.0 + 2.3 * double(count_++)); }
  template <class X>
  void change(X& x, double size) {
    if constexpr (std::is_array_v<X>)
      for (double& each : x) change(each, size);
    else
      x += (*this)() * std::max(std::fabs(x), size);
  }

 private:
  int count_ = 0;
};

// Frames are products of others: they have the errors of these. Inertias are sums, of what is positive but for the centre of mass.
std::vector<Body> changed(const Tree& tree, double length, LastDigits& digits) {
  std::vector<Body> bodies(tree.bodies, tree.bodies + tree.size);
  for (Body& b : bodies) {
    digits.change(b.R, 1), digits.change(b.p, length), digits.change(b.slide, 0);
    const double second = std::max({b.second[0], b.second[1], b.second[2]});
    digits.change(b.mass, 0), digits.change(b.first, std::sqrt(b.mass * second)), digits.change(b.second, second);
  }
  return bodies;
}
std::vector<Constraint> changed(const Constraints& all, LastDigits& digits) {
  std::vector<Constraint> each(all.each, all.each + all.count);
  for (Constraint& c : each) {
    digits.change(c.a.R, 1), digits.change(c.b.R, 1), digits.change(c.a.p, all.length), digits.change(c.b.p, all.length);
    digits.change(c.length, 0);
  }
  return each;
}
// The forces of springs and dampers, which may be stiff, change with the last digits whether there are constraints or not.
bool are_stiff(const Tree& tree) { return tree.soft || tree.joint_forces; }

void change_configuration(const Tree& tree, const double* sizes, const double* q, LastDigits& digits, double* dq, double* out) {
  for (int j = 0; j < tree.nv; ++j) dq[j] = digits() * sizes[j];
  for (int i = 0; i < tree.size; ++i)
    if (const Body& b = tree.bodies[i]; has_own_coordinates(tree, b) && b.count == 1)
      dq[b.v] = std::copysign(std::max(std::fabs(dq[b.v]), one_ulp * std::fabs(q[b.q])), dq[b.v]);
  integrate(tree, q, dq, out);
}

template <class Size>
double largest(const Size& size, const double* x, std::ptrdiff_t count) {
  double most = 0;
  for (std::ptrdiff_t j = 0; j < count; ++j) most = std::max(most, std::fabs(x[j]) / size(j));
  return most;
}
// By how much an entry of y differs from that of x, relative to that, to a part of what is large, which this adds to, or to what counts as
// zero.
template <class Size>
double difference(const Size& size, const double* x, const double* y, std::ptrdiff_t count, double& whole, double zero) {
  whole = std::max(whole, largest(size, x, count));
  double most = 0;
  for (std::ptrdiff_t j = 0; j < count; ++j)
    if (const double change = std::fabs(y[j] - x[j]) / size(j); change > 0)
      most = std::max(most, change / std::max({large * whole, zero, std::fabs(x[j]) / size(j)}));
  return most;
}

}  // namespace

LostDigits lost_digits(const ConstrainedDynamicsCall& call, const std::vector<std::ptrdiff_t>& states) {
  const ForwardDynamicsCall& given = call.dynamics;
  Tree tree = *given.tree;
  Constraints constraints = *call.constraints;
  const std::ptrdiff_t last = *std::max_element(states.begin(), states.end()) + 1, nq = tree.nq, nv = tree.nv, m = constraints.rows,
                       rows = given.rows;
  const auto q = scratch(last * nq), v = scratch(last * nv), dq = scratch(nv);
  const auto acc = scratch(last * rows * nv), tau = scratch(given.tau_out ? last * rows * nv : 0);
  const auto multipliers = scratch(call.multipliers ? last * rows * m : 0);
  std::vector<Solvability> equations(last);
  std::vector<Consistency> consistency(last);
  const auto size = [&](std::ptrdiff_t j) { return constraints.coordinate_sizes[j]; };

  LastDigits digits;
  const std::vector<Body> bodies = changed(tree, constraints.length, digits);
  const std::vector<Constraint> each = changed(constraints, digits);
  for (std::ptrdiff_t i : states) {
    const double* v0 = given.v + i * given.v_step;
    const double fastest = largest(size, v0, nv);
    const double* q0 = given.q + i * given.q_step;
    if (are_stiff(tree))
      std::copy_n(q0, nq, q.get() + i * nq);
    else
      change_configuration(tree, constraints.coordinate_sizes, q0, digits, dq.get(), q.get() + i * nq);
    for (std::ptrdiff_t j = 0; j < nv; ++j) v[i * nv + j] = v0[j] + digits() * fastest * size(j);
  }
  tree.bodies = bodies.data(), constraints.each = each.data();
  ConstrainedDynamicsCall changed = call;
  changed.dynamics.tree = &tree, changed.constraints = &constraints;
  changed.dynamics.q = q.get(), changed.dynamics.q_step = nq, changed.dynamics.v = v.get(), changed.dynamics.v_step = nv;
  changed.dynamics.acc_out = acc.get(), changed.dynamics.tau_out = given.tau_out ? tau.get() : nullptr;
  changed.dynamics.equations = equations.data(), changed.consistency = consistency.data();
  changed.forces = nullptr, changed.multipliers = call.multipliers ? multipliers.get() : nullptr;
  const auto kernel = kernels().precise_constrained(int(rows) + 1, false);
  for_each_part(std::ptrdiff_t(states.size()), 400 * cost(tree, int(rows) + 1), kernel.workspace(changed),
                [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
                  for (std::ptrdiff_t k = begin; k < end; ++k) kernel.run(changed, states[k], states[k] + 1, workspace);
                });

  const auto none = [](std::ptrdiff_t) { return 1.0; };
  const double fall = largest(none, tree.gravity, 3) / constraints.length;
  double weight = 0;
  for (const Body& b : bodies) weight += b.mass * fall * constraints.length * constraints.length;
  LostDigits lost;
  for (std::ptrdiff_t i : states) {
    const Consistency& found = call.consistency[i];
    if (found.dependent != consistency[i].dependent) continue;  // which is judged apart
    if (are_stiff(tree) && found.nearly < 0) continue;
    // What is large even if the answer is zero: what gravity and velocities do, what loads of the order before become at that pace, and
    // rounding errors of what acts before constraints do.
    const double pace = std::max(std::sqrt(fall), largest(size, given.v + i * given.v_step, nv));
    const double applied = std::max(weight, largest([&](std::ptrdiff_t j) { return 1 / size(j); }, given.tau + i * given.tau_step, nv));
    double rates = pace * pace, zero = rounding * found.loose, no_load = rounding * applied;
    std::vector<double> loads(constraints.count, 0.0);
    const auto note = [&](double part, std::ptrdiff_t order, bool of_forces) {
      if (part > lost.part) lost = {part, i, order, of_forces};
    };
    for (std::ptrdiff_t k = 0; k < rows; ++k, rates *= pace, zero *= pace, no_load *= pace) {
      const std::ptrdiff_t at = (i * rows + k) * nv, row = (i * rows + k) * m;
      double usual = rates;
      note(difference(size, given.acc_out + at, acc.get() + at, nv, usual, zero), k, false);
      for (int j = 0; call.multipliers && j < constraints.count; ++j, loads[j - 1] *= pace) {
        const Constraint& c = constraints.each[j];
        const auto load = [&](std::ptrdiff_t r) { return 1 / constraints.row_sizes[c.first + r]; };
        const double *was = call.multipliers + row + c.first, *is = multipliers.get() + row + c.first;
        note(difference(load, was, is, c.count, loads[j], no_load), k, true);
      }
    }
  }
  return lost;
}

}  // namespace jounce
