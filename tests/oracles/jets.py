"""Polynomials in t with their derivatives in several directions, in the integers of `virtual_work`.

Axis 0 of an array is the power of t, axis 1 is the value and then its derivative in each direction.
"""

from __future__ import annotations

import operator
from math import isqrt

import mpmath
import numpy as np

from . import virtual_work as exact
from .virtual_work import BITS, ONE, Poly


def scaled(a: Poly, b: Poly) -> Poly:
    """Product of numbers along the motion, without derivatives: shapes broadcast."""
    return exact._mul(a, b, operator.mul)


def times(a: Poly, b: Poly) -> Poly:
    both = scaled(a, b[:, :1]) + scaled(a[:, :1], b)
    both[:, 0] >>= 1  # the value is counted twice
    return both


def reciprocal(a: Poly) -> Poly:
    """1 / a: y a = 1 power by power, dy = -y^2 da."""
    y = [ONE * ONE // a[0, 0]]
    for k in range(1, len(a)):
        y.append(-sum(a[i, 0] * y[k - i] for i in range(1, k + 1)) // a[0, 0])
    value = np.array(y, dtype=object)[:, None]
    return np.concatenate([value, -scaled(scaled(value, value), a[:, 1:])], axis=1)


def root(a: Poly) -> Poly:
    """sqrt a: s s = a power by power, ds = da / 2s."""
    s = [isqrt(int(a[0, 0]) << BITS)]
    for k in range(1, len(a)):
        s.append(((a[k, 0] << BITS) - sum(s[i] * s[k - i] for i in range(1, k))) // (2 * s[0]))
    value = np.array(s, dtype=object)[:, None]
    return np.concatenate([value, scaled(reciprocal(value), a[:, 1:]) >> 1], axis=1)


def angle(y: Poly, x: Poly) -> Poly:
    """atan2(y, x): the integral of (x y' - y x') / (x^2 + y^2)."""
    square = times(x, x) + times(y, y)
    over = reciprocal(square[:, :1])
    derivatives = scaled(over, scaled(x[:, :1], y[:, 1:]) - scaled(y[:, :1], x[:, 1:]))
    rate = scaled(over, scaled(x[:, :1], exact._rate(y[:, :1])) - scaled(y[:, :1], exact._rate(x[:, :1])))
    with mpmath.workprec(BITS + 64):
        start = int(mpmath.atan2(mpmath.mpf(int(y[0, 0])), mpmath.mpf(int(x[0, 0]))) * ONE)
    value = np.array([start, *(r // (k + 1) for k, r in enumerate(rate[:, 0]))], dtype=object)[:, None]
    return np.concatenate([value, derivatives], axis=1)


def inverse_matrix(a: np.ndarray) -> np.ndarray:
    """Inverse of a square matrix, by Gauss-Jordan elimination with the largest pivot of each column."""
    n = len(a)
    work = np.hstack([a, np.eye(n, dtype=int).astype(object) * ONE])
    for i in range(n):
        best = i + int(np.argmax([abs(x) for x in work[i:, i]]))
        work[[i, best]] = work[[best, i]]
        work[i] = (work[i] << BITS) // work[i, i]
        for j in range(n):
            if j != i:
                work[j] -= work[j, i] * work[i] >> BITS
    return work[:, n:]
