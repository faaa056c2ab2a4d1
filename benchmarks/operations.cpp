// Counts the operations of the algorithms, and times the two recursions of inverse dynamics.
//
//   operations          floating-point operations and bytes over N and r, with a number type that counts (counted.hpp)
//   operations_timed    the same two recursions with plain numbers: microseconds per state, best of many repeats
#ifdef JOUNCE_COUNT
#include "counted.hpp"
#else
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#endif

#include "kernels/derivatives.cpp"
#include "kernels/forward_dynamics.cpp"
#include "kernels/inverse_dynamics.cpp"
#include "kernels/soft.cpp"
#include "robot.hpp"
#include "world_frame_inverse.hpp"

namespace jounce {
const Kernels& generic_kernels() { std::abort(); }  // for orders not used here
}  // namespace jounce

using namespace jounce;

namespace {

// One state of a robot, with room for everything.
struct State {
  const Tree& tree;
  std::vector<double> q, v, tau, out, K, D, inverse;
  Solvability equations;
  std::unique_ptr<std::byte[]> memory;

  State(const Tree& t, int order) : tree(t), memory(new std::byte[std::size_t(1) << 26]) {
    std::mt19937 random(1);
    const auto number = [&] { return double(int(random() % 2001) - 1000) / double(1000); };
    const std::size_t nv = t.nv, rows = order + 2;
    q.resize(t.nq), v.resize(rows * nv), tau.resize(rows * nv), out.resize(rows * nv);
    K.resize(nv * nv), D.resize(nv * nv), inverse.resize(nv * nv);
    for (auto* all : {&q, &v, &tau})
      for (double& x : *all) x = number();
    for (int i = 0; i < 4; ++i) q[3 + i] = i == 3;
  }
  void* block() { return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.get()) + 63) / 64 * 64); }
  States states(int rows) { return {q.data(), v.data(), v.data() + tree.nv, tree.nq, 0, 0, rows, Axes::body}; }

  template <class Ring>
  void inverse_dynamics() {
    InverseDynamicsKernel<Ring>::run({&tree, states(Ring::order + 2), {}, out.data()}, 0, 1, block());
  }
  template <class Ring>
  void world_frame_inverse() {
    Arena arena(block());
    auto motion = Motion<Ring>::allocate(tree, arena);
    WorldFrameInverseDynamics<Ring> dynamics(tree, motion, arena);
    motion.read(tree, states(Ring::order + 2), 0, 1, Ring::order + 2);
    dynamics.run([&](int column, const typename Ring::Acceleration& f) {
      double c[Ring::padded];
      f.store(c);
      for (int k = 0; k <= Ring::order; ++k) out[k * tree.nv + column] = double(factorial.value[k]) * c[k];
    });
  }
  void forward_dynamics(int order) {
    ForwardDynamicsCall call{};
    call.tree = &tree, call.q = q.data(), call.v = v.data(), call.tau = tau.data(), call.rows = order + 1, call.acc_out = out.data();
    call.equations = &equations;
    forward_dynamics_kernel(order + 2, false).run(call, 0, 1, block());
  }
  void inverse_derivatives() {
    inverse_dynamics_derivatives_kernel(1, false).run({&tree, states(2), {}, 1, K.data(), D.data(), inverse.data()}, 0, 1, block());
  }
  void forward_derivatives() {
    const Block k{K.data(), tree.nv, 0}, d{D.data(), tree.nv, 0}, m{inverse.data(), tree.nv, 0};
    forward_dynamics_derivatives_kernel(1, false).run({&tree, states(1), tau.data(), 0, {}, out.data(), k, d, m, &equations}, 0, 1,
                                                      block());
  }
};

#ifdef JOUNCE_COUNT

template <class F>
Operations count(F f) {
  counted = {};
  f();
  return counted;
}

template <int r>
void row(const Tree& tree) {
  using Ring = ArrayRing<double, r>;
  State s(tree, r);
  const long body = count([&] { s.inverse_dynamics<Ring>(); }).all(), world = count([&] { s.world_frame_inverse<Ring>(); }).all(),
             forward = count([&] { s.forward_dynamics(r); }).all();
  const long given = 8 * (tree.nq + (r + 2) * tree.nv), result = 8 * (r + 1) * tree.nv;
  const long work = long(InverseDynamicsKernel<Ring>::workspace({&tree, s.states(r + 2), {}, nullptr}));
  std::printf("| %d | %d | %ld | %ld | %ld | %ld | %ld | %ld |\n", tree.size, r, body, world, forward, given, result, work);
}

template <int... r>
void rows(const Tree& tree, std::integer_sequence<int, r...>) {
  (row<r>(tree), ...);
}

void report() {
  std::puts("| N | r | inverse, body axes | inverse, world axes | forward | bytes in | bytes out | bytes in between (inverse) |");
  std::puts("|--:|--:|--:|--:|--:|--:|--:|--:|");
  for (int links : {3, 20}) {
    const Robot robot(links == 3 ? 2 : 5, links);
    rows(robot.tree, std::make_integer_sequence<int, 11>{});
  }
  std::puts("\n| N | nv | derivatives of inverse dynamics | linearization |\n|--:|--:|--:|--:|");
  for (int links : {3, 6, 20}) {
    const Robot robot(links == 3 ? 2 : 5, links);
    State s(robot.tree, 0);
    const long inverse = count([&] { s.inverse_derivatives(); }).all(), forward = count([&] { s.forward_derivatives(); }).all();
    std::printf("| %d | %d | %ld | %ld |\n", robot.tree.size, robot.tree.nv, inverse, forward);
  }
}

#else

template <class F>
double microseconds(F f) {
  double best = 1e30;
  for (int sample = 0; sample < 200; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) f();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 100);
  }
  return best * 1e6;
}

template <int r>
void row(const Tree& tree) {
  using Ring = SingleRing<r>;
  State s(tree, r);
  s.inverse_dynamics<Ring>();
  const std::vector<double> expected(s.out);
  s.world_frame_inverse<Ring>();
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    apart = std::max(apart, std::fabs(expected[i] - s.out[i]));
  }
  const double body = microseconds([&] { s.inverse_dynamics<Ring>(); }), world = microseconds([&] { s.world_frame_inverse<Ring>(); });
  std::printf("| %d | %d | %.2f | %.2f | %.1f | %.0e |\n", tree.size, r, body, world, world / body, apart / largest);
}

void report() {
  std::puts("| N | r | body axes, us | world axes, us | world / body | answers differ by |\n|--:|--:|--:|--:|--:|--:|");
  for (int links : {3, 20}) {
    const Robot robot(links == 3 ? 2 : 5, links);
    row<0>(robot.tree);
    row<2>(robot.tree);
    row<5>(robot.tree);
  }
}

#endif

}  // namespace

int main() { report(); }
