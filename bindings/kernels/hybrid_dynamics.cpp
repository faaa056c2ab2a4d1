#include "jounce/hybrid_dynamics.hpp"

#include "select.hpp"

JOUNCE_BEGIN

// Between the caller's rows and the coefficients of HybridDynamics, for the states of one T.
template <class T>
class HybridDynamicsRun {
 public:
  static constexpr int width = states((const T*)nullptr);

  template <class Arena>
  HybridDynamicsRun(const Tree& tree, int rows, int wrench_count, Arena& arena)
      : tree_(tree), rows_(rows), dynamics_(tree, rows - 1, arena) {
    wrench_ = arena.template take<AppliedWrench<T>>(wrench_count);
    coefficients_ = arena.template take<T>(wrench_count * (6 * rows + 9 * (rows + 1) + 3 * (rows + 2)));
    twist_ = arena.template take<T>(tree.free_joint_count * 6 * (rows + 1));
    force_ = arena.template take<T>(tree.free_joint_count * 6 * rows);
    body_ = arena.template take<int>(tree.free_joint_count);
  }

  // Returns the body whose inertia is singular, or -1.
  int operator()(const HybridDynamicsCall& call, std::ptrdiff_t first, int count) {
    for (int s = 0; s < width; ++s) read(call, first + (s < count ? s : count - 1), s);
    for (int j = 0; j < tree_.quaternion_count; ++j) Motion<ArrayRing<T, 0>>::normalize(dynamics_.q() + tree_.quaternions[j]);
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
  static void put(T* to, const Vec3<T>& a, const Vec3<T>& b) {
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = b.x, to[4] = b.y, to[5] = b.z;
  }
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
      v += apply_transpose(R, rate);
      w += apply_transpose(R, at(given + 6 * j + 3));
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
      f += apply_transpose(R, at(given + 6 * j));
      n += apply_transpose(R, moment);
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
          Vec3<double> a{c == 0 ? 1.0 : 0.0, c == 1 ? 1.0 : 0.0, c == 2 ? 1.0 : 0.0},
              w{c == 3 ? 1.0 : 0.0, c == 4 ? 1.0 : 0.0, c == 5 ? 1.0 : 0.0};
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

Kernel<HybridDynamicsCall> hybrid_dynamics_kernel(bool batch) {
  return batch ? HybridDynamicsKernel<Pack<native_width>>::kernel : HybridDynamicsKernel<double>::kernel;
}
Kernel<InverseMassCall> inverse_mass_kernel() { return InverseMassKernel::kernel; }
Kernel<ArticulatedInertiaCall> articulated_inertia_kernel() { return ArticulatedInertiaKernel::kernel; }

JOUNCE_END
