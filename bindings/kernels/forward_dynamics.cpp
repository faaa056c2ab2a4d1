#include "forward_dynamics_run.hpp"

JOUNCE_BEGIN

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

// What needs only the factors.
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
  if constexpr (!few_rings)
    if (batch) return ForwardDynamicsKernel<Pack<native_width>>::kernel;
  return ForwardDynamicsKernel<double>::kernel;
}
Kernel<InverseMassCall> inverse_mass_kernel(int, bool) { return {Factored::workspace<InverseMassCall>, run_inverse_mass}; }
Kernel<ArticulatedInertiaCall> articulated_inertia_kernel(int, bool) {
  return {Factored::workspace<ArticulatedInertiaCall>, run_articulated_inertia};
}

JOUNCE_END
