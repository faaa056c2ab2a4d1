"""<equality>: joints that follow others, and the constraints that MJCF has.

`Fixed` is a weld and `Spherical` a connect, each between two sites at the places that the constraint ties together; a
`Gear`, and a joint that follows another, is a joint whose position is a polynomial of another's. The name of the latter
says which it is, to those who read the file again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import resolve
from jounce.loading.mjcf_equality import following
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.joints import Fixed, Spherical
from jounce.parts.pose import quaternions
from jounce.saving.document import Element, a_name, add, numbers
from jounce.saving.left_out import LeftOut
from jounce.saving.names import unused

if TYPE_CHECKING:
    from jounce.model import Model

_TERMS = 5  # of a polynomial


def check_constraints(robot: Model, left_out: LeftOut) -> None:
    """Notes those that MJCF cannot say."""
    for c in robot.constraints:
        kind = type(c.kind).__name__
        if isinstance(c.kind, Gear):
            if len(np.trim_zeros(c.kind.polynomial, "b")) > _TERMS:
                left_out.refuse("gears of a degree above 4", c.name, "constraints")
        elif not isinstance(c.kind, (Fixed, Spherical)):
            left_out.refuse(f"constraints of kind {kind}", c.name, "constraints")
        elif not c.held:
            left_out.refuse("contacts that hold a frame wherever it is", c.name, "constraints")


def add_equalities(root: Element, robot: Model, bodies: Mapping[str, Element], skip: bool) -> None:
    """Adds them all.

    Args:
        root: the document.
        robot: the model.
        bodies: its elements by name.
        skip: whether to leave out constraints; joints still follow others.
    """
    found = Element("equality")
    names = {c.name for c in robot.constraints}
    for joint, follow in resolve(robot.bodies).items():
        name = unused(following(joint, follow.joint), names)
        _add_joint(found, joint, follow.joint, np.array([follow.offset, follow.ratio]), name)
    taken: set[str] = set()
    for c in () if skip else robot.constraints:
        if isinstance(c.kind, Gear):
            _add_joint(found, c.b, c.a, c.kind.polynomial, c.name)
        else:
            _add_tie(found, c, bodies, taken)
    if len(found):
        root.append(found)


def _add_joint(found: Element, joint: str, leader: str, polynomial: NDArray[np.float64], name: str = "") -> None:
    said = {"name": a_name("name of a constraint", name)} if name else {}
    said |= {"joint1": joint} | ({} if joint == leader else {"joint2": leader})
    terms = np.zeros(_TERMS)
    trimmed = np.trim_zeros(polynomial, "b")
    terms[: len(trimmed)] = trimmed
    add(found, "joint", {**said, "polycoef": numbers(terms)})


def _add_tie(found: Element, c: ConstraintRecord, bodies: Mapping[str, Element], taken: set[str]) -> None:
    sites = []
    for letter, body, pose in (("a", c.a, c.pose_a), ("b", c.b, c.pose_b)):
        sites.append(unused(f"{c.name}.{letter}", taken))
        site = {"name": a_name(f"name of constraint {quoted(c.name)}", sites[-1]), "pos": numbers(pose[:3, 3])}
        add(bodies[body], "site", site | {"quat": numbers(quaternions(pose[:3, :3]))})
    kind = "weld" if isinstance(c.kind, Fixed) else "connect"
    add(found, kind, {"name": c.name, "site1": sites[0], "site2": sites[1]})
