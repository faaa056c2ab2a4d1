// Whether constraints can be obeyed, and whether their equations determine the motion and its derivatives.
#pragma once

#include "arguments.hpp"
#include "core_model.hpp"
#include "kernels.hpp"

namespace jounce {

// The states [begin, end), and with twice the digits those that doubles do not do for. judge_rates: also near dead centres, where
// derivatives lose digits.
void run_constrained_dynamics(const ConstrainedDynamicsCall& call, bool judge_rates, std::ptrdiff_t begin, std::ptrdiff_t end,
                              void* workspace);

bool judges_rates();  // whether this thread is to be warned of digits that derivatives lose

// Raises an error for constraints that contradict each other, and for those that lose rank in a configuration. Warns where they nearly
// do. Returns the number of redundant rows, in the worst state.
std::ptrdiff_t expect_consistent(const CoreModel& model, const ConstrainedDynamicsCall& call, const Shape& batch);

// Raises an error if a wheel, or -1, lies flat on its plane in state i.
void expect_upright(const CoreModel& model, std::int32_t flat, const Shape& batch, std::ptrdiff_t i);

// Warns where masses, or ratios of gears, are so unequal that too many digits are lost, for calls that have no more of them.
void warn_of_unequal_masses(const CoreModel& model, const Consistency* each, const Shape& batch);

}  // namespace jounce
