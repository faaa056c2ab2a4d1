#include "answers.hpp"

#include <atomic>
#include <cmath>
#include <cstdio>

namespace jounce {

static nb::object error_class(const char* name) { return nb::module_::import_("jounce.errors").attr(name); }

void fail_as(const char* name, const std::string& message) {
  PyErr_SetString(error_class(name).ptr(), message.c_str());
  nb::raise_python_error();
}

void warn_as(const char* name, const std::string& message) {
  if (NodesWatch::again()) return;  // the call itself has given its warnings
  if (PyErr_WarnEx(error_class(name).ptr(), message.c_str(), 1) != 0) nb::raise_python_error();
}

Answers::Answers(const char* what, const Shape& batch, const Shapes& shapes, std::initializer_list<Written> written)
    : what_(what), batch_(batch), shapes_(shapes) {
  for (const Written& each : written)
    if (each.size > 0) written_[written_count_++] = each;
  if (written_count_ > 0) count_ = product(batch);
}

void Answers::run(double cost, std::size_t workspace_bytes, Part part) const {
  if (!compute(cost, workspace_bytes, part)) expect_finite();
  tell();
}

void Answers::run(double cost, std::size_t workspace_bytes, const CoreModel& model, const std::vector<Solvability>& equations,
                  Part part) const {
  const bool finite = compute(cost, workspace_bytes, part);
  for (const Solvability& each : equations)
    if (each.doubtful >= 0) {
      expect_regular(model, equations);
      break;
    }
  if (!finite) expect_finite();
  tell();
}

void Answers::tell() const {
  if (NodesWatch* watch = NodesWatch::current(); watch && count_ > 0) watch->take(what_, batch_, shapes_, written_, written_count_);
}

bool Answers::compute(double cost, std::size_t workspace_bytes, Part part) const {
  if (written_count_ == 0 || (trusted_ && !NodesWatch::again())) {
    for_each_part(count_, cost, workspace_bytes, part);
    return true;
  }
  std::atomic<bool> finite = true;
  const Kernels& table = kernels();
  const auto checked = [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
    part(begin, end, workspace);
    for (int k = 0; k < written_count_; ++k) {
      const Written& each = written_[k];
      if (each.size == each.step) {
        if (!table.finite(each.first + begin * each.step, (end - begin) * each.size)) finite = false;
      } else {
        for (std::ptrdiff_t i = begin; i < end; ++i)
          if (!table.finite(each.first + i * each.step, each.size)) finite = false;
      }
    }
  };
  if (NodesWatch::again()) {
    const std::vector<std::ptrdiff_t>& some = NodesWatch::current()->states();
    for_each_part(std::ptrdiff_t(some.size()), cost, workspace_bytes, [&](std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
      for (std::ptrdiff_t k = begin, next = k; k < end; k = next) {  // neighbours side by side in SIMD lanes
        do ++next;
        while (next < end && some[next] == some[next - 1] + 1);
        checked(some[k], some[next - 1] + 1, workspace);
      }
    });
  } else {
    for_each_part(count_, cost, workspace_bytes, checked);
  }
  return finite;
}

void Answers::expect_finite() const {
  if (NodesWatch::again()) fail_as("RangeError", what_);
  for (int k = 0; k < written_count_; ++k) {
    const Written& each = written_[k];
    for (std::ptrdiff_t i = 0; i < count_; ++i)
      for (std::ptrdiff_t j = 0; j < each.size; ++j)
        if (const double x = each.first[i * each.step + j]; !std::isfinite(x))
          fail_as("RangeError",
                  std::string(what_) + " has no answer in double precision" + in_state(i) + ": it is " + (x != x ? "nan" : "infinite") +
                      ", because intermediate results exceed 1e308; check the arguments, and the robot's masses, lengths and "
                      "functions, for very large or very small numbers, and steps of your own for being too long for its damping");
  }
}

void Answers::expect_regular(const CoreModel& model, const std::vector<Solvability>& equations) const {
  const auto joint = [&](int body) { return "the joint of body " + model.name_of(body); };
  const Solvability* worst = &equations[0];
  for (const Solvability& each : equations) {
    if (each.singular)
      fail_as("SingularError",
              std::string(what_) + " has no answer: " + joint(each.doubtful) +
                  " moves no inertia, or so little that rounding hides it, as at the end of a long lever arm (its articulated inertia is "
                  "singular" +
                  in_state(&each - equations.data()) + ")");
    if (each.error > worst->error) worst = &each;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", worst->error);
  const std::string message = std::string(what_) + " may be off by " + text + " of its size" + in_state(worst - equations.data()) +
                              ": the inertia that " + joint(worst->doubtful) +
                              " moves is a small difference between large numbers, as at the end of a long lever arm";
  warn_as("PrecisionWarning", message);
}

std::string Answers::in_state(std::ptrdiff_t i) const { return batch_.empty() ? "" : ", in state " + std::to_string(i); }

}  // namespace jounce
