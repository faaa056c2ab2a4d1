"""From the user's bodies to the tables of the compiled core.

Every joint becomes a chain of primitives, the ones between them carried by massless bodies. Each primitive's internal
frame is turned so that its axis is z; ``turn`` below is that frame in the user's body axes, x_user = turn x_internal.
Bodies on fixed joints disappear into the body that carries them and stay as frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import frozen
from .inertia import Inertia
from .joints import Fixed, Free, Joint
from .soft.body import Shape, SoftBody

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
    soft: SoftBody | None = None
    at: float | None = None  # where on a soft parent, m; its far end where None

    def __reduce__(self) -> tuple[Any, ...]:
        return BodyRecord, (self.name, self.parent, self.joint, self.placement, self.inertia, self.soft, self.at)

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", frozen(self.placement))

    @property
    def joint_name(self) -> str:
        """What its joint is called: as the body, unless it has a name."""
        return self.joint.name or self.name

    @property
    def shape_name(self) -> str:
        """What the coordinates of a soft body are called: as the body, unless its joint has coordinates, too."""
        return f"{self.name}.shape" if self.joint.nv else self.name

    @property
    def moves(self) -> bool:
        """Whether it has coordinates, or follows one that has: else it is a part of its parent."""
        return self.soft is not None or not isinstance(self.joint, Fixed)


def own_records(bodies: Sequence[BodyRecord]) -> list[BodyRecord]:
    """One record for each joint with coordinates of its own and for each shape, in the order of the coordinates."""
    records = []
    for b in bodies:
        if b.joint.nv and not b.joint.follows:
            records.append(b)
        if b.soft is not None:
            records.append(replace(b, joint=Shape(b.soft.n, b.soft.scale, b.shape_name)))
    return records


@dataclass
class _Carrier:
    """Where a user's body went: internal body `index`, the user's frame in it, and of a soft one the marks on it."""

    index: int
    pose: Array
    marks: dict[float, int] = field(default_factory=dict)

    def at(self, mark: float | None) -> int:
        """The internal body that a child is on."""
        return self.index if mark is None else self.marks[mark]


def marks_on(bodies: Sequence[BodyRecord], index: int) -> tuple[float, ...]:
    """The material coordinates of a soft body where children are."""
    return tuple(sorted({b.at for b in bodies if b.parent == index and b.at is not None}))


def compiled(bodies: Sequence[BodyRecord], gravity: Array) -> dict[str, object]:
    """The tables that ``_core.CoreModel`` takes."""
    joint, parent, slide = [], [], []
    rotation, position, mass, first, second = [], [], [], [], []
    carriers: list[_Carrier] = []
    free_body, free_pose = [], []
    world = _Carrier(-1, np.eye(4))

    def add(kind: str, on: int, placed: Array, amount: float = 0.0) -> int:
        joint.append(_KINDS.index(kind))
        parent.append(on)
        slide.append(amount)
        rotation.append(placed[:3, :3])
        position.append(placed[:3, 3])
        mass.append(0.0)
        first.append(np.zeros(3))
        second.append(np.zeros((3, 3)))
        return len(joint) - 1

    for i, body in enumerate(bodies):
        above = carriers[body.parent] if body.parent >= 0 else world
        index, pose = above.at(body.at), above.pose @ body.placement
        for primitive in body.joint.primitives():
            turn = np.eye(4)
            turn[:3, :3] = _turn_z_to(tuple(primitive.axis.tolist()))
            index = add(primitive.kind, index, pose @ turn, primitive.slide)
            pose = turn.T
        own = _Carrier(index, pose)
        if body.soft is not None:  # its sections move freely from the near end
            marks = marks_on(bodies, i)
            sections = body.soft.sections(marks)
            stations = [add("free", index, pose) for _ in sections.masses()]
            for k, own_mass in zip(stations, sections.masses(), strict=True):
                mass[k], first[k], second[k] = own_mass.mass, own_mass.first.copy(), own_mass.second.copy()
            *places, far = (stations[k] for k in sections.marks)
            own = _Carrier(far, np.eye(4), dict(zip(marks, places, strict=True)))
        carriers.append(own)
        if isinstance(body.joint, Free):
            free_body.append(index)
            free_pose.append(body.placement)
        if index >= 0 and body.soft is None:
            m, h, J = moments(body.inertia, pose)
            mass[index] += m
            first[index] += h
            second[index] += J

    moving = [i for i, b in enumerate(bodies) if b.moves]
    fixed = [i for i, b in enumerate(bodies) if not b.moves]
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
        **{key: _each(bodies, key) for key in ("armature", "damping", "stiffness", "rest")},
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
    heavy = [b.soft is not None or not b.inertia.is_zero for b in bodies]
    for i in reversed(range(len(bodies))):
        if heavy[i] and bodies[i].parent >= 0:
            heavy[bodies[i].parent] = True
    return [
        b.name
        for b, has_inertia in zip(bodies, heavy, strict=True)
        if not has_inertia and b.joint.nv > 0 and not (b.joint.armature > 0).all()
    ]


def _each(bodies: Sequence[BodyRecord], key: str) -> Array:
    """A number of every joint for all its coordinates, zero for those of soft bodies' sections."""
    parts = [np.zeros(0)]
    for i, b in enumerate(bodies):
        parts.append(np.broadcast_to(getattr(b.joint, key), (b.joint.nv,)))
        if b.soft is not None:
            parts.append(np.zeros(6 * len(b.soft.sections(marks_on(bodies, i)).masses())))
    return np.concatenate(parts)


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
