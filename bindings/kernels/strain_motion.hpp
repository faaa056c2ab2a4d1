// The code of soft bodies' steps is compiled once for each instruction set, in strain_motion.cpp.
#pragma once

#include "jounce/strain_motion.hpp"

#define JOUNCE_STRAIN_MOTIONS(X) \
  X(Pack<native_width>, 0)       \
  X(Pack<native_width>, 1)       \
  X(Pack<native_width>, -1)      \
  X(Dual<Pack<native_width>>, 0) \
  X(Dual<Pack<native_width>>, 1) \
  X(Dual<Pack<native_width>>, -1)

JOUNCE_BEGIN

#define JOUNCE_DECLARE(T, order) extern template void StrainMotion<T>::run<order>();
JOUNCE_STRAIN_MOTIONS(JOUNCE_DECLARE)
#undef JOUNCE_DECLARE

JOUNCE_END
