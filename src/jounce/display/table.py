"""A robot as a table, one row per body: its place in the tree, its joint, the joint's limits, its mass.

A link below another, in the same column, is its child; the tree branches where a link has several moving children.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce._checks import counted, printable
from jounce._printable import brief
from jounce.core_tables import BodyRecord
from jounce.display.tree_text import contact_text
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.joints import Fixed, Joint, Limits, Planar, Prismatic, Revolute

COLUMNS = (
    *("link", "joint", "motion", "range", "mass", "speed", "effort", "damping", "friction"),
    *("acceleration", "deceleration", "jerk", "effort rate"),
)
_MAX_INDENT = 40  # levels; deeper branches are drawn at this one


@dataclass(frozen=True)
class Row:
    guide: str  # the lines of the tree
    body: BodyRecord


def rows_of(bodies: Sequence[BodyRecord]) -> list[Row]:
    """The bodies in drawing order: below each link first the frames fixed to it, then the moving children."""
    children: dict[int, list[int]] = {}
    moves = [b.moves for b in bodies]  # whether anything in or below the body moves
    for i in reversed(range(len(bodies))):
        children.setdefault(bodies[i].parent, []).append(i)
        if moves[i] and bodies[i].parent >= 0:
            moves[bodies[i].parent] = True
    rows: list[Row] = []
    todo = [(i, "", "") for i in children.get(-1, ())]
    while todo:
        i, guide, below = todo.pop()
        rows.append(Row(guide, bodies[i]))
        inside = children.get(i, ())  # last one first
        moving, fixed = [j for j in inside if moves[j]], [j for j in inside if not moves[j]]
        deeper = below if len(below) < 3 * _MAX_INDENT else below[:-3]
        if len(moving) == 1 or (not moving and len(fixed) == 1):
            todo += [(j, below, below) for j in moving or fixed]
            fixed = fixed if moving else []
        else:
            for place, j in enumerate(moving or fixed):
                last = place == 0
                todo.append((j, deeper + ("└─ " if last else "├─ "), deeper + ("   " if last else "│  ")))
            fixed = fixed if moving else []
        todo += [(j, deeper + "├╴ ", deeper + "│  ") for j in fixed]
    return rows


def cells_of(guide: str, body: BodyRecord) -> tuple[str, ...]:
    """What a row says, in the order of `COLUMNS`; control characters in names are written out, long ones shortened."""
    joint, limits = body.joint, body.joint.limits
    unit = "m" if isinstance(joint, Prismatic) else "rad"
    force = "N" if isinstance(joint, Prismatic) else "N m"
    speed, acceleration, deceleration, jerk = (
        _most(limits, key, f"{unit}/s{power}")
        for key, power in (("velocity", ""), ("acceleration", "²"), ("deceleration", "²"), ("jerk", "³"))
    )
    effort, effort_rate = _most(limits, "effort", force), _most(limits, "effort_rate", f"{force}/s")
    damping = _number(joint.damping.max()) if joint.nv and joint.damping.any() else ""
    friction = _number(joint.friction.max()) if joint.nv and joint.friction.any() else ""
    mass = body.inertia.mass if body.soft is None else body.soft.mass
    heavy = f"{mass:.4g} kg" if body.soft is not None or not body.inertia.is_zero else ""
    link, name = brief(body.name), brief(joint.name or "")
    motion, limits_of = _motion_of(body), brief(_range(joint, unit))
    rates = acceleration, deceleration, jerk, effort_rate
    return guide + link, name, motion, limits_of, heavy, speed, effort, damping, friction, *rates


def _most(limits: Limits | None, key: str, unit: str) -> str:
    """A limit that is given, by the name of its field."""
    most = None if limits is None else getattr(limits, key)
    return "" if most is None or math.isinf(most) else f"{_number(most)} {unit}"


def tie_text(constraint: ConstraintRecord) -> str:
    """A constraint, in one line."""
    name, a, b = (printable(text) for text in (constraint.name, constraint.a, constraint.b))
    if not isinstance(constraint.kind, Gear):
        return f"{name}: {type(constraint.kind).__name__.lower()}, {a} to {b}{contact_text(constraint)}"
    terms = [
        f"{factor:.4g}" + ("" if power == 0 else f" {a}" if power == 1 else f" {a}^{power}")
        for power, factor in enumerate(constraint.kind.polynomial.tolist())
        if factor != 0
    ]
    total = " + ".join(terms).replace("+ -", "- ") or "0"
    return f"{name}: gear, {b} = {total}"


def _motion_of(body: BodyRecord) -> str:
    if body.soft is None:
        return _motion(body.joint)
    shape = f"{type(body.soft).__name__}, {counted(body.soft.n, 'coordinate')}"
    return shape if isinstance(body.joint, Fixed) else f"{_motion(body.joint)}, {shape}"


def _motion(joint: Joint) -> str:
    kind = type(joint).__name__.lower()
    axis = getattr(joint, "axis", np.cross(joint.x, joint.y) if isinstance(joint, Planar) else None)
    return kind if axis is None else f"{kind} {_direction(axis)}"


def _range(joint: Joint, unit: str) -> str:
    if joint.follows is not None:
        ratio, offset = joint.follows.ratio, joint.follows.offset
        factor = "" if ratio == 1 else "-" if ratio == -1 else f"{ratio:.4g} "
        shift = "" if offset == 0 else f" {'+' if offset > 0 else '-'} {abs(offset):.4g}"
        return f"= {factor}{joint.follows.joint}{shift}"
    limits = joint.limits
    if limits is None or (math.isinf(limits.lower) and math.isinf(limits.upper)):
        return "any" if isinstance(joint, (Revolute, Prismatic)) else ""
    if limits.lower == -limits.upper:
        return f"±{_number(limits.upper)} {unit}"
    return f"{_number(limits.lower)} … {_number(limits.upper)} {unit}"


def _number(value: float) -> str:
    """Three digits, without an exponent unless people would write one."""
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def _direction(axis: NDArray[np.float64]) -> str:
    """x, -y, ... or the components."""
    along = int(np.argmax(np.abs(axis)))
    if abs(axis[along]) > 1 - 1e-9:
        return ("-" if axis[along] < 0 else "") + "xyz"[along]
    return vector_text(axis)


def vector_text(values: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in values) + ")"
