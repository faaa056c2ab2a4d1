"""Robots for the tests, in a neutral form that no library under test defines.

A tree is a list of `BodySpec`; jounce, Pinocchio and the oracles each build their own model from it.
The pose of a body in its parent is ``placement @ motion(q)``, where ``motion`` is, by joint:

==============  =======================  ==========================================================
joint           q                        motion(q)
==============  =======================  ==========================================================
fixed           -                        identity
revolute        angle                    Rot(axis, q)
prismatic       distance                 Trans(axis q)
helical         angle                    Trans(axis pitch q) Rot(axis, q); pitch in metres per radian
cylindrical     distance, angle          Trans(axis q0) Rot(axis, q1)
planar          x, y, angle              Trans(axis q0 + axis2 q1) Rot(axis x axis2, q2)
universal       angle, angle             Rot(axis, q0) Rot(axis2, q1)
spherical       qx qy qz qw              Rot(quaternion)
free            x y z, qx qy qz qw       Trans(x y z) Rot(quaternion)
==============  =======================  ==========================================================

Velocities: the rate of q for joints whose q are plain numbers; for spherical the angular velocity
of the body relative to its parent in body axes; for free the twist [linear; angular] of the body
relative to its parent, both halves in body axes (H^-1 dH/dt).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NQ = {"fixed": 0, "revolute": 1, "prismatic": 1, "helical": 1, "cylindrical": 2, "planar": 3, "universal": 2}
NQ |= {"spherical": 4, "free": 7}
NV = NQ | {"spherical": 3, "free": 6}
ONE_DOF = ("revolute", "prismatic", "helical")
ALL_JOINTS = tuple(NQ)


@dataclass(frozen=True)
class BodySpec:
    name: str
    parent: int  # index into TreeSpec.bodies; -1 is the world
    joint: str
    placement: np.ndarray  # (4, 4) pose of the joint frame in the parent's body frame
    mass: float
    com: np.ndarray  # (3,) in the body frame
    inertia: np.ndarray  # (3, 3) about the centre of mass, in body axes
    axis: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    axis2: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    pitch: float = 0.0
    armature: float = 0.0  # the same for each coordinate of the joint
    damping: float = 0.0
    stiffness: float = 0.0  # force = stiffness * q (for spherical and free see the docs)

    @property
    def nq(self) -> int:
        return NQ[self.joint]

    @property
    def nv(self) -> int:
        return NV[self.joint]


@dataclass(frozen=True)
class TreeSpec:
    bodies: tuple[BodySpec, ...]
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    @property
    def nq(self) -> int:
        return sum(b.nq for b in self.bodies)

    @property
    def nv(self) -> int:
        return sum(b.nv for b in self.bodies)

    def q_slices(self) -> list[slice]:
        return _slices([b.nq for b in self.bodies])

    def v_slices(self) -> list[slice]:
        return _slices([b.nv for b in self.bodies])


def _slices(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(e - n), int(e)) for e, n in zip(ends, sizes, strict=True)]


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """Uniform on SO(3)."""
    w, x, y, z = (u := rng.normal(size=4)) / np.linalg.norm(u)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def random_pose(rng: np.random.Generator, reach: float = 0.4) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = rng.uniform(-reach, reach, 3)
    return pose


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """Inertia of a random box of that mass, randomly rotated: always that of a real body."""
    a, b, c = rng.uniform(0.05, 0.3, 3)
    principal = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    turn = random_rotation(rng)
    return turn @ principal @ turn.T


def random_axes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    turn = random_rotation(rng)
    return turn[:, 0], turn[:, 1]


def random_body(rng: np.random.Generator, name: str, parent: int, joint: str, passive: bool = False) -> BodySpec:
    mass = rng.uniform(0.2, 2.0)
    axis, axis2 = random_axes(rng)
    extra = {k: rng.uniform(0.1, 1.0) for k in ("armature", "damping", "stiffness")} if passive else {}
    return BodySpec(
        name=name,
        parent=parent,
        joint=joint,
        placement=random_pose(rng),
        mass=mass,
        com=rng.uniform(-0.1, 0.1, 3),
        inertia=random_inertia(rng, mass),
        axis=axis,
        axis2=axis2,
        pitch=rng.uniform(-0.3, 0.3),
        **extra,
    )


def random_tree(
    rng: np.random.Generator,
    n: int,
    *,
    floating: bool = False,
    joints: tuple[str, ...] = ALL_JOINTS,
    serial: bool = False,
    passive: bool = False,
) -> TreeSpec:
    """A tree of n bodies; every joint type of ``joints`` occurs when n is large enough."""
    bodies = []
    kinds = list(rng.permutation(list(joints) * (n // len(joints) + 1))[:n])
    if floating:
        kinds[0] = "free"
    for i, kind in enumerate(kinds):
        parent = i - 1 if serial or i == 0 else int(rng.integers(max(-1, i - 6), i))
        if floating and i > 0:
            parent = max(parent, 0)
        bodies.append(random_body(rng, f"b{i}", parent, str(kind), passive))
    return TreeSpec(tuple(bodies))


def random_configuration(rng: np.random.Generator, tree: TreeSpec) -> np.ndarray:
    parts = []
    for b in tree.bodies:
        if b.joint in ("spherical", "free"):
            u = rng.normal(size=4)
            parts.append(np.concatenate([rng.normal(size=b.nq - 4), u / np.linalg.norm(u)]))
        else:
            parts.append(rng.uniform(-2.0, 2.0, b.nq))
    return np.concatenate(parts) if parts else np.zeros(0)


def random_stack(rng: np.random.Generator, tree: TreeSpec, rows: int) -> np.ndarray:
    """A velocity stack (rows, nv): v, dv/dt, d2v/dt2, ..."""
    return rng.uniform(-1.0, 1.0, (rows, tree.nv))
