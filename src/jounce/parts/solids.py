"""The inertia of solids of uniform density: simple ones per unit of mass, about their centre, and polyhedra.

A polyhedron is the sum of tetrahedra from a common point to its faces, counted negative where a face looks towards that
point. With corners a, b, c as seen from there, D = det(a b c) and s = a + b + c, a tetrahedron has

    volume D / 6,     first moment D s / 24,     second moment D (s s^T + a a^T + b b^T + c c^T) / 120.

The sum does not depend on the point if every edge is run through as often in one direction as in the other: this is
what "closed" means here.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, quoted, reals, unit

Array = NDArray[np.float64]
_FAR = 1e30  # m; lengths beyond it have squares and cubes that overflow


def box(size: ArrayLike) -> Array:
    return _diagonal(_lengths("size", size) ** 2 / 12)


def ellipsoid(radii: ArrayLike) -> Array:
    return _diagonal(_lengths("radii", radii) ** 2 / 5)


def sphere(radius: float) -> Array:
    return 0.4 * _length("radius", radius) ** 2 * np.eye(3)


def cylinder(radius: float, length: float, axis: ArrayLike) -> Array:
    r, h = _length("radius", radius), _length("length", length)
    return _round(r**2 / 2, r**2 / 4 + h**2 / 12, axis)


def capsule(radius: float, length: float, axis: ArrayLike) -> Array:
    """A cylinder of volume pi r^2 h, and half spheres whose centres of mass are 3 r / 8 beyond its ends."""
    r, h = _length("radius", radius), _length("length", length)
    part = h / (h + 4 / 3 * r) if h > 0 else 0.0  # of the volume, the cylinder's
    along = part * r**2 / 2 + (1 - part) * 0.4 * r**2
    ends = 0.4 * r**2 + h**2 / 4 + 0.375 * h * r
    return _round(along, part * (r**2 / 4 + h**2 / 12) + (1 - part) * ends, axis)


def of_mesh(
    vertices: ArrayLike | str | os.PathLike[str],
    triangles: ArrayLike | None,
    mass: float | None,
    density: float | None,
    scale: float,
) -> tuple[float, Array, Array]:
    """Mass, centre of mass, and the inertia about it."""
    if (mass is None) == (density is None):
        raise ValueError("mass and density were both given" if mass is not None else "mass is missing, or density")
    factor = float(array_of("scale", scale, ()))
    if not 1 / _FAR < factor < _FAR:
        raise ValueError(f"scale is {factor:g}, expected a positive number such as 0.001")
    if isinstance(vertices, (str, os.PathLike)):
        if triangles is not None:
            raise ValueError(f"triangles were given along with the path {quoted(vertices)}")
        from jounce.view.meshes import triangles_of_file

        points, faces = triangles_of_file(vertices)
    else:
        points, faces = _mesh(vertices, triangles)
    volume, centre, second = _integrals(factor * points, faces)
    total = volume * float(array_of("density", density, ())) if mass is None else float(array_of("mass", mass, ()))
    return total, centre, total / volume * (np.trace(second) * np.eye(3) - second)


def _mesh(vertices: ArrayLike, triangles: ArrayLike | None) -> tuple[Array, NDArray[np.intp]]:
    points = reals("vertices", vertices)
    if points.ndim != 2 or points.shape[1] != 3 or not (np.abs(points) < _FAR).all():
        raise ValueError(f"vertices is {quoted(vertices)}, expected finite numbers (V, 3) of metres, or a path")
    try:
        given: NDArray[Any] = np.asarray(triangles)
    except (ValueError, TypeError):  # ragged
        given = np.asarray(None)
    if given.ndim != 2 or given.shape[1] != 3 or given.dtype.kind not in "iu" or not len(given):
        raise ValueError(f"triangles is {quoted(triangles)}, expected indices (F, 3) of vertices")
    if given.min() < 0 or given.max() >= len(points):
        raise ValueError(f"triangles holds indices {given.min()} to {given.max()}: there are {len(points)} vertices")
    return points, given.astype(np.intp)


def _integrals(points: Array, faces: NDArray[np.intp]) -> tuple[float, Array, Array]:
    """Volume, its centre, and its second moment about that."""
    _, same = np.unique(points, axis=0, return_inverse=True)  # files repeat the corners of each face
    _expect_closed(same.reshape(-1)[faces])
    size = float(np.ptp(points, axis=0).max())
    middle = points.mean(axis=0)
    corners = (points[faces] - middle) / (size or 1.0)
    D = np.linalg.det(corners)
    volume = float(D.sum()) / 6
    if abs(volume) < 1e-12:
        raise ValueError("the mesh has no volume: vertices and triangles are those of a flat body")
    if volume < 0:
        raise ValueError("the mesh is inside out: reverse the corners of its triangles, triangles[:, ::-1]")
    s = corners.sum(axis=1)
    centre = D @ s / 24 / volume
    second = np.einsum("f,fi,fj->ij", D, s, s) + np.einsum("f,fki,fkj->ij", D, corners, corners)
    about = second / 120 - volume * np.outer(centre, centre)
    return volume * size**3, middle + size * centre, size**5 * about


def _expect_closed(faces: NDArray[np.intp]) -> None:
    """Checks that every edge is run through as often in one direction as in the other."""
    starts, ends = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    edges = np.sort(np.stack([starts, ends], axis=1), axis=1)
    _, which, count = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    surplus = np.bincount(which.reshape(-1), np.sign(ends - starts))
    off = int((surplus != 0).sum())
    if off and (count % 2 == 0).all():
        raise ValueError(f"the mesh has triangles that are turned the other way than their neighbours, at {off} edges")
    if off:
        raise ValueError(f"the mesh is not closed: {off} of its {len(count)} edges have a triangle on one side only")


def _length(name: str, value: float) -> float:
    given = float(array_of(name, value, ()))
    if not 0 <= given < _FAR:
        raise ValueError(f"{name} is {given:g}, expected a non-negative number of metres")
    return given


def _lengths(name: str, value: ArrayLike) -> Array:
    given = array_of(name, value, (3,))
    if not ((given >= 0) & (given < _FAR)).all():
        raise ValueError(f"{name} is {given.tolist()}, expected non-negative numbers of metres")
    return given


def _diagonal(squares: Array) -> Array:
    """From the integrals of x^2, y^2 and z^2."""
    return np.diag(squares.sum() - squares)


def _round(along: float, across: float, axis: ArrayLike) -> Array:
    """Of a solid of revolution, with these moments about its axis and across it."""
    direction = unit("axis", axis)
    return across * np.eye(3) + (along - across) * np.outer(direction, direction)
