"""Rotations and quaternions w x y z, as MuJoCo and browsers have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def rotation(quaternion: ArrayLike) -> Array:
    """Of a quaternion w x y z of any length; the identity where that is zero, as in MuJoCo."""
    given = np.asarray(quaternion, dtype=np.float64)
    length = float(np.linalg.norm(given))
    w, x, y, z = given / length if length > 0 else (1.0, 0.0, 0.0, 0.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose(position: ArrayLike, quaternion: ArrayLike) -> Array:
    """(4, 4) of a position and a quaternion w x y z."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation(quaternion), position
    return made


def shift(by: ArrayLike) -> Array:
    """(4, 4) of a translation."""
    made = np.eye(4)
    made[:3, 3] = by
    return made


def inverse(given: Array) -> Array:
    """Of a pose (4, 4)."""
    back = np.eye(4)
    back[:3, :3] = given[:3, :3].T
    back[:3, 3] = -given[:3, :3].T @ given[:3, 3]
    return back


def quaternions(rotations: Array) -> Array:
    """Quaternions w x y z (..., 4) of rotations (..., 3, 3), each from its largest component."""
    R = np.asarray(rotations, dtype=np.float64)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], axis=-1)
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 1, 0] + R[..., 0, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 2, 1] + R[..., 1, 2]
    w, x, y, z = np.moveaxis(squares, -1, 0)
    rows = np.stack(
        [
            np.stack([w, a, b, c], axis=-1),
            np.stack([a, x, d, e], axis=-1),
            np.stack([b, d, y, f], axis=-1),
            np.stack([c, e, f, z], axis=-1),
        ],
        axis=-2,
    )
    largest = np.argmax(squares, axis=-1)
    chosen = np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(chosen / np.linalg.norm(chosen, axis=-1, keepdims=True))
