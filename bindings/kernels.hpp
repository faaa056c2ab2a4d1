// The compiled kernels: every algorithm, for every instruction set and range of orders, behind plain function pointers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jounce/tree.hpp"

namespace jounce {

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
  Wrenches wrenches;
  double* tau;  // (rows - 1, nv) a state
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

// Runs states [begin, end) in a workspace of the given size, aligned to 64 bytes. Nothing is allocated.
template <class Call>
struct Kernel {
  std::size_t (*workspace)(const Tree&);
  void (*run)(const Call&, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace);
};

constexpr int highest_order = 30;

struct Kernels {
  const char* name;
  Kernel<InverseDynamicsCall> (*inverse_dynamics)(int order, bool batch);
  Kernel<ForwardKinematicsCall> (*forward_kinematics)(int coefficients);
};

const Kernels& generic_kernels();
#ifdef JOUNCE_X86
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

}  // namespace jounce
