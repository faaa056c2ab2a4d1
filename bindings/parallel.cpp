#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "arguments.hpp"
#include "chosen_kernels.hpp"
#include "thread_pool.hpp"

namespace jounce {

namespace {

std::atomic<int> wanted_threads{0};

constexpr double worth_releasing_the_gil = 20;            // microseconds
constexpr double worth_a_thread = 100;                    // microseconds of work; waking one takes about 20
constexpr double worth_a_piece = 20;                      // microseconds
constexpr double longest_piece = 20e3;                    // microseconds on the clock
constexpr double first_piece = 200;                       // microseconds by estimate, which may be off a hundredfold
constexpr std::chrono::milliseconds between_signals{30};  // how often Python is asked whether a signal has arrived
constexpr int most_threads = 1024;
constexpr std::ptrdiff_t together = 16;  // states that share registers and cache lines: pieces are multiples of this, unless shorter

// Releases the GIL for as long as this lives. If Python exits meanwhile, it ends a thread that requests the GIL by unwinding its stack,
// which noexcept functions such as destructors do not let through: such a thread stays here until the process is gone.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { take(); }

  // Whether a signal has arrived that Python answers with an exception, which is then set. Only its main thread receives them.
  bool interrupted() {
    take();
    const bool found = PyErr_CheckSignals() != 0;
    state_ = PyEval_SaveThread();
    return found;
  }

 private:
  void take() const {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  PyThreadState* state_;
};

// The looks for signals of the thread that makes a call.
class Looks {
 public:
  Looks(WithoutGil& released, std::atomic<bool>& stop) : released_(released), stop_(stop), outer_(current) { current = this; }
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;
  ~Looks() { current = outer_; }

  // Once in a while: whether the call is to stop.
  bool take(std::chrono::steady_clock::time_point now) {
    if (now - last_ > between_signals && !stop_) {
      if (released_.interrupted()) stop_ = true;
      last_ = now;
    }
    return stop_;
  }

  static inline thread_local Looks* current = nullptr;

 private:
  WithoutGil& released_;
  std::atomic<bool>& stop_;
  Looks* outer_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

bool interrupted() { return Looks::current != nullptr && Looks::current->take(std::chrono::steady_clock::now()); }

int thread_count() {
  static const int cores = int(std::max(1u, std::thread::hardware_concurrency()));  // asks the system, which is slow
  const int n = wanted_threads;
  return n > 0 ? n : cores;
}

void set_thread_count(nb::handle n) {
  const Py_ssize_t given = PyIndex_Check(n.ptr()) ? PyNumber_AsSsize_t(n.ptr(), nullptr) : -1;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) nb::raise_python_error();
  PyErr_Clear();  // an array is not a number
  if (given < 0 || given > most_threads)
    fail("n is " + quoted(n) + ", expected 1 to " + std::to_string(most_threads) + " threads, or 0 for one per core");
  wanted_threads = int(given);
}

void for_each_part(std::ptrdiff_t count, double cost, std::size_t workspace_bytes, Part part) {
  if (count > 1) warn_of_slow_kernels();
  thread_local Workspace own;
  void* workspace = own.at_least(workspace_bytes);
  std::optional<WithoutGil> released;
  const double work = double(count) * cost;
  if (work > worth_releasing_the_gil) released.emplace();
  const std::ptrdiff_t threads =
      work < 2 * worth_a_thread ? 1 : std::min({std::ptrdiff_t(thread_count()), std::ptrdiff_t(work / worth_a_thread), count});
  if (threads == 1 && work < first_piece) return part(0, count, workspace);
  // More pieces than threads, taken as each thread gets to them: one that wakes late, or whose core is busy, holds up no other. The
  // cost is an estimate: a thread begins with a small piece, and chooses the next by how long that took.
  const std::ptrdiff_t pieces = threads == 1 ? 1 : std::clamp<std::ptrdiff_t>(std::ptrdiff_t(work / worth_a_piece), threads, 8 * threads);
  const double most = double((count + pieces - 1) / pieces);
  const auto whole = [](double states) {
    return states < together ? std::max<std::ptrdiff_t>(1, std::ptrdiff_t(states)) : std::ptrdiff_t(states) / together * together;
  };
  std::atomic<std::ptrdiff_t> next{0};
  std::atomic<bool> stop{false};
  const auto take_pieces = [&](int i, void* given) {
    using Microseconds = std::chrono::duration<double, std::micro>;
    auto began = std::chrono::steady_clock::now();
    std::optional<Looks> looks;
    if (i == 0) looks.emplace(*released, stop);
    std::ptrdiff_t size = whole(std::min(most, first_piece / cost));
    for (std::ptrdiff_t begin; !stop && (begin = next.fetch_add(size, std::memory_order_relaxed)) < count;) {
      part(begin, std::min(begin + size, count), i == 0 ? workspace : given);
      const auto now = std::chrono::steady_clock::now();
      if (looks) looks->take(now);
      size = whole(std::min(most, double(size) * longest_piece / std::max(1.0, Microseconds(now - began).count())));
      began = now;
    }
  };
  if (threads == 1 || !ThreadPool::instance().run(int(threads), workspace_bytes, take_pieces)) take_pieces(0, workspace);
  if (!stop) return;
  released.reset();
  nanobind::raise_python_error();
}

}  // namespace jounce
