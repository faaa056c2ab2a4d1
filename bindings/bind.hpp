// The functions that add methods to the class CoreModel, and functions to the module.
#pragma once

#include <nanobind/nanobind.h>

#include "core_model.hpp"

namespace jounce {

namespace nb = nanobind;

void bind_configuration(nb::class_<CoreModel>& c);
void bind_forward_kinematics(nb::class_<CoreModel>& c);
void bind_inverse_dynamics(nb::class_<CoreModel>& c);
void bind_forward_dynamics(nb::class_<CoreModel>& c);
void bind_change_axes(nb::class_<CoreModel>& c);
void bind_equations(nb::class_<CoreModel>& c);
void bind_derivatives(nb::class_<CoreModel>& c);
void bind_constraints(nb::class_<CoreModel>& c);
void bind_sections(nb::class_<CoreModel>& c);
void bind_recorded(nb::module_& m);
void bind_consistency(nb::module_& m);
void bind_nodes(nb::module_& m, nb::class_<CoreModel>& c);
void bind_least_multipliers(nb::module_& m, nb::class_<CoreModel>& c);
void bind_signatures(nb::module_& m, nb::class_<CoreModel>& c);
void bind_control(nb::module_& m);

// An argument of any type, including None: our own checks reject it, with an error that names it.
inline auto any(const char* name) { return nb::arg(name).none(); }

}  // namespace jounce
