#include "forward_dynamics_run.hpp"
#include "jounce/constraints/constraint_forces.hpp"
#include "jounce/constraints/constraint_jacobian.hpp"

JOUNCE_BEGIN

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
    if (call_.dynamics.equations[i].singular) return;
    for (int k = 0; k < rows; ++k) {
      const double scale = factorial.value[k];
      for (int j = 0; call_.forces && j < count; ++j) {
        double* out = call_.forces + ((i * rows + k) * count + j) * 6;
        forces_.force(j, k, call_.axes, out);
        for (int c = 0; c < 6; ++c) out[c] *= scale;
      }
      for (int r = 0; call_.multipliers && r < m; ++r) call_.multipliers[(i * rows + k) * m + r] = scale * forces_.multiplier(k, r);
    }
  }

 private:
  const ConstrainedDynamicsCall& call_;
  ForwardDynamicsRun<double> forward_;
  ConstraintForces forces_;
};

static std::size_t constrained_dynamics_workspace(const ConstrainedDynamicsCall& call) {
  ArenaSize size;
  ConstrainedDynamicsRun(call, size);
  return size.bytes();
}
static void run_constrained_dynamics(const ConstrainedDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  Arena arena(block);
  ConstrainedDynamicsRun constrained(call, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) constrained(i);
}

template <class Ring>
struct ConstraintRowsKernel {
  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    ConstraintJacobian<Ring> rows;
    Space(const ConstraintRowsCall& call, Arena& arena)
        : motion(Motion<Ring>::allocate(*call.tree, arena)),
          world(*call.tree, motion, arena),
          rows(*call.tree, *call.constraints, motion, world, call.rows, arena) {}
  };
  static std::size_t workspace(const ConstraintRowsCall& call) {
    ArenaSize size;
    Space<ArenaSize>(call, size);
    return size.bytes();
  }
  static void run(const ConstraintRowsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    Arena arena(block);
    Space<Arena> space(call, arena);
    const std::ptrdiff_t m = call.constraints->rows;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(*call.tree, call.states, i, 1, call.states.rows);
      space.world.place(call.states.axes);
      space.rows.place();
      space.rows.run(call.jacobian + i * call.rows * m * call.tree->nv);
      space.rows.residuals(call.residual + i * m);
      space.rows.wrenches(call.wrench + i * m * 6);
    }
  }
  static constexpr Kernel<ConstraintRowsCall> kernel{workspace, run};
};

Kernel<ConstrainedDynamicsCall> constrained_dynamics_kernel(int, bool) {
  return {constrained_dynamics_workspace, run_constrained_dynamics};
}
Kernel<ConstraintRowsCall> constraint_rows_kernel(int coefficients, bool) {
  return padded_kernel<ConstraintRowsKernel, 1>(coefficients, &Kernels::constraint_rows);
}

JOUNCE_END
