"""MuJoCo's positions and quaternions as poses (4, 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def shift(by: Sequence[float] | Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = by
    return pose


def pose_of(position: Array, quaternion: Array) -> Array:
    pose = shift(position)
    pose[:3, :3] = rotation(quaternion)
    return pose


def rotation(quaternion: Array) -> Array:
    """Of a quaternion w x y z of any length; the identity where that is zero, as in MuJoCo."""
    length = float(np.linalg.norm(quaternion))
    w, x, y, z = quaternion / length if length > 0 else (1.0, 0.0, 0.0, 0.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
