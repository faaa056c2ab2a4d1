"""Joints with other drives, springs and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jounce._checks import a_class, array_of, frozen, quoted
from jounce.core_tables import joint_hint
from jounce.editing.tree import Tree
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Free, Joint, Limits


def replaced(tree: Tree, gravity: object, options: Mapping[str, Any]) -> Tree:
    """See `Model.replace`; options that are None stay as they are."""
    bodies = list(tree.bodies)
    changes: dict[int, dict[str, Any]] = {}
    for key, given in options.items():
        if given is None:
            continue
        for index, value in _by_joint(tree, key, given).items():
            changes.setdefault(index, {})[key] = value
    for index, new in changes.items():
        body = bodies[index]
        try:
            bodies[index] = replace(body, joint=body.joint.changed(**new))
        except ValueError as fault:
            raise ValueError(f"joint {quoted(body.joint_name)}: {fault}") from None
    g = tree.gravity if gravity is None else frozen(array_of("gravity", gravity, (3,)))
    return replace(tree, bodies=bodies, gravity=g)


def _by_joint(tree: Tree, key: str, given: Any) -> dict[int, Any]:
    """The new values, by the body that the joint carries."""
    joints, shapes = tree.joints, tree.shapes
    if not isinstance(given, Mapping):
        value = given if key == "limits" else float(array_of(key, given, ()))
        if key == "limits" and not isinstance(given, Limits):
            raise ValueError(f"limits is {quoted(given)}, expected a jounce.Limits, or several by joint name")
        found = {}
        for i in joints.values():
            joint = tree.bodies[i].joint
            if not isinstance(joint, Free) and _can_have(key, joint):
                found[i] = (value,) * joint.nv if key == "limits" and isinstance(joint, CustomJoint) else value
        return found
    found = {}
    for name, value in given.items():
        if isinstance(name, str) and name in shapes and name not in joints:
            raise ValueError(f"{key}: {quoted(name)} is the shape of a soft body, whose material decides its {key}")
        if not isinstance(name, str) or name not in joints:
            hint = joint_hint(tree.bodies, name, joints)
            raise ValueError(f"{key}: no joint is named {quoted(name)}: {hint}")
        joint = tree.bodies[joints[name]].joint
        if not _can_have(key, joint):
            why = "has a rotor" if key == "armature" and joint.rotor else f"is {a_class(joint)} joint"
            raise ValueError(f"{key}: {quoted(name)} {why}, which has none")
        if value is None:
            raise ValueError(f"{key}: the value for {quoted(name)} is None, expected one")
        found[joints[name]] = value
    return found


def _can_have(key: str, joint: Joint) -> bool:
    if key == "armature":
        return joint.rotor is None and not isinstance(joint, CustomJoint)
    return key not in ("rest", "limits") or joint.nv == 1 or isinstance(joint, CustomJoint)
