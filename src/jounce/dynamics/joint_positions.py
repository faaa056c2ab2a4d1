"""Configurations from the positions of joints by name, and back: with poses and rotations in place of quaternions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import batch_of, quoted, reals, rows_of
from jounce.parts.joints import Free, Joint, Spherical
from jounce.parts.pose import quaternions

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_FAR = 1e-6  # of a quaternion from unit length, of a matrix from a rotation


def configuration(model: Model, positions: Mapping[str, ArrayLike]) -> Array:
    """See `Model.configuration`."""
    if not isinstance(positions, Mapping):
        raise ValueError(f"positions is {quoted(positions)}, expected a mapping from joint names to positions")
    joints = {name: body.joint for name, (body, _) in zip(model._coordinates, model._moving(), strict=True)}
    found: dict[str, Array] = {}
    for name, value in positions.items():
        where = model.position(name)
        found[name] = _coordinates(f"positions[{name!r}]", joints[name], where.stop - where.start, value)
    lead = batch_of(**{f"positions[{name!r}]": x.shape[:-1] for name, x in found.items()})
    q = np.broadcast_to(model.neutral(), (*lead, model.nq)).copy()
    for name, x in found.items():
        q[..., model.position(name)] = x
    return q


def joint_positions(model: Model, q: ArrayLike) -> dict[str, Array]:
    """See `Model.joint_positions`."""
    given = rows_of("q", q, model.nq, "nq")
    found: dict[str, Array] = {}
    for name, (body, _) in zip(model._coordinates, model._moving(), strict=True):
        x = given[..., model.position(name)]
        if isinstance(body.joint, (Free, Spherical)):
            turn = _rotations(f"q, of joint {name!r},", x[..., -4:])
            found[name] = _poses(turn, x[..., :3]) if isinstance(body.joint, Free) else turn
        else:
            found[name] = x[..., 0].copy() if x.shape[-1] == 1 else x.copy()
    return found


def _coordinates(what: str, joint: Joint, nq: int, value: ArrayLike) -> Array:
    """(..., nq) of one joint."""
    given = reals(what, value)
    if not np.isfinite(given).all():
        raise ValueError(f"{what} contains nan or inf, expected finite numbers")
    if isinstance(joint, Free) and given.shape[-2:] == (4, 4):
        if np.abs(given[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(initial=0.0) > 1e-9:
            raise ValueError(f"{what} has a last row other than [0, 0, 0, 1], expected poses (..., 4, 4)")
        return np.concatenate([given[..., :3, 3], _quaternions(what, given[..., :3, :3])], axis=-1)
    if isinstance(joint, Spherical) and given.shape[-2:] == (3, 3):
        return _quaternions(what, given)
    if nq == 1:
        return given[..., None]
    if given.shape[-1:] != (nq,):
        also = " or a pose (..., 4, 4)" if isinstance(joint, Free) else ""
        also = " or a rotation (..., 3, 3)" if isinstance(joint, Spherical) else also
        raise ValueError(f"{what} has shape {given.shape}, expected (..., {nq}){also}")
    if isinstance(joint, (Free, Spherical)):
        return np.concatenate([given[..., :-4], _unit(what, given[..., -4:])], axis=-1)
    return given


def _unit(what: str, quaternion: Array) -> Array:
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if np.abs(length - 1).max(initial=0.0) > _FAR:
        raise ValueError(f"{what} has a quaternion of length {_worst(length, 1):g}, expected x y z w of length 1")
    return np.asarray(quaternion / length)


def _quaternions(what: str, R: Array) -> Array:
    """x y z w (..., 4), w not negative."""
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if not off < _FAR or (np.linalg.det(R) < 0).any():
        raise ValueError(f"{what} has a block that is not a rotation, expected R with R Rᵀ = 1 and det R = 1")
    w_first = quaternions(R)
    w_first = np.where(w_first[..., :1] < 0, -w_first, w_first)
    return _unit(what, np.roll(w_first, -1, axis=-1))


def _rotations(what: str, quaternion: Array) -> Array:
    """(..., 3, 3)."""
    unit = _unit(what, quaternion)
    u, w = unit[..., :3], unit[..., 3, None, None]
    cross = np.zeros((*u.shape[:-1], 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        cross[..., k, j], cross[..., j, k] = u[..., i], -u[..., i]
    return np.asarray(np.eye(3) + 2 * w * cross + 2 * cross @ cross)


def _poses(R: Array, x: Array) -> Array:
    made = np.zeros((*x.shape[:-1], 4, 4))
    made[..., :3, :3], made[..., :3, 3], made[..., 3, 3] = R, x, 1.0
    return made


def _worst(found: Array, expected: float) -> float:
    flat = found.ravel()
    return float(flat[np.abs(flat - expected).argmax()])
