// Compiled once for each instruction set (JOUNCE_ISA), like all of this folder: which kernel serves which call.
#pragma once

#include <type_traits>

#include "jounce/ring.hpp"
#include "kernels.hpp"

JOUNCE_BEGIN

static_assert(highest_order == max_order);

Kernel<InverseDynamicsCall> inverse_dynamics_kernel(int order, bool batch);
Kernel<ForwardKinematicsCall> forward_kinematics_kernel(int coefficients);
Kernel<WrenchesToBodyCall> wrenches_to_body_kernel(int coefficients);
Kernel<HybridDynamicsCall> hybrid_dynamics_kernel(bool batch);
Kernel<InverseMassCall> inverse_mass_kernel();
Kernel<ArticulatedInertiaCall> articulated_inertia_kernel();

// Which ring serves a single state of a given order was chosen by measurement: coefficients in lanes from order 1 on where
// the registers hold four, in arrays otherwise. Orders in between are padded up: the coefficients beyond the wanted ones are
// zero on input and not read on output.
template <int r>
using SingleRing = std::conditional_t < r == 0 || native_width<4, ArrayRing<double, r>, LaneRing<r, r <= 2 ? 4 : native_width>>;

template <int r>
using BatchRing = ArrayRing<Pack<native_width>, r>;

JOUNCE_END
