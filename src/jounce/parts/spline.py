"""Splines through given points, for joints and soft bodies of your own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import frozen, quoted, reals, whole
from jounce.recording.record import Expressions, Number, Tape

Array = NDArray[np.float64]


class Spline:
    """The natural spline through points: a smooth function of one number. Its end polynomials extend beyond the knots.

    Args:
        knots: (m,) where its values are given, increasing, at least 2.
        values: (m,) the values at the knots.
        degree: 1, 3, 5, 7 or 9. The derivatives up to degree - 1 are continuous, so a motion with continuous snap
            needs at least 5.

    Call it with a number, an array, or inside a function that jounce records, such as the pose of a `CustomJoint`.
    Derivatives of any order are those of the polynomial between the knots; at a knot, those of the one that starts
    there.

    >>> bump = Spline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    >>> [round(float(y), 4) for y in bump([0.5, 1.0, 1.5])]
    [0.75, 1.0, 0.75]
    """

    knots: Array
    values: Array
    degree: int

    def __init__(self, knots: ArrayLike, values: ArrayLike, degree: int = 5) -> None:
        x, y = reals("knots", knots), reals("values", values)
        if x.ndim != 1 or len(x) < 2 or not np.isfinite(x).all() or not (np.diff(x) > 0).all():
            raise ValueError(f"knots is {quoted(knots)}, expected at least two increasing numbers")
        if y.shape != x.shape or not np.isfinite(y).all():
            raise ValueError(f"values is {quoted(values)}, expected {len(x)} finite numbers, one for each knot")
        if len(x) > 1000:
            raise ValueError(f"knots has {len(x)} numbers, expected at most 1000")
        degree = whole("degree", degree, 1, 9)
        if degree % 2 == 0:
            raise ValueError(f"degree is {degree}, expected an odd number")
        if len(x) < (degree + 1) // 2:
            raise ValueError(f"degree is {degree}, which needs at least {(degree + 1) // 2} knots, got {len(x)}")
        self.knots, self.values, self.degree = frozen(x), frozen(y), degree
        self._coefficients = frozen(_natural(x, y, degree))

    def __call__(self, x: Any) -> Any:
        """Its value at x."""
        if isinstance(x, Number):
            return x.piecewise(self.knots, self._coefficients)
        if isinstance(x, np.ndarray) and x.dtype == object:
            return np.array([self(each) for each in x.ravel()], dtype=object).reshape(x.shape)
        given = reals("x", x)
        tape = Tape(1)
        return Expressions(tape, [self(Number(tape, 0))]).values(given.reshape(-1, 1)).reshape(given.shape)[()]

    def __repr__(self) -> str:
        return f"Spline({len(self.knots)} knots, degree={self.degree})"


def _natural(x: Array, y: Array, degree: int) -> Array:
    """Coefficients (pieces, degree + 1) about the knots where the pieces start.

    The unknowns are the coefficients of each piece in a variable that runs from 0 to 1 on it, so the equations are well
    scaled.
    """
    pieces, n = len(x) - 1, degree + 1
    h = np.diff(x)
    A, b = np.zeros((pieces * n, pieces * n)), np.zeros(pieces * n)
    falling = np.ones((n, n))  # falling factorials m (m - 1) ..., by order of the derivative and by power
    for k in range(1, n):
        falling[k] = falling[k - 1] * np.maximum(np.arange(n) - k + 1, 0)
    row = 0
    for i in range(pieces):
        own = slice(i * n, (i + 1) * n)
        A[row, own.start], b[row] = 1.0, y[i]
        A[row + 1, own], b[row + 1] = 1.0, y[i + 1]
        row += 2
        for k in range(1, degree if i + 1 < pieces else 0):
            A[row, own] = falling[k]
            A[row, own.stop + k] = -falling[k, k] * (h[i] / h[i + 1]) ** k
            row += 1
    for k in range((degree + 1) // 2, degree):
        A[row, k], row = 1.0, row + 1
        A[row, (pieces - 1) * n :], row = falling[k], row + 1
    scaled = np.linalg.solve(A, b).reshape(pieces, n)
    result: Array = scaled / h[:, None] ** np.arange(n)
    return result
