"""Robots along a motion, as seen by the constraints of `ties`: poses of frames, and forces from `virtual_work`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from soft_models import Joint, SoftSpec
from trees import TreeSpec

from . import soft_virtual_work
from . import virtual_work as exact
from .differentiate import _vee
from .soft_virtual_work import _constant
from .virtual_work import BITS, ONE, Poly


@dataclass(frozen=True)
class Side:
    """A frame at `place` in a body (-1: the world); on a rod, in the section at `at`, in metres, or at its far end.

    A frame in the world moves if it has a `motion`: a stack (K, 6) of its twist, in world axes about it.
    """

    body: int = -1
    place: np.ndarray = field(default_factory=lambda: np.eye(4))
    at: float | None = None
    motion: np.ndarray | None = None


class Frames(Protocol):
    """Where the frames of a moving robot are."""

    def pose(self, side: Side) -> Poly: ...
    def screws(self, side: Side) -> Poly: ...  # (n, 6, nv), world axes about the world's origin
    def coordinate(self, index: int) -> tuple[Poly, np.ndarray]: ...  # its path, and its derivative by each of nv
    def forces(self, wrenches: dict[int, Poly]) -> Poly: ...  # that make the robot move so


class Mechanism(Protocol):
    nv: int
    groups: list[tuple[str, slice, slice]]  # "plain", "spherical" or "free", where in q and where in v

    def frames(self, q: np.ndarray, speed: Poly) -> Frames: ...
    def mass_matrix(self, q: np.ndarray) -> np.ndarray: ...


def _group(joint: str) -> str:
    return joint if joint in ("spherical", "free") else "plain"


def _in_the_world(side: Side, powers: int) -> Poly:
    """x' = v, R' = [w] R."""
    pose = _constant(exact._exact_pose(side.place), powers)
    if side.motion is not None:
        twist = exact._taylor(side.motion)
        for k in range(powers - 1):
            turned = sum(exact._skew(twist[i, 3:]) @ pose[k - i, :3, :3] for i in range(k + 1)) >> BITS
            pose[k + 1, :3, :3] = turned // (k + 1)
            pose[k + 1, :3, 3] = twist[k, :3] // (k + 1)
    return pose


class RigidRobot:
    """A tree, with joints that follow others if `followers` (a `coupled_robots.Robot`) is given."""

    def __init__(self, tree: TreeSpec, followers: object = None) -> None:
        self.tree, self.nv = tree, tree.nv
        self.G, self.Gq, self.offset = (np.eye(n, dtype=int).astype(object) * ONE for n in (tree.nv, tree.nq, 1))
        self.offset = np.zeros(tree.nq, dtype=object)
        parts = zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True)
        self.groups = [(_group(b.joint), q, v) for b, q, v in parts if b.nv]
        if followers is not None:
            self.Gq, self.offset = map(exact._fixed, followers._linear("nq"))
            self.G = exact._fixed(followers.G)
            self.nv = self.G.shape[1]
            q_at, v_at = followers._columns("nq"), followers._columns("nv")
            leaders = [p.spec for p in followers.parts if p.follows is None and p.spec.nv]
            self.groups = [(_group(b.joint), q_at[b.name], v_at[b.name]) for b in leaders]

    def full(self, q: np.ndarray, speed: Poly) -> tuple[np.ndarray, Poly]:
        return (self.Gq @ exact._fixed(q) >> BITS) + self.offset, speed @ self.G.T >> BITS

    def frames(self, q: np.ndarray, speed: Poly) -> Frames:
        return _RigidFrames(self, *self.full(q, speed))

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        full = self.full(q, np.zeros((0, self.nv), dtype=object))[0]
        return self.G.T @ (exact.mass_matrix(self.tree, full) @ self.G >> BITS) >> BITS


class _RigidFrames:
    def __init__(self, robot: RigidRobot, q: np.ndarray, speed: Poly) -> None:
        self.robot, self.q, self.speed, tree = robot, q, speed, robot.tree
        self.poses, partials, self.motions = exact._poses(tree, q, speed)
        self.displacements = exact._displacements(self.poses, partials, len(speed) + 1)
        self.full_screws = []
        for body, at, moved in zip(tree.bodies, tree.v_slices(), self.displacements, strict=True):
            own = np.zeros((len(speed) + 1, 6, tree.nv), dtype=object)
            if body.parent >= 0:
                own += self.full_screws[body.parent]
            for j, A in enumerate(moved):
                own[:, :, at.start + j] = _vee(A)
            self.full_screws.append(own)

    def pose(self, side: Side) -> Poly:
        if side.body < 0:
            return _in_the_world(side, len(self.speed) + 1)
        return self.poses[side.body] @ exact._exact_pose(side.place) >> BITS

    def screws(self, side: Side) -> Poly:
        if side.body < 0:
            return np.zeros((len(self.speed) + 1, 6, self.robot.nv), dtype=object)
        return self.full_screws[side.body] @ self.robot.G >> BITS

    def coordinate(self, index: int) -> tuple[Poly, np.ndarray]:
        return _path(self.robot.tree, self.q, self.speed, index), self.robot.G[index]

    def forces(self, wrenches: dict[int, Poly]) -> Poly:
        known = self.poses, self.displacements, self.motions
        return exact.forces_along(self.robot.tree, self.q, self.speed, wrenches, *known) @ self.robot.G >> BITS


class SoftRobot:
    """A robot of modules: joints, rigid bodies, and rods of uniform strain."""

    def __init__(self, spec: SoftSpec) -> None:
        self.spec, self.nv = spec, spec.nv
        parts = zip(spec.modules, spec.q_slices(), spec.v_slices(), strict=True)
        self.groups = [(_group(m.kind) if isinstance(m, Joint) else "plain", q, v) for m, q, v in parts if m.nv]

    def frames(self, q: np.ndarray, speed: Poly) -> Frames:
        return _SoftFrames(self.spec, q, speed)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        return soft_virtual_work.mass_matrix(self.spec, q)


class _SoftFrames:
    def __init__(self, spec: SoftSpec, q: np.ndarray, speed: Poly) -> None:
        self.spec, self.q, self.speed = spec, exact._fixed(q), speed
        self.motion = soft_virtual_work.Motion(spec, self.q, speed)

    def _jet(self, side: Side) -> soft_virtual_work.Jet:
        return self.motion.ends[side.body][1] if side.at is None else self.motion.section(side.body, side.at)

    def pose(self, side: Side) -> Poly:
        if side.body < 0:
            return _in_the_world(side, len(self.speed) + 1)
        return self._jet(side)[0] @ exact._exact_pose(side.place) >> BITS

    def screws(self, side: Side) -> Poly:
        found = np.zeros((len(self.speed) + 1, 6, self.spec.nv), dtype=object)
        if side.body < 0:
            return found
        pose, partials = self._jet(side)
        back = exact._inverse(pose)
        for j, partial in partials.items():
            found[:, :, j] = _vee(exact._mul(partial, back))
        return found

    def coordinate(self, index: int) -> tuple[Poly, np.ndarray]:
        unit = np.zeros(self.spec.nv, dtype=object)
        unit[index] = ONE
        return _path(self.spec, self.q, self.speed, index), unit

    def forces(self, wrenches: dict[int, Poly]) -> Poly:
        assert not wrenches
        return self.motion.forces()


def _path(tree: TreeSpec | SoftSpec, q: np.ndarray, speed: Poly, index: int) -> Poly:
    """The path of the coordinate of a joint with one coordinate."""
    for q_at, v_at in zip(tree.q_slices(), tree.v_slices(), strict=True):
        if (v_at.start, v_at.stop) == (index, index + 1):
            return exact._plain_path(q[q_at], speed[:, v_at])[:, 0]
    raise ValueError(f"coordinate {index} is not that of a joint with one")
