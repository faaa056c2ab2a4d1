// Which kernel serves which call. Compiled once per instruction set (JOUNCE_ISA), like everything in this folder.
#pragma once

#include <type_traits>

#include "jounce/ring/ring.hpp"
#include "kernels.hpp"
#include "soft.hpp"

JOUNCE_BEGIN

static_assert(highest_order == max_order);

// The baseline, which runs on every machine of its kind, is in each build. What is seldom wanted is compiled there only, as it takes
// long: the highest orders of most algorithms.
#ifdef JOUNCE_BASELINE
constexpr bool baseline = true;
#else
constexpr bool baseline = false;
#endif

// A fallback beside better kernels: for each algorithm one ring for order zero and one for all others, and no batches in lanes.
#ifdef JOUNCE_FEW_RINGS
constexpr bool few_rings = true;
#else
constexpr bool few_rings = false;
#endif
static_assert(baseline || !few_rings);

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

// For algorithms that most orders share a ring in: one coefficient (unless they need at least two), two, up to eight, and all others,
// which the baseline has.
template <template <class> class KernelOf, int least, class Call>
Kernel<Call> padded_kernel(int coefficients, Select<Call> Kernels::* same) {
  if constexpr (least < 2 && !few_rings)
    if (coefficients <= 1) return KernelOf<ArrayRing<double, -1>>::kernel;
  if (coefficients <= 2) return KernelOf<SingleRing<0>>::kernel;
  if constexpr (!few_rings)
    if (coefficients <= 8) return KernelOf<SingleRing<6>>::kernel;
  if constexpr (baseline)
    return KernelOf<SingleRing<30>>::kernel;
  else
    return (generic_kernels().*same)(coefficients, false);
}

JOUNCE_END
