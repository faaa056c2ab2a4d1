// Whether soft bodies have nodes enough for the answers of a call, as jounce/dynamics/discretization.py explains: a screen that sees q
// alone, and for states that do not pass it the same call again, with a finer robot.
#pragma once

#include <utility>
#include <vector>

#include "arguments.hpp"
#include "core_model.hpp"

namespace jounce {

// The states of a call, as far as the screen sees them.
struct Shapes {
  const double* q = nullptr;  // null: the answers have nothing to do with how bodies are bent
  std::ptrdiff_t step = 0;
  bool solves = false;  // whether equations of motion are solved on the way
};

// The orders of an array that nobody asked for: the accelerations where derivatives are taken, which are zero but for rounding at rest.
constexpr int by_the_way = 0;

// Watches a call on this thread: Answers tells it what was computed, and asks it what to compute.
class NodesWatch {
 public:
  explicit NodesWatch(const CoreModel& model);
  NodesWatch(const NodesWatch&) = delete;
  NodesWatch& operator=(const NodesWatch&) = delete;
  ~NodesWatch() { current_ = outer_; }

  static NodesWatch* current() { return current_; }
  static bool again() { return current_ && current_->again_; }  // whether a call is made for the second time
  static bool worthwhile(const CoreModel& model);               // whether there is anything to watch

  // In the first call: keeps the answers of states that do not pass. In later ones: takes those of the states that were to be computed.
  void take(const char* what, const Shape& batch, const Shapes& shapes, const Written* written, int count);
  const std::vector<std::ptrdiff_t>& states() const { return states_; }  // those to be computed again

  bool doubtful() const { return !doubtful_.empty(); }

  // Makes the call again, for doubtful states, and warns of the first that is off. again(model): the call, its result thrown away.
  template <class Again>
  void check(const Again& again) {
    check(&again, [](const void* call, const CoreModel& model) { (*static_cast<const Again*>(call))(model); });
  }

 private:
  using Call = void (*)(const void*, const CoreModel&);
  struct Block {  // of answers in one state
    std::ptrdiff_t size;
    int orders;
  };
  void check(const void* again, Call call);
  bool compute(const void* again, Call call, const CoreModel& model);
  std::vector<double> differences(
      std::ptrdiff_t k) const;  // of the states computed last, by array and order, as parts of the largest entry
  double worst(const std::vector<double>& differences) const;  // the largest, as a part of what is too much
  bool trusts_finer(std::ptrdiff_t state, int times) const;
  int next_finer(std::ptrdiff_t state, int times) const;
  std::ptrdiff_t place_of(std::ptrdiff_t state) const;  // among the doubtful
  const double* q_at(std::ptrdiff_t state) const;
  bool known_right(std::ptrdiff_t state, const std::vector<double>& differences) const;
  void remember_right(std::ptrdiff_t state, std::size_t count, double part) const;
  bool explained(const void* again, Call call, std::ptrdiff_t state, const std::vector<double>& differences, int times);
  std::shared_ptr<const CoreModel::Verdict> verdict_near(const double* q, const std::vector<double>& differences) const;
  bool say(const CoreModel::Verdict& verdict, std::ptrdiff_t state, const std::vector<double>& differences) const;
  void warn_of_inside_out(const Shapes& shapes) const;
  nb::object state_of(const double* q) const;
  nb::list listed(const double* numbers) const;
  std::ptrdiff_t stride() const;

  static thread_local NodesWatch* current_;
  NodesWatch* outer_;
  const CoreModel& model_;
  bool again_ = false, solves_ = false, in_batch_ = false;
  const char* what_ = "";
  std::vector<Block> blocks_;
  std::vector<std::ptrdiff_t> doubtful_, states_;
  std::vector<double> q_, first_, now_;  // of the doubtful states; of the states computed last
};

// The function `call` of a model, watched.
template <auto call>
struct Watched;
template <class R, class... A, R (*call)(const CoreModel&, A...)>
struct Watched<call> {
  static R run(const CoreModel& model, A... given) {
    if (!NodesWatch::worthwhile(model)) return call(model, given...);
    NodesWatch watch(model);
    R result = call(model, given...);
    if (watch.doubtful()) watch.check([&](const CoreModel& other) { call(other, given...); });
    return result;
  }
};
template <auto call>
inline constexpr auto watched = &Watched<call>::run;

}  // namespace jounce
