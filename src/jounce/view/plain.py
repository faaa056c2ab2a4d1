"""A drawing of bodies without visuals: segments between joints, the joints themselves, and boxes for their mass.

The segments of a body go from its origin to all its joints, those that close loops included. The world has segments
too, and a plate under each joint that is mounted on it. The box is the one of uniform density that has the body's mass
and inertia, unless that is much longer than the robot.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.constraints import Gear, OnLine, OnPlane, Rolling
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed, Free, Prismatic
from jounce.parts.visual import Box, Capsule, Colour, Cylinder, Sphere, Visual
from jounce.view.style import BONE, GROUND, JOINT, LIMBS

Array = NDArray[np.float64]
AIR = 1.2  # kg/m^3
THICK = 0.012  # thickness of segments, relative to the robot's size


def plain_visuals(robot: Model, looks: Collection[int], size: float, height: float = 0.0) -> dict[int, list[Visual]]:
    """Visuals, by index in ``robot.bodies``, for all moving bodies without any, and for what carries them.

    Args:
        looks: the bodies that have visuals. Bodies fixed to one of them need none.
        size: of the robot, m.
        height: of its centre of mass: where that is lower than what it is mounted on, it hangs from there.
    """
    bodies = robot.bodies
    carrier = _carriers(robot)
    clad = {carrier[i] for i in looks if carrier[i] >= 0}
    reached, limb = _reached(robot, carrier, clad), _limbs(robot)
    thick, longest = THICK * size, _longest(robot, size)
    made: dict[int, list[Visual]] = {}
    for i, b in enumerate(bodies):
        if carrier[i] < 0 or carrier[i] in clad:
            continue
        drawn = [v for place in reached.get(i, ()) for v in _segment(place[:3, 3], thick, BONE)]
        if b.soft is None:
            if not drawn and b.inertia.mass > 0:
                drawn = _segment(b.inertia.com, 0.7 * thick, BONE)
            if b.inertia.mass > 0:
                drawn.append(_box(b.inertia, thick, longest, LIMBS[limb[i] % len(LIMBS)]))
            if not isinstance(b.joint, Fixed):
                drawn.append(_joint(b.joint, thick))
        made[i] = drawn
    if robot.scenery or any(carrier[i] < 0 for i in looks):
        return made
    for i in (-1, *(i for i in range(len(bodies)) if carrier[i] < 0)):  # what is fixed: from its origin to its joints
        made[i] = [v for place in reached.get(i, ()) for v in _segment(place[:3, 3], thick, GROUND)]
    for place in reached.get(-1, ()):
        x, y, z = place[:3, 3]
        post = np.hypot(x, y) < abs(z)  # which stands on its own plate
        made[-1].append(_plate(np.eye(4) if post else place, thick, hangs=height < z and not post))
    return made


def boxes(robot: Model, bodies: Collection[int], drawn: Collection[int], size: float) -> dict[int, list[Visual]]:
    """The boxes of some bodies, or of the moving bodies that they are part of, unless these are drawn already."""
    if not bodies:
        return {}
    carrier, limb, longest = _carriers(robot), _limbs(robot), _longest(robot, size)
    whole = {carrier[i] for i in bodies if carrier[i] >= 0} - set(drawn)
    return {
        i: [_box(robot.bodies[i].inertia, THICK * size, longest, LIMBS[limb[i] % len(LIMBS)])]
        for i in sorted(whole)
        if robot.bodies[i].inertia.mass > 0
    }


def _below(robot: Model) -> dict[int, list[int]]:
    """The bodies that hang on each, -1 for the world."""
    below: dict[int, list[int]] = {}
    for j, b in enumerate(robot.bodies):
        if b.at is None:
            below.setdefault(b.parent, []).append(j)
    return below


def _reached(robot: Model, carrier: list[int], clad: Collection[int]) -> dict[int, list[Array]]:
    """The places (4, 4) of joints on each body, -1 for the world: of those that carry others, and that close loops.

    The world has only what is drawn from the tree and fixed to it.
    """
    bodies = robot.bodies
    below, index = _below(robot), {"world": -1} | {b.name: i for i, b in enumerate(bodies)}
    reached: dict[int, list[Array]] = {}

    def add(i: int, place: Array, other: int) -> None:
        plain = other < 0 or carrier[other] not in clad
        if i >= 0 or plain:
            reached.setdefault(i, []).append(place)

    for i, there in below.items():
        for j in there:
            if not isinstance(bodies[j].joint, Free) and (i >= 0 or bodies[j].moves or j in below):
                add(i, bodies[j].placement, j)
    for c in robot.constraints:
        if c.contact or isinstance(c.kind, Gear):
            continue
        a, b = index[c.a], index[c.b]
        if a >= 0 or not isinstance(c.kind, (OnPlane, OnLine, Rolling)):
            add(a, c.pose_a, b)
        add(b, c.pose_b, a)
    return reached


def _carriers(robot: Model) -> list[int]:
    """For each body, the moving one that it is part of, -1 for the world."""
    carrier: list[int] = []
    for i, b in enumerate(robot.bodies):
        carrier.append(i if b.moves else carrier[b.parent] if b.parent >= 0 else -1)
    return carrier


def _limbs(robot: Model) -> list[int]:
    """A number for each body, which changes where the tree branches."""
    children: dict[int, int] = {}
    for b in robot.bodies:
        if b.moves:
            children[b.parent] = children.get(b.parent, 0) + 1
    limb: list[int] = []
    last = -1
    for b in robot.bodies:
        if b.moves and (b.parent < 0 or children.get(b.parent, 0) > 1):
            last += 1
            limb.append(last)
        else:
            limb.append(limb[b.parent] if b.parent >= 0 else max(last, 0))
    return limb


def _plate(place: Array, thick: float, hangs: bool) -> Visual:
    """What a joint is mounted on: a plate under it, or above if the robot hangs from it."""
    level = np.eye(4)
    level[:3, 3] = place[:3, 3] + [0.0, 0.0, 2.0 * thick if hangs else -2.0 * thick]
    return Visual(Box((7 * thick, 7 * thick, thick)), level, GROUND)


def _segment(to: Array, radius: float, colour: Colour) -> list[Visual]:
    """A segment from the origin to a point."""
    length = float(np.linalg.norm(to))
    if length < radius:
        return []
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = turned(to / length), to / 2
    return [Visual(Capsule(min(radius, 0.2 * length), length), placement, colour)]


def turned(direction: Array) -> Array:
    """A rotation that maps z to a direction."""
    x = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = x - (x @ direction) * direction
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(direction, x), direction], axis=1)


def principal(inertia: Inertia) -> tuple[Array, Array]:
    """Pose (4, 4) of the principal axes, and the second moments along them divided by the mass (3,), m^2."""
    moments, axes = np.linalg.eigh(inertia.rotational)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, inertia.com
    return pose, np.maximum(moments.sum() / 2 - moments, 0.0) / inertia.mass


def shortened(robot: Model, drawn: Collection[int], size: float) -> list[str]:
    """The bodies among those drawn of which the box is smaller than their mass and inertia say."""
    longest = _longest(robot, size)
    inertias = {robot.bodies[i].name: robot.bodies[i].inertia for i in drawn if i >= 0}
    return [name for name, inertia in inertias.items() if inertia.mass > 0 and _edges(inertia).max() > longest]


def mean_box(robot: Model) -> float:
    """The longest edge of the boxes of its bodies, in the mean that heavy ones count for, m.

    Boxes lighter than air are not believed, unless all are: 10 g with the inertia of a car would hide the robot.
    """
    every = [(b.inertia.mass, _edges(b.inertia)) for b in robot.bodies if b.inertia.mass > 0]
    weights = [(m, edges.max()) for m, edges in every if m >= AIR * edges.prod()]
    weights = weights or [(m, edges.max()) for m, edges in every]
    return float(np.sqrt(sum(m * e**2 for m, e in weights) / sum(m for m, _ in weights))) if weights else 0.0


def _longest(robot: Model, size: float) -> float:
    """No box is longer: files are full of light parts with inertias that are far too large."""
    return max(size, 2 * mean_box(robot))


def _edges(inertia: Inertia) -> Array:
    """(3,) of the box of uniform density with the mass and inertia of a body, m."""
    return np.asarray(np.sqrt(12 * principal(inertia)[1]))


def _box(inertia: Inertia, thick: float, longest: float, colour: Colour) -> Visual:
    pose, edges = principal(inertia)[0], _edges(inertia)
    if edges.max() < 0.5 * thick:  # nearly a point
        return Visual(Sphere(1.8 * thick), pose, colour)
    edges *= min(1.0, longest / edges.max())
    x, y, z = (float(e) for e in np.maximum(edges, 0.5 * thick))
    return Visual(Box((x, y, z)), pose, colour)


def _joint(joint: object, thick: float) -> Visual:
    axis = getattr(joint, "axis", None)
    pose = np.eye(4)
    if axis is None:
        return Visual(Sphere(1.7 * thick), pose, JOINT)
    pose[:3, :3] = turned(axis)
    if isinstance(joint, Prismatic):
        return Visual(Box((2.8 * thick, 2.8 * thick, 4.0 * thick)), pose, JOINT)
    return Visual(Cylinder(1.5 * thick, 4.0 * thick), pose, JOINT)
