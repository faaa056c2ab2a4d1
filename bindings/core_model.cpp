#include "core_model.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "arguments.hpp"
#include "recorded.hpp"

namespace jounce {

void expect_compiled(bool condition, const std::string& what) {
  if (!condition) fail("compiled model: " + what);
}

std::vector<double> compiled_numbers(const nb::dict& from, const char* key, std::size_t count) {
  const Input in(from[key], key, 0);
  expect_compiled(std::size_t(in.total()) == count,
                  std::string(key) + " has " + std::to_string(in.total()) + " numbers, expected " + std::to_string(count));
  in.expect_finite();
  return {in.data(), in.data() + count};
}

namespace {

constexpr auto expect = expect_compiled;
constexpr auto numbers = compiled_numbers;
using Integers = std::vector<std::int32_t>;

Integers integers(const nb::dict& from, const char* key, std::size_t count) {
  Integers found = nb::cast<Integers>(from[key]);
  expect(found.size() == count, std::string(key) + " has " + std::to_string(found.size()) + " numbers, expected " + std::to_string(count));
  return found;
}

constexpr const char* joint_names[] = {"revolute", "prismatic", "helical", "spherical", "free", "section"};

Joint joint_named(nb::handle name) {
  const std::string given = nb::cast<std::string>(name);
  for (int i = 0; i <= int(Joint::section); ++i)
    if (given == joint_names[i]) return Joint(i);
  fail("compiled model: joint is '" + given + "'");
}

int positions(Joint j) { return j == Joint::free ? 7 : j == Joint::spherical ? 4 : j == Joint::section ? 0 : 1; }

}  // namespace

CoreModel::CoreModel(nb::dict c) {
  add_bodies(c);
  discretization_ = nb::borrow(c["discretization"]);
  add_soft(nb::cast<nb::list>(c["soft"]));
  place_slots(c);
  for (Screen& screen : screens_) screen.q = soft_bodies_[screen.soft].q;
  const Integers place = sort_by_depth();
  cluster();
  find_ranges();
  add_frames(c, place);

  const std::size_t columns = std::size_t(tree_.columns);
  armature_ = numbers(c, "armature", columns);
  damping_ = numbers(c, "damping", columns);
  stiffness_ = numbers(c, "stiffness", columns);
  rest_ = numbers(c, "rest", columns);
  const auto friction = numbers(c, "friction", columns), speed = numbers(c, "friction_speed", columns);
  for (std::size_t i = 0; i < columns; ++i) {
    expect(friction[i] == 0 || speed[i] > 0, "friction_speed must be positive");
    if (friction[i] != 0) frictions_.push_back({std::int32_t(i), friction[i], speed[i]});
    tree_.joint_forces |= armature_[i] != 0 || damping_[i] != 0 || stiffness_[i] != 0 || friction[i] != 0;
  }
  const auto gravity = numbers(c, "gravity", 3);
  for (int i = 0; i < 3; ++i) tree_.gravity[i] = gravity[i];
  const auto moderate = [](const double* x, std::size_t count) { return kernels().below(x, std::ptrdiff_t(count), moderate_exponent); };
  tree_.moderate = moderate(tree_.gravity, 3) && moderate(armature_.data(), columns) && moderate(stiffness_.data(), columns) &&
                   moderate(rest_.data(), columns);
  for (const Body& b : bodies_)
    tree_.moderate &= moderate(&b.ratio, 1) && moderate(b.p, 3) && moderate(&b.slide, 1) && moderate(&b.mass, 1) && moderate(b.second, 6);
  for (const Frame& frame : frames_) tree_.moderate &= moderate(frame.p, 3);

  tree_.bodies = bodies_.data();
  tree_.size = std::int32_t(bodies_.size());
  tree_.free_joints = free_joints_.data();
  tree_.free_joint_count = std::int32_t(free_joints_.size());
  tree_.quaternions = quaternions_.data();
  tree_.quaternion_count = std::int32_t(quaternions_.size());
  tree_.followers = followers_.data();
  tree_.follower_count = std::int32_t(followers_.size());
  tree_.ranges = ranges_.data();
  tree_.clusters = clusters_.data();
  tree_.cluster_count = std::int32_t(clusters_.size());
  tree_.cluster_columns = cluster_columns_.data();
  turns_.assign(columns + 8, 0.0);
  for (const Body& b : bodies_)
    if (turns(b.joint)) turns_[b.column] = 1.0;
  tree_.turns = turns_.data();
  tree_.armature = armature_.data();
  tree_.damping = damping_.data();
  tree_.stiffness = stiffness_.data();
  tree_.rest = rest_.data();
  tree_.frictions = frictions_.data();
  tree_.friction_count = std::int32_t(frictions_.size());
  add_constraints(nb::cast<nb::list>(c["constraints"]));
}

void CoreModel::add_bodies(const nb::dict& c) {
  const nb::list joint = nb::cast<nb::list>(c["joint"]);
  const std::size_t n = joint.size();
  const Integers parent = integers(c, "parent", n);
  const auto R = numbers(c, "rotation", 9 * n), p = numbers(c, "position", 3 * n), slide = numbers(c, "slide", n);
  const auto mass = numbers(c, "mass", n), first = numbers(c, "first_moment", 3 * n), second = numbers(c, "second_moment", 6 * n);
  bodies_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Body& b = bodies_[i];
    expect(-1 <= parent[i] && parent[i] < int(i), "a parent must come before its children");
    b.joint = joint_named(joint[i]);
    b.parent = parent[i];
    b.ratio = 1;
    b.leaf = true;
    if (b.parent >= 0) bodies_[b.parent].leaf = false;
    std::memcpy(b.R, &R[9 * i], sizeof b.R);
    std::memcpy(b.p, &p[3 * i], sizeof b.p);
    b.slide = slide[i];
    b.mass = mass[i];
    std::memcpy(b.first, &first[3 * i], sizeof b.first);
    std::memcpy(b.second, &second[6 * i], sizeof b.second);
    b.massless = b.mass == 0;
    for (double x : b.second) b.massless &= x == 0;
    tree_.general |= b.joint > Joint::prismatic;
  }
}

const double* CoreModel::keep(std::vector<double> given) {
  numbers_.push_back(std::move(given));
  return numbers_.back().data();
}

const Recording* CoreModel::keep_recording(const nb::dict& from, const char* key, std::int64_t inputs, std::int64_t outputs) {
  const nb::object given = nb::borrow(from[key]);
  if (given.is_none()) return nullptr;
  recorded_.push_back(given);
  const Recording& found = nb::cast<const Recorded&>(given).recording();
  expect(found.inputs == inputs && found.output_count == outputs, std::string(key) + " of a soft body");
  soft_.recorded_values = std::max(soft_.recorded_values, found.inputs + found.size);
  return &found;
}

// The bodies, in the order of their sections.
void CoreModel::add_soft(const nb::list& given) {
  for (nb::handle item : given) {
    const nb::dict d = nb::cast<nb::dict>(item);
    SoftBody b{};
    b.n = nb::cast<int>(d["n"]);
    expect(b.n >= 0 && b.n < (1 << 12), "n of a soft body");
    const std::size_t n = b.n;
    b.stiffness = keep(numbers(d, "stiffness", n * n));
    b.viscosity = keep(numbers(d, "viscosity", n * n));
    std::vector<std::int32_t>& from = steps_.emplace_back();
    std::vector<std::vector<double>> strain;  // of each step
    b.uniform = true;
    for (nb::handle row : nb::cast<nb::list>(d["steps"])) {
      const nb::dict s = nb::cast<nb::dict>(row);
      const int start = nb::cast<int>(s["start"]);
      expect(-1 <= start && start < int(from.size()), "a step must start from one before it");
      std::vector<double>& own = strain.emplace_back(numbers(s, "constant", 6));
      const bool changes = !nb::borrow(s["changes"]).is_none();
      for (double x : numbers(s, "linear", 6 * n)) own.push_back(x);
      if (changes)
        for (double x : numbers(s, "changes", 12 * n)) own.push_back(x);
      own.resize(6 + 18 * n);
      b.uniform &= !changes && start < 0;
      from.push_back(start);
    }
    b.from = from.data();
    b.step_count = std::int32_t(from.size());
    b.padded_steps = (b.step_count + step_padding - 1) / step_padding * step_padding;
    std::vector<double> lanes;
    for (std::size_t k = 0; k < 6 + 18 * n; ++k)
      for (std::int32_t i = 0; i < b.padded_steps; ++i) lanes.push_back(strain[std::min(i, b.step_count - 1)][k]);
    b.strain = keep(std::move(lanes));
    b.first = std::int32_t(sections_.size());
    for (nb::handle row : nb::cast<nb::list>(d["sections"])) {
      const nb::dict s = nb::cast<nb::dict>(row);
      Section section{nb::cast<int>(s["step"]), nullptr};
      if (!nb::borrow(s["offset"]).is_none()) section.offset = keep(numbers(s, "offset", 3 + 3 * n));
      sections_.push_back(section);
    }
    b.count = std::int32_t(sections_.size()) - b.first;
    const std::int64_t m = b.n, count = b.count;
    b.pose = keep_recording(d, "pose", m, count * 12);
    b.screws = keep_recording(d, "screws", m, count * 6 * m);
    b.curvature = keep_recording(d, "curvature", m, count * 6 * m * m);
    b.elastic = keep_recording(d, "elastic", m, m);
    b.elastic_gradient = keep_recording(d, "elastic_gradient", m, m * m);
    b.viscous = keep_recording(d, "viscous", 2 * m, m);
    b.viscous_gradient = keep_recording(d, "viscous_gradient", 2 * m, 2 * m * m);
    b.energy = keep_recording(d, "energy", m, 1);
    expect(!b.pose == !b.screws && !b.screws == !b.curvature, "a soft body's recordings");
    for (std::int32_t j = b.first; j < b.first + b.count; ++j)
      expect(b.pose || (0 <= sections_[j].step && sections_[j].step < b.step_count), "a section on no step");
    soft_.widest = std::max(soft_.widest, b.n);
    if (b.n > 0 && !discretization_.is_none() && !nb::borrow(d["strained"]).is_none()) {
      Screen screen{0, b.n, std::int32_t(soft_bodies_.size()), keep(numbers(d, "strained", 6 * n)), {}, {}, {}};
      std::copy_n(numbers(d, "turned", 3).data(), 3, screen.turned);
      screens_.push_back(std::move(screen));
    }
    soft_bodies_.push_back(b);
  }
  soft_.bodies = soft_bodies_.data();
  soft_.sections = sections_.data();
  soft_.count = std::int32_t(soft_bodies_.size());
  tree_.soft = soft_bodies_.empty() ? nullptr : &soft_;
  tree_.section_count = std::int32_t(sections_.size());
}

// Where the coordinates of all bodies are (see tree.hpp): own ones in the order of the bodies, then those of followers and sections.
void CoreModel::place_slots(const nb::dict& c) {
  const std::size_t n = bodies_.size();
  const Integers leader = integers(c, "leader", n);
  const auto ratio = numbers(c, "ratio", n), offset = numbers(c, "offset", n);
  int section = 0, soft = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Body& b = bodies_[i];
    expect(leader[i] == -1 ||
               (freedom(b.joint) == 1 && 0 <= leader[i] && leader[i] < int(n) && leader[i] != int(i) && leader[leader[i]] == -1),
           "a joint that follows");
    if (b.joint == Joint::section) {
      expect(section < tree_.section_count, "more sections than soft bodies have");
      if (section == soft_bodies_[soft].first) {
        soft_bodies_[soft].q = tree_.nq, soft_bodies_[soft].v = tree_.nv;
        tree_.nq += soft_bodies_[soft].n, tree_.nv += soft_bodies_[soft].n;
      } else {
        expect(bodies_[i - 1].joint == Joint::section && b.parent == bodies_[i - 1].parent, "sections of a body must follow each other");
      }
      b.q = section++;
      b.column = soft_bodies_[soft].v;
      b.count = soft_bodies_[soft].n;
      if (section == soft_bodies_[soft].first + soft_bodies_[soft].count) ++soft;
    } else if (leader[i] < 0) {
      b.q = tree_.nq, b.v = b.column = b.screw = tree_.nv;
      b.count = freedom(b.joint);
      if (has_quaternion(b.joint)) quaternions_.push_back(tree_.nq + (b.joint == Joint::free ? 3 : 0));
      tree_.nq += positions(b.joint);
      tree_.nv += b.count;
    }
  }
  expect(section == tree_.section_count, "fewer sections than soft bodies have");
  tree_.positions = tree_.nq, tree_.columns = tree_.nv;
  for (std::size_t i = 0; i < n; ++i)
    if (leader[i] >= 0) {
      Body& b = bodies_[i];
      b.q = tree_.positions++, b.v = b.column = b.screw = tree_.columns++;
      b.count = 1;
      b.ratio = ratio[i];
      const Body& leads = bodies_[leader[i]];
      expect(leads.count == 1, "a joint that follows");
      followers_.push_back({b.q, b.v, position_of(leads), leads.column, ratio[i], offset[i]});
    }
  tree_.slots = tree_.screws = tree_.columns;
  for (Body& b : bodies_)
    if (b.joint == Joint::section) {
      b.v = tree_.slots, b.screw = tree_.screws;
      tree_.slots += 6, tree_.screws += b.count;
    }
  for (SoftBody& s : soft_bodies_)
    for (const Body& b : bodies_)
      if (b.joint == Joint::section && b.q == s.first) s.screw = b.screw - tree_.columns;
}

// Where in q the first coordinate of a body is.
int CoreModel::position_of(const Body& b) const {
  if (b.joint != Joint::section) return b.q;
  for (const SoftBody& s : soft_bodies_)
    if (s.v == b.column && s.n == b.count) return s.q;
  return -1;
}

// Sorts bodies by generation, so that computations for neighbours in the array seldom wait for each other. Returns where each body
// went.
CoreModel::Integers CoreModel::sort_by_depth() {
  const std::size_t n = bodies_.size();
  Integers depth(n), order(n), place(n);
  for (std::size_t i = 0; i < n; ++i) depth[i] = bodies_[i].parent < 0 ? 0 : depth[bodies_[i].parent] + 1, order[i] = int(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return depth[a] < depth[b]; });
  std::vector<Body> sorted;
  for (std::size_t i = 0; i < n; ++i) {
    place[order[i]] = int(i);
    sorted.push_back(bodies_[order[i]]);
    if (sorted.back().parent >= 0) sorted.back().parent = place[sorted.back().parent];
  }
  bodies_ = std::move(sorted);
  return place;
}

// Joins bodies that share own coordinates, and those between them, until each cluster hangs on a single body outside it.
void CoreModel::cluster() {
  const int n = int(bodies_.size());
  Integers owner(tree_.nv, -1), root(n);
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  const auto join = [&](int a, int b) {  // the first body represents all
    a = find(a), b = find(b);
    root[std::max(a, b)] = std::min(a, b);
  };
  const auto own = [&](const Body& b) {  // its first coordinate, or -1 if it has none
    if (b.count == 0 || b.ratio == 0) return -1;
    if (b.joint == Joint::section || b.column < tree_.nv) return b.column;
    return followers_[b.column - tree_.nv].leader_v;
  };
  for (int i = 0; i < n; ++i) {
    root[i] = i;
    if (const int c = own(bodies_[i]); c >= 0) {
      if (owner[c] >= 0) join(i, owner[c]);
      owner[c] = i;
    }
  }
  Integers up(n);
  for (bool merged = true; merged;) {
    if (PyErr_CheckSignals() != 0) nb::raise_python_error();
    merged = false;
    std::fill(up.begin(), up.end(), -2);
    for (int i = n - 1; i >= 0 && !merged; --i) {
      const int parent = bodies_[i].parent, at = find(i);
      if (parent >= 0 && find(parent) == at) continue;
      if (up[at] == -2)
        up[at] = parent;
      else if (up[at] != parent) {
        join(at, std::max(up[at], parent));
        merged = true;
      }
    }
  }
  Integers local(tree_.nv, -1);
  std::vector<Integers> members(n);
  for (int i = 0; i < n; ++i) members[find(i)].push_back(i);
  for (int i = 0; i < n; ++i) {
    if (members[i].empty()) continue;
    Cluster cluster{i, bodies_[i].parent, std::int32_t(cluster_columns_.size()), 0, tree_.blocks, true, false};
    for (int j : members[i]) {
      Body& b = bodies_[j];
      b.cluster = std::int32_t(clusters_.size());
      b.block = tree_.blocks;
      cluster.alone &= j == i;
      cluster.nested |= b.parent >= 0 && find(b.parent) == i;
      const int c = own(b);
      if (c < 0) continue;
      if (local[c] < 0)
        for (int k = 0; k < b.count; ++k) {
          local[c + k] = cluster.count++;
          cluster_columns_.push_back(c + k);
        }
      b.local = local[c];
    }
    bodies_[i].single = cluster.alone && cluster.count == 1 && bodies_[i].joint != Joint::section;
    tree_.blocks += cluster.count * cluster.count;
    tree_.widest = std::max(tree_.widest, cluster.count);
    clusters_.push_back(cluster);
  }
}

// The columns of all that a body carries, in ranges.
void CoreModel::find_ranges() {
  const int n = int(bodies_.size());
  std::vector<std::vector<Range>> below(n);
  for (int i = n - 1; i >= 0; --i) {
    Body& b = bodies_[i];
    std::vector<Range>& all = below[i];
    if (b.joint != Joint::section && b.count > 0) all.push_back({b.column, b.column + b.count});
    std::sort(all.begin(), all.end(), [](const Range& x, const Range& y) { return x.begin < y.begin; });
    b.span = std::int32_t(ranges_.size());
    for (const Range& range : all)
      if (ranges_.size() > std::size_t(b.span) && range.begin <= ranges_.back().end)
        ranges_.back().end = std::max(ranges_.back().end, range.end);
      else
        ranges_.push_back(range);
    if (b.parent >= 0) {
      std::vector<Range>& above = below[b.parent];
      above.insert(above.end(), ranges_.begin() + b.span, ranges_.end());
      if (b.joint == Joint::section && b.count > 0) above.push_back({b.column, b.column + b.count});
    }
    all = {};
    b.span_end = std::int32_t(ranges_.size());
    for (int k = b.span; k < b.span_end; ++k)  // its own first
      if (b.joint != Joint::section && ranges_[k].begin <= b.column && b.column < ranges_[k].end) {
        if (ranges_[k].begin < b.column) {
          ranges_.insert(ranges_.begin() + k + 1, {b.column, ranges_[k].end});
          ranges_[k].end = b.column;
          ++b.span_end, ++k;
        }
        break;
      }
  }
}

void CoreModel::add_frames(const nb::dict& c, const Integers& place) {
  const Integers frame_body = nb::cast<Integers>(c["frame_body"]), free_body = nb::cast<Integers>(c["free_body"]);
  const std::size_t n = bodies_.size(), m = frame_body.size();
  const auto frame_R = numbers(c, "frame_rotation", 9 * m), frame_p = numbers(c, "frame_position", 3 * m);
  frames_.resize(m);
  for (std::size_t i = 0; i < m; ++i) {
    expect(-1 <= frame_body[i] && frame_body[i] < int(n), "a frame on no body");
    frames_[i].body = frame_body[i] < 0 ? -1 : place[frame_body[i]];
    std::memcpy(frames_[i].R, &frame_R[9 * i], sizeof frames_[i].R);
    std::memcpy(frames_[i].p, &frame_p[3 * i], sizeof frames_[i].p);
  }
  body_count_ = nb::cast<int>(c["body_count"]);
  expect(0 <= body_count_ && body_count_ <= int(m), "body_count");

  frame_index_ = nb::cast<nb::dict>(c["frame_index"]);
  const nb::list owner = nb::cast<nb::list>(c["owner"]);
  expect(owner.size() == n, "owner");
  body_names_.resize(n);
  for (std::size_t i = 0; i < n; ++i) body_names_[place[i]] = nb::repr(owner[i]).c_str();
  int column = 0;
  for (nb::handle item : nb::cast<nb::list>(c["coordinates"])) {
    const auto [name, count] = nb::cast<std::pair<nb::object, int>>(item);
    joints_.push_back({nb::repr(name).c_str(), column, column + count});
    column += count;
  }
  expect(column == tree_.nv, "coordinates");

  const auto free_R = numbers(c, "free_rotation", 9 * free_body.size()), free_p = numbers(c, "free_position", 3 * free_body.size());
  for (std::size_t i = 0; i < free_body.size(); ++i) {
    expect(0 <= free_body[i] && free_body[i] < int(n) && bodies_[place[free_body[i]]].joint == Joint::free, "free_body");
    const int body = place[free_body[i]];
    FreeJoint f{bodies_[body].q, bodies_[body].v, body, {}, {}};
    std::memcpy(f.R, &free_R[9 * i], sizeof f.R);
    std::memcpy(f.p, &free_p[3 * i], sizeof f.p);
    free_joints_.push_back(f);
  }
  expect(free_joints_.size() ==
             std::size_t(std::count_if(bodies_.begin(), bodies_.end(), [](const Body& b) { return b.joint == Joint::free; })),
         "free_body must have all free joints");
}

}  // namespace jounce
