"""Robots changed by any sequence of changes are those that were built so from the start.

Robots and changes are drawn; `plain_records` says what becomes of each body, and `jn.Builder` builds that. The same
holds for what comes back from a URDF, and for Pinocchio's reduced models where joints were locked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
import plain_records as plain
from jounce.conversions import Pinocchio
from plain_records import NV, Record, Records, RefusedError
from trees import random_axes, random_inertia, random_pose
from written import loaded

TOLERANCE = 1e-13
ONE = ("revolute", "prismatic", "helical")
pytestmark = pytest.mark.filterwarnings("ignore::jounce.ModelWarning", "ignore::jounce.SaveWarning")


def some_moments(rng: np.random.Generator) -> np.ndarray:
    mass = rng.uniform(0.2, 2.0)
    return plain.moments_of(mass, rng.uniform(-0.1, 0.1, 3), random_inertia(rng, mass))


def some_limits(rng: np.random.Generator) -> dict[str, float]:
    drawn = {"lower": rng.uniform(-2, -1), "upper": rng.uniform(1, 2)} | dict(
        zip(("velocity", "effort"), rng.uniform(1, 50, 2), strict=True)
    )
    return {key: float(x) for key, x in drawn.items() if rng.random() < 0.6}


def some_robot(rng: np.random.Generator, kinds: tuple[str, ...]) -> Records:
    made: list[Record] = []
    for i in range(int(rng.integers(3, 9))):
        kind = str(rng.choice(kinds)) if i or "free" not in kinds else str(rng.choice(["free", "fixed", "revolute"]))
        kind = "revolute" if kind == "free" and i else kind
        options: dict[str, object] = {}
        if NV[kind]:
            drives = [k for k in plain.DRIVES if rng.random() < 0.4 and (k != "rest" or kind in ONE)]
            options["drives"] = {k: float(rng.uniform(0.1, 1.0)) for k in drives}
        leaders = [r.joint for r in made if r.kind in ONE]
        if kind in ONE:
            options["limits"] = some_limits(rng) if rng.random() < 0.7 else None
            if leaders and rng.random() < 0.3:
                options["follows"] = (str(rng.choice(leaders)), *(float(x) for x in rng.uniform(-2, 2, 2)))
            elif rng.random() < 0.2:
                options["rotor"] = (float(rng.uniform(2, 50)), float(rng.uniform(1e-4, 1e-3)))
                options["drives"].pop("armature", None)
        parent = made[int(rng.integers(max(0, i - 3), i))].name if i and rng.random() < 0.9 else ""
        moments = some_moments(rng) if rng.random() < 0.8 else np.zeros((4, 4))
        pitch = float(rng.uniform(-0.3, 0.3)) if kind == "helical" else 0.0
        axis = random_axes(rng)[0]
        made.append(Record(f"b{i}", parent, kind, random_pose(rng), moments, axis, pitch, **options))
    return tuple(made)


class Draw:
    """A robot, its records, and changes of both alike."""

    def __init__(self, seed: int, kinds: tuple[str, ...]) -> None:
        self.rng = np.random.default_rng([seed, 77])
        self.kinds, self.count = kinds, 0
        self.gravity = np.array([0.0, 0.0, -9.81])
        self.records = some_robot(self.rng, kinds)
        self.robot = plain.built(self.records, self.gravity)
        self.done: list[str] = []

    def one(self, choices: object) -> str:
        return str(self.rng.choice(list(choices)))

    def change(self) -> None:
        """Makes one change; one that must be refused is, and changes nothing."""
        steps: list[Callable[[], None]] = [
            self.drive, self.limits, self.inertia, self.lock, self.attach, self.payload, self.remove, self.chain,
            self.parameters,
        ]  # fmt: skip
        step = steps[int(self.rng.integers(len(steps)))]
        self.done.append(step.__name__)
        step()

    def both(self, robot: Callable[[], jn.Model], records: Callable[[], Records]) -> None:
        try:
            expected = records()
        except RefusedError as fault:
            self.done.append("refused")
            with pytest.raises(ValueError, match=str(fault)):
                robot()
        else:
            self.robot, self.records = robot(), expected

    def drive(self) -> None:
        key, joints = self.one(plain.DRIVES), [r for r in self.records if r.nv]
        given: object = float(self.one((0.0, 0.3))) if key != "friction_speed" else 0.3
        kind = self.rng.integers(3)
        if kind == 1:
            able = [r.joint for r in joints if not (key == "armature" and r.rotor) and (key != "rest" or r.kind in ONE)]
            given = {name: float(self.rng.uniform(0.1, 1)) for name in able if self.rng.random() < 0.5}
        elif kind == 2:
            numbers = [np.zeros(0)]
            for r in joints:
                able = not (key == "armature" and r.rotor) and (key != "rest" or r.kind in ONE)
                if r.leads:
                    numbers.append(np.full(r.nv, self.rng.uniform(0.1, 1) if able else 0.0))
            given = np.concatenate(numbers)
        self.both(lambda: self.robot.replace(**{key: given}), lambda: plain.with_drive(self.records, key, given))

    def limits(self) -> None:
        joints = [r.joint for r in self.records if r.kind in ONE]
        if joints:
            name, given = self.one(joints), some_limits(self.rng)
            self.both(
                lambda: self.robot.replace(limits={name: jn.Limits(**given)}),
                lambda: plain.with_limits(self.records, name, given),
            )

    def inertia(self) -> None:
        if self.records:
            name, moments = self.one(r.name for r in self.records), some_moments(self.rng)
            self.both(
                lambda: self.robot.replace(inertia={name: plain.inertia_of(moments)}),
                lambda: plain.with_moments(self.records, name, moments),
            )

    def lock(self) -> None:
        at = {}
        for r in self.records:
            if r.leads and self.rng.random() < 0.3:
                q = self.rng.uniform(-1, 1, {"free": 7, "spherical": 4}.get(r.kind, 1))
                if r.kind in ("free", "spherical"):
                    q[-4:] /= np.linalg.norm(q[-4:])
                at[r.joint] = q
        self.both(lambda: self.robot.lock(at), lambda: plain.locked(self.records, at))

    def attach(self) -> None:
        other, place = some_robot(self.rng, self.kinds)[:3], random_pose(self.rng)
        to, prefix = self.one(["", *(r.name for r in self.records)]), f"{self.count} "
        self.count += 1
        self.both(
            lambda: self.robot.attach(plain.built(other, self.gravity), to or "world", place, prefix=prefix),
            lambda: plain.joined(self.records, other, to, place, prefix),
        )

    def payload(self) -> None:
        if self.records:
            name, moments, place = self.one(r.name for r in self.records), some_moments(self.rng), random_pose(self.rng)
            self.both(
                lambda: self.robot.payload(name, plain.inertia_of(moments), place),
                lambda: plain.with_load(self.records, name, moments, place),
            )

    def remove(self) -> None:
        if len(self.records) > 2:
            name = self.one(r.name for r in self.records[1:])
            self.both(lambda: self.robot.remove(name), lambda: plain.removed(self.records, name))

    def chain(self) -> None:
        if self.records:
            tip = self.one(r.name for r in self.records)
            above = [tip]
            while above[-1]:
                above.append(plain.by_name(self.records, above[-1]).parent)
            base = self.one(above[1:])
            self.both(lambda: self.robot.chain(base or "world", tip), lambda: plain.chained(self.records, base, tip))

    def parameters(self) -> None:
        moving = [r.name for r in self.records if r.nv]
        now = {name: plain.parameters_of(plain.total(self.records, name)) for name in moving}
        new = {name: x * self.rng.uniform(0.8, 1.2) for name, x in now.items() if self.rng.random() < 0.5 and x.any()}
        given = self.robot.inertial_parameters
        close(given, np.concatenate([np.zeros(0), *now.values()]), "parameters")
        for k, name in enumerate(moving):
            if name in new:
                given[10 * k : 10 * k + 10] = new[name]
        self.both(lambda: self.robot.with_inertial_parameters(given), lambda: plain.with_parameters(self.records, new))


def close(found: np.ndarray, expected: np.ndarray, what: str, *terms: np.ndarray) -> None:
    """Relative to the largest entry, or to that of the terms that it is the sum of."""
    assert found.shape == expected.shape, what
    size = max(np.abs(x).max(initial=0.0) for x in (expected, *terms))
    off = np.abs(found - expected).max(initial=0.0)
    assert off <= TOLERANCE * size, f"{what} is off by {off:.1e} of {size:.1e}"


def terms(robot: jn.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
    """That forces are the sum of."""
    still = np.zeros(robot.nv)
    return [robot.gravity_force(q), *(robot.inverse_dynamics(q, *x) for x in ((v, still), (still, a), (still, still)))]


def same(found: jn.Model, expected: jn.Model, seed: int) -> None:
    """Names and numbers, in the same order."""
    for key in ("joint_names", "body_names", "frame_names"):
        assert getattr(found, key) == getattr(expected, key)
    for key in ("lower", "upper", "velocity_limit", "effort_limit", "armature", "damping", "friction", "stiffness"):
        np.testing.assert_array_equal(getattr(found, key), getattr(expected, key), err_msg=key)
    assert found.mass == pytest.approx(expected.mass, rel=TOLERANCE, abs=0)
    rng = np.random.default_rng(seed)
    q, v, a = expected.random_configuration(rng, 2), *rng.normal(size=(2, 2, expected.nv))
    for call, given in (("inverse_dynamics", (v, a)), ("mass_matrix", ()), ("gravity_force", ()), ("elastic_force", ()),
                        ("damping_force", (v,))):  # fmt: skip
        close(getattr(found, call)(q, *given), getattr(expected, call)(q, *given), call, *terms(expected, q, v, a))
    close(
        found.forward_kinematics(q, frames=found.frame_names).pose,
        expected.forward_kinematics(q, frames=expected.frame_names).pose,
        "poses",
    )


def as_written(records: Records) -> Records:
    """What a URDF has words for."""
    made = []
    for r in records:
        drives = {k: x for k, x in r.drives.items() if k in ("damping", "friction")} | {"friction_speed": 0.3}
        made.append(plain.replace(r, drives=drives if r.nv else {}, rotor=None))
    return tuple(made)


def check_urdf(draw: Draw, seed: int) -> None:
    """Coordinates come back depth first."""
    back = loaded(draw.robot.to_urdf(skip=("armature", "rotors", "springs")), friction=0.3)
    expected = plain.built(as_written(draw.records), draw.gravity)
    assert sorted(back.joint_names) == sorted(expected.joint_names)
    assert set(back.frame_names) - {"world"} == set(expected.frame_names)
    assert back.mass == pytest.approx(expected.mass, rel=TOLERANCE, abs=0)
    q_at = np.concatenate([np.zeros(0, int), *(np.arange(back.nq)[back.position(n)] for n in expected.joint_names)])
    v_at = np.concatenate([np.zeros(0, int), *(np.arange(back.nv)[back.coordinate(n)] for n in expected.joint_names)])
    for key in ("lower", "upper"):
        np.testing.assert_array_equal(getattr(back, key)[q_at], getattr(expected, key), err_msg=key)
    for key in ("velocity_limit", "effort_limit", "damping", "friction"):
        np.testing.assert_array_equal(getattr(back, key)[v_at], getattr(expected, key), err_msg=key)
    rng = np.random.default_rng(seed)
    q, v, a = expected.random_configuration(rng), *rng.normal(size=(2, expected.nv))
    there = [np.zeros(back.nq), np.zeros(back.nv), np.zeros(back.nv)]
    for x, value, at in zip(there, (q, v, a), (q_at, v_at, v_at), strict=True):
        x[at] = value
    close(back.inverse_dynamics(*there)[v_at], expected.inverse_dynamics(q, v, a), "URDF", *terms(expected, q, v, a))


def round_of(seed: int, steps: int, kinds: tuple[str, ...]) -> Draw:
    draw = Draw(seed, kinds)
    try:
        for _ in range(steps):
            draw.change()
        same(draw.robot, plain.built(draw.records, draw.gravity), seed)
    except Exception as fault:
        fault.add_note(f"seed {seed}: {', '.join(draw.done)}") if hasattr(fault, "add_note") else None
        raise
    return draw


ALL = ("fixed", "revolute", "prismatic", "helical", "spherical", "free")
URDFS = ("fixed", "revolute", "prismatic", "free")


def check(seeds: range) -> None:
    for seed in seeds:
        round_of(seed, 1 + seed % 8, ALL)
        check_urdf(round_of(seed, 1 + seed % 5, URDFS), seed)


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_a_changed_robot_is_the_one_built_so(start: int) -> None:
    check(range(start, start + 10))


@pytest.mark.night
@pytest.mark.parametrize("start", range(1000, 1600, 50))
def test_many_changed_robots_are_those_built_so(start: int) -> None:
    check(range(start, start + 50))


def check_reduced(seeds: range) -> None:
    """After some changes, joints are locked here, and in the model that Pinocchio reads."""
    pin = pytest.importorskip("pinocchio")
    for seed in seeds:
        draw = round_of(seed, seed % 4, URDFS)
        free = tuple(plain.replace(r, follows=None, drives={}, rotor=None) for r in draw.records)
        robot = plain.built(free, draw.gravity)
        model = pin.buildModelFromXML(robot.to_urdf())
        rng = np.random.default_rng(seed)
        q = robot.random_configuration(rng)
        some = [n for n in robot.joint_names if rng.random() < 0.5]
        reduced = pin.buildReducedModel(model, [model.getJointId(n) for n in some], Pinocchio(robot, model).to(q))
        held = robot.lock({n: q[robot.position(n)] for n in some})
        convert, data = Pinocchio(held, reduced), reduced.createData()
        own, v, a = held.random_configuration(rng), *rng.normal(size=(2, held.nv))
        there = convert.to(own, v, a)
        forces = convert.force_back(own, pin.rnea(reduced, data, *there))
        close(held.inverse_dynamics(own, v, a), forces, "forces", *terms(held, own, v, a))


def test_locked_joints_are_pinocchios_reduced_model() -> None:
    check_reduced(range(20))


@pytest.mark.night
def test_many_locked_joints_are_pinocchios_reduced_model() -> None:
    check_reduced(range(1000, 1300))
