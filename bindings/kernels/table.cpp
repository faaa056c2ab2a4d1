#include "select.hpp"

JOUNCE_BEGIN

// Infinities and nans times zero are nan, and so are sums with them.
static bool are_finite(const double* x, std::ptrdiff_t count) {
  using P = Pack<native_width>;
  P sum[4] = {P(0.0), P(0.0), P(0.0), P(0.0)};
  std::ptrdiff_t i = 0;
  for (; i + 4 * native_width <= count; i += 4 * native_width)
    for (int j = 0; j < 4; ++j) sum[j] += P(0.0) * P::load(x + i + j * native_width);
  const P all = sum[0] + sum[1] + sum[2] + sum[3];
  double total = 0;
  for (int j = 0; j < native_width; ++j) total += all[j];
  for (; i < count; ++i) total += 0.0 * x[i];
  return total == 0;
}

JOUNCE_END

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)
#define JOUNCE_ENTRY(algorithm, Call) algorithm##_kernel,

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static const Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA), are_finite, JOUNCE_ALGORITHMS(JOUNCE_ENTRY)};
  return kernels;
}
}  // namespace jounce
