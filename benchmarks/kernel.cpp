// The kernels alone, without Python: one thread, one state a call, or a batch.
//
//   kernel_benchmark                       tables over N and r, microseconds a state, best of many repeats
//   kernel_benchmark inverse N r COUNT     runs that case COUNT times and prints nothing: for `valgrind --tool=callgrind`
//   kernel_benchmark forward N r COUNT
//
// The tree is paper A's aerial manipulator (Table 3) with `branches` arms; N = 1 + branches * links.
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

using namespace jounce;

namespace {

struct Robot {
  std::vector<Body> bodies;
  std::vector<FreeJoint> free_joints;
  std::vector<std::int32_t> quaternions{3};
  std::vector<double> zero;
  Tree tree{};

  Robot(int branches, int links) {
    const double b = 0.10, c = 0.18, d = 0.06;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    // z to y, z to x, and z: the internal frame of a joint has its axis on z
    const double turn[3][9] = {{1, 0, 0, 0, 0, 1, 0, -1, 0}, {0, 0, 1, 1, 0, 0, 0, 1, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    Body base{Joint::free, -1, 0, 0, 6 + branches * links, 0, {}, {}, 0, 2.5, {}, {0.025, 0.025, 0.005, 0, 0, 0}};
    std::copy(identity, identity + 9, base.R);
    bodies.push_back(base);
    for (int i = 0; i < branches; ++i)
      for (int j = 0; j < links; ++j) {
        const int index = int(bodies.size());
        Body body{Joint::revolute, j == 0 ? 0 : index - 1, index + 6, index + 5, index + 5 + links - j, 0, {}, {}, 0, 0.25, {}, {}};
        const double* own = turn[j % 3];
        const double* above = j == 0 ? identity : turn[(j - 1) % 3];
        const double angle = 2 * M_PI * i / branches;
        const double p[3] = {j ? 0 : c / 2 * std::cos(angle), j ? 0 : c / 2 * std::sin(angle), j ? -2 * d : -b}, com[3] = {0, 0, -d};
        const double second[3] = {0.0005, 0.0005, 0.0015 + 0.25 * d * d};
        double h[3] = {}, J[9] = {};
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s) {
            body.p[r] += above[3 * s + r] * p[s];
            h[r] += own[3 * s + r] * 0.25 * com[s];
            for (int t = 0; t < 3; ++t)
              body.R[3 * r + s] += above[3 * t + r] * own[3 * t + s], J[3 * r + s] += own[3 * t + r] * second[t] * own[3 * t + s];
          }
        std::copy(h, h + 3, body.first);
        const double packed[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
        std::copy(packed, packed + 6, body.second);
        bodies.push_back(body);
      }
    const int n = int(bodies.size());
    zero.assign(n + 5, 0.0);
    tree = {bodies.data(), free_joints.data(), quaternions.data(), zero.data(), zero.data(), zero.data(), zero.data(), n, 0, 1,
            n + 6, n + 5, 0, 1, {0, 0, -9.81}};
  }
};

struct Case {
  std::vector<double> q, v, tau, acc;
  std::vector<std::int32_t> singular;
  void* workspace = nullptr;
  std::ptrdiff_t count;
  InverseDynamicsCall inverse{};
  HybridDynamicsCall forward{};
  Kernel<InverseDynamicsCall> inverse_kernel{};
  Kernel<HybridDynamicsCall> forward_kernel{};
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
    singular.assign(states, -1);
    const std::ptrdiff_t step = std::ptrdiff_t(rows + 1) * t.nv;
    inverse = {&t, {q.data(), v.data(), v.data() + t.nv, t.nq, step, step, rows + 1}, {}, tau.data()};
    forward.tree = &t, forward.rows = rows, forward.singular = singular.data();
    forward.q = q.data(), forward.v = v.data(), forward.tau = tau.data(), forward.acc_out = acc.data();
    forward.q_step = t.nq, forward.v_step = step, forward.tau_step = std::ptrdiff_t(rows) * t.nv;
    inverse_kernel = kernels.inverse_dynamics(order, states > 1);
    forward_kernel = kernels.hybrid_dynamics(states > 1);
    const std::size_t bytes = std::max(inverse_kernel.workspace(t, rows + 1, 0), forward_kernel.workspace(t, rows, 0));
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
#ifdef JOUNCE_X86
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return avx512_kernels();
  if (__builtin_cpu_supports("avx2")) return avx2_kernels();
#endif
  return generic_kernels();
}

}  // namespace

int main(int argc, char** argv) {
  const Kernels& kernels = best_kernels();
  if (argc == 5) {
    const int n = std::atoi(argv[2]);
    const Robot robot(n == 7 ? 2 : 5, n == 7 ? 3 : (n - 1) / 5);
    const Case c(kernels, robot.tree, argv[1][0] == 'f', std::atoi(argv[3]), 1);
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
