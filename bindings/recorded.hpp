// A recorded function: owns what a Recording points to.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "arguments.hpp"
#include "jounce/recorded.hpp"

namespace jounce {

class Recorded {
 public:
  // operations: (operation, first operand, second operand) of each instruction, checked here.
  Recorded(int inputs, const std::vector<std::int32_t>& operations, nb::handle values, const std::vector<std::int32_t>& outputs);
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  const Recording& recording() const { return recording_; }

 private:
  std::vector<Instruction> instructions_;
  std::vector<std::int32_t> outputs_;
  Recording recording_{};
};

}  // namespace jounce
