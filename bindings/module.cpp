// The Python module.
#define JOUNCE_OWNS_NUMPY_API
#include "arguments.hpp"
#include "bind.hpp"
#include "machine.hpp"
#include "parallel.hpp"

namespace {

int import_numpy() {
  import_array1(-1);
  return 0;
}

nanobind::list names(const std::vector<const jounce::Kernels*>& kernels) {
  nanobind::list found;
  for (const jounce::Kernels* each : kernels) found.append(each->name);
  return found;
}

}  // namespace

NB_MODULE(_core, m) {
  using namespace jounce;
  if (import_numpy() != 0) nb::raise_python_error();
  nb::set_leak_warnings(false);  // a model that outlives the interpreter, say in a cache, is not its owner's fault
  m.doc() = "The compiled core of jounce.";
  m.attr("MAX_ORDER") = highest_order;

  nb::class_<CoreModel> model(m, "CoreModel");
  model.def(nb::init<nb::dict>(), nb::arg("compiled"), nb::sig("def __init__(self, compiled: dict[str, object]) -> None"))
      .def_prop_ro(
          "nq", [](const CoreModel& model) { return model.tree().nq; }, "Length of a configuration q.")
      .def_prop_ro("nv", [](const CoreModel& model) { return model.tree().nv; }, "Length of a velocity v.");
  bind_configuration(model);
  bind_forward_kinematics(model);
  bind_inverse_dynamics(model);
  bind_forward_dynamics(model);
  bind_change_axes(model);
  bind_equations(model);
  bind_derivatives(model);
  bind_constraints(model);
  bind_sections(model);
  bind_recorded(m);
  bind_consistency(m);
  bind_nodes(m, model);
  bind_least_multipliers(m, model);
  bind_control(m);

  m.def("num_threads", &thread_count, "How many threads a batch may use.");
  m.def("set_num_threads", &set_thread_count, nb::arg("n").none(), nb::sig("def set_num_threads(n: int) -> None"),
        "Lets a batch use n threads; 0 means one per core.");
  m.def("instruction_set", [] { return kernels().name; }, "The kernels that run: generic, avx2 or avx512.");
  m.def(
      "instruction_sets", [] { return names(runnable_kernels()); }, nb::sig("def instruction_sets() -> list[str]"),
      "The kernels that were built and that this machine can run, the best last.");
  m.def(
      "built_instruction_sets", [] { return names(built_kernels()); }, nb::sig("def built_instruction_sets() -> list[str]"),
      "The kernels that were built, the best last.");
  m.def("machine_instruction_set", &best_of_machine, "The best that this machine can run, built or not.");
  m.def("has_few_rings", [] { return generic_kernels().few_rings; }, "Whether the generic kernels are a small, slower fallback.");
  m.def("use_instruction_set", &choose_kernels, nb::arg("name"), nb::arg("by_default") = false,
        "Makes all calls use one build, for tests and measurements; by_default, as if nothing better had been built.");
  bind_signatures(m, model);
}
