#include "jounce/inverse_dynamics_derivatives.hpp"
#include "jounce/passive_forces.hpp"
#include "select.hpp"

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
      double *K = call.K + i * size, *D = call.D + i * size, *M = call.M + i * size;
      space.derivatives.run(K, D, M);
      if (tree.passive) add_passive_derivatives(tree, space.motion, call.rows, K, D, M);
    }
  }

  // Wrench j, from the axes it is given in into those of the world.
  template <class Space>
  static JOUNCE_NOINLINE void apply_wrench(const DerivativesCall& call, std::ptrdiff_t i, int j, Space& space) {
    const Wrenches& in = call.wrenches;
    const Frame& frame = in.frames[j];
    if (frame.body < 0) return;  // on the world: no joint feels it
    const double* value = in.value + i * in.step + 6 * j;
    double c[6][Ring::padded] = {};
    for (int k = 0; k < call.rows; ++k)
      for (int l = 0; l < 6; ++l) c[l][k] = factorial.inverse[k] * value[k * in.count * 6 + l];
    Screw<S> f{{S::load(c[0]), S::load(c[1]), S::load(c[2])}, {S::load(c[3]), S::load(c[4]), S::load(c[5])}};
    const Pose<S>& pose = space.world.pose(frame.body);
    const Vec3<S> x = pose.x + apply(pose.R, frame.p);
    const Vec3<double>& point = space.world.point(frame.body);
    if (in.axes == Axes::world) {
      const double p[3] = {point.x, point.y, point.z};
      f.w -= cross(p, f.v);
      return space.derivatives.apply_fixed_wrench(frame.body, f, nullptr);
    }
    if (in.axes == Axes::body) f = {turn(pose.R, apply(frame.R, f.v)), turn(pose.R, apply(frame.R, f.w))};
    f.w += cross(x, f.v);
    if (in.axes == Axes::body)
      space.derivatives.apply_wrench(frame.body, f);
    else
      space.derivatives.apply_fixed_wrench(frame.body, f, &x);
  }

  static constexpr Kernel<DerivativesCall> kernel{workspace, run};
};

Kernel<DerivativesCall> inverse_dynamics_derivatives_kernel(int rows) {
  if (rows <= 1) return DerivativesKernel<ArrayRing<double, -1>>::kernel;
  if (rows <= 2) return DerivativesKernel<SingleRing<0>>::kernel;
  if (rows <= 8) return DerivativesKernel<SingleRing<6>>::kernel;
  return DerivativesKernel<SingleRing<30>>::kernel;
}

// Rows of X by four, columns of A and B by two registers: eight sums that stay in registers.
struct NegativeProducts {
  using P = Pack<native_width>;

  static std::size_t workspace(const Tree& tree, int, int) {
    ArenaSize size;
    size.take<double>(std::size_t(tree.nv + 3) * width(tree.nv));
    size.take<double>(4 * width(tree.nv));
    return size.bytes();
  }
  static int width(int nv) { return round_up(2 * nv, 2 * native_width); }

  static void run(const NegativeProductsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const int nv = call.nv, columns = width(nv);
    const std::ptrdiff_t size = std::ptrdiff_t(nv) * nv;
    double* both = static_cast<double*>(block);  // (nv, columns): A and B side by side
    double* out = both + std::ptrdiff_t(nv + 3) * columns / 8 * 8;
    for (std::ptrdiff_t s = begin; s < end; ++s) {
      const double* X = call.X + s * size;
      double *A = call.A + s * size, *B = call.B + s * size;
      for (int r = 0; r < nv; ++r) {
        for (int c = 0; c < nv; ++c) both[r * columns + c] = A[r * nv + c], both[r * columns + nv + c] = B[r * nv + c];
        for (int c = 2 * nv; c < columns; ++c) both[r * columns + c] = 0;
      }
      for (int r = 0; r < nv; r += 4) {
        const int rows = nv - r < 4 ? nv - r : 4;
        const double* x[4];
        for (int i = 0; i < 4; ++i) x[i] = X + (r + (i < rows ? i : rows - 1)) * nv;
        for (int c = 0; c < columns; c += 2 * native_width) {
          P sum[4][2];
          for (auto& row : sum) row[0] = row[1] = P(0.0);
          for (int k = 0; k < nv; ++k) {
            const P left = P::load(both + k * columns + c), right = P::load(both + k * columns + c + native_width);
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
        for (int i = 0; i < rows; ++i)
          for (int c = 0; c < nv; ++c) A[(r + i) * nv + c] = out[i * columns + c], B[(r + i) * nv + c] = out[i * columns + nv + c];
      }
    }
  }
};

Kernel<NegativeProductsCall> negative_products_kernel() { return {NegativeProducts::workspace, NegativeProducts::run}; }

JOUNCE_END
