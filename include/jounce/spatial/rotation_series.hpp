// A vector u that is fixed in space, seen from a body that turns with angular velocity w (in body axes): u' = u x w.
// The rows of the body's rotation matrix are such vectors too: R' = R [w].
#pragma once

#include "jounce/ring/ring.hpp"
#include "jounce/spatial/vec3.hpp"

JOUNCE_BEGIN

// Coefficient k + 1 of u, from u(j) and w(j), their coefficients j <= k.
template <class U, class W>
JOUNCE_INLINE auto next_of_fixed_vector(int k, const U& u, const W& w) {
  auto sum = cross_of(u(0), w(k));
  for (int j = 1; j <= k; ++j) sum += cross_of(u(j), w(k - j));
  return reciprocal<decltype(sum.x)>(k + 1) * sum;
}

// The same for the three rows of a rotation matrix, from R(j), pointers to nine numbers.
template <class R, class W, class T>
JOUNCE_INLINE void next_rotation(int k, const R& rotation, const W& w, T* next) {
  const T scale(reciprocal<T>(k + 1)), zero(0.0);
  Vec3<T> row[3] = {{zero, zero, zero}, {zero, zero, zero}, {zero, zero, zero}};
  for (int j = 0; j <= k; ++j) {
    const T* now = rotation(j);
    const Vec3<T> turn = w(k - j);
    for (int i = 0; i < 3; ++i) row[i] += cross_of(Vec3<T>{now[3 * i], now[3 * i + 1], now[3 * i + 2]}, turn);
  }
  for (int i = 0; i < 3; ++i) next[3 * i] = scale * row[i].x, next[3 * i + 1] = scale * row[i].y, next[3 * i + 2] = scale * row[i].z;
}

// K coefficients of u from its first one and from those of w, three numbers each, `stride` apart; the rest of u is zero.
template <int K, class T, int N>
JOUNCE_INLINE void fixed_vector_series(const T* u0, const T* w, int stride, T (&u)[3][N]) {
  Vec3<T> by_order[K];
  by_order[0] = {u0[0], u0[1], u0[2]};
  const auto turn = [&](int j) JOUNCE_LAMBDA_INLINE { return Vec3<T>{w[j * stride], w[j * stride + 1], w[j * stride + 2]}; };
  for (int k = 0; k + 1 < K; ++k) by_order[k + 1] = next_of_fixed_vector(k, [&](int j) JOUNCE_LAMBDA_INLINE { return by_order[j]; }, turn);
  for (int k = 0; k < N; ++k) {
    u[0][k] = k < K ? by_order[k].x : T(0.0);
    u[1][k] = k < K ? by_order[k].y : T(0.0);
    u[2][k] = k < K ? by_order[k].z : T(0.0);
  }
}

JOUNCE_END
