// Constrained dynamics, between the rows of a call and the coefficients of ForwardDynamics and ConstraintForces. T is double, or
// DoubleDouble.
#pragma once

#include "forward_dynamics_run.hpp"
#include "jounce/constraints/constraint_forces.hpp"

JOUNCE_BEGIN

template <class T>
class ConstrainedDynamicsRun {
 public:
  template <class Arena>
  ConstrainedDynamicsRun(const ConstrainedDynamicsCall& call, Arena& arena)
      : call_(call),
        forward_(call.dynamics, arena),
        forces_(*call.dynamics.tree, *call.constraints, call.dynamics.rows - 1, forward_.dynamics().places(), forward_.dynamics().factors(),
                forward_.dynamics().bias(), arena) {}

  void operator()(std::ptrdiff_t i) {
    const int count = call_.constraints->count, rows = call_.dynamics.rows, m = call_.constraints->rows;
    forces_.set_correction(call_.kp, call_.kd);
    forces_.set_shares(call_.shares ? call_.shares + i * call_.shares_step : nullptr);
    for (int j = 0; call_.motion && j < count; ++j)
      forces_.set_motion(j, call_.moves[j] ? call_.motion + i * call_.motion_step + std::ptrdiff_t(j) * (rows + 1) * 6 : nullptr, 6);
    call_.dynamics.equations[i] = forward_(i, 1, forces_);
    call_.consistency[i] = forces_.consistency();
    call_.consistency[i].precise = !std::is_same_v<T, double>;
    if (call_.dynamics.equations[i].singular) return;
    for (int k = 0; k < rows; ++k) {
      const double scale = factorial.value[k];
      for (int j = 0; call_.forces && j < count; ++j) {
        double* out = call_.forces + ((i * rows + k) * count + j) * 6;
        forces_.force(j, k, call_.axes, out);
        for (int c = 0; c < 6; ++c) out[c] *= scale;
      }
      for (int r = 0; call_.multipliers && r < m; ++r)
        call_.multipliers[(i * rows + k) * m + r] = rounded(scale * forces_.multiplier(k, r));
    }
  }

 private:
  const ConstrainedDynamicsCall& call_;
  ForwardDynamicsRun<T> forward_;
  ConstraintForces<T> forces_;
};

template <class T>
struct ConstrainedDynamicsKernel {
  static std::size_t workspace(const ConstrainedDynamicsCall& call) {
    ArenaSize size;
    ConstrainedDynamicsRun<T>(call, size);
    return size.bytes();
  }
  static void run(const ConstrainedDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    Arena arena(block);
    ConstrainedDynamicsRun<T> constrained(call, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) constrained(i);
  }
  static constexpr Kernel<ConstrainedDynamicsCall> kernel{workspace, run};
};

JOUNCE_END
