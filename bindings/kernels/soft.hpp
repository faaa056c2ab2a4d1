// The code of soft bodies is compiled once per instruction set, in soft.cpp; other kernels only call it.
#pragma once

#include "jounce/soft/sections.hpp"
#include "jounce/soft/shape_forces.hpp"

JOUNCE_BEGIN

using Lanes = Pack<native_width>;

// X(declaration of an instance)
#define JOUNCE_SOFT(X)                                                                                             \
  X(void StrainMotion<Lanes>::run<0>())                                                                            \
  X(void StrainMotion<Lanes>::run<1>())                                                                            \
  X(void StrainMotion<Lanes>::run<-1>())                                                                           \
  X(void StrainMotion<Dual<Lanes>>::run<0>())                                                                      \
  X(void StrainMotion<Dual<Lanes>>::run<1>())                                                                      \
  X(void StrainMotion<Dual<Lanes>>::run<-1>())                                                                     \
  X(class SectionTables<double>)                                                                                   \
  X(class SectionTables<Lanes>)                                                                                    \
  X(void ShapeForces::add_forces<double>(const Tree&, const double*, const double*, int, int, int, double*) const) \
  X(void ShapeForces::add_forces<Lanes>(const Tree&, const Lanes*, const Lanes*, int, int, int, Lanes*) const)

#define JOUNCE_DECLARE(...) extern template __VA_ARGS__;
JOUNCE_SOFT(JOUNCE_DECLARE)
#undef JOUNCE_DECLARE

JOUNCE_END
