#include "equations.hpp"
#include "jounce/coriolis_matrix.hpp"
#include "jounce/gravity_force.hpp"
#include "jounce/inverse_mass_matrix.hpp"
#include "jounce/mass_matrix.hpp"
#include "jounce/passive_inverse_dynamics.hpp"

JOUNCE_BEGIN

template <class R>
struct MassMatrixTask {
  using Ring = R;
  MassMatrix<Ring> matrix;
  template <class Arena>
  MassMatrixTask(const Tree& tree, const Motion<Ring>&, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : matrix(tree, world, rows, arena) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.velocity_axes);
    world.weigh_subtrees();
    matrix.run(call.velocity_axes, out);
  }
};

template <class R>
struct CoriolisMatrixTask {
  using Ring = R;
  CoriolisMatrix<Ring> matrix;
  template <class Arena>
  CoriolisMatrixTask(const Tree& tree, const Motion<Ring>&, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : matrix(tree, world, rows, arena) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.velocity_axes);
    world.weigh();
    matrix.run(call.velocity_axes, out);
  }
};

template <class R>
struct GravityForceTask {
  using Ring = R;
  template <class Arena>
  GravityForceTask(const Tree&, const Motion<Ring>&, const WorldFrame<Ring>&, int, Arena&) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.velocity_axes);
    world.weigh_subtrees();
    gravity_force(*call.tree, world, call.rows, out);
  }
};

// At order zero, of one algorithm each: a motion, its world frame and the algorithm in one workspace.
template <class Algorithm>
struct Space {
  using Ring = typename Algorithm::Ring;
  Motion<Ring> motion;
  WorldFrame<Ring> world;
  Algorithm algorithm;
  template <class Arena>
  Space(const Tree& tree, Arena& arena)
      : motion(Motion<Ring>::allocate(tree, arena)), world(tree, motion, arena), algorithm(tree, world, arena) {}

  static std::size_t workspace(const Tree& tree, int, int) {
    ArenaSize size;
    Space(tree, size);
    return size.bytes();
  }

  template <class Call>
  void start(const Call& call, std::ptrdiff_t i) {
    motion.read(*call.tree, call.states, i, 1, call.states.rows);
    world.place(call.axes);
    world.weigh();
  }
};

static void run_passive(const PassiveCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  Arena arena(block);
  Space<PassiveInverseDynamics> space(*call.tree, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    space.start(call, i);
    space.algorithm.run(call.axes, call.v_ref + i * call.v_ref_step, call.a_ref + i * call.a_ref_step, call.tau + i * call.tree->nv);
  }
}

static void run_inverse(const InverseMassMatrixCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  Arena arena(block);
  Space<InverseMassMatrix> space(*call.tree, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    space.start(call, i);
    call.singular[i] = space.algorithm.run(call.axes, call.out + i * call.tree->nv * call.tree->nv);
  }
}

Kernel<EquationsCall> mass_matrix_kernel(int coefficients) {
  return equations_kernel<MassMatrixTask>(coefficients, &EquationsKernels::mass_matrix);
}
Kernel<EquationsCall> coriolis_matrix_kernel(int coefficients) {
  return moving_equations_kernel<CoriolisMatrixTask>(coefficients, &EquationsKernels::coriolis_matrix);
}
Kernel<EquationsCall> gravity_force_kernel(int coefficients) {
  return equations_kernel<GravityForceTask>(coefficients, &EquationsKernels::gravity_force);
}
Kernel<PassiveCall> passive_inverse_dynamics_kernel() { return {Space<PassiveInverseDynamics>::workspace, run_passive}; }
Kernel<InverseMassMatrixCall> inverse_mass_matrix_kernel() { return {Space<InverseMassMatrix>::workspace, run_inverse}; }

JOUNCE_END
