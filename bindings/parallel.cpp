#include "parallel.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace jounce {

namespace {

std::atomic<int> wanted_threads{0};

// Grows, never shrinks, and stays with its thread: a call after the first allocates nothing.
class Workspace {
 public:
  void* at_least(std::size_t bytes) {
    if (bytes > size_) {
      block_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64))));
      size_ = bytes;
    }
    return block_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> block_;
  std::size_t size_ = 0;
};

constexpr double worth_releasing_the_gil = 20;  // microseconds
constexpr double worth_a_thread = 100;          // microseconds of work; starting one takes about 20

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

void for_each_part(std::ptrdiff_t count, double cost, std::size_t workspace_bytes,
                   const std::function<void(std::ptrdiff_t, std::ptrdiff_t, void*)>& part) {
  thread_local Workspace own;
  void* workspace = own.at_least(workspace_bytes);
  std::optional<nanobind::gil_scoped_release> release;
  const double work = double(count) * cost;
  if (work > worth_releasing_the_gil) release.emplace();
  const std::ptrdiff_t threads = std::min({std::ptrdiff_t(thread_count()), std::ptrdiff_t(work / worth_a_thread), count});
  if (threads <= 1) return part(0, count, workspace);

  std::vector<Workspace> workspaces(threads - 1);  // all of them before the first thread: this may throw
  for (Workspace& w : workspaces) w.at_least(workspace_bytes);
  std::vector<std::thread> running;
  running.reserve(threads - 1);
  std::ptrdiff_t begin = count / threads;
  for (std::ptrdiff_t i = 1; i < threads; ++i) {
    void* block = workspaces[i - 1].at_least(workspace_bytes);
    const std::ptrdiff_t end = count * (i + 1) / threads;
    try {
      running.emplace_back([&part, begin, end, block] { part(begin, end, block); });
    } catch (const std::system_error&) {  // no thread to be had: do it here
      part(begin, end, block);
    }
    begin = end;
  }
  part(0, count / threads, workspace);
  for (std::thread& thread : running) thread.join();
}

}  // namespace jounce
