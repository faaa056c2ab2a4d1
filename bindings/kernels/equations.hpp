// Kernels for what comes from the screws of a robot: one Task a quantity, which is made once a call and run once a state.
#pragma once

#include "jounce/world_frame.hpp"
#include "select.hpp"

JOUNCE_BEGIN

template <class Task>
struct EquationsKernel {
  using Ring = typename Task::Ring;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    Task task;
    Space(const Tree& tree, int rows, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)), world(tree, motion, arena), task(tree, motion, world, rows, arena) {}
  };

  static std::size_t workspace(const Tree& tree, int rows, int) {
    ArenaSize size;
    Space<ArenaSize>(tree, rows, size);
    return size.bytes();
  }

  static void run(const EquationsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    Arena arena(block);
    Space<Arena> space(*call.tree, call.rows, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(*call.tree, call.states, i, 1, call.states.rows);
      space.task(call, space.world, call.out + i * call.size);
    }
  }

  static constexpr Kernel<EquationsCall> kernel{workspace, run};
};

// Few rings serve all lengths, padded up; `same` is where this kernel is in the table.
using Same = EquationsKernels::Select EquationsKernels::*;
template <template <class> class Task>
Kernel<EquationsCall> moving_equations_kernel(int coefficients, Same same) {
  if (coefficients <= 2) return EquationsKernel<Task<SingleRing<0>>>::kernel;
  if (coefficients <= 8) return EquationsKernel<Task<SingleRing<6>>>::kernel;
  if constexpr (generic_build)
    return EquationsKernel<Task<SingleRing<30>>>::kernel;
  else
    return (generic_kernels().equations.*same)(coefficients);
}

// Positions alone have a ring of their own.
template <template <class> class Task>
Kernel<EquationsCall> equations_kernel(int coefficients, Same same) {
  return coefficients <= 1 ? EquationsKernel<Task<ArrayRing<double, -1>>>::kernel : moving_equations_kernel<Task>(coefficients, same);
}

JOUNCE_END
