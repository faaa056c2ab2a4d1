"""The wrenches that multipliers of constraints stand for, at one instant.

With the rows N of a constraint on [v; w] of B relative to A (constraint.hpp), the wrench on B is N^T l about its
origin, and A takes the opposite one. `ConstrainedDynamics.forces` has the same with derivatives, from the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .constraint_frames import apply, placed
from .constraints import ConstraintRecord, Distance, Gear, Rolling, constant_rows
from .joints import Universal

if TYPE_CHECKING:
    from .model import Model

Array = NDArray[np.float64]


def constraint_wrenches(model: Model, q: ArrayLike, multipliers: Array, wrench_frame: str) -> dict[str, Array]:
    """For each constraint its wrench (..., 6) on the first body, or the forces (..., 2) of a gear."""
    return {
        c.name: _wrench(model, c, q, multipliers[..., model.constraint_rows(c.name)], wrench_frame)
        for c in model.constraints
    }


def rows_at(model: Model, record: ConstraintRecord, q: ArrayLike) -> Array:
    """The rows N (..., count, 6) of a constraint that is no gear, in A's axes."""
    a, b = placed(model, record, q)
    kind, constant = record.kind, constant_rows(record.kind)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows: Array = np.broadcast_to(constant, (*lead, *constant.shape)).copy()
    Rt = np.swapaxes(a[..., :3, :3], -1, -2)
    turned = Rt @ b[..., :3, :3]
    if isinstance(kind, Distance):
        rows[..., 0, :3] = apply(Rt, b[..., :3, 3] - a[..., :3, 3])
    elif isinstance(kind, Universal):
        rows[..., 3, 3:] = np.cross(apply(turned, kind.second), kind.first)
    elif isinstance(kind, Rolling):
        down: Array = np.broadcast_to(-kind.normal, rows[..., 0, :3].shape)
        if kind.axis is not None:
            axis = apply(turned, kind.axis)
            down = (axis @ kind.normal)[..., None] * axis - kind.normal
        down = down / np.linalg.norm(down, axis=-1, keepdims=True)
        rows[..., 3:] = np.cross(kind.radius * down[..., None, :], rows[..., :3])
    return rows


def _wrench(model: Model, record: ConstraintRecord, q: ArrayLike, l: Array, wrench_frame: str) -> Array:  # noqa: E741
    kind = record.kind
    if isinstance(kind, Gear):
        driver = np.asarray(q, dtype=np.float64)[..., model.position(record.a)]
        slope = np.polynomial.polynomial.polyval(driver, np.polynomial.polynomial.polyder(kind.polynomial))
        return np.concatenate(np.broadcast_arrays(-slope * l, l), axis=-1)
    a, b = placed(model, record, q)
    wrench = np.einsum("...ri,...r->...i", rows_at(model, record, q), l)
    force, moment = apply(a[..., :3, :3], wrench[..., :3]), apply(a[..., :3, :3], wrench[..., 3:])
    named = record.b
    if not record.contact and record.a != "world":
        named, force, moment = record.a, -force, -moment
    body = model.pose(named, q)
    about = np.zeros(3) if wrench_frame == "world" else body[..., :3, 3]
    moment = moment + np.cross(b[..., :3, 3] - about, force)
    if wrench_frame == "body":
        back = np.swapaxes(body[..., :3, :3], -1, -2)
        force, moment = apply(back, force), apply(back, moment)
    return np.concatenate([force, moment], axis=-1)
