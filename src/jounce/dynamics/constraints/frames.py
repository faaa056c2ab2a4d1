"""The frames A and B that a constraint connects, at a state: where they are and how B moves relative to A."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce.parts.constraints import ConstraintRecord

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


class Relative(NamedTuple):
    """B in A, all in A's axes."""

    p: Array  # (..., 3) origin of B
    R: Array  # (..., 3, 3) axes of B
    v: Array  # (..., 3) rate of p
    w: Array  # (..., 3) angular velocity of B relative to A


def placed(model: Model, record: ConstraintRecord, q: ArrayLike) -> tuple[Array, Array]:
    """The poses (..., 4, 4) of A and B in the world."""
    b = _pose(model, record.b, q) @ record.pose_b
    if record.held:
        return _pose(model, record.a, q) @ record.pose_a, b
    a = b.copy()
    if record.upright:
        a[..., :3, :3] = np.eye(3)
    return a, b


def relative(model: Model, record: ConstraintRecord, q: ArrayLike, v: Array | None = None) -> Relative:
    """The pose of B in A and its motion there at a velocity v (..., nv); at rest if v is None."""
    a, b = placed(model, record, q)
    Rt = np.swapaxes(a[..., :3, :3], -1, -2)
    R = Rt @ b[..., :3, :3]
    apart = b[..., :3, 3] - a[..., :3, 3]
    p = apply(Rt, apart)
    if v is None:
        return Relative(p, R, np.zeros_like(p), np.zeros_like(p))
    b_linear, b_angular = _twist(model, record.b, q, v, b)
    a_linear, a_angular = _twist(model, record.a, q, v, a) if record.held else (np.zeros(3), np.zeros(3))
    linear = b_linear - a_linear - np.cross(a_angular, apart)
    return Relative(p, R, apply(Rt, linear), apply(Rt, b_angular - a_angular))


def apply(matrix: NDArray[np.floating[Any]], vector: NDArray[np.floating[Any]]) -> Array:
    """Matrices (..., m, n) times vectors (..., n)."""
    result: Array = np.einsum("...ij,...j->...i", matrix, vector)
    return result


def _pose(model: Model, name: str, q: ArrayLike) -> Array:
    return np.eye(4) if name == "world" else model.pose(name, q)


def _twist(model: Model, name: str, q: ArrayLike, v: Array, frame: Array) -> tuple[Array, Array]:
    """The velocity of a frame's origin and its angular velocity, in world axes; it is fixed in the frame `name`."""
    if name == "world":
        return np.zeros(3), np.zeros(3)
    twist = model.twist(name, q, v[..., None, :], frame="mixed", velocity_frame="body")[..., 0, :]
    arm = frame[..., :3, 3] - model.pose(name, q)[..., :3, 3]
    return twist[..., :3] + np.cross(twist[..., 3:], arm), twist[..., 3:]
