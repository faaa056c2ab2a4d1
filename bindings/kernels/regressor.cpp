#include "jounce/algorithms/regressor.hpp"

#include "jounce/tree/own_coordinates.hpp"
#include "select.hpp"

JOUNCE_BEGIN

template <class Ring>
struct RegressorKernel {
  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    InverseDynamics<Ring> dynamics;
    Regressor<Ring> regressor;
    double* by_columns;
    Space(const RegressorCall& call, Arena& arena)
        : motion(Motion<Ring>::allocate(*call.tree, arena)),
          world(*call.tree, motion, arena),
          dynamics(*call.tree, motion, arena),
          regressor(*call.tree, call.bodies, call.body_count, world, dynamics, call.rows, arena),
          by_columns(arena.template take<double>(std::size_t(call.rows) * call.tree->columns * width(call))) {}
  };

  static std::ptrdiff_t width(const RegressorCall& call) { return std::ptrdiff_t(Regressor<Ring>::parameters) * call.body_count; }

  static std::size_t workspace(const RegressorCall& call) {
    ArenaSize size;
    Space<ArenaSize>(call, size);
    return size.bytes();
  }

  static void run(const RegressorCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    Arena arena(block);
    Space<Arena> space(call, arena);
    const std::ptrdiff_t size = std::ptrdiff_t(call.rows) * call.tree->nv * width(call);
    space.dynamics.start();
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(*call.tree, call.states, i, 1, call.states.rows);
      space.world.place(call.states.axes);
      space.dynamics.forward();
      space.regressor.run(space.by_columns);
      lines_to_own(*call.tree, call.rows, width(call), space.by_columns, call.out + i * size);
    }
  }

  static constexpr Kernel<RegressorCall> kernel{workspace, run};
};

Kernel<RegressorCall> regressor_kernel(int coefficients, bool) {
  return padded_kernel<RegressorKernel, 2>(coefficients, &Kernels::regressor);
}

JOUNCE_END
