"""Coordinates of the joints that close loops, computed from those of the tree.

A joint that closes a loop has no coordinates of its own in q: they follow from the pose of its frame B in its frame A.
They, and their rates, are those that the same joint would have in the tree (see `joints`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import a_class, batch_of, quoted, rows_of
from jounce.dynamics.constraints.frames import Relative, apply, relative
from jounce.errors import SingularError
from jounce.parts.constraints import Distance, OnLine
from jounce.parts.joints import Cylindrical, Fixed, Helical, Planar, Prismatic, Revolute, Spherical, Universal

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


def loop_coordinate(model: Model, name: str, q: ArrayLike, v: ArrayLike | None) -> Any:
    """See `Model.loop_coordinate`."""
    record = model.constraints[model._constraint_index(name)]
    if not record.held:
        raise ValueError(
            f"contact {quoted(name)} is held wherever it is, so its joint has no coordinates: give Contact(..., pose=)"
        )
    position, velocity = _READ.get(type(record.kind), (None, None))
    if position is None or velocity is None:
        raise ValueError(f"constraint {quoted(name)} is {a_class(record.kind)}, which has no coordinates")
    if v is None:
        return position(record.kind, relative(model, record, q))
    speed = rows_of("v", v, model.nv, "nv")
    batch_of(q=rows_of("q", q, model.nq, "nq").shape[:-1], v=speed.shape[:-1])
    motion = relative(model, record, q, speed)
    where, rate = position(record.kind, motion), velocity(record.kind, motion)
    if not np.isfinite(rate).all():
        raise SingularError(
            f"constraint {quoted(name)}: its points coincide, and their distance has no derivative there"
        )
    lead = np.broadcast_shapes(where.shape[:-1], rate.shape[:-1])
    return np.broadcast_to(where, (*lead, where.shape[-1])).copy(), rate


def _columns(*parts: Array) -> Array:
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _nothing(kind: Fixed, b: Relative) -> Array:
    return np.zeros((*np.broadcast_shapes(b.p.shape[:-1], b.v.shape[:-1]), 0))


def _turn(R: Array, axis: Array) -> Array:
    """The angle by which R turns about an axis, -pi to pi; the nearest one if R also turns about other axes."""
    twice = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)
    along = np.einsum("i,...ij,j", axis, R, axis)
    result: Array = np.arctan2(twice @ axis, np.trace(R, axis1=-2, axis2=-1) - along)
    return result


def _screw_angle(kind: Helical, b: Relative) -> Array:
    """The angle that matches the advance of the screw, of all that differ by full turns."""
    angle = _turn(b.R, kind.axis)
    if kind.pitch != 0:
        angle = angle + 2 * np.pi * np.round((b.p @ kind.axis / kind.pitch - angle) / (2 * np.pi))
    return _columns(angle)


def _universal(kind: Universal, b: Relative) -> Array:
    turned = apply(b.R, kind.second)  # the first turn alone moves the second axis
    across = kind.second - (kind.first @ kind.second) * kind.first
    first = np.arctan2(turned @ np.cross(kind.first, across), turned @ across)
    back = _rotation(kind.first, -first)
    return _columns(first, _turn(back @ b.R, kind.second))


def _universal_rates(kind: Universal, b: Relative) -> Array:
    turned = apply(b.R, kind.second)
    axes = np.stack([np.broadcast_to(kind.first, turned.shape), turned], axis=-1)  # w = axes rates
    return apply(np.linalg.pinv(axes), b.w)


def _rotation(axis: Array, angle: Array) -> Array:
    """Rot(axis, angle)."""
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    s, c = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    result: Array = c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis)
    return result


def _quaternion(kind: Spherical, b: Relative) -> Array:
    """x y z w, with w >= 0: from the longest column of 4 q q^T, which avoids cancellation."""
    R = b.R
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    trace = np.trace(R, axis1=-2, axis2=-1)
    square = np.empty((*R.shape[:-2], 4, 4))
    square[..., :3, :3] = R + np.swapaxes(R, -1, -2) + (1 - trace)[..., None, None] * np.eye(3)
    square[..., 3, :3] = square[..., :3, 3] = np.stack([x, y, z], axis=-1)
    square[..., 3, 3] = 1 + trace
    longest = np.argmax(np.diagonal(square, axis1=-2, axis2=-1), axis=-1)
    column = np.take_along_axis(square, longest[..., None, None], axis=-1)[..., 0]
    column = column / np.linalg.norm(column, axis=-1, keepdims=True)
    result: Array = np.where(column[..., 3:] < 0, -column, column)
    return result


def _distance(kind: Distance, b: Relative) -> Array:
    return _columns(np.linalg.norm(b.p, axis=-1))


def _distance_rate(kind: Distance, b: Relative) -> Array:
    with np.errstate(invalid="ignore"):
        return _columns(np.sum(b.p * b.v, axis=-1) / np.linalg.norm(b.p, axis=-1))


_READ: dict[type, tuple[Any, Any]] = {
    Fixed: (_nothing, _nothing),
    Revolute: (lambda k, b: _columns(_turn(b.R, k.axis)), lambda k, b: _columns(b.w @ k.axis)),
    Prismatic: (lambda k, b: _columns(b.p @ k.axis), lambda k, b: _columns(b.v @ k.axis)),
    Helical: (_screw_angle, lambda k, b: _columns(b.w @ k.axis)),
    Cylindrical: (
        lambda k, b: _columns(b.p @ k.axis, _turn(b.R, k.axis)),
        lambda k, b: _columns(b.v @ k.axis, b.w @ k.axis),
    ),
    Planar: (
        lambda k, b: _columns(b.p @ k.x, b.p @ k.y, _turn(b.R, np.cross(k.x, k.y))),
        lambda k, b: _columns(b.v @ k.x, b.v @ k.y, b.w @ np.cross(k.x, k.y)),
    ),
    Universal: (_universal, _universal_rates),
    Spherical: (_quaternion, lambda k, b: apply(np.swapaxes(b.R, -1, -2), b.w)),
    Distance: (_distance, _distance_rate),
    OnLine: (lambda k, b: _columns(b.p @ k.axis), lambda k, b: _columns(b.v @ k.axis)),
}
