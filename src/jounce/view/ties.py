"""Signs for constraints: the joints that close loops, and contacts with the world.

A sign has a part on each of the two frames that the constraint ties together, such as the eye and the pin of a hinge.
Where the constraint holds they are one; where it does not, both are seen, and a red rod between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.parts.constraints import ConstraintRecord, Distance, Gear, OnLine, OnPlane, Rolling
from jounce.parts.joints import (
    Cylindrical,
    Fixed,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from jounce.parts.pose import quaternions
from jounce.parts.visual import Box, Capsule, Cylinder, Sphere
from jounce.view.plain import THICK, turned
from jounce.view.rods import Rod
from jounce.view.scene import DrawnRobot
from jounce.view.shapes import add_solid
from jounce.view.style import CONTACT, GAP, LOOP, RGB

Array = NDArray[np.float64]
_WITHIN = 1.15  # depth of a solid through which a sign is seen, relative to its thickness
_LARGEST = 3.0  # sign, relative to the thickness of segments
_MOST = 20_000  # pairs of a solid and a sign that are looked at
_SHEER = 0.35  # opacity of planes and wheels


@dataclass(frozen=True)
class _Piece:
    """A part of a sign.

    Attributes:
        on: "a" or "b", the frames that are tied; "foot", the place on A's plane or line that is nearest to B; "pad",
            where A is, in the axes of the world.
        shape: what it is.
        turn: (3, 3) its axes there.
    """

    on: str
    shape: Box | Cylinder | Sphere
    turn: Array
    opacity: float | None = None


class Ties:
    """The signs of a robot's constraints.

    Attributes:
        handles: of their nodes.
        points: (n, 3) what they tie together, in the world of the robot.
    """

    def __init__(self, drawn: DrawnRobot) -> None:
        ties = [c for c in drawn.robot.constraints if not isinstance(c.kind, Gear)]
        solids = _solids(drawn) if any(not c.contact for c in ties) else []
        if len(solids) * len(ties) > _MOST:
            solids = []
        self._signs = [_Sign(drawn, c, solids) for c in ties]
        self.handles = [sign.node for sign in self._signs]
        self.points = np.zeros((0, 3))

    def place(self, poses: Array) -> None:
        """Moves them, to the poses (frames, 4, 4) of the robot."""
        self.points = np.concatenate([np.zeros((0, 3)), *(sign.place(poses) for sign in self._signs)])


def legend(constraints: tuple[ConstraintRecord, ...]) -> list[tuple[RGB, str]]:
    """The colours of the signs and what they mean."""
    ties = [c for c in constraints if not isinstance(c.kind, Gear)]
    lines = [(LOOP, "closes a loop")] if any(not c.contact for c in ties) else []
    return lines + ([(CONTACT, "contact with the world")] if any(c.contact for c in ties) else [])


class _Sign:
    """Of one constraint."""

    def __init__(self, drawn: DrawnRobot, c: ConstraintRecord, solids: list[tuple[object, Array]]) -> None:
        self._c = c
        self._a, self._b = (None if name == "world" else drawn.robot.frame_index(name) for name in (c.a, c.b))
        thick, colour = self._thickness(drawn, solids), CONTACT if c.contact else LOOP
        self._least = 0.5 * thick
        path = drawn.path(f"{c.name} (constraint)")
        self.node = drawn.scene.add_frame(path, show_axes=False)
        self._nodes: dict[str, Any] = {}
        for i, piece in enumerate(_pieces(c, thick)):
            if piece.on not in self._nodes:
                self._nodes[piece.on] = drawn.scene.add_frame(f"{path}/{piece.on}", show_axes=False)
            options = {"color": colour, "opacity": piece.opacity, "wxyz": quaternions(piece.turn)}
            options |= {"cast_shadow": piece.opacity is None}
            add_solid(drawn.scene, f"{path}/{piece.on}/{i}", piece.shape, options)
        self._gap = Rod(drawn.scene, f"{path}/gap", 0.4 * thick, GAP)
        self._rod = None
        if isinstance(c.kind, (Distance, OnLine)):
            self._rod = Rod(drawn.scene, f"{path}/rod", 0.6 * thick, colour)

    def _thickness(self, drawn: DrawnRobot, solids: list[tuple[object, Array]]) -> float:
        """As that of segments, or so much more that a joint that closes a loop is seen outside the solids around it."""
        thick, c = THICK * drawn.size, self._c
        if c.contact:  # on a pad
            return thick
        ends = [(at, pose[:3, 3]) for at, pose in ((self._a, c.pose_a), (self._b, c.pose_b)) if at is not None]
        places = [drawn.poses[at, :3, :3] @ p + drawn.poses[at, :3, 3] for at, p in ends]
        depths = (_depth(shape, at[:3, :3].T @ (p - at[:3, 3])) for shape, at in solids for p in places)
        deepest = max(depths, default=0.0)
        return min(max(thick, deepest / _WITHIN), _LARGEST * thick)

    def place(self, poses: Array) -> Array:
        """Moves it; returns the places that it ties together."""
        kind = self._c.kind
        b = poses[self._b] @ self._c.pose_b if self._b is not None else self._c.pose_b
        a = poses[self._a] @ self._c.pose_a if self._a is not None else self._c.pose_a
        if not self._c.held:
            a = _held_here(kind, b) if self._c.upright else b
        foot = a.copy()
        foot[:3, 3] = b[:3, 3] - _off(kind, a, b)
        level = np.eye(4)
        level[:3, 3] = a[:3, 3]
        for name, node in self._nodes.items():
            at = {"a": a, "b": b, "foot": foot, "pad": level}[name]
            node.wxyz, node.position = quaternions(at[:3, :3]), at[:3, 3]
        start, end = foot[:3, 3], b[:3, 3]
        if isinstance(kind, Rolling):
            start = start + kind.radius * a[:3, :3] @ kind.normal
        if isinstance(kind, Distance):
            apart = float(np.linalg.norm(end - a[:3, 3]))
            start = a[:3, 3] + (end - a[:3, 3]) * (kind.length / apart if apart > 0 else 0.0)
        if self._rod is not None:
            self._rod.place(a[:3, 3], start)
        self._gap.place(start, end, self._least)
        return np.stack([a[:3, 3] if self._near else foot[:3, 3], end])

    @property
    def _near(self) -> bool:
        """Whether A's origin is where things are tied; the origin of a plane may be anywhere."""
        return not isinstance(self._c.kind, (OnPlane, Planar, Rolling))


def _solids(drawn: DrawnRobot) -> list[tuple[object, Array]]:
    """The boxes, balls, cylinders and capsules of the file, and their poses (4, 4) in the world of the robot."""
    robot = drawn.robot
    return [
        (visual.shape, drawn.poses[robot.frame_index(body.name)] @ visual.placement)
        for body in robot.bodies
        for visual in body.visuals
        if isinstance(visual.shape, (Box, Sphere, Cylinder, Capsule))
    ]


def _depth(shape: object, p: Array) -> float:
    """How far a point (3,) is below the surface of a solid, negative outside it; minus infinity for other shapes."""
    if isinstance(shape, Sphere):
        return float(shape.radius - np.linalg.norm(p))
    if isinstance(shape, Box):
        return float((np.array(shape.size) / 2 - np.abs(p)).min())
    if isinstance(shape, Capsule):
        beyond = max(abs(p[2]) - shape.length / 2, 0.0)
        return float(shape.radius - np.hypot(np.hypot(p[0], p[1]), beyond))
    if isinstance(shape, Cylinder):
        return float(min(shape.radius - np.hypot(p[0], p[1]), shape.length / 2 - abs(p[2])))
    return -np.inf


def _pieces(c: ConstraintRecord, thick: float) -> list[_Piece]:
    """The parts of the sign for a kind of constraint."""
    kind, t = c.kind, thick
    pad: list[_Piece] = []
    if c.contact and not isinstance(kind, (OnPlane, Planar, Rolling)):
        flat = Box((7 * t, 7 * t, 0.4 * t)) if isinstance(kind, Fixed) else Cylinder(3.6 * t, 0.4 * t)
        pad = [_Piece("pad", flat, np.eye(3))]
    if isinstance(kind, Fixed):
        return [*pad, *(_Piece(on, Box((k * t, k * t, k * t)), np.eye(3)) for on, k in (("a", 3.2), ("b", 2.4)))]
    if isinstance(kind, Spherical):
        return [*pad, *(_Piece(on, Sphere(k * t), np.eye(3)) for on, k in (("a", 1.8), ("b", 1.3)))]
    if isinstance(kind, Universal):
        pins = [_Piece(on, Cylinder(0.8 * t, 6 * t), turned(x)) for on, x in (("a", kind.first), ("b", kind.second))]
        return [*pad, _Piece("a", Sphere(1.6 * t), np.eye(3)), *pins]
    if isinstance(kind, (Revolute, Cylindrical, Helical)):
        long = 1.0 if isinstance(kind, Revolute) else 2.0
        eye, pin = Cylinder(1.7 * t, 4 * long * t), Cylinder(0.9 * t, 6 * long * t)
        return [*pad, _Piece("a", eye, turned(kind.axis)), _Piece("b", pin, turned(kind.axis))]
    if isinstance(kind, Prismatic):
        sleeve, bar = Box((3.4 * t, 3.4 * t, 8 * t)), Box((1.8 * t, 1.8 * t, 12 * t))
        return [*pad, _Piece("a", sleeve, turned(kind.axis)), _Piece("b", bar, turned(kind.axis))]
    if isinstance(kind, (OnPlane, Planar)):
        point = Sphere(1.3 * t) if isinstance(kind, OnPlane) else Box((2.4 * t, 2.4 * t, 2.4 * t))
        return [_plane(_normal(kind), t), _Piece("b", point, np.eye(3))]
    if isinstance(kind, OnLine):
        return [
            *pad,
            _Piece("foot", Cylinder(0.6 * t, 16 * t), turned(kind.axis)),
            _Piece("b", Sphere(1.3 * t), np.eye(3)),
        ]
    if isinstance(kind, Rolling):
        wheel = Sphere(kind.radius) if kind.axis is None else Cylinder(kind.radius, 0.5 * t)
        turn = np.eye(3) if kind.axis is None else turned(kind.axis)
        return [_plane(kind.normal, t), _Piece("b", wheel, turn, _SHEER)]
    return [*pad, *(_Piece(on, Sphere(1.3 * t), np.eye(3)) for on in ("a", "b"))]


def _plane(normal: Array, thick: float) -> _Piece:
    return _Piece("foot", Box((14 * thick, 14 * thick, 0.4 * thick)), turned(normal), _SHEER)


def _normal(kind: Any) -> Array:
    return np.cross(kind.x, kind.y) if isinstance(kind, Planar) else np.asarray(kind.normal)


def _off(kind: Any, a: Array, b: Array) -> Array:
    """The vector (3,) to B from the nearest place on A's plane or line; from A's origin if it has neither."""
    away = b[:3, 3] - a[:3, 3]
    if isinstance(kind, (OnPlane, Planar, Rolling)):
        normal = a[:3, :3] @ _normal(kind)
        return np.asarray((away @ normal) * normal)
    if isinstance(kind, (OnLine, Prismatic, Cylindrical, Helical)):
        axis = a[:3, :3] @ kind.axis
        return np.asarray(away - (away @ axis) * axis)
    return np.asarray(away)


def _held_here(kind: Any, b: Array) -> Array:
    """Where a frame is held that is held wherever it is, with the world's axes."""
    a = np.eye(4)
    a[:3, 3] = b[:3, 3] - (kind.radius * kind.normal if isinstance(kind, Rolling) else 0.0)
    return a
