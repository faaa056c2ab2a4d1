"""Robots as plain records, and changes of them: what `jounce.editing` does, said again without it.

A record is one body with its joint. Inertias are added as 4 x 4 matrices of second moments, P = integral of x x^T dm
with x = (position, 1), which transform as T P T^T. `RefusedError` is a change that a robot has to refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

import jounce as jn

DRIVES = ("armature", "damping", "friction", "friction_speed", "stiffness", "rest")
INFINITE = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "effort": np.inf}
NV = {"fixed": 0, "revolute": 1, "prismatic": 1, "helical": 1, "spherical": 3, "free": 6}


class RefusedError(Exception):
    """A change that cannot be made."""


@dataclass(frozen=True)
class Record:
    name: str
    parent: str  # "" for the world
    kind: str
    placement: np.ndarray
    moments: np.ndarray  # (4, 4)
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    pitch: float = 0.0
    drives: dict[str, float] = field(default_factory=dict)
    limits: dict[str, float] | None = None
    follows: tuple[str, float, float] | None = None  # joint, ratio, offset
    rotor: tuple[float, float] | None = None  # ratio, inertia

    @property
    def joint(self) -> str:
        return f"{self.name} joint"

    @property
    def nv(self) -> int:
        return NV[self.kind]

    @property
    def leads(self) -> bool:
        """Whether it has coordinates of its own."""
        return self.nv > 0 and self.follows is None

    def made(self) -> jn.Joint:
        name = self.joint
        if self.kind == "fixed":
            return jn.Fixed(name=name)
        options = dict(self.drives)
        if self.kind in ("free", "spherical"):
            options.pop("rest", None)
            return (jn.Free if self.kind == "free" else jn.Spherical)(name=name, **options)
        options["limits"] = None if self.limits is None else jn.Limits(**self.limits)
        options["follows"] = None if self.follows is None else jn.Follow(*self.follows)
        options["rotor"] = None if self.rotor is None else jn.Rotor(*self.rotor)
        if self.kind == "helical":
            return jn.Helical(self.axis, self.pitch, name=name, **options)
        return (jn.Revolute if self.kind == "revolute" else jn.Prismatic)(self.axis, name=name, **options)


Records = tuple[Record, ...]


def built(records: Records, gravity: np.ndarray) -> jn.Model:
    b = jn.Builder(gravity)
    for r in records:
        b.add(r.name, r.parent or "world", r.made(), r.placement, inertia_of(r.moments))
    return b.build(allow_massless=True)


# --- inertias --------------------------------------------------------------------------------------------


def moments_of(mass: float, com: np.ndarray, rotational: np.ndarray) -> np.ndarray:
    made = np.zeros((4, 4))
    made[:3, :3] = np.trace(rotational) / 2 * np.eye(3) - rotational + mass * np.outer(com, com)
    made[:3, 3] = made[3, :3] = mass * com
    made[3, 3] = mass
    return made


def inertia_of(moments: np.ndarray) -> jn.Inertia:
    mass = moments[3, 3]
    com = moments[:3, 3] / mass if mass else np.zeros(3)
    second = moments[:3, :3] - mass * np.outer(com, com)
    return jn.Inertia(mass, com, np.trace(second) * np.eye(3) - second, physical=False)


def parameters_of(moments: np.ndarray) -> np.ndarray:
    second = moments[:3, :3]
    about_origin = np.trace(second) * np.eye(3) - second
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = about_origin
    return np.array([moments[3, 3], *moments[:3, 3], xx, xy, yy, xz, yz, zz])


def moments_from(parameters: np.ndarray) -> np.ndarray:
    mass, x, y, z, xx, xy, yy, xz, yz, zz = parameters
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    made = np.zeros((4, 4))
    made[:3, :3] = np.trace(about_origin) / 2 * np.eye(3) - about_origin
    made[:3, 3] = made[3, :3] = x, y, z
    made[3, 3] = mass
    return made


# --- poses -----------------------------------------------------------------------------------------------


def turned(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def motion(r: Record, q: np.ndarray) -> np.ndarray:
    made = np.eye(4)
    if r.kind in ("free", "spherical"):
        *place, x, y, z, w = q
        size = np.sqrt(x * x + y * y + z * z)
        made[:3, :3] = turned(np.array([x, y, z]) / size, 2 * np.arctan2(size, w)) if size else np.eye(3)
        made[:3, 3] = place or 0.0
        return made
    if r.kind in ("revolute", "helical"):
        made[:3, :3] = turned(r.axis, q[0])
    if r.kind in ("prismatic", "helical"):
        made[:3, 3] = r.axis * q[0] * (1.0 if r.kind == "prismatic" else r.pitch)
    return made


# --- looking things up -----------------------------------------------------------------------------------


def by_name(records: Records, name: str) -> Record:
    return next(r for r in records if r.name == name)


def by_joint(records: Records, joint: str) -> Record:
    return next(r for r in records if r.joint == joint)


def below(records: Records, name: str) -> set[str]:
    """A body and all that hangs on it."""
    found = {name}
    for r in records:
        if r.parent in found:
            found.add(r.name)
    return found


def carrier(records: Records, name: str) -> str:
    """The body that moves and carries this one, or is it; "" if it is fixed to the world."""
    while name and by_name(records, name).nv == 0:
        name = by_name(records, name).parent
    return name


def fixed_pose(records: Records, name: str) -> np.ndarray | None:
    """In the world, of what does not move there."""
    pose = np.eye(4)
    while name:
        r = by_name(records, name)
        if r.nv:
            return None
        pose, name = r.placement @ pose, r.parent
    return pose


def leader(records: Records, joint: str) -> tuple[str, float, float]:
    """The joint with a coordinate at the end of a chain of followers."""
    r, ratio, offset = by_joint(records, joint), 1.0, 0.0
    while r.follows is not None:
        joint, a, b = r.follows
        ratio, offset = ratio * a, offset + ratio * b
        r = by_joint(records, joint)
    return r.joint, ratio, offset


def each(records: Records, change: Callable[[Record], Record]) -> Records:
    return tuple(change(r) for r in records)


# --- changes ---------------------------------------------------------------------------------------------


def with_drive(records: Records, key: str, given: object) -> Records:
    """One number for all, numbers by joint, or one for each coordinate (an array)."""

    def one_for_all(r: Record) -> Record:
        skip = r.nv == 0 or r.kind == "free" or (key == "armature" and r.rotor) or (key == "rest" and r.nv > 1)
        skip = skip or (r.follows is not None and given != 0 and key != "friction_speed")
        return r if skip else replace(r, drives=r.drives | {key: float(given)})

    if isinstance(given, dict):
        return each(records, lambda r: replace(r, drives=r.drives | {key: given[r.joint]}) if r.joint in given else r)
    if not isinstance(given, np.ndarray):
        return each(records, one_for_all)
    made, at = [], 0
    for r in records:
        if r.leads:
            can = not (key == "armature" and r.rotor) and not (key == "rest" and r.nv > 1)
            r = replace(r, drives=r.drives | {key: float(given[at])}) if can else r
            at += r.nv
        made.append(r)
    return tuple(made)


def with_limits(records: Records, joint: str, given: dict[str, float]) -> Records:
    """Those that are not given stay; none given: none left."""

    def changed(r: Record) -> Record:
        if r.joint != joint:
            return r
        return replace(r, limits=(r.limits or INFINITE) | given if given else dict(INFINITE))

    return each(records, changed)


def with_moments(records: Records, name: str, moments: np.ndarray) -> Records:
    return each(records, lambda r: replace(r, moments=moments) if r.name == name else r)


def with_load(records: Records, name: str, moments: np.ndarray, placement: np.ndarray) -> Records:
    return with_moments(records, name, by_name(records, name).moments + placement @ moments @ placement.T)


def locked(records: Records, positions: dict[str, np.ndarray]) -> Records:
    def changed(r: Record) -> Record:
        if r.nv == 0:
            return r
        first, ratio, offset = leader(records, r.joint)
        if first not in positions:
            return r
        q = positions[first] if r.follows is None else ratio * positions[first] + offset
        pose, moments = motion(r, q), r.moments
        if r.rotor is not None:
            spin = np.zeros((4, 4))
            spin[:3, :3] = r.rotor[1] * (np.eye(3) / 2 - np.outer(r.axis, r.axis))
            moments = moments + spin
        return Record(r.name, r.parent, "fixed", r.placement @ pose, moments)

    return each(records, changed)


def joined(records: Records, other: Records, to: str, placement: np.ndarray, prefix: str) -> Records:
    def renamed(r: Record) -> Record:
        follows = None if r.follows is None else (prefix + r.follows[0], *r.follows[1:])
        if not r.parent:
            return replace(r, name=prefix + r.name, parent=to, placement=placement @ r.placement, follows=follows)
        return replace(r, name=prefix + r.name, parent=prefix + r.parent, follows=follows)

    return records + each(other, renamed)


def cut(records: Records, kept: set[str], base: str = "") -> Records:
    """Some of the bodies; the base does not move any more."""
    joints = {r.joint for r in records if r.name in kept and r.leads and r.name != base}
    part = []
    for r in records:
        if r.name not in kept:
            continue
        if r.follows is not None and r.name != base:
            first = leader(records, r.joint)
            if first[0] not in joints:
                raise RefusedError(r.joint)
            r = replace(r, follows=first)
        part.append(r)
    return tuple(part)


def removed(records: Records, name: str) -> Records:
    return cut(records, {r.name for r in records} - below(records, name))


def chained(records: Records, base: str, tip: str) -> Records:
    path, name = [], tip
    while name != base:
        path.append(name)
        name = by_name(records, name).parent
    kept = {*path, base}  # "" is the world
    for r in records:
        if r.nv == 0 and r.parent in kept:
            kept.add(r.name)
    part = cut(records, kept, base)
    if not base:
        return part
    where = fixed_pose(records, base)
    foot = Record(base, "", "fixed", np.eye(4) if where is None else where, by_name(records, base).moments)
    return tuple(foot if r.name == base else r for r in part)


def with_parameters(records: Records, parameters: dict[str, np.ndarray]) -> Records:
    """Of some moving bodies, everything fixed to them included, which keeps its moments if the rest is of a body."""
    rest = {on: by_name(records, on).moments + moments_from(x) - total(records, on) for on, x in parameters.items()}
    lumped = {on for on, x in rest.items() if not is_of_a_body(x)}
    given = {on: moments_from(parameters[on]) if on in lumped else x for on, x in rest.items()}

    def changed(r: Record) -> Record:
        on = carrier(records, r.name)
        return replace(r, moments=given.get(r.name, np.zeros((4, 4)) if on in lumped else r.moments))

    return each(records, changed)


def is_of_a_body(moments: np.ndarray) -> bool:
    """Whether density could be positive everywhere: the moments of points with positive masses are."""
    return bool(np.linalg.eigvalsh(moments)[0] > -1e-9 * np.abs(moments).max())


def total(records: Records, name: str) -> np.ndarray:
    """The moments of a moving body and all that is fixed to it, in its frame."""
    poses, found = {name: np.eye(4)}, by_name(records, name).moments
    for r in records:
        if r.nv == 0 and r.parent in poses:
            poses[r.name] = poses[r.parent] @ r.placement
            found = found + poses[r.name] @ r.moments @ poses[r.name].T
    return found
