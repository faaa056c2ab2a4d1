#include "thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace jounce {

namespace {

constexpr std::chrono::microseconds patience{200};

// Never destroyed: its threads sleep until the process ends. A forked process has none of them and starts afresh.
std::atomic<ThreadPool*> pool{nullptr};
void begin_anew() { pool = new ThreadPool; }

}  // namespace

ThreadPool& ThreadPool::instance() {
  static const bool made = [] {
    begin_anew();
#if defined(__unix__) || defined(__APPLE__)
    pthread_atfork(nullptr, nullptr, begin_anew);
#endif
    return true;
  }();
  (void)made;
  return *pool;
}

void ThreadPool::start_threads(int count) {
  try {
    for (; started_ < count; ++started_) std::thread(&ThreadPool::work, this, started_ + 1).detach();
  } catch (const std::system_error&) {  // no more available: make do with fewer
  }
}

bool ThreadPool::run(int parts, std::size_t workspace_bytes, const Job& job) {
  const std::unique_lock<std::mutex> only(caller_, std::try_to_lock);
  if (!only) return false;
  if (int(workspaces_.size()) < parts) workspaces_.resize(parts);
  for (int i = 1; i < parts; ++i) workspaces_[i].at_least(workspace_bytes);  // before anything runs: this may throw
  start_threads(parts - 1);
  const int others = std::min(started_, parts - 1);
  unfinished_ = others;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = &job;
    active_ = others;
    ++round_;
  }
  wake_.notify_all();
  job(0, nullptr);
  for (int i = others + 1; i < parts; ++i) job(i, workspaces_[i].at_least(workspace_bytes));
  for (int i = 0; i < 1000 && unfinished_ > 0; ++i) std::this_thread::yield();  // usually they are nearly done
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [&] { return unfinished_ == 0; });
  return true;
}

void ThreadPool::work(int i) {
  for (long seen = 0;;) {
    const Job* job;
    // One batch is usually followed by another: staying awake saves waiting for the core to wake.
    const auto asleep = std::chrono::steady_clock::now() + patience;
    while (round_ == seen && std::chrono::steady_clock::now() < asleep) std::this_thread::yield();
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen && i <= active_; });
      seen = round_;
      job = job_;
    }
    (*job)(i, workspaces_[i].at_least(0));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--unfinished_ == 0) done_.notify_one();
  }
}

}  // namespace jounce
