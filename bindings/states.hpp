// What the calls of a model share: their arguments, checked, and the axes these are given in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "core_model.hpp"

namespace jounce {

Axes axes_named(nb::handle name, const char* argument);

// The axes of the velocities of free joints, in a call whose `frame` only sets those of its result: where these differ from "body", and
// the robot has free joints, they have to be said.
Axes velocity_axes_named(const Tree& tree, nb::handle name, Axes axes);

// The frame with that name or index.
const Frame& frame_named(const CoreModel& model, nb::handle name);

// Checks that throw a ValueError naming the argument.
void expect_configuration(const Tree& tree, const Input& q);
void expect_velocity(const Tree& tree, const Input& v);
void expect_stack(const Tree& tree, const Input& v, int least, int most, const char* what);

// `order=`, the highest derivative in the result, has to agree with its rows. Where it is left out, a warning if a stack has exactly the
// batch shape of q, as one row for each state would have; `single` says how to mean that.
void expect_order(nb::handle order, const Input& q, const Input& given, bool stacked, npy_intp rows_of_result, const char* single);

inline constexpr const char* one_for_each = "one velocity for each state is v[..., None, :]";

// Roughly how many microseconds one state takes, to decide on threads.
double cost(const Tree& tree, npy_intp rows);

// Numbers that will be written before they are read; often none.
inline std::unique_ptr<double[]> scratch(std::ptrdiff_t size) {
  return size > 0 ? std::make_unique_for_overwrite<double[]>(size) : nullptr;
}

// q and a velocity: checked, broadcast, as the kernels expect them.
class MovingStates {
 public:
  enum class Velocity { none, row, pair, stack, stack_or_row };  // the last: (nv,) stands for a stack of one row
  // Makes the Inputs.
  MovingStates(const CoreModel& model, nb::handle q, nb::handle v, Velocity kind, Axes axes);
  // v and a separately or, if a is None, a stack of at least two rows.
  MovingStates(const CoreModel& model, nb::handle q, nb::handle v, nb::handle a, Axes axes);

  // Shapes and numbers; a stack has at most that many rows.
  void expect(int most_rows) const { expect_shapes(most_rows), expect_numbers(); }
  void expect_shapes(int most_rows) const;
  void expect_numbers() const;
  void expect_order(nb::handle order, npy_intp rows_of_result) const {
    if (stacked() || !order.is_none()) expect_stated_order(order, rows_of_result);  // inline: nothing to do in everyday calls
  }
  bool are_numbers(std::ptrdiff_t begin, std::ptrdiff_t end) const;  // of these states, after broadcast()

  bool stacked() const { return kind_ == Velocity::stack; }
  int rows() const;
  // Whether no sum of products of these and the robot's own numbers can overflow, with derivatives up to some order.
  bool is_moderate() const;
  void add_to(Inputs& inputs) const;
  void broadcast(const Shape& batch);
  const States& states() const { return states_; }

 private:
  void expect_stated_order(nb::handle order, npy_intp rows_of_result) const;

  const Tree& tree_;
  Axes axes_;
  Velocity kind_;
  Input q_, v_, a_;
  int least_rows_ = 1;  // of a stack
  States states_{};
};

// wrenches={name: stack}: inputs first, then checked, then gathered into one array (states, rows, count, 6).
class WrenchArguments {
 public:
  WrenchArguments(const CoreModel& model, nb::handle given, bool stacked);
  void expect(npy_intp rows) const;
  void add_to(Inputs& inputs) const;
  void broadcast(const Shape& batch);
  int count() const { return int(frames_.size()); }
  const Frame* frames() const { return frames_.data(); }
  void gather(std::ptrdiff_t begin, std::ptrdiff_t end, npy_intp rows, double* all) const;

 private:
  bool stacked_;
  std::vector<Frame> frames_;
  std::vector<Input> inputs_;
  std::vector<std::ptrdiff_t> steps_;
};

}  // namespace jounce
