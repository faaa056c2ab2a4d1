"""What a file says of a robot, in jounce's terms, before it becomes a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..compile import BodyRecord, massless_bodies
from ..model import Model


class LoadError(ValueError):
    """A file that cannot be a robot: names the file, the element and the fault."""


class LoadWarning(UserWarning):
    """Something in a file that was left out, or that is hardly meant."""


@dataclass
class Description:
    """A robot as read.

    Attributes:
        source: the file, for messages.
        kind: "URDF" or "MJCF".
        name: of the robot.
        bodies: links and frames, parents first.
        gravity: (3,) m/s^2.
        ignored: what the file has and jounce leaves out, a line each.
        warnings: what is odd about the file, a line each.
    """

    source: str
    kind: str
    name: str
    bodies: list[BodyRecord]
    gravity: NDArray[np.float64]
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def model(self) -> Model:
        """The robot; links without inertia are allowed (`inspect` warns of them)."""
        return Model(tuple(self.bodies), self.gravity)

    def inspect(self) -> list[str]:
        """The warnings, and those that the bodies themselves give: no inertia, or one that no real body has."""
        massless = [
            f"link {name!r} moves but neither it nor anything below it has inertia"
            for name in massless_bodies(self.bodies)
        ]
        faults = [f"the inertia of {b.name!r} {b.inertia.fault}" for b in self.bodies if b.inertia.fault]
        return [*self.warnings, *massless, *faults]
