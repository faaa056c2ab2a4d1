"""A drawing of bodies without visuals: segments between joints, the joints themselves, and boxes for their mass.

The box is the one of uniform density that has the body's mass and inertia.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed
from jounce.parts.visual import Box, Capsule, Colour, Cylinder, Sphere, Visual
from jounce.view.style import BONE, JOINT, LIMBS

Array = NDArray[np.float64]
_THICK = 0.012  # thickness of segments, relative to the robot's size
_SMALL, _LARGEST, _ALONE = 8, 20, 55  # edges of boxes, relative to that; the last for bodies of unknown length


def plain_visuals(robot: Model, looks: Collection[int], size: float) -> dict[int, list[Visual]]:
    """Visuals, by index in ``robot.bodies``, for all moving bodies without any.

    Args:
        looks: the bodies that have visuals. Bodies fixed to one of them need none.
        size: of the robot, m.
    """
    bodies = robot.bodies
    carrier = _carriers(robot)
    clad = {carrier[i] for i in looks if carrier[i] >= 0}
    below = _below(robot)
    limb = _limbs(robot)
    thick = _THICK * size
    made: dict[int, list[Visual]] = {}
    for i, b in enumerate(bodies):
        if b.soft is not None or carrier[i] < 0 or carrier[i] in clad:
            continue
        colour = LIMBS[limb[i] % len(LIMBS)]
        drawn = [v for j in below.get(i, ()) for v in _segment(bodies[j].placement[:3, 3], thick, BONE)]
        if not drawn and b.inertia.mass > 0:
            drawn = _segment(b.inertia.com, 0.7 * thick, BONE)
        if b.inertia.mass > 0:
            drawn.append(_box(robot, i, below.get(i, ()), thick, colour))
        if not isinstance(b.joint, Fixed):
            drawn.append(_joint(b.joint, thick))
        made[i] = drawn
    roots = [j for j in below.get(-1, ()) if carrier[j] not in clad]
    if all(carrier[j] >= 0 for j in roots) and not robot.scenery:
        return made
    for i in range(len(bodies)):  # a fixed base: from its origin to its joints
        if carrier[i] < 0 and not any(carrier[k] < 0 for k in looks):
            made[i] = [v for j in below.get(i, ()) for v in _segment(bodies[j].placement[:3, 3], thick, BONE)]
    return made


def boxes(robot: Model, bodies: Collection[int], drawn: Collection[int], size: float) -> dict[int, list[Visual]]:
    """The boxes of some bodies, or of the moving bodies that they are part of, unless these are drawn already."""
    if not bodies:
        return {}
    carrier, limb, below, thick = _carriers(robot), _limbs(robot), _below(robot), _THICK * size
    whole = {carrier[i] for i in bodies if carrier[i] >= 0} - set(drawn)
    return {
        i: [_box(robot, i, below.get(i, ()), thick, LIMBS[limb[i] % len(LIMBS)])]
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


def _box(robot: Model, i: int, below: Collection[int], thick: float, colour: Colour) -> Visual:
    """The box of a body with mass, of about the extent of what hangs on it."""
    inertia = robot.bodies[i].inertia
    reach = max((float(np.linalg.norm(robot.bodies[j].placement[:3, 3])) for j in below), default=0.0)
    reach = max(reach, 2 * float(np.linalg.norm(inertia.com)))
    largest = min(max(1.2 * reach, _SMALL * thick), _LARGEST * thick) if reach > thick else _ALONE * thick
    return _mass(inertia, thick, largest, colour)


def _mass(inertia: Inertia, thick: float, largest: float, colour: Colour) -> Visual:
    """The box; files are full of inertias that are far too large, so its edges are limited."""
    pose, second = principal(inertia)
    edges = np.sqrt(12 * second)
    if edges.max() < 0.5 * thick:  # nearly a point
        return Visual(Sphere(1.8 * thick), pose, colour)
    edges *= min(1.0, largest / edges.max())
    x, y, z = (float(e) for e in np.maximum(edges, 0.5 * thick))
    return Visual(Box((x, y, z)), pose, colour)


def _joint(joint: object, thick: float) -> Visual:
    axis = getattr(joint, "axis", None)
    pose = np.eye(4)
    if axis is None:
        return Visual(Sphere(1.7 * thick), pose, JOINT)
    pose[:3, :3] = turned(axis)
    return Visual(Cylinder(1.5 * thick, 4.0 * thick), pose, JOINT)
