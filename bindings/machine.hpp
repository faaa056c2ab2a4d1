// The instruction sets of this machine, whatever was built.
#pragma once

namespace jounce {

inline bool machine_runs_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

inline bool machine_runs_avx512() {
#if defined(__x86_64__) && defined(__GNUC__)
  return machine_runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

inline const char* best_of_machine() { return machine_runs_avx512() ? "avx512" : machine_runs_avx2() ? "avx2" : "generic"; }

}  // namespace jounce
