"""URDF: links, and the joints that connect each to its parent.

A joint of several coordinates, other than those that URDF has, becomes a chain of joints with massless links between
them. A screw becomes a turn, and a slide that mimics it: in this order, which is the same motion, since Pinocchio must
know a joint before the one that mimics it. It also wants both to have one coordinate, where its continuous joints have
two: so what mimics or is mimicked is written as revolute, if need be without ends. What is fixed to the world hangs on
a root link "world", which readers take for the world itself; a robot that has a root link of its own, fixed at the
origin, does without. No joint has the name of a link: both are frames for Pinocchio, which finds frames by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import BodyRecord
from jounce.loading.mjcf_keyframes import DRAWN
from jounce.loading.urdf import RATES, in_plane
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Follow, Free, Joint, Limits, Planar
from jounce.saving.document import Element, a_name, a_path, add, number, numbers, text_of, write
from jounce.saving.left_out import LeftOut
from jounce.saving.names import unused, urdf_joint_names
from jounce.saving.origin import add_origin
from jounce.saving.urdf_visuals import UrdfVisuals

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
SKIP = ("armature", "constraints", "damping", "friction", "gravity", "rates", "rotors", "springs", "visuals")
_UNLIMITED = 1e308  # URDF's readers take no "inf", and need the attribute
_NO_LIMITS = Limits()
Losses = dict[str, float]  # of <dynamics>


@dataclass(frozen=True)
class _Step:
    """One joint of the file: its type, and what it says."""

    name: str
    kind: str
    axis: Array | None = None
    losses: Losses = field(default_factory=dict)
    limits: Limits = _NO_LIMITS
    follows: Follow | None = None


def to_urdf(robot: Model, path: Any, name: str, skip: Any) -> str:
    """See `Model.to_urdf`."""
    file, left_out = a_path(path), LeftOut("URDF", skip, SKIP)
    root = Element("robot", {"name": a_name("name", name)})
    _check(robot, left_out)
    left_out.check()
    looks = UrdfVisuals(file, left_out)
    links = _Links(root, robot.bodies, rates="rates" not in left_out.skip)
    if _needs_world(robot):
        looks.add(add(root, "link", {"name": "world"}), "world", robot.scenery)
    for body in robot.bodies:
        links.add(body)
        link = links.element(body.name)
        _add_inertial(link, body.inertia)
        looks.add(link, body.name, body.visuals)
    for i, material in enumerate(looks.materials()):
        root.insert(i, material)
    left_out.warn()
    return write(text_of(root), file)


def _check(robot: Model, left_out: LeftOut) -> None:
    """Notes what URDF cannot say."""
    left_out.check_bodies(robot.bodies)
    for body in robot.bodies:
        joint, name = body.joint, body.joint_name
        if any(p.kind == "helical" for p in joint.primitives()):
            left_out.remark("readers that ignore <mimic> get a free slide for the screw of joint", name)
        if any(p.kind == "spherical" for p in joint.primitives()):
            left_out.refuse("spherical joints", name)
        if joint.stiffness.any():
            left_out.refuse("springs of joints", name, "springs")
        if joint.armature.any():
            left_out.refuse("armature of joints", name, "armature")
        if joint.limits is not None and math.isfinite(joint.limits.effort_rate) and "rates" not in left_out.skip:
            left_out.mention(f"effort_rate of joint {quoted(name)}", "URDF has no such limit")
        for key in ("damping", "friction"):
            if isinstance(joint, Free) and np.ptp(getattr(joint, key)) > 0:
                left_out.refuse(f"{key} that differs between the coordinates of joints", name, key)
    for keyframe in robot.keyframes:
        if keyframe != DRAWN:
            left_out.mention(f"keyframe {quoted(keyframe)}", "it has none")
    for constraint in robot.constraints:
        left_out.refuse("constraints", constraint.name, "constraints")
    if not np.array_equal(robot.gravity, (0.0, 0.0, -9.81)):
        left_out.refuse("gravity other than (0, 0, -9.81), such as", str(robot.gravity.tolist()), "gravity")


def _needs_world(robot: Model) -> bool:
    """Whether the world must be a link: not if the only root is a frame at its origin."""
    roots = [body for body in robot.bodies if body.parent < 0]
    if len(roots) != 1 or robot.scenery:
        return True
    joint, placement = roots[0].joint, roots[0].placement
    return not isinstance(joint, Fixed) or joint.name is not None or bool((placement != np.eye(4)).any())


class _Links:
    """The links and joints of a document, in the order of the bodies."""

    def __init__(self, root: Element, bodies: Sequence[BodyRecord], rates: bool) -> None:
        self._root, self._bodies, self._rates = root, bodies, rates
        names = urdf_joint_names(bodies)
        self._taken = {"world", *(body.name for body in bodies), *names}
        self._called = dict(zip((body.name for body in bodies), names, strict=True))  # by body
        self._leads = {body.joint_name: self._called[body.name] for body in bodies if body.joint.nv}
        follows = {body.joint_name: body.joint.follows.joint for body in bodies if body.joint.follows is not None}
        self._tied = {*follows, *follows.values()}
        self._elements: dict[str, Element] = {}

    def element(self, name: str) -> Element:
        return self._elements[name]

    def add(self, body: BodyRecord) -> None:
        """The links of a body, and the joints above them."""
        parent = self._bodies[body.parent].name if body.parent >= 0 else "world"
        placement = body.placement
        *inner, last = self._steps(body)
        for step in inner:
            link = unused(f"{body.name}/{step.name}", self._taken)
            self._link(link)
            self._joint(step, parent, link, placement)
            parent, placement = link, np.eye(4)
        self._elements[body.name] = self._link(body.name)
        if parent != "world" or self._root.find("link[@name='world']") is not None:
            self._joint(last, parent, body.name, placement)

    def _steps(self, body: BodyRecord) -> list[_Step]:
        joint, name, called = body.joint, body.joint_name, self._called[body.name]
        if isinstance(joint, Fixed):
            return [_Step(called, "fixed")]
        if isinstance(joint, Free):
            return [_Step(called, "floating", losses=_even(joint))]
        if isinstance(joint, Planar) and _is_urdfs(joint):
            return [_Step(called, "planar", np.cross(joint.x, joint.y), _even(joint))]
        primitives = joint.primitives()
        if joint.nv == 1 and primitives[0].kind == "helical":
            axis, limits = primitives[0].axis, joint.limits or _NO_LIMITS
            turn = _Step(called, "revolute", axis, _losses(joint, 0), limits, joint.follows)
            slide = _times(primitives[0].slide, joint.follows or Follow(name))
            return [turn, _Step(unused(f"{name}.slide", self._taken), "prismatic", axis, follows=slide)]
        steps = []
        for i, primitive in enumerate(primitives):
            limits = joint.limits or _NO_LIMITS
            own = called if len(primitives) == 1 else unused(f"{name}.{i}", self._taken)
            kind = "prismatic" if primitive.kind == "prismatic" else self._turning(name, limits)
            steps.append(_Step(own, kind, primitive.axis, _losses(joint, i), limits, joint.follows))
        return steps

    def _turning(self, name: str, limits: Limits) -> str:
        ends = math.isfinite(limits.lower) or math.isfinite(limits.upper)
        return "revolute" if ends or name in self._tied else "continuous"

    def _link(self, name: str) -> Element:
        return add(self._root, "link", {"name": a_name("name of a body", name)})

    def _joint(self, step: _Step, parent: str, child: str, placement: Array) -> None:
        element = add(self._root, "joint", {"name": a_name("name of a joint", step.name), "type": step.kind})
        add_origin(element, placement)
        add(element, "parent", {"link": parent})
        add(element, "child", {"link": child})
        if step.axis is not None:
            add(element, "axis", {"xyz": numbers(step.axis)})
        self._add_limit(element, step)
        if any(step.losses.values()):
            add(element, "dynamics", {key: number(value) for key, value in step.losses.items() if value})
        if step.follows is not None:
            ratio, offset = number(step.follows.ratio), number(step.follows.offset)
            leader = self._leads[step.follows.joint]
            add(element, "mimic", {"joint": leader, "multiplier": ratio, "offset": offset})

    def _add_limit(self, element: Element, step: _Step) -> None:
        """A <limit>, which slides and turns with ends must have."""
        limits, ends = step.limits, step.kind in ("revolute", "prismatic")
        said = {"lower": limits.lower, "upper": limits.upper} if ends else {}
        said |= {"effort": limits.effort, "velocity": limits.velocity}
        rates = _rates_of(limits) if self._rates else {}
        if not ends and (step.kind != "continuous" or not any(map(math.isfinite, (said | rates).values()))):
            return
        if rates:
            self._root.set("version", "1.2")
        add(element, "limit", {key: number(min(max(x, -_UNLIMITED), _UNLIMITED)) for key, x in (said | rates).items()})


def _rates_of(limits: Limits) -> dict[str, float]:
    """The limits that URDF has from version 1.2 on, where they are given."""
    given = {key: math.isfinite(getattr(limits, key)) for key in ("acceleration", "jerk")}
    given["deceleration"] = limits.deceleration not in (None, limits.acceleration)
    return {key: getattr(limits, key) for key in RATES if given[key]}


def _times(ratio: float, follows: Follow) -> Follow:
    """Of what follows something by a ratio that itself follows another joint."""
    return Follow(follows.joint, ratio * follows.ratio, ratio * follows.offset)


def _add_inertial(link: Element, inertia: Inertia) -> None:
    if inertia.is_zero:
        return
    inertial = add(link, "inertial")
    if inertia.com.any():
        add(inertial, "origin", {"xyz": numbers(inertia.com)})
    add(inertial, "mass", {"value": number(inertia.mass)})
    pairs = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    add(inertial, "inertia", {key: number(inertia.rotational[at]) for key, at in pairs.items()})


def _losses(joint: Joint, i: int) -> Losses:
    """What <dynamics> says of a coordinate."""
    return {"damping": float(joint.damping[i]), "friction": float(joint.friction[i])}


def _even(joint: Joint) -> Losses:
    """The same for all coordinates; none of those that differ."""
    return {key: x for key, x in _losses(joint, 0).items() if np.ptp(getattr(joint, key)) == 0}


def _is_urdfs(joint: Planar) -> bool:
    """Whether a planar joint has the axes that readers give the one of a URDF."""
    x, y = in_plane(np.cross(joint.x, joint.y))
    return bool(np.array_equal(x, joint.x) and np.array_equal(y, joint.y)) and len(_even(joint)) == 2
