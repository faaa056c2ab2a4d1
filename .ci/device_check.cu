// What device_check.py compiles: every algorithm as a kernel, one state per thread. It calls everything, whether that makes
// sense or not, and is never run. Each line `template __global__ ...` is compiled without the others.
#include "jounce/algorithms/centroidal.hpp"
#include "jounce/algorithms/energy.hpp"
#include "jounce/algorithms/forward_dynamics.hpp"
#include "jounce/algorithms/forward_kinematics.hpp"
#include "jounce/algorithms/gravity_force.hpp"
#include "jounce/algorithms/inverse_dynamics.hpp"
#include "jounce/algorithms/inverse_dynamics_derivatives.hpp"
#include "jounce/algorithms/inverse_dynamics_passive.hpp"
#include "jounce/algorithms/inverse_mass_matrix.hpp"
#include "jounce/algorithms/jacobian.hpp"
#include "jounce/algorithms/mass_matrix.hpp"
#include "jounce/algorithms/regressor.hpp"
#include "jounce/constraints/constraint_jacobian.hpp"
#include "jounce/constraints/constraint_partials.hpp"
#include "jounce/matrix/regulator.hpp"
#include "jounce/motion/configuration.hpp"
#include "jounce/motion/free_axes.hpp"
#include "jounce/tree/own_coordinates.hpp"

using namespace jounce;

// Where this thread's state, result and scratch memory are; one type for all kernels.
struct Call {
  const Tree* tree;
  const Frame* frame;
  const Constraints* constraints;
  const bool* prescribed;
  const double *q, *v, *rest, *tau;
  long q_step, v_step, rest_step;
  int rows, frames;
  Axes axes;
  void* block;
  double *out, *more, *most;

  int state() const { return blockIdx.x * blockDim.x + threadIdx.x; }
};

// A motion that has been read, and the screws computed from it.
template <class Ring>
struct Moving {
  Arena arena;
  Motion<Ring> motion;
  WorldFrame<Ring> world;
  explicit Moving(const Call& c)
      : arena(c.block), motion(Motion<Ring>::allocate(*c.tree, arena, c.rows + 2)), world(*c.tree, motion, arena) {
    motion.read(*c.tree, c, c.state(), 1, c.rows);
    world.place(c.axes);
    world.set_inertias();
  }
};

template <class Ring>
__global__ void inverse_dynamics(Call c) {
  using T = typename Ring::Coefficient;
  constexpr int n = Ring::order + 1;
  Arena arena(c.block);
  auto motion = Motion<Ring>::allocate(*c.tree, arena);
  InverseDynamics<Ring> dynamics(*c.tree, motion, arena);
  const ShapeForces shapes(*c.tree, n, arena);
  T* force = arena.take<T>(n * motion.stride);
  dynamics.start();
  motion.read(*c.tree, c, c.state(), 1, c.rows);
  dynamics.forward();
  dynamics.apply_wrench(0, dynamics.kinematics(0).a, dynamics.kinematics(0).a);
  dynamics.backward([&](int column, const typename Ring::Acceleration& f) {
    T x[Ring::padded];
    f.store(x);
    for (int k = 0; k < n; ++k) force[k * motion.stride + column] = x[k];
  });
  add_joint_forces(*c.tree, motion.q, motion.rate, motion.stride, 0, n, force);
  shapes.add_forces(*c.tree, motion.q, motion.rate, motion.stride, 0, n, force);
  lines_to_own(*c.tree, 1, 1, force);
  store_states(force, c.tree->nv, 1, c.tree->nv, c.out);
}

template <class Ring>
__global__ void forward_kinematics(Call c) {
  Moving<Ring> m(c);
  ForwardKinematics<Ring> kinematics(*c.tree, m.motion, m.arena);
  kinematics.run();
  kinematics[0].x.x.store(c.out);
}

template <class Ring>
__global__ void jacobians(Call c) {
  Moving<Ring> m(c);
  if constexpr (Ring::order < 0) m.motion.read_path(*c.tree, c, c.state(), c.frame->body);
  m.world.place_path(c.frame->body, c.axes);
  jacobian(*c.tree, m.world, *c.frame, c.axes, c.rows, c.out);
  columns_to_own(*c.tree, 6, c.out, c.more);
}

template <class Ring>
__global__ void gravity(Call c) {
  Moving<Ring> m(c);
  m.world.gather_inertias();
  gravity_force(*c.tree, m.world, c.rows, c.out);
}

template <class Ring>
__global__ void mass_matrix(Call c) {
  Moving<Ring> m(c);
  m.world.gather_inertias();
  MassMatrix<Ring>(*c.tree, m.world, c.rows, m.arena).run(c.axes, c.out);
  matrices_to_own(*c.tree, c.rows, c.out, c.more);
}

template <class Ring>
__global__ void coriolis_matrix(Call c) {
  Moving<Ring> m(c);
  CoriolisMatrix<Ring>(*c.tree, m.world, c.rows, m.arena).run(c.axes, c.out);
}

template <class Ring>
__global__ void inverse_dynamics_derivatives(Call c) {
  Moving<Ring> m(c);
  InverseDynamicsDerivatives<Ring> derivatives(*c.tree, m.motion, m.world, c.rows, m.arena);
  SectionCurvature curvature(*c.tree, c.rows, m.arena);
  const ShapeForces shapes(*c.tree, c.rows, m.arena);
  derivatives.acceleration(0)[0] = c.rest[0];
  m.motion.sections.extend_to(*c.tree, c.rows + 2, m.motion.q, c.rest, c.tree->nv);
  derivatives.forward();
  derivatives.apply_wrench(0, m.world.screw(0));
  derivatives.apply_fixed_wrench(0, m.world.screw(0), &m.world.pose(0).x);
  derivatives.run(c.out, c.more, c.most);
  add_joint_force_derivatives(*c.tree, m.motion, c.rows, c.out, c.more, c.most);
  derivatives.section_wrench(0).v.x.store(curvature.wrench(0));
  curvature.add(*c.tree, m.motion.sections, c.out);
  shapes.add_derivatives(*c.tree, m.motion.q, c.rest, c.tree->nv, c.rows, c.out, c.more);
}

template <class Ring>
__global__ void centroidal(Call c) {
  Moving<Ring> m(c);
  m.world.gather_inertias();
  const Centroidal<Ring> whole(*c.tree, m.world);
  whole.center_of_mass(c.rows, c.out);
  whole.momentum(c.rows, c.more);
  whole.momentum_matrix(c.rows, c.most);
}

template <class Ring>
__global__ void energy(Call c) {
  Moving<Ring> m(c);
  auto* twist = m.arena.template take<Screw<typename Ring::Acceleration>>(c.tree->size);
  kinetic_energy(*c.tree, m.motion, m.world, c.rows, twist, c.out);
  PotentialEnergy<Ring>(*c.tree, m.motion, c.rows, m.arena).run(m.world, c.rows, c.more);
}

template <class Ring>
__global__ void regressor(Call c) {
  Moving<Ring> m(c);
  InverseDynamics<Ring> dynamics(*c.tree, m.motion, m.arena);
  dynamics.start();
  dynamics.forward();
  Regressor<Ring>(*c.tree, c.frame, c.frames, m.world, dynamics, c.rows, m.arena).run(c.out);
  lines_to_own(*c.tree, c.rows, c.frames, c.out, c.more);
}

// Its orders are values, not types.
template <class T>
__global__ void forward_dynamics(Call c) {
  using V = Triple<T>;
  Arena arena(c.block);
  ForwardDynamics<T> dynamics(*c.tree, c.rows - 1, arena);
  T *R = arena.take<T>(9 * (c.rows + 2)), *x = arena.take<T>(3 * (c.rows + 2));
  dynamics.motion().read(*c.tree, c, c.state(), 1, 1);
  dynamics.start(c.prescribed);
  for (int j = 0; j < c.tree->nv; ++j) dynamics.rate(0)[j] = T(c.v[j]), dynamics.tau(0)[j] = T(c.tau[j]);
  FreeAxes<T> free(*c.tree, c.rows + 1, arena);
  free.start(dynamics.motion().q);
  c.more[0] = dynamics.run(
      [&](int k) {
        free.set_twist(0, k, Axes::body, dynamics.rate(k));
        free.change_wrenches(k, c.axes, Axes::body, dynamics.tau(k));
      },
      [&](int k) {
        dynamics.bias().extend_pose(0, k, R, x);
        dynamics.apply_wrench(0, V::of(R[0], R[1], R[2]), V::of(x[0], x[1], x[2]));
      });
  for (int k = 0; k < c.rows; ++k) store_states(dynamics.rate(k + 1), c.tree->nv, 1, c.tree->nv, c.out);
}

template <class T>
__global__ void articulated_bodies(Call c) {
  using Ring = typename BodyPlaces<T>::Ring;
  Arena arena(c.block);
  auto motion = Motion<Ring>::allocate(*c.tree, arena);
  BodyPlaces<T> places(*c.tree, motion, arena);
  ArticulatedBodies<T> factors(*c.tree, places, arena);
  T *x = arena.take<T>(c.tree->nv), inertia[6][6];
  motion.read(*c.tree, c, c.state(), 1, 0);
  places.begin();
  for (int i = 0; i < c.tree->size; ++i) {
    places.place(i);
    factors.set_body(i);
  }
  c.more[0] = factors.factor(c.prescribed, c.rest);
  factors.solve(x, x);
  factors.inertia(0, inertia);
  x[0] += inertia[0][0];
  store_states(x, c.tree->nv, 1, c.tree->nv, c.out);
}

template <class Matrix>
__global__ void inverse_mass_matrix(Call c) {
  using Ring = BodyPlaces<double>::Ring;
  Moving<Ring> m(c);
  BodyPlaces<double> places(*c.tree, m.motion, m.arena);
  ArticulatedBodies<double> factors(*c.tree, places, m.arena);
  Matrix inverse(*c.tree, factors, m.arena);
  places.begin();
  for (int i = 0; i < c.tree->size; ++i) {
    places.place(i);
    factors.set_body(i);
  }
  factors.screw(0) = leading(m.world.screw(0));
  Armature<Ring>(*c.tree, m.world, c.axes).template add<false>(0, c.more);
  if (factors.factor(nullptr, c.more) < 0) inverse.run(c.out);
}

template <class Dynamics>
__global__ void inverse_dynamics_passive(Call c) {
  Moving<typename Dynamics::Ring> m(c);
  Dynamics(*c.tree, m.world, m.arena).run(c.axes, c.v, c.rest, c.out);
}

// The sections of soft bodies by themselves.
template <class T>
__global__ void sections(Call c) {
  Arena arena(c.block);
  auto tables = SectionTables<T>::allocate(*c.tree, c.rows, true, arena);
  T *q = arena.take<T>(c.tree->positions), *rate = arena.take<T>(c.rows * c.tree->slots);
  tables.fill(*c.tree, c.rows, q, rate, c.tree->slots);
  state(rate[0], 0) += state(tables.pose[0], 0);
  store_states(rate, c.tree->nv, 1, c.tree->nv, c.out);
}

template <class Motion>
__global__ void soft_motion(Call c) {
  Arena arena(c.block);
  Motion motion(*c.tree->soft->bodies, c.rows, arena);
  motion.start();
  for (int k = 0; k < c.rows; ++k) {
    motion.shape(0)[k] = c.q[k];
    motion.extend(
        k, k + 1, c.tree->soft->sections, [&](int, const double* R, const double*) { c.out[0] += R[0]; },
        [&](int, int, int, const double (&u)[6]) { c.out[1] += u[0]; });
  }
}

template <class Free>
__global__ void coordinates(Call c) {
  integrate(*c.tree, c.q, c.v, c.out);
  difference(*c.tree, c.q, c.v, c.out);
  Arena arena(c.block);
  Free free(*c.tree, c.rows + 1, arena);
  free.start(c.q);
  free.change_twists(0, c.axes, Axes::world, c.more);
  free.change_wrenches(0, c.axes, Axes::body, c.most);
}

template <class Partials>
__global__ void constrained_dynamics(Call c) {
  Arena arena(c.block);
  ForwardDynamics<double> dynamics(*c.tree, c.rows - 1, arena);
  ConstraintForces<double> forces(*c.tree, *c.constraints, c.rows - 1, dynamics.places(), dynamics.factors(), dynamics.bias(), arena);
  Partials partials(*c.tree, *c.constraints, forces, dynamics.factors(), dynamics.bias(), dynamics.motion().sections, dynamics.places(),
                    arena);
  dynamics.motion().read(*c.tree, c, c.state(), 1, 1);
  dynamics.start(c.prescribed);
  forces.set_correction(1.0, 1.0);
  forces.set_motion(0, c.v, 6);
  forces.set_shares(c.tau);
  dynamics.run([](int) {}, [](int) {}, forces);
  forces.take_forces(0, c.prescribed, c.out);
  forces.force(0, 0, c.axes, c.out);
  partials.run(c.v, c.tau, c.out);
  partials.project(c.more);
  partials.forces(c.out, c.rows, c.out, c.more, c.most);
}

template <class Ring>
__global__ void constraint_rows(Call c) {
  Moving<Ring> moving(c);
  ConstraintJacobian<Ring> rows(*c.tree, *c.constraints, moving.motion, moving.world, c.rows, moving.arena);
  rows.place();
  rows.run(c.out);
  rows.residuals(c.more);
  rows.wrenches(c.most);
}

template <class Solver>
__global__ void regulators(Call c) {
  Arena arena(c.block);
  const int n = c.rows, m = c.frames;
  Discretization(n, m, arena).run(c.q, c.v, c.rest[0], c.out, c.more);
  Solver(n, m, true, arena).run(c.q, c.v, c.rest, c.tau, c.out, c.more, (bool*)c.most);
  RiccatiInterval interval(n, m, arena);
  if (interval.start(c.rest, c.tau) && interval.run(c.q, c.v, c.rest[0], c.most))
    BackwardRiccati(n, m, arena).run(2, c.most, c.v, c.tau, c.rest, c.out, c.more);
}

// Orders 0, 2 and one that is not unrolled; -1 if positions are enough.
template __global__ void inverse_dynamics<ArrayRing<double, 0>>(Call);
template __global__ void inverse_dynamics<ArrayRing<double, 2>>(Call);
template __global__ void inverse_dynamics<ArrayRing<double, 6>>(Call);
template __global__ void forward_kinematics<ArrayRing<double, 2>>(Call);
template __global__ void jacobians<ArrayRing<double, -1>>(Call);
template __global__ void jacobians<ArrayRing<double, 2>>(Call);
template __global__ void gravity<ArrayRing<double, 2>>(Call);
template __global__ void mass_matrix<ArrayRing<double, -1>>(Call);
template __global__ void mass_matrix<ArrayRing<double, 2>>(Call);
template __global__ void coriolis_matrix<ArrayRing<double, 0>>(Call);
template __global__ void coriolis_matrix<ArrayRing<double, 2>>(Call);
template __global__ void inverse_dynamics_derivatives<ArrayRing<double, -1>>(Call);
template __global__ void inverse_dynamics_derivatives<ArrayRing<double, 2>>(Call);
template __global__ void centroidal<ArrayRing<double, 2>>(Call);
template __global__ void energy<ArrayRing<double, 2>>(Call);
template __global__ void regressor<ArrayRing<double, 2>>(Call);
template __global__ void forward_dynamics<double>(Call);
template __global__ void constrained_dynamics<ConstraintPartials>(Call);
template __global__ void constraint_rows<ArrayRing<double, 2>>(Call);
template __global__ void articulated_bodies<double>(Call);
template __global__ void inverse_mass_matrix<InverseMassMatrix>(Call);
template __global__ void inverse_dynamics_passive<PassiveInverseDynamics>(Call);
template __global__ void sections<double>(Call);
template __global__ void soft_motion<SoftMotion>(Call);
template __global__ void coordinates<FreeAxes<double>>(Call);
template __global__ void regulators<Regulator>(Call);

// The parts meant for CPUs compile, too.
template __global__ void inverse_dynamics<ArrayRing<Pack<2>, 2>>(Call);
template __global__ void inverse_dynamics<LaneRing<2, 4>>(Call);
template __global__ void mass_matrix<LaneRing<6, 4>>(Call);
template __global__ void forward_dynamics<Pack<2>>(Call);
