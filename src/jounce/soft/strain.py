"""Strain bases: the strains that a rod can have, as functions of s along it.

The strain of a rod is xi(s) = rest + Phi(s) q, rows [linear; angular]: shear along x and y, stretch along z, bending
about x and y, twist about z. The coordinates of the bases named here are scaled as in paper D: q is the strain times
the length L0 of the rod, an angle or a length, whatever the rod's size. Each is named after its strain, with the axis
it bends about: "bend_-x" is a bend about -x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, frozen, quoted, reals, whole

Array = NDArray[np.float64]

STRAINS = ("shear_x", "shear_y", "stretch", "bend_x", "bend_y", "twist")


class Strain(ABC):
    """A basis Phi(s), (6, n), for a rod of a given length.

    Attributes:
        n: number of coordinates.
        uniform: whether Phi is constant along the rod.
        names: of the coordinates; numbered if empty.
        units: of the coordinates, "m", "rad", "1" or "1/m"; "?" or empty if unspecified.
    """

    n: int
    uniform: bool = False
    names: Sequence[str] = ()
    units: Sequence[str] = ()

    @abstractmethod
    def basis(self, s: float, length: float) -> ArrayLike:
        """Phi(s) of a rod of that length."""

    def at(self, s: float, length: float) -> Array:
        """Phi(s), checked."""
        return array_of(f"strain basis at s = {s:g}", self.basis(s, length), (6, self.n))


class _Uniform(Strain):
    uniform = True

    def __init__(self, matrix: Array, *, scaled: bool) -> None:
        self.n, self._matrix, self._scaled = matrix.shape[1], frozen(matrix), scaled
        strains = [_strain_of(column) for column in matrix.T]
        if all(strains) and len(set(strains)) == len(strains):
            self.names = tuple(strains)
        self.units = tuple(_unit(name, scaled=scaled) for name in strains)

    def basis(self, s: float, length: float) -> Array:
        return self._matrix / length if self._scaled else self._matrix


class _Legendre(Strain):
    def __init__(self, rows: list[int], degrees: list[int]) -> None:
        self.n, self._rows, self._degrees, self.uniform = len(rows), rows, degrees, max(degrees) == 0
        strains = [STRAINS[row] for row in rows]
        several = [strains.count(name) > 1 for name in strains]
        self.names = tuple(
            f"{s}_{k}" if of_many else s for s, k, of_many in zip(strains, degrees, several, strict=True)
        )
        self.units = tuple(_unit(name, scaled=True) for name in strains)

    def basis(self, s: float, length: float) -> Array:
        values = np.polynomial.legendre.legvander(np.array([2 * s / length - 1]), max(self._degrees))[0] / length
        phi = np.zeros((6, self.n))
        phi[self._rows, range(self.n)] = values[self._degrees]
        return phi


class _Gaussian(Strain):
    def __init__(self, center: float, width: float, elongation: bool) -> None:
        self.n, self._center, self._width = 5 if elongation else 4, center, width
        self.names = ("bend_y", "bend_y_bell", "bend_-x", "bend_-x_bell", "stretch")[: self.n]
        self.units = ("rad", "rad", "rad", "rad", "m")[: self.n]

    def basis(self, s: float, length: float) -> Array:
        bell = np.exp(-(((s - self._center * length) / self._width) ** 2))
        phi = np.zeros((6, self.n))
        phi[4, 0], phi[4, 1], phi[3, 2], phi[3, 3] = 1, bell, -1, -bell
        if self.n == 5:
            phi[2, 4] = 1
        return phi / length


class _Function(Strain):
    def __init__(self, function: Callable[[float], ArrayLike], n: int) -> None:
        self.n, self._function = n, function

    def basis(self, s: float, length: float) -> ArrayLike:
        return self._function(s)


def constant_curvature(planar: bool = False, elongation: bool = True) -> Strain:
    """Piecewise constant curvature (PCC).

    Coordinates: the angles by which the rod bends about y and about -x (towards x and towards y; if planar, only one,
    about -y), and its elongation in metres.

    Args:
        planar: bending in the x-z plane only.
        elongation: whether the rod can stretch.

    >>> constant_curvature().at(0.0, 2.0)
    array([[ 0. ,  0. ,  0. ],
           [ 0. ,  0. ,  0. ],
           [ 0. ,  0. ,  0.5],
           [ 0. , -0.5,  0. ],
           [ 0.5,  0. ,  0. ],
           [ 0. ,  0. ,  0. ]])
    """
    columns = [(4, -1.0)] if flag("planar", planar) else [(4, 1.0), (3, -1.0)]
    if flag("elongation", elongation):
        columns.append((2, 1.0))
    return _constant(columns)


def constant_strain(*strains: str) -> Strain:
    """Piecewise constant strain (PCS): any of shear_x, shear_y, stretch, bend_x, bend_y, twist, or all."""
    names = strains or STRAINS
    for name in names:
        if not isinstance(name, str) or name not in STRAINS or names.count(name) > 1:
            raise ValueError(f"strain {quoted(name)}: expected each of {', '.join(STRAINS)} at most once")
    return _constant([(STRAINS.index(name), 1.0) for name in names])


def polynomial(
    order: int | dict[str, int], strains: tuple[str, ...] = ("bend_x", "bend_y", "twist", "stretch")
) -> Strain:
    """Legendre polynomials in s up to an order, for each of the given strains in turn.

    Args:
        order: one for all `strains`, or one for each by name.
        strains: among shear_x, shear_y, stretch, bend_x, bend_y, twist.
    """
    names = order if isinstance(order, dict) else strains
    if (
        not isinstance(names, (dict, tuple, list))
        or not names
        or not all(isinstance(n, str) and n in STRAINS for n in names)
    ):
        which = "order" if isinstance(order, dict) else "strains"
        raise ValueError(f"{which} is {quoted(names)}, expected some of {', '.join(STRAINS)}")
    if len(set(names)) < len(names):
        raise ValueError(f"strains is {names!r}, expected each at most once")
    orders = order if isinstance(order, dict) else dict.fromkeys(names, order)
    orders = {name: whole(f"order of {name!r}", k, 0, 20) for name, k in orders.items()}
    rows = [STRAINS.index(name) for name, k in orders.items() for _ in range(k + 1)]
    degrees = [j for k in orders.values() for j in range(k + 1)]
    return _Legendre(rows, degrees)


def gaussian(center: float = 0.5, width: float | None = None, elongation: bool = True) -> Strain:
    """Paper D, Simulation 2: curvature about y, constant and as a Gaussian bell; the same about -x; and elongation.

    Args:
        center: of the bell, as a fraction of the length.
        width: of the bell exp(-((s - center) / width)^2), in metres; when left out 1 m, as printed in the paper, which
            makes the bell of a short rod nearly constant and its mass matrix nearly singular.
        elongation: whether the rod can stretch.
    """
    spread = 1.0 if width is None else float(array_of("width", width, ()))
    middle = float(array_of("center", center, ()))
    if spread <= 0:
        raise ValueError(f"width is {spread}, expected a positive length in metres")
    return _Gaussian(middle, spread, flag("elongation", elongation))


def given(strain: object) -> Strain:
    """The basis that the user gave: one of the above, an array (6, n), or a function s -> (6, n), used unscaled."""
    if isinstance(strain, Strain):
        return strain
    if callable(strain):
        function: Callable[[float], ArrayLike] = strain
        first = reals("strain(0.0)", function(0.0))
        if first.ndim != 2 or first.shape[0] != 6:
            raise ValueError(f"strain(0.0) has shape {first.shape}, expected (6, n)")
        return _Function(function, first.shape[1])
    matrix = reals("strain", strain)
    if matrix.ndim != 2 or matrix.shape[0] != 6:
        raise ValueError(
            f"strain is {quoted(strain)}, expected a basis of jounce.soft, an array (6, n) or a function s -> (6, n)"
        )
    return _Uniform(array_of("strain", matrix, matrix.shape), scaled=False)


def _strain_of(column: Array) -> str:
    """The single strain that a coordinate stands for, if it is one: 1 or -1 in one row."""
    (rows,) = np.nonzero(column)
    if len(rows) != 1 or abs(column[rows[0]]) != 1:
        return ""
    name = STRAINS[rows[0]]
    return name if column[rows[0]] > 0 else f"{name[:-1]}-{name[-1]}" if name[-2] == "_" else f"-{name}"


def _unit(name: str, *, scaled: bool) -> str:
    """The unit of a strain, or of a strain times a length."""
    if not name:
        return "?"
    turns = name.lstrip("-").startswith(("bend", "twist"))
    return ("rad" if turns else "m") if scaled else ("1/m" if turns else "1")


def _constant(columns: list[tuple[int, float]]) -> Strain:
    unit = np.zeros((6, len(columns)))
    for c, (row, sign) in enumerate(columns):
        unit[row, c] = sign
    return _Uniform(unit, scaled=True)
