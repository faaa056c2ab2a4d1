"""From the user's bodies to the tables of the compiled core.

Every joint becomes a chain of primitives, the ones between them carried by massless bodies. Each primitive's internal
frame is turned so that its axis is z; ``turn`` below is that frame in the user's body axes, x_user = turn x_internal.
Bodies on fixed joints disappear into the body that carries them and stay as frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import frozen
from .inertia import Inertia
from .joints import Fixed, Free, Joint

Array = NDArray[np.float64]
_KINDS = ("revolute", "prismatic", "helical", "spherical", "free")


@dataclass(frozen=True, eq=False)
class BodyRecord:
    """A body as it was added: `parent` is an index into the list of all bodies, -1 the world."""

    name: str
    parent: int
    joint: Joint
    placement: Array
    inertia: Inertia

    def __reduce__(self) -> tuple[Any, ...]:
        return BodyRecord, (self.name, self.parent, self.joint, self.placement, self.inertia)

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", frozen(self.placement))


@dataclass
class _Carrier:
    """Where a user's body went: internal body `index`, and the user's frame in it."""

    index: int
    pose: Array


def compiled(bodies: Sequence[BodyRecord], gravity: Array) -> dict[str, object]:
    """The tables that ``_core.CoreModel`` takes."""
    joint, parent, slide = [], [], []
    rotation, position, mass, first, second = [], [], [], [], []
    carriers: list[_Carrier] = []
    free_body, free_pose = [], []
    world = _Carrier(-1, np.eye(4))

    for body in bodies:
        above = carriers[body.parent] if body.parent >= 0 else world
        index, pose = above.index, above.pose @ body.placement
        for primitive in body.joint.primitives():
            turn = np.eye(4)
            turn[:3, :3] = _turn_z_to(tuple(primitive.axis.tolist()))
            placed = pose @ turn
            joint.append(_KINDS.index(primitive.kind))
            parent.append(index)
            slide.append(primitive.slide)
            rotation.append(placed[:3, :3])
            position.append(placed[:3, 3])
            mass.append(0.0)
            first.append(np.zeros(3))
            second.append(np.zeros((3, 3)))
            index = len(joint) - 1
            pose = turn.T
        carriers.append(_Carrier(index, pose))
        if isinstance(body.joint, Free):
            free_body.append(index)
            free_pose.append(body.placement)
        if index >= 0:
            m, h, J = moments(body.inertia, pose)
            mass[index] += m
            first[index] += h
            second[index] += J

    moving = [i for i, b in enumerate(bodies) if not isinstance(b.joint, Fixed)]
    fixed = [i for i, b in enumerate(bodies) if isinstance(b.joint, Fixed)]
    frames = [carriers[i] for i in moving + fixed]
    poses = np.array([f.pose for f in frames]).reshape(-1, 4, 4)
    free_poses = np.array(free_pose).reshape(-1, 4, 4)
    tensors = np.array(second).reshape(-1, 3, 3)
    return {
        "joint": joint,
        "parent": parent,
        "slide": np.array(slide),
        "rotation": np.array(rotation),
        "position": np.array(position),
        "mass": np.array(mass),
        "first_moment": np.array(first),
        "second_moment": tensors[:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)],
        "frame_body": [f.index for f in frames],
        "frame_rotation": poses[:, :3, :3],
        "frame_position": poses[:, :3, 3],
        "body_count": len(moving),
        "free_body": free_body,
        "free_rotation": free_poses[:, :3, :3],
        "free_position": free_poses[:, :3, 3],
        "armature": _each(bodies, "armature"),
        "damping": _each(bodies, "damping"),
        "stiffness": _each(bodies, "stiffness"),
        "rest": np.repeat([b.joint.rest for b in bodies], [b.joint.nv for b in bodies]),
        "gravity": gravity,
    }


def inertial_parameters(bodies: Sequence[BodyRecord]) -> Array:
    """Ten numbers for each moving body and all that is fixed to it: see ``Model.inertial_parameters``."""
    totals: list[Array] = []
    carriers: list[_Carrier] = []
    for body in bodies:
        if isinstance(body.joint, Fixed):
            above = carriers[body.parent] if body.parent >= 0 else _Carrier(-1, np.eye(4))
            own = _Carrier(above.index, above.pose @ body.placement)
        else:
            own = _Carrier(len(totals), np.eye(4))
            totals.append(np.zeros(10))
        carriers.append(own)
        if own.index >= 0:
            m, h, J = moments(body.inertia, own.pose)
            about_origin = np.trace(J) * np.eye(3) - J
            totals[own.index] += [m, *h, *about_origin[(0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)]]
    return np.concatenate([np.zeros(0), *totals])


def massless_bodies(bodies: Sequence[BodyRecord]) -> list[str]:
    """Names of the bodies whose joint moves nothing that resists: no inertia in or below them, no armature."""
    heavy = [not b.inertia.is_zero for b in bodies]
    for i in reversed(range(len(bodies))):
        if heavy[i] and bodies[i].parent >= 0:
            heavy[bodies[i].parent] = True
    return [
        b.name
        for b, has_inertia in zip(bodies, heavy, strict=True)
        if not has_inertia and b.joint.nv > 0 and not (b.joint.armature > 0).all()
    ]


def _each(bodies: Sequence[BodyRecord], key: str) -> Array:
    return np.concatenate([np.zeros(0), *(getattr(b.joint, key) for b in bodies)])


def moments(inertia: Inertia, pose: Array) -> tuple[float, Array, Array]:
    """Mass, first moment m c and second moment (the integral of x x^T dm) in the frame where the body has `pose`."""
    turn, com = pose[:3, :3], pose[:3, :3] @ inertia.com + pose[:3, 3]
    rotational = turn @ inertia.rotational @ turn.T
    about_com = np.trace(rotational) / 2 * np.eye(3) - rotational
    return inertia.mass, inertia.mass * com, about_com + inertia.mass * np.outer(com, com)


@lru_cache(maxsize=64)  # few axes serve most robots
def _turn_z_to(direction: tuple[float, ...]) -> Array:
    """A rotation that takes z there; the identity for z itself, a permutation for the other coordinate axes."""
    axis = np.array(direction)
    if axis[2] == 1.0:
        return np.eye(3)
    x = np.roll(np.eye(3)[int(np.argmax(np.abs(axis)))], 1)
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)
