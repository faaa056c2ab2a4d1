// A list that is nearly always short: up to `room` elements need no heap memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>

namespace jounce {

template <class T, std::size_t room>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  ShortList(const T* first, const T* last) { append(first, last); }
  ShortList(const ShortList& other) { append(other.begin(), other.end()); }
  ShortList& operator=(const ShortList& other) {
    if (this != &other) size_ = 0, append(other.begin(), other.end());
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return more_ ? more_.get() : here_; }
  const T* data() const { return more_ ? more_.get() : here_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  friend bool operator==(const ShortList& a, const ShortList& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

  void push_back(T item) { *grow(1) = item; }
  void append(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  void append(const T* first, const T* last) { std::copy(first, last, grow(last - first)); }
  void prepend(std::size_t count, T item) {
    grow(count);
    std::copy_backward(begin(), end() - count, end());
    std::fill_n(begin(), count, item);
  }

 private:
  // Makes room for `count` more; returns where they begin.
  T* grow(std::size_t count) {
    if (size_ + count > capacity_) {
      const std::size_t capacity = 2 * (size_ + count);
      auto larger = std::make_unique_for_overwrite<T[]>(capacity);
      std::copy(begin(), end(), larger.get());
      more_ = std::move(larger);
      capacity_ = capacity;
    }
    size_ += count;
    return end() - count;
  }

  T here_[room];
  std::unique_ptr<T[]> more_;
  std::size_t size_ = 0, capacity_ = room;
};

}  // namespace jounce
