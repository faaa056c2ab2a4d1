"""A human-readable report on a robot file: the tree, the joints' ranges, the masses, and anything odd.

A link below another, in the same column, is its child; the tree branches where a link has several moving children.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce._checks import printable
from jounce.core_tables import BodyRecord
from jounce.loading.description import Description
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.joints import Fixed, Joint, Planar, Prismatic, Revolute

if TYPE_CHECKING:
    from rich.console import Console

_MAX_INDENT = 40  # levels; deeper branches are drawn at this one


@dataclass(frozen=True)
class _Row:
    guide: str  # the lines of the tree
    body: BodyRecord


def show(description: Description, console: Console) -> None:
    """Prints the report; drops the last columns if the terminal is too narrow."""
    from rich.text import Text

    def line(*parts: tuple[str, str]) -> None:
        console.print(Text.assemble(*parts), soft_wrap=True)

    for number, text in enumerate(_headlines(description)):
        line((printable(text), "bold" if number == 0 else ""))
    line()
    rows = _rows(description.bodies)
    cells: list[tuple[str, ...]] = [
        ("link", "joint", "motion", "range", "mass", "speed", "effort", "damping", "friction")
    ]
    cells += [_cells(row.guide, row.body) for row in rows]
    columns = [i for i in range(len(cells[0])) if any(cell[i] for cell in cells[1:])]
    widths = {i: max(len(cell[i]) for cell in cells) for i in columns}
    while console.is_terminal and len(columns) > 4 and sum(widths[i] + 2 for i in columns) > console.width:
        columns.pop()
    line((_padded(cells[0], columns, widths), "bold dim"))
    for row, cell in zip(rows, cells[1:], strict=True):
        padded = _padded(cell, columns, widths)
        lines, rest = padded[: len(row.guide)], padded[len(row.guide) :]
        line((lines, "dim"), (rest, "dim" if isinstance(row.body.joint, Fixed) else ""))
    if description.constraints:
        line()
        line(("constraints", "bold"))
    for constraint in description.constraints:
        line(("  " + _tie(constraint), ""))
    found = (("ignored", description.ignored, "cyan"), ("warnings", description.inspect(), "yellow"))
    for title, items, style in found:
        if items:
            line()
            line((f"{title}", f"bold {style}"))
        for item in items:
            line(("  " + printable(item), style))
    if not any(items for _, items, _ in found):
        line()
        line(("nothing ignored, nothing odd", "green"))


def _headlines(description: Description) -> list[str]:
    bodies, model = description.bodies, description.model()
    frames = sum(isinstance(b.joint, Fixed) for b in bodies)
    depth = [0] * len(bodies)
    for i, b in enumerate(bodies):
        depth[i] = (depth[b.parent] if b.parent >= 0 else 0) + (b.joint.nv > 0)
    mass = sum(b.inertia.mass for b in bodies)
    first = f"{description.name or 'robot without a name'}, {description.kind}, {description.source}"
    words = (
        f"{model.nv} degrees of freedom (nq {model.nq}, nv {model.nv})",
        f"{mass:.4g} kg",
        f"{len(bodies)} links, {frames} of them fixed",
        f"at most {max(depth, default=0)} joints in a row",
    )
    ties = description.constraints
    tied = (f"{len(ties)} constraint{'s' * (len(ties) > 1)} of {sum(c.rows for c in ties)} rows",) if ties else ()
    fall = description.gravity
    gravity = () if np.array_equal(fall, (0.0, 0.0, -9.81)) else (f"gravity {_vector(fall)} m/s²",)
    return [first, "; ".join((*words, *tied, *gravity))]


def _rows(bodies: Sequence[BodyRecord]) -> list[_Row]:
    """The bodies in drawing order: below each link first the frames fixed to it, then the moving children."""
    children: dict[int, list[int]] = {}
    moves = [not isinstance(b.joint, Fixed) for b in bodies]  # whether anything in or below the body moves
    for i in reversed(range(len(bodies))):
        children.setdefault(bodies[i].parent, []).append(i)
        if moves[i] and bodies[i].parent >= 0:
            moves[bodies[i].parent] = True
    rows: list[_Row] = []
    todo = [(i, "", "") for i in children.get(-1, ())]
    while todo:
        i, guide, below = todo.pop()
        rows.append(_Row(guide, bodies[i]))
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


def _cells(guide: str, body: BodyRecord) -> tuple[str, ...]:
    joint, limits = body.joint, body.joint.limits
    unit = "m" if isinstance(joint, Prismatic) else "rad"
    speed = "" if limits is None or math.isinf(limits.velocity) else f"{_number(limits.velocity)} {unit}/s"
    force = "N" if isinstance(joint, Prismatic) else "N m"
    effort = "" if limits is None or math.isinf(limits.effort) else f"{_number(limits.effort)} {force}"
    damping = _number(joint.damping.max()) if joint.nv and joint.damping.any() else ""
    friction = _number(joint.friction.max()) if joint.nv and joint.friction.any() else ""
    mass = f"{body.inertia.mass:.4g} kg" if not body.inertia.is_zero else ""
    link, name = printable(body.name), printable(joint.name or "")
    return guide + link, name, _motion(joint), printable(_range(joint, unit)), mass, speed, effort, damping, friction


def _tie(constraint: ConstraintRecord) -> str:
    """A constraint, in one line."""
    name, a, b = (printable(text) for text in (constraint.name, constraint.a, constraint.b))
    if not isinstance(constraint.kind, Gear):
        return f"{name}: {type(constraint.kind).__name__.lower()}, {a} to {b}"
    terms = [
        f"{factor:.4g}" + ("" if power == 0 else f" {a}" if power == 1 else f" {a}^{power}")
        for power, factor in enumerate(constraint.kind.polynomial.tolist())
        if factor != 0
    ]
    total = " + ".join(terms).replace("+ -", "- ") or "0"
    return f"{name}: gear, {b} = {total}"


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
    return _vector(axis)


def _vector(values: NDArray[np.float64]) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in values) + ")"


def _padded(cell: Sequence[str], columns: Sequence[int], widths: dict[int, int]) -> str:
    return "  ".join(cell[i].ljust(widths[i]) for i in columns).rstrip()
