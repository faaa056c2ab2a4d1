// Batches over threads: states [0, count) in one contiguous part per thread, each with a workspace of its own.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace jounce {

int thread_count();
void set_thread_count(nanobind::handle n);  // 0: as many as there are cores

// Refers to a function part(begin, end, workspace), which must not throw and must outlive the call that it is given to.
class Part {
 public:
  template <class F>
  Part(const F& f)
      : function_(&f), call_([](const void* f, std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) {
          (*static_cast<const F*>(f))(begin, end, workspace);
        }) {}
  void operator()(std::ptrdiff_t begin, std::ptrdiff_t end, void* workspace) const { call_(function_, begin, end, workspace); }

 private:
  const void* function_;
  void (*call_)(const void*, std::ptrdiff_t, std::ptrdiff_t, void*);
};

// Whether a signal has arrived that ends the call of for_each_part() that this is called in: for parts of which one state may take long. To
// be asked as often as one likes: it looks once in a while, and only on the thread that made the call.
bool interrupted();

// `cost`: roughly how many microseconds one state takes; small jobs stay on the calling thread. The parts are called without the GIL
// where that pays off.
void for_each_part(std::ptrdiff_t count, double cost, std::size_t workspace_bytes, Part part);

}  // namespace jounce
