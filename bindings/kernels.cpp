// Compiled once for each instruction set (JOUNCE_ISA): instantiates the algorithms and wraps them as kernels.
#include "kernels.hpp"

#include <type_traits>

#include "jounce/forward_kinematics.hpp"
#include "jounce/hybrid_dynamics.hpp"
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

  static std::size_t workspace(const Tree& tree, int, int) {
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

  static std::size_t workspace(const Tree& tree, int, int) {
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

// Between the caller's rows and the coefficients of HybridDynamics, for the states of one T.
template <class T>
class HybridDynamicsRun {
 public:
  static constexpr int width = states((const T*)nullptr);

  template <class Arena>
  HybridDynamicsRun(const Tree& tree, int rows, int wrench_count, Arena& arena) : tree_(tree), rows_(rows), dynamics_(tree, rows - 1, arena) {
    wrench_ = arena.template take<AppliedWrench<T>>(wrench_count);
    coefficients_ = arena.template take<T>(wrench_count * (6 * rows + 9 * (rows + 1) + 3 * (rows + 2)));
    twist_ = arena.template take<T>(tree.free_joint_count * 6 * (rows + 1));
    force_ = arena.template take<T>(tree.free_joint_count * 6 * rows);
    body_ = arena.template take<int>(tree.free_joint_count);
  }

  // Returns the body whose inertia is singular, or -1.
  int operator()(const HybridDynamicsCall& call, std::ptrdiff_t first, int count) {
    for (int s = 0; s < width; ++s) read(call, first + (s < count ? s : count - 1), s);
    int singular = -1;
    if (!dynamics_.start(call.prescribed, singular)) return singular;
    if (call.axes != Axes::body) {
      keep_free_joints(call);
      for (int i = 0; i < tree_.free_joint_count; ++i) twist_to_body(i, 0, call.axes);
    }
    dynamics_.start_moving();
    for (int i = 0; i < call.wrenches.count; ++i) start_wrench(call, i, first, count);
    int used = 0;
    for (int i = 0; i < call.wrenches.count; ++i)
      if (call.wrenches.frames[i].body >= 0) wrench_[used++] = wrench_[i];
    for (int k = 0; k < rows_; ++k)
      dynamics_.advance(k, wrench_, used, [&](int) {
        if (call.axes == Axes::body) return;
        for (int i = 0; i < tree_.free_joint_count; ++i) {
          if (call.prescribed && call.prescribed[tree_.free_joints[i].v])
            twist_to_body(i, k + 1, call.axes);
          else
            force_to_body(i, k, call.axes);
        }
      });
    for (int s = 0; s < count; ++s)
      for (int k = 0; k < rows_; ++k)
        for (int j = 0; j < tree_.nv; ++j) {
          const std::ptrdiff_t at = ((first + s) * rows_ + k) * tree_.nv + j;
          call.acc_out[at] = factorial.value[k + 1] * state(dynamics_.rate(k + 1)[j], s);
          if (call.tau_out) call.tau_out[at] = factorial.value[k] * state(dynamics_.force(k)[j], s);
        }
    return -1;
  }

 private:
  void read(const HybridDynamicsCall& call, std::ptrdiff_t from, int s) {
    const double *q = call.q + from * call.q_step, *v = call.v + from * call.v_step;
    for (int j = 0; j < tree_.nq; ++j) state(dynamics_.q()[j], s) = q[j];
    for (int j = 0; j < tree_.quaternion_count; ++j) Motion<ArrayRing<T, 0>>::normalize(dynamics_.q() + tree_.quaternions[j], s);
    for (int j = 0; j < tree_.nv; ++j) state(dynamics_.rate(0)[j], s) = v[j];
    for (int k = 0; k < rows_; ++k)
      for (int j = 0; j < tree_.nv; ++j) {
        const bool given = call.prescribed && call.prescribed[j];
        state(dynamics_.rate(k + 1)[j], s) = given ? factorial.inverse[k + 1] * call.acc[from * call.acc_step + k * tree_.nv + j] : 0.0;
        state(dynamics_.force(k)[j], s) = given ? 0.0 : factorial.inverse[k] * call.tau[from * call.tau_step + k * tree_.nv + j];
      }
  }

  // The rows of the free joints as they were given, with the placement of the joint taken out: in the axes of its frame.
  void keep_free_joints(const HybridDynamicsCall& call) {
    for (int i = 0; i < tree_.free_joint_count; ++i) {
      const FreeJoint& joint = tree_.free_joints[i];
      for (int b = 0; b < tree_.size; ++b)
        if (tree_.bodies[b].joint == Joint::free && tree_.bodies[b].v == joint.v) body_[i] = b;
      const bool world = call.axes == Axes::world;
      for (int k = 0; k <= rows_; ++k) {
        const T* v = dynamics_.rate(k) + joint.v;
        Vec3<T> linear{v[0], v[1], v[2]};
        const Vec3<T> angular{v[3], v[4], v[5]};
        if (world) linear -= cross(joint.p, angular);
        put(twist_ + (i * (rows_ + 1) + k) * 6, apply_transpose(joint.R, linear), apply_transpose(joint.R, angular));
        if (k == rows_) break;
        const T* t = dynamics_.force(k) + joint.v;
        const Vec3<T> f{t[0], t[1], t[2]};
        Vec3<T> n{t[3], t[4], t[5]};
        if (world) n -= cross(joint.p, f);
        put(force_ + (i * rows_ + k) * 6, apply_transpose(joint.R, f), apply_transpose(joint.R, n));
      }
    }
  }
  static void put(T* to, const Vec3<T>& a, const Vec3<T>& b) { to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = b.x, to[4] = b.y, to[5] = b.z; }
  static Vec3<T> at(const T* u) { return {u[0], u[1], u[2]}; }

  // Coefficient k of free joint i's twist in body axes: R^T x' and R^T w, with x' = v + w x x in world axes.
  void twist_to_body(int i, int k, Axes axes) {
    const T *given = twist_ + i * (rows_ + 1) * 6, zero(0.0);
    Vec3<T> v{zero, zero, zero}, w = v;
    for (int j = 0; j <= k; ++j) {
      const T* R = dynamics_.ball_rotation(body_[i], k - j);
      Vec3<T> rate = at(given + 6 * j);
      if (axes == Axes::world)
        for (int l = 0; l <= j; ++l) rate += cross_of(at(given + 6 * l + 3), at(dynamics_.ball_position(body_[i], j - l)));
      v += turn_back_by(R, rate);
      w += turn_back_by(R, at(given + 6 * j + 3));
    }
    put(dynamics_.rate(k) + tree_.free_joints[i].v, v, w);
  }

  // Coefficient k of its wrench: R^T f and R^T (n - x x f).
  void force_to_body(int i, int k, Axes axes) {
    const T *given = force_ + i * rows_ * 6, zero(0.0);
    Vec3<T> f{zero, zero, zero}, n = f;
    for (int j = 0; j <= k; ++j) {
      const T* R = dynamics_.ball_rotation(body_[i], k - j);
      Vec3<T> moment = at(given + 6 * j + 3);
      if (axes == Axes::world)
        for (int l = 0; l <= j; ++l) moment -= cross_of(at(dynamics_.ball_position(body_[i], j - l)), at(given + 6 * l));
      f += turn_back_by(R, at(given + 6 * j));
      n += turn_back_by(R, moment);
    }
    put(dynamics_.force(k) + tree_.free_joints[i].v, f, n);
  }

  void start_wrench(const HybridDynamicsCall& call, int i, std::ptrdiff_t first, int count) {
    const Wrenches& in = call.wrenches;
    const Frame& frame = in.frames[i];
    AppliedWrench<T>& w = wrench_[i];
    w.body = frame.body;
    w.axes = in.axes;
    for (int c = 0; c < 3; ++c) w.p[c] = frame.p[c];
    T* memory = coefficients_ + i * (6 * rows_ + 9 * (rows_ + 1) + 3 * (rows_ + 2));
    w.value = memory, w.rotation = memory + 6 * rows_, w.position = w.rotation + 9 * (rows_ + 1);
    if (frame.body < 0) return;
    for (int s = 0; s < width; ++s) {
      const double* value = in.value + (first + (s < count ? s : count - 1)) * in.step + 6 * i;
      for (int k = 0; k < rows_; ++k)
        for (int c = 0; c < 6; ++c) state(w.value[6 * k + c], s) = factorial.inverse[k] * value[(k * in.count) * 6 + c];
    }
    if (in.axes != Axes::body) return dynamics_.world_pose(frame.body, w.rotation, w.position, w.position + 3);
    for (int k = 0; k < rows_; ++k) {
      const Vec3<T> f = apply(frame.R, at(w.value + 6 * k));
      put(w.value + 6 * k, f, apply(frame.R, at(w.value + 6 * k + 3)) + cross(frame.p, f));
    }
  }

  const Tree& tree_;
  int rows_;
  HybridDynamics<T> dynamics_;
  AppliedWrench<T>* wrench_;
  T *coefficients_, *twist_, *force_;
  int* body_;
};

template <class T>
struct HybridDynamicsKernel {
  static std::size_t workspace(const Tree& tree, int rows, int wrench_count) {
    ArenaSize size;
    HybridDynamicsRun<T>(tree, rows, wrench_count, size);
    return size.bytes();
  }

  static void run(const HybridDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    constexpr int width = HybridDynamicsRun<T>::width;
    Arena arena(block);
    HybridDynamicsRun<T> hybrid(*call.tree, call.rows, call.wrenches.count, arena);
    for (std::ptrdiff_t first = begin; first < end; first += width) {
      const int count = end - first < width ? int(end - first) : width;
      const int singular = hybrid(call, first, count);
      for (int s = 0; s < count; ++s) call.singular[first + s] = singular;
      // One of several states: find out which, one by one.
      if constexpr (width > 1)
        if (singular >= 0) HybridDynamicsKernel<double>::run(call, first, first + count, block);
    }
  }
  static constexpr Kernel<HybridDynamicsCall> kernel{workspace, run};
};

struct InverseMassKernel {
  static std::size_t workspace(const Tree& tree, int, int) {
    ArenaSize size;
    HybridDynamics<double>(tree, 0, size);
    return size.bytes();
  }
  static bool start(HybridDynamics<double>& dynamics, const Tree& tree, const double* q, std::int32_t& singular) {
    for (int j = 0; j < tree.nq; ++j) dynamics.q()[j] = q[j];
    for (int j = 0; j < tree.quaternion_count; ++j) normalize(dynamics.q() + tree.quaternions[j]);
    int body = -1;
    const bool good = dynamics.start(nullptr, body);
    singular = body;
    return good;
  }
  static void run(const InverseMassCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    HybridDynamics<double> dynamics(tree, 0, arena);
    bool good = false;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      if (i == begin || call.q_step != 0)
        good = start(dynamics, tree, call.q + i * call.q_step, call.singular[i]);
      else
        call.singular[i] = call.singular[i - 1];
      if (!good) continue;
      for (int j = 0; j < tree.nv; ++j) dynamics.force(0)[j] = call.f[i * call.f_step + j];
      dynamics.apply_inverse_mass();
      for (int j = 0; j < tree.nv; ++j) call.out[i * tree.nv + j] = dynamics.force(0)[j];
    }
  }
  static constexpr Kernel<InverseMassCall> kernel{workspace, run};
};

struct ArticulatedInertiaKernel {
  static void run(const ArticulatedInertiaCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    HybridDynamics<double> dynamics(tree, 0, arena);
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      if (!InverseMassKernel::start(dynamics, tree, call.q + i * tree.nq, call.singular[i])) continue;
      for (int j = 0; j < call.frame_count; ++j) {
        const Frame& frame = call.frames[j];
        const auto& e = dynamics.inertia()[frame.body];
        double* out = call.out + (i * call.frame_count + j) * 36;
        for (int c = 0; c < 6; ++c) {  // column c: the wrench of a unit acceleration along axis c of the user's frame
          Vec3<double> a{c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0}, w{c == 3 ? 1.0 : 0.0, c == 4 ? 1.0 : 0.0, c == 5 ? 1.0 : 0.0};
          Vec3<double> f{0, 0, 0}, t{0, 0, 0};
          e.add_momentum(apply(frame.R, a), apply(frame.R, w), f, t);
          f = apply_transpose(frame.R, f), t = apply_transpose(frame.R, t);
          const double column[6] = {f.x, f.y, f.z, t.x, t.y, t.z};
          for (int r = 0; r < 6; ++r) out[6 * r + c] = column[r];
        }
      }
    }
  }
  static constexpr Kernel<ArticulatedInertiaCall> kernel{InverseMassKernel::workspace, run};
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

static Kernel<HybridDynamicsCall> hybrid_dynamics(bool batch) {
  return batch ? HybridDynamicsKernel<Pack<native_width>>::kernel : HybridDynamicsKernel<double>::kernel;
}

JOUNCE_END

namespace jounce {
#define JOUNCE_TEXT_(x) #x
#define JOUNCE_TEXT(x) JOUNCE_TEXT_(x)
#define JOUNCE_JOIN_(a, b) a##b
#define JOUNCE_JOIN(a, b) JOUNCE_JOIN_(a, b)

const Kernels& JOUNCE_JOIN(JOUNCE_ISA, _kernels)() {
  static constexpr Kernels kernels{JOUNCE_TEXT(JOUNCE_ISA), inverse_dynamics, forward_kinematics, hybrid_dynamics, InverseMassKernel::kernel,
                                   ArticulatedInertiaKernel::kernel};
  return kernels;
}
}  // namespace jounce
