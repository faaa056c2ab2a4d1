"""A robot as its file describes it, in jounce's terms, before it becomes a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import BodyRecord, massless_bodies, moments
from jounce.model import Model
from jounce.parts.constraints import ConstraintRecord
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed

if TYPE_CHECKING:
    from jounce.parts.visual import Visual


class LoadWarning(UserWarning):
    """Something in a file that is probably a mistake; ``jounce info FILE`` says more."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)


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
        massless, faulty = massless_bodies(self.bodies), _impossible(self.bodies)
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


def _impossible(bodies: Sequence[BodyRecord]) -> list[str]:
    """The moving bodies whose inertia, together with all that is fixed to them, no real body has."""
    suspects = [i for i, b in enumerate(bodies) if b.inertia.fault]
    if not suspects:
        return []
    carrier: list[int] = []
    pose: list[NDArray[np.float64]] = []
    for i, b in enumerate(bodies):
        if not isinstance(b.joint, Fixed):
            carrier.append(i)
            pose.append(np.eye(4))
        else:
            carrier.append(carrier[b.parent] if b.parent >= 0 else -1)
            pose.append(pose[b.parent] @ b.placement if b.parent >= 0 else b.placement)
    doubtful = {carrier[i] for i in suspects}
    parts: dict[int, list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]] = {}
    for i, b in enumerate(bodies):
        if carrier[i] >= 0 and carrier[i] in doubtful:
            parts.setdefault(carrier[i], []).append(moments(b.inertia, pose[i]))
    wholes = {bodies[i].name: _whole(found) for i, found in parts.items()}
    return [name for name, whole in wholes.items() if whole.fault and not _like_point(whole)]


def _whole(parts: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]) -> Inertia:
    mass = sum(m for m, _, _ in parts)
    first, second = sum(h for _, h, _ in parts), sum(s for _, _, s in parts)
    com = first / mass if mass > 0 else np.zeros(3)
    about_com = second - mass * np.outer(com, com)
    return Inertia(mass, com, np.trace(about_com) * np.eye(3) - about_com, physical=False)


def _like_point(inertia: Inertia) -> bool:
    """Whether it is a point mass up to rounding: within some 30 micrometres."""
    return float(np.abs(inertia.rotational).max()) < 1e-9 * inertia.mass
