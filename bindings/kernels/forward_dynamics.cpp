#include "jounce/forward_dynamics.hpp"

#include "select.hpp"
#include "wrenches.hpp"

JOUNCE_BEGIN

// One state at order zero, in body axes, nothing prescribed.
struct ForwardDynamicsKernel {
  using Ring = ForwardDynamics::Ring;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    ForwardDynamics dynamics;
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)), world(tree, motion, arena), dynamics(tree, motion, world, arena) {}
  };

  static std::size_t workspace(const Tree& tree, int, int) {
    ArenaSize size;
    Space<ArenaSize>(tree, size);
    return size.bytes();
  }

  static void run(const HybridDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const States state{call.q, call.v, nullptr, call.q_step, call.v_step, 0, 1};
      space.motion.read(tree, state, i, 1, 1);
      space.world.place(Axes::body);
      space.world.weigh();
      space.dynamics.start();
      for (int j = 0; j < call.wrenches.count; ++j)
        if (const int body = call.wrenches.frames[j].body; body >= 0) {
          Vec3<Series<double, 1>> x;
          space.dynamics.apply_wrench(body, wrench_in_world(call.wrenches, i, j, 1, space.world, x));
        }
      call.singular[i] = space.dynamics.run(call.tau + i * call.tau_step, call.acc_out + i * tree.nv);
    }
  }
};

Kernel<HybridDynamicsCall> forward_dynamics_kernel() { return {ForwardDynamicsKernel::workspace, ForwardDynamicsKernel::run}; }

JOUNCE_END
