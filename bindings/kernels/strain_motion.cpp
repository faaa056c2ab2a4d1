#include "strain_motion.hpp"

JOUNCE_BEGIN

#define JOUNCE_DEFINE(T, order) template void StrainMotion<T>::run<order>();
JOUNCE_STRAIN_MOTIONS(JOUNCE_DEFINE)

JOUNCE_END
