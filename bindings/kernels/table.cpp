#include <cstdint>
#include <cstring>

#include "select.hpp"

JOUNCE_BEGIN

// Exponents from that one on, including those of infinities and nans, carry into the sign.
static bool are_below(const double* x, std::ptrdiff_t count, int exponent) {
  const std::uint64_t more = std::uint64_t(0x800 - 0x3ff - exponent) << 52;
  std::uint64_t carried = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, x + i, sizeof bits);
    carried |= (bits & 0x7ff0000000000000) + more;
  }
  return carried >> 63 == 0;
}

JOUNCE_END

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)
#define JOUNCE_ENTRY(algorithm, Call) algorithm##_kernel,

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static const Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA), native_width, few_rings, are_below, JOUNCE_ALGORITHMS(JOUNCE_ENTRY)};
  return kernels;
}
}  // namespace jounce
