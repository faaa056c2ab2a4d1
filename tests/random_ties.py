"""Robots drawn by lot that roll, and loops with gears beside them: of all sizes, with masses of all sizes.

A draw is a small robot with ties that hold at its start, and its state: a length and a rate of turning say what is
large for it. Lengths are 1e-3 m to 1e3 m, gravity is the usual one, and rates are those of a pendulum of that length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

import jounce as jn
from coupled_robots import Part, Robot
from loops import displaced, pose_at, pose_of
from oracles import virtual_work as exact
from oracles.differentiate import _rounded
from oracles.mechanisms import RigidRobot, Side
from oracles.ties import Gear, Tie, contact_arm
from test_constraints_truth import closed
from trees import ONE_DOF, BodySpec, random_axes, random_inertia, random_pose, random_rotation

CARRIERS = ("fixed", "free", "revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical")
CLOSURES = ("revolute", "spherical", "on line", "distance", "universal")
GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Draw:
    """`speeds` (nv,) is what is large for each coordinate, `geared` which ones are motors behind a gear.

    `heaviest` is the largest mass of a body that is not a motor.
    """

    seed: int
    robot: Robot
    ties: Sequence[Tie | Gear]
    start: np.ndarray
    rates: np.ndarray
    tau: np.ndarray
    length: float
    heaviest: float
    speeds: np.ndarray
    linear: np.ndarray
    geared: np.ndarray

    @cached_property
    def mechanism(self) -> RigidRobot:
        return RigidRobot(self.robot.tree, self.robot)

    @cached_property
    def tied(self) -> tuple[jn.Model, list[str]]:
        """The robot in jounce, and the names of its ties."""
        parts = list(zip(self.robot.tree.bodies, self.robot.tree.v_slices(), strict=True))
        joints = {at.start: b.name for b, at in parts if b.nv == 1}
        return closed(self.robot.model, [b.name for b, _ in parts], joints, self.ties)

    def __str__(self) -> str:
        bodies = self.robot.tree.bodies
        tree = ", ".join(f"{b.name} ({b.joint}, {b.mass:.1e} kg) on {b.parent}" for b in bodies)
        return f"draw {self.seed}: {self.length:.1e} m; {tree}; {', '.join(map(_described, self.ties))}"


def _described(tie: Tie | Gear) -> str:
    if isinstance(tie, Gear):
        return f"gear {tie.first} to {tie.second} of {tie.polynomial[1]:.1e}"
    if tie.kind == "rolling":
        return f"{'ball' if tie.axis is None else 'wheel'} of {tie.radius:.1e} m, {tie.b.body} on {tie.a.body}"
    return f"{tie.kind} of {tie.b.body} on {tie.a.body}"


@dataclass
class Lot:
    """Bodies drawn one by one, with their coordinates at the start. `aligned`: along the axes of the world."""

    rng: np.random.Generator
    length: float
    aligned: bool
    bodies: list[BodySpec] = field(default_factory=list)
    q: list[np.ndarray] = field(default_factory=list)
    speeds: list[float] = field(default_factory=list)
    linear: list[bool] = field(default_factory=list)
    motors: list[str] = field(default_factory=list)
    ties: list[Tie | Gear] = field(default_factory=list)

    def chance(self, odds: float) -> bool:
        return bool(self.rng.random() < odds)

    def one_of(self, kinds: Sequence[str]) -> str:
        return str(self.rng.choice(kinds))

    def decades(self, low: float, high: float) -> float:
        return float(10 ** self.rng.uniform(low, high))

    def rotation(self) -> np.ndarray:
        """Of axes onto axes if aligned."""
        if not self.aligned:
            return random_rotation(self.rng)
        turn = np.eye(3)[self.rng.permutation(3)] * self.rng.choice([-1.0, 1.0], 3)[:, None]
        return turn * np.linalg.det(turn)

    def axis(self) -> np.ndarray:
        return self.rotation()[0]

    def offset(self) -> np.ndarray:
        """Up to the length away; exactly nothing, or along one axis, for some that are aligned."""
        x = self.rng.uniform(-1, 1, 3) * self.length
        return x * self.rng.choice([0.0, 1.0], 3) if self.aligned else x

    def add(self, name: str, parent: int, joint: str, **given: object) -> int:
        size = self.length * self.decades(-1, 0)
        mass = self.decades(-3, 3)
        turn = self.rotation()
        spec = BodySpec(
            name=name,
            parent=parent,
            joint=joint,
            placement=pose_of(self.rotation(), self.offset()),
            mass=mass,
            com=self.rng.uniform(-0.1, 0.1, 3) * size * self.rng.choice([0.0, 1.0]),
            inertia=random_inertia(self.rng, mass) * (10 * size) ** 2,
            axis=turn[0],
            axis2=turn[1],
            pitch=self.length * self.rng.uniform(-0.3, 0.3),
        )
        spec = replace(spec, **given)
        self.bodies.append(spec)
        linear = {"prismatic": [True], "cylindrical": [True, False], "planar": [True, True, False]}
        linear["free"] = [True] * 3 + [False] * 3
        far = linear.get(joint, [False] * spec.nv)
        self.linear += far
        self.speeds += [self.length if x else 1.0 for x in far]
        self.q.append(self.coordinates(joint, far))
        return len(self.bodies) - 1

    def coordinates(self, joint: str, linear: list[bool]) -> np.ndarray:
        if joint in ("spherical", "free"):
            u = self.rng.normal(size=4)
            if self.aligned and self.chance(0.5):
                u = np.array([0.0, 0.0, 0.0, 1.0])
            place = self.offset() if joint == "free" else np.zeros(0)
            return np.concatenate([place, u / np.linalg.norm(u)])
        q = self.rng.uniform(-2, 2, len(linear)) * np.where(linear, self.length, 1.0)
        return q * self.rng.choice([0.0, 1.0]) if self.aligned else q

    @property
    def robot(self) -> Robot:
        return Robot(tuple(map(Part, self.bodies)), gravity=tuple(GRAVITY * random_rotation(self.rng)[0]))

    def pose(self, side: Side) -> np.ndarray:
        robot = Robot(tuple(map(Part, self.bodies)))
        return pose_at(RigidRobot(robot.tree, robot), np.concatenate([np.zeros(0), *self.q]), side)

    def single(self) -> list[int]:
        """The joints with one coordinate."""
        return [i for i, b in enumerate(self.bodies) if b.joint in ONE_DOF]

    def column(self, body: int) -> int:
        return sum(b.nv for b in self.bodies[:body])

    def gear(self, other: int, ratio: float, *, motor_first: bool) -> None:
        """A motor on the world whose coordinate is `ratio` times that of another joint, in either's own speeds."""
        joint, at = self.one_of(("revolute", "revolute", "prismatic", "helical")), self.column(other)
        reflected = self.bodies[other].mass / ratio**2 if self.chance(0.7) else self.decades(-3, 3)
        size = self.length * (10 * ratio if joint != "prismatic" and self.chance(0.1) else 1.0)
        inertia = random_inertia(self.rng, reflected) * size**2
        motor = self.add(f"m{len(self.bodies)}", -1, joint, mass=reflected, com=np.zeros(3), inertia=inertia)
        slope = ratio * self.speeds[-1] / self.speeds[at]
        self.motors.append(self.bodies[motor].name)
        self.speeds[-1] *= ratio
        q = self.q[other][0]
        if motor_first:
            slope = 1 / slope
            polynomial = (float(self.rng.choice([0.0, 0.1])) * self.speeds[at], slope)
            self.q[motor] = np.array([(q - polynomial[0]) / slope])
            self.ties.append(Gear(self.column(motor), at, polynomial))
        else:
            polynomial = (float(self.rng.choice([0.0, 0.1])) * self.speeds[-1], slope)
            self.q[motor] = np.array([polynomial[0] + slope * q])
            self.ties.append(Gear(at, self.column(motor), polynomial))

    def hold(self, kind: str, first: int, second: int) -> None:
        """A tie of a place on the second body with a frame of the first, somewhere near; it holds at the start."""
        a, b = random_axes(self.rng)
        tie = Tie(
            kind,
            Side(first),
            Side(second, random_pose(self.rng, 0.5 * self.length)),
            axis=a,
            axis2=random_axes(self.rng)[0] if kind == "universal" else b,
            length=self.decades(-1, 1),
            normal=self.axis(),
        )
        between = displaced(self.rng, tie)
        between[:3, 3] *= self.length
        place = np.linalg.inv(self.pose(tie.a)) @ self.pose(tie.b) @ np.linalg.inv(between)
        self.ties.append(replace(tie, a=Side(first, place), length=tie.length * self.length))

    def roll(self, body: int, on: int, *, ball: bool) -> None:
        """About the body's own axis, with the centre on it; or about any, with the centre anywhere."""
        spec, central = self.bodies[body], self.chance(0.7)
        centre = Side(body, pose_of(np.eye(3), np.zeros(3) if central else self.offset()))
        axis = spec.axis if central or self.aligned else random_axes(self.rng)[0]
        b = self.pose(centre)
        while True:
            R, n = self.rotation(), np.eye(3)[self.rng.integers(3)]
            if not self.aligned:
                n = random_axes(self.rng)[0]
            if ball or np.linalg.norm(np.cross(R @ n, b[:3, :3] @ axis)) > 0.05:
                break
            if self.chance(0.1):
                axis = random_axes(self.rng)[0]
        radius = self.length * self.decades(-3, 1)
        tie = Tie("rolling", Side(), centre, axis=None if ball else axis, radius=radius, normal=n)
        turned = exact._exact_pose(pose_of(R.T @ b[:3, :3], np.zeros(3)))
        arm = _rounded(contact_arm(tie, turned[None, :3, :3]))[0]
        origin = b[:3, 3] + R @ (arm + np.cross(n, self.offset()))
        place = np.linalg.inv(self.pose(Side(on))) @ pose_of(R, origin)
        self.ties.append(replace(tie, a=Side(on, place)))

    def drawn(self, seed: int) -> Draw:
        robot = self.robot
        rate = np.sqrt(GRAVITY / self.length)
        speeds, nv = np.array(self.speeds), len(self.speeds)
        # As large as the weight of the heaviest body, or as that of the body itself.
        heaviest = max(b.mass for b in self.bodies if b.name not in self.motors)
        own = np.concatenate([[b.mass] * b.nv for b in self.bodies])
        moved = [b.name in self.motors for b in self.bodies for _ in range(b.nv)]
        strength = np.where(moved, heaviest / speeds**2, own / np.where(self.linear, self.length, 1.0) ** 2)
        if self.chance(0.5):
            strength = heaviest / speeds**2
        push = strength * speeds * (self.length * rate) ** 2
        tau = self.rng.uniform(-1, 1, (3, nv)) * push * rate ** np.arange(3)[:, None]
        rates = self.rng.uniform(-1, 1, nv) * speeds * rate
        q = np.concatenate([np.zeros(0), *self.q])
        linear, geared = np.array(self.linear), np.array(moved)
        return Draw(seed, robot, tuple(self.ties), q, rates, tau, self.length, heaviest, speeds, linear, geared)


def lot(seed: Sequence[int], odds: float = 0.5) -> Lot:
    rng = np.random.default_rng(seed)
    return Lot(rng, float(10 ** rng.uniform(-3, 3)), bool(rng.random() < odds))


# --- what rolls -------------------------------------------------------------------------------------------


def rolling(seed: int) -> Draw:
    """A ball or wheel below a joint of any kind, on the world or on a table that moves, alone or with another tie."""
    some = lot([seed, 1])
    carrier = CARRIERS[seed % len(CARRIERS)]
    below = some.one_of(("fixed", "revolute", "revolute", "spherical", "universal"))
    if carrier == "free" and some.chance(0.5):
        below = ""  # it rolls itself
    wheel = some.add("a", -1, carrier)
    if below:
        wheel = some.add("b", wheel, below)
        if below == "fixed" and carrier == "fixed":
            wheel = some.add("c", wheel, "revolute")
    table = some.add("t", -1, some.one_of(("revolute", "prismatic"))) if some.chance(0.2) else -1
    some.roll(wheel, table, ball=some.chance(0.5))
    other = some.rng.random()
    if other < 0.15 and some.single():
        some.gear(int(some.rng.choice(some.single())), some.decades(-3, 3), motor_first=some.chance(0.5))
    elif other < 0.25:
        some.hold(some.one_of(("distance", "on plane", "on line")), -1, wheel)
    elif other < 0.35:
        second = some.add("s", 0, some.one_of(("revolute", "spherical")))
        some.roll(second, table, ball=some.chance(0.5))
    return some.drawn(seed)


# --- loops with gears -------------------------------------------------------------------------------------


def flat_loop(some: Lot) -> None:
    """Four bars in a plane, one of them the ground; a parallelogram, or any; cut at the end of the second or third."""
    turn, rng = some.rotation(), some.rng
    x, y = turn[:, 0], turn[:, 1]
    crank, coupler, rocker = some.length * rng.uniform(0.2, 1.0, 3)
    angles = tuple(rng.uniform(-np.pi, np.pi, 3))
    if some.chance(0.3):
        rocker = crank
        open_ = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 3.0))
        angles = open_, 0.0, open_
    elif abs(np.sin(angles[0] - angles[1])) < 0.1:
        angles = angles[0], angles[0] + 1.0, angles[2]

    def turned(angle: float) -> np.ndarray:
        return np.cos(angle) * x + np.sin(angle) * np.cross(y, x)

    def at(p: np.ndarray) -> np.ndarray:
        return pose_of(np.eye(3), p)

    def bar(name: str, parent: int, place: np.ndarray, angle: float) -> int:
        body = some.add(name, parent, "revolute", axis=y, axis2=x, placement=at(place))
        some.q[body] = np.array([angle])
        return body

    kind = some.one_of(("revolute", "cylindrical", "spherical", "on line"))
    first = bar("crank", -1, np.zeros(3), angles[0])
    second = bar("coupler", first, crank * x, angles[1] - angles[0])
    end = crank * turned(angles[0]) + coupler * turned(angles[1])
    ground = end - rocker * turned(angles[2])
    if some.chance(0.5):
        third = bar("rocker", second, coupler * x, angles[2] + np.pi - angles[1])
        some.ties.append(Tie(kind, Side(-1, at(ground)), Side(third, at(rocker * x)), axis=y))
    else:
        third = bar("rocker", -1, ground, angles[2])
        sides = [Side(second, at(coupler * x)), Side(third, at(rocker * x))]
        some.ties.append(Tie(kind, *(sides if some.chance(0.5) else sides[::-1]), axis=y))


def spatial_loop(some: Lot) -> None:
    """Two chains of one or two bodies, tied at their ends."""
    joints = ("revolute", "revolute", "prismatic", "universal", "spherical", "helical", "cylindrical")
    ends = []
    for chain in "ab":
        end = some.add(chain, -1, "revolute" if chain == "a" else some.one_of(joints))
        if some.chance(0.7):
            end = some.add(chain * 2, end, some.one_of(joints))
        ends.append(end)
    some.hold(some.one_of(CLOSURES), ends[0], -1 if some.chance(0.2) else ends[1])


def geared_loop(seed: int) -> Draw:
    """A loop, in a plane or in space, with a gear beside it that drives one of its joints."""
    some = lot([seed, 2], odds=0.3)
    (flat_loop if seed % 2 else spatial_loop)(some)
    some.gear(int(some.rng.choice(some.single())), some.decades(-6, 8), motor_first=some.chance(0.5))
    return some.drawn(seed)


FAMILIES: dict[str, Callable[[int], Draw]] = {"rolling": rolling, "loops with gears": geared_loop}
