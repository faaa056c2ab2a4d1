#include "natural_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "jounce/ring/recorded.hpp"
#include "jounce/tree/soft_body.hpp"

namespace jounce {
namespace {

constexpr double prior = 1e-3;
constexpr double no_lever = 1e-12;  // of the robot's length: digits of a file that should have been zero
constexpr double same = 1e-12;      // of a screw: what it takes to compute it

double norm(const double* x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }

// What a unit of a coordinate does at most to the body that it moves: moves its origin, turns it.
struct Speed {
  double linear, angular;
  bool fixed = false;     // whether its screw stays where it is on the body
  double v[3]{}, w[3]{};  // then it is this

  static Speed screw(const double* v, const double* w, bool fixed) {
    return {norm(v), norm(w), fixed, {v[0], v[1], v[2]}, {w[0], w[1], w[2]}};
  }
  // Of a place on the body. How far along its axis a joint has its origin makes no difference.
  double at(const double* x) const {
    if (!fixed) return linear + angular * norm(x);
    const double moved[3] = {v[0] + w[1] * x[2] - w[2] * x[1], v[1] + w[2] * x[0] - w[0] * x[2], v[2] + w[0] * x[1] - w[1] * x[0]};
    return norm(moved);
  }
};

// How far the section of a soft body is from the near end, and how a coordinate of the shape moves it, about the shape q = 0.
class SectionBounds {
 public:
  SectionBounds(const SoftBodies& all, int section) {
    for (int i = 0; i < all.count; ++i)
      if (const SoftBody& b = all.bodies[i]; b.first <= section && section < b.first + b.count)
        b.pose ? read_recorded(b, section - b.first) : read_steps(b, all.sections[section]);
  }
  double reach = 0;
  std::vector<Speed> speeds;

 private:
  void read_recorded(const SoftBody& b, int section) {
    const auto values = [&](const Recording& of, int first, int count, double q) {
      std::vector<double> x(of.inputs + of.size, 0.0), found(count);
      std::fill_n(x.begin(), b.n, q);
      replay(of, 0, 1, 1, x.data());
      for (int i = 0; i < count; ++i) found[i] = x[of.outputs[first + i]];
      return found;
    };
    reach = norm(values(*b.pose, 12 * section, 3, 0.0).data());
    const auto screws = [&](double q) { return values(*b.screws, 6 * b.n * section, 6 * b.n, q); };
    const std::vector<double> usual = screws(0.0);
    // Of several coordinates, only what the last one does can be fixed to the body: it carries what those before it do.
    const std::ptrdiff_t last = 6 * (b.n - 1);
    bool fixed = true;
    for (double q : {0.7, -1.3, 2.9}) {
      const std::vector<double> other = screws(q);
      for (std::ptrdiff_t i = last; i < last + 6; ++i) {
        const double size = i < last + 3 ? norm(&usual[last]) + norm(&usual[last + 3]) * reach : norm(&usual[last + 3]);
        fixed = fixed && std::fabs(other[i] - usual[i]) <= same * size;
      }
    }
    for (int c = 0; c < b.n; ++c) speeds.push_back(Speed::screw(&usual[6 * c], &usual[6 * c + 3], fixed && 6 * c == last));
  }
  void read_steps(const SoftBody& b, const Section& section) {
    const auto size = [&](int first, int step) {
      double x[3];
      for (int i = 0; i < 3; ++i) x[i] = b.strain[(first + i) * std::ptrdiff_t(b.padded_steps) + step];
      return norm(x);
    };
    speeds.resize(b.n);
    if (section.offset) {
      reach = norm(section.offset);
      for (int c = 0; c < b.n; ++c) speeds[c].linear = norm(section.offset + 3 + 3 * c);
    }
    for (int step = section.step; step >= 0; step = b.from[step]) {
      const double length = size(0, step);
      for (int c = 0; c < b.n; ++c) {
        const double linear = size(6 + 6 * c, step), angular = size(6 + 6 * c + 3, step);
        speeds[c].linear += linear + angular * (reach + length);
        speeds[c].angular += angular;
      }
      reach += length;
    }
  }
};

class Bounds {
 public:
  Bounds(const Tree& tree, const Constraints& all)
      : tree_(tree), all_(all), reach_(tree.size, 0.0), speeds_(tree.size), own_(tree.nv), moves_frames_(tree.nv) {
    for (int i = 0; i < tree.size; ++i) read(i);
    find_length();
    for (int i = 0; i < all.count; ++i) all.each[i].tie == Tie::gear ? add_gear(all.each[i]) : add(all.each[i]);
  }

  struct Entry {
    int row, column;
    double bound;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  double length() const { return length_; }
  double extent() const { return extent_; }
  const std::vector<bool>& moves_frames() const { return moves_frames_; }
  double load(const Constraint& c, int r) const {
    if (c.tie == Tie::gear) return usual_size(c.v[1]);
    return size_of(c, r).linear * length_ + (c.tie == Tie::rolling ? 0.0 : size_of(c, r).angular);
  }
  double usual_size(int column) const {  // that turns by a radian, or moves by the length of the robot
    const double speed = std::max(own_[column].angular, own_[column].linear / length_);
    return speed > 0 ? 1 / speed : 1.0;
  }

 private:
  // A place on a body, and the length of the chain of bodies from there to a constraint.
  struct Place {
    int body;
    double x[3], lever;
  };

  // On the nearest body inwards that some coordinate moves; -1 if none does.
  Place carried(Place at) const {
    for (; at.body >= 0 && tree_.bodies[at.body].ratio == 0; at = outside(at)) {
    }
    at.lever += norm(at.x);
    return at;
  }
  // On the parent, while the joint does not move from where it is at its offset.
  Place outside(const Place& at) const {
    const Body& b = tree_.bodies[at.body];
    const double q = b.ratio == 0 ? tree_.followers[b.column - tree_.nv].offset : 0.0, turn = jounce::turns(b.joint) ? q : 0.0;
    const double s = std::sin(turn), c = std::cos(turn), up = b.joint == Joint::prismatic ? q : b.slide * q;
    const double x[3] = {c * at.x[0] - s * at.x[1], s * at.x[0] + c * at.x[1], at.x[2] + up};
    Place found{b.parent, {}, at.lever};
    for (int i = 0; i < 3; ++i) found.x[i] = b.R[3 * i] * x[0] + b.R[3 * i + 1] * x[1] + b.R[3 * i + 2] * x[2] + b.p[i];
    return found;
  }
  // Where the joint of a body sits, on the nearest body inwards that some coordinate moves.
  Place below(const Place& at) const {
    const Body& b = tree_.bodies[at.body];
    return carried({b.parent, {b.p[0], b.p[1], b.p[2]}, at.lever + reach_[at.body]});
  }
  Place frame(const Frame& f) const { return carried({f.body, {f.p[0], f.p[1], f.p[2]}, 0.0}); }

  int column_of(const Body& b, int c) const { return b.column < tree_.nv ? b.column + c : tree_.followers[b.column - tree_.nv].leader_v; }

  void read(int i) {
    const Body& b = tree_.bodies[i];
    if (b.joint == Joint::section) {
      const SectionBounds bounds(*tree_.soft, b.q);
      reach_[i] = bounds.reach;
      speeds_[i] = bounds.speeds;
    } else {
      for (int c = 0; c < b.count; ++c) {
        const double up[] = {0, 0, b.slide}, axis[] = {0, 0, 1};
        const bool turns_only = jounce::turns(b.joint) || b.joint == Joint::spherical || c >= 3;
        speeds_[i].push_back(jounce::turns(b.joint) ? Speed::screw(up, axis, true) : turns_only ? Speed{0.0, 1.0} : Speed{1.0, 0.0});
      }
    }
    for (int c = 0; c < b.count; ++c) {
      Speed& own = own_[column_of(b, c)];
      own.linear = std::max(own.linear, std::fabs(b.ratio) * speeds_[i][c].linear);
      own.angular = std::max(own.angular, std::fabs(b.ratio) * speeds_[i][c].angular);
    }
  }

  // Of the longest chain of bodies, without where it stands in the world; of a robot whose joints are all in one place, the radius of
  // gyration.
  void find_length() {
    double longest = 0, mass = 0, second = 0;
    const auto grow = [&](Place at, double most) {
      for (; at.body >= 0; at = below(at)) most = std::max(most, at.lever + reach_[at.body]);
      longest = std::max(longest, most);
    };
    for (int i = 0; i < tree_.size; ++i) {
      const Body& b = tree_.bodies[i];
      mass += b.mass, second += std::fabs(b.second[0] + b.second[1] + b.second[2]);
      if (b.leaf) grow(carried({i, {}, 0.0}), 0.0);
    }
    for (int i = 0; i < all_.count; ++i)
      if (const Constraint& c = all_.each[i]; c.tie != Tie::gear) {
        grow(frame(c.b), c.tie == Tie::universal ? 0.0 : std::fabs(c.length));
        if (c.hold == Hold::frame) grow(frame(c.a), 0.0);
      }
    const double gyration = mass > 0 ? std::sqrt(second / mass) : 0.0;
    if (!(longest > 0)) longest = gyration;
    length_ = longest > 0 && std::isfinite(longest) ? longest : 1.0;
    extent_ = gyration > length_ && std::isfinite(gyration) ? gyration : length_;
  }

  static Speed size_of(const Constraint& c, int r) {  // force and moment
    if (c.tie == Tie::distance) return {c.length, 0};
    if (c.tie == Tie::universal && r == 3) return {0, 1};
    return {norm(c.rows[r]), c.tie == Tie::rolling ? std::fabs(c.length) : norm(c.rows[r] + 3)};
  }

  void add(const Constraint& c) {
    const int a = c.hold == Hold::frame ? c.a.body : -1;
    std::vector<bool> shared(tree_.size, false);
    for (int i = a; i >= 0; i = tree_.bodies[i].parent) shared[i] = true;
    int common = c.b.body;
    while (common >= 0 && !shared[common]) common = tree_.bodies[common].parent;
    for (int r = 0; r < c.count; ++r) {
      std::vector<double> bound(tree_.nv, 0.0);
      climb(c, r, c.b, common, bound);
      if (a >= 0) climb(c, r, c.a, common, bound);
      for (int k = 0; k < tree_.nv; ++k)
        if (bound[k] > 0) entries_.push_back({c.first + r, k, bound[k]}), moves_frames_[k] = true;
    }
  }

  // From a frame of the constraint inwards, up to a body that carries both.
  void climb(const Constraint& c, int r, const Frame& from, int common, std::vector<double>& bound) const {
    Speed row = size_of(c, r);
    if (c.tie == Tie::rolling && r == 0 && norm(c.other) == 0 && &from == &c.b) row.angular = 0;  // a ball turns about where it touches
    for (Place at = frame(from); at.body > common; at = below(at)) {
      const Body& b = tree_.bodies[at.body];
      const double beyond = at.lever - norm(at.x);
      for (int k = 0; k < b.count; ++k) {
        const Speed& s = speeds_[at.body][k];
        const double speed = s.at(at.x) + s.angular * beyond, most = speed > no_lever * length_ * s.angular ? speed : 0.0;
        bound[column_of(b, k)] += std::fabs(b.ratio) * (row.linear * most + row.angular * s.angular);
      }
    }
  }

  void add_gear(const Constraint& c) {
    double slope = 0, power = 1;
    for (int m = 1; m <= c.degree; ++m, power *= usual_size(c.v[0])) slope += m * std::fabs(c.polynomial[m]) * power;
    if (c.v[0] == c.v[1]) {
      entries_.push_back({c.first, c.v[0], 1 + slope});
      return;
    }
    entries_.push_back({c.first, c.v[1], 1.0});
    if (slope > 0) entries_.push_back({c.first, c.v[0], slope});
  }

  const Tree& tree_;
  const Constraints& all_;
  std::vector<double> reach_;               // of a section of a soft body, from the near end
  std::vector<std::vector<Speed>> speeds_;  // of a body, by each of its coordinates
  std::vector<Speed> own_;                  // by each coordinate, the most it does to any body
  std::vector<bool> moves_frames_;          // whether a coordinate does
  std::vector<Entry> entries_;
  double length_ = 0, extent_ = 0;
};

// What hangs together by constraints may be larger or smaller as a whole: x is shifted so that the median of its coordinates has its
// usual size, whatever the ratio of a gear.
void settle(const Bounds& bounds, int rows, std::vector<double>& x) {
  const int n = int(x.size());
  std::vector<int> up(n + rows);  // towards what represents all that hangs together: coordinates, then rows
  for (int i = 0; i < n + rows; ++i) up[i] = i;
  const auto top = [&](int i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
  };
  for (const auto& e : bounds.entries()) up[top(e.column)] = top(n + e.row);
  std::vector<std::vector<double>> together(n + rows);
  for (int c = 0; c < n; ++c) together[top(c)].push_back(x[c]);
  for (auto& each : together) std::sort(each.begin(), each.end());
  for (int c = 0; c < n; ++c) {
    const std::vector<double>& each = together[top(c)];
    x[c] -= (each[(each.size() - 1) / 2] + each[each.size() / 2]) / 2;
  }
}

}  // namespace

// With x = log C and y = log R, each y is the mean of log B + x over its row. What is left is a system for x, positive definite and
// sparse, solved by conjugate gradients.
NaturalSizes natural_sizes(const Tree& tree, const Constraints& constraints) {
  const Bounds bounds(tree, constraints);
  const int n = tree.nv;
  std::vector<double> mean(constraints.rows, 0.0), in_row(constraints.rows, 0.0), in_column(n, 0.0), usual(n);
  for (const auto& e : bounds.entries()) in_row[e.row] += 1, in_column[e.column] += 1;
  const auto row_means = [&](const std::vector<double>& x, double of_bounds) {
    std::fill(mean.begin(), mean.end(), 0.0);
    for (const auto& e : bounds.entries()) mean[e.row] += (of_bounds * std::log(e.bound) + x[e.column]) / in_row[e.row];
  };
  const auto times = [&](const std::vector<double>& x, std::vector<double>& out) {
    row_means(x, 0);
    for (int c = 0; c < n; ++c) out[c] = (in_column[c] + prior) * x[c];
    for (const auto& e : bounds.entries()) out[e.column] -= mean[e.row];
  };
  for (int c = 0; c < n; ++c) usual[c] = std::log(bounds.usual_size(c));

  // Around the usual sizes: only the difference is solved for.
  std::vector<double> x(n, 0.0), left(n, 0.0), along(n), product(n);
  row_means(usual, 1);
  for (const auto& e : bounds.entries()) left[e.column] += mean[e.row] - std::log(e.bound) - usual[e.column];
  along = left;
  double size = 0;
  for (double r : left) size += r * r;
  const double enough = 1e-20 * (1 + size);
  for (int i = 0; i < 4 * n + 20 && size > enough; ++i) {
    times(along, product);
    double curvature = 0, next = 0;
    for (int c = 0; c < n; ++c) curvature += along[c] * product[c];
    const double step = size / curvature;
    for (int c = 0; c < n; ++c) x[c] += step * along[c], left[c] -= step * product[c], next += left[c] * left[c];
    for (int c = 0; c < n; ++c) along[c] = left[c] + next / size * along[c];
    size = next;
  }
  settle(bounds, constraints.rows, x);
  NaturalSizes found{bounds.length(),        bounds.extent(),        std::vector<double>(constraints.rows),
                     std::vector<double>(n), std::vector<double>(n), std::vector<double>(constraints.rows)};
  for (int c = 0; c < n; ++c) found.moves[c] = bounds.moves_frames()[c] ? 1 / bounds.usual_size(c) : 0.0;
  for (int c = 0; c < n; ++c) found.coordinates[c] = std::exp(x[c] += usual[c]);
  row_means(x, 1);
  for (int i = 0; i < constraints.count; ++i)
    for (int r = 0, row = constraints.each[i].first; r < constraints.each[i].count; ++r, ++row) {
      found.loads[row] = bounds.load(constraints.each[i], r);
      found.rows[row] = in_row[row] > 0 ? std::exp(mean[row]) : found.loads[row];  // nothing moves it
    }
  return found;
}

}  // namespace jounce
