"""Small robots with joints that follow others and with soft bodies, and the same robots without.

A `Robot` extends the neutral form of `trees` by joints that follow, springs with other rest positions, and soft bodies.
It builds itself with jounce, and its variants: with all joints free (`freed`), with some of them fixed (`fixed`), as a
rigid robot with the same coordinates (`plain`), and without its constraints (`untied`). With x the coordinates of the
freed robot, x = G q + offset, where G is constant: a follower has the row of its leader, times the ratio.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

import jounce as jn
from trees import BodySpec, TreeSpec, random_body

GRAVITY = (0.7, -0.4, -9.6)


@dataclass(frozen=True, eq=False)
class Part:
    """A body; `follows` is what its joint follows, `soft` its soft body if it is not rigid."""

    spec: BodySpec
    follows: jn.Follow | None = None
    rest: float = 0.0
    limits: jn.Limits | None = None
    soft: object = None
    at: float | None = None
    friction: float = 0.0

    @property
    def shape(self) -> int:
        """The number of coordinates of its shape."""
        return 0 if self.soft is None else self.soft.n

    def joint(self) -> jn.Joint:
        b = self.spec
        options = {"armature": b.armature, "damping": b.damping, "stiffness": b.stiffness}
        options |= {"friction": self.friction, "friction_speed": 0.8} if self.friction else {}
        one = {"rest": self.rest, "limits": self.limits, "follows": self.follows}
        match b.joint:
            case "fixed":
                return jn.Fixed()
            case "revolute" | "prismatic":
                kind = {"revolute": jn.Revolute, "prismatic": jn.Prismatic}[b.joint]
                return kind(b.axis, **options, **one)
            case "helical":
                return jn.Helical(b.axis, b.pitch, **options, **one)
            case "universal":
                return jn.Universal(b.axis, b.axis2, **options)
            case "cylindrical":
                return jn.Cylindrical(b.axis, **options)
            case "planar":
                return jn.Planar(b.axis, b.axis2, **options)
            case "spherical":
                return jn.Spherical(**options)
            case "free":
                return jn.Free(**options)
        raise ValueError(b.joint)


@dataclass(frozen=True, eq=False)
class Tie:
    """A constraint between bodies, or joints for a gear; a contact, with the world, if there is no second."""

    name: str
    kind: object
    first: str
    second: str = ""
    placement_a: np.ndarray | None = None
    placement_b: np.ndarray | None = None
    at_a: float | None = None
    at_b: float | None = None


@dataclass(frozen=True, eq=False)
class Robot:
    """`home` is a configuration that obeys the ties, if there are any."""

    parts: tuple[Part, ...]
    gravity: tuple[float, ...] = GRAVITY
    ties: tuple[Tie, ...] = ()
    home: np.ndarray | None = None

    @cached_property
    def model(self) -> jn.Model:
        builder = jn.Builder(gravity=self.gravity)
        for part in self.parts:
            b = part.spec
            parent = "world" if b.parent < 0 else self.parts[b.parent].spec.name
            content = {"inertia": jn.Inertia(b.mass, b.com, b.inertia)} if part.soft is None else {"body": part.soft}
            builder.add(b.name, parent, part.joint(), b.placement, at=part.at, **content)
        for tie in self.ties:
            if tie.second:
                places = {k: getattr(tie, k) for k in ("placement_a", "placement_b", "at_a", "at_b")}
                builder.close(tie.name, tie.first, tie.second, tie.kind, **places)
        held = {tie.first: tie.kind for tie in self.ties if not tie.second}
        return builder.build().constrained(held) if held else builder.build()

    @cached_property
    def untied(self) -> Robot:
        return replace(self, ties=(), home=None)

    @cached_property
    def geared(self) -> Robot:
        """All joints free, with followers geared to their leaders: the same motion, with more coordinates."""
        gears = [
            Tie(f"gear of {p.spec.name}", jn.Gear((p.follows.offset, p.follows.ratio)), p.follows.joint, p.spec.name)
            for p in self.parts
            if p.follows is not None
        ]
        home = None if self.home is None else self.full(self.home)
        return replace(self.freed, ties=(*gears, *self.ties), home=home)

    @property
    def tree(self) -> TreeSpec:
        """The robot as the oracles see it: all joints free, no soft bodies."""
        return TreeSpec(tuple(p.spec for p in self.parts), np.array(self.gravity))

    @cached_property
    def freed(self) -> Robot:
        return replace(self, parts=tuple(replace(p, follows=None) for p in self.parts))

    def fixed(self, *names: str) -> Robot:
        """With the joints of these bodies fixed."""
        return replace(self, parts=tuple(_fixed(p) if p.spec.name in names else p for p in self.parts))

    @cached_property
    def plain(self) -> Robot:
        """A rigid robot with the same coordinates: followers are fixed, soft bodies slide and turn in a plane."""

        def part(p: Part) -> Part:
            if p.follows is not None:
                p = _fixed(p)
            if p.soft is not None:
                assert (p.shape, p.spec.joint) == (3, "fixed")
                p = replace(p, soft=None, spec=replace(p.spec, joint="planar", stiffness=20.0))
            return replace(p, at=None)

        return replace(self, parts=tuple(map(part, self.parts)))

    # Coordinates

    def _places(self) -> Iterator[tuple[Part, int, int, float, float, str]]:
        """For each joint: the part, its nq and nv, ratio, offset and name of its leader (itself if it leads)."""
        parts = {p.spec.name: p for p in self.parts}
        for part in self.parts:
            ratio, offset, leader = 1.0, 0.0, part
            while leader.follows is not None:
                offset, ratio = offset + ratio * leader.follows.offset, ratio * leader.follows.ratio
                leader = parts[leader.follows.joint]
            yield part, part.spec.nq, part.spec.nv, ratio, offset, leader.spec.name

    def _columns(self, size: str) -> dict[str, slice]:
        """The slice of each leading joint, and of each shape, in the robot's own coordinates."""
        found, at = {}, 0
        for p in self.parts:
            count = 0 if p.follows is not None else getattr(p.spec, size)
            found[p.spec.name] = slice(at, at + count)
            at += count
            found[p.spec.name, "shape"] = slice(at, at + p.shape)
            at += p.shape
        return found

    def _linear(self, size: str) -> tuple[np.ndarray, np.ndarray]:
        columns, freed = self._columns(size), self.freed._columns(size)
        last, last_freed = (list(c.values())[-1].stop for c in (columns, freed))
        G, offset = np.zeros((last_freed, last)), np.zeros(last_freed)
        for part, _, _, ratio, shift, leader in self._places():
            rows, at = freed[part.spec.name], columns[leader]
            if rows.stop > rows.start:
                G[rows, at] = ratio * np.eye(rows.stop - rows.start)
                offset[rows] = shift
            rows, at = freed[part.spec.name, "shape"], columns[part.spec.name, "shape"]
            G[rows, at] = np.eye(part.shape)
        return G, offset

    @cached_property
    def G(self) -> np.ndarray:
        """(nv of the freed robot, nv)"""
        return self._linear("nv")[0]

    def full(self, q: np.ndarray) -> np.ndarray:
        """The configuration of the freed robot."""
        G, offset = self._linear("nq")
        return q @ G.T + offset

    def configuration(self, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> np.ndarray:
        """Random, drawn without jounce, except that a robot with ties is made to obey them."""
        if self.ties:
            near = self.model.integrate(self.home, 0.2 * self.rates(rng, batch))
            return self.model.project(near, np.zeros((*batch, self.model.nv)))[0]
        pieces = [np.zeros((*batch, 0))]
        for p in self.parts:
            if p.spec.joint in ("spherical", "free"):
                u = rng.normal(size=(*batch, 4))
                pieces += [rng.uniform(-1, 1, (*batch, p.spec.nq - 4)), u / np.linalg.norm(u, axis=-1, keepdims=True)]
            elif p.follows is None:
                pieces.append(rng.uniform(-1, 1, (*batch, p.spec.nq)))
            pieces.append(self._scale(p) * rng.uniform(-1, 1, (*batch, p.shape)))
        return np.concatenate(pieces, axis=-1)

    def rates(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Random velocities (*shape, nv), scaled to the size of each coordinate."""
        scale = [np.zeros(0)]
        for p in self.parts:
            scale += [np.ones(0 if p.follows is not None else p.spec.nv), self._scale(p)]
        return np.concatenate(scale) * rng.uniform(-1, 1, (*shape, sum(map(len, scale))))

    def motion(self, q: np.ndarray, stack: np.ndarray, frame: str = "body") -> np.ndarray:
        """A stack (*batch, K, nv) of a motion from q (*batch, nq), made to obey the ties; in the axes `frame`."""
        if not self.ties:
            return stack
        return self.model.change_velocity_frame(q, self.model.project(q, stack)[1], "body", frame)

    @staticmethod
    def _scale(part: Part) -> np.ndarray:
        return np.zeros(0) if part.soft is None else np.broadcast_to(part.soft.scale, (part.shape,))


def _fixed(part: Part) -> Part:
    spec = replace(part.spec, joint="fixed", armature=0.0, damping=0.0, stiffness=0.0)
    return replace(part, spec=spec, follows=None, rest=0.0, limits=None, friction=0.0)


@dataclass
class Maker:
    """Adds parts with random inertias, axes and placements."""

    rng: np.random.Generator
    parts: list[Part] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)

    def add(self, name: str, parent: str, joint: str, *, soft: object = None, **options: object) -> Maker:
        names = [p.spec.name for p in self.parts]
        spec = random_body(self.rng, name, -1 if parent == "world" else names.index(parent), joint)
        keys = {k: options.pop(k) for k in ("armature", "damping", "stiffness", "axis", "placement") if k in options}
        self.parts.append(Part(replace(spec, **keys), soft=soft, **options))
        return self

    def tie(self, kind: object, first: str, second: str = "", name: str = "", **places: object) -> Maker:
        """`places` are further arguments of `Builder.close`."""
        self.ties.append(Tie(name or f"tie of {first}", kind, first, second, **places))
        return self

    def robot(self) -> Robot:
        """Its ties hold in its current configuration: for a joint, the second frame is placed on the first."""
        free = Robot(tuple(self.parts))
        if not self.ties:
            return free
        q = free.configuration(self.rng)
        ties = []
        for tie in self.ties:
            if tie.second and tie.placement_b is None and not isinstance(tie.kind, jn.Gear):
                marks = [self._marked(free, body, at) for body, at in ((tie.first, tie.at_a), (tie.second, tie.at_b))]
                a, b = (np.eye(4) if m is None else m.model.pose("mark", q) for m in marks)
                there = np.eye(4)
                there[:3, 3] = _apart(tie.kind)
                place = np.eye(4) if tie.placement_a is None else tie.placement_a
                tie = replace(tie, placement_b=np.linalg.inv(b) @ a @ place @ there)
            ties.append(tie)
        held = replace(free, ties=tuple(ties))
        return replace(held, home=held.model.project(q, np.zeros(held.model.nv))[0])

    @staticmethod
    def _marked(robot: Robot, body: str, at: float | None) -> Robot | None:
        if body == "world":
            return None
        index = [p.spec.name for p in robot.parts].index(body)
        spec = replace(random_body(np.random.default_rng(0), "mark", index, "fixed"), placement=np.eye(4))
        return replace(robot, parts=(*robot.parts, Part(spec, at=at)))


def _apart(kind: object) -> np.ndarray:
    """An allowed pose of B in A."""
    if isinstance(kind, jn.Distance):
        return np.array([0.6, 0.0, 0.8]) * kind.length
    return kind.radius * kind.normal if isinstance(kind, jn.Rolling) else np.zeros(3)


def maker(seed: int) -> Maker:
    return Maker(np.random.default_rng(seed))


class Leaf(jn.soft.Module):
    """A leaf that bends about y by q[0] and slides out by q[1]; its spring stiffens, and its damping grows with it."""

    n = 2
    scale = np.array([0.5, 0.05])
    masses = np.array([0.05, 0.04, 0.03])
    input_names = ("coil",)

    def pose(self, q):
        c, s, reach = np.cos(q[0]), np.sin(q[0]), 0.2 + q[1]
        return np.array([[c, 0, s, reach * s], [0, 1, 0, 0], [-s, 0, c, reach * c], [0, 0, 0, 1]])

    def points(self, q):
        places = [(0.4, 0.02), (0.7, -0.01), (1.0, 0.03)]
        return np.array(
            [[u * (0.2 + q[1]) * np.sin(u * q[0]), y, (0.2 + q[1]) * u * np.cos(u * q[0])] for u, y in places]
        )

    def energy(self, q):
        return 0.3 * q[0] ** 2 + 0.2 * q[0] ** 4 + 9.0 * q[1] ** 2 + 2.0 * q[0] ** 2 * q[1]

    def dissipation(self, q, v):
        return 0.01 * (1 + q[0] ** 2) * v[0] ** 2 + 0.2 * v[1] ** 2

    def inputs(self, q):
        return np.array([q[1] + 0.1 * np.sin(q[0])])


def rod(length: float = 0.3, young: float = 2e3, nodes: int = 4, **options: object) -> jn.soft.Rod:
    """Soft enough for derivatives of accelerations to keep their digits: each loses as many as its frequency has."""
    return jn.soft.Rod(
        length, (0.02, 0.015), 1050.0, young, poisson=0.4, damping=1e-3, nodes=nodes, check=False, **options
    )


FOLLOW = jn.Follow

FOLLOWERS: dict[str, Robot] = {
    "siblings that share a leader": maker(1)
    .add("arm", "world", "revolute")
    .add("lead", "arm", "revolute", limits=jn.Limits(-1, 2, velocity=3, effort=4))
    .add("left", "arm", "revolute", follows=FOLLOW("lead", 0.8))
    .add("right", "arm", "prismatic", follows=FOLLOW("lead", -0.3, 0.1))
    .robot(),
    "on the leader's own body": maker(2)
    .add("a", "world", "revolute")
    .add("b", "a", "revolute", follows=FOLLOW("a", 1.5, -0.2))
    .add("c", "b", "revolute")
    .add("d", "c", "revolute", follows=FOLLOW("c", -1.0))
    .robot(),
    "following a follower": maker(3)
    .add("a", "world", "prismatic")
    .add("b", "a", "revolute", follows=FOLLOW("a", 0.7, 0.4))
    .add("c", "b", "revolute", follows=FOLLOW("b", -1.2, 0.3))
    .add("d", "a", "revolute")
    .add("e", "d", "helical", follows=FOLLOW("c", 0.5))
    .robot(),
    "across branches, the leader last": maker(4)
    .add("a", "world", "revolute")
    .add("b", "a", "revolute", follows=FOLLOW("d", 0.6, 0.2))
    .add("c", "b", "revolute")
    .add("d", "a", "prismatic")
    .add("e", "world", "revolute", follows=FOLLOW("c", -0.9))
    .robot(),
    "ratio zero": maker(5)
    .add("a", "world", "revolute")
    .add("b", "a", "prismatic", follows=FOLLOW("a", 0.0, 0.4))
    .add("c", "b", "revolute")
    .add("tool", "c", "fixed")
    .robot(),
    "screws and slides": maker(6)
    .add("a", "world", "helical")
    .add("b", "a", "prismatic", follows=FOLLOW("a", -0.4, 0.2))
    .add("c", "world", "prismatic")
    .add("d", "c", "helical", follows=FOLLOW("c", -1.3, -0.5))
    .add("e", "d", "revolute", follows=FOLLOW("a", 0.8))
    .robot(),
    "with armature, damping and springs": maker(7)
    .add("a", "world", "revolute", armature=0.3, damping=0.2, stiffness=4.0, rest=0.3)
    .add("b", "a", "prismatic", follows=FOLLOW("a", 0.5, -0.1), armature=0.4, damping=0.6, stiffness=8.0, rest=-0.2)
    .add("c", "b", "revolute", follows=FOLLOW("a", -0.8, 0.6), armature=0.2, damping=0.3, stiffness=3.0, rest=0.7)
    .add("d", "c", "revolute", stiffness=5.0)
    .robot(),
    "floating": maker(8)
    .add("base", "world", "free")
    .add("lead", "base", "revolute")
    .add("left", "lead", "revolute", follows=FOLLOW("lead", -0.7, 0.3), damping=0.2)
    .add("right", "base", "prismatic", follows=FOLLOW("lead", 0.4))
    .robot(),
    "next to a ball": maker(9)
    .add("a", "world", "revolute")
    .add("ball", "a", "spherical", stiffness=2.0)
    .add("b", "ball", "revolute", follows=FOLLOW("a", 1.1, 0.1))
    .add("c", "b", "revolute")
    .robot(),
    "carrying more": maker(10)
    .add("a", "world", "revolute")
    .add("b", "world", "revolute", follows=FOLLOW("a", -1.4, 0.2))
    .add("c", "b", "universal")
    .add("tool", "c", "fixed")
    .add("d", "b", "prismatic", follows=FOLLOW("a", 0.3))
    .robot(),
}  # fmt: skip

SOFT: dict[str, Robot] = {
    "rod of constant curvature": maker(21).add("rod", "world", "fixed", soft=rod()).robot(),
    "rod of polynomial strain": maker(22)
    .add("rod", "world", "fixed", soft=rod(0.5, 500.0, strain=jn.soft.polynomial({"bend_y": 1, "bend_x": 0})))
    .robot(),
    "rod on a floating base": maker(23)
    .add("base", "world", "free")
    .add("rod", "base", "fixed", soft=rod(strain=jn.soft.constant_curvature(planar=True)))
    .add("eye", "rod", "fixed", at=0.1)
    .add("hand", "rod", "revolute", damping=0.02)
    .robot(),
    "swelling": maker(24)
    .add("arm", "world", "revolute")
    .add(
        "body", "arm", "fixed",
        soft=jn.soft.VariableRadius(0.2, 0.02, 1062.0, 50.0, 0.4, damping=1e-3, wall=0.004, law="solid", nodes=(4, 4),
            check=False),
    )
    .robot(),
    "module of a user": maker(25)
    .add("arm", "world", "revolute", stiffness=3.0)
    .add("leaf", "arm", "fixed", soft=Leaf())
    .add("tip", "leaf", "revolute")
    .robot(),
    "rod and followers": maker(26)
    .add("arm", "world", "revolute")
    .add("rod", "arm", "revolute", follows=FOLLOW("arm", -0.5, 0.2), damping=0.1, soft=rod())
    .add("hand", "rod", "revolute", follows=FOLLOW("arm", 0.8))
    .robot(),
    "two rods in series": maker(27)
    .add(
        "first", "world", "fixed",
        soft=rod(
            strain=jn.soft.constant_curvature(planar=True),
            actuators=[jn.soft.Tendon("t", (0.01, 0.0)), jn.soft.Chamber("c", area=1e-4)],
        ),
    )
    .add(
        "second", "first", "fixed",
        soft=rod(strain=jn.soft.constant_strain("bend_x", "twist"), actuators=[jn.soft.Tendon("t", (0.0, 0.01))]),
    )
    .robot(),
}  # fmt: skip
