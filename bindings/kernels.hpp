// The compiled kernels: every algorithm, for every instruction set and range of orders, behind plain function pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jounce/tree/constraint.hpp"
#include "jounce/tree/tree.hpp"

namespace jounce {

// States in the caller's memory. State i of an array begins `step * i` doubles after the first; a step of 0 repeats one state.
struct States {
  const double *q, *v, *rest;  // v: row 0 of the velocity stack; rest: its rows from 1 on
  std::ptrdiff_t q_step, v_step, rest_step;
  int rows;   // of the velocity stack
  Axes axes;  // of the free joints' columns, in v and in results that belong to it
};

// External wrenches: `count` of them, each on a frame, as a stack (rows, count, 6) per state.
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
  double* tau;        // (rows - 1, nv) per state
};

// Wrenches from world or mixed axes into body axes, in place.
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
  int pose_rows;  // derivatives of the pose, including the pose itself
  double* pose;   // (pose_rows, frame_count, 4, 4) per state
  double* twist;  // (rows, frame_count, 6) per state
};

// Everything computed from the screws of a robot: Jacobians, the matrices of the equations of motion, momentum and energy.
struct EquationsCall {
  const Tree* tree;
  States states;
  int rows;  // derivatives wanted, including the quantity itself
  std::ptrdiff_t size;
  double* out;         // `size` numbers per state
  const Frame* frame;  // of a Jacobian, and its axes
  Axes axes;
};

// M a_ref + C(q, v) v_ref + g.
struct PassiveCall {
  const Tree* tree;
  States states;
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
  double *K, *D, *M;  // (rows, nv, nv) per state; M may be null
};

// One matrix per state, possibly a block of a larger one: its rows begin `row` apart, the states' `state` apart.
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
  double* acc;             // v'
  Block K, D;              // its derivatives with respect to q and v
  Block inverse;           // M^-1, with contiguous rows
  Solvability* equations;  // one per state
};

// The same with constraints whose rows are constant.
struct ConstrainedDerivativesCall {
  ForwardDerivativesCall dynamics;
  const Constraints* constraints;
  double* forces;                            // (count, 6) per state, in body axes
  double *forces_q, *forces_v, *forces_tau;  // (count, 6, nv) per state
  double *jacobian, *speed_q;                // (rows, nv) per state
  Consistency* consistency;                  // one per state
};

struct RegressorCall {
  const Tree* tree;
  States states;
  const Frame* bodies;  // the bodies whose parameters are included
  int body_count;
  int rows;
  double* out;  // (rows, nv, 10 body_count) per state
};

struct InverseMassMatrixCall {
  const Tree* tree;
  States states;
  double* out;             // (nv, nv) per state
  Solvability* equations;  // one per state
};

// Forward dynamics, and hybrid dynamics where accelerations are prescribed.
struct ForwardDynamicsCall {
  const Tree* tree;
  const double *q, *v, *acc, *tau;  // v one row; acc and tau stacks of `rows`, acc null if none is given
  std::ptrdiff_t q_step, v_step, acc_step, tau_step;
  int rows;
  const bool* prescribed;  // (nv), or null: none
  Wrenches wrenches;
  Axes axes;                  // of the free joints' rows in v, acc and tau
  double *acc_out, *tau_out;  // (rows, nv) per state; tau_out null if nothing is prescribed
  Solvability* equations;     // one per state
};

// The same with constraints.
struct ConstrainedDynamicsCall {
  ForwardDynamicsCall dynamics;
  const Constraints* constraints;
  const double* motion;  // (count, rows + 1, 6) per state, of the places that constraints are attached to; null: none moves
  std::ptrdiff_t motion_step;
  const bool* moves;     // (count)
  const double* shares;  // (rows, constraints' rows) per state: multipliers of redundant rows; null: none
  std::ptrdiff_t shares_step;
  double kp, kd;             // of the correction of violations
  Axes axes;                 // of forces
  double* forces;            // (rows, count, 6) per state, or null
  double* multipliers;       // (rows, constraints' rows) per state, or null
  Consistency* consistency;  // one per state
};

// The rows of constraints and their residuals.
struct ConstraintRowsCall {
  const Tree* tree;
  const Constraints* constraints;
  States states;
  int rows;            // derivatives of J, including itself
  double* jacobian;    // (rows, constraints' rows, nv) per state
  double* residual;    // (constraints' rows) per state
  double* wrench;      // (constraints' rows, 6) per state, of unit multipliers, in world axes about the world's origin
  std::int32_t* flat;  // one per state: a wheel that lies flat on its plane, or -1
};

// M^-1 f. Successive states with the same q share the factorization.
struct InverseMassCall {
  const Tree* tree;
  const double *q, *f;
  std::ptrdiff_t q_step, f_step;
  double* out;
  Solvability* equations;  // one per state
};

struct ArticulatedInertiaCall {
  const Tree* tree;
  const double* q;
  const Frame* frames;
  int frame_count;
  double* out;             // (frame_count, 6, 6) per state
  Solvability* equations;  // one per state
};

// Linear systems x' = A x + B u, all by rows. `solved`: one per system, false if it has no answer in numbers. `unwanted`: asked once in a
// while, as one system may take seconds, and from the first time on that it says so there is no answer.
struct DiscretizeCall {
  const double *A, *B;  // (n, n) and (n, inputs) per system
  int n, inputs;
  double step;
  double *E, *F;
  bool* solved;
  bool (*unwanted)();
};

struct RegulatorCall {
  const double *A, *B, *Q, *R;
  int n, inputs;
  bool discrete;
  double *K, *P;
  bool* solved;
  bool* unseen;  // whether Q may not see some unstable motion
  bool (*unwanted)();
};

// Intervals [begin, end) of a motion, or all of it backward.
struct RegulatorsCall {
  const double *A, *B, *Q, *R, *Q_final;  // A (count, n, n), B (count, n, inputs)
  const double* time;                     // (count)
  int count, n, inputs;
  double* intervals;  // (count - 1, 3, n, n)
  double *K, *P;
  bool* solved;
  bool (*unwanted)();
};

// Runs states [begin, end) in a workspace of the requested size, aligned to 64 bytes. Nothing is allocated.
template <class Call>
struct Kernel {
  std::size_t (*workspace)(const Call&);
  void (*run)(const Call&, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace);
};

// The kernel for motions with the given number of Taylor coefficients, for one state at a time or for a batch.
template <class Call>
using Select = Kernel<Call> (*)(int coefficients, bool batch);

// Every algorithm and what it is called with; each NAME has a function NAME_kernel in this folder's kernels/.
#define JOUNCE_ALGORITHMS(X)                              \
  X(inverse_dynamics, InverseDynamicsCall)                \
  X(wrenches_to_body, WrenchesToBodyCall)                 \
  X(forward_dynamics, ForwardDynamicsCall)                \
  X(constrained_dynamics, ConstrainedDynamicsCall)        \
  X(precise_constrained, ConstrainedDynamicsCall)         \
  X(constraint_rows, ConstraintRowsCall)                  \
  X(inverse_mass, InverseMassCall)                        \
  X(articulated_inertia, ArticulatedInertiaCall)          \
  X(inverse_mass_matrix, InverseMassMatrixCall)           \
  X(inverse_dynamics_derivatives, DerivativesCall)        \
  X(forward_dynamics_derivatives, ForwardDerivativesCall) \
  X(constrained_derivatives, ConstrainedDerivativesCall)  \
  X(inverse_dynamics_passive, PassiveCall)                \
  X(forward_kinematics, ForwardKinematicsCall)            \
  X(regressor, RegressorCall)                             \
  X(mass_matrix, EquationsCall)                           \
  X(coriolis_matrix, EquationsCall)                       \
  X(gravity_force, EquationsCall)                         \
  X(jacobian, EquationsCall)                              \
  X(center_of_mass, EquationsCall)                        \
  X(momentum, EquationsCall)                              \
  X(momentum_matrix, EquationsCall)                       \
  X(kinetic_energy, EquationsCall)                        \
  X(potential_energy, EquationsCall)                      \
  X(discretize, DiscretizeCall)                           \
  X(regulator, RegulatorCall)                             \
  X(regulator_intervals, RegulatorsCall)                  \
  X(regulators_backward, RegulatorsCall)

constexpr int highest_order = 30;

struct Kernels {
  const char* name;
  int width;                                                         // of its registers, in doubles
  bool few_rings;                                                    // a small fallback, see kernels/select.hpp
  bool (*below)(const double*, std::ptrdiff_t count, int exponent);  // whether all are finite and below a power of two in magnitude
  bool finite(const double* x, std::ptrdiff_t count) const { return below(x, count, 1024); }
#define JOUNCE_MEMBER(algorithm, Call) Select<Call> algorithm;
  JOUNCE_ALGORITHMS(JOUNCE_MEMBER)
#undef JOUNCE_MEMBER
};

// JOUNCE_HAS_AVX2 and JOUNCE_HAS_AVX512 say whether the last two were built.
const Kernels& generic_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();

}  // namespace jounce
