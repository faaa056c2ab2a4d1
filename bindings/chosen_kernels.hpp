// Which of the kernels that were built serve the calls of this process.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace jounce {

const Kernels& kernels();  // the best that this machine runs, or those asked for

std::vector<const Kernels*> built_kernels();     // the best last
std::vector<const Kernels*> runnable_kernels();  // those of them that this machine runs

// "generic", "avx2" or "avx512". by_default: as if nothing better had been built.
void choose_kernels(const char* name, bool by_default);

// Warns, once, if the kernels are the baseline because nothing better was built, though the machine could run it. Needs the GIL.
void warn_of_slow_kernels();

}  // namespace jounce
