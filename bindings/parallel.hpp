// Batches over threads: states [0, count) in one contiguous part a thread, each with a workspace of its own.
#pragma once

#include <cstddef>
#include <functional>

namespace jounce {

int thread_count();
void set_thread_count(int n);  // 0: as many as there are cores

// `cost`: about how many microseconds one state takes; little work stays on the calling thread.
// part(begin, end, workspace) must not throw. Called without the GIL where that pays.
void for_each_part(std::ptrdiff_t count, double cost, std::size_t workspace_bytes,
                   const std::function<void(std::ptrdiff_t, std::ptrdiff_t, void*)>& part);

}  // namespace jounce
