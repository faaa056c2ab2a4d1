"""Steps along a rod: each is exp(Omega), Omega the sixth-order Magnus expansion of its strain (see soft_body.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce.parts.pose import exponential

Array = NDArray[np.float64]
# Three cross products at once: w x linear, w x angular, v x angular.
_FIRST, _SECOND = np.array([4, 5, 3, 4, 5, 3, 1, 2, 0]), np.array([2, 0, 1, 5, 3, 4, 5, 3, 4])
_LATER, _SOONER = np.array([5, 3, 4, 5, 3, 4, 2, 0, 1]), np.array([1, 2, 0, 4, 5, 3, 4, 5, 3])
_AT_A_TIME = 1 << 18  # multiplications, for some of many states: BLAS stays on one thread, and all in the cache


def magnus(
    strain_at: Callable[[float], Array], rest: Array, start: float, end: float, pieces: int
) -> tuple[Array, Array, Array]:
    """constant (6,), linear (pieces, n, 6) and changes (pieces, 2, n, 6) of Omega over equal steps.

    Args:
        strain_at: the basis (6, n) at s.
        rest: (6,) strain of the stress-free rod.
        start, end: where the steps begin and end, m.
        pieces: their number.
    """
    h = (end - start) / pieces
    middles = start + (np.arange(pieces) + 0.5) * h
    third = np.sqrt(15) / 10 * h
    first, middle, last = (np.array([strain_at(s + d).T for s in middles]) for d in (-third, 0.0, third))
    slope, bend = np.sqrt(15) / 3 * h * (last - first), 10 / 3 * h * (last - 2 * middle + first)
    return h * rest, h * middle, np.stack([slope, bend], axis=1)


class Steps:
    """Steps along a rod from its near end through P places.

    Args:
        legs: from each place to the next one, what `magnus` returns.
        which: for each pose that is wanted, at the end of which leg it is.
    """

    def __init__(self, legs: Sequence[tuple[Array, Array, Array]], which: ArrayLike) -> None:
        counts = [len(linear) for _, linear, _ in legs]
        self._ends = np.cumsum(counts)[np.asarray(which)] - 1
        linear = np.concatenate([linear for _, linear, _ in legs])  # (steps, n, 6)
        changes = np.concatenate([changes for *_, changes in legs])
        slopes = np.stack([linear, changes[:, 0], changes[:, 1]])
        self._shape = 3, 6, len(linear)
        columns = np.prod(self._shape, dtype=int)  # said, as a rod may have no coordinates
        self._slopes = np.ascontiguousarray(slopes.transpose(2, 0, 3, 1).reshape(linear.shape[1], columns))
        self._some = max(1, _AT_A_TIME // max(self._slopes.size, 1))
        self._constants = np.zeros(self._shape)
        self._constants[0] = np.repeat([constant for constant, *_ in legs], counts, axis=0).T

    def each(self, q: Array) -> Array:
        """exp(Omega) of each step, (..., steps, 4, 4), for q (..., n)."""
        rows = (q @ self._slopes).reshape(*q.shape[:-1], *self._shape) + self._constants
        first = (rows.ndim - 3, rows.ndim - 2, *range(rows.ndim - 3), rows.ndim - 1)
        omega = omega_of(*rows.transpose(first))
        return exponential(omega.transpose(*range(1, omega.ndim), 0))

    def poses(self, q: Array) -> Array:
        """Poses (..., P, 4, 4) in the near end, for q (..., n)."""
        if q.size <= self._some * q.shape[-1]:
            return np.asarray(products(self.each(q))[..., self._ends, :, :])
        states = q.reshape(-1, q.shape[-1])
        found = np.empty((len(states), len(self._ends), 4, 4))
        for i in range(0, len(states), self._some):
            found[i : i + self._some] = self.poses(states[i : i + self._some])
        return found.reshape(*q.shape[:-1], *found.shape[1:])


def products(poses: Array) -> Array:
    """Of each pose (..., K, 4, 4) and all before it, two by two: half as many first."""
    count = poses.shape[-3]
    if count < 2:
        return poses
    found = np.empty_like(poses)
    found[..., 1::2, :, :] = products(poses[..., : count - 1 : 2, :, :] @ poses[..., 1::2, :, :])
    found[..., 0, :, :] = poses[..., 0, :, :]
    found[..., 2::2, :, :] = found[..., 1 : count - 1 : 2, :, :] @ poses[..., 2::2, :, :]
    return found


def omega_of(a1: Array, a2: Array, a3: Array) -> Array:
    """Omega (6, ...) of the sixth-order Magnus expansion."""
    C1 = -bracket(a1, a2)
    C2 = bracket(a1, 2 * a3 + C1) / 60
    return np.asarray(a1 + a3 / 12 - bracket(-20 * a1 - a3 + C1, a2 + C2) / 240)


def bracket(a: Array, b: Array) -> Array:
    """[a, b] of twists [linear; angular] (6, ...)."""
    crossed = a[_FIRST] * b[_SECOND] - a[_LATER] * b[_SOONER]
    crossed[:3] += crossed[6:]
    return np.asarray(crossed[:6])
