"""What a robot is made of, for the functions that change it: each takes such a tree and returns another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce._checks import near, quoted
from jounce.core_tables import BodyRecord, own_records
from jounce.parts.constraints import ConstraintRecord
from jounce.parts.sections import Shape

if TYPE_CHECKING:
    from jounce.parts.visual import Visual

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """The arguments of a `Model`."""

    bodies: Sequence[BodyRecord]
    gravity: Array
    constraints: Sequence[ConstraintRecord] = ()
    scenery: Sequence[Visual] = ()
    keyframes: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)  # by name, positions by joint

    def index(self, name: str) -> int:
        """Of a body or frame; -1 for the world."""
        return next((i for i, b in enumerate(self.bodies) if b.name == name), -1)

    @property
    def joints(self) -> dict[str, int]:
        """The body that each joint with coordinates carries, followers included."""
        return {b.joint_name: i for i, b in enumerate(self.bodies) if b.joint.nv}

    @property
    def shapes(self) -> dict[str, int]:
        """The soft body that each shape belongs to."""
        owners = {b.name: i for i, b in enumerate(self.bodies)}
        return {r.joint_name: owners[r.name] for r in own_records(self.bodies) if isinstance(r.joint, Shape)}

    def fixed_pose(self, index: int) -> Array | None:
        """The pose (4, 4) in the world of a body that is fixed there; None if it moves."""
        pose = np.eye(4)
        while index >= 0:
            body = self.bodies[index]
            if body.moves or body.at is not None:
                return None
            pose, index = body.placement @ pose, body.parent
        return pose


def expect_name(what: str, name: object, names: Collection[str]) -> str:
    """One of the names."""
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"{what} {quoted(name)}: {near(name if isinstance(name, str) else quoted(name), names)}")
    return str(name)


def listed(names: Iterable[str]) -> str:
    """Some names, for a message."""
    known = list(names)
    return ", ".join(map(quoted, known[:5])) + (", ..." if len(known) > 5 else "")
