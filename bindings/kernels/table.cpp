#include "select.hpp"

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static const Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA),
                               inverse_dynamics_kernel,
                               forward_kinematics_kernel,
                               wrenches_to_body_kernel,
                               hybrid_dynamics_kernel,
                               forward_dynamics_kernel(),
                               inverse_mass_kernel(),
                               articulated_inertia_kernel(),
                               passive_inverse_dynamics_kernel(),
                               inverse_mass_matrix_kernel(),
                               {mass_matrix_kernel, coriolis_matrix_kernel, gravity_force_kernel, jacobian_kernel, center_of_mass_kernel,
                                momentum_kernel, momentum_matrix_kernel, kinetic_energy_kernel, potential_energy_kernel},
                               inverse_dynamics_derivatives_kernel,
                               forward_dynamics_derivatives_kernel(),
                               regressor_kernel,
                               coordinate_map_kernel,
                               coordinate_map_seconds_kernel,
                               carried_kernels()};
  return kernels;
}
}  // namespace jounce
