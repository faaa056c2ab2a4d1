"""One robot mounted on another.

The other robot's world becomes the frame that carries it: what stood on that world, hung from it or was drawn there is
on the frame then.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import callers, pose, quoted
from jounce.core_tables import BodyRecord
from jounce.editing.lengths import FAR, length_of
from jounce.editing.looks import together
from jounce.editing.tree import Tree, expect_name, listed
from jounce.errors import ModelWarning
from jounce.parts.constraints import ConstraintRecord, Gear

Array = NDArray[np.float64]


def attached(tree: Tree, other: Tree, to: str, placement: ArrayLike | None, prefix: str) -> Tree:
    """See `Model.attach`."""
    frames = ["world", *(b.name for b in tree.bodies)]
    expect_name("to is no body or frame of the robot:", to, frames)
    if not isinstance(prefix, str):
        raise ValueError(f"prefix is {quoted(prefix)}, expected a string, such as 'left_'")
    if not np.array_equal(tree.gravity, other.gravity):
        raise ValueError(
            f"other has gravity {other.gravity.tolist()}, expected that of the robot, {tree.gravity.tolist()}: "
            "other.replace(gravity=robot.gravity) has it"
        )
    place = np.eye(4) if placement is None else pose("placement", placement)
    carrier, start = tree.index(to), len(tree.bodies)
    away, length = float(np.linalg.norm(place[:3, 3])), max(length_of(tree), length_of(other))
    if away > FAR * length > 0 and carrier >= 0 and tree.fixed_pose(carrier) is None:
        warnings.warn(
            f"placement is {away:.3g} m away from {quoted(to)}, which moves, and neither robot is longer than "
            f"{length:.3g} m from joint to joint: expected metres",
            ModelWarning,
            stacklevel=callers(),
        )
    added = [_renamed(b, prefix) for b in other.bodies]
    added = [_mounted(b, carrier, place) if b.parent < 0 else replace(b, parent=b.parent + start) for b in added]
    ties = [_tie(c, to, place, prefix) for c in other.constraints]
    _expect_apart(tree, added, ties)
    bodies, scenery = list(tree.bodies), tree.scenery
    if carrier < 0:
        scenery = together(scenery, other.scenery, place)
    else:
        looks = together(bodies[carrier].visuals, other.scenery, place)
        bodies[carrier] = replace(bodies[carrier], visuals=looks)
    keyframes = {
        name: {**tree.keyframes.get(name, {}), **_prefixed(other.keyframes.get(name, {}), prefix)}
        for name in (*tree.keyframes, *other.keyframes)
    }
    return Tree([*bodies, *added], tree.gravity, [*tree.constraints, *ties], scenery, keyframes)


def _prefixed(positions: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {prefix + joint: q for joint, q in positions.items()}


def _renamed(body: BodyRecord, prefix: str) -> BodyRecord:
    if not prefix:
        return body
    joint = body.joint
    if joint.follows is not None:
        joint = joint.changed(follows=replace(joint.follows, joint=prefix + joint.follows.joint))
    if joint.name is not None:
        joint = joint.changed(name=prefix + joint.name)
    soft = None if body.soft is None else body.soft.with_prefix(prefix)
    return replace(body, name=prefix + body.name, joint=joint, soft=soft)


def _mounted(body: BodyRecord, carrier: int, place: Array) -> BodyRecord:
    return replace(body, parent=carrier, placement=place @ body.placement)


def _tie(c: ConstraintRecord, to: str, place: Array, prefix: str) -> ConstraintRecord:
    """A constraint of the other robot; one with its world is one with the carrier."""
    c = replace(c, name=prefix + c.name, a=_of(c.a, prefix), b=_of(c.b, prefix))
    if isinstance(c.kind, Gear) or not c.held:  # a foot that is held wherever it is stands on the ground
        return c
    if c.contact and to != "world":
        raise ValueError(
            f"other: contact {quoted(c.name)} is held at a place in the world, and {quoted(to)} moves there: "
            "attach first, then add the contact"
        )
    if c.a == "world":
        c = replace(c, a=to, pose_a=place @ c.pose_a)
    if c.b == "world":
        c = replace(c, b=to, pose_b=place @ c.pose_b)
    return c


def _of(name: str, prefix: str) -> str:
    return name if name == "world" else prefix + name


def _expect_apart(tree: Tree, added: list[BodyRecord], ties: list[ConstraintRecord]) -> None:
    """Checks that no name is taken."""
    new = Tree(added, tree.gravity, ties)
    kinds = zip(("bodies", "joints", "constraints", "inputs"), _names(tree), _names(new), strict=True)
    for kind, own, theirs in kinds:
        both = [name for name in theirs if name in own or (kind == "bodies" and name == "world")]
        if both:
            raise ValueError(f"other has {kind} named {listed(both)}, as the robot has: give another prefix")


def _names(tree: Tree) -> Iterator[list[str]]:
    yield [b.name for b in tree.bodies]
    yield [*tree.joints, *tree.shapes]
    yield [c.name for c in tree.constraints]
    yield [n for b in tree.bodies if b.soft is not None and b.soft.shares_inputs for n in b.soft.input_names]
