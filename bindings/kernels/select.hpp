// Compiled once for each instruction set (JOUNCE_ISA), like all of this folder: which kernel serves which call.
#pragma once

#include <type_traits>

#include "jounce/ring.hpp"
#include "kernels.hpp"

JOUNCE_BEGIN

static_assert(highest_order == max_order);

// Orders that few ask for are compiled once only, in the generic build: they take long to compile.
#ifdef JOUNCE_GENERIC
constexpr bool generic_build = true;
#else
constexpr bool generic_build = false;
#endif

Kernel<InverseDynamicsCall> inverse_dynamics_kernel(int order, bool batch);
Kernel<ForwardKinematicsCall> forward_kinematics_kernel(int coefficients);
Kernel<WrenchesToBodyCall> wrenches_to_body_kernel(int coefficients);
Kernel<HybridDynamicsCall> hybrid_dynamics_kernel(bool batch);
Kernel<HybridDynamicsCall> forward_dynamics_kernel();
Kernel<InverseMassCall> inverse_mass_kernel();
Kernel<ArticulatedInertiaCall> articulated_inertia_kernel();
Kernel<PassiveCall> passive_inverse_dynamics_kernel();
Kernel<InverseMassMatrixCall> inverse_mass_matrix_kernel();
Kernel<DerivativesCall> inverse_dynamics_derivatives_kernel(int rows);
Kernel<ForwardDerivativesCall> forward_dynamics_derivatives_kernel();
Kernel<RegressorCall> regressor_kernel(int rows);
Kernel<EquationsCall> mass_matrix_kernel(int coefficients);
Kernel<EquationsCall> coriolis_matrix_kernel(int coefficients);
Kernel<EquationsCall> gravity_force_kernel(int coefficients);
Kernel<EquationsCall> jacobian_kernel(int coefficients);
Kernel<EquationsCall> center_of_mass_kernel(int coefficients);
Kernel<EquationsCall> momentum_kernel(int coefficients);
Kernel<EquationsCall> momentum_matrix_kernel(int coefficients);
Kernel<EquationsCall> kinetic_energy_kernel(int coefficients);
Kernel<EquationsCall> potential_energy_kernel(int coefficients);
MapKernel coordinate_map_kernel(int coefficients);
MapKernel coordinate_map_seconds_kernel(int coefficients);
CarriedKernels carried_kernels();

// Which ring serves a single state of a given order was chosen by measurement: coefficients in lanes from order 1 on where
// the registers hold four, in arrays otherwise. Orders in between are padded up: the coefficients beyond the wanted ones are
// zero on input and not read on output.
template <int r>
using SingleRing = std::conditional_t < r == 0 || native_width<4, ArrayRing<double, r>, LaneRing<r, r <= 2 ? 4 : native_width>>;

template <int r>
using BatchRing = ArrayRing<Pack<native_width>, r>;

JOUNCE_END
