"""A robot as text: its tree, one line per body, and its constraints, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jounce._checks import printable
from jounce.core_tables import BodyRecord
from jounce.parts.constraints import ConstraintRecord
from jounce.parts.joints import Fixed, Joint

if TYPE_CHECKING:
    from jounce.model import Model


def drawn(model: Model) -> str:
    children: dict[int, list[int]] = {}
    for i, b in enumerate(model.bodies):
        children.setdefault(b.parent, []).append(i)
    lines = [repr(model)[1:-1], "world"]
    todo = [(i, "", i == children[-1][-1]) for i in reversed(children.get(-1, []))]
    while todo:
        i, indent, last = todo.pop()
        b = model.bodies[i]
        lines.append(f"{indent}{'└─' if last else '├─'} {printable(b.name)}: {_body_text(b)}")
        below = children.get(i, [])
        deeper = indent + ("   " if last else "│  ") if len(indent) < 120 else indent
        todo += [(j, deeper, j == below[-1]) for j in reversed(below)]
    for c in model.constraints:
        lines.append(f"{printable(c.name)}: {c.kind!r}, {printable(c.a)} to {printable(c.b)}{contact_text(c)}")
    return "\n".join(lines)


def contact_text(constraint: ConstraintRecord) -> str:
    """Where a contact is held, and which axes its directions are in; nothing of other constraints."""
    if not constraint.contact:
        return ""
    if not constraint.held:
        return (
            ", held wherever it is, in the world's axes"
            if constraint.upright
            else ", held wherever it is, in its own axes"
        )
    whose = "the world's axes" if np.array_equal(constraint.pose_a[:3, :3], np.eye(3)) else "the axes of its pose"
    place = ", ".join(f"{x:.3g}" for x in constraint.pose_a[:3, 3])
    return f", held at ({place}), in {whose}"


def _body_text(b: BodyRecord) -> str:
    if b.soft is None:
        return f"{_joint_text(b.joint)}, {b.inertia.mass:g} kg"
    joint = "" if isinstance(b.joint, Fixed) else _joint_text(b.joint) + ", "
    return f"{joint}{b.soft!r}, {b.soft.mass:g} kg"


def _joint_text(joint: Joint) -> str:
    text = repr(joint) if joint.name is None else f"{joint!r} {joint.name!r}"
    if joint.follows is None:
        return text
    return f"{text}, {joint.follows.ratio:g} × {joint.follows.joint!r} + {joint.follows.offset:g}"
