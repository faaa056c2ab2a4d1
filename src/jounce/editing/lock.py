"""Joints held at a position: they become fixed, and their bodies frames of what carries them.

The rotor of a locked joint stands still on the parent, which carries its moment of inertia from then on; as body and
parent are one now, the body can have it. The shape of a soft body can be locked too: see `frozen_shape`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import BodyRecord, joint_hint, resolve
from jounce.editing.frozen_shape import frozen_shape
from jounce.editing.ties import expect_mobile, stuck
from jounce.editing.tree import Tree
from jounce.errors import ModelWarning
from jounce.parts.constraints import ConstraintRecord, Gear
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.inertia import Inertia
from jounce.parts.joint_pose import joint_pose, joint_position
from jounce.parts.joints import Fixed, Joint
from jounce.parts.sections import Shape

Array = NDArray[np.float64]
_FAR = 0.1  # outside its limits, in ranges of the joint


def locked(tree: Tree, positions: Mapping[str, object]) -> Tree:
    """See `Model.lock`."""
    at = _positions(tree, positions)
    own = tree.shapes
    shapes = {tree.bodies[own[name]].name: at.pop(name) for name in list(at) if name in own}
    bodies = [_locked(b, at[b.joint_name]) if b.joint.nv and b.joint_name in at else b for b in tree.bodies]
    bodies += _rotors_of_soft_bodies(tree, bodies, at)
    for name, q in shapes.items():
        bodies = frozen_shape(bodies, name, q)
    constraints = [_constraint(c, bodies, at) for c in tree.constraints]
    return replace(tree, bodies=bodies, constraints=constraints)


def _positions(tree: Tree, positions: Mapping[str, object]) -> dict[str, Array]:
    """By joint, those of followers included."""
    if not isinstance(positions, Mapping):
        raise ValueError(f"positions is {quoted(positions)}, expected a mapping from joint names to positions")
    joints, shapes, follows = tree.joints, tree.shapes, resolve(tree.bodies)
    at: dict[str, Array] = {}
    outside: list[str] = []
    for name, value in positions.items():
        if not isinstance(name, str) or name not in joints | shapes:
            hint = joint_hint(tree.bodies, name, [*joints, *shapes])
            raise ValueError(f"positions: no joint is named {quoted(name)}: {hint}")
        if name in follows:
            leader = follows[name].joint
            raise ValueError(f"positions: joint {name!r} follows {leader!r}, expected a position of {leader!r}")
        body = tree.bodies[(joints | shapes)[name]]
        joint = body.joint if name in joints or body.soft is None else Shape(body.soft, name)
        at[name] = joint_position(f"positions[{name!r}]", joint, value)
        outside += _outside(name, joint, at[name])
    if outside:
        warnings.warn(f"positions: {'; '.join(outside)}: they are in rad and m", ModelWarning, stacklevel=4)
    for name, follow in follows.items():
        if follow.joint in at:
            at[name] = follow.ratio * at[follow.joint] + follow.offset
    return at


def _outside(name: str, joint: Joint, q: Array) -> list[str]:
    """What there is to say of a position that is far outside the limits, by the range between them."""
    if isinstance(joint, CustomJoint):
        limits = joint.coordinate_limits
    elif joint.limits is not None:
        limits = (joint.limits,)
    else:
        return []
    said = []
    for each, x in zip(limits, q.tolist(), strict=True):
        if each is None:
            continue
        far = _FAR * (each.upper - each.lower) + 1e-9 * max(abs(each.lower), abs(each.upper))  # no less than rounding
        if not each.lower - far <= x <= each.upper + far:
            said.append(f"{quoted(name)} is held at {x:g}, far outside its limits, {each.lower:g} to {each.upper:g}")
    return said


def _locked(body: BodyRecord, q: Array) -> BodyRecord:
    joint, pose = body.joint, joint_pose(body.joint, q)
    inertia = body.inertia
    if joint.rotor is not None and body.soft is None:
        inertia = inertia + _rotor(body, pose[:3, :3])
    return replace(body, joint=Fixed(name=joint.name), placement=body.placement @ pose, inertia=inertia)


def _rotor(body: BodyRecord, turn: Array) -> Inertia:
    """The moment of inertia of a rotor, in the axes of a body that is turned like this in the joint frame."""
    rotor = body.joint.rotor
    assert rotor is not None
    own = body.joint.primitives()[0].axis if rotor.axis is None else np.asarray(rotor.axis)
    axis = turn.T @ own
    return Inertia(0.0, rotational=rotor.inertia * np.outer(axis, axis), physical=False)


def _rotors_of_soft_bodies(tree: Tree, bodies: list[BodyRecord], at: dict[str, Array]) -> list[BodyRecord]:
    """Soft bodies cannot carry a rotor: it becomes a frame on the parent."""
    return [
        BodyRecord(f"{b.joint_name}.rotor", b.parent, Fixed(), b.placement, _rotor(b, np.eye(3)), None, b.at)
        for b in tree.bodies
        if b.soft is not None and b.joint.rotor is not None and b.joint_name in at
    ]


def _constraint(c: ConstraintRecord, bodies: list[BodyRecord], at: dict[str, Array]) -> ConstraintRecord:
    """The constraint on what still moves."""
    if isinstance(c.kind, Gear):
        return _gear(c, c.kind, at)
    expect_mobile(c, bodies)
    return c


def _gear(c: ConstraintRecord, gear: Gear, at: dict[str, Array]) -> ConstraintRecord:
    """A gear with one locked joint holds the other one where it then is."""
    if c.a in at and c.b in at:
        raise ValueError(stuck(c))
    if c.a in at:
        return replace(c, a=c.b, kind=Gear((np.polynomial.Polynomial(gear.polynomial)(at[c.a][0]), 0.0)))
    if c.b in at:
        constant, slope, *higher = gear.polynomial.tolist()
        if any(higher) or slope == 0:
            raise ValueError(
                f"constraint {quoted(c.name)} ties {quoted(c.a)} to {quoted(c.b)} by a polynomial that cannot be "
                f"inverted: lock {quoted(c.a)} instead"
            )
        return replace(c, b=c.a, kind=Gear(((at[c.b][0] - constant) / slope, 0.0)))
    return c
