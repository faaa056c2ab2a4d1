// The compiled robot: owns what a Tree points to.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "chosen_kernels.hpp"
#include "jounce/tree/constraint.hpp"
#include "jounce/tree/soft_body.hpp"
#include "natural_sizes.hpp"

namespace jounce {

namespace nb = nanobind;

class CoreModel {
 public:
  // Everything that core_tables.py makes, by name; checked here so that no index can be out of bounds.
  explicit CoreModel(nb::dict compiled);
  CoreModel(const CoreModel&) = delete;
  CoreModel& operator=(const CoreModel&) = delete;

  const Tree& tree() const { return tree_; }
  const std::vector<Frame>& frames() const { return frames_; }  // the bodies' first
  int body_count() const { return body_count_; }
  const nb::dict& frame_index() const { return frame_index_; }              // by name
  const std::string& name_of(int body) const { return body_names_[body]; }  // of the user's body that it is a part of, quoted

  // Columns of one joint or shape, and its name, quoted.
  struct Coordinates {
    std::string name;
    int begin, end;
  };
  const std::vector<Coordinates>& joints() const { return joints_; }

  const Constraints& constraints() const { return constraints_; }
  const std::string& constraint_name(int i) const { return constraint_names_[i]; }  // quoted
  const NaturalSizes& sizes() const { return sizes_; }                              // of their rows and of the coordinates

  static constexpr int most_times = 5;  // that an answer is asked for with more nodes

  // A soft body whose nodes may be too few, and how far it may bend without a doubt. See nodes.hpp.
  struct Screen {
    std::int32_t q, n, soft;     // its coordinates; which of the soft bodies it is
    const double* strained;      // (6, n) by how much a unit of each coordinate deforms it at most: shear and stretch, then turns in rad
    double turned[3];            // at rest
    std::vector<double> limits;  // (2, orders) without and with equations to solve, of the square of all turns; empty: not known yet
    std::vector<std::array<double, 2>> errors;  // the square of all turns, and the relative error of accelerations up to there
    struct Trust {                              // squares of all turns: the largest known to be right, the least known not to be
      double right = -1, wrong = INFINITY;
    };
    std::array<std::array<Trust, 2>, most_times> trusts;  // of finer(times), without and with equations to solve
  };
  const std::vector<Screen>& screens() const { return screens_; }
  const nb::object& discretization() const { return discretization_; }  // of jounce.dynamics.discretization
  const CoreModel& finer(int times) const;  // with half as many more nodes and steps, and so many times half as many more again
  // Whether all soft bodies have nodes enough for answers at q with that highest derivative: as far as is known, and for certain, by limits
  // that may have to be found first.
  bool passes(const double* q, int order, bool solves) const;
  bool passes_limits(const double* q, int order, bool solves) const;
  double error_of_accelerations(const double* q) const;                         // relative, of states that pass
  bool finer_does(const double* q, int times, bool solves, double most) const;  // whether its bodies by themselves are off by no more
  double fastest_rate() const { return fastest_rate_; }                         // 1/s; infinite until it is found
  void find_fastest_rate() const;

  // What was found out about a state with too few nodes, or too many derivatives for its last digits: `Verdict` in discretization.py.
  struct Verdict {
    std::string what;
    bool solves;
    std::size_t count;  // of differences
    std::vector<double> q;
    int which;  // of them to speak of; none if rounding explains all, up to `most`, or still finer answers agree
    double least, most;
    std::string category, before, after;
  };
  using Verdicts = std::deque<std::shared_ptr<const Verdict>>;
  const Verdicts& verdicts() const { return verdicts_; }  // the latest first
  void remember(std::shared_ptr<const Verdict> found) const;

 private:
  using Integers = std::vector<std::int32_t>;

  void add_bodies(const nb::dict& compiled);
  void add_soft(const nb::list& bodies);
  void place_slots(const nb::dict& compiled);
  int position_of(const Body& b) const;
  Integers sort_by_depth();
  void cluster();
  void find_ranges();
  void add_frames(const nb::dict& compiled, const Integers& place);
  void add_constraints(const nb::list& given);  // core_constraints.cpp
  bool has_unequal_gears() const;
  void find_path();
  void find_limits(Screen& screen) const;

  const double* keep(std::vector<double> numbers);  // for as long as the model lives
  const Recording* keep_recording(const nb::dict& from, const char* key, std::int64_t inputs, std::int64_t outputs);

  std::vector<Body> bodies_;
  std::vector<Frame> frames_;
  std::vector<FreeJoint> free_joints_;
  std::vector<std::int32_t> quaternions_;
  std::vector<Follower> followers_;
  std::vector<Range> ranges_;
  std::vector<double> turns_;
  std::vector<Cluster> clusters_;
  std::vector<std::int32_t> cluster_columns_;
  std::vector<double> armature_, damping_, stiffness_, rest_;
  std::vector<Friction> frictions_;

  std::deque<std::vector<double>> numbers_;
  std::deque<std::vector<std::int32_t>> steps_;
  std::vector<SoftBody> soft_bodies_;
  std::vector<Section> sections_;
  std::vector<nb::object> recorded_;  // the owners of recordings
  SoftBodies soft_{};

  nb::dict frame_index_;
  std::vector<std::string> body_names_;
  std::vector<Coordinates> joints_;
  std::vector<std::string> constraint_names_;
  std::vector<Constraint> each_constraint_;
  std::vector<PathBody> path_;
  Integers path_place_;
  Constraints constraints_{};
  NaturalSizes sizes_;
  std::vector<double> path_weights_;
  mutable std::vector<Screen> screens_;     // their limits are found when they are first needed, while Python's lock is held
  mutable std::deque<nb::object> finer_;    // made when they are first needed
  mutable double fastest_rate_ = INFINITY;  // the same
  mutable Verdicts verdicts_;               // a few, by calls that hold Python's lock
  nb::object discretization_;
  int body_count_ = 0;
  Tree tree_{};
};

// Bounds on the squares of how far a body is strained, and turned along its length.
struct Deformation {
  double strained = 0, turned = 0;
};
Deformation deformation(const CoreModel::Screen& screen, const double* q);
bool bent_alike(const std::vector<CoreModel::Screen>& screens, const double* q, const double* other);

// Checks of what core_tables.py makes.
void expect_compiled(bool condition, const std::string& what);
std::vector<double> compiled_numbers(const nb::dict& from, const char* key, std::size_t count);

}  // namespace jounce
