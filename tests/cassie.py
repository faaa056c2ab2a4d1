"""A robot with Cassie's legs, in the neutral form of `trees`: each has two loops, of an Achilles and of a plantar rod.

Lengths, masses and parallel axes are close to Cassie's. The plantar loop is planar: a ball joint that closes it also
constrains a direction in which nothing moves anyway. Springs of the shin and heel are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import jounce as jn
from build import jounce_model
from trees import BodySpec, TreeSpec

_DOWN = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).T  # x down, z to the side


def placed(x: float, y: float, z: float, R: np.ndarray | None = None) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    if R is not None:
        pose[:3, :3] = R
    return pose


@dataclass(frozen=True, eq=False)
class Loop:
    """Two bodies that are tied together, and where."""

    name: str
    first: str
    second: str
    placement_a: np.ndarray
    placement_b: np.ndarray


# body, parent, joint, its axis, its position, length of the body along x, mass
_LEG = (
    ("roll", "pelvis", "revolute", (1, 0, 0), (0.021, 0.135, 0.0), 0.07, 1.82),
    ("yaw", "roll", "revolute", (0, 0, 1), (-0.07, 0.0, 0.0), 0.05, 1.17),
    ("thigh", "yaw", "revolute", (0, 0, 1), (0.0, 0.0, -0.09), 0.12, 5.52),
    ("achilles", "thigh", "spherical", (0, 0, 1), (0.0, 0.0, 0.045), 0.5012, 0.157),
    ("knee", "thigh", "revolute", (0, 0, 1), (0.12, 0.0, 0.0045), 0.08, 0.758),
    ("shin", "knee", "revolute", (0, 0, 1), (0.06068, 0.04741, 0.0), 0.43, 0.577),
    ("tarsus", "shin", "revolute", (0, 0, 1), (0.43476, 0.02, 0.0), 0.40, 0.782),
    ("heel", "tarsus", "revolute", (0, 0, 1), (-0.01269, -0.03059, 0.00092), 0.11, 0.126),
    ("crank", "tarsus", "revolute", (0, 0, 1), (0.058, -0.034, 0.0228), 0.055, 0.126),
    ("plantar", "crank", "revolute", (0, 0, 1), (0.055, 0.0, -0.00791), 0.35012, 0.1186),
    ("foot", "tarsus", "revolute", (0, 0, 1), (0.408, -0.04, 0.0), 0.05, 0.15),
)
_STANDING = {"knee": -1.0, "tarsus": 1.4, "foot": -1.5, "crank": -1.4, "plantar": 1.4, "thigh": 0.5}


def _body(name: str, parent: int, joint: str, axis: tuple, pose: np.ndarray, length: float, mass: float) -> BodySpec:
    thick = 0.03
    moments = mass * np.diag([thick**2 / 6, (length**2 + thick**2) / 12, (length**2 + thick**2) / 12])
    com = np.array([length / 2, 0.004, -0.003])
    return BodySpec(name, parent, joint, pose, mass, com, moments, np.array(axis, float))


def tree() -> TreeSpec:
    bodies = [_body("pelvis", -1, "free", (0, 0, 1), np.eye(4), 0.2, 10.33)]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, parent, joint, axis, (x, y, z), length, mass in _LEG:
            names = [b.name for b in bodies]
            above = names.index(parent if parent == "pelvis" else f"{side}_{parent}")
            pose = placed(x, sign * y, z) if name == "roll" else placed(x, y, z, _DOWN.T if name == "thigh" else None)
            bodies.append(_body(f"{side}_{name}", above, joint, axis, pose, length, mass))
    return TreeSpec(tuple(bodies))


def loops() -> list[Loop]:
    """The loops, at the tips of the rods."""
    found = []
    for side in ("left", "right"):
        tip, heel = placed(0.5012, 0.0, 0.0), placed(0.11877, -0.01, 0.0)
        found.append(Loop(f"{side} achilles", f"{side}_achilles", f"{side}_heel", tip, heel))
        tip, foot = placed(0.35012, 0.0, 0.0), placed(0.01762, 0.05219, 0.0228 - 0.00791)
        found.append(Loop(f"{side} plantar", f"{side}_plantar", f"{side}_foot", tip, foot))
    return found


def closed(joint: jn.Joint, chosen: list[Loop]) -> jn.Model:
    builder = jn.Builder.from_model(jounce_model(tree()))
    for loop in chosen:
        builder.close(
            loop.name, loop.first, loop.second, joint, placement_a=loop.placement_a, placement_b=loop.placement_b
        )
    return builder.build()


def standing(model: jn.Model) -> np.ndarray:
    """A configuration near one in which the legs close."""
    q = model.neutral()
    for side in ("left", "right"):
        for name, angle in _STANDING.items():
            q[model.position(f"{side}_{name}")] = angle
    return q
