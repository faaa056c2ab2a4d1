"""Where a rod is inside out: where its tangent points against its tangent at rest.

The tangent is the linear half of the strain, rest + Phi(s) q, so its component along the one at rest,

    g(s) = rest . (rest + Phi(s) q),

is linear in q. Its coefficients are sampled once, densely enough that straight lines between the samples are close to
them; samples that are nearly zero are then searched around for the true minimum of g.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_SAMPLES = 257  # at first; between two of them there are more where the basis is not a straight line
_STRAIGHT = 1e-3  # how far it may be from one, relative to the largest value of a column
_HALVINGS = 16  # of the distance between two samples
_MINIMA = 8  # that are searched around
_GOLDEN = (5**0.5 - 1) / 2
_SEARCHES = 44  # which shorten an interval to 1e-9 of it


class Tangent:
    """The component of a rod's tangent along the one at rest.

    Args:
        rest: (3,) the tangent at rest.
        basis: the tangent's derivative (3, n) by q, as a function of s.
        length: of the rod, m.
        places: (P,) in m, among which none of the basis may be missed.
        uniform: whether the basis is the same all along.
    """

    def __init__(
        self, rest: Array, basis: Callable[[float], Array], length: float, places: Array, uniform: bool
    ) -> None:
        self._rest, self._basis = rest, basis
        s = np.zeros(1) if uniform else np.union1d(np.linspace(0.0, length, _SAMPLES), places)
        values = self._slopes(s)
        if not uniform:
            s, values = self._refined(s, values)
        self._s, self._values = s, values
        self._moves = bool(self._rest.any() and values.any())  # a rod that neither stretches nor shears is never turned
        self._error = np.zeros(values.shape[1]) if uniform else _STRAIGHT * np.abs(values).max(axis=0, initial=0.0)

    def turned(self, q: Array) -> float | None:
        """The place, in m, where the component is least, if it is zero or less there."""
        if not self._moves:
            return None
        g, s = self._rest @ self._rest + self._values @ q, self._s
        close = np.abs(q) @ self._error
        if not g.min() <= close:
            return None
        outer = np.concatenate([[np.inf], g, [np.inf]])
        (minima,) = np.nonzero((g <= outer[:-2]) & (g <= outer[2:]) & (g <= close))
        found = [
            self._least(q, float(s[max(i - 1, 0)]), float(s[min(i + 1, len(s) - 1)]), float(s[i]))
            for i in minima[np.argsort(g[minima], kind="stable")][:_MINIMA]
        ]
        least, place = min(found)
        return place if least <= 0 else None

    def _least(self, q: Array, low: float, high: float, known: float) -> tuple[float, float]:
        """The least component between two places, at most that at a known one, and where it is."""

        def component(s: float) -> float:
            return float(self._rest @ (self._rest + self._basis(s) @ q))

        best = component(known), known
        if low == high:
            return best
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_a, at_b = component(a), component(b)
        for _ in range(_SEARCHES):
            best = min(best, (at_a, a), (at_b, b))
            if at_a < at_b:
                high, b, at_b = b, a, at_a
                a = high - _GOLDEN * (high - low)
                at_a = component(a)
            else:
                low, a, at_a = a, b, at_b
                b = low + _GOLDEN * (high - low)
                at_b = component(b)
        return best

    def _slopes(self, s: Array) -> Array:
        return np.array([self._rest @ self._basis(float(x)) for x in s])

    def _refined(self, s: Array, values: Array) -> tuple[Array, Array]:
        """More samples, in the middle between two, wherever a straight line is not what is between them."""
        suspect = np.arange(len(s) - 1)
        for _ in range(_HALVINGS):
            middle = (s[suspect] + s[suspect + 1]) / 2
            there = self._slopes(middle).reshape(len(middle), values.shape[1])
            off = np.abs(there - (values[suspect] + values[suspect + 1]) / 2)
            largest = np.maximum(np.abs(values).max(axis=0), np.abs(there).max(axis=0, initial=0.0))
            bent = (off > _STRAIGHT / 4 * largest).any(axis=1)
            s, values = np.insert(s, suspect + 1, middle), np.insert(values, suspect + 1, there, axis=0)
            first = (suspect + np.arange(len(suspect)))[bent]
            suspect = np.sort(np.concatenate([first, first + 1]))
            if not len(suspect):
                break
        return s, values


def inside_out(robot: Model, q: Array) -> str:
    """Which soft body of a robot is inside out, and where, for a message; empty if none is."""
    for part in robot._soft.values():
        place = part.body.inside_out(q[part.q])
        if place is not None:
            return f"{quoted(part.name)} is inside out at s = {place:.4g} m"
    return ""
