// A vector u that is fixed in space, seen from a body that turns with angular velocity w (in body axes): u' = u x w.
// The rows of the body's rotation matrix are such vectors too: R' = R [w].
#pragma once

#include "jounce/config.hpp"

JOUNCE_BEGIN

// K coefficients of u from its first and those of w, three every `stride`; the rest of u is zero.
template <int K, class T, int N>
JOUNCE_INLINE void fixed_vector_series(const T* u0, const T* w, int stride, T (&u)[3][N]) {
  for (int i = 0; i < 3; ++i) {
    u[i][0] = u0[i];
    for (int k = K; k < N; ++k) u[i][k] = T(0.0);
  }
  for (int k = 0; k + 1 < K; ++k) {
    T x(0.0), y(0.0), z(0.0);
    for (int j = 0; j <= k; ++j) {
      const T* wj = w + (k - j) * stride;
      x += u[1][j] * wj[2] - u[2][j] * wj[1];
      y += u[2][j] * wj[0] - u[0][j] * wj[2];
      z += u[0][j] * wj[1] - u[1][j] * wj[0];
    }
    const T scale(1.0 / (k + 1));
    u[0][k + 1] = scale * x;
    u[1][k + 1] = scale * y;
    u[2][k + 1] = scale * z;
  }
}

JOUNCE_END
