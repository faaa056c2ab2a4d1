"""The wrenches that correspond to multipliers of constraints, at one instant.

`ConstrainedDynamics.forces` has the same with derivatives, from the core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame
from jounce.dynamics.constraints.frames import apply
from jounce.parts.constraints import Gear

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


def constraint_wrenches(model: Model, q: ArrayLike, multipliers: Array, wrench_frame: Frame) -> dict[str, Array]:
    """For each constraint, its wrench (..., 6) on the first body, or the forces (..., 2) of a gear."""
    J, _, unit = model._constraint_rows(q, None, "body")
    found = {}
    for c in model.constraints:
        rows = model.constraint_rows(c.name)
        share = multipliers[..., rows]
        if isinstance(c.kind, Gear):
            joints = [model.coordinate(name).start for name in (c.a, c.b)]
            factors = J[..., 0, rows.start, joints]
            found[c.name] = (factors - [1.0, 0.0] if c.a == c.b else factors) * share  # then both share one column
            continue
        wrench = np.einsum("...ri,...r->...i", unit[..., rows, :], share)
        found[c.name] = wrench if wrench_frame == "world" else _about(model.pose(c.named, q), wrench, wrench_frame)
    return found


def _about(pose: Array, wrench: Array, wrench_frame: Frame) -> Array:
    """A wrench given in world axes about the world's origin, moved to a frame's origin and into its axes."""
    force = wrench[..., :3]
    moment = wrench[..., 3:] - np.cross(pose[..., :3, 3], force)
    if wrench_frame == "body":
        back = np.swapaxes(pose[..., :3, :3], -1, -2)
        force, moment = apply(back, force), apply(back, moment)
    return np.concatenate([force, moment], axis=-1)
