#include "jounce/forward_dynamics.hpp"
#include "jounce/inverse_dynamics_derivatives.hpp"
#include "jounce/inverse_mass_matrix.hpp"
#include "jounce/passive_forces.hpp"
#include "select.hpp"
#include "wrenches.hpp"

JOUNCE_BEGIN

template <class Ring>
struct DerivativesKernel {
  using S = typename Ring::Velocity;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    InverseDynamicsDerivatives<Ring> derivatives;
    Space(const Tree& tree, int rows, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)), world(tree, motion, arena), derivatives(tree, motion, world, rows, arena) {}
  };

  static std::size_t workspace(const Tree& tree, int rows, int) {
    ArenaSize size;
    Space<ArenaSize>(tree, rows, size);
    return size.bytes();
  }

  static void run(const DerivativesCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, call.rows, arena);
    const std::ptrdiff_t size = std::ptrdiff_t(call.rows) * tree.nv * tree.nv;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, call.rows);
      for (int k = 0; k < Ring::order + 2; ++k) {
        const double* row = call.states.rest + i * call.states.rest_step + k * tree.nv;
        for (int c = 0; c < tree.nv; ++c) space.derivatives.acceleration(k)[c] = k < call.rows ? factorial.inverse[k] * row[c] : 0.0;
      }
      space.world.place(Axes::body);
      space.world.weigh();
      space.derivatives.forward();
      for (int j = 0; j < call.wrenches.count; ++j) apply_wrench(call, i, j, space);
      double *K = call.K + i * size, *D = call.D + i * size, *M = call.M ? call.M + i * size : nullptr;
      space.derivatives.run(K, D, M);
      if (tree.passive) add_passive_derivatives(tree, space.motion, call.rows, K, D, M);
    }
  }

  template <class Space>
  static JOUNCE_NOINLINE void apply_wrench(const DerivativesCall& call, std::ptrdiff_t i, int j, Space& space) {
    const int body = call.wrenches.frames[j].body;
    if (body < 0) return;  // on the world: no joint feels it
    Vec3<S> x;
    const Screw<S> f = wrench_in_world(call.wrenches, i, j, call.rows, space.world, x);
    if (call.wrenches.axes == Axes::body)
      space.derivatives.apply_wrench(body, f);
    else
      space.derivatives.apply_fixed_wrench(body, f, call.wrenches.axes == Axes::mixed ? &x : nullptr);
  }

  static constexpr Kernel<DerivativesCall> kernel{workspace, run};
};

Kernel<DerivativesCall> inverse_dynamics_derivatives_kernel(int rows) {
  if (rows <= 1) return DerivativesKernel<ArrayRing<double, -1>>::kernel;
  if (rows <= 8) return DerivativesKernel<SingleRing<6>>::kernel;
  if constexpr (generic_build)
    return DerivativesKernel<SingleRing<30>>::kernel;
  else
    return generic_kernels().inverse_dynamics_derivatives(rows);
}

// Y = -X A and Z = -X B. Rows of X by four, columns of A and B by two registers: eight sums that stay in registers. Coordinates on
// different branches do not touch each other: where a row of A and B is zero in these columns, there is nothing to add.
struct NegativeProducts {
  using P = Pack<native_width>;
  static constexpr int step = 2 * native_width;

  template <class Arena>
  struct Space {
    int columns;
    double *both, *out;  // A and B side by side, and four rows of the result
    int* used;
    Space(int nv, Arena& arena)
        : columns(round_up(2 * nv, step)),
          both(arena.template take<double>(std::size_t(nv) * columns)),
          out(arena.template take<double>(4 * columns)),
          used(arena.template take<int>(std::size_t(columns / step) * (nv + 1))) {}
  };

  static void multiply(int nv, const double* X, const double* A, const double* B, Space<Arena>& space, const Block& Y, const Block& Z) {
    const int columns = space.columns;
    double *both = space.both, *out = space.out;
    for (int r = 0; r < nv; ++r) {
      double* row = both + std::ptrdiff_t(r) * columns;
      std::memcpy(row, A + std::ptrdiff_t(r) * nv, sizeof(double) * nv);
      std::memcpy(row + nv, B + std::ptrdiff_t(r) * nv, sizeof(double) * nv);
      for (int c = 2 * nv; c < columns; ++c) row[c] = 0;
    }
    for (int c = 0; c < columns; c += step) {
      int* used = space.used + c / step * (nv + 1);
      int count = 0;
      for (int k = 0; k < nv; ++k) {
        const double* x = both + std::ptrdiff_t(k) * columns + c;
        P sum(0.0);
        for (int l = 0; l < step; l += native_width) sum += P::load(x + l) * P::load(x + l);
        double total = 0;
        for (int l = 0; l < native_width; ++l) total += sum[l];
        if (total != 0) used[1 + count++] = k;
      }
      used[0] = count;
    }
    for (int r = 0; r < nv; r += 4) {
      const int rows = nv - r < 4 ? nv - r : 4;
      const double* x[4];
      for (int i = 0; i < 4; ++i) x[i] = X + std::ptrdiff_t(r + (i < rows ? i : rows - 1)) * nv;
      for (int c = 0; c < columns; c += step) {
        const int* used = space.used + c / step * (nv + 1);
        P sum[4][2];
        for (auto& row : sum) row[0] = row[1] = P(0.0);
        for (int j = 1; j <= used[0]; ++j) {
          const int k = used[j];
          const double* row = both + std::ptrdiff_t(k) * columns + c;
          const P left = P::load(row), right = P::load(row + native_width);
          for (int i = 0; i < 4; ++i) {
            const P factor(x[i][k]);
            sum[i][0] -= factor * left;
            sum[i][1] -= factor * right;
          }
        }
        for (int i = 0; i < 4; ++i) {
          sum[i][0].store(out + i * columns + c);
          sum[i][1].store(out + i * columns + c + native_width);
        }
      }
      for (int i = 0; i < rows; ++i) {
        std::memcpy(Y.first + (r + i) * Y.row, out + i * columns, sizeof(double) * nv);
        std::memcpy(Z.first + (r + i) * Z.row, out + i * columns + nv, sizeof(double) * nv);
      }
    }
  }
};

// Forward dynamics and its derivatives at order zero: from tau = M a + h,  da = M^-1 (dtau - K dq - D dv).
struct ForwardDerivativesKernel {
  using Ring = ForwardDynamics::Ring;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    InverseMassMatrix inverse;
    ForwardDynamics dynamics;
    InverseDynamicsDerivatives<Ring> derivatives;
    NegativeProducts::Space<Arena> products;
    double *K, *D;
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          world(tree, motion, arena),
          inverse(tree, world, arena),
          dynamics(tree, motion, world, arena, inverse.factors()),
          derivatives(tree, motion, world, 1, arena),
          products(tree.nv, arena),
          K(arena.template take<double>(std::size_t(tree.nv) * tree.nv)),
          D(arena.template take<double>(std::size_t(tree.nv) * tree.nv)) {}
  };

  static std::size_t workspace(const Tree& tree, int, int) {
    ArenaSize size;
    Space<ArenaSize>(tree, size);
    return size.bytes();
  }

  static void run(const ForwardDerivativesCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    const std::ptrdiff_t nv = tree.nv;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      double *acc = call.acc + i * nv, *inverse = call.inverse.first + i * call.inverse.state, *K = space.K, *D = space.D;
      space.motion.read(tree, call.states, i, 1, 1);
      space.world.place(Axes::body);
      space.world.weigh();
      call.singular[i] = space.inverse.run(Axes::body, inverse);
      if (call.singular[i] >= 0) continue;
      space.dynamics.start();
      apply_wrenches(call.wrenches, i, space, false);
      space.dynamics.run(call.tau + i * call.tau_step, acc);
      for (int c = 0; c < nv; ++c) space.derivatives.acceleration(0)[c] = acc[c];
      space.derivatives.forward();
      apply_wrenches(call.wrenches, i, space, true);
      space.derivatives.run(K, D, nullptr);
      if (tree.passive) add_passive_derivatives(tree, space.motion, 1, K, D, nullptr);
      NegativeProducts::multiply(tree.nv, inverse, K, D, space.products, {call.K.first + i * call.K.state, call.K.row, 0},
                                 {call.D.first + i * call.D.state, call.D.row, 0});
    }
  }

  static void apply_wrenches(const Wrenches& wrenches, std::ptrdiff_t i, Space<Arena>& space, bool to_derivatives) {
    for (int j = 0; j < wrenches.count; ++j) {
      const int body = wrenches.frames[j].body;
      if (body < 0) continue;  // on the world: no joint feels it
      Vec3<ForwardDynamics::S> x;
      const auto f = wrench_in_world(wrenches, i, j, 1, space.world, x);
      if (!to_derivatives)
        space.dynamics.apply_wrench(body, f);
      else if (wrenches.axes == Axes::body)
        space.derivatives.apply_wrench(body, f);
      else
        space.derivatives.apply_fixed_wrench(body, f, wrenches.axes == Axes::mixed ? &x : nullptr);
    }
  }
};

Kernel<ForwardDerivativesCall> forward_dynamics_derivatives_kernel() {
  return {ForwardDerivativesKernel::workspace, ForwardDerivativesKernel::run};
}

JOUNCE_END
