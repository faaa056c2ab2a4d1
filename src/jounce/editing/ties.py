"""Constraints of a robot that is changed: what becomes of them, and which of them are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jounce._checks import quoted
from jounce.core_tables import BodyRecord, rigidly
from jounce.editing.tree import Tree, expect_name
from jounce.parts.constraints import ConstraintRecord, Gear


def unconstrained(tree: Tree, constraints: Sequence[str] | None) -> Tree:
    """See `Model.unconstrained`."""
    if constraints is None:
        return replace(tree, constraints=())
    try:
        names = None if isinstance(constraints, (str, bytes)) else list(constraints)
    except TypeError:
        names = None
    if names is None:
        raise ValueError(f"constraints is {quoted(constraints)}, expected a list of names")
    known = [c.name for c in tree.constraints]
    gone = [expect_name("no constraint is named", name, known) for name in names]
    return replace(tree, constraints=[c for c in tree.constraints if c.name not in gone])


def expect_mobile(c: ConstraintRecord, bodies: Sequence[BodyRecord]) -> None:
    """Checks that what a constraint ties together can move relative to each other."""
    if isinstance(c.kind, Gear):
        return
    a, b = rigidly(bodies, c.a), rigidly(bodies, c.b)
    if a == b if c.held else b == ("world", None):
        raise ValueError(stuck(c))


def stuck(c: ConstraintRecord) -> str:
    return (
        f"constraint {quoted(c.name)} ties {quoted(c.a)} to {quoted(c.b)}, between which nothing is left to move: "
        f"{left_out(c.name)}"
    )


def left_out(name: str) -> str:
    """How to get rid of a constraint, for a message."""
    return f"leave it out first, with unconstrained([{quoted(name)}])"
