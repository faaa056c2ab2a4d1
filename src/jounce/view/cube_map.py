"""Pictures on the six sides of a cube around a shape: a point has the colour where a ray to it meets the cube.

A triangle that is seen on several sides is cut where they meet. Within a triangle the picture is not quite linear; the
triangles of shapes are small enough for that not to be seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.view.mesh_parsing import MAX_FACES, MeshError

Array = NDArray[np.float64]
Rows = NDArray[np.uint8]
_MEET = np.array([[1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]], dtype=np.float64)
# For +x, -x, +y, -y, +z, -z: what is to the right and up on the picture, as OpenGL has it
_RIGHT = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0], [-1, 0, 0]], dtype=np.float64)
_UP = np.array([[0, 1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1], [0, 1, 0], [0, 1, 0]], dtype=np.float64)
_RIM = 4  # pixels around a picture, so that its neighbours do not shine through


def on_cube(vertices: Array, rays: Array, faces: NDArray[np.int32]) -> tuple[Array, NDArray[np.int32], Array]:
    """A surface on the sides of a cube.

    Args:
        vertices: (V, 3).
        rays: (V, 3) from the middle of the cube to them.
        faces: (F, 3).

    Returns:
        corners (G, 3, 3) of its triangles, their sides (G,) in the order +x -x +y -y +z -z, and where they are on the
        pictures of these (G, 3, 2), from 0 to 1 and from the lower left.

    Raises:
        MeshError: there would be too many triangles.
    """
    corners = np.concatenate([vertices, rays], axis=1)[faces]
    for normal in _MEET:
        corners = _cut(corners, corners[..., 3:] @ normal)
    middle = corners[..., 3:].mean(axis=1)
    axis = np.abs(middle).argmax(axis=1)
    side = (2 * axis + (np.take_along_axis(middle, axis[:, None], axis=1)[:, 0] < 0)).astype(np.int32)
    ray = corners[..., 3:]
    depth = np.abs(np.take_along_axis(ray, axis[:, None, None], axis=2)[..., 0])
    depth = np.maximum(depth, 1e-300)
    st = [np.clip(np.einsum("gij,gj->gi", ray, to[side]) / depth, -1.0, 1.0) for to in (_RIGHT, _UP)]
    return corners[..., :3], side, (np.stack(st, axis=-1) + 1) / 2


def _cut(corners: Array, height: Array) -> Array:
    """Triangles (F, 3, n) cut where their heights (F, 3) above a plane are 0."""
    flat = 1e-9 * np.abs(height).max(initial=1e-300)
    across = (height.min(axis=1) < -flat) & (height.max(axis=1) > flat)
    if len(corners) + 2 * across.sum() > MAX_FACES:
        why = "that are drawn, once it is cut for the picture on it"
        raise MeshError(f"has more than the {MAX_FACES:,} faces {why}")
    whole, cut, h = corners[~across], corners[across], height[across]
    above = h > flat
    lone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (h < -flat).argmax(axis=1))
    turn = (lone[:, None] + np.arange(3)) % 3
    cut, h = np.take_along_axis(cut, turn[..., None], axis=1), np.take_along_axis(h, turn, axis=1)
    a, b, c = cut[:, 0], cut[:, 1], cut[:, 2]
    p, q = (a + (h[:, 0] / (h[:, 0] - h[:, k]))[:, None] * (cut[:, k] - a) for k in (1, 2))
    parts = np.concatenate([np.stack(t, axis=1) for t in ((a, p, q), (p, b, c), (p, c, q))])
    edges = parts[:, 1:, :3] - parts[:, :1, :3]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    return np.concatenate([whole, parts[area >= 1e-12 * area.max(initial=0.0)]])


def sheet(sides: list[Rows]) -> tuple[Rows, Array, Array]:
    """Six pictures (W, W, 3) in one: its rows, and for each side the corner (6, 2) and extent (6, 2) on that."""
    if all(side is sides[0] or np.array_equal(side, sides[0]) for side in sides):
        return sides[0], np.zeros((6, 2)), np.ones((6, 2))
    width = sides[0].shape[0]
    tile = width + 2 * _RIM
    rows = np.empty((2 * tile, 3 * tile, 3), dtype=np.uint8)
    first = np.empty((6, 2))
    for k, side in enumerate(sides):
        i, j = divmod(k, 3)
        rows[tile * i : tile * (i + 1), tile * j : tile * (j + 1)] = np.pad(
            side, ((_RIM, _RIM), (_RIM, _RIM), (0, 0)), mode="edge"
        )
        first[k] = (tile * j + _RIM) / (3 * tile), 1 - (tile * i + _RIM + width) / (2 * tile)
    return rows, first, np.broadcast_to([width / (3 * tile), width / (2 * tile)], (6, 2))
