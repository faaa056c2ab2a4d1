// Whether a robot and its state, as doubles, determine constrained dynamics: by changing their last digits and asking again.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace jounce {

// The answer that the last digits move most, relative to its size.
struct LostDigits {
  double part = 0;
  std::ptrdiff_t state = -1, order = 0;
  bool of_forces = false;  // or of accelerations
};

// Of these states of a call, computed with twice the digits. Near a dead centre derivatives lose digits with every order; and where masses
// are very unequal, small forces are what large ones leave.
LostDigits lost_digits(const ConstrainedDynamicsCall& call, const std::vector<std::ptrdiff_t>& states);

}  // namespace jounce
