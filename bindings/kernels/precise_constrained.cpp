#include "constrained_dynamics_run.hpp"

JOUNCE_BEGIN

// Seldom needed, and not for its speed: the baseline's serves all instruction sets.
template <bool here>
static Kernel<ConstrainedDynamicsCall> precise() {
  if constexpr (here)
    return ConstrainedDynamicsKernel<DoubleDouble>::kernel;
  else
    return generic_kernels().precise_constrained(0, false);
}
Kernel<ConstrainedDynamicsCall> precise_constrained_kernel(int, bool) { return precise<baseline>(); }

JOUNCE_END
