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

_COUNTS = (16, 24, 32, 48, 64, 96, 128, 192)  # of quadrature nodes; routes are interpolated there by polynomials
_CONVERGED = 1e-10  # of the largest force


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


def displacements_of(rod: Rod, shapes: Array, finer: float = 1.0) -> Expressions:
    """The displacements that the rod's inputs do work on, as functions of its coordinates.

    Args:
        rod: whose inputs they are.
        shapes: (S, n) in which the forces of inputs are to be right.
        finer: how many times more nodes than that takes.
    """
    tape = Tape(rod.n)
    q = [Number(tape, i) for i in range(rod.n)]
    totals = []
    for actuator in rod.actuators:
        end = rod.length if actuator.end is None else float(actuator.end)
        if end > rod.length * (1 + 1e-12):
            raise ValueError(
                f"end of {quoted(actuator.name)} is {end:g}, expected at most the rod's length {rod.length:g}"
            )
        count = int(np.ceil(finer * _enough(rod, actuator, end, shapes)))
        total: Any = 0.0
        for ds, constant, linear in zip(*_tangents(rod, actuator, end, count), strict=True):
            along = np.array([_affine(c, row, q) for c, row in zip(constant, linear, strict=True)], dtype=object)
            total = total + float(ds) * actuator.rate(along)
        totals.append(total)
    return Expressions(tape, totals)


def _enough(rod: Rod, actuator: Actuator, end: float, shapes: Array) -> int:
    """The number of nodes with which the force of an input has converged for some shapes."""
    last, force = _COUNTS[0], _force(rod, actuator, end, shapes, _COUNTS[0])
    for count in _COUNTS[1:]:
        finer = _force(rod, actuator, end, shapes, count)
        if np.abs(finer - force).max(initial=0.0) <= _CONVERGED * np.abs(finer).max(initial=0.0):
            return last
        last, force = count, finer
    return last


def _force(rod: Rod, actuator: Actuator, end: float, shapes: Array, count: int) -> Array:
    """The force (S, n) of a unit input: the gradient of its displacement, by complex steps."""
    weights, constant, linear = _tangents(rod, actuator, end, count)
    along = constant + np.einsum("kin,sn->ski", linear, shapes)
    step = 1e-100
    force = np.empty(shapes.shape)
    for c in range(rod.n):
        moved = np.moveaxis(along + 1j * step * linear[..., c], -1, 0)
        force[:, c] = np.asarray(actuator.rate(moved)).imag @ weights / step
    return force


def _tangents(rod: Rod, actuator: Actuator, end: float, count: int) -> tuple[Array, Array, Array]:
    """Weights (count,) and the tangent of the route, (count, 3) at rest and (count, 3, n) per unit of the shape."""
    from jounce.soft.rod import gauss

    places, weights = gauss(count, end)
    route = np.array([actuator.at(float(s)) for s in places])
    slopes = _differentiation(places) @ route
    constant, linear = np.empty((count, 3)), np.empty((count, 3, rod.n))
    for k, (s, (x, y), slope) in enumerate(zip(places, route, slopes, strict=True)):
        # The tangent from the strain at the route, v + w x r, plus that of the route within the section.
        rows = np.array([[1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x], [0, 0, 1, y, -x, 0]])
        constant[k], linear[k] = rows @ rod.rest + (*slope, 0.0), rows @ rod.strain_at(s)
    return weights, constant, linear


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
