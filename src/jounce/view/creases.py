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
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)  # odd numbers


def creased(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces]:
    """The same surface with vertices (V, 3) split at creases; elsewhere, vertices at the same place are merged."""
    split, corners, _ = split_at_creases(vertices, faces)
    return split, corners


def split_at_creases(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces, NDArray[np.bool_]]:
    """As `creased`, and which faces (F,) were kept: those that are not just a line."""
    places, joined = _merged(vertices)
    corner = joined[faces]
    whole = (corner[:, 0] != corner[:, 1]) & (corner[:, 1] != corner[:, 2]) & (corner[:, 2] != corner[:, 0])
    corner = corner[whole]
    if not len(corner):
        return vertices, faces, np.ones(len(faces), dtype=bool)
    group = _grouped(3 * len(corner), *_smooth(corner, _normals(places, corner)))
    first = group == np.arange(len(group))  # a group has the name of its first corner
    index = (np.cumsum(first, dtype=np.int32) - 1)[group]
    return places[corner.ravel()[first]], index.reshape(-1, 3), whole


def _merged(vertices: Vertices) -> tuple[Vertices, NDArray[np.intp]]:
    """The different places (P, 3) among vertices, and which of them each vertex (V,) is at.

    Sorting numbers is several times faster than sorting rows, so rows are sorted by a number made of their bits. In the
    unlikely case that two different rows make the same number, the rows themselves are sorted.
    """
    bits = np.ascontiguousarray(vertices + np.float32(0)).view(np.uint32).astype(np.uint64)  # -0 is 0
    number = (bits[:, 0] * _MIX[0] + bits[:, 1]) * _MIX[1] + bits[:, 2] * _MIX[2]
    order = np.argsort(number)
    same = number[order][1:] == number[order][:-1]
    if not (bits[order[1:][same]] == bits[order[:-1][same]]).all():
        order = np.lexsort(bits.T)
        same = (bits[order[1:]] == bits[order[:-1]]).all(axis=1)
    new = np.concatenate([np.ones(min(len(order), 1), dtype=bool), ~same])
    joined = np.empty(len(order), dtype=np.intp)
    joined[order] = np.cumsum(new) - 1
    return vertices[order[new]], joined


def _normals(places: Vertices, corner: NDArray[np.intp]) -> NDArray[np.float64]:
    """(F, 3) of length 1; 0 for faces without area."""
    a, b, c = np.moveaxis(places.T.astype(np.float64)[:, corner], 2, 0)
    (x, y, z), (u, v, w) = b - a, c - a
    normal = np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=1)
    return np.asarray(normal / np.maximum(np.sqrt(np.einsum("ij,ij->i", normal, normal)), 1e-300)[:, None])


def _smooth(corner: NDArray[np.intp], normal: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of corners, each 3 face + place, that belong together across an edge."""
    start, end = corner.ravel(), corner[:, [1, 2, 0]].ravel()  # of edge 3 face + place
    at_end = np.arange(len(start)).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    edge = np.minimum(start, end) * (int(corner.max()) + 1) + np.maximum(start, end)
    order = np.argsort(edge, kind="stable")
    same = edge[order][1:] == edge[order][:-1]
    one, other = order[:-1][same], order[1:][same]
    flat = np.einsum("ij,ij->i", normal[one // 3], normal[other // 3]) > CREASE
    one, other = one[flat], other[flat]
    along = start[one] == start[other]  # otherwise the edge runs the opposite way on the other face, as it should
    first, second = np.where(along, other, at_end[other]), np.where(along, at_end[other], other)
    return np.concatenate([one, at_end[one]]), np.concatenate([first, second])


def _grouped(count: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each index, the smallest index in its group; the pairs belong to the same group."""
    label = np.arange(count)  # of a group so far, one of its indices, which is its own label
    while True:
        a, b = label[one], label[other]
        apart = a != b
        if not apart.any():
            return label
        np.minimum.at(label, np.maximum(a, b)[apart], np.minimum(a, b)[apart])
        while not np.array_equal(label, further := label[label]):
            label = further
