// Scratch memory for one call, handed out in aligned pieces from a block that the caller owns; nothing is freed or grown.
#pragma once

#include "jounce/ring/config.hpp"

JOUNCE_BEGIN

constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

class Arena {
 public:
  explicit Arena(void* block) : next_(static_cast<std::byte*>(block)) {}
  template <class U>
  U* take(std::size_t count) {
    U* piece = reinterpret_cast<U*>(next_);
    next_ += (count * sizeof(U) + 63) / 64 * 64;
    return piece;
  }

 private:
  std::byte* next_;  // 64-byte aligned
};

// Counts the bytes that an Arena would hand out.
class ArenaSize {
 public:
  template <class U>
  U* take(std::size_t count) {
    bytes_ += (count * sizeof(U) + 63) / 64 * 64;
    return nullptr;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

JOUNCE_END
