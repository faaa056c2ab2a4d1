"""Robots from tables of Denavit-Hartenberg parameters.

Frame i in frame i - 1 is, with Rz(x) and Tz(x) for turning about and sliding along z by x,

    standard (Denavit and Hartenberg, Paul):   Rz(theta) Tz(d) Tx(a) Rx(alpha),
    modified (Khalil, Craig):                  Rx(alpha) Tx(a) Rz(theta) Tz(d),

where joint i is the turn Rz or the slide Tz: its coordinate is added to theta or d of the table. In the standard
convention frame i is not on the axis of joint i, so each joint has a massless body, and each link is a frame on it.

Tables come in degrees, with columns in any order, and in either convention, and a robot can be made of any of them.
What gives away that a table was taken for another: angles of many turns, lengths that are all right angles, or joints
that turn about the same line, as the first two do where a modified table is read as a standard one, and the last two
where a standard table is read as a modified one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import flag, one_of, quoted, reals
from jounce.builder import Builder
from jounce.editing.lengths import FAR, reach_of
from jounce.errors import ModelWarning
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Joint, Prismatic, Revolute
from jounce.parts.placement import placement, roll_pitch_yaw

Array = NDArray[np.float64]
_COLUMNS = ("theta", "d", "a", "alpha")
_LONG = 20.0  # m, longer than any one link


def from_dh(
    table: ArrayLike,
    convention: str = "standard",
    *,
    columns: Sequence[str] = _COLUMNS,
    degrees: bool = False,
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
        columns: the four names in another order, if the table has it.
        degrees: whether theta and alpha of the table are in degrees; coordinates of the robot never are.
        joints: "R" for each joint that turns, "P" for each that slides, such as "RRPRRR"; all turn when left out.
        inertias: n, each in the frame of its link; ``()`` for a robot of which only the kinematics are wanted, whose
            forces are zero.
        base: (4, 4) pose of frame 0 in the world; the identity when left out.
        tool: (4, 4) pose of the tool in the last frame.
        gravity: (3,) m/s^2 in world axes.

    Warns:
        ModelWarning: the table looks like one in degrees, or in radians with `degrees`, in millimetres, with other
            columns, or in the other convention; `inertias` were left out, or are far away, as if in millimetres.

    >>> import jounce as jn
    >>> scara = jn.from_dh([(0, 0.4, 0.3, 0), (0, 0, 0.25, 180), (0, 0, 0, 0)], degrees=True, joints="RRP", inertias=())
    >>> scara.pose("tool", [0.0, np.pi / 2, 0.1])[:3, 3].round(3)
    array([0.3 , 0.25, 0.3 ])
    """
    given = _rows(table, columns)
    rows = given * np.where([flag("degrees", degrees), False, False, degrees], np.pi / 180, 1.0)
    modified = one_of("convention", convention, "standard", "modified") == "modified"
    kinds = _kinds(joints, len(rows))
    masses = _inertias(inertias, len(rows))
    builder = Builder(gravity)
    builder.add("base", "world", placement=base)
    above = "base"
    for i, (row, kind, mass) in enumerate(zip(rows.tolist(), kinds, masses, strict=True), start=1):
        theta, d, a, alpha = row
        along = placement((0, 0, d), rotation=roll_pitch_yaw((0, 0, theta)))
        across = placement(rotation=roll_pitch_yaw((alpha, 0, 0))) @ placement((a, 0, 0))
        joint: Joint = Revolute() if kind == "R" else Prismatic()
        builder.add(f"joint{i}", above, joint, across @ along if modified else along)
        above = f"link{i}"
        builder.add(above, f"joint{i}", Fixed(), None if modified else across, mass)
    builder.add("tool", above, placement=tool)
    robot = builder.build(allow_massless=not any(masses))
    doubts = [
        *_doubts(given, degrees),
        *_doubtful_axes(rows, kinds, modified),
        *_doubtful_inertias(rows, kinds, masses),
    ]
    if inertias is None:
        doubts.append("no inertias were given, so that all forces are zero: inertias=() says that this is meant")
    if doubts:
        warnings.warn("; ".join(doubts), ModelWarning, stacklevel=2)
    return robot


def _rows(table: ArrayLike, columns: Sequence[str]) -> Array:
    """The table, its columns in our order."""
    named = isinstance(columns, Sequence) and all(isinstance(name, str) for name in columns)
    if not named or sorted(columns) != sorted(_COLUMNS):
        raise ValueError(f"columns is {quoted(columns)}, expected these in any order: {_COLUMNS}")
    rows = reals("table", table)
    if rows.ndim != 2 or rows.shape[1] != 4 or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"table is {quoted(table)}, expected finite numbers (n, 4): {', '.join(columns)}")
    return rows[:, [list(columns).index(name) for name in _COLUMNS]]


def _doubts(rows: Array, degrees: bool) -> Iterator[str]:
    """What is odd about the numbers of a table, as they were given."""
    angles = np.abs(rows[:, [0, 3]])
    turns = angles[angles > 0] / (2 * np.pi)
    if not degrees and 2 * (turns > 1).sum() > turns.size:
        yield f"theta and alpha go up to {angles.max():g} rad, which looks like degrees: degrees=True takes them so"
    if degrees and turns.size and (turns <= 1).all():
        yield f"theta and alpha go up to {angles.max():g} degrees, which looks like radians"
    swapped = False
    for name, column in (("d", rows[:, 1]), ("a", rows[:, 2])):
        lengths = column[column != 0]
        for right_angle in (np.pi / 2, 90.0):
            count = np.round(lengths / right_angle)
            off = np.abs(lengths - count * right_angle)
            if lengths.size and (count != 0).all() and (off < 1e-4 * right_angle).all():
                swapped = True
                yield f"{name} is {quoted(column.tolist())}, which looks like angles: columns= says which is which"
    longest = np.abs(rows[:, 1:3]).max()
    if longest > _LONG and not swapped:
        yield f"d and a go up to {longest:g} m, which looks like millimetres: expected metres"


def _doubtful_axes(rows: Array, kinds: str, modified: bool) -> Iterator[str]:
    """Two joints in a row that turn about the same line, which no robot needs."""
    between = rows[1:] if modified else rows[:-1]
    for i, (_, _, a, alpha) in enumerate(between.tolist()):
        if kinds[i : i + 2] == "RR" and a == 0 and abs(np.sin(alpha)) < 1e-9:
            other = "standard" if modified else "modified"
            yield (
                f"'joint{i + 1}' and 'joint{i + 2}' turn about the same line: is the table in the {other} convention, "
                "or are its columns others?"
            )
            return


def _doubtful_inertias(rows: Array, kinds: str, masses: Sequence[Inertia | None]) -> Iterator[str]:
    """The first that is far away from its link, on a robot whose joints all turn, and so do not slide there."""
    length = float(np.abs(rows[:, 1:3]).sum())
    for i, mass in enumerate(masses, start=1):
        reach = 0.0 if mass is None else reach_of(mass)
        if reach > FAR * length > 0 and "P" not in kinds:
            yield (
                f"the inertia of 'link{i}' reaches {reach:.3g} m away from it, on a robot {length:.3g} m long: "
                "expected metres, kilograms and kg m^2"
            )
            return


def _kinds(joints: str | None, n: int) -> str:
    if joints is None:
        return "R" * n
    if not isinstance(joints, str) or len(joints) != n or set(joints) - set("RP"):
        raise ValueError(f"joints is {quoted(joints)}, expected {n} letters R and P, one for each row of the table")
    return joints


def _inertias(inertias: Sequence[Inertia] | None, n: int) -> Sequence[Inertia | None]:
    if inertias is None or (isinstance(inertias, Sequence) and len(inertias) == 0):
        return [None] * n
    good = isinstance(inertias, Sequence) and len(inertias) == n and all(isinstance(x, Inertia) for x in inertias)
    if not good:
        raise ValueError(f"inertias is {quoted(inertias)}, expected {n}, each a jounce.Inertia")
    return inertias
