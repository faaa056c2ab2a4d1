#include "jounce/algorithms/forward_kinematics.hpp"

#include "select.hpp"

JOUNCE_BEGIN

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

  template <class Call>
  static std::size_t workspace(const Call& call) {
    ArenaSize size;
    Space<ArenaSize>(*call.tree, size);
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

  static constexpr Kernel<ForwardKinematicsCall> kernel{workspace<ForwardKinematicsCall>, run};
};

// Paper A, (E5), as products of series: wrenches given in world or mixed axes into the axes, and about the origin, of the
// frames they act on; in place.
template <class Ring>
struct WrenchesToBodyKernel {
  using S = typename Ring::Velocity;
  using Space = typename ForwardKinematicsKernel<Ring>::template Space<Arena>;

  static void run(const WrenchesToBodyCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    const Wrenches& in = call.wrenches;
    Arena arena(block);
    Space space(tree, arena);
    const int rows = call.wrench_rows;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, call.states.rows < rows ? call.states.rows : rows);
      space.kinematics.run();
      for (int j = 0; j < in.count; ++j) {
        const Frame& frame = in.frames[j];
        const auto& body = space.kinematics[frame.body];
        double* value = call.value + i * in.step + 6 * j;
        double c[6][Ring::padded] = {};
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < 6; ++l) c[l][k] = factorial.inverse[k] * value[k * in.count * 6 + l];
        Vec3<S> f{S::load(c[0]), S::load(c[1]), S::load(c[2])}, t{S::load(c[3]), S::load(c[4]), S::load(c[5])};
        if (in.axes == Axes::world) t -= cross(body.x + apply(body.R, frame.p), f);
        f = apply_transpose(frame.R, turn_back(body.R, f));
        t = apply_transpose(frame.R, turn_back(body.R, t));
        const S* components[6] = {&f.x, &f.y, &f.z, &t.x, &t.y, &t.z};
        for (int l = 0; l < 6; ++l) ForwardKinematicsKernel<Ring>::write(*components[l], rows, in.count * 6, value + l);
      }
    }
  }

  static constexpr Kernel<WrenchesToBodyCall> kernel{ForwardKinematicsKernel<Ring>::template workspace<WrenchesToBodyCall>, run};
};

Kernel<ForwardKinematicsCall> forward_kinematics_kernel(int coefficients, bool) {
  return padded_kernel<ForwardKinematicsKernel, 1>(coefficients, &Kernels::forward_kinematics);
}
Kernel<WrenchesToBodyCall> wrenches_to_body_kernel(int coefficients, bool) {
  return padded_kernel<WrenchesToBodyKernel, 2>(coefficients, &Kernels::wrenches_to_body);
}

JOUNCE_END
