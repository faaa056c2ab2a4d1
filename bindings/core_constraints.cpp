// The constraints of a compiled robot: from what core_tables.py makes to what constraint.hpp describes.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "arguments.hpp"
#include "core_model.hpp"

namespace jounce {
namespace {

constexpr const char* tie_names[] = {"joint", "distance", "universal", "rolling", "gear"};
constexpr const char* hold_names[] = {"frame", "here", "upright"};

template <std::size_t n>
int named(const nb::dict& from, const char* key, const char* const (&names)[n]) {
  const std::string given = nb::cast<std::string>(from[key]);
  for (std::size_t i = 0; i < n; ++i)
    if (given == names[i]) return int(i);
  fail("compiled model: " + std::string(key) + " is '" + given + "'");
}

// A frame placed in another one.
Frame placed(const Frame& in, const std::vector<double>& pose) {
  Frame out{in.body, {}, {}};
  for (int r = 0; r < 3; ++r) {
    out.p[r] = in.p[r];
    for (int j = 0; j < 3; ++j) out.p[r] += in.R[3 * r + j] * pose[4 * j + 3];
    for (int c = 0; c < 3; ++c)
      for (int j = 0; j < 3; ++j) out.R[3 * r + c] += in.R[3 * r + j] * pose[4 * j + c];
  }
  return out;
}

}  // namespace

void CoreModel::add_constraints(const nb::list& given) {
  constexpr Frame world{-1, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
  const auto frame_at = [&](const nb::dict& c, const char* key) {
    const int index = nb::cast<int>(c[key]);
    expect_compiled(-1 <= index && index < int(frames_.size()), "a constraint on no frame");
    return index < 0 ? world : frames_[index];
  };
  for (nb::handle item : given) {
    const nb::dict c = nb::cast<nb::dict>(item);
    Constraint to{};
    to.tie = Tie(named(c, "tie", tie_names));
    to.hold = Hold(named(c, "hold", hold_names));
    to.first = constraints_.rows;
    to.count = nb::cast<int>(c["count"]);
    expect_compiled(1 <= to.count && to.count <= 6, "count");
    to.holonomic = nb::cast<int>(c["holonomic"]);
    to.turning = nb::cast<int>(c["turning"]);
    to.on_a = nb::cast<bool>(c["on_a"]);
    to.length = compiled_numbers(c, "length", 1)[0];
    const auto rows = compiled_numbers(c, "rows", 6 * std::size_t(to.count)), axis = compiled_numbers(c, "axis", 3),
               other = compiled_numbers(c, "other", 3);
    std::memcpy(to.rows, rows.data(), rows.size() * sizeof(double));
    std::copy_n(axis.data(), 3, to.axis);
    std::copy_n(other.data(), 3, to.other);
    to.a = placed(frame_at(c, "a"), compiled_numbers(c, "pose_a", 16));
    to.b = placed(frame_at(c, "b"), compiled_numbers(c, "pose_b", 16));
    to.named = frame_at(c, to.on_a ? "a" : "b");
    if (to.tie == Tie::gear) {
      const nb::list joints = nb::cast<nb::list>(c["joints"]);
      expect_compiled(joints.size() == 2, "joints of a gear");
      for (int i = 0; i < 2; ++i) {
        const int v = nb::cast<int>(joints[i]);
        const auto found = std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& b) { return b.column == v && b.count == 1; });
        expect_compiled(found != bodies_.end() && 0 <= v && v < tree_.nv, "joints of a gear");
        to.v[i] = v, to.q[i] = position_of(*found);
      }
      const Input polynomial(c["polynomial"], "polynomial", 0);
      to.degree = int(polynomial.total()) - 1;
      expect_compiled(1 <= to.degree && to.degree <= 100, "polynomial");
      to.polynomial = keep({polynomial.data(), polynomial.data() + polynomial.total()});
    } else {
      expect_compiled(to.b.body != to.a.body || to.hold != Hold::frame, "a constraint of a body with itself");
    }
    constraint_names_.push_back(nb::repr(c["name"]).c_str());
    constraints_.rows += to.count;
    each_constraint_.push_back(to);
  }
  find_path();
  constraints_.each = each_constraint_.data();
  constraints_.count = std::int32_t(each_constraint_.size());
  sizes_ = natural_sizes(tree_, constraints_);
  sizes_.rows.reserve(constraints_.rows + widest_register), sizes_.moves.reserve(tree_.nv + widest_register);
  constraints_.row_sizes = sizes_.rows.data();
  constraints_.coordinate_sizes = sizes_.coordinates.data();
  constraints_.length = sizes_.length, constraints_.extent = sizes_.extent;
  path_weights_.reserve(tree_.nv + widest_register);
  path_weights_.assign(tree_.nv, 0.0);
  for (const PathBody& at : path_) {
    const Cluster& cluster = clusters_[bodies_[at.body].cluster];
    for (int c = 0; c < cluster.count; ++c) {
      const int column = cluster_columns_[cluster.first + c];
      path_weights_[column] = 1 / sizes_.coordinates[column];
    }
  }
  constraints_.path_weights = path_weights_.data();
  constraints_.moves = sizes_.moves.data(), constraints_.most_moved = 0;
  for (int c = 0; c < tree_.nv; ++c) constraints_.most_moved = std::max(constraints_.most_moved, sizes_.moves[c] * sizes_.coordinates[c]);
  constraints_.unequal_gears = has_unequal_gears();
}

bool CoreModel::has_unequal_gears() const {
  std::vector<double> carried(bodies_.size());
  for (std::size_t i = bodies_.size(); i-- > 0;) {
    carried[i] += bodies_[i].mass;
    if (bodies_[i].parent >= 0) carried[bodies_[i].parent] += carried[i];
  }
  const auto mass = [&](int column) {
    const auto found = std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& b) { return b.column == column && b.count == 1; });
    return carried[found - bodies_.begin()];
  };
  return std::any_of(each_constraint_.begin(), each_constraint_.end(), [&](const Constraint& c) {
    if (c.tie != Tie::gear) return false;
    const double first = mass(c.v[0]), second = mass(c.v[1]);
    return std::max(first, second) > unequal_gear * std::min(first, second) && std::min(first, second) > 0;
  });
}

void CoreModel::find_path() {
  const int n = int(bodies_.size());
  std::vector<bool> needed(n, false);
  std::vector<Range> rows(n, Range{constraints_.rows, 0});
  const auto widen = [&](int body, int begin, int end) {
    rows[body].begin = std::min(rows[body].begin, begin), rows[body].end = std::max(rows[body].end, end);
    needed[body] = true;
  };
  for (const Constraint& c : each_constraint_) {
    if (c.tie == Tie::gear) {
      for (int i = 0; i < n; ++i)
        if (bodies_[i].count == 1 && (bodies_[i].column == c.v[0] || bodies_[i].column == c.v[1])) widen(i, c.first, c.first + 1);
      continue;
    }
    if (c.b.body >= 0) widen(c.b.body, c.first, c.first + c.count);
    if (c.hold == Hold::frame && c.a.body >= 0) widen(c.a.body, c.first, c.first + c.count);
  }
  for (int i = n - 1; i >= 0; --i)  // the first of a cluster comes before its others, a parent before its children
    if (needed[i]) {
      if (const int first = clusters_[bodies_[i].cluster].body; first != i) widen(first, rows[i].begin, rows[i].end);
      if (bodies_[i].parent >= 0) widen(bodies_[i].parent, rows[i].begin, rows[i].end);
    }
  path_place_.assign(n, -1);
  for (int i = 0; i < n; ++i)
    if (needed[i]) {
      path_place_[i] = std::int32_t(path_.size());
      path_.push_back({i, rows[i].begin, rows[i].end});
    }
  constraints_.path = path_.data();
  constraints_.path_count = std::int32_t(path_.size());
  constraints_.place = path_place_.data();
}

}  // namespace jounce
