// Whether constraints can be obeyed, and whether their equations determine the motion and its derivatives.
#pragma once

#include "arguments.hpp"
#include "core_model.hpp"
#include "kernels.hpp"

namespace jounce {

// Raises an error for constraints that contradict each other, and for those that lose rank in a configuration. Warns where they nearly
// do. Returns the number of redundant rows, in the worst state.
std::ptrdiff_t expect_consistent(const CoreModel& model, const ConstrainedDynamicsCall& call, const Shape& batch);

// Warns where masses, or ratios of gears, are so unequal that forces of constraints lose too many digits.
void warn_of_unequal_masses(const CoreModel& model, const Consistency* each, const Shape& batch);

}  // namespace jounce
