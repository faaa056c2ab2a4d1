// Threads that wait for work: waking one takes a third of the time of starting one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace jounce {

// Grows, never shrinks: a call after the first allocates nothing.
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

class ThreadPool {
 public:
  using Job = std::function<void(int i, void* workspace)>;

  static ThreadPool& instance();

  // Runs job(0) on the calling thread, without a workspace, and job(1) ... job(parts - 1) on others. Returns false, having run nothing,
  // if another caller has the threads.
  bool run(int parts, std::size_t workspace_bytes, const Job& job);

 private:
  void start_threads(int count);
  void work(int i);

  std::mutex caller_;  // held during run
  std::vector<Workspace> workspaces_;
  int started_ = 0;  // number of threads: 1 to started_

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_, done_;
  std::atomic<long> round_{0};
  int active_ = 0;  // threads with a part in this round
  const Job* job_ = nullptr;
  std::atomic<int> unfinished_{0};
};

}  // namespace jounce
