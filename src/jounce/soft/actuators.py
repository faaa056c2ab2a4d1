"""Actuators of a rod: tendons that pull along it and chambers that push.

Each input does work on a length or a volume that depends on the shape: a tendon of tension u on minus its length, a
chamber of pressure u on its volume. Both are integrals along the rod, computed by Gauss quadrature and recorded as
functions of q: their gradients are the columns of the actuation matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, quoted, text
from jounce.recording.record import Expressions, Number, Tape

if TYPE_CHECKING:
    from jounce.soft.rod import Rod

Array = NDArray[np.float64]

_NODES = 16  # quadrature nodes along a rod; routes are interpolated there by polynomials


@dataclass(frozen=True, eq=False)
class Actuator:
    """One input of a rod. Inputs of the same name on several rods are one input: a tendon through all of them.

    Attributes:
        name: of the input.
        route: (2,) where it runs in the section, x and y in metres, or a function of s that returns this.
        end: how far along the rod it acts, m; None for the far end.
    """

    name: str
    route: ArrayLike | Callable[[float], ArrayLike] = (0.0, 0.0)
    end: float | None = None

    def __post_init__(self) -> None:
        text("name", self.name)
        self.at(0.0)
        if self.end is not None and not float(array_of(f"end of {quoted(self.name)}", self.end, ())) > 0:
            raise ValueError(f"end of {quoted(self.name)} is {quoted(self.end)}, expected a positive length in metres")

    def at(self, s: float) -> Array:
        """Where it is in the section at s, (2,)."""
        place = self.route(s) if callable(self.route) else self.route
        return array_of(f"route of {quoted(self.name)} at s = {s:g}", place, (2,))

    def rate(self, along: NDArray[np.object_]) -> Any:
        """The integrand along the rod, from the tangent (3,) of the route per metre of the rod."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Tendon(Actuator):
    """A tendon with tension u, N, which slides freely along its route and pulls at its end.

    >>> Tendon("left", route=(0.01, 0.0)).at(0.2)
    array([0.01, 0.  ])
    """

    def rate(self, along: NDArray[np.object_]) -> Any:
        return -((along[0] * along[0] + along[1] * along[1] + along[2] * along[2]) ** 0.5)


@dataclass(frozen=True, eq=False)
class Chamber(Actuator):
    """A pressure chamber along the route: cross-section `area`, m^2, and pressure u, Pa. With area 1, u is a force.

    >>> Chamber("top", route=(0.0, 0.01), area=1e-4).area
    0.0001
    """

    area: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not float(array_of(f"area of {quoted(self.name)}", self.area, ())) > 0:
            raise ValueError(
                f"area of {quoted(self.name)} is {quoted(self.area)}, expected a positive number of square metres"
            )

    def rate(self, along: NDArray[np.object_]) -> Any:
        return self.area * along[2]


def displacements_of(rod: Rod) -> Expressions:
    """The displacements that the rod's inputs do work on, as functions of its coordinates."""
    from jounce.soft.rod import gauss

    tape = Tape(rod.n)
    q = [Number(tape, i) for i in range(rod.n)]
    totals = []
    for actuator in rod.actuators:
        end = rod.length if actuator.end is None else float(actuator.end)
        if end > rod.length * (1 + 1e-12):
            raise ValueError(
                f"end of {quoted(actuator.name)} is {end:g}, expected at most the rod's length {rod.length:g}"
            )
        places, weights = gauss(_NODES, end)
        route = np.array([actuator.at(float(s)) for s in places])
        slopes = _differentiation(places) @ route
        total: Any = 0.0
        for s, ds, (x, y), slope in zip(places, weights, route, slopes, strict=True):
            # The tangent from the strain at the route, v + w x r, plus that of the route within the section.
            rows = np.array([[1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x], [0, 0, 1, y, -x, 0]])
            constant, linear = rows @ rod.rest + (*slope, 0.0), rows @ rod.strain_at(s)
            along = np.array([_affine(c, row, q) for c, row in zip(constant, linear, strict=True)], dtype=object)
            total = total + float(ds) * actuator.rate(along)
        totals.append(total)
    return Expressions(tape, totals)


def _affine(constant: float, row: Array, q: list[Number]) -> Any:
    total: Any = float(constant)
    for a, x in zip(row, q, strict=True):
        if a != 0:
            total = total + float(a) * x
    return total


def _differentiation(x: Array) -> Array:
    """The matrix that takes values of a polynomial at x (n,) to those of its derivative there."""
    gaps = x[:, None] - x
    np.fill_diagonal(gaps, 1.0)
    weights = 1 / np.prod(gaps / np.ptp(x), axis=1)
    matrix = weights / weights[:, None] / gaps
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return np.asarray(matrix)
