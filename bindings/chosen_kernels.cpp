#include "chosen_kernels.hpp"

#include <atomic>
#include <cstring>
#include <string>

#include "arguments.hpp"
#include "machine.hpp"

namespace jounce {

namespace {

std::atomic<const Kernels*> chosen{nullptr};
std::atomic<bool> slow{false};  // and nobody has been told

bool runs(const Kernels& kernels) {
  if (!std::strcmp(kernels.name, "avx512")) return machine_runs_avx512();
  return std::strcmp(kernels.name, "avx2") != 0 || machine_runs_avx2();
}

bool is_slow(const Kernels& kernels) { return kernels.width < 4 && machine_runs_avx2(); }

}  // namespace

std::vector<const Kernels*> built_kernels() {
  return {
      &generic_kernels(),
#ifdef JOUNCE_HAS_AVX2
      &avx2_kernels(),
#endif
#ifdef JOUNCE_HAS_AVX512
      &avx512_kernels(),
#endif
  };
}

std::vector<const Kernels*> runnable_kernels() {
  std::vector<const Kernels*> found;
  for (const Kernels* each : built_kernels())
    if (runs(*each)) found.push_back(each);
  return found;
}

const Kernels& kernels() {
  const Kernels* k = chosen.load(std::memory_order_relaxed);
  if (!k) {
    k = runnable_kernels().back();
    slow = is_slow(*k);
    chosen = k;
  }
  return *k;
}

void choose_kernels(const char* name, bool by_default) {
  std::string names;
  for (const Kernels* k : runnable_kernels()) {
    if (!std::strcmp(k->name, name)) {
      slow = by_default && is_slow(*k);
      chosen = k;
      return;
    }
    names += (names.empty() ? "" : ", ") + std::string(k->name);
  }
  fail(std::string("no kernels for '") + name + "' on this machine, which has " + names);
}

void warn_of_slow_kernels() {
  if (!slow.load(std::memory_order_relaxed) || !slow.exchange(false)) return;
  const std::string message = std::string("jounce was built without the ") + best_of_machine() +
                              " instructions that this machine has, and batches take several times as long as they could; in a clone, "
                              "`pip install --force-reinstall --no-deps .` builds for this machine (see jounce.build_info())";
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) != 0) nanobind::raise_python_error();
}

}  // namespace jounce
