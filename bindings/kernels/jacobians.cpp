#include "equations.hpp"
#include "jounce/algorithms/centroidal.hpp"
#include "jounce/algorithms/energy.hpp"
#include "jounce/algorithms/jacobian.hpp"

JOUNCE_BEGIN

template <class R>
struct JacobianTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::none;
  static constexpr bool along_path = true;  // reads nothing else
  template <class Arena>
  JacobianTask(const Tree&, const Motion<Ring>&, const WorldFrame<Ring>&, int, Arena&) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place_path(call.frame->body, call.states.axes);
    jacobian(*call.tree, world, *call.frame, call.axes, call.rows, out);
  }
};

// One method of Centroidal.
template <class R, void (Centroidal<R>::*method)(int, double*) const, ToOwn axes>
struct CentroidalTask {
  using Ring = R;
  static constexpr ToOwn to_own = axes;
  template <class Arena>
  CentroidalTask(const Tree&, const Motion<Ring>&, const WorldFrame<Ring>&, int, Arena&) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.gather_inertias();
    (Centroidal<Ring>(*call.tree, world).*method)(call.rows, out);
  }
};
template <class R>
using CenterOfMassTask = CentroidalTask<R, &Centroidal<R>::center_of_mass, ToOwn::none>;
template <class R>
using MomentumTask = CentroidalTask<R, &Centroidal<R>::momentum, ToOwn::none>;
template <class R>
using MomentumMatrixTask = CentroidalTask<R, &Centroidal<R>::momentum_matrix, ToOwn::columns>;

template <class R>
struct KineticEnergyTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::none;
  const Motion<Ring>& motion;
  Screw<typename Ring::Acceleration>* twist;
  template <class Arena>
  KineticEnergyTask(const Tree& tree, const Motion<Ring>& motion, const WorldFrame<Ring>&, int, Arena& arena)
      : motion(motion), twist(arena.template take<Screw<typename Ring::Acceleration>>(tree.size)) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.set_inertias();
    kinetic_energy(*call.tree, motion, world, call.rows, twist, out);
  }
};

template <class R>
struct PotentialEnergyTask {
  using Ring = R;
  static constexpr ToOwn to_own = ToOwn::none;
  PotentialEnergy<Ring> energy;
  template <class Arena>
  PotentialEnergyTask(const Tree& tree, const Motion<Ring>& motion, const WorldFrame<Ring>&, int rows, Arena& arena)
      : energy(tree, motion, rows, arena) {}
  void operator()(const EquationsCall& call, WorldFrame<Ring>& world, double* out) {
    world.place(call.states.axes);
    world.gather_inertias();
    energy.run(world, call.rows, out);
  }
};

Kernel<EquationsCall> jacobian_kernel(int coefficients, bool) { return equations_kernel<JacobianTask>(coefficients, &Kernels::jacobian); }
Kernel<EquationsCall> center_of_mass_kernel(int coefficients, bool) {
  return equations_kernel<CenterOfMassTask>(coefficients, &Kernels::center_of_mass);
}
Kernel<EquationsCall> momentum_matrix_kernel(int coefficients, bool) {
  return equations_kernel<MomentumMatrixTask>(coefficients, &Kernels::momentum_matrix);
}
Kernel<EquationsCall> momentum_kernel(int coefficients, bool) {
  return equations_kernel<MomentumTask, 2>(coefficients, &Kernels::momentum);
}
Kernel<EquationsCall> kinetic_energy_kernel(int coefficients, bool) {
  return equations_kernel<KineticEnergyTask, 2>(coefficients, &Kernels::kinetic_energy);
}
Kernel<EquationsCall> potential_energy_kernel(int coefficients, bool) {
  return equations_kernel<PotentialEnergyTask>(coefficients, &Kernels::potential_energy);
}

JOUNCE_END
