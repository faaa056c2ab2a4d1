"""MJCF: nested bodies, with their joints inside them.

A body may have several joints, so joints of several coordinates need no bodies between them, and the massless bodies
that `jounce.loading.mjcf` makes of such joints become joints again. All poses are those at zero coordinates, which is
where MuJoCo draws the robot. Joints that follow others become <equality>: MuJoCo keeps their coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import BodyRecord
from jounce.errors import SaveError
from jounce.loading.mjcf import FAR
from jounce.parts.joints import Free, Joint, Prismatic, Revolute
from jounce.parts.pose import inverse, quaternions
from jounce.saving.document import Element, a_name, a_path, add, number, numbers, text_of, write
from jounce.saving.left_out import LeftOut
from jounce.saving.mjcf_equality import add_equalities, check_constraints
from jounce.saving.mjcf_inertia import add_inertial, inertias
from jounce.saving.mjcf_keyframes import add_keyframes
from jounce.saving.mjcf_visuals import MjcfVisuals
from jounce.saving.names import unused

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
SKIP = ("armature", "constraints", "damping", "friction", "rotors", "springs", "visuals")
_DRIVE = {"armature": "armature", "damping": "damping", "friction": "frictionloss"}
_MAX_DEPTH = 400  # bodies within bodies; MuJoCo's parser stops at 500
_TYPES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "free": "free"}


@dataclass(frozen=True)
class _Hinge:
    """A joint of the file: of which type, where in its body, and which coordinate of which of the robot's joints."""

    name: str
    whose: str
    kind: str
    joint: Joint
    coordinate: int
    axis: Array
    anchor: Array


def to_mjcf(robot: Model, path: Any, name: str, skip: Any) -> str:
    """See `Model.to_mjcf`."""
    file, left_out = a_path(path), LeftOut("MJCF", skip, SKIP)
    root = Element("mujoco", {"model": _named("name", name)})
    merged = _Merged(robot)
    _check(robot, left_out)
    masses = inertias(robot.bodies, left_out)
    left_out.check()
    add(root, "compiler", {"angle": "radian"})
    add(root, "option", {"gravity": numbers(robot.gravity)})
    looks = MjcfVisuals(root, file, left_out)
    world = add(root, "worldbody")
    looks.add(world, "world", robot.scenery)
    elements: dict[int, Element] = {-1: world}
    places: dict[str, tuple[str, int, Array]] = {}  # of the file's joints among the robot's
    taken = {body.joint_name for body in robot.bodies if body.joint.nv}
    for i, body in enumerate(robot.bodies):
        if i in merged.into:
            continue
        above, placement = merged.above(i)
        if isinstance(body.joint, Free):
            above, placement = -1, merged.in_world(i)
            if (placement != np.eye(4)).any():
                left_out.mention(f"placement of joint {quoted(body.joint_name)}", "there q is the pose in the world")
        element = elements[i] = add(elements[above], "body", {"name": _named("name of a body", body.name)})
        _add_pose(element, placement)
        for hinge in merged.hinges(i, taken):
            _add_joint(element, hinge, left_out)
            places[hinge.name] = hinge.whose, hinge.coordinate, merged.in_world(i)
        add_inertial(element, masses[i])
        looks.add(element, body.name, body.visuals)
    add_equalities(root, robot, {"world": world} | {robot.bodies[i].name: e for i, e in elements.items() if i >= 0},
                   "constraints" in left_out.skip)  # fmt: skip
    add_keyframes(root, robot, places)
    left_out.warn()
    return write(text_of(root), file)


def _named(what: str, name: str) -> str:
    if "%" in a_name(what, name):
        raise SaveError(f"{what} is {quoted(name)}, expected no '%', which MuJoCo takes for a format")
    return name


def _check(robot: Model, left_out: LeftOut) -> None:
    """Notes what MJCF cannot say."""
    bodies = robot.bodies
    left_out.check_bodies(bodies)
    depth: list[int] = []
    for body in bodies:
        joint, name = body.joint, body.joint_name
        depth.append(1 + (depth[body.parent] if body.parent >= 0 else 0))
        if any(p.kind == "helical" for p in joint.primitives()):
            left_out.refuse("helical joints", name)
        if isinstance(joint, Free) and not _on_world(bodies, body):
            left_out.refuse("free joints on bodies that move", name)
        elif isinstance(joint, Free) and joint.stiffness.any() and (_pose_in_world(bodies, body) != np.eye(4)).any():
            left_out.refuse("springs at rest away from the world's origin, of free joints", name, "springs")
        for key, skip in (*((key, key) for key in _DRIVE), ("stiffness", "springs")):
            if any(p.kind in ("free", "spherical") for p in joint.primitives()) and np.ptp(getattr(joint, key)) > 0:
                left_out.refuse(f"{key} that differs between the coordinates of joints", name, skip)
    if max(depth, default=0) > _MAX_DEPTH:
        raise SaveError(f"the robot has {max(depth)} bodies in a row, expected at most {_MAX_DEPTH}: MuJoCo nests them")
    check_constraints(robot, left_out)


def _on_world(bodies: Sequence[BodyRecord], body: BodyRecord) -> bool:
    while body.parent >= 0:
        body = bodies[body.parent]
        if body.moves:
            return False
    return True


def _pose_in_world(bodies: Sequence[BodyRecord], body: BodyRecord) -> Array:
    """(4, 4) at zero coordinates."""
    placed = body.placement
    while body.parent >= 0:
        body = bodies[body.parent]
        placed = body.placement @ placed
    return placed


class _Merged:
    """Which bodies are nothing but a joint of the body below them.

    That are those which the reader makes of a body with several joints, or of one away from its origin: massless, with
    one child, and named after the child and their own joint.
    """

    def __init__(self, robot: Model) -> None:
        self._bodies = robot.bodies
        children: dict[int, list[int]] = {}
        for i, body in enumerate(robot.bodies):
            children.setdefault(body.parent, []).append(i)
        tied = {end for constraint in robot.constraints for end in (constraint.a, constraint.b)}
        self.into: dict[int, int] = {}  # of such a body, the one that takes its joint
        for i in reversed(range(len(robot.bodies))):
            below = children.get(i, [])
            if len(below) == 1 and robot.bodies[i].name not in tied:
                target = self.into.get(below[0], below[0])
                if self._fits(robot.bodies[i], robot.bodies[target]):
                    self.into[i] = target

    def _fits(self, body: BodyRecord, target: BodyRecord) -> bool:
        plain = isinstance(body.joint, (Revolute, Prismatic)) and body.inertia.is_zero and not body.visuals
        return plain and not isinstance(target.joint, Free) and body.name == f"{target.name}/{body.joint_name}"

    def above(self, i: int) -> tuple[int, Array]:
        """The body that carries this one, and its pose there at zero coordinates."""
        body = self._bodies[i]
        above, placed = body.parent, body.placement
        while above in self.into:
            above, placed = self._bodies[above].parent, self._bodies[above].placement @ placed
        return above, placed

    def in_world(self, i: int) -> Array:
        return _pose_in_world(self._bodies, self._bodies[i])

    def hinges(self, i: int, taken: set[str]) -> list[_Hinge]:
        """The joints of a body, from its parent on."""
        body = self._bodies[i]
        found = _hinges(body, np.eye(4), taken)
        above, placed = body.parent, body.placement
        while above in self.into:
            found = _hinges(self._bodies[above], inverse(placed), taken) + found
            above, placed = self._bodies[above].parent, self._bodies[above].placement @ placed
        return found


def _hinges(body: BodyRecord, frame: Array, taken: set[str]) -> list[_Hinge]:
    """The joints of the file for one of the robot's, whose frame has this pose in the body of the file."""
    primitives = body.joint.primitives()
    alone = len(primitives) == 1
    return [
        _Hinge(
            body.joint_name if alone else unused(f"{body.joint_name}.{k}", taken),
            body.joint_name,
            _TYPES[primitive.kind],
            body.joint,
            k,
            frame[:3, :3] @ primitive.axis,
            frame[:3, 3],
        )
        for k, primitive in enumerate(primitives)
    ]


def _add_pose(element: Element, placement: Array) -> None:
    if placement[:3, 3].any():
        element.set("pos", numbers(placement[:3, 3]))
    if (placement[:3, :3] != np.eye(3)).any():
        element.set("quat", numbers(quaternions(placement[:3, :3])))


def _add_joint(body: Element, hinge: _Hinge, left_out: LeftOut) -> None:
    joint, k = hinge.joint, hinge.coordinate
    said = {"name": _named("name of a joint", hinge.name), "type": hinge.kind}
    if hinge.kind in ("hinge", "slide"):
        said["axis"] = numbers(hinge.axis)
    if hinge.kind in ("hinge", "ball") and hinge.anchor.any():
        said["pos"] = numbers(hinge.anchor)
    if joint.stiffness[k] and not _dropped(joint, "stiffness", "springs", left_out):
        said["stiffness"] = number(joint.stiffness[k])
        if joint.rest:
            said["springref"] = number(joint.rest)
    for key, attribute in _DRIVE.items():
        if getattr(joint, key)[k] and not _dropped(joint, key, key, left_out):
            said[attribute] = number(getattr(joint, key)[k])
    said |= _limits(joint, hinge.name, left_out)
    add(body, "joint", said)


def _dropped(joint: Joint, key: str, skip: str, left_out: LeftOut) -> bool:
    """Whether it is one of those that are left out: the same word covers all joints that MJCF cannot express."""
    uneven = joint.nv > 1 and len(joint.primitives()) == 1 and np.ptp(getattr(joint, key)) > 0
    return skip in left_out.skip and (bool(uneven) or (key == "stiffness" and isinstance(joint, Free)))


def _limits(joint: Joint, name: str, left_out: LeftOut) -> dict[str, str]:
    limits = joint.limits
    said: dict[str, str] = {}
    if limits is None:
        return said
    if limits.lower == limits.upper:
        left_out.mention(f"range of joint {quoted(name)}", "MuJoCo takes none whose ends are the same")
    elif not (math.isinf(limits.lower) and math.isinf(limits.upper)):
        said["range"] = numbers((max(limits.lower, -FAR), min(limits.upper, FAR)))
    if 0 < limits.effort < math.inf:
        said["actuatorfrcrange"] = numbers((-limits.effort, limits.effort))
    return said
