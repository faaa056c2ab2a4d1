"""The mass properties of a rigid body."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, flag, frozen, pose
from jounce.parts import solids

PARAMETERS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)  # rows and columns of xx, xy, yy, xz, yz, zz


@dataclass(frozen=True, init=False, eq=False)
class Inertia:
    """Mass, centre of mass and rotational inertia of a rigid body.

    Args:
        mass: kg, not negative.
        com: (3,) centre of mass in the body frame, m.
        rotational: (3, 3) inertia matrix about the centre of mass in body axes, kg m^2, or its (3,) diagonal.
            A point mass when left out.
        physical: whether an inertia that no real body has (a negative principal moment, one that exceeds the sum of
            the other two, moments without mass) raises a ``ValueError``. Model files contain such inertias; the
            equations accept them unless a matrix becomes singular.

    Inertias of simple solids and of meshes have functions of their own: `box`, `cylinder`, `sphere`, `capsule`,
    `ellipsoid`, `from_mesh`. `moved` places one elsewhere, and ``a + b`` is that of both bodies together.

    >>> rod = Inertia(2.0, com=(0, 0, 0.5), rotational=(1 / 6, 1 / 6, 0.0))
    >>> rod.mass
    2.0
    """

    mass: float
    com: NDArray[np.float64]
    rotational: NDArray[np.float64]

    def __init__(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        rotational: ArrayLike | None = None,
        *,
        physical: bool = True,
    ) -> None:
        value = float(array_of("mass", mass, ()))
        if value < 0:
            raise ValueError(f"mass is {value}, expected a non-negative number")
        moments = np.zeros((3, 3)) if rotational is None else array_of("rotational", rotational, (3, 3), (3,))
        if moments.ndim == 1:
            moments = np.diag(moments)
        _check_symmetric(moments)
        if flag("physical", physical) and (fault := _fault(value, moments)):
            raise ValueError(f"rotational {fault}")
        object.__setattr__(self, "mass", value)
        object.__setattr__(self, "com", frozen(array_of("com", com, (3,))))
        object.__setattr__(self, "rotational", frozen(moments / 2 + moments.T / 2))

    @classmethod
    def box(cls, mass: float, size: ArrayLike) -> Inertia:
        """Of a solid box with these edges (3,) along x, y and z, m, and its centre at the origin.

        >>> Inertia.box(12.0, (1.0, 2.0, 3.0)).rotational.diagonal()
        array([13., 10.,  5.])
        """
        return cls(mass, rotational=_times(mass, solids.box(size)))

    @classmethod
    def sphere(cls, mass: float, radius: float) -> Inertia:
        """Of a solid sphere of this radius, m, about the origin.

        >>> Inertia.sphere(5.0, 1.0).rotational.diagonal()
        array([2., 2., 2.])
        """
        return cls(mass, rotational=_times(mass, solids.sphere(radius)))

    @classmethod
    def ellipsoid(cls, mass: float, radii: ArrayLike) -> Inertia:
        """Of a solid ellipsoid with these half axes (3,) along x, y and z, m, about the origin.

        >>> Inertia.ellipsoid(5.0, (1.0, 2.0, 3.0)).rotational.diagonal()
        array([13., 10.,  5.])
        """
        return cls(mass, rotational=_times(mass, solids.ellipsoid(radii)))

    @classmethod
    def cylinder(cls, mass: float, radius: float, length: float, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Inertia:
        """Of a solid cylinder of this radius and length, m, along `axis` (3,), with its middle at the origin.

        >>> Inertia.cylinder(12.0, 1.0, 3.0, axis=(1, 0, 0)).rotational.diagonal()
        array([ 6., 12., 12.])
        """
        return cls(mass, rotational=_times(mass, solids.cylinder(radius, length, axis)))

    @classmethod
    def capsule(cls, mass: float, radius: float, length: float, axis: ArrayLike = (0.0, 0.0, 1.0)) -> Inertia:
        """Of a solid cylinder with a half sphere on each end, which its length does not count; otherwise as `cylinder`.

        >>> bool(np.allclose(Inertia.capsule(5.0, 1.0, 0.0).rotational, Inertia.sphere(5.0, 1.0).rotational))
        True
        """
        return cls(mass, rotational=_times(mass, solids.capsule(radius, length, axis)))

    @classmethod
    def from_mesh(
        cls,
        vertices: ArrayLike | str | os.PathLike[str],
        triangles: ArrayLike | None = None,
        *,
        mass: float | None = None,
        density: float | None = None,
        scale: float = 1.0,
    ) -> Inertia:
        """Of the solid inside a closed mesh, exactly, in the axes of the mesh.

        Args:
            vertices: (V, 3) positions, m; or a path to a mesh file (STL, OBJ, DAE, PLY, OFF, GLB), in place of both
                arrays. Files need ``pip install 'jounce[view]'``.
            triangles: (F, 3) indices of the corners of each face, counterclockwise as seen from outside.
            mass: kg.
            density: kg/m^3, in place of `mass`.
            scale: factor on all lengths, such as 0.001 for a mesh in millimetres.

        Raises:
            ValueError: the mesh is not closed, or is inside out.
            LoadError: the file cannot be read.

        >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        >>> tetrahedron = Inertia.from_mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], density=6.0)
        >>> round(tetrahedron.mass, 12), tetrahedron.com.round(12)
        (1.0, array([0.25, 0.25, 0.25]))
        """
        return cls(*solids.of_mesh(vertices, triangles, mass, density, scale))

    @classmethod
    def from_parameters(cls, parameters: ArrayLike, *, physical: bool = True) -> Inertia:
        """From its ten `parameters` (10,), such as identification gives; `physical` as above.

        >>> load = Inertia.from_parameters([2.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.6, 0.0, 0.0, 0.1])
        >>> load.com, load.rotational.diagonal().round(3)
        (array([0. , 0. , 0.5]), array([0.1, 0.1, 0.1]))
        """
        values = array_of("parameters", parameters, (10,))
        mass, first = float(values[0]), values[1:4]
        if mass == 0 and first.any():
            raise ValueError(f"parameters have a first moment, {first.tolist()}, without mass: no body has that")
        if mass < 0:
            raise ValueError(f"parameters have a mass of {mass:g}, expected a non-negative number")
        about_origin = np.zeros((3, 3))
        about_origin[PARAMETERS] = about_origin[PARAMETERS[::-1]] = values[4:]
        with np.errstate(over="ignore", invalid="ignore"):
            com = first / mass if mass > 0 else np.zeros(3)
            moments = about_origin - _of_point(mass, com)
            rounding = 8 * np.finfo(float).eps * np.abs(about_origin).max() * (mass > 0)
        checked = flag("physical", physical) and np.isfinite(moments).all()
        if checked and (fault := _fault(mass, moments + rounding * np.eye(3))):
            raise ValueError(f"parameters: the inertia about the centre of mass {fault}")
        return _unchecked(mass, com, moments)

    @property
    def parameters(self) -> NDArray[np.float64]:
        """(10,), linear in which forces are: mass, mass times centre of mass (x, y, z), and xx, xy, yy, xz, yz, zz.

        The last six are those of the inertia matrix about the origin of the body frame, kg m^2. The order is that of
        `Model.inertial_parameters`.

        >>> Inertia(2.0, com=(0, 0, 0.5)).parameters
        array([2. , 0. , 0. , 1. , 0.5, 0. , 0.5, 0. , 0. , 0. ])
        """
        about_origin = self.rotational + _of_point(self.mass, self.com)
        return np.array([self.mass, *(self.mass * self.com), *about_origin[PARAMETERS]])

    def moved(self, placement: ArrayLike) -> Inertia:
        """The inertia of the same body placed elsewhere: in the frame in which its own frame has this pose (4, 4).

        >>> import jounce as jn
        >>> Inertia.sphere(5.0, 1.0).moved(jn.placement((0, 0, 2))).com
        array([0., 0., 2.])
        """
        placed = pose("placement", placement)
        turn = placed[:3, :3]
        return _unchecked(self.mass, turn @ self.com + placed[:3, 3], turn @ self.rotational @ turn.T)

    def __add__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        mass = self.mass + other.mass
        share = other.mass / mass if mass > 0 else 0.0
        apart = other.com - self.com
        between = _of_point(share * self.mass, apart)
        return _unchecked(mass, self.com + share * apart, self.rotational + other.rotational + between)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unchecked, (self.mass, self.com, self.rotational)

    @property
    def is_zero(self) -> bool:
        """Whether mass and rotational inertia are both zero."""
        return self.mass == 0 and not self.rotational.any()

    @property
    def fault(self) -> str | None:
        """Why no real body has this inertia; None if one could."""
        return _fault(self.mass, self.rotational)


def _of_point(mass: float, place: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inertia matrix of a point mass about the origin."""
    return mass * (place @ place * np.eye(3) - np.outer(place, place))


def _times(mass: float, moments: NDArray[np.float64]) -> NDArray[np.float64]:
    return float(array_of("mass", mass, ())) * moments


def _unchecked(mass: float, com: ArrayLike, rotational: ArrayLike) -> Inertia:
    return Inertia(mass, com, rotational, physical=False)


def _check_symmetric(moments: NDArray[np.float64]) -> None:
    if float(np.abs(moments - moments.T).max()) > 1e-6 * float(np.abs(moments).max()):
        raise ValueError(f"rotational is not symmetric: {moments.tolist()}")


def _fault(mass: float, moments: NDArray[np.float64]) -> str | None:
    scale = float(np.abs(moments).max())
    if scale == 0:
        return None
    if mass == 0:
        return "is not zero although mass is: no body has that"
    with np.errstate(over="ignore"):  # NumPy 1.25 warns, wrongly, if numbers are below 1e-308
        scaled = moments / scale / 2  # so that no sum overflows
    principal = np.linalg.eigvalsh(scaled + scaled.T)
    if principal[0] < -1e-9:
        return f"has a negative principal moment: {_tidy(scale * principal)}"
    if principal[2] > (principal[0] + principal[1]) * (1 + 1e-6) + 1e-12:
        return (
            f"has principal moments {_tidy(scale * principal)}: the largest exceeds the sum of the others, "
            "which no body of positive density has"
        )
    return None


def _tidy(numbers: NDArray[np.floating]) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)
