"""Shapes in a scene, and the triangles of those that viser does not have: capsules, and tubes around a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.parts.visual import Box, Capsule, Cylinder, Ellipsoid, Sphere

Array = NDArray[np.float64]
Faces = NDArray[np.int32]
AROUND = 28  # corners of a ring
_CAP = 7  # rings of a half sphere


def add_solid(
    scene: Any, path: str, shape: Box | Sphere | Cylinder | Capsule | Ellipsoid, options: Mapping[str, Any]
) -> Any:
    """Adds a shape to viser's scene; returns its handle."""
    if isinstance(shape, Box):
        return scene.add_box(path, dimensions=shape.size, **options)
    if isinstance(shape, Sphere):
        return scene.add_icosphere(path, radius=shape.radius, subdivisions=3, **options)
    if isinstance(shape, Cylinder):
        return scene.add_cylinder(path, radius=shape.radius, height=shape.length, radial_segments=48, **options)
    if isinstance(shape, Ellipsoid):
        return scene.add_icosphere(path, radius=1.0, subdivisions=3, scale=shape.radii, **options)
    return scene.add_mesh_simple(path, *capsule(shape.radius, shape.length), **options)


def capsule(radius: float, length: float) -> tuple[Array, Faces]:
    """Vertices (V, 3) and faces (F, 3) of a capsule along z, its middle at the origin."""
    polar = np.linspace(0.0, np.pi / 2, _CAP)
    z = np.concatenate([-length / 2 - radius * np.cos(polar), length / 2 + radius * np.sin(polar)])
    r = np.concatenate([radius * np.sin(polar), radius * np.cos(polar)])
    return rings(np.stack([0 * z, 0 * z, z], axis=1), np.tile(np.eye(3), (len(z), 1, 1)), r[:, None])


def rings(centres: Array, axes: Array, radii: Array) -> tuple[Array, Faces]:
    """The surface through rings in the x-y planes of their axes, closed at both ends.

    Args:
        centres: (S, 3).
        axes: (S, 3, 3) rotations.
        radii: (S, 1), or (S, AROUND) from x towards y.
    """
    angle = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros(AROUND)], axis=1)
    around = centres[:, None, :] + np.broadcast_to(radii, (len(radii), AROUND))[..., None] * (
        out @ np.swapaxes(axes, -1, -2)
    )
    vertices = np.concatenate([around.reshape(-1, 3), centres[:1], centres[-1:]])
    return vertices, ring_faces(len(centres))


def ring_faces(count: int) -> Faces:
    """Faces between `count` rings, and of the two ends."""
    j = np.arange(AROUND)
    k = (j + 1) % AROUND
    sides = []
    for i in range(count - 1):
        a, b = AROUND * i, AROUND * (i + 1)
        sides += [np.stack([a + j, a + k, b + k], axis=1), np.stack([a + j, b + k, b + j], axis=1)]
    near, far, last = AROUND * count, AROUND * count + 1, AROUND * (count - 1)
    ends = [np.stack([0 * j + near, k, j], axis=1), np.stack([0 * j + far, last + j, last + k], axis=1)]
    return np.concatenate([*sides, *ends]).astype(np.int32)
