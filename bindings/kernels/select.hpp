// Which kernel serves which call. Compiled once per instruction set (JOUNCE_ISA), like everything in this folder.
#pragma once

#include <type_traits>

#include "jounce/ring/ring.hpp"
#include "kernels.hpp"
#include "soft.hpp"

JOUNCE_BEGIN

static_assert(highest_order == max_order);

// Rarely used orders are compiled only once, in the generic build: they take long to compile.
#ifdef JOUNCE_GENERIC
constexpr bool generic_build = true;
#else
constexpr bool generic_build = false;
#endif

#define JOUNCE_DECLARE(algorithm, Call) Kernel<Call> algorithm##_kernel(int coefficients, bool batch);
JOUNCE_ALGORITHMS(JOUNCE_DECLARE)
#undef JOUNCE_DECLARE

// Which ring serves a single state of a given order was chosen by measurement: coefficients in lanes from order 1 on where
// the registers hold four, in arrays otherwise. Orders in between are padded up: the coefficients beyond the wanted ones are
// zero on input and not read on output.
template <int r>
using SingleRing = std::conditional_t < r == 0 || native_width<4, ArrayRing<double, r>, LaneRing<r, r <= 2 ? 4 : native_width>>;

template <int r>
using BatchRing = ArrayRing<Pack<native_width>, r>;

// For algorithms served by few rings: one coefficient (unless they need at least two), two, up to eight, and all others, which are in
// the generic build.
template <template <class> class KernelOf, int least, class Call>
Kernel<Call> padded_kernel(int coefficients, Select<Call> Kernels::* same) {
  if constexpr (least < 2)
    if (coefficients <= 1) return KernelOf<ArrayRing<double, -1>>::kernel;
  if (coefficients <= 2) return KernelOf<SingleRing<0>>::kernel;
  if (coefficients <= 8) return KernelOf<SingleRing<6>>::kernel;
  if constexpr (generic_build)
    return KernelOf<SingleRing<30>>::kernel;
  else
    return (generic_kernels().*same)(coefficients, false);
}

JOUNCE_END
