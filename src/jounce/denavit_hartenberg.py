"""Robots from tables of Denavit-Hartenberg parameters.

Frame i in frame i - 1 is, with Rz(x) and Tz(x) for turning about and sliding along z by x,

    standard (Denavit and Hartenberg, Paul):   Rz(theta) Tz(d) Tx(a) Rx(alpha),
    modified (Khalil, Craig):                  Rx(alpha) Tx(a) Rz(theta) Tz(d),

where joint i is the turn Rz or the slide Tz: its coordinate is added to theta or d of the table. In the standard
convention frame i is not on the axis of joint i, so each joint has a massless body, and each link is a frame on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import one_of, quoted, reals
from jounce.builder import Builder
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Joint, Prismatic, Revolute
from jounce.parts.placement import placement

Array = NDArray[np.float64]


def from_dh(
    table: ArrayLike,
    convention: str = "standard",
    *,
    joints: str | None = None,
    inertias: Sequence[Inertia] | None = None,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
) -> Model:
    """A serial robot from its Denavit-Hartenberg parameters.

    Joints are named "joint1", "joint2", ...; the frames of the table "base" (frame 0), "link1", "link2", ..., and the
    frame at the end "tool". For motors, damping and limits, see `Model.replace`.

    Args:
        table: (n, 4): theta, d, a and alpha of each row, rad and m. The coordinate of a joint is added to theta, or to
            d if it slides.
        convention: "standard", or "modified" as in Craig's book, where a row holds the a and alpha before its joint.
        joints: "R" for each joint that turns, "P" for each that slides, such as "RRPRRR"; all turn when left out.
        inertias: n, each in the frame of its link; without them the robot has kinematics, but no forward dynamics.
        base: (4, 4) pose of frame 0 in the world; the identity when left out.
        tool: (4, 4) pose of the tool in the last frame.
        gravity: (3,) m/s^2 in world axes.

    >>> import jounce as jn
    >>> scara = jn.from_dh([(0, 0.4, 0.3, 0), (0, 0, 0.25, np.pi), (0, 0, 0, 0)], joints="RRP")
    >>> scara.pose("tool", [0.0, np.pi / 2, 0.1])[:3, 3].round(3)
    array([0.3 , 0.25, 0.3 ])
    """
    rows = _rows(table)
    modified = one_of("convention", convention, "standard", "modified") == "modified"
    kinds = _kinds(joints, len(rows))
    masses = _inertias(inertias, len(rows))
    builder = Builder(gravity)
    builder.add("base", "world", placement=base)
    above = "base"
    for i, (row, kind, mass) in enumerate(zip(rows.tolist(), kinds, masses, strict=True), start=1):
        theta, d, a, alpha = row
        along = placement((0, 0, d), rpy=(0, 0, theta))
        across = placement(rpy=(alpha, 0, 0)) @ placement((a, 0, 0))
        joint: Joint = Revolute() if kind == "R" else Prismatic()
        builder.add(f"joint{i}", above, joint, across @ along if modified else along)
        above = f"link{i}"
        builder.add(above, f"joint{i}", Fixed(), None if modified else across, mass)
    builder.add("tool", above, placement=tool)
    return builder.build(allow_massless=inertias is None)


def _rows(table: ArrayLike) -> Array:
    rows = reals("table", table)
    if rows.ndim != 2 or rows.shape[1] != 4 or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"table is {quoted(table)}, expected finite numbers (n, 4): theta, d, a, alpha")
    return rows


def _kinds(joints: str | None, n: int) -> str:
    if joints is None:
        return "R" * n
    if not isinstance(joints, str) or len(joints) != n or set(joints) - set("RP"):
        raise ValueError(f"joints is {quoted(joints)}, expected {n} letters R and P, one for each row of the table")
    return joints


def _inertias(inertias: Sequence[Inertia] | None, n: int) -> Sequence[Inertia | None]:
    if inertias is None:
        return [None] * n
    good = isinstance(inertias, Sequence) and len(inertias) == n and all(isinstance(x, Inertia) for x in inertias)
    if not good:
        raise ValueError(f"inertias is {quoted(inertias)}, expected {n}, each a jounce.Inertia")
    return inertias
