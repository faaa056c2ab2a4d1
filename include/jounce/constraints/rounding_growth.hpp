// What rounding errors of a motion become from order to order: a majorant.
//
// Let s_k be the size of coefficient k of the velocities: how fast they turn and move frames. Poses change no faster than the series p with
//
//   p_0 = 1,   p' = p s,
//
// and what velocities add to the accelerations of bodies and rows, at order k, is made of terms no larger than those of (p s)' without
// p_0 s'. Each term is rounded; and an error e_j of s_j, and what it does to p, enter once each.
#pragma once

#include "jounce/ring/config.hpp"
#include "jounce/ring/standard.hpp"

JOUNCE_BEGIN

class RoundingGrowth {
 public:
  // Sizes add up where signs differ: of legged robots at order five, errors were smaller by a factor of a thousand and more.
  static constexpr double overshoot = 4;  // at each order

  RoundingGrowth() = default;
  template <class Arena>
  RoundingGrowth(int order, Arena& arena)
      : speed_(arena.template take<double>(order + 2)),
        pose_(arena.template take<double>(order + 2)),
        error_(arena.template take<double>(order + 2)) {}

  void start(double speed) { speed_[0] = speed, pose_[0] = 1, error_[0] = 0; }

  // The error of the accelerations of order k, the orders below being known: `own`, and what velocities bring, where `unit` is the error
  // of a term of size 1.
  double error(int k, double own, double unit) {
    double change = 0, terms = 0, carried = 0;
    for (int j = 0; j <= k; ++j) change += pose_[j] * speed_[k - j];
    pose_[k + 1] = change / (k + 1);
    for (int j = 1; j <= k + 1; ++j) terms += pose_[j] * speed_[k + 1 - j], carried += pose_[j] * error_[k + 1 - j];
    return own + (k + 1) * (unit * terms + 2 * carried);
  }
  // Speeds of order k + 1, and the error of the accelerations that they are.
  void found(int k, double speed, double error) { speed_[k + 1] = speed, error_[k + 1] = error / (k + 1); }

 private:
  double *speed_ = nullptr, *pose_ = nullptr, *error_ = nullptr;
};

JOUNCE_END
