#include "jounce/algorithms/forward_dynamics.hpp"
#include "jounce/algorithms/inverse_dynamics_derivatives.hpp"
#include "jounce/algorithms/inverse_mass_matrix.hpp"
#include "jounce/constraints/constraint_partials.hpp"
#include "jounce/motion/armature.hpp"
#include "jounce/motion/joint_forces.hpp"
#include "jounce/soft/shape_forces.hpp"
#include "jounce/tree/own_coordinates.hpp"
#include "select.hpp"
#include "wrenches.hpp"

JOUNCE_BEGIN

// What external wrenches add to the derivatives.
template <class Space>
static JOUNCE_NOINLINE void apply_wrenches(const Wrenches& wrenches, std::ptrdiff_t i, int rows, Space& space) {
  for (int j = 0; j < wrenches.count; ++j) {
    const int body = wrenches.frames[j].body;
    if (body < 0) continue;  // on the world: no joint feels it
    Vec3<typename Space::S> x;
    const auto f = wrench_in_world(wrenches, i, j, rows, space.world, x);
    if (wrenches.axes == Axes::body)
      space.derivatives.apply_wrench(body, f);
    else
      space.derivatives.apply_fixed_wrench(body, f, wrenches.axes == Axes::mixed ? &x : nullptr);
  }
}

// K, D and M by own coordinates, from positions, velocities and accelerations that are known.
template <class R, class Arena>
struct DerivativesSpace {
  using Ring = R;
  using S = typename Ring::Velocity;
  Motion<Ring>& motion;  // with sections to rows + 2 coefficients
  WorldFrame<Ring>& world;
  InverseDynamicsDerivatives<Ring> derivatives;
  SectionCurvature curvature;
  ShapeForces shapes;
  double *rate, *by_columns;
  int rows;
  DerivativesSpace(const Tree& tree, Motion<Ring>& motion, WorldFrame<Ring>& world, int rows, Arena& arena)
      : motion(motion),
        world(world),
        derivatives(tree, motion, world, rows, arena),
        curvature(tree, rows, arena),
        shapes(tree, rows, arena),
        rate(arena.template take<double>((rows + 1) * std::size_t(tree.nv))),
        by_columns(arena.template take<double>(tree.follower_count > 0 ? 3 * std::size_t(rows) * tree.columns * tree.columns : 0)),
        rows(rows) {}

  // After WorldFrame::place and set_inertias. `v` and `rest`: rows of derivatives, of velocity and of what is above it. more(): applies
  // further wrenches that are held in bodies.
  template <class More>
  void run(const Tree& tree, const double* v, const double* rest, const Wrenches& wrenches, std::ptrdiff_t i, double* K, double* D,
           double* M, const More& more) {
    for (int k = 0; k <= rows; ++k) {
      const double* row = k == 0 ? v : rest + std::ptrdiff_t(k - 1) * tree.nv;
      for (int c = 0; c < tree.nv; ++c) rate[k * std::ptrdiff_t(tree.nv) + c] = factorial.inverse[k] * row[c];
    }
    for (int k = 0; k < Ring::order + 2; ++k) {
      double* acceleration = derivatives.acceleration(k);
      for (int c = 0; c < tree.nv; ++c) acceleration[c] = k < rows ? (k + 1) * rate[(k + 1) * std::ptrdiff_t(tree.nv) + c] : 0.0;
      for (int j = 0; j < tree.follower_count; ++j)
        acceleration[tree.followers[j].v] = tree.followers[j].ratio * acceleration[tree.followers[j].leader_v];
    }
    if (tree.soft) motion.sections.extend_to(tree, rows + 2, motion.q, rate, tree.nv);
    derivatives.forward();
    apply_wrenches(wrenches, i, rows, *this);
    more();
    const std::ptrdiff_t size = std::ptrdiff_t(rows) * tree.columns * tree.columns;
    const bool direct = tree.follower_count == 0;
    double *k = direct ? K : by_columns, *d = direct ? D : by_columns + size, *m = direct || !M ? M : by_columns + 2 * size;
    derivatives.run(k, d, m);
    if (tree.joint_forces) add_joint_force_derivatives(tree, motion, rows, k, d, m);
    if (tree.soft) add_soft(tree, k, d);
    if (direct) return;
    matrices_to_own(tree, rows, k, K);
    matrices_to_own(tree, rows, d, D);
    if (M) matrices_to_own(tree, rows, m, M);
  }

  void add_soft(const Tree& tree, double* K, double* D) {
    for (int i = 0; i < tree.size; ++i) {
      const Body& b = tree.bodies[i];
      if (b.joint != Joint::section) continue;
      const Screw<S> F = derivatives.section_wrench(i);
      const S* parts[6] = {&F.v.x, &F.v.y, &F.v.z, &F.w.x, &F.w.y, &F.w.z};
      for (int r = 0; r < 6; ++r) {
        double c[padded_length<S>];
        parts[r]->store(c);
        for (int k = 0; k < rows; ++k) curvature.wrench(b.q)[r * rows + k] = c[k];
      }
    }
    curvature.add(tree, motion.sections, K);
    shapes.add_derivatives(tree, motion.q, rate, tree.nv, rows, K, D);
  }
};

template <class Ring>
struct DerivativesKernel {
  template <class Arena>
  struct Space {
    Motion<Ring> motion;
    WorldFrame<Ring> world;
    DerivativesSpace<Ring, Arena> partial;
    Space(const DerivativesCall& call, Arena& arena)
        : motion(Motion<Ring>::allocate(*call.tree, arena, call.rows + 2)),
          world(*call.tree, motion, arena),
          partial(*call.tree, motion, world, call.rows, arena) {}
  };

  static std::size_t workspace(const DerivativesCall& call) {
    ArenaSize size;
    Space<ArenaSize>(call, size);
    return size.bytes();
  }

  static void run(const DerivativesCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(call, arena);
    const std::ptrdiff_t size = std::ptrdiff_t(call.rows) * tree.nv * tree.nv;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, call.rows);
      space.world.place(Axes::body);
      space.world.set_inertias();
      space.partial.run(tree, call.states.v + i * call.states.v_step, call.states.rest + i * call.states.rest_step, call.wrenches, i,
                        call.K + i * size, call.D + i * size, call.M ? call.M + i * size : nullptr, [] {});
    }
  }

  static constexpr Kernel<DerivativesCall> kernel{workspace, run};
};

Kernel<DerivativesCall> inverse_dynamics_derivatives_kernel(int rows, bool) {
  if (rows <= 1) return DerivativesKernel<ArrayRing<double, -1>>::kernel;
  if constexpr (!few_rings)
    if (rows <= 8) return DerivativesKernel<SingleRing<6>>::kernel;
  if constexpr (baseline)
    return DerivativesKernel<SingleRing<30>>::kernel;
  else
    return generic_kernels().inverse_dynamics_derivatives(rows, false);
}

// Y = -X A and Z = -X B. Four rows of X by two registers of columns of A and B: eight sums that stay in registers. Coordinates on
// different branches do not interact: where a row of A and B is zero in these columns, there is nothing to add.
struct NegativeProducts {
  using P = Pack<native_width>;
  static constexpr int step = 2 * native_width;

  template <class Arena>
  struct Space {
    int columns;
    double *both, *out;  // A and B side by side, and four rows of the result
    int* used;
    // More rows than coordinates, if constraints add some.
    Space(int nv, int rows, Arena& arena)
        : columns(round_up(2 * nv, step)),
          both(arena.template take<double>(std::size_t(rows) * columns + step)),
          out(arena.template take<double>(4 * columns)),
          used(arena.template take<int>(std::size_t(columns / step) * (rows + 1))) {}

    void set_row(int nv, int r, const double* A, const double* B) {
      double* row = both + std::ptrdiff_t(r) * columns;
      std::memcpy(row, A, sizeof(double) * nv);
      std::memcpy(row + nv, B, sizeof(double) * nv);
      for (int c = 2 * nv; c < columns; ++c) row[c] = 0;
    }
  };

  static void multiply(int nv, const double* X, const double* A, const double* B, Space<Arena>& space, const Block& Y, const Block& Z) {
    for (int r = 0; r < nv; ++r) space.set_row(nv, r, A + std::ptrdiff_t(r) * nv, B + std::ptrdiff_t(r) * nv);
    multiply(nv, nv, X, nv, space, Y, Z);
  }

  // Once all `inner` rows of A and B are set; those of X (nv, inner) are `x_step` apart.
  static void multiply(int nv, int inner, const double* X, std::ptrdiff_t x_step, Space<Arena>& space, const Block& Y, const Block& Z) {
    const int columns = space.columns;
    double *both = space.both, *out = space.out;
    for (int c = 0; c < columns; c += step) {
      int* used = space.used + c / step * (inner + 1);
      int count = 0;
      for (int k = 0; k < inner; ++k) {
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
      for (int i = 0; i < 4; ++i) x[i] = X + (r + (i < rows ? i : rows - 1)) * x_step;
      for (int c = 0; c < columns; c += step) {
        const int* used = space.used + c / step * (inner + 1);
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
  using Ring = ArrayRing<double, -1>;

  template <class Arena>
  struct Space {
    ForwardDynamics<double> dynamics;
    WorldFrame<Ring> world;
    InverseMassMatrix inverse;
    DerivativesSpace<Ring, Arena> partial;
    NegativeProducts::Space<Arena> products;
    double *K, *D;
    Space(const Tree& tree, Arena& arena, int constraint_rows = 0)
        : dynamics(tree, 0, arena, 3),
          world(tree, dynamics.motion(), arena),
          inverse(tree, dynamics.factors(), arena),
          partial(tree, dynamics.motion(), world, 1, arena),
          products(tree.nv, tree.nv + constraint_rows, arena),
          K(arena.template take<double>(std::size_t(tree.nv) * tree.nv)),
          D(arena.template take<double>(std::size_t(tree.nv) * tree.nv)) {}
  };

  static std::size_t workspace(const ForwardDerivativesCall& call) {
    ArenaSize size;
    Space<ArenaSize>(*call.tree, size);
    return size.bytes();
  }

  static void run(const ForwardDerivativesCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    const std::ptrdiff_t nv = tree.nv;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    auto& dynamics = space.dynamics;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const double *v = call.states.v + i * call.states.v_step, *tau = call.tau + i * call.tau_step;
      double *acc = call.acc + i * nv, *inverse = call.inverse.first + i * call.inverse.state;
      dynamics.motion().read(tree, call.states, i, 1, 1);
      space.world.place(Axes::body);
      space.world.set_inertias();
      dynamics.start(nullptr);
      for (int c = 0; c < nv; ++c) dynamics.rate(0)[c] = v[c], dynamics.rate(1)[c] = 0, dynamics.tau(0)[c] = tau[c];
      dynamics.run([](int) {}, [&](int) { apply_to_dynamics(call.wrenches, i, space); });
      call.equations[i] = dynamics.factors().equations();
      if (call.equations[i].singular) continue;
      for (int c = 0; c < nv; ++c) acc[c] = dynamics.rate(1)[c];
      space.inverse.run(inverse);
      space.partial.run(tree, v, acc, call.wrenches, i, space.K, space.D, nullptr, [] {});
      NegativeProducts::multiply(tree.nv, inverse, space.K, space.D, space.products, {call.K.first + i * call.K.state, call.K.row, 0},
                                 {call.D.first + i * call.D.state, call.D.row, 0});
    }
  }

  template <class Space>
  static JOUNCE_NOINLINE void apply_to_dynamics(const Wrenches& wrenches, std::ptrdiff_t i, Space& space) {
    for (int j = 0; j < wrenches.count; ++j) {
      const int body = wrenches.frames[j].body;
      if (body < 0) continue;
      Vec3<Series<double, 1>> x;
      const auto f = wrench_in_world(wrenches, i, j, 1, space.world, x);
      const auto& pose = space.world.pose(body);
      const auto force = turn_back(pose.R, f.v), moment = turn_back(pose.R, f.w - cross(pose.x, f.v));
      space.dynamics.apply_wrench(body, Triple<double>::of(leading(force.x), leading(force.y), leading(force.z)),
                                  Triple<double>::of(leading(moment.x), leading(moment.y), leading(moment.z)));
    }
  }
};

Kernel<ForwardDerivativesCall> forward_dynamics_derivatives_kernel(int, bool) {
  return {ForwardDerivativesKernel::workspace, ForwardDerivativesKernel::run};
}

// The same with constraints.
struct ConstrainedDerivativesKernel {
  template <class Arena>
  struct Space {
    ForwardDerivativesKernel::Space<Arena> free;
    ConstraintForces<double> forces;
    ConstraintPartials partials;
    Space(const ConstrainedDerivativesCall& call, Arena& arena)
        : free(*call.dynamics.tree, arena, call.constraints->rows),
          forces(*call.dynamics.tree, *call.constraints, 0, free.dynamics.places(), free.dynamics.factors(), free.dynamics.bias(), arena),
          partials(*call.dynamics.tree, *call.constraints, forces, free.dynamics.factors(), free.dynamics.bias(),
                   free.dynamics.motion().sections, free.dynamics.places(), arena) {}
  };

  static std::size_t workspace(const ConstrainedDerivativesCall& call) {
    ArenaSize size;
    Space<ArenaSize>(call, size);
    return size.bytes();
  }

  static void run(const ConstrainedDerivativesCall& all, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const ForwardDerivativesCall& call = all.dynamics;
    const Tree& tree = *call.tree;
    const std::ptrdiff_t nv = tree.nv, rows = all.constraints->rows, count = all.constraints->count;
    Arena arena(block);
    Space<Arena> space(all, arena);
    auto& dynamics = space.free.dynamics;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      const double *v = call.states.v + i * call.states.v_step, *tau = call.tau + i * call.tau_step;
      double *acc = call.acc + i * nv, *inverse = call.inverse.first + i * call.inverse.state;
      dynamics.motion().read(tree, call.states, i, 1, 1);
      space.free.world.place(Axes::body);
      space.free.world.set_inertias();
      dynamics.start(nullptr);
      for (int c = 0; c < nv; ++c) dynamics.rate(0)[c] = v[c], dynamics.rate(1)[c] = 0, dynamics.tau(0)[c] = tau[c];
      dynamics.run([](int) {}, [&](int) { ForwardDerivativesKernel::apply_to_dynamics(call.wrenches, i, space.free); }, space.forces);
      call.equations[i] = dynamics.factors().equations();
      all.consistency[i] = space.forces.consistency();
      if (call.equations[i].singular) continue;
      for (int c = 0; c < nv; ++c) acc[c] = dynamics.rate(1)[c];
      for (int j = 0; j < count; ++j) space.forces.force(j, 0, Axes::body, all.forces + (i * count + j) * 6);
      space.free.inverse.run(inverse);
      double *K = space.free.K, *D = space.free.D;
      space.free.partial.run(tree, v, acc, call.wrenches, i, K, D, nullptr, [&] { hold_wrenches(*all.constraints, space); });
      space.partials.run(v, acc, K);
      space.partials.project(inverse);
      double *da_dq = call.K.first + i * call.K.state, *da_dv = call.D.first + i * call.D.state;
      auto& products = space.free.products;
      for (int r = 0; r < nv; ++r) products.set_row(tree.nv, r, K + r * nv, D + r * nv);
      for (int r = 0; r < rows; ++r) products.set_row(tree.nv, int(nv) + r, space.partials.broken_q(r), space.partials.broken_v(r));
      NegativeProducts::multiply(tree.nv, int(nv + rows), space.partials.left(), space.partials.left_stride(), products,
                                 {da_dq, call.K.row, 0}, {da_dv, call.D.row, 0});
      for (std::ptrdiff_t r = 0; r < rows; ++r)
        for (std::ptrdiff_t c = 0; c < nv; ++c) {
          all.jacobian[(i * rows + r) * nv + c] = space.partials.jacobian(int(r))[c];
          all.speed_q[(i * rows + r) * nv + c] = space.partials.speed_q(int(r))[c];
        }
      const std::ptrdiff_t at = i * count * 6 * nv;
      space.partials.forces(products.both, products.columns, all.forces_q + at, all.forces_v + at, all.forces_tau + at);
    }
  }

  // The wrenches of constraints, held in the bodies they are on.
  template <class S>
  static void hold_wrenches(const Constraints& all, S& space) {
    for (int i = 0; i < all.count; ++i) {
      const Constraint& c = all.each[i];
      hold(c.b.body, space.forces.on_body(i, true), space);
      if (c.hold == Hold::frame) hold(c.a.body, space.forces.on_body(i, false), space);
    }
  }
  template <class S>
  static void hold(int body, const Six<double>& wrench, S& space) {
    if (body < 0) return;
    using R = Series<double, 1>;
    const auto constant = [](const Triple<double>& u) { return Vec3<R>{R(u[0]), R(u[1]), R(u[2])}; };
    space.free.partial.derivatives.apply_wrench(body, {constant(wrench.linear()), constant(wrench.angular())});
  }
};

Kernel<ConstrainedDerivativesCall> constrained_derivatives_kernel(int, bool) {
  return {ConstrainedDerivativesKernel::workspace, ConstrainedDerivativesKernel::run};
}

// M^-1 alone.
struct InverseMassMatrixKernel {
  template <class Arena>
  struct Space {
    using Ring = ArrayRing<double, -1>;
    Motion<Ring> motion;
    BodyPlaces<double> places;
    WorldFrame<Ring> world;
    ArticulatedBodies<double> factors;
    InverseMassMatrix inverse;
    double* armature;
    Space(const Tree& tree, Arena& arena)
        : motion(Motion<Ring>::allocate(tree, arena)),
          places(tree, motion, arena),
          world(tree, motion, arena),
          factors(tree, places, arena),
          inverse(tree, factors, arena),
          armature(arena.template take<double>(tree.free_joint_count > 0 ? std::size_t(tree.columns) * tree.columns : 0)) {}
  };

  static std::size_t workspace(const InverseMassMatrixCall& call) {
    ArenaSize size;
    Space<ArenaSize>(*call.tree, size);
    return size.bytes();
  }

  static void run(const InverseMassMatrixCall& call, std::ptrdiff_t begin, std::ptrdiff_t end, void* block) {
    const Tree& tree = *call.tree;
    Arena arena(block);
    Space<Arena> space(tree, arena);
    const bool turned = tree.joint_forces && call.states.axes != Axes::body && tree.free_joint_count > 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) {
      space.motion.read(tree, call.states, i, 1, 0);
      space.places.begin();
      for (int j = 0; j < tree.size; ++j) {
        space.places.place(j);
        space.factors.set_body(j);
      }
      if (call.states.axes != Axes::body) {
        space.world.place(call.states.axes);
        for (int j = 0; j < tree.free_joint_count; ++j)
          for (int c = tree.free_joints[j].v; c < tree.free_joints[j].v + 6; ++c) space.factors.screw(c) = leading(space.world.screw(c));
      }
      if (turned) {
        std::memset(space.armature, 0, sizeof(double) * tree.columns * tree.columns);
        Armature<ArrayRing<double, -1>>(tree, space.world, call.states.axes).add<false>(0, space.armature);
      }
      space.factors.factor(nullptr, turned ? space.armature : nullptr);
      call.equations[i] = space.factors.equations();
      if (!call.equations[i].singular) space.inverse.run(call.out + i * tree.nv * tree.nv);
    }
  }
};

Kernel<InverseMassMatrixCall> inverse_mass_matrix_kernel(int, bool) {
  return {InverseMassMatrixKernel::workspace, InverseMassMatrixKernel::run};
}

JOUNCE_END
