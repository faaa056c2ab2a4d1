"""Leibniz' rule: time derivatives of products of matrices that have time derivatives."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def product(a: Array, b: Array, rows: int) -> Array:
    """Derivatives 0 .. rows - 1 of a b, for stacks (..., K, m, n) and (..., K', n, p).

    A derivative that a stack does not have counts as zero.
    """
    terms = []
    for k in range(rows):
        pairs = [(j, k - j) for j in range(k + 1) if j < a.shape[-3] and k - j < b.shape[-3]]
        terms.append(sum(comb(k, i) * a[..., i, :, :] @ b[..., j, :, :] for i, j in pairs))
    return np.stack(terms, axis=-3)


def transposed(a: Array) -> Array:
    return np.swapaxes(a, -1, -2)
