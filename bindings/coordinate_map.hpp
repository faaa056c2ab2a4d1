// From a robot's own coordinates to those of the tree that carries it: owns what a CoordinateMap points to.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "core_model.hpp"
#include "jounce/soft_body.hpp"

namespace jounce {

class CoordinateMapOwner {
 public:
  // own: a model whose q and v are the robot's; carrier: the tree that moves; tables: what soft/tables.py makes, checked here.
  CoordinateMapOwner(const CoreModel& own, const CoreModel& carrier, nb::dict tables);
  CoordinateMapOwner(const CoordinateMapOwner&) = delete;
  CoordinateMapOwner& operator=(const CoordinateMapOwner&) = delete;

  const CoordinateMap& map() const { return map_; }
  const CoreModel& own() const { return own_; }

 private:
  void group(const Tree& carrier);

  const CoreModel& own_;  // kept alive by Python
  std::vector<Copy> positions_, velocities_;
  std::vector<SoftBody> bodies_;
  std::vector<StrainStep> steps_;
  std::vector<Station> stations_;
  std::vector<double> numbers_;
  std::vector<Entry> entries_;
  std::vector<CarriedBody> carried_;
  std::vector<Group> groups_;
  std::vector<Recording> recordings_;
  std::vector<nb::object> recorded_;  // what those belong to
  int widest_group_ = 0;
  bool tree_like_ = true;
  CoordinateMap map_{};
};

// Adds the calls that do the whole of an algorithm.
void bind_carried(nb::class_<CoordinateMapOwner>& c);

}  // namespace jounce
