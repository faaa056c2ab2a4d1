// The kernels alone, without Python: one thread, one state per call, or a batch.
//
//   kernel_benchmark                                tables over N and r, microseconds per state, best of many repeats
//   kernel_benchmark inverse N r COUNT [STATES]     runs that case COUNT times and prints nothing: for callgrind
//   kernel_benchmark forward N r COUNT [STATES]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "kernels.hpp"
#include "machine.hpp"
#include "robot.hpp"

using namespace jounce;

namespace {

struct Case {
  std::vector<double> q, v, tau, acc;
  std::vector<Solvability> equations;
  void* workspace = nullptr;
  std::ptrdiff_t count;
  InverseDynamicsCall inverse{};
  ForwardDynamicsCall forward{};
  Kernel<InverseDynamicsCall> inverse_kernel{};
  Kernel<ForwardDynamicsCall> forward_kernel{};
  bool is_forward;

  Case(const Kernels& kernels, const Tree& t, bool is_forward, int order, std::ptrdiff_t states) : count(states), is_forward(is_forward) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const int rows = order + 1;
    q.resize(states * t.nq), v.resize(states * (rows + 1) * t.nv), tau.resize(states * rows * t.nv), acc.resize(states * rows * t.nv);
    for (std::vector<double>* all : {&q, &v, &tau})
      for (double& x : *all) x = uniform(random);
    for (std::ptrdiff_t s = 0; s < states; ++s)
      for (int i = 0; i < 4; ++i) q[s * t.nq + 3 + i] = i == 3;
    equations.resize(states);
    const std::ptrdiff_t step = std::ptrdiff_t(rows + 1) * t.nv;
    inverse = {&t, {q.data(), v.data(), v.data() + t.nv, t.nq, step, step, rows + 1}, {}, tau.data()};
    forward.tree = &t, forward.rows = rows, forward.equations = equations.data();
    forward.q = q.data(), forward.v = v.data(), forward.tau = tau.data(), forward.acc_out = acc.data();
    forward.q_step = t.nq, forward.v_step = step, forward.tau_step = std::ptrdiff_t(rows) * t.nv;
    inverse_kernel = kernels.inverse_dynamics(order + 2, states > 1);
    forward_kernel = kernels.forward_dynamics(order + 2, states > 1);
    const std::size_t bytes = std::max(inverse_kernel.workspace(inverse), forward_kernel.workspace(forward));
    workspace = ::operator new(bytes + 64, std::align_val_t(64));
  }
  Case(const Case&) = delete;
  ~Case() { ::operator delete(workspace, std::align_val_t(64)); }
  void run() const {
    if (is_forward)
      forward_kernel.run(forward, 0, count, workspace);
    else
      inverse_kernel.run(inverse, 0, count, workspace);
  }
};

double microseconds(const Case& c) {
  double best = 1e30;
  int repeats = 1;
  for (int sample = 0; sample < 40;) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) c.run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds < 1e-3) {
      repeats *= 2;
      continue;
    }
    best = std::min(best, seconds / repeats);
    ++sample;
  }
  return best * 1e6 / double(c.count);
}

const Kernels& best_kernels() {
#ifdef JOUNCE_HAS_AVX512
  if (machine_runs_avx512()) return avx512_kernels();
#endif
#ifdef JOUNCE_HAS_AVX2
  if (machine_runs_avx2()) return avx2_kernels();
#endif
  return generic_kernels();
}

}  // namespace

int main(int argc, char** argv) {
  const Kernels& kernels = best_kernels();
  if (argc >= 5) {
    const int n = std::atoi(argv[2]);
    const Robot robot(n == 7 ? 2 : 5, n == 7 ? 3 : (n - 1) / 5);
    const Case c(kernels, robot.tree, argv[1][0] == 'f', std::atoi(argv[3]), argc > 5 ? std::atoi(argv[5]) : 1);
    for (int i = 0; i < std::atoi(argv[4]); ++i) c.run();
    return 0;
  }
  for (bool is_forward : {false, true}) {
    std::printf("%s dynamics, %s kernels, microseconds a state\n%6s", is_forward ? "forward" : "inverse", kernels.name, "N");
    for (int r = 0; r <= 12; ++r) std::printf("    r=%-2d", r);
    for (auto [branches, links] : {std::pair{2, 3}, {5, 20}, {5, 199}}) {
      const Robot robot(branches, links);
      std::printf("\n%6d", robot.tree.size);
      for (int r = 0; r <= 12; ++r) std::printf(" %7.3f", microseconds(Case(kernels, robot.tree, is_forward, r, 1)));
    }
    const Robot robot(2, 3);
    std::printf("\n%6s", "batch");
    for (int r = 0; r <= 12; ++r) std::printf(" %7.3f", microseconds(Case(kernels, robot.tree, is_forward, r, 512)));
    std::printf("   (N = 7, 512 states)\n");
  }
}
