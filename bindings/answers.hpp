// What a call writes: computed in parts over threads, then checked. Finite numbers give finite numbers, or an error.
#pragma once

#include <initializer_list>
#include <vector>

#include "core_model.hpp"
#include "nodes.hpp"
#include "parallel.hpp"
#include "states.hpp"

namespace jounce {

// Raises, or warns with, a class of jounce.errors.
[[noreturn]] void fail_as(const char* name, const std::string& message);
void warn_as(const char* name, const std::string& message);

class Answers {
 public:
  // `what` was asked for, in at most four arrays, for a batch that outlives this.
  Answers(const char* what, const Shape& batch, const Shapes& shapes, std::initializer_list<Written> written);

  std::ptrdiff_t count() const { return count_; }  // of states; 0 if there is nothing to write
  void trust() { trusted_ = true; }                // cannot overflow, need not be checked

  // for_each_part(), then errors for equations without a solution and for results that are not finite. Warns of results that are far
  // off.
  void run(double cost, std::size_t workspace_bytes, Part part) const;
  void run(double cost, std::size_t workspace_bytes, const CoreModel& model, const std::vector<Solvability>& equations, Part part) const;

 private:
  bool compute(double cost, std::size_t workspace_bytes, Part part) const;
  void tell() const;
  void expect_finite() const;
  void expect_regular(const CoreModel& model, const std::vector<Solvability>& equations) const;
  std::string in_state(std::ptrdiff_t i) const;

  const char* what_;
  const Shape& batch_;
  Shapes shapes_;
  Written written_[4];
  int written_count_ = 0;
  bool trusted_ = false;
  std::ptrdiff_t count_ = 0;
};

}  // namespace jounce
