// Whether long work is still wanted: asked once in a while by what can take long for one state, such as products of large matrices. When it
// is not, they return without an answer, and so does what called them.
#pragma once

#include "jounce/ring/config.hpp"

JOUNCE_BEGIN

#ifdef __CUDACC_RTC__

inline bool unwanted() { return false; }

#else

using Unwanted = bool (*)();

inline Unwanted& ask_whether_unwanted() {
  static thread_local Unwanted ask = nullptr;
  return ask;
}

// From the first time on that the answer is true, it is.
inline bool unwanted() {
  const Unwanted ask = ask_whether_unwanted();
  return ask != nullptr && ask();
}

// Whom to ask, on this thread, for as long as this lives.
class Interruptible {
 public:
  explicit Interruptible(Unwanted ask) : before_(ask_whether_unwanted()) { ask_whether_unwanted() = ask; }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() { ask_whether_unwanted() = before_; }

 private:
  Unwanted before_;
};

#endif

JOUNCE_END
