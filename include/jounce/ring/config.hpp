// Compiler switches, in one place. The algorithms are compiled once per instruction set, all into one library: each build has a
// namespace of its own so that the linker never mixes them.
#pragma once

#include "jounce/ring/standard.hpp"

#ifndef JOUNCE_ISA
#define JOUNCE_ISA generic
#endif

#if defined(__CUDACC__)
#define JOUNCE_HD __host__ __device__
#define JOUNCE_INLINE __host__ __device__ __forceinline__
#define JOUNCE_LAMBDA_INLINE
#define JOUNCE_NOINLINE
#elif defined(__GNUC__) && !defined(JOUNCE_SANITIZE) && !defined(JOUNCE_FEW_RINGS)  // fully inlined, these take long to compile
#define JOUNCE_HD
#define JOUNCE_INLINE inline __attribute__((always_inline))
#define JOUNCE_LAMBDA_INLINE __attribute__((always_inline))
#define JOUNCE_NOINLINE __attribute__((noinline))
#else
#define JOUNCE_HD
#define JOUNCE_INLINE inline
#define JOUNCE_LAMBDA_INLINE
#define JOUNCE_NOINLINE
#endif

#define JOUNCE_BEGIN namespace jounce::inline JOUNCE_ISA {
#define JOUNCE_END }

JOUNCE_BEGIN

// Widest register of this build, in doubles.
#if defined(__AVX512F__)
constexpr int native_width = 8;
#elif defined(__AVX__)
constexpr int native_width = 4;
#else
constexpr int native_width = 2;
#endif

JOUNCE_END
