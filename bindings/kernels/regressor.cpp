#include "jounce/regressor.hpp"

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
    Space(const Tree& tree, const Frame* bodies, int body_count, int rows, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          world(tree, motion, arena),
          dynamics(tree, motion, arena),
          regressor(tree, bodies, body_count, world, dynamics, rows, arena) {}
  };

  static std::size_t workspace(const Tree& tree, int rows, int body_count) {
    ArenaSize size;
    Space<ArenaSize>(tree, nullptr, body_count, rows, size);
    return size.bytes();
  }

  static void run(const RegressorCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    Arena arena(block);
    Space<Arena> space(*call.tree, call.bodies, call.body_count, call.rows, arena);
    const std::ptrdiff_t size = std::ptrdiff_t(call.rows) * call.tree->nv * Regressor<Ring>::parameters * call.body_count;
    space.dynamics.start();
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(*call.tree, call.states, i, 1, call.states.rows);
      space.world.place(call.axes);
      space.dynamics.forward();
      space.regressor.run(call.out + i * size);
    }
  }

  static constexpr Kernel<RegressorCall> kernel{workspace, run};
};

Kernel<RegressorCall> regressor_kernel(int rows) {
  if (rows <= 1) return RegressorKernel<SingleRing<0>>::kernel;
  if (rows <= 7) return RegressorKernel<SingleRing<6>>::kernel;
  if constexpr (generic_build)
    return RegressorKernel<SingleRing<30>>::kernel;
  else
    return generic_kernels().regressor(rows);
}

JOUNCE_END
