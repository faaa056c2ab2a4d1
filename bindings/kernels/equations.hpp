// Kernels for quantities computed from the screws of a robot: one Task per quantity, constructed once per call and run once per state.
// It writes by columns; Task::to_own says which of its axes are then converted to own coordinates.
#pragma once

#include "jounce/motion/world_frame.hpp"
#include "jounce/tree/own_coordinates.hpp"
#include "select.hpp"

JOUNCE_BEGIN

enum class ToOwn { none, columns, matrices };

template <class Task>
struct EquationsKernel {
  using Ring = typename Task::Ring;

  // Numbers of a result by columns.
  static std::ptrdiff_t size(const EquationsCall& call) {
    const Tree& tree = *call.tree;
    if (Task::to_own == ToOwn::none || tree.follower_count == 0) return 0;
    return Task::to_own == ToOwn::matrices ? std::ptrdiff_t(call.rows) * tree.columns * tree.columns : call.size / tree.nv * tree.columns;
  }

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    Task task;
    double* by_columns;
    Space(const EquationsCall& call, Arena& arena)
        : motion(Motion<Ring>::allocate(*call.tree, arena)),
          world(*call.tree, motion, arena),
          task(*call.tree, motion, world, call.rows, arena),
          by_columns(arena.template take<double>(size(call))) {}
  };

  static std::size_t workspace(const EquationsCall& call) {
    ArenaSize size;
    Space<ArenaSize>(call, size);
    return size.bytes();
  }

  static void run(const EquationsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(call, arena);
    const bool direct = Task::to_own == ToOwn::none || tree.follower_count == 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      double* out = call.out + i * call.size;
      if constexpr (Ring::order < 0 && requires { Task::along_path; })
        space.motion.read_path(tree, call.states, i, call.frame->body);
      else
        space.motion.read(tree, call.states, i, 1, call.states.rows);
      space.task(call, space.world, direct ? out : space.by_columns);
      if (direct) continue;
      if (Task::to_own == ToOwn::matrices)
        matrices_to_own(tree, call.rows, space.by_columns, out);
      else
        columns_to_own(tree, call.size / tree.nv, space.by_columns, out);
    }
  }

  static constexpr Kernel<EquationsCall> kernel{workspace, run};
};

template <template <class> class Task>
struct EquationsKernels {
  template <class Ring>
  using Of = EquationsKernel<Task<Ring>>;
};

template <template <class> class Task, int least = 1>
Kernel<EquationsCall> equations_kernel(int coefficients, Select<EquationsCall> Kernels::* same) {
  return padded_kernel<EquationsKernels<Task>::template Of, least>(coefficients, same);
}

JOUNCE_END
