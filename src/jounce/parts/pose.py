"""Exponentials of twists; rotations and quaternions w x y z, as MuJoCo and browsers have them."""

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


def exponential(omega: Array) -> Array:
    """exp of twists (..., 6) [linear; angular] as poses (..., 4, 4)."""
    v, w = omega[..., :3], omega[..., 3:]
    square = (w * w).sum(axis=-1)
    t = np.sqrt(square)
    small = t < 1e-4
    safe = np.where(small, 1.0, t)
    sine = np.sin(safe) / safe
    a = np.where(small, 1 - square / 6, sine)
    b = 2 * np.where(small, 0.5 - square / 48, np.sin(safe / 2) / safe) ** 2
    c = np.where(small, 1 / 6 - square / 120, (1 - sine) / safe**2)
    pose = np.zeros((*t.shape, 4, 4))
    aw, bw = a[..., None] * w, b[..., None] * w
    np.multiply(bw[..., :, None], w[..., None, :], out=pose[..., :3, :3])  # 1 + a [w] + b [w]^2
    pose.reshape(*t.shape, 16)[..., :15:5] += (1 - b * square)[..., None]
    pose[..., :3, 3] = (1 - c * square)[..., None] * v + (c * (w * v).sum(axis=-1))[..., None] * w
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        pose[..., i, j] -= aw[..., k]
        pose[..., j, i] += aw[..., k]
        pose[..., k, 3] += bw[..., i] * v[..., j] - bw[..., j] * v[..., i]
    pose[..., 3, 3] = 1.0
    return pose
