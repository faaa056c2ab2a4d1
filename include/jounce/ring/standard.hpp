// The parts of the standard library that the algorithms use, in one place: NVRTC, which compiles CUDA at run time, has none.
#pragma once

#ifndef __CUDACC_RTC__

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#else

// Inside jounce, `std` is this namespace. NVRTC's built-ins are used where there are any.
namespace jounce::std {

using ::acos, ::atan, ::atan2, ::cos, ::exp, ::fabs, ::floor, ::fma, ::fmax, ::log, ::pow, ::round, ::sin, ::sqrt, ::tanh;
using ::memcpy, ::memset;

using int32_t = int;
using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype((char*)nullptr - (char*)nullptr);
enum class byte : unsigned char {};

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <class T, T x>
struct integral_constant {
  static constexpr T value = x;
  constexpr operator T() const { return x; }
};

template <bool first, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool first, class A, class B>
using conditional_t = typename conditional<first, A, B>::type;

template <class T, T...>
struct integer_sequence {};
template <size_t... I>
using index_sequence = integer_sequence<size_t, I...>;

template <class T, T N, T... I>
constexpr auto count_up() {
  if constexpr (N == 0)
    return integer_sequence<T, I...>{};
  else
    return count_up<T, N - 1, N - 1, I...>();
}
template <class T, T N>
using make_integer_sequence = decltype(count_up<T, N>());
template <size_t N>
using make_index_sequence = make_integer_sequence<size_t, N>;

}  // namespace jounce::std

#endif
