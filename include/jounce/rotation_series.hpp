// A vector u that is fixed in space, seen from a body that turns with angular velocity w (in body axes): u' = u x w.
// The rows of the body's rotation matrix are such vectors too: R' = R [w].
#pragma once

#include "jounce/vec3.hpp"

JOUNCE_BEGIN

// Coefficient k + 1 of u, from u(j) and w(j), pointers to coefficient j of the three components, j <= k.
template <class U, class W, class T>
JOUNCE_INLINE void next_of_fixed_vector(int k, const U& u, const W& w, T* next) {
  T x(0.0), y(0.0), z(0.0);
  for (int j = 0; j <= k; ++j) {
    const T *a = u(j), *b = w(k - j);
    x += a[1] * b[2] - a[2] * b[1];
    y += a[2] * b[0] - a[0] * b[2];
    z += a[0] * b[1] - a[1] * b[0];
  }
  const T scale(1.0 / (k + 1));
  next[0] = scale * x, next[1] = scale * y, next[2] = scale * z;
}

// K coefficients of u from its first and those of w, three every `stride`; the rest of u is zero.
template <int K, class T, int N>
JOUNCE_INLINE void fixed_vector_series(const T* u0, const T* w, int stride, T (&u)[3][N]) {
  T by_order[K][3];
  for (int i = 0; i < 3; ++i) by_order[0][i] = u0[i];
  for (int k = 0; k + 1 < K; ++k)
    next_of_fixed_vector(k, [&](int j) { return by_order[j]; }, [&](int j) { return w + j * stride; }, by_order[k + 1]);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < N; ++k) u[i][k] = k < K ? by_order[k][i] : T(0.0);
}

JOUNCE_END
