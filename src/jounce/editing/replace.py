"""Bodies with other inertias, and joints with other drives, springs and limits.

A number for all is for the joints that have coordinates. One that follows another has none: it has what it is given by
name. Zero is none for every joint, though.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import a_class, array_of, frozen, quoted
from jounce.core_tables import joint_hint, own_records
from jounce.editing.lengths import say_if_far
from jounce.editing.tree import Tree, expect_name, listed
from jounce.errors import ModelWarning
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Free, Joint, Limits
from jounce.parts.sections import Shape

Array = NDArray[np.float64]


def replaced(tree: Tree, gravity: object, inertia: object, options: Mapping[str, Any]) -> Tree:
    """See `Model.replace`; options that are None stay as they are."""
    bodies = list(tree.bodies)
    for index, value in _inertias(tree, inertia).items():
        bodies[index] = replace(bodies[index], inertia=value)
    changes: dict[int, dict[str, Any]] = {}
    kept: list[str] = []
    for key, given in options.items():
        for index, value in _by_joint(tree, key, given, kept).items():
            changes.setdefault(index, {})[key] = value
    for index, new in changes.items():
        body = bodies[index]
        try:
            if "limits" in new:
                new["limits"] = _limited(body.joint, new["limits"])
            bodies[index] = replace(body, joint=body.joint.changed(**new))
        except ValueError as fault:
            raise ValueError(f"joint {quoted(body.joint_name)}: {fault}") from None
    g = tree.gravity if gravity is None else frozen(array_of("gravity", gravity, (3,)))
    if kept:
        warnings.warn("; ".join(kept), ModelWarning, stacklevel=3)
    return replace(tree, bodies=bodies, gravity=g)


def _inertias(tree: Tree, given: object) -> dict[int, Inertia]:
    """By body."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"inertia is {quoted(given)}, expected a mapping from names of bodies to jounce.Inertia")
    found = {}
    for name, value in given.items():
        index = tree.index(expect_name("inertia: no body or frame is named", name, [b.name for b in tree.bodies]))
        if tree.bodies[index].soft is not None:
            raise ValueError(f"inertia: {quoted(name)} is soft, and has the mass of its material")
        if not isinstance(value, Inertia):
            raise ValueError(f"inertia of {quoted(name)} is {quoted(value)}, expected a jounce.Inertia")
        say_if_far(tree, name, value)
        found[index] = value
    return found


def _by_joint(tree: Tree, key: str, given: Any, kept: list[str]) -> dict[int, Any]:
    """The new values, by the body that the joint carries; notes which joints keep what they have."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return _by_name(tree, key, given)
    if key == "limits":
        if not isinstance(given, Limits):
            raise ValueError(f"limits is {quoted(given)}, expected a jounce.Limits, or several by joint name")
        return _for_all(tree, key, given, kept)
    size = sum(record.joint.nv for record in own_records(tree.bodies))
    values = array_of(key, given, (), (size,))
    return _by_coordinate(tree, key, values) if values.ndim else _for_all(tree, key, float(values), kept)


def _by_name(tree: Tree, key: str, given: Mapping[Any, Any]) -> dict[int, Any]:
    joints, shapes = tree.joints, tree.shapes
    found = {}
    for name, value in given.items():
        if isinstance(name, str) and name in shapes and name not in joints:
            raise ValueError(f"{key}: {_why_not(key, None, name)}")
        if not isinstance(name, str) or name not in joints:
            hint = joint_hint(tree.bodies, name, joints)
            raise ValueError(f"{key}: no joint is named {quoted(name)}: {hint}")
        joint = tree.bodies[joints[name]].joint
        if not _can_have(key, joint):
            raise ValueError(f"{key}: {_why_not(key, joint, name)}")
        if value is None:
            raise ValueError(f"{key}: the value for {quoted(name)} is None, expected one")
        found[joints[name]] = value
    return found


def _by_coordinate(tree: Tree, key: str, values: Array) -> dict[int, Any]:
    """From one number per coordinate of the robot; zero where there is nothing to have it."""
    joints, found, start = tree.joints, {}, 0
    for record in own_records(tree.bodies):
        joint, name = record.joint, record.joint_name
        own = values[start : (start := start + joint.nv)]
        shape = isinstance(joint, Shape)
        if not shape and _can_have(key, joint):
            found[joints[name]] = own if joint.nv > 1 else float(own[0])
        elif own.any():
            why = _why_not(key, None if shape else joint, name)
            raise ValueError(f"{key} is {quoted(own.tolist())} there, expected 0: {why}")
    return found


def _for_all(tree: Tree, key: str, value: Any, kept: list[str]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    rotors, functions, followers = [], [], []
    for name, i in tree.joints.items():
        joint = tree.bodies[i].joint
        if isinstance(joint, Free):
            continue
        if not _can_have(key, joint):
            if key == "armature" and joint.rotor is not None:
                rotors.append(name)
            elif key == "armature" and value != 0:
                functions.append(name)
        elif joint.follows is not None and value != 0 and key != "friction_speed":
            if key != "limits" and np.any(getattr(joint, key)):
                followers.append(name)
        else:
            found[i] = (value,) * joint.nv if key == "limits" and isinstance(joint, CustomJoint) else value
    if rotors:
        kept.append(f"rotors stay as they are, in place of an armature: those of {listed(rotors)}")
    if functions:
        kept.append(f"joints given by functions have no armature: {listed(functions)}")
    if followers:
        kept.append(f"joints that follow others keep their own {key}, unless given by name: {listed(followers)}")
    return found


def _can_have(key: str, joint: Joint) -> bool:
    if key == "armature":
        return joint.rotor is None and not isinstance(joint, CustomJoint)
    return key not in ("rest", "limits") or joint.nv == 1 or isinstance(joint, CustomJoint)


def _why_not(key: str, joint: Joint | None, name: str) -> str:
    """Why a joint cannot have it, or a shape, if there is no joint."""
    if joint is None:
        return f"{quoted(name)} is the shape of a soft body, whose material decides its {key}"
    has = "has a rotor" if key == "armature" and joint.rotor else f"is {a_class(joint)} joint"
    return f"{quoted(name)} {has}, which has none"


def _limited(joint: Joint, given: Any) -> Any:
    """Limits for a joint; those that are not given are the joint's own."""
    if not isinstance(joint, CustomJoint):
        return _on(joint.limits, given)
    each = (given,) if isinstance(given, Limits) else given
    if not isinstance(each, Sequence) or len(each) != joint.nv:
        return given  # which the joint refuses
    return [_on(own, new) for own, new in zip(joint.coordinate_limits, each, strict=True)]


def _on(own: Limits | None, new: Any) -> Any:
    """The limits with those that are given in place of their own; without any if none is given."""
    if own is None or not isinstance(new, Limits) or not new.given:
        return new
    return replace(own, **{key: getattr(new, key) for key in new.given})
