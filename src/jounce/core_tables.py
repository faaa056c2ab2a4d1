"""From the user's bodies to the tables of the compiled core.

Every joint becomes a chain of primitives with massless bodies between them. Each primitive's internal frame is turned
so that its axis is z; ``turn`` below is that frame in the user's body axes, x_user = turn x_internal. Bodies on fixed
joints are merged into the body that carries them and remain as frames. A soft body becomes one rigid body per section.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import frozen, near, quoted
from jounce.parts.constraints import ConstraintRecord, Gear, compiled_constraint
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.inertia import PARAMETERS, Inertia
from jounce.parts.joints import Fixed, Follow, Free, Joint, Rotor
from jounce.parts.sections import Sections, Shape, SoftBody

if TYPE_CHECKING:
    from jounce.parts.visual import Visual

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BodyRecord:
    """A body as it was added: `parent` is an index into the list of all bodies, -1 the world."""

    name: str
    parent: int
    joint: Joint
    placement: Array
    inertia: Inertia
    soft: SoftBody | None = None
    at: float | None = None  # where on a soft parent, m; None for its far end
    visuals: Sequence[Visual] = ()  # what it looks like

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.name, self.parent, self.joint, self.placement, self.inertia, self.soft, self.at)
        return BodyRecord, (*values, tuple(self.visuals)) if self.visuals else values

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", frozen(self.placement))

    @property
    def joint_name(self) -> str:
        """The name of its joint: the body's, unless the joint has its own."""
        return self.joint.name or self.name

    @property
    def shape_name(self) -> str:
        """The name of a soft body's coordinates: the body's, unless its joint has coordinates too."""
        return f"{self.name}.shape" if self.joint.nv else self.name

    @property
    def moves(self) -> bool:
        """Whether it has coordinates or follows a joint that has; otherwise it is part of its parent."""
        return self.soft is not None or not isinstance(self.joint, Fixed)


def own_records(bodies: Sequence[BodyRecord]) -> list[BodyRecord]:
    """One record per joint with coordinates of its own and per shape, in the order of the coordinates."""
    records = []
    for b in bodies:
        if b.joint.nv and not b.joint.follows:
            records.append(b)
        if b.soft is not None and b.soft.n > 0:
            records.append(replace(b, joint=Shape(b.soft, b.shape_name)))
    return records


def rigidly(bodies: Sequence[BodyRecord], name: str) -> tuple[str, float | None]:
    """What a body or frame is part of: a body that moves, or "world"; for a soft body, also the place along it."""
    index = next((i for i, b in enumerate(bodies) if b.name == name), -1)
    while index >= 0:
        body = bodies[index]
        if body.moves and not (isinstance(body.joint, Fixed) and body.soft is not None and body.soft.n == 0):
            return body.name, None
        above = bodies[body.parent] if body.parent >= 0 else None
        if body.at is not None and above is not None and above.soft is not None and above.soft.n > 0:
            if body.at > 0 or not isinstance(above.joint, Fixed):
                return above.name, body.at
            index = body.parent  # the near end of a rod that is fixed
        index = bodies[index].parent
    return "world", None


def joint_hint(bodies: Sequence[BodyRecord], name: object, known: Iterable[str]) -> str:
    """For who names no joint: what moves the body or frame of that name, or which of the known names are like it."""
    named = next((b for b in bodies if b.name == name), None) if isinstance(name, str) else None
    if named is None:
        return near(name if isinstance(name, str) else quoted(name), known)
    what, mover = f"{'body' if named.moves else 'frame'} {named.name!r}", rigidly(bodies, named.name)[0]
    if mover == "world":
        return f"{what} is fixed in the world"
    body = next(b for b in bodies if b.name == mover)
    if not body.joint.nv:
        return f"{what} is part of {body.shape_name!r}"
    follows = f", which follows {body.joint.follows.joint!r}" if body.joint.follows else ""
    return f"{what} is moved by joint {body.joint_name!r}{follows}"


@dataclass
class _CoreBody:
    """The core's version of a user's body: internal body `index`, the user's frame in it, and marks on a soft body."""

    index: int
    pose: Array
    marks: dict[float, int] = field(default_factory=dict)

    def at(self, mark: float | None) -> int:
        """The internal body that carries a child."""
        return self.index if mark is None else self.marks[mark]


def marks_on(bodies: Sequence[BodyRecord], index: int) -> tuple[float, ...]:
    """The material coordinates of a soft body at which children are attached."""
    return tuple(sorted({b.at for b in bodies if b.parent == index and b.at is not None}))


class Leave(Flag):
    """Forces to leave out of a compiled robot."""

    NOTHING = 0
    WEIGHT = auto()
    ELASTIC = auto()
    DAMPING = auto()
    INERTIA = auto()


@dataclass
class _Tables:
    """The compiled bodies in order, one row each."""

    joint: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    owner: list[str] = field(default_factory=list)
    slide: list[float] = field(default_factory=list)
    placed: list[Array] = field(default_factory=list)
    mass: list[float] = field(default_factory=list)
    first: list[Array] = field(default_factory=list)
    second: list[Array] = field(default_factory=list)

    def add(self, kind: str, owner: str, parent: int, placed: Array, slide: float = 0.0) -> int:
        self.joint.append(kind)
        self.parent.append(parent)
        self.owner.append(owner)
        self.slide.append(slide)
        self.placed.append(placed)
        self.mass.append(0.0)
        self.first.append(np.zeros(3))
        self.second.append(np.zeros((3, 3)))
        return len(self.joint) - 1

    def add_inertia(self, index: int, mass: float, first: Array, second: Array) -> None:
        self.mass[index] += mass
        self.first[index] = self.first[index] + first
        self.second[index] = self.second[index] + second


def _expect_apart(constraints: Sequence[ConstraintRecord], carrier: Mapping[str, int]) -> None:
    """Checks that constraints tie parts that can move; `carrier`: the body carrying each frame, -1 for the world."""
    moves = any(body >= 0 for body in carrier.values())
    for c in constraints:
        what = f"constraint {quoted(c.name)}"
        if not moves:
            raise ValueError(f"{what} ties together parts that cannot move: this robot has no joints")
        if not isinstance(c.kind, Gear) and c.held and carrier[c.a] == carrier[c.b]:
            raise ValueError(f"{what} ties {quoted(c.a)} to {quoted(c.b)}, which are fixed to each other")


def compiled(
    bodies: Sequence[BodyRecord],
    gravity: Array,
    leave: Leave = Leave.NOTHING,
    constraints: Sequence[ConstraintRecord] = (),
    discretization: object = None,
) -> dict[str, object]:
    """The arguments of ``_core.CoreModel``; `discretization` is a `Discretization`, or None if nothing is checked."""
    tables = _Tables()
    core_bodies: list[_CoreBody] = []
    free_body, free_pose = [], []
    leads: dict[str, int] = {}  # the internal body of each joint with one coordinate
    soft: list[dict[str, object]] = []
    rotors: list[tuple[int, Rotor, str]] = []
    world = _CoreBody(-1, np.eye(4))
    for i, body in enumerate(bodies):
        above = core_bodies[body.parent] if body.parent >= 0 else world
        index, pose = above.at(body.at), above.pose @ body.placement
        if body.joint.rotor is not None:
            rotors.append((_rotor(tables, body, index, pose), body.joint.rotor, body.joint_name))
        primitives = body.joint.primitives()
        for k, primitive in enumerate(primitives):
            turn, after = np.eye(4), primitives[(k + 1) % len(primitives)]
            turn[:3, :3] = _turn_z_to(tuple(primitive.axis.tolist()), tuple(after.axis.tolist()))
            placed = pose @ primitive.start @ turn
            if k > 0:
                placed[:3, :3] = _exactly(placed[:3, :3])
            index = tables.add(primitive.kind, body.name, index, placed, primitive.slide)
            pose = turn.T @ primitive.end
        if isinstance(body.joint, CustomJoint) and body.joint.section is not None:
            index, pose = tables.add("section", body.name, index, pose), np.eye(4)
            soft.append(_soft(body.joint.section, body.joint.section.sections(()), leave))
        if body.joint.nv == 1:
            leads[body.joint_name] = index
        if isinstance(body.joint, Free):
            free_body.append(index)
            free_pose.append(body.placement)
        own = _CoreBody(index, pose)
        if body.soft is not None:  # its sections are children of the near end
            marks = marks_on(bodies, i)
            sections = body.soft.sections(marks)
            places = [tables.add("section", body.name, index, pose) for _ in sections.masses()]
            for k, part in zip(places, sections.masses(), strict=True):
                tables.add_inertia(k, part.mass, part.first, part.second)
            *inner, far = (places[k] for k in sections.marks)
            own = _CoreBody(far, np.eye(4), dict(zip(marks, inner, strict=True)))
            soft.append(_soft(body.soft, sections, leave))
        elif index >= 0:
            tables.add_inertia(index, *moments(body.inertia, pose))
        core_bodies.append(own)

    moving = [i for i, b in enumerate(bodies) if b.moves]
    frames = moving + [i for i, b in enumerate(bodies) if not b.moves]
    poses = np.array([core_bodies[i].pose for i in frames]).reshape(-1, 4, 4)
    placed = np.array(tables.placed).reshape(-1, 4, 4)
    free_poses = np.array(free_pose).reshape(-1, 4, 4)
    second = np.array(tables.second).reshape(-1, 3, 3)
    weight = 0.0 if leave & Leave.INERTIA else 1.0
    leader, ratio, offset = [-1] * len(tables.joint), np.ones(len(tables.joint)), np.zeros(len(tables.joint))
    follows = resolve(bodies)
    following: dict[int, Joint | None] = dict.fromkeys(at for at, _, _ in rotors)
    for b in bodies:
        if b.joint.follows:
            follow, at = follows[b.joint_name], leads[b.joint_name]
            leader[at], ratio[at], offset[at] = leads[follow.joint], follow.ratio, follow.offset
            following[at] = b.joint
    for at, rotor, name in rotors:
        follow = follows.get(name) or Follow(name)
        leader[at], ratio[at] = leads[follow.joint], rotor.ratio * follow.ratio
    names = {bodies[i].name: k for k, i in enumerate(frames)}
    _expect_apart(constraints, {"world": -1} | {b.name: c.index for b, c in zip(bodies, core_bodies, strict=True)})
    columns: dict[str, slice] = {}
    column = 0
    for record in own_records(bodies):
        columns[record.joint_name] = slice(column, column := column + record.joint.nv)
    left_out = {"armature": Leave.INERTIA, "damping": Leave.DAMPING, "friction": Leave.DAMPING}
    left_out |= {"friction_speed": Leave.NOTHING, "stiffness": Leave.ELASTIC, "rest": Leave.NOTHING}
    return {
        "joint": tables.joint,
        "parent": tables.parent,
        "owner": tables.owner,
        "slide": np.array(tables.slide),
        "rotation": placed[:, :3, :3],
        "position": placed[:, :3, 3],
        "mass": weight * np.array(tables.mass),
        "first_moment": weight * np.array(tables.first),
        "second_moment": weight * second[:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)],
        "leader": leader,
        "ratio": ratio,
        "offset": offset,
        "soft": soft,
        "coordinates": [(b.joint_name, b.joint.nv) for b in own_records(bodies)],
        "frame_body": [core_bodies[i].index for i in frames],
        "frame_rotation": poses[:, :3, :3],
        "frame_position": poses[:, :3, 3],
        "frame_index": names,
        "constraints": [compiled_constraint(c, names, columns) for c in constraints],
        "body_count": len(moving),
        "free_body": free_body,
        "free_rotation": free_poses[:, :3, :3],
        "free_position": free_poses[:, :3, 3],
        **{
            key: (0.0 if leave & why else 1.0) * _each(bodies, [following[i] for i in sorted(following)], key)
            for key, why in left_out.items()
        },
        "gravity": np.zeros(3) if leave & Leave.WEIGHT else gravity,
        "discretization": discretization,
    }


def _soft(body: SoftBody, sections: Sections, leave: Leave) -> dict[str, object]:
    """A soft body for the core: the kinematics of its sections, and the forces of its shape."""
    n = body.n
    elastic, viscous = not leave & Leave.ELASTIC, not leave & Leave.DAMPING
    energy = body.recorded_energy() if elastic else None
    dissipation = body.recorded_dissipation() if viscous else None
    force = energy.gradient(range(n)) if energy else None
    damping = dissipation.gradient(range(n, 2 * n)) if dissipation else None
    recordings = {
        "pose": sections.recorded_poses if sections.recorded else None,
        "screws": sections.recorded_screws if sections.recorded else None,
        "curvature": sections.recorded_screw_slopes if sections.recorded else None,
        "energy": energy,
        "elastic": force,
        "elastic_gradient": force.gradient(range(n)) if force else None,
        "viscous": damping,
        "viscous_gradient": damping.gradient(range(2 * n)) if damping else None,
    }
    stations = [(-1, s) for s in sections.stations] if sections.recorded else sections.placed()
    strained, turned = body.deformation() if body.checked else (None, None)
    return {
        "n": n,
        "strained": strained,
        "turned": turned,
        "stiffness": body.stiffness if elastic else np.zeros((n, n)),
        "viscosity": body.viscosity if viscous else np.zeros((n, n)),
        "steps": [
            {"start": s.start, "constant": s.constant, "linear": s.linear, "changes": s.changes} for s in sections.steps
        ],
        "sections": [
            {"step": k, "offset": None if s.offset is None or s.slope is None else np.vstack([s.offset, s.slope])}
            for k, s in stations
        ],
        **{key: None if given is None else given.compiled for key, given in recordings.items()},
    }


def resolve(bodies: Sequence[BodyRecord]) -> dict[str, Follow]:
    """For each joint that follows another, the joint with its own coordinate at the end of the chain."""
    joints = {b.joint_name: b.joint for b in bodies if not isinstance(b.joint, Fixed)}
    leaders: dict[str, Follow] = {}
    for name, joint in joints.items():
        if joint.follows is None:
            continue
        seen, ratio, offset, leader = [name], 1.0, 0.0, joint.follows
        while True:
            if leader.joint not in joints:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which does not exist: {near(leader.joint, joints)}"
                )
            if leader.joint in seen:
                raise ValueError(f"joints follow each other in a circle: {' -> '.join([*seen, leader.joint])}")
            seen.append(leader.joint)
            offset, ratio = offset + ratio * leader.offset, ratio * leader.ratio
            above = joints[leader.joint]
            if above.nv != 1:
                raise ValueError(
                    f"joint {name!r} follows {leader.joint!r}, which has {above.nv} coordinates, expected one"
                )
            if above.follows is None:
                break
            leader = above.follows
        leaders[name] = Follow(seen[-1], ratio, offset)
    return leaders


def inertial_parameters(bodies: Sequence[BodyRecord]) -> Array:
    """Ten numbers per moving body, including everything fixed to it: see ``Model.inertial_parameters``."""
    totals: list[Array] = []
    core_bodies: list[_CoreBody] = []
    for body in bodies:
        if isinstance(body.joint, Fixed):
            above = core_bodies[body.parent] if body.parent >= 0 else _CoreBody(-1, np.eye(4))
            own = _CoreBody(above.index, above.pose @ body.placement)
        else:
            own = _CoreBody(len(totals), np.eye(4))
            totals.append(np.zeros(10))
        core_bodies.append(own)
        if own.index >= 0:
            m, h, J = moments(body.inertia, own.pose)
            about_origin = np.trace(J) * np.eye(3) - J
            totals[own.index] += [m, *h, *about_origin[PARAMETERS]]
    return np.concatenate([np.zeros(0), *totals])


def massless_bodies(bodies: Sequence[BodyRecord]) -> list[str]:
    """Names of the bodies whose joint moves no mass: no inertia in or below them, and no armature."""
    heavy = [b.soft is not None or not b.inertia.is_zero for b in bodies]
    for i in reversed(range(len(bodies))):
        if heavy[i] and bodies[i].parent >= 0:
            heavy[bodies[i].parent] = True
    return [
        b.name
        for b, has_inertia in zip(bodies, heavy, strict=True)
        if not has_inertia and b.joint.nv > 0 and not (b.joint.armature > 0).all() and b.joint.rotor is None
    ]


def _each(bodies: Sequence[BodyRecord], following: Sequence[Joint | None], key: str) -> Array:
    """One number per column: own coordinates first, then joints and rotors that follow.

    Those of sections are zero, as their forces belong to the section; but the friction of a `CustomJoint` is here.
    """
    apart = not key.startswith("friction")

    def of(joint: Joint | None, n: int) -> Array:
        sectioned = apart and isinstance(joint, CustomJoint) and joint.section is not None
        return np.broadcast_to(0.0 if joint is None or sectioned else getattr(joint, key), (n,))

    own = [of(b.joint, b.joint.nv) for b in own_records(bodies)]
    return np.concatenate([np.zeros(0), *own, *(of(joint, 1) for joint in following)])


def _rotor(tables: _Tables, body: BodyRecord, parent: int, pose: Array) -> int:
    """A body that turns about the axis of a rotor, with its moment of inertia about that axis only."""
    rotor = body.joint.rotor
    assert rotor is not None
    axis = body.joint.primitives()[0].axis if rotor.axis is None else np.asarray(rotor.axis)
    turn = np.eye(4)
    turn[:3, :3] = _turn_z_to(tuple(axis.tolist()))
    index = tables.add("revolute", body.name, parent, pose @ turn)
    tables.add_inertia(index, 0.0, np.zeros(3), 0.5 * rotor.inertia * np.diag([1.0, 1.0, -1.0]))
    return index


def moments(inertia: Inertia, pose: Array) -> tuple[float, Array, Array]:
    """Mass, first moment m c and second moment (the integral of x x^T dm) in the frame where the body has `pose`."""
    turn, com = pose[:3, :3], pose[:3, :3] @ inertia.com + pose[:3, 3]
    rotational = turn @ inertia.rotational @ turn.T
    about_com = np.trace(rotational) / 2 * np.eye(3) - rotational
    return inertia.mass, inertia.mass * com, about_com + inertia.mass * np.outer(com, com)


def _exactly(turn: Array) -> Array:
    """A rotation of axes onto axes without its rounding errors: axes of one joint are perpendicular, or the same."""
    onto = np.round(turn) + 0.0  # no -0.0
    return onto if np.abs(turn - onto).max() < 1e-15 else turn


@lru_cache(maxsize=64)  # most robots use few distinct axes
def _turn_z_to(direction: tuple[float, ...], other: tuple[float, ...] | None = None) -> Array:
    """A rotation that maps z to `direction`, and x to `other` if that is perpendicular.

    Otherwise it is the identity for z itself, and a permutation for the other axes.
    """
    axis = np.array(direction)
    x = np.zeros(3) if other is None else np.array(other)
    if abs(x @ axis) > 1e-15 or not x.any():
        if axis[2] == 1.0:
            return np.eye(3)
        x = np.roll(np.eye(3)[int(np.argmax(np.abs(axis)))], 1)
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)
