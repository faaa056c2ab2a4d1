"""Meshes with their edges: vertices split where the surface bends sharply.

A browser shades a vertex by the mean of the normals of its faces, so that it looks round. That is right within a smooth
surface and wrong across an edge, where each side must have its own vertices. Corners of faces that share a vertex
belong together if a chain of faces around it, each at less than the crease angle to the next, connects them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vertices = NDArray[np.float32]
Faces = NDArray[np.int32]
CREASE = np.cos(np.radians(32.0))


def creased(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces]:
    """The same surface with vertices (V, 3) split at creases; elsewhere, vertices at the same place are merged."""
    split, corners, _ = split_at_creases(vertices, faces)
    return split, corners


def split_at_creases(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces, NDArray[np.bool_]]:
    """As `creased`, and which faces (F,) were kept: those that are not just a line."""
    _, joined = np.unique(vertices.view(f"V{vertices.itemsize * 3}").ravel(), return_inverse=True)
    corner = joined.reshape(-1)[faces]
    places = np.empty((int(joined.max(initial=-1)) + 1, 3), dtype=np.float32)
    places[joined.reshape(-1)] = vertices
    whole = (corner[:, 0] != corner[:, 1]) & (corner[:, 1] != corner[:, 2]) & (corner[:, 2] != corner[:, 0])
    corner = corner[whole]
    if not len(corner):
        return vertices, faces, np.ones(len(faces), dtype=bool)
    a, b, c = (places[corner[:, i]].astype(np.float64) for i in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    group = _grouped(3 * len(corner), *_smooth(corner, normal))
    kept, index = np.unique(group, return_inverse=True)
    return places[corner.ravel()[kept]], index.reshape(-1, 3).astype(np.int32), whole


def _smooth(corner: NDArray[np.int64], normal: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of corners, each 3 face + place, that belong together across an edge."""
    count = len(corner)
    start = np.concatenate([corner[:, i] for i in range(3)])
    end = np.concatenate([corner[:, (i + 1) % 3] for i in range(3)])
    face = np.tile(np.arange(count), 3)
    at_start = 3 * face + np.repeat(np.arange(3), count)
    at_end = 3 * face + np.repeat([1, 2, 0], count)
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    one, other = order[:-1][same], order[1:][same]
    flat = np.einsum("ij,ij->i", normal[face[one]], normal[face[other]]) > CREASE
    one, other = one[flat], other[flat]
    along = start[one] == start[other]  # otherwise the edge runs the opposite way on the other face, as it should
    first = np.where(along, at_start[other], at_end[other])
    second = np.where(along, at_end[other], at_start[other])
    return np.concatenate([at_start[one], at_end[one]]), np.concatenate([first, second])


def _grouped(count: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each index, the smallest index in its group; the pairs belong to the same group."""
    label = np.arange(count)
    while True:
        least = np.minimum(label[one], label[other])
        new = label.copy()
        np.minimum.at(new, one, least)
        np.minimum.at(new, other, least)
        new = new[new]
        if np.array_equal(new, label):
            return label
        label = new
