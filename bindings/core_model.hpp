// The compiled robot: owns what a Tree points to.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "jounce/tree.hpp"
#include "kernels.hpp"

namespace jounce {

namespace nb = nanobind;

class CoreModel {
 public:
  // Everything compile.py makes, by name; checked here so that no index can lead outside.
  explicit CoreModel(nb::dict compiled);
  CoreModel(const CoreModel&) = delete;
  CoreModel& operator=(const CoreModel&) = delete;

  const Tree& tree() const { return tree_; }
  const std::vector<Frame>& frames() const { return frames_; }  // the bodies' first
  int body_count() const { return body_count_; }

 private:
  std::vector<Body> bodies_;
  std::vector<Frame> frames_;
  std::vector<FreeJoint> free_joints_;
  std::vector<std::int32_t> quaternions_;
  std::vector<double> armature_, damping_, stiffness_, rest_;
  int body_count_ = 0;
  Tree tree_{};
};

const Kernels& kernels();               // the best this machine runs, or what was asked for
void choose_kernels(const char* name);  // "generic", "avx2", "avx512"
std::vector<const char*> available_kernels();

}  // namespace jounce
