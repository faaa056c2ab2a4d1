#include "jounce/algorithms/inverse_dynamics.hpp"

#include "jounce/motion/joint_forces.hpp"
#include "jounce/soft/shape_forces.hpp"
#include "jounce/tree/own_coordinates.hpp"
#include "select.hpp"

JOUNCE_BEGIN

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
    ShapeForces shapes;
    T* force;
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          dynamics(tree, motion, arena),
          shapes(tree, n, arena),
          force(arena.template take<T>(n * motion.stride)) {}
  };

  static std::size_t workspace(const InverseDynamicsCall& call) {
    ArenaSize size;
    Space<ArenaSize>(*call.tree, size);
    return size.bytes();
  }

  static void run(const InverseDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    const int stride = space.motion.stride, rows = call.states.rows;
    space.dynamics.start();
    for (std::ptrdiff_t first = begin; first < end; first += width) {
      const int count = end - first < width ? int(end - first) : width;
      space.motion.read(tree, call.states, first, count, rows);
      if (width > 1) will_write(call.tau + first * (rows - 1) * tree.nv, std::ptrdiff_t(count) * (rows - 1) * tree.nv);
      space.dynamics.forward();
      if (call.wrenches.count > 0) apply_wrenches(call, first, count, space);
      if (tree.soft)
        for (int j = 0; j < n * stride; ++j) space.force[j] = T(0.0);
      space.dynamics.backward([&](int column, const Sa& f) JOUNCE_LAMBDA_INLINE {
        T c[Ring::padded];
        f.store(c);
        for (int k = 0; k < n; ++k) {
          T& to = space.force[k * stride + column];
          to = tree.soft ? to + c[k] : c[k];
        }
      });
      if (tree.joint_forces) add_joint_forces(tree, space.motion.q, space.motion.rate, stride, 0, n, space.force);
      if (tree.soft) space.shapes.add_forces(tree, space.motion.q, space.motion.rate, stride, 0, n, space.force);
      if (tree.follower_count > 0)
        for (int k = 0; k < n; ++k) lines_to_own(tree, 1, 1, space.force + k * stride);
      if (call.states.axes != Axes::body && tree.free_joint_count > 0)
        for (int k = 0; k + 1 < rows; ++k) space.motion.free.change_wrenches(k, Axes::body, call.states.axes, space.force + k * stride);
      write(call, first, count, space);
    }
  }

  template <class Space>
  static JOUNCE_INLINE void write(const InverseDynamicsCall& call, std::ptrdiff_t first, int count, Space& space) {
    const int nv = call.tree->nv, stride = space.motion.stride, rows = call.states.rows - 1;
    const std::ptrdiff_t step = std::ptrdiff_t(rows) * nv;
    double* tau = call.tau + first * step;
    for (int k = 2; k < rows; ++k)
      for (int j = 0; j < nv; ++j) space.force[k * stride + j] = T(factorial.value[k]) * space.force[k * stride + j];
    if (width > 1 && stride == nv)
      store_states(space.force, step, count, rows * nv, tau);
    else
      for (int k = 0; k < rows; ++k) store_states(space.force + k * stride, step, count, nv, tau + k * nv);
  }

  template <class Space>
  static void apply_wrenches(const InverseDynamicsCall& call, std::ptrdiff_t first, int count, Space& space) {
    const Wrenches& in = call.wrenches;
    const int rows = call.states.rows - 1;
    for (int i = 0; i < in.count; ++i) {
      const Frame& frame = in.frames[i];
      if (frame.body < 0) continue;  // on the world: no joint feels it
      T c[6][Ring::padded];
      for (auto& component : c)
        for (T& x : component) x = T(0.0);
      for (int s = 0; s < width; ++s) {
        const double* value = in.value + (first + (s < count ? s : count - 1)) * in.step + 6 * i;
        for (int k = 0; k < rows; ++k)
          for (int j = 0; j < 6; ++j) state(c[j][k], s) = factorial.inverse[k] * value[(k * in.count) * 6 + j];
      }
      const Vec3<Sa> f = apply(frame.R, Vec3<Sa>{Sa::load(c[0]), Sa::load(c[1]), Sa::load(c[2])});
      const Vec3<Sa> t{Sa::load(c[3]), Sa::load(c[4]), Sa::load(c[5])};
      space.dynamics.apply_wrench(frame.body, f, apply(frame.R, t) + cross(frame.p, f));
    }
  }

  static constexpr Kernel<InverseDynamicsCall> kernel{workspace, run};
};

// Orders up to 6, the most common, have a ring each. Higher ones share a ring if their coefficients fill the same number of registers;
// for a batch of these, one state per lane does not pay off.
template <template <int> class Ring>
static Kernel<InverseDynamicsCall> low_order_kernel(int order) {
  if (order == 0) return InverseDynamicsKernel<Ring<0>>::kernel;
  if (order == 1) return InverseDynamicsKernel<Ring<1>>::kernel;
  if (order == 2) return InverseDynamicsKernel<Ring<2>>::kernel;
  if (order == 3) return InverseDynamicsKernel<Ring<3>>::kernel;
  if (order == 4) return InverseDynamicsKernel<Ring<4>>::kernel;
  if (order == 5) return InverseDynamicsKernel<Ring<5>>::kernel;
  return InverseDynamicsKernel<Ring<6>>::kernel;
}

Kernel<InverseDynamicsCall> inverse_dynamics_kernel(int coefficients, bool batch) {
  const int order = coefficients - 2;
  if constexpr (few_rings) {
    if (order == 0) return InverseDynamicsKernel<SingleRing<0>>::kernel;
  } else {
    if (order <= 6) return batch ? low_order_kernel<BatchRing>(order) : low_order_kernel<SingleRing>(order);
    if (batch && order <= 8) return InverseDynamicsKernel<BatchRing<8>>::kernel;
    if (batch && order <= 10) return InverseDynamicsKernel<BatchRing<10>>::kernel;
    if (order <= 10) return InverseDynamicsKernel<SingleRing<10>>::kernel;
    if (order <= 14) return InverseDynamicsKernel<SingleRing<14>>::kernel;
  }
  return InverseDynamicsKernel<SingleRing<30>>::kernel;
}

JOUNCE_END
