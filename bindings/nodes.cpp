#include "nodes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "answers.hpp"
#include "bind.hpp"
#include "states.hpp"

namespace jounce {
namespace {

constexpr double off = 5e-7;                         // of the largest entry: OFF in discretization.py
constexpr double rounded = 2e-5;                     // the same from the third derivative on, where rounding may explain as much
constexpr std::size_t at_once = 64, at_most = 4096;  // states of the first call and of later ones, each of which looks at all arguments
constexpr double far = 0.5;                          // strain below which no body is inside out

constexpr double in_tree = 10;                             // what other bodies make of errors
constexpr double close_by = 1e-4, close_by_solved = 0.02;  // of what is too much: so close, two answers may happen to be wrong alike
constexpr int most_times = CoreModel::most_times;
constexpr double remembered = 0.1;  // of what is too much: differences within which still finer answers are not asked for again

constexpr int is_right = -2;  // of a verdict, for `which`

thread_local int unwatched = 0;

// Whether the relative error of accelerations, which grows from order to order by the fastest rate, becomes too large.
bool grows(const Written& answers, std::ptrdiff_t state, double first, double rate) {
  const double growth = off / (in_tree * first);
  const std::ptrdiff_t size = answers.size / answers.orders;
  const double* x = answers.first + state * answers.step;
  double error = 0;
  for (int order = 0; order < answers.orders; ++order, x += size) {
    double most = 0;
    for (std::ptrdiff_t j = 0; j < size; ++j) most = std::max(most, std::fabs(x[j]));
    error = order == 0 ? most : std::max(rate * error, most);
    if (error > growth * most) return true;
  }
  return false;
}

// Calls of Python on the way have answers of their own.
class Apart {
 public:
  explicit Apart(NodesWatch*& current) : current_(current), kept_(current) { current = nullptr; }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;
  ~Apart() { current_ = kept_; }

 private:
  NodesWatch*& current_;
  NodesWatch* kept_;
};

}  // namespace

thread_local NodesWatch* NodesWatch::current_ = nullptr;

NodesWatch::NodesWatch(const CoreModel& model) : outer_(current_), model_(model) { current_ = this; }

bool NodesWatch::worthwhile(const CoreModel& model) { return !model.screens().empty() && unwatched == 0 && !again(); }

std::ptrdiff_t NodesWatch::stride() const {
  std::ptrdiff_t size = 0;
  for (const Block& each : blocks_) size += each.size;
  return size;
}

void NodesWatch::take(const char* what, const Shape& batch, const Shapes& shapes, const Written* written, int count) {
  if (!shapes.q) return;
  if (count > 0 && written->orders == by_the_way) ++written, --count;
  if (!again_) {
    int orders = 1;
    for (int k = 0; k < count; ++k) orders = std::max(orders, written[k].orders);
    const std::ptrdiff_t states = product(batch);
    const bool solving = shapes.solves && orders > 1;
    const auto errors_grow = [&](std::ptrdiff_t i) {
      if (!solving) return false;
      const double first = model_.error_of_accelerations(shapes.q + i * shapes.step), rate = model_.fastest_rate();
      return std::any_of(written, written + count, [&](const Written& each) { return grows(each, i, first, rate); });
    };
    for (std::ptrdiff_t i = 0; i < states; ++i) {
      const double* q = shapes.q + i * shapes.step;
      if (model_.passes(q, orders - 1, shapes.solves) && !errors_grow(i)) continue;
      doubtful_.push_back(i);
    }
    if (doubtful_.empty()) return;
    {
      const Apart apart(current_);
      if (solving) model_.find_fastest_rate();
      const auto passes = [&](std::ptrdiff_t i) {
        return model_.passes_limits(shapes.q + i * shapes.step, orders - 1, shapes.solves) && !errors_grow(i);
      };
      doubtful_.erase(std::remove_if(doubtful_.begin(), doubtful_.end(), passes), doubtful_.end());
    }
    in_batch_ = !batch.empty();
    warn_of_inside_out(shapes);
    for (std::ptrdiff_t i : doubtful_) q_.insert(q_.end(), shapes.q + i * shapes.step, shapes.q + i * shapes.step + model_.tree().nq);
    what_ = what, solves_ = shapes.solves;
    for (int k = 0; k < count; ++k) blocks_.push_back({written[k].size, written[k].orders});
  }
  std::vector<double>& kept = again_ ? now_ : first_;
  kept.clear();
  for (std::ptrdiff_t i : again_ ? states_ : doubtful_)
    for (int k = 0; k < count; ++k)
      kept.insert(kept.end(), written[k].first + i * written[k].step, written[k].first + i * written[k].step + written[k].size);
}

// Of the first state, if there is one.
void NodesWatch::warn_of_inside_out(const Shapes& shapes) const {
  const Apart apart(current_);
  for (std::ptrdiff_t i : doubtful_) {
    const double* q = shapes.q + i * shapes.step;
    if (std::none_of(model_.screens().begin(), model_.screens().end(),
                     [&](const CoreModel::Screen& screen) { return deformation(screen, q).strained > far * far; }))
      continue;
    const nb::object said = model_.discretization().attr("inside_out")(in_batch_ ? i : -1, state_of(q));
    if (said.is_none()) continue;
    warn_as("ShapeWarning", nb::cast<std::string>(said));
    return;
  }
}

nb::object NodesWatch::state_of(const double* q) const {
  Output found(nb::none(), Shape{model_.tree().nq});
  std::copy_n(q, model_.tree().nq, found.data());
  return std::move(found).object();
}

std::vector<double> NodesWatch::differences(std::ptrdiff_t k) const {
  const double *a = first_.data() + place_of(states_[k]) * stride(), *b = now_.data() + k * stride();
  std::vector<double> found;
  for (const Block& each : blocks_) {
    const std::ptrdiff_t size = each.size / each.orders;
    for (int order = 0; order < each.orders; ++order, a += size, b += size) {
      double apart = 0, most = 0;
      for (std::ptrdiff_t j = 0; j < size; ++j) {
        apart = std::max(apart, std::fabs(a[j] - b[j]));
        most = std::max({most, std::fabs(a[j]), std::fabs(b[j])});
      }
      found.push_back(apart > 0 ? apart / std::max(most, 1e-300) : 0.0);
    }
  }
  return found;
}

double NodesWatch::worst(const std::vector<double>& differences) const {
  const double* found = differences.data();
  double most = 0;
  for (const Block& each : blocks_)
    for (int order = 0; order < each.orders; ++order) most = std::max(most, *found++ / (order > 2 ? rounded : off));
  return most;
}

// Whether what finer(times) answers is right, so that the difference is the error.
bool NodesWatch::trusts_finer(std::ptrdiff_t state, int times) const {
  return model_.finer_does(q_at(state), times, solves_, off / in_tree);
}

std::ptrdiff_t NodesWatch::place_of(std::ptrdiff_t state) const {
  return std::lower_bound(doubtful_.begin(), doubtful_.end(), state) - doubtful_.begin();
}

const double* NodesWatch::q_at(std::ptrdiff_t state) const { return q_.data() + place_of(state) * model_.tree().nq; }

// What was found out about a state whose bodies are bent much the same, if these differences are as good as those.
std::shared_ptr<const CoreModel::Verdict> NodesWatch::verdict_near(const double* q, const std::vector<double>& differences) const {
  for (const std::shared_ptr<const CoreModel::Verdict>& each : model_.verdicts()) {
    if (each->what != what_ || each->solves != solves_ || each->count != differences.size()) continue;
    const double found = each->which == is_right ? worst(differences)
                         : each->which < 0       ? *std::max_element(differences.begin(), differences.end())
                                                 : differences[std::size_t(each->which)];
    if (each->least <= found && found <= each->most && bent_alike(model_.screens(), q, each->q.data())) return each;
  }
  return nullptr;
}

bool NodesWatch::known_right(std::ptrdiff_t state, const std::vector<double>& differences) const {
  const auto near = verdict_near(q_at(state), differences);
  return near && near->which == is_right;
}

// That an answer is right, though the first finer one did not show it, and that others are which differ as little from theirs.
void NodesWatch::remember_right(std::ptrdiff_t state, std::size_t count, double part) const {
  if (part > remembered) return;
  const double* q = q_at(state);
  model_.remember(std::make_shared<const CoreModel::Verdict>(CoreModel::Verdict{
      what_, solves_, count, std::vector<double>(q, q + model_.tree().nq), is_right, 0, std::min(2 * part, remembered), "", "", ""}));
}

// Whether there was anything to say.
bool NodesWatch::say(const CoreModel::Verdict& verdict, std::ptrdiff_t state, const std::vector<double>& differences) const {
  if (verdict.which < 0) return false;
  char error[16];
  std::snprintf(error, sizeof error, "%.0e", differences[std::size_t(verdict.which)]);
  const auto where = nb::cast<std::string>(model_.discretization().attr("where")(in_batch_ ? state : -1));
  warn_as(verdict.category.c_str(), verdict.before + error + " of its largest entry" + where + verdict.after);
  return true;
}

// Whether another robot has answers for the states; warnings about them have been given.
bool NodesWatch::compute(const void* again, Call call, const CoreModel& model) {
  now_.clear();
  again_ = true;
  NodesWatch* const kept = std::exchange(current_, this);
  bool answered = true;
  try {
    call(again, model);
  } catch (nb::python_error& fault) {
    if (!fault.matches(PyExc_Exception)) {
      again_ = false, current_ = kept;
      throw;
    }
    answered = false;
  } catch (nb::builtin_exception&) {
    answered = false;
  }
  again_ = false, current_ = kept;
  return answered && std::ptrdiff_t(now_.size()) == std::ptrdiff_t(states_.size()) * stride();
}

// The answers of one state: arrays (orders, numbers).
nb::list NodesWatch::listed(const double* numbers) const {
  nb::list found;
  for (const Block& each : blocks_) {
    Output array(nb::none(), Shape{each.orders, each.size / each.orders});
    std::copy_n(numbers, each.size, array.data());
    numbers += each.size;
    found.append(std::move(array).object());
  }
  return found;
}

// Whether there was anything to say of the answers in a doubtful state, which differ so much from those of finer(times).
bool NodesWatch::explained(const void* again, Call call, std::ptrdiff_t state, const std::vector<double>& differences, int times) {
  const double* q = q_at(state);
  if (const auto known = verdict_near(q, differences)) return say(*known, state, differences);
  states_ = {state};
  const nb::object other = nb::cpp_function([this, again, call](const CoreModel& model) {
    if (!compute(again, call, model)) fail_as("SingularError", "the finer robot has no answer");
    return listed(now_.data());
  });
  const nb::object found = model_.discretization().attr("explain")(what_, state_of(q), listed(first_.data() + place_of(state) * stride()),
                                                                   other, solves_, times);
  const auto verdict = std::make_shared<const CoreModel::Verdict>(CoreModel::Verdict{
      what_, solves_, differences.size(), std::vector<double>(q, q + model_.tree().nq), nb::cast<int>(found.attr("which")),
      nb::cast<double>(found.attr("least")), nb::cast<double>(found.attr("most")), nb::cast<std::string>(found.attr("category")),
      nb::cast<std::string>(found.attr("before")), nb::cast<std::string>(found.attr("after"))});
  model_.remember(verdict);
  return say(*verdict, state, differences);
}

// The next robot with more nodes to ask about a state: the first that is right for certain, or one after another where none is.
int NodesWatch::next_finer(std::ptrdiff_t state, int times) const {
  for (int next = times + 1; next < most_times; ++next)
    if (trusts_finer(state, next)) return next;
  return times + 1;
}

// Where finer answers are no different, but may be wrong as well, still finer ones decide.
void NodesWatch::check(const void* again, Call call) {
  const Apart apart(current_);
  const double close = solves_ ? close_by_solved : close_by;
  for (std::size_t begin = 0, size = at_once; begin < doubtful_.size(); begin += size, size = std::min(2 * size, at_most)) {
    std::array<std::vector<std::ptrdiff_t>, most_times + 1> asked;  // of finer(times), by times; the last: of none
    asked[0].assign(doubtful_.begin() + begin, doubtful_.begin() + std::min(begin + size, doubtful_.size()));
    std::map<std::ptrdiff_t, double> parts;  // of what is too much, by which finer(0) differs where it does not decide
    for (int times = 0; times < most_times; ++times) {
      if (asked[times].empty()) continue;
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();  // a call may be too short to look by itself
      states_ = std::exchange(asked[times], {});
      std::sort(states_.begin(), states_.end());
      if (!compute(again, call, model_.finer(times))) return;
      std::vector<std::pair<std::ptrdiff_t, std::vector<double>>> suspects;
      for (std::size_t k = 0; k < states_.size(); ++k) {
        const std::ptrdiff_t state = states_[k];
        std::vector<double> found = differences(std::ptrdiff_t(k));
        const double part = worst(found);
        if (part > 1) {
          suspects.emplace_back(state, std::move(found));
        } else if (times > 0 ? !trusts_finer(state, times) : part > close && !known_right(state, found) && !trusts_finer(state, 0)) {
          if (times == 0) parts[state] = part;
          asked[next_finer(state, times)].push_back(state);
        } else if (times > 0) {
          remember_right(state, found.size(), parts[state]);
        }
      }
      for (const auto& [state, found] : suspects)
        if (explained(again, call, state, found, times)) return;
    }
  }
}

// While one is entered, calls on this thread are not watched.
class UnwatchedNodes {
 public:
  void enter() { ++unwatched; }
  void leave() { --unwatched; }
};

// Bounds on how far soft bodies that are checked are strained, and turned along their length, (count, bodies, 2), for q (count, nq); no
// bodies while nothing is watched.
nb::object deformations(const CoreModel& model, nb::handle q_) {
  Input q(q_, "q", 1);
  q.set_core(1);
  expect_configuration(model.tree(), q);
  const std::ptrdiff_t count = product(q.batch()), bodies = NodesWatch::worthwhile(model) ? std::ptrdiff_t(model.screens().size()) : 0;
  Output out(nb::none(), Shape{count, bodies, 2});
  double* to = out.data();
  for (std::ptrdiff_t i = 0; i < count; ++i)
    for (std::ptrdiff_t k = 0; k < bodies; ++k) {
      const Deformation found = deformation(model.screens()[k], q.data() + i * model.tree().nq);
      *to++ = std::sqrt(found.strained), *to++ = std::sqrt(found.turned);
    }
  return std::move(out).object();
}

// Whether the soft bodies at q (nq,) have nodes enough, for certain, for answers of that order.
bool pass(const CoreModel& model, nb::handle q_, int order, bool solves) {
  const Input q(q_, "q", 1);
  expect_configuration(model.tree(), q);
  return !NodesWatch::worthwhile(model) || model.passes_limits(q.data(), order, solves);
}

void bind_nodes(nb::module_& m, nb::class_<CoreModel>& c) {
  c.def("_deformation", &deformations, any("q"),
        nb::sig("def _deformation(self, q: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"));
  c.def("_passes", &pass, any("q"), nb::arg("order"), nb::arg("solves"),
        nb::sig("def _passes(self, q: numpy.typing.ArrayLike, order: int, solves: bool) -> bool"));
  c.def_prop_ro(
      "_discretization", [](const CoreModel& model) { return model.discretization(); }, nb::sig("def _discretization(self) -> typing.Any"));
  nb::class_<UnwatchedNodes>(m, "UnwatchedNodes")
      .def(nb::init<>())
      .def("__enter__", [](UnwatchedNodes& self) { self.enter(); })
      .def("__exit__", [](UnwatchedNodes& self, nb::args) { self.leave(); }, nb::sig("def __exit__(self, *fault: object) -> None"));
}

}  // namespace jounce
