#include "equations.hpp"
#include "jounce/algorithms/coriolis_matrix.hpp"
#include "jounce/algorithms/gravity_force.hpp"
#include "jounce/algorithms/inverse_dynamics_passive.hpp"
#include "jounce/algorithms/mass_matrix.hpp"

JOUNCE_BEGIN

template <class R>
struct MassMatrixTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::matrices;
  MassMatrix<Ring> matrix;
  template <class Arena>
  MassMatrixTask(const Tree& tree, const Motion<Ring>&, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : matrix(tree, world, rows, arena) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.gather_inertias();
    matrix.run(call.states.axes, out);
  }
};

template <class R>
struct CoriolisMatrixTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::matrices;
  CoriolisMatrix<Ring> matrix;
  template <class Arena>
  CoriolisMatrixTask(const Tree& tree, const Motion<Ring>&, const WorldFrame<Ring>& world, int rows, Arena& arena)
      : matrix(tree, world, rows, arena) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.set_inertias();
    matrix.run(call.states.axes, out);
  }
};

template <class R>
struct GravityForceTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::columns;
  template <class Arena>
  GravityForceTask(const Tree&, const Motion<Ring>&, const WorldFrame<Ring>&, int, Arena&) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.gather_inertias();
    gravity_force(*call.tree, world, call.rows, out);
  }
};

struct PassiveInverseDynamicsKernel {
  using Ring = PassiveInverseDynamics::Ring;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    PassiveInverseDynamics dynamics;
    double *v_ref, *a_ref, *tau;  // by columns
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          world(tree, motion, arena),
          dynamics(tree, world, arena),
          v_ref(arena.template take<double>(tree.columns)),
          a_ref(arena.template take<double>(tree.columns)),
          tau(arena.template take<double>(tree.columns)) {}
  };

  static std::size_t workspace(const PassiveCall& call) {
    ArenaSize size;
    Space<ArenaSize>(*call.tree, size);
    return size.bytes();
  }

  static void run(const PassiveCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    const auto by_columns = [&](const double* own, double* all) {
      for (int c = 0; c < tree.nv; ++c) all[c] = own[c];
      for (int j = 0; j < tree.follower_count; ++j) all[tree.followers[j].v] = tree.followers[j].ratio * own[tree.followers[j].leader_v];
    };
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, call.states.rows);
      space.world.place(call.states.axes);
      space.world.set_inertias();
      by_columns(call.v_ref + i * call.v_ref_step, space.v_ref);
      by_columns(call.a_ref + i * call.a_ref_step, space.a_ref);
      space.dynamics.run(call.states.axes, space.v_ref, space.a_ref, space.tau);
      columns_to_own(tree, 1, space.tau, call.tau + i * tree.nv);
    }
  }
};

Kernel<EquationsCall> mass_matrix_kernel(int coefficients, bool) {
  return equations_kernel<MassMatrixTask>(coefficients, &Kernels::mass_matrix);
}
Kernel<EquationsCall> coriolis_matrix_kernel(int coefficients, bool) {
  return equations_kernel<CoriolisMatrixTask, 2>(coefficients, &Kernels::coriolis_matrix);
}
Kernel<EquationsCall> gravity_force_kernel(int coefficients, bool) {
  return equations_kernel<GravityForceTask>(coefficients, &Kernels::gravity_force);
}
Kernel<PassiveCall> inverse_dynamics_passive_kernel(int, bool) {
  return {PassiveInverseDynamicsKernel::workspace, PassiveInverseDynamicsKernel::run};
}

JOUNCE_END
