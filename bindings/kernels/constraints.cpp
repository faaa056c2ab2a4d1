#include "constrained_dynamics_run.hpp"
#include "jounce/constraints/constraint_jacobian.hpp"

JOUNCE_BEGIN

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
      call.flat[i] = space.rows.flat();
    }
  }
  static constexpr Kernel<ConstraintRowsCall> kernel{workspace, run};
};

Kernel<ConstrainedDynamicsCall> constrained_dynamics_kernel(int, bool) { return ConstrainedDynamicsKernel<double>::kernel; }
Kernel<ConstraintRowsCall> constraint_rows_kernel(int coefficients, bool) {
  return padded_kernel<ConstraintRowsKernel, 1>(coefficients, &Kernels::constraint_rows);
}

JOUNCE_END
