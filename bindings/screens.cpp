// The screen of soft bodies: how far they are bent, from their coordinates alone.
#include <algorithm>
#include <cmath>

#include "core_model.hpp"

namespace jounce {
namespace {

constexpr double alike = 0.1;  // strains and turns, rad
constexpr std::size_t verdicts_kept = 8;

}  // namespace

Deformation deformation(const CoreModel::Screen& screen, const double* q) {
  Deformation found;
  const double* row = screen.strained;
  for (int i = 0; i < 6; ++i, row += screen.n) {
    double most = i < 3 ? 0 : screen.turned[i - 3];
    for (int c = 0; c < screen.n; ++c) most += row[c] * std::fabs(q[screen.q + c]);
    (i < 3 ? found.strained : found.turned) += most * most;
  }
  return found;
}

bool bent_alike(const std::vector<CoreModel::Screen>& screens, const double* q, const double* other) {
  for (const CoreModel::Screen& screen : screens) {
    const double *row = screen.strained, *a = q + screen.q, *b = other + screen.q;
    for (int i = 0; i < 6; ++i, row += screen.n) {
      double change = 0, size = 1;
      for (int c = 0; c < screen.n; ++c) change += row[c] * std::fabs(a[c] - b[c]), size += row[c] * std::fabs(b[c]);
      if (!(change <= alike * size)) return false;
    }
  }
  return true;
}

namespace {

constexpr double most_strain = 0.3;  // MOST_STRAIN in discretization.py

bool passes_screen(const CoreModel::Screen& screen, const double* q, int order, bool solves) {
  const int orders = int(screen.limits.size()) / 2;
  if (order >= orders) return false;
  const Deformation found = deformation(screen, q);
  return found.strained <= most_strain * most_strain && found.turned <= screen.limits[std::size_t(solves * orders + order)];
}

}  // namespace

bool CoreModel::passes(const double* q, int order, bool solves) const {
  for (const Screen& screen : screens_)
    if (!passes_screen(screen, q, order, solves)) return false;
  return true;
}

bool CoreModel::passes_limits(const double* q, int order, bool solves) const {
  for (Screen& screen : screens_)
    if (screen.limits.empty()) find_limits(screen);
  return passes(q, order, solves);
}

double CoreModel::error_of_accelerations(const double* q) const {
  double most = 0;
  for (const Screen& screen : screens_) {
    const double turned = deformation(screen, q).turned;
    for (const auto& [up_to, error] : screen.errors)
      if (turned <= up_to) {
        most = std::max(most, error);
        break;
      }
  }
  return most;
}

// A body that is right where it turns further is right.
bool CoreModel::finer_does(const double* q, int times, bool solves, double most) const {
  return std::all_of(screens_.begin(), screens_.end(), [&](Screen& screen) {
    const Deformation now = deformation(screen, q);
    if (!(now.strained <= most_strain * most_strain)) return false;
    Screen::Trust& known = screen.trusts[std::size_t(times)][solves];
    if (now.turned <= known.right) return true;
    if (now.turned >= known.wrong) return false;
    const bool does = nb::cast<bool>(discretization_.attr("finer_does")(screen.soft, times, std::sqrt(now.turned), solves, most));
    (does ? known.right : known.wrong) = now.turned;
    return does;
  });
}

const CoreModel& CoreModel::finer(int times) const {
  while (finer_.size() <= std::size_t(times)) {
    const std::size_t next = finer_.size();
    nb::object made = discretization_.attr("finer")(next);
    if (finer_.size() == next) finer_.push_back(std::move(made));  // another thread may have been quicker
  }
  return nb::cast<const CoreModel&>(finer_[std::size_t(times)]);
}

void CoreModel::find_fastest_rate() const {
  if (std::isinf(fastest_rate_)) fastest_rate_ = std::min(nb::cast<double>(discretization_.attr("fastest_rate")()), 1e300);
}

void CoreModel::remember(std::shared_ptr<const Verdict> found) const {
  verdicts_.push_front(std::move(found));
  if (verdicts_.size() > verdicts_kept) verdicts_.pop_back();
}

void CoreModel::find_limits(Screen& screen) const {
  const nb::object found = discretization_.attr("limits")(screen.soft);
  const auto square = [](double most) { return most < 0 ? -1 : most * most * (1 + 1e-12); };
  std::vector<double> squares;
  for (const std::vector<double>& row : nb::cast<std::vector<std::vector<double>>>(found.attr("turns")))
    for (double most : row) squares.push_back(square(most));
  std::vector<std::array<double, 2>> errors;
  for (const std::vector<double>& row : nb::cast<std::vector<std::vector<double>>>(found.attr("errors")))
    errors.push_back({square(row[0]), row[1]});
  screen.errors = std::move(errors), screen.limits = std::move(squares);
}

}  // namespace jounce
