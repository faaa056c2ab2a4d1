"""What the aerial manipulator looks like: a hub, six booms with tilted propellers, and two arms.

Each link has the colour of its curves in the figures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jounce.core_tables import BodyRecord
from jounce.display.style import COLOURS
from jounce.model import Model
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed
from jounce.parts.visual import Box, Capsule, Colour, Cylinder, Sphere, Visual
from jounce.robots import Array, TiltHex

_HUB: Colour = (0.93, 0.94, 0.96, 1.0)
_METAL: Colour = (0.33, 0.37, 0.42, 1.0)
_DARK: Colour = (0.16, 0.18, 0.22, 1.0)
_DISC = 0.15  # radius of a propeller, m
_LINK = 0.12  # length of a link, 2 d, m


def dressed(robot: Model, hexarotor: TiltHex) -> Model:
    """The same robot, with visuals, and with frames at its propellers, p1 to p6, and at its tools.

    Args:
        robot: the aerial manipulator, with two arms of three links.
        hexarotor: where its propellers are.
    """
    base, *links = robot.bodies
    made = [replace(base, visuals=_base(hexarotor, [b.placement[:3, 3] for b in links if b.parent == 0]))]
    tools: list[BodyRecord] = []
    for i, link in enumerate(links, 1):
        last = not any(b.parent == i for b in links)
        made.append(replace(link, visuals=_link(_colour(COLOURS[(i - 1) % len(COLOURS)]), last)))
        if last:
            tools.append(_frame(f"tool {len(tools) + 1}", i, _shifted(np.array([0.0, 0.0, -_LINK]))))
    rotors = [_frame(f"p{i}", 0, _moved(pose, 0.035)) for i, pose in enumerate(hexarotor.poses(), 1)]
    return Model([*made, *tools, *rotors], robot.gravity)


def _colour(digits: str) -> Colour:
    """From "#rrggbb"."""
    red, green, blue = (int(digits[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue, 1.0


def _frame(name: str, body: int, pose: Array) -> BodyRecord:
    return BodyRecord(name, body, Fixed(), pose, Inertia(0.0))


def _base(hexarotor: TiltHex, shoulders: list[Array]) -> tuple[Visual, ...]:
    drawn = [
        _put(Cylinder(0.13, 0.05), np.zeros(3), _HUB),
        _put(Cylinder(0.10, 0.02), np.array([0.0, 0.0, 0.035]), _METAL),
        _put(Cylinder(0.11, 0.02), np.array([0.0, 0.0, -0.035]), _METAL),
    ]
    for pose in hexarotor.poses():
        axis, place = pose[:3, 2], pose[:3, 3]
        drawn.append(_between(0.1 * place / np.linalg.norm(place), place - 0.02 * axis, 0.011, _METAL))
        drawn.append(Visual(Cylinder(0.022, 0.05), pose, _DARK))
        drawn.append(Visual(Cylinder(_DISC, 0.004), _moved(pose, 0.03), (0.55, 0.66, 0.78, 0.35)))
        drawn.append(Visual(Box((2 * _DISC, 0.022, 0.006)), _moved(pose, 0.03), _DARK))
    drawn += [_between(np.array([x, y, -0.04]), np.array([x, y, z]), 0.016, _METAL) for x, y, z in shoulders]
    return tuple(drawn)


def _link(colour: Colour, last: bool) -> tuple[Visual, ...]:
    end = np.array([0.0, 0.0, -_LINK])
    tool = (_put(Sphere(0.02), end, _HUB),) if last else ()
    return (_put(Sphere(0.026), np.zeros(3), _DARK), _between(np.zeros(3), end, 0.018, colour), *tool)


def _put(shape: Cylinder | Sphere, place: Array, colour: Colour) -> Visual:
    return Visual(shape, _shifted(place), colour)


def _shifted(place: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def _moved(pose: Array, along: float) -> Array:
    moved = pose.copy()
    moved[:3, 3] += along * pose[:3, 2]
    return moved


def _between(start: Array, end: Array, radius: float, colour: Colour) -> Visual:
    """A rod from one point to another."""
    z = (end - start) / np.linalg.norm(end - start)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), (start + end) / 2
    return Visual(Capsule(radius, float(np.linalg.norm(end - start))), pose, colour)
