// Compiled once for each instruction set (JOUNCE_ISA): instantiates the algorithms and wraps them as kernels.
#include "kernels.hpp"

#include <type_traits>

#include "jounce/forward_kinematics.hpp"
#include "jounce/inverse_dynamics.hpp"
#include "jounce/passive_forces.hpp"

JOUNCE_BEGIN

static_assert(highest_order == max_order);

template <class Ring>
struct InverseDynamicsKernel {
  using T = typename Ring::Coefficient;
  using Sa = typename Ring::Acceleration;
  static constexpr int n = Ring::order + 1;
  static constexpr int width = states((const T*)nullptr);

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    InverseDynamics<Ring> dynamics;
    ForwardKinematics<Ring> kinematics;
    T* force;
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          dynamics(tree, motion, arena),
          kinematics(tree, motion, arena),
          force(arena.template take<T>(n * motion.stride)) {}
  };

  static std::size_t workspace(const Tree& tree) {
    ArenaSize size;
    Space<ArenaSize>(tree, size);
    return size.bytes();
  }

  static void run(const InverseDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    const int stride = space.motion.stride, rows = call.states.rows;
    for (std::ptrdiff_t first = begin; first < end; first += width) {
      const int count = end - first < width ? int(end - first) : width;
      space.motion.read(tree, call.states, first, count, rows);
      space.dynamics.forward();
      if (call.wrenches.count > 0) apply_wrenches(call, first, count, space);
      space.dynamics.backward([&](int column, const Sa& f) JOUNCE_LAMBDA_INLINE {
        T c[Ring::padded];
        f.store(c);
        for (int k = 0; k < n; ++k) space.force[k * stride + column] = c[k];
      });
      if (tree.passive) add_passive_forces(tree, space.motion, space.force);
      for (int s = 0; s < count; ++s) {
        double* tau = call.tau + (first + s) * (rows - 1) * tree.nv;
        for (int k = 0; k + 1 < rows; ++k)
          for (int j = 0; j < tree.nv; ++j) tau[k * tree.nv + j] = factorial.value[k] * state(space.force[k * stride + j], s);
      }
    }
  }

  // Paper A, (E5), as products of series: the wrenches in the axes of their bodies, about their origins.
  template <class Space>
  static void apply_wrenches(const InverseDynamicsCall& call, std::ptrdiff_t first, int count, Space& space) {
    const Wrenches& in = call.wrenches;
    const int rows = call.states.rows - 1;
    if (in.axes != Axes::body) space.kinematics.run();
    for (int i = 0; i < in.count; ++i) {
      T c[6][Ring::padded];
      for (auto& component : c)
        for (T& x : component) x = T(0.0);
      for (int s = 0; s < width; ++s) {
        const double* value = in.value + (first + (s < count ? s : count - 1)) * in.step + 6 * i;
        for (int k = 0; k < rows; ++k)
          for (int j = 0; j < 6; ++j) state(c[j][k], s) = factorial.inverse[k] * value[(k * in.count) * 6 + j];
      }
      Vec3<Sa> f{Sa::load(c[0]), Sa::load(c[1]), Sa::load(c[2])}, t{Sa::load(c[3]), Sa::load(c[4]), Sa::load(c[5])};
      const Frame& frame = in.frames[i];
      if (frame.body < 0) continue;  // on the world: no joint feels it
      if (in.axes == Axes::body) {
        f = apply(frame.R, f);
        t = apply(frame.R, t) + cross(frame.p, f);
      } else {
        const auto& body = space.kinematics[frame.body];
        if (in.axes == Axes::world) t -= cross(body.x, f);
        f = turn_back(body.R, f);
        t = turn_back(body.R, t);
        if (in.axes == Axes::mixed) t += cross(frame.p, f);
      }
      space.dynamics.apply_wrench(frame.body, f, t);
    }
  }

  static constexpr Kernel<InverseDynamicsCall> kernel{workspace, run};
};

template <class Ring>
struct ForwardKinematicsKernel {
  using S = typename Ring::Velocity;
  static constexpr int K = Ring::order + 2;

  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    ForwardKinematics<Ring> kinematics;
    Space(const Tree& tree, Arena& arena) : motion(Motion<Ring>::allocate(tree, arena)), kinematics(tree, motion, arena) {}
  };

  static std::size_t workspace(const Tree& tree) {
    ArenaSize size;
    Space<ArenaSize>(tree, size);
    return size.bytes();
  }

  // Writes derivatives 0 .. rows - 1 of a series, `step` doubles apart.
  static void write(const S& x, int rows, std::ptrdiff_t step, double* out) {
    double c[Ring::padded];
    x.store(c);
    for (int k = 0; k < rows; ++k) out[k * step] = factorial.value[k] * c[k];
  }

  static void run(const ForwardKinematicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    const int rows = call.states.rows, count = call.frame_count;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, rows);
      space.kinematics.run();
      for (int j = 0; j < count; ++j) {
        const Frame& frame = call.frames[j];
        const auto& body = space.kinematics[frame.body];
        const Vec3<S> x = body.x + apply(body.R, frame.p);
        if (call.pose_rows > 0) {
          const double *R = frame.R, axes[3][3] = {{R[0], R[3], R[6]}, {R[1], R[4], R[7]}, {R[2], R[5], R[8]}};
          const Vec3<S> columns[4] = {apply(body.R, axes[0]), apply(body.R, axes[1]), apply(body.R, axes[2]), x};
          double* pose = call.pose + (i * call.pose_rows * count + j) * 16;
          for (int c = 0; c < 4; ++c) {
            write(columns[c].x, call.pose_rows, 16 * count, pose + c);
            write(columns[c].y, call.pose_rows, 16 * count, pose + 4 + c);
            write(columns[c].z, call.pose_rows, 16 * count, pose + 8 + c);
            for (int k = 0; k < call.pose_rows; ++k) pose[k * 16 * count + 12 + c] = k == 0 && c == 3 ? 1 : 0;
          }
        }
        if (rows > 0) {
          Vec3<S> v = body.v - cross(frame.p, body.w), w = body.w;
          if (call.axes == Axes::body) {
            v = apply_transpose(frame.R, v);
            w = apply_transpose(frame.R, w);
          } else {
            v = turn(body.R, v);
            w = turn(body.R, w);
            if (call.axes == Axes::world) v += cross(x, w);
          }
          const S* components[6] = {&v.x, &v.y, &v.z, &w.x, &w.y, &w.z};
          for (int c = 0; c < 6; ++c) write(*components[c], rows, 6 * count, call.twist + (i * rows * count + j) * 6 + c);
        }
      }
    }
  }

  static constexpr Kernel<ForwardKinematicsCall> kernel{workspace, run};
};

// Which ring serves a single state of a given order was chosen by measurement: coefficients in lanes from order 1 on where
// the registers hold four, in arrays otherwise. Orders in between are padded up: the coefficients beyond the wanted ones are
// zero on input and not read on output.
template <int r>
using SingleRing = std::conditional_t < r == 0 || native_width<4, ArrayRing<double, r>, LaneRing<r, r <= 2 ? 4 : native_width>>;

template <int r>
using BatchRing = ArrayRing<Pack<native_width>, r>;

static Kernel<InverseDynamicsCall> inverse_dynamics(int order, bool batch) {
  if (batch && order == 0) return InverseDynamicsKernel<BatchRing<0>>::kernel;
  if (batch && order == 1) return InverseDynamicsKernel<BatchRing<1>>::kernel;
  if (batch && order == 2) return InverseDynamicsKernel<BatchRing<2>>::kernel;
  if (order == 0) return InverseDynamicsKernel<SingleRing<0>>::kernel;
  if (order == 1) return InverseDynamicsKernel<SingleRing<1>>::kernel;
  if (order == 2) return InverseDynamicsKernel<SingleRing<2>>::kernel;
  if (order == 3) return InverseDynamicsKernel<SingleRing<3>>::kernel;
  if (order == 4) return InverseDynamicsKernel<SingleRing<4>>::kernel;
  if (order == 5) return InverseDynamicsKernel<SingleRing<5>>::kernel;
  if (order == 6) return InverseDynamicsKernel<SingleRing<6>>::kernel;
  if (order <= 10) return InverseDynamicsKernel<SingleRing<10>>::kernel;
  if (order <= 14) return InverseDynamicsKernel<SingleRing<14>>::kernel;
  return InverseDynamicsKernel<SingleRing<30>>::kernel;
}

static Kernel<ForwardKinematicsCall> forward_kinematics(int coefficients) {
  if (coefficients <= 2) return ForwardKinematicsKernel<SingleRing<0>>::kernel;
  if (coefficients <= 4) return ForwardKinematicsKernel<SingleRing<2>>::kernel;
  if (coefficients <= 8) return ForwardKinematicsKernel<SingleRing<6>>::kernel;
  if (coefficients <= 16) return ForwardKinematicsKernel<SingleRing<14>>::kernel;
  return ForwardKinematicsKernel<SingleRing<30>>::kernel;
}

JOUNCE_END

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static constexpr Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA), inverse_dynamics, forward_kinematics};
  return kernels;
}
}  // namespace jounce
