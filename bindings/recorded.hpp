// A recorded function: owns what a Recording points to.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <vector>

#include "arguments.hpp"
#include "jounce/ring/recorded.hpp"

namespace jounce {

class Recorded {
 public:
  // operations: (operation, first operand, second operand) of each instruction, checked here.
  // tables: (knots, coefficients) of each piecewise polynomial.
  Recorded(int inputs, const std::vector<std::int32_t>& operations, nb::handle values, const std::vector<std::int32_t>& outputs,
           const nb::list& tables);
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  const Recording& recording() const { return recording_; }

 private:
  std::vector<Instruction> instructions_;
  std::vector<std::int32_t> outputs_;
  std::deque<std::vector<double>> numbers_;
  std::vector<Piecewise> tables_;
  Recording recording_{};
};

}  // namespace jounce
