// The compiled kernels: every algorithm, for every instruction set and range of orders, behind plain function pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jounce/tree.hpp"

namespace jounce {

struct CoordinateMap;  // soft_body.hpp

// States in the caller's memory. State i of an array begins `step * i` doubles further on; a step of 0 repeats one state.
struct States {
  const double *q, *v, *rest;  // v: row 0 of the velocity stack; rest: its rows from 1 on
  std::ptrdiff_t q_step, v_step, rest_step;
  int rows;  // of the velocity stack
};

// External wrenches: `count` of them, each on a frame, as a stack (rows, count, 6) a state.
struct Wrenches {
  const double* value;
  std::ptrdiff_t step;
  const Frame* frames;
  int count;
  Axes axes;
};

struct InverseDynamicsCall {
  const Tree* tree;
  States states;
  Wrenches wrenches;  // in body axes
  double* tau;        // (rows - 1, nv) a state
};

// Wrenches in world or mixed axes into body axes, in place.
struct WrenchesToBodyCall {
  const Tree* tree;
  States states;
  Wrenches wrenches;
  int wrench_rows;
  double* value;  // what wrenches.value points to
};

struct ForwardKinematicsCall {
  const Tree* tree;
  States states;
  const Frame* frames;  // the frames whose motion is wanted
  int frame_count;
  Axes axes;
  int pose_rows;  // derivatives of the pose, the pose itself included
  double* pose;   // (pose_rows, frame_count, 4, 4) a state
  double* twist;  // (rows, frame_count, 6) a state
};

// Everything that comes from the screws of a robot: Jacobians, the matrices of the equations of motion, momentum and energy.
struct EquationsCall {
  const Tree* tree;
  States states;
  Axes velocity_axes;  // of the free joints' columns
  int rows;            // derivatives wanted, the quantity itself included
  std::ptrdiff_t size;
  double* out;         // `size` numbers a state
  const Frame* frame;  // of a Jacobian, and its axes
  Axes axes;
};

// M a_ref + C(q, v) v_ref + g.
struct PassiveCall {
  const Tree* tree;
  States states;  // q and v, in body axes
  Axes axes;      // of v_ref, a_ref and tau
  const double *v_ref, *a_ref;
  std::ptrdiff_t v_ref_step, a_ref_step;
  double* tau;
};

// K, D and M of inverse dynamics along a motion, with derivatives 0 .. rows - 1.
struct DerivativesCall {
  const Tree* tree;
  States states;  // rows + 1 rows of velocity
  Wrenches wrenches;
  int rows;
  double *K, *D, *M;  // (rows, nv, nv) a state; M may be null
};

// A matrix a state, which may be a block of a larger one: its rows begin `row` apart, the states' `state` apart.
struct Block {
  double* first;
  std::ptrdiff_t row, state;
};

// Forward dynamics and its derivatives at order zero.
struct ForwardDerivativesCall {
  const Tree* tree;
  States states;  // one row of velocity
  const double* tau;
  std::ptrdiff_t tau_step;
  Wrenches wrenches;
  double* acc;    // v'
  Block K, D;     // its derivatives by q and v
  Block inverse;  // M^-1, its rows next to each other
  std::int32_t* singular;
};

struct RegressorCall {
  const Tree* tree;
  States states;
  Axes axes;            // of the free joints' rows
  const Frame* bodies;  // whose parameters count
  int body_count;
  int rows;
  double* out;  // (rows, nv, 10 body_count) a state
};

struct InverseMassMatrixCall {
  const Tree* tree;
  States states;
  Axes axes;
  double* out;             // (nv, nv) a state
  std::int32_t* singular;  // a state: the body whose inertia has no inverse, or -1
};

struct HybridDynamicsCall {
  const Tree* tree;
  const double *q, *v, *acc, *tau;  // v one row; acc and tau stacks of `rows`, null where nothing is given
  std::ptrdiff_t q_step, v_step, acc_step, tau_step;
  int rows;
  const bool* prescribed;  // (nv), or null: nothing is
  Wrenches wrenches;
  Axes axes;                  // of the free joints' rows in v, acc and tau
  double *acc_out, *tau_out;  // (rows, nv) a state, free joints in body axes
  std::int32_t* singular;     // a state: the body whose inertia has no inverse, or -1
};

// M^-1 f. Successive states with the same q share the factorization.
struct InverseMassCall {
  const Tree* tree;
  const double *q, *f;
  std::ptrdiff_t q_step, f_step;
  double* out;
  std::int32_t* singular;
};

struct ArticulatedInertiaCall {
  const Tree* tree;
  const double* q;
  const Frame* frames;
  int frame_count;
  double* out;  // (frame_count, 6, 6) a state
  std::int32_t* singular;
};

// Runs states [begin, end) in a workspace of the given size, aligned to 64 bytes. Nothing is allocated.
template <class Call>
struct Kernel {
  std::size_t (*workspace)(const Tree&, int rows, int wrench_count);
  void (*run)(const Call&, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace);
};

// From a robot's own coordinates to those of its carrier.
struct MapCall {
  const CoordinateMap* map;
  States states;
  int rows;         // of the Jacobians' stack
  double *q, *v;    // (full_nq) and (states.rows, full_nv) a state
  double* columns;  // (rows, columns) a state, or (rows, seconds) for their derivatives
};

struct MapKernel {
  std::size_t (*workspace)(const CoordinateMap&);
  void (*run)(const MapCall&, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace);
};

// Robots with soft bodies at order zero: from what the map gives, all of it one item after the other for each state.
struct CarriedCall {
  const Tree* tree;
  const CoordinateMap* map;
  const double *q, *v;              // of the carrier: (nq) and (2, nv), velocity and acceleration
  const double *columns, *seconds;  // (column_rows, columns) and (2, seconds)
  int column_rows;
  States states;      // own coordinates: v and acceleration
  const double* tau;  // own forces
  std::ptrdiff_t tau_step;
  double *K, *D, *M;       // (nv, nv)
  double* acc;             // (nv)
  std::int32_t* singular;  // a state: the body of the carrier whose inertia has no inverse, or -1
};

struct CarriedKernels {
  std::size_t (*workspace)(const Tree&, const CoordinateMap&);
  using Run = void (*)(const CarriedCall&, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace);
  Run mass_matrix, derivatives, forward_dynamics;
};

// Each by the number of coefficients that the motion needs: one more than the velocity has rows.
struct EquationsKernels {
  using Select = Kernel<EquationsCall> (*)(int coefficients);
  Select mass_matrix, coriolis_matrix, gravity_force;
  Select jacobian, center_of_mass, momentum, momentum_matrix, kinetic_energy, potential_energy;
};

constexpr int highest_order = 30;

struct Kernels {
  const char* name;
  Kernel<InverseDynamicsCall> (*inverse_dynamics)(int order, bool batch);
  Kernel<ForwardKinematicsCall> (*forward_kinematics)(int coefficients);
  Kernel<WrenchesToBodyCall> (*wrenches_to_body)(int coefficients);
  Kernel<HybridDynamicsCall> (*hybrid_dynamics)(bool batch);
  Kernel<HybridDynamicsCall> forward_dynamics;  // at order zero, in body axes, nothing prescribed
  Kernel<InverseMassCall> inverse_mass;
  Kernel<ArticulatedInertiaCall> articulated_inertia;
  Kernel<PassiveCall> passive_inverse_dynamics;
  Kernel<InverseMassMatrixCall> inverse_mass_matrix;
  EquationsKernels equations;
  Kernel<DerivativesCall> (*inverse_dynamics_derivatives)(int rows);
  Kernel<ForwardDerivativesCall> forward_dynamics_derivatives;
  Kernel<RegressorCall> (*regressor)(int rows);
  MapKernel (*coordinate_map)(int coefficients);
  MapKernel (*coordinate_map_seconds)(int coefficients);
  CarriedKernels carried;
};

const Kernels& generic_kernels();
#ifdef JOUNCE_X86
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

}  // namespace jounce
