#include "select.hpp"

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)
#define JOUNCE_ENTRY(algorithm, Call) algorithm##_kernel,

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static const Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA), JOUNCE_ALGORITHMS(JOUNCE_ENTRY)};
  return kernels;
}
}  // namespace jounce
