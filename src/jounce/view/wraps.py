"""Surfaces of shapes for pictures to lie on, with the coordinates that MuJoCo gives them.

A surface is made of patches, each a grid of points. A point has a place on the shape, a place on the unit shape that is
scaled to it (for cubes of pictures), and one on the picture, from 0 to 1 and from the lower left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.parts.visual import Box, Capsule, Cylinder, Ellipsoid, Sphere

Array = NDArray[np.float64]
Solid = Box | Sphere | Cylinder | Capsule | Ellipsoid
_AROUND, _OVER, _ALONG = 48, 24, 8  # cells around an axis, from pole to pole, along a cylinder


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (V, 3), places on the unit shape (V, 3) and on the picture (V, 2); and faces (F, 3)."""

    vertices: Array
    unit: Array
    uv: Array
    faces: NDArray[np.int32]


def half_sizes(shape: Solid) -> Array:
    """(3,) along x, y and z, without the ends of a capsule, m."""
    if isinstance(shape, Box):
        return np.array(shape.size) / 2
    if isinstance(shape, Ellipsoid):
        return np.array(shape.radii)
    if isinstance(shape, Sphere):
        return np.full(3, shape.radius)
    return np.array([shape.radius, shape.radius, shape.length / 2])


def surface_of(shape: Solid) -> Surface:
    """The surface of a shape."""
    size = half_sizes(shape)
    if isinstance(shape, Box):
        patches = list(_box())
    elif isinstance(shape, (Sphere, Ellipsoid)):
        patches = [_ball(-1.0, 1.0)]
    elif isinstance(shape, Cylinder):
        patches = [_side(), *_ends()]
    else:
        patches = [_side(), *_caps()]
    vertices = [unit * size for unit, _ in patches]
    if isinstance(shape, Capsule):
        for k in (1, 2):  # the caps are round, whatever the length
            unit, end = patches[k][0], np.sign(patches[k][0][..., 2:])
            vertices[k] = np.concatenate(
                [shape.radius * unit[..., :2], end * size[2] + shape.radius * (unit[..., 2:] - end)], axis=-1
            )
    counts = np.cumsum([0, *(unit[..., 0].size for unit, _ in patches)])
    faces = [_cells(*unit.shape[:2]) + start for (unit, _), start in zip(patches, counts[:-1], strict=True)]
    return Surface(
        np.concatenate([v.reshape(-1, 3) for v in vertices]),
        np.concatenate([unit.reshape(-1, 3) for unit, _ in patches]),
        np.concatenate([uv.reshape(-1, 2) for _, uv in patches]),
        np.concatenate(faces).astype(np.int32),
    )


def _cells(rows: int, columns: int) -> NDArray[np.int64]:
    """Two faces for each cell of a grid; they look to where columns cross rows."""
    at = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (x.ravel() for x in (at[:-1, :-1], at[:-1, 1:], at[1:, 1:], at[1:, :-1]))
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _box() -> Iterator[tuple[Array, Array]]:
    """Six sides, each with all of the picture, which is upright where z is up."""
    u, v = np.meshgrid([-1.0, 1.0], [-1.0, 1.0])
    for axis in range(3):
        one, other = (k for k in range(3) if k != axis)
        for end in (-1.0, 1.0):
            unit = np.empty((2, 2, 3))
            unit[..., axis], unit[..., one], unit[..., other] = end, u, v
            uv = np.stack([u + 1, v + 1], axis=-1) / 2
            outward = end if axis != 1 else -end
            yield (unit, uv) if outward > 0 else (unit[:, ::-1], uv[:, ::-1])


def _turn(rows: int) -> tuple[Array, Array]:
    """Angles (rows, columns) once around z, back to 0, and what part of the turn they are."""
    part = np.broadcast_to(np.linspace(0.0, 1.0, _AROUND + 1), (rows, _AROUND + 1))
    return 2 * np.pi * (part % 1), part


def _ball(low: float, high: float) -> tuple[Array, Array]:
    """A sphere from one height to another, in quarters of a turn; the picture goes around, its top is up."""
    count = round(_OVER * (high - low) / 2)
    angle, part = _turn(count + 1)
    rise = np.linspace(low, high, count + 1)[:, None] * np.ones_like(angle)
    out, up = np.where(np.abs(rise) < 1, np.cos(np.pi / 2 * rise), 0.0), np.sin(np.pi / 2 * rise)
    unit = np.stack([np.cos(angle) * out, np.sin(angle) * out, up], axis=-1)
    return unit, np.stack([part, (rise - low) / (high - low)], axis=-1)


def _side() -> tuple[Array, Array]:
    """Of a cylinder: the picture goes around, its top is up."""
    angle, part = _turn(_ALONG + 1)
    z = np.linspace(-1.0, 1.0, _ALONG + 1)[:, None] * np.ones_like(angle)
    return np.stack([np.cos(angle), np.sin(angle), z], axis=-1), np.stack([part, (z + 1) / 2], axis=-1)


def _ends() -> Iterator[tuple[Array, Array]]:
    """Of a cylinder: each has a disk of the picture."""
    angle, _ = _turn(_ALONG + 1)
    for end in (-1.0, 1.0):
        r = np.linspace(0.0, 1.0, _ALONG + 1)[:: int(-end), None] * np.ones_like(angle)
        x, y = r * np.cos(angle), r * np.sin(angle)
        yield np.stack([x, y, np.full_like(x, end)], axis=-1), np.stack([0.5 + 0.5 * x, 0.5 - 0.5 * y], axis=-1)


def _caps() -> Iterator[tuple[Array, Array]]:
    """Of a capsule: each has all of the picture."""
    for low, high, end in ((-1.0, 0.0, -1.0), (0.0, 1.0, 1.0)):
        unit, uv = _ball(low, high)
        unit[..., 2] += end
        yield unit, uv
