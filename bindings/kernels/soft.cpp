#include "soft.hpp"

JOUNCE_BEGIN

#define JOUNCE_DEFINE(...) template __VA_ARGS__;
JOUNCE_SOFT(JOUNCE_DEFINE)

JOUNCE_END
