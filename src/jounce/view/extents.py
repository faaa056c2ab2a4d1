"""How far a robot reaches: boxes around what is drawn, for the camera, and its lowest point, for the floor.

The corners of a box around a part are never inside it, so all of the robot is in the picture. But a floor under the
corners would be too low: a ball that has turned stands on its surface. So of the lowest parts, the points count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.parts.visual import Box, Capsule, Cylinder, Ellipsoid, Sphere
from jounce.view.wraps import Solid, half_sizes

Array = NDArray[np.float64]


class Extents:
    """Of the parts of a robot, each on a frame: a number, -1 for the world."""

    def __init__(self) -> None:
        self._frames: list[int] = []
        self._placements: list[Array] = []
        self._parts: list[Solid | NDArray[np.float32]] = []
        self._corners: list[Array] = []

    def add(self, frame: int, placement: Array, part: Solid | NDArray[np.float32]) -> None:
        """Adds a shape, or the vertices (V, 3) of a mesh, placed (4, 4) in the frame."""
        low, high = _ends(part)
        corners = np.array(np.meshgrid(*np.stack([low, high], axis=1), indexing="ij"), dtype=np.float64)
        self._frames.append(frame)
        self._placements.append(placement)
        self._parts.append(part)
        self._corners.append(corners.reshape(3, -1).T @ placement[:3, :3].T + placement[:3, 3])

    @property
    def around(self) -> NDArray[np.bool_]:
        """(n,) which parts are on the world: what stands around the robot."""
        return np.array(self._frames, dtype=np.intp) < 0

    def corners(self, poses: Array) -> Array:
        """(n, 8, 3) of the boxes around the parts, for poses (frames + 1, 4, 4), the last that of the world."""
        at = poses[np.array(self._frames, dtype=np.intp)]
        own = np.array(self._corners).reshape(-1, 8, 3)
        return np.asarray(np.einsum("nij,nkj->nki", at[:, :3, :3], own) + at[:, None, :3, 3])

    def lowest(self, poses: Array) -> float:
        """The least z of all parts; infinity if there are none."""
        least = self.corners(poses)[..., 2].min(axis=1, initial=np.inf)
        found = np.inf
        for i in np.argsort(least):
            if least[i] >= found:
                break
            at = poses[self._frames[i]] @ self._placements[i]
            found = min(found, float(at[2, 3] - _down(self._parts[i], at[2, :3])))
        return found


def _ends(part: Solid | NDArray[np.float32]) -> tuple[Array, Array]:
    """The minimum and maximum x, y and z; column by column, which is much quicker than of all rows at once."""
    if isinstance(part, np.ndarray):
        low, high = (np.array([float(end(column)) for column in part.T]) for end in (np.min, np.max))
        return low, high
    half = half_sizes(part)
    if isinstance(part, Capsule):
        half[2] += part.radius
    return -half, half


def _down(part: Solid | NDArray[np.float32], up: Array) -> float:
    """How far a part reaches below its origin; `up` (3,) has length 1."""
    if isinstance(part, np.ndarray):
        return -float((part @ up.astype(np.float32)).min())
    if isinstance(part, Box):
        return float(np.abs(up) @ half_sizes(part))
    if isinstance(part, Sphere):
        return part.radius
    if isinstance(part, Ellipsoid):
        return float(np.linalg.norm(up * part.radii))
    along = abs(float(up[2])) * part.length / 2
    return along + (part.radius * float(np.hypot(up[0], up[1])) if isinstance(part, Cylinder) else part.radius)
