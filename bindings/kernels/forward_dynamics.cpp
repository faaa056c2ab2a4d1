#include "jounce/forward_dynamics.hpp"

#include "select.hpp"

JOUNCE_BEGIN

// Between the caller's rows and the coefficients of ForwardDynamics, for the states of one T.
template <class T>
class ForwardDynamicsRun {
 public:
  static constexpr int width = states((const T*)nullptr);

  template <class Arena>
  ForwardDynamicsRun(const ForwardDynamicsCall& call, Arena& arena)
      : call_(call), tree_(*call.tree), rows_(call.rows), turned_(call.axes != Axes::body), dynamics_(tree_, rows_ - 1, arena) {
    const bool posed = call.wrenches.axes != Axes::body;
    wrench_ = arena.template take<T>(std::size_t(call.wrenches.count) * 6 * rows_);
    pose_ = arena.template take<T>(posed ? std::size_t(call.wrenches.count) * 12 * (rows_ + 2) : 0);
    free_ = FreeAxes<T>(tree_, turned_ ? rows_ + 1 : 0, arena);
  }

  Solvability operator()(std::ptrdiff_t first, int count) {
    const States at{call_.q, call_.v, nullptr, call_.q_step, call_.v_step, 0, 1, Axes::body};
    dynamics_.motion().read(tree_, at, first, count, 1);
    dynamics_.start(call_.prescribed);
    for (int s = 0; s < width; ++s) read(first + (s < count ? s : count - 1), s);
    read_wrenches(first, count);
    if (turned_) free_.start(dynamics_.motion().q), free_.change_twists(0, call_.axes, Axes::body, dynamics_.rate(0));
    dynamics_.run(
        [&](int k) {
          if (turned_) to_body_axes(k);
        },
        [&](int k) {
          for (int i = 0; i < call_.wrenches.count; ++i)
            if (call_.wrenches.frames[i].body >= 0) apply_wrench(i, k);  // on the world no joint feels it
        });
    const Solvability equations = dynamics_.factors().equations();
    if (equations.singular) return equations;
    if (turned_) from_body_axes();
    for (int k = 0; k < rows_; ++k) {
      T *rate = dynamics_.rate(k + 1), *tau = dynamics_.tau(k);
      for (int j = 0; j < tree_.nv; ++j) rate[j] = T(factorial.value[k + 1]) * rate[j];
      const std::ptrdiff_t step = std::ptrdiff_t(rows_) * tree_.nv, at = first * step + k * std::ptrdiff_t(tree_.nv);
      store_states(rate, step, count, tree_.nv, call_.acc_out + at);
      if (!call_.tau_out) continue;
      for (int j = 0; j < tree_.nv; ++j) tau[j] = T(factorial.value[k]) * tau[j];
      store_states(tau, step, count, tree_.nv, call_.tau_out + at);
    }
    return equations;
  }

 private:
  void read(std::ptrdiff_t from, int s) {
    const double *v = call_.v + from * call_.v_step, *tau = call_.tau + from * call_.tau_step;
    const bool* given = call_.prescribed;
    for (int j = 0; j < tree_.nv; ++j) state(dynamics_.rate(0)[j], s) = v[j];
    for (int k = 0; k < rows_; ++k) {
      const double* acc = given ? call_.acc + from * call_.acc_step + std::ptrdiff_t(k) * tree_.nv : nullptr;
      for (int j = 0; j < tree_.nv; ++j) {
        state(dynamics_.rate(k + 1)[j], s) = given && given[j] ? factorial.inverse[k + 1] * acc[j] : 0.0;
        state(dynamics_.tau(k)[j], s) = given && given[j] ? 0.0 : factorial.inverse[k] * tau[std::ptrdiff_t(k) * tree_.nv + j];
      }
    }
  }

  static void put(T* to, const Vec3<T>& a, const Vec3<T>& b) {
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = b.x, to[4] = b.y, to[5] = b.z;
  }
  static Vec3<T> at(const T* u) { return {u[0], u[1], u[2]}; }

  bool held(int free_joint) const { return call_.prescribed && call_.prescribed[tree_.free_joints[free_joint].v]; }

  // Coefficient k of the free joints' forces, or k + 1 of their twists where those are prescribed.
  void to_body_axes(int k) {
    for (int i = 0; i < tree_.free_joint_count; ++i) {
      if (held(i)) {
        free_.set_twist(i, k + 1, call_.axes, dynamics_.rate(k + 1)), free_.twist(i, k + 1, Axes::body, dynamics_.rate(k + 1));
      } else {
        if (k > 0) free_.set_twist(i, k, Axes::body, dynamics_.rate(k));
        free_.set_wrench(i, k, call_.axes, dynamics_.tau(k)), free_.wrench(i, k, Axes::body, dynamics_.tau(k));
      }
    }
  }

  // What came out of it.
  void from_body_axes() {
    for (int i = 0; i < tree_.free_joint_count; ++i)
      for (int k = 0; k < rows_; ++k) {
        if (held(i)) {
          free_.set_wrench(i, k, Axes::body, dynamics_.tau(k)), free_.wrench(i, k, call_.axes, dynamics_.tau(k));
        } else {
          if (k + 1 == rows_) free_.set_twist(i, rows_, Axes::body, dynamics_.rate(rows_));
          free_.twist(i, k + 1, call_.axes, dynamics_.rate(k + 1));
        }
      }
  }

  // Coefficients of the wrenches from outside; those in body axes in the body's, about its origin.
  void read_wrenches(std::ptrdiff_t first, int count) {
    const Wrenches& in = call_.wrenches;
    for (int i = 0; i < in.count; ++i) {
      T* w = wrench_ + i * 6 * rows_;
      for (int s = 0; s < width; ++s) {
        const double* value = in.value + (first + (s < count ? s : count - 1)) * in.step + 6 * i;
        for (int k = 0; k < rows_; ++k)
          for (int c = 0; c < 6; ++c) state(w[6 * k + c], s) = factorial.inverse[k] * value[(k * in.count) * 6 + c];
      }
      if (in.axes != Axes::body) continue;
      const Frame& frame = in.frames[i];
      for (int k = 0; k < rows_; ++k) {
        const Vec3<T> f = jounce::apply(frame.R, at(w + 6 * k));
        put(w + 6 * k, f, jounce::apply(frame.R, at(w + 6 * k + 3)) + cross(frame.p, f));
      }
    }
  }

  // Coefficient k of a wrench, turned into body axes by the coefficients of the body's pose (paper A, E5).
  void apply_wrench(int i, int k) {
    const Wrenches& in = call_.wrenches;
    const Frame& frame = in.frames[i];
    const T *w = wrench_ + i * 6 * rows_, zero(0.0);
    if (in.axes == Axes::body) return apply(frame.body, at(w + 6 * k), at(w + 6 * k + 3));
    T *R = pose_ + i * 12 * (rows_ + 2), *x = R + 9 * (rows_ + 2);
    dynamics_.bias().extend_pose(frame.body, k, R, x);
    Vec3<T> f{zero, zero, zero}, t = f;
    for (int j = 0; j <= k; ++j) {
      Vec3<T> moment = at(w + 6 * j + 3);
      if (in.axes == Axes::world)
        for (int l = 0; l <= j; ++l) moment -= cross_of(at(x + 3 * l), at(w + 6 * (j - l)));
      f += apply_transpose(R + 9 * (k - j), at(w + 6 * j));
      t += apply_transpose(R + 9 * (k - j), moment);
    }
    if (in.axes == Axes::mixed) t += cross(frame.p, f);
    apply(frame.body, f, t);
  }
  void apply(int body, const Vec3<T>& f, const Vec3<T>& t) {
    dynamics_.apply_wrench(body, Triple<T>::of(f.x, f.y, f.z), Triple<T>::of(t.x, t.y, t.z));
  }

  const ForwardDynamicsCall& call_;
  const Tree& tree_;
  int rows_;
  bool turned_;
  ForwardDynamics<T> dynamics_;
  FreeAxes<T> free_;
  T *wrench_, *pose_;
};

template <class T>
struct ForwardDynamicsKernel {
  static std::size_t workspace(const ForwardDynamicsCall& call) {
    ArenaSize size;
    ForwardDynamicsRun<T>(call, size);
    return size.bytes();
  }

  static void run(const ForwardDynamicsCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    constexpr int width = ForwardDynamicsRun<T>::width;
    Arena arena(block);
    ForwardDynamicsRun<T> forward(call, arena);
    for (std::ptrdiff_t first = begin; first < end; first += width) {
      const int count = end - first < width ? int(end - first) : width;
      const Solvability equations = forward(first, count);
      for (int s = 0; s < count; ++s) call.equations[first + s] = equations;
      // One of several states: find out which, one by one.
      if constexpr (width > 1)
        if (equations.doubtful >= 0) ForwardDynamicsKernel<double>::run(call, first, first + count, block);
    }
  }
  static constexpr Kernel<ForwardDynamicsCall> kernel{workspace, run};
};

// What needs the factors alone.
struct Factored {
  using Ring = BodyPlaces<double>::Ring;
  Motion<Ring> motion;
  BodyPlaces<double> places;
  ArticulatedBodies<double> factors;

  template <class Arena>
  Factored(const Tree& tree, Arena& arena)
      : motion(Motion<Ring>::allocate(tree, arena)), places(tree, motion, arena), factors(tree, places, arena) {}

  template <class Call>
  static std::size_t workspace(const Call& call) {
    ArenaSize size;
    Factored(*call.tree, size);
    return size.bytes();
  }
  Solvability start(const Tree& tree, const double* q) {
    const States at{q, nullptr, nullptr, 0, 0, 0, 0, Axes::body};
    motion.read(tree, at, 0, 1, 0);
    places.begin();
    for (int i = 0; i < tree.size; ++i) {
      places.place(i);
      factors.set_body(i);
    }
    factors.factor(nullptr);
    return factors.equations();
  }
};

static void run_inverse_mass(const InverseMassCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  const Tree& tree = *call.tree;
  Arena arena(block);
  Factored space(tree, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    call.equations[i] = i == begin || call.q_step != 0 ? space.start(tree, call.q + i * call.q_step) : call.equations[i - 1];
    if (!call.equations[i].singular) space.factors.solve(call.f + i * call.f_step, call.out + i * tree.nv);
  }
}

static void run_articulated_inertia(const ArticulatedInertiaCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
  const Tree& tree = *call.tree;
  Arena arena(block);
  Factored space(tree, arena);
  for (std::ptrdiff_t i = begin; i < end; ++i) {
    call.equations[i] = space.start(tree, call.q + i * tree.nq);
    for (int j = 0; !call.equations[i].singular && j < call.frame_count; ++j) {
      const Frame& frame = call.frames[j];
      const auto vector = [](const Triple<double>& u) { return Vec3<double>{u[0], u[1], u[2]}; };
      const Vec3<double> columns[3] = {vector(space.places.column(frame.body, 0)), vector(space.places.column(frame.body, 1)),
                                       vector(space.places.column(frame.body, 2))};
      const Vec3<double> x =
          vector(space.places.position(frame.body)) + frame.p[0] * columns[0] + frame.p[1] * columns[1] + frame.p[2] * columns[2];
      double axes[3][3];  // of the user's frame, in the world
      for (int c = 0; c < 3; ++c) {
        const Vec3<double> axis = frame.R[c] * columns[0] + frame.R[3 + c] * columns[1] + frame.R[6 + c] * columns[2];
        axes[c][0] = axis.x, axes[c][1] = axis.y, axes[c][2] = axis.z;
      }
      double unit[6][6];  // twists along and about them
      for (int c = 0; c < 6; ++c) {
        const Vec3<double> axis{axes[c % 3][0], axes[c % 3][1], axes[c % 3][2]}, lever = cross_of(x, axis);
        const Vec3<double> v = c < 3 ? axis : lever, w = c < 3 ? Vec3<double>{0, 0, 0} : axis;
        const double t[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
        for (int r = 0; r < 6; ++r) unit[c][r] = t[r];
      }
      double* out = call.out + (i * call.frame_count + j) * 36;
      double I[6][6];
      space.factors.inertia(frame.body, I);
      for (int c = 0; c < 6; ++c)
        for (int d = 0; d < 6; ++d) {
          double sum = 0;
          for (int r = 0; r < 6; ++r)
            for (int s = 0; s < 6; ++s) sum += unit[c][r] * I[r][s] * unit[d][s];
          out[6 * c + d] = sum;
        }
    }
  }
}

Kernel<ForwardDynamicsCall> forward_dynamics_kernel(int, bool batch) {
  return batch ? ForwardDynamicsKernel<Pack<native_width>>::kernel : ForwardDynamicsKernel<double>::kernel;
}
Kernel<InverseMassCall> inverse_mass_kernel(int, bool) { return {Factored::workspace<InverseMassCall>, run_inverse_mass}; }
Kernel<ArticulatedInertiaCall> articulated_inertia_kernel(int, bool) {
  return {Factored::workspace<ArticulatedInertiaCall>, run_articulated_inertia};
}

JOUNCE_END
