#include "parallel.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "thread_pool.hpp"

namespace jounce {

namespace {

std::atomic<int> wanted_threads{0};

constexpr double worth_releasing_the_gil = 20;  // microseconds
constexpr double worth_a_thread = 100;          // microseconds of work; waking one takes about 20
constexpr double worth_a_piece = 20;            // microseconds
constexpr std::ptrdiff_t together = 16;         // states that no border parts: they share registers and cache lines

}  // namespace

int thread_count() {
  static const int cores = int(std::max(1u, std::thread::hardware_concurrency()));  // asks the system, slowly
  const int n = wanted_threads;
  return n > 0 ? n : cores;
}

void set_thread_count(int n) {
  if (n < 0) throw nanobind::value_error(("n is " + std::to_string(n) + ", expected a number of threads, or 0 for one a core").c_str());
  wanted_threads = n;
}

void for_each_part(std::ptrdiff_t count, double cost, std::size_t workspace_bytes, Part part) {
  thread_local Workspace own;
  void* workspace = own.at_least(workspace_bytes);
  std::optional<nanobind::gil_scoped_release> release;
  const double work = double(count) * cost;
  if (work > worth_releasing_the_gil) release.emplace();
  const std::ptrdiff_t threads =
      work < 2 * worth_a_thread ? 1 : std::min({std::ptrdiff_t(thread_count()), std::ptrdiff_t(work / worth_a_thread), count});
  // More pieces than threads, taken as each gets to them: one that wakes late, or whose core is busy, holds nobody up.
  const std::ptrdiff_t pieces = std::clamp<std::ptrdiff_t>(std::ptrdiff_t(work / worth_a_piece), threads, 8 * threads);
  const auto border = [&](std::ptrdiff_t i) {
    const std::ptrdiff_t state = count * i / pieces;
    return i < pieces && count > pieces * together ? state / together * together : state;
  };
  std::atomic<std::ptrdiff_t> next{0};
  const bool shared = threads > 1 && ThreadPool::instance().run(int(threads), workspace_bytes, [&](int i, void* given) {
    for (std::ptrdiff_t k; (k = next.fetch_add(1, std::memory_order_relaxed)) < pieces;)
      part(border(k), border(k + 1), i == 0 ? workspace : given);
  });
  if (!shared) part(0, count, workspace);
}

}  // namespace jounce
