"""A robot as its file describes it, in jounce's terms, before it becomes a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import BodyRecord, massless_bodies
from jounce.errors import Printable
from jounce.model import Model
from jounce.parts.constraints import ConstraintRecord
from jounce.unphysical import unphysical

if TYPE_CHECKING:
    from jounce.parts.visual import Visual


class LoadWarning(Printable, UserWarning):
    """Something in a file that is probably a mistake; ``jounce info FILE`` says more."""


@dataclass
class Description:
    """A robot as read.

    Attributes:
        source: the file, for messages; "<string>" or the like if there is none.
        kind: name of the format, such as "URDF".
        name: of the robot.
        bodies: links and frames, parents first.
        gravity: (3,) m/s^2.
        constraints: that tie bodies or joints together in addition to the tree.
        ignored: what the file has and jounce leaves out, one line each; ``jounce info`` shows it.
        tells_ignored: whether loading warns about that too, because the robot would move differently with it.
        warnings: what is suspicious about the file, one line each; loading warns about it.
        scenery: what the world itself looks like.
        keyframes: configurations that the file names: of each, the positions by joint.
    """

    source: str
    kind: str
    name: str
    bodies: list[BodyRecord]
    gravity: NDArray[np.float64]
    constraints: list[ConstraintRecord] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    tells_ignored: bool = False
    warnings: list[str] = field(default_factory=list)
    scenery: Sequence[Visual] = ()
    keyframes: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)

    def model(self) -> Model:
        """The robot; links without inertia are allowed (`inspect` warns about them)."""
        return Model(self.bodies, self.gravity, self.constraints, self.scenery, self.keyframes)

    def undrawn(self) -> list[str]:
        """What it is drawn without, one line each: shapes and pictures without a file that is there and may be read."""
        from jounce.parts.texture import NoPicture  # only where one asks, to keep the import of jounce fast
        from jounce.parts.visual import Undrawn

        visuals = [*self.scenery, *(visual for body in self.bodies for visual in body.visuals)]
        pictures = (picture for v in visuals if v.texture is not None for picture in v.texture.pictures)
        left_out = [x for x in (*(v.shape for v in visuals), *pictures) if isinstance(x, (Undrawn, NoPicture))]
        return list(dict.fromkeys(f"{each.what} {each.reason}" for each in left_out))

    def inspect(self) -> list[str]:
        """The warnings, plus those about the bodies themselves: no inertia, or one that no real body has."""
        massless = [
            f"link {name!r} moves but neither it nor anything below it has inertia"
            for name in massless_bodies(self.bodies)
        ]
        faults = [f"the inertia of {b.name!r} {b.inertia.fault}" for b in self.bodies if b.inertia.fault]
        return [*self.warnings, *massless, *faults]

    def complaint(self) -> str | None:
        """The warning that loading gives, in one line; None if all is well.

        An inertia that no real body has does no harm if it is negligible in the body it is fixed to, and files are full
        of such placeholders. So it counts here only if all the links that move as one have an impossible inertia.
        """
        lines = self.warnings[:3]
        if len(self.warnings) > 3:
            lines.append(f"and {len(self.warnings) - 3} more of the kind")
        massless, faulty = massless_bodies(self.bodies), unphysical(self.bodies)
        if massless:
            lines.append(f"nothing that {listed(massless)} moves has inertia, so there is no forward dynamics")
        if faulty:
            lines.append(f"no real body has the inertia of {listed(faulty)}")
        if self.tells_ignored and self.ignored:
            lines.append(f"left out: {', '.join(self.ignored)}")
        in_a_file = not (self.source.startswith("<") and self.source.endswith(">"))
        more = " (`jounce info` shows all)" if in_a_file else ""
        return f"{self.source}: {'; '.join(lines)}{more}" if lines else None


def listed(names: Sequence[str], count: int = 3) -> str:
    """The first few names of a list, and how many more there are."""
    shown = ", ".join(repr(name if len(name) <= 60 else f"{name[:60]}...") for name in names[:count])
    return shown if len(names) <= count else f"{shown} and {len(names) - count} more"
