"""Robots with loops and contacts, up to the sixth derivative, against positions differentiated in 96 digits.

Accelerations and forces of constraints are substituted into the oracle's equations: both rows, M a + bias = tau + J^T l
and J a + J' v = 0, must hold to 1e-12 of the largest term of each, at every order. If no rows are redundant,
accelerations and forces must also be those of the oracle, up to the effect of rounding the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

import jounce as jn
from coupled_robots import Robot, maker
from loops import JOINTS, KINDS, contact, random_tie
from night import nightly
from oracles.constraints import Solution, backward_errors, forward_dynamics, project
from oracles.differentiate import _rounded
from oracles.mechanisms import Mechanism, RigidRobot, Side, SoftRobot
from oracles.ties import Gear, Tie, block
from soft_build import build_soft
from soft_models import Joint, RigidBody, Rod, SoftSpec, constant_basis, constant_curvature
from trees import random_axes, random_inertia, random_pose

ORDER = 6
BACKWARD = 1e-12
EPSILON = 2.0**-52
SOME = ("fixed", "helical", "distance", "on plane", "wheel")  # by day; in some tests, all are


def arms(base: str = "free") -> Robot:
    return (
        maker(61)
        .add("base", "world", base)
        .add("a", "base", "revolute", damping=0.2)
        .add("b", "a", "universal", armature=0.3)
        .add("c", "b", "spherical", damping=0.1)
        .add("d", "base", "helical", stiffness=2.0)
        .add("e", "d", "planar")
        .robot()
    )


def followers() -> Robot:
    return (
        maker(62)
        .add("base", "world", "free")
        .add("left", "base", "revolute", follows=jn.Follow("lead", -0.75, 0.5))
        .add("lead", "base", "revolute", stiffness=2.0)
        .add("right", "lead", "prismatic", follows=jn.Follow("lead", 0.25))
        .add("hand", "right", "spherical")
        .add("tool", "left", "universal")
        .robot()
    )


def kind_of(tie: Tie | Gear) -> object:
    if isinstance(tie, Gear):
        return jn.Gear(polynomial=tie.polynomial)
    match tie.kind:
        case "fixed":
            return jn.Fixed()
        case "revolute" | "prismatic" | "cylindrical":
            return {"revolute": jn.Revolute, "prismatic": jn.Prismatic, "cylindrical": jn.Cylindrical}[tie.kind](
                tie.axis
            )
        case "helical":
            return jn.Helical(tie.axis, tie.pitch)
        case "universal":
            return jn.Universal(tie.axis, tie.axis2)
        case "planar":
            return jn.Planar(tie.axis, tie.axis2)
        case "spherical":
            return jn.Spherical()
        case "distance":
            return jn.Distance(tie.length)
        case "on plane":
            return jn.OnPlane(tie.normal)
        case "on line":
            return jn.OnLine(tie.axis)
        case "rolling":
            return jn.Rolling(tie.radius, axis=tie.axis, normal=tie.normal)
    raise ValueError(tie.kind)


def placed(side: Side) -> np.ndarray:
    return side.place if side.place.dtype == float else _rounded(side.place)


def closed(
    model: jn.Model, names: Sequence[str], joints: dict[int, str], ties: Sequence[Tie | Gear]
) -> tuple[jn.Model, list[str]]:
    """The model with these ties, and their names; names of bodies, and of joints by their coordinate."""
    builder, contacts, called = jn.Builder.from_model(model), {}, []
    for i, tie in enumerate(ties):
        if isinstance(tie, Gear):
            builder.close(f"t{i}", joints[tie.first], joints[tie.second], kind_of(tie))
        elif tie.contact:
            contacts[names[tie.b.body]] = jn.Contact(kind_of(tie), pose=placed(tie.a))
        else:
            first, second = ("world" if s.body < 0 else names[s.body] for s in (tie.a, tie.b))
            places = {"placement_a": placed(tie.a), "placement_b": placed(tie.b), "at_a": tie.a.at, "at_b": tie.b.at}
            builder.close(f"t{i}", first, second, kind_of(tie), **places)
        called.append(names[tie.b.body] if isinstance(tie, Tie) and tie.contact else f"t{i}")
    built = builder.build(allow_massless=True)
    return (built.constrained(contacts) if contacts else built), called


@dataclass(frozen=True, eq=False)
class Case:
    robot: Mechanism
    model: jn.Model
    ties: Sequence[Tie | Gear]
    names: Sequence[str]
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray

    def truth(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Solution:
        return forward_dynamics(self.robot, self.ties, q, v, tau)


def rigid_case(robot: Robot, ties: Sequence[Tie | Gear], q: np.ndarray, seed: int, order: int = ORDER) -> Case:
    mechanism, rng = RigidRobot(robot.tree, robot), np.random.default_rng(seed)
    q, v = map(_rounded, project(mechanism, ties, q, robot.rates(rng)))
    parts = list(zip(robot.tree.bodies, robot.tree.v_slices(), strict=True))
    joints = {at.start: b.name for b, at in parts if b.nv == 1}
    model, names = closed(robot.model, [b.name for b, _ in parts], joints, ties)
    return Case(mechanism, model, ties, names, q, v, robot.rates(rng, (order + 1,)))


def relative(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Error of each order, relative to its largest entry."""
    assert found.shape == truth.shape
    return np.abs(found - truth).max(axis=1) / np.abs(truth).max(axis=1)


def errors(case: Case) -> dict[str, np.ndarray]:
    """Backward and forward errors of each order; `limit` is a thousand times the effect of the input's last digits."""
    found = case.model.constrained_dynamics(case.q, case.v, case.tau)
    forces = [found.forces[name] for name in case.names]
    dynamics, rows = backward_errors(case.robot, case.ties, case.q, case.v, case.tau, found.acc, forces)
    truth = case.truth(case.q, case.v, case.tau)
    again = case.model.forward_dynamics(case.q, case.v, case.tau)
    report = {"dynamics": dynamics, "rows": rows, "acc": relative(found.acc, truth.acc)}
    report["forward_dynamics"] = relative(again, truth.acc)
    expected = truth.forces()
    rng, shift = np.random.default_rng(0), 2.0**-40
    moved = case.truth(*(x * (1 + shift * rng.choice([-1.0, 1.0], x.shape)) for x in (case.q, case.v, case.tau)))
    report["limit"] = relative(moved.acc, truth.acc)
    if not truth.redundant:
        report["forces"] = np.max([relative(f, t) for f, t in zip(forces, expected, strict=True)], axis=0)
        force_limit = [relative(m, t) for m, t in zip(moved.forces(), expected, strict=True)]
        report["limit"] = np.max([report["limit"], *force_limit], axis=0)
    report["limit"] = 1e-12 + 1000 * EPSILON / shift * report["limit"]
    return report


def check(case: Case) -> None:
    report = errors(case)
    text = "\n".join(f"{key}: {np.array2string(value, precision=1)}" for key, value in report.items())
    assert max(report["dynamics"].max(), report["rows"].max()) < BACKWARD, text
    for key in ("acc", "forward_dynamics", "forces"):
        if key in report:
            assert (report[key] < report["limit"]).all(), f"{key}\n{text}"


# --- loops --------------------------------------------------------------------------------------------------


def loop(robot: Robot, kind: str, first: int, second: int, seed: int = 0) -> Case:
    rng = np.random.default_rng(seed)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    return rigid_case(robot, [random_tie(rng, mechanism, q, kind, first, second)], q, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_two_arms_on_a_floating_base(kind: str) -> None:
    check(loop(arms(), kind, 3, 5))


@pytest.mark.parametrize("kind", nightly(KINDS, but=SOME))
def test_the_order_of_the_bodies_is_free(kind: str) -> None:
    """The first body may be the one added later, or one that the second carries."""
    first, second = ((5, 2), (3, 0))[KINDS.index(kind) % 2]
    check(loop(arms("universal"), kind, first, second, seed=1))


@pytest.mark.parametrize("first", [-1, 3], ids=["world first", "world second"])
@pytest.mark.parametrize("kind", nightly(["fixed", "helical", "universal", "planar", "distance", "wheel"], but=SOME))
def test_tied_to_the_world(kind: str, first: int) -> None:
    """The wrench is always the one on the body."""
    check(loop(arms(), kind, first, -1 if first >= 0 else 3, seed=2))


@pytest.mark.parametrize("kind", ["revolute", "helical", "planar", "spherical", "distance", "ball"])
def test_followers(kind: str) -> None:
    check(loop(followers(), kind, 4, 5, seed=4))


@pytest.mark.parametrize("seed", range(4))
def test_several_loops_and_contacts(seed: int) -> None:
    robot = (
        maker(70 + seed)
        .add("base", "world", "free")
        .add("a", "base", "revolute").add("b", "a", "spherical").add("c", "b", "cylindrical")
        .add("d", "base", "universal").add("e", "d", "revolute", damping=0.1).add("f", "e", "planar")
        .add("g", "base", "helical").add("h", "g", "spherical")
        .robot()
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    loops = rng.choice(["revolute", "universal", "cylindrical", "planar", "spherical"], 1)
    ties = [random_tie(rng, mechanism, q, str(loops[0]), 3, 6), Gear(6, 18, (0.1, 0.5, -0.3))]
    ties.append(random_tie(rng, mechanism, q, str(rng.choice(["distance", "on plane"])), 8, 6))
    ties.append(contact(rng, mechanism, q, str(rng.choice(["spherical", "on line", "ball", "wheel"])), 8, held=False))
    check(rigid_case(robot, ties, q, seed))


@pytest.mark.parametrize("polynomial", [(0.3, -1.5), (0.1, 0.5, -0.3, 0.2, 0.05)], ids=["constant", "varying"])
def test_gears(polynomial: tuple[float, ...]) -> None:
    robot = arms()
    q = robot.configuration(np.random.default_rng(5))
    check(rigid_case(robot, [Gear(6, 12, polynomial)], q, 5))


def test_a_gear_of_leaders() -> None:
    robot = (
        maker(63)
        .add("a", "world", "revolute").add("b", "a", "revolute", follows=jn.Follow("a", 1.5, -0.25))
        .add("c", "b", "prismatic").add("d", "world", "revolute", follows=jn.Follow("c", -0.5))
        .add("e", "d", "helical")
        .robot()
    )  # fmt: skip
    q = robot.configuration(np.random.default_rng(6))
    check(rigid_case(robot, [Gear(0, 4, (0.2, 0.4, -0.1))], q, 6))


# --- contacts -----------------------------------------------------------------------------------------------

HELD = (*JOINTS, "on plane", "on line", "ball", "wheel")  # a distance of zero is not a constraint


@pytest.mark.parametrize("kind", nightly(KINDS, but=SOME))
def test_a_contact_at_a_pose(kind: str) -> None:
    robot, rng = arms(), np.random.default_rng(7)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    check(rigid_case(robot, [contact(rng, mechanism, q, kind, 3, held=False)], q, 7))


@pytest.mark.parametrize("kind", nightly(HELD, but=SOME))
def test_a_contact_where_the_frame_is(kind: str) -> None:
    """The plane that something rolls on is below it by its radius, wherever A is."""
    robot, rng = arms(), np.random.default_rng(8)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    tie = contact(rng, mechanism, q, kind, 5, held=True)
    v = block_velocities(mechanism, tie, q, robot.rates(rng))
    model = robot.model.constrained({"e": kind_of(tie)})
    check(Case(mechanism, model, [tie], ["e"], q, v, robot.rates(rng, (ORDER + 1,))))


def block_velocities(robot: Mechanism, tie: Tie, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v projected onto J v = 0, in float64."""
    rows = _rounded(block(tie, robot.frames(q, np.zeros((1, robot.nv), dtype=object))).rows[0])
    return v - np.linalg.pinv(rows) @ (rows @ v)


@pytest.mark.parametrize("kind", ["fixed", "spherical", "revolute", "on plane", "ball", "wheel"])
def test_a_contact_with_what_moves(kind: str) -> None:
    """A platform: its twist, in world axes about the contact, and the derivatives of that."""
    robot, rng = arms(), np.random.default_rng(9)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    tie = contact(rng, mechanism, q, kind, 3, held=False)
    motion = rng.uniform(-1, 1, (ORDER + 2, 6))
    ties = [replace(tie, a=replace(tie.a, motion=motion))]
    case = rigid_case(robot, ties, q, 9)
    found = case.model.constrained_dynamics(case.q, case.v, case.tau, motions={"c": motion})
    dynamics, rows = backward_errors(mechanism, ties, case.q, case.v, case.tau, found.acc, [found.forces["c"]])
    assert max(dynamics.max(), rows.max()) < BACKWARD, (dynamics, rows)


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
@pytest.mark.parametrize("kind", ["revolute", "distance", "wheel"])
def test_wrenches_in_other_axes(kind: str, frame: str) -> None:
    robot, rng = arms(), np.random.default_rng(10)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    ties = [random_tie(rng, mechanism, q, kind, 3, 5), contact(rng, mechanism, q, "spherical", 1, held=False)]
    case = rigid_case(robot, ties, q, 10, order=3)
    found = case.model.constrained_dynamics(case.q, case.v, case.tau, wrench_frame=frame)
    truth = case.truth(case.q, case.v, case.tau).forces(frame)
    for name, expected in zip(case.names, truth, strict=True):
        assert relative(found.forces[name], expected).max() < 1e-10, (name, relative(found.forces[name], expected))
    first = case.model.constrained_dynamics(case.q, case.v, case.tau[0], wrench_frame=frame)
    for name, expected in zip(case.names, truth, strict=True):
        assert first.forces[name].shape == (6,)
        assert np.abs(first.forces[name] - expected[0]).max() < 1e-11 * np.abs(expected[0]).max()


def test_outside_wrenches() -> None:
    robot, rng = arms(), np.random.default_rng(11)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    ties = [random_tie(rng, mechanism, q, "universal", 3, 5)]
    case = rigid_case(robot, ties, q, 11)
    outside = rng.uniform(-1, 1, (ORDER + 1, 6))
    found = case.model.constrained_dynamics(case.q, case.v, case.tau, wrenches={"d": outside})
    dynamics, rows = backward_errors(
        mechanism, ties, case.q, case.v, case.tau, found.acc, [found.forces["t0"]], {4: outside}
    )
    assert max(dynamics.max(), rows.max()) < BACKWARD, (dynamics, rows)


# --- redundant rows -----------------------------------------------------------------------------------------


def flat(robot: Robot) -> Robot:
    """All axes along y, all bodies offset in x and z only."""

    def part(p: object) -> object:
        spec, rng = p.spec, np.random.default_rng(len(p.spec.name))
        place = np.eye(4)
        place[[0, 2], 3] = np.round(rng.uniform(-0.5, 0.5, 2) + spec.placement[[0, 2], 3], 2)
        com = spec.com * [1.0, 0.0, 1.0]
        inertia = np.diag(np.diag(spec.inertia))
        return replace(p, spec=replace(spec, axis=np.array([0.0, 1.0, 0.0]), placement=place, com=com, inertia=inertia))

    return replace(robot, parts=tuple(part(p) for p in robot.parts))


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "spherical"])
def test_a_four_bar_linkage(kind: str) -> None:
    """In its plane two rows suffice and the others are redundant: the motion is that under the two."""
    chain = maker(64).add("a", "world", "revolute").add("b", "a", "revolute").add("c", "b", "revolute").robot()
    robot = flat(chain)
    mechanism = RigidRobot(robot.tree, robot)
    q = np.array([0.4, -0.9, 0.7])
    end = np.eye(4)
    end[[0, 2], 3] = 0.31, -0.12
    there = _rounded(mechanism.frames(q, np.zeros((1, 3), dtype=object)).pose(Side(2, end))[0])
    there[:3, :3] = np.eye(3)
    tie = Tie(kind, Side(-1, there), Side(2, end), axis=np.array([0.0, 1.0, 0.0]))
    case = rigid_case(robot, [tie], q, 12)
    assert case.truth(case.q, case.v, case.tau[:1]).redundant
    check(case)


def test_the_same_tie_twice() -> None:
    robot, rng = arms(), np.random.default_rng(13)
    mechanism, q = RigidRobot(robot.tree, robot), robot.configuration(rng)
    tie = random_tie(rng, mechanism, q, "revolute", 3, 5)
    case = rigid_case(robot, [tie, tie], q, 13)
    check(case)
    found = case.model.constrained_dynamics(case.q, case.v, case.tau).forces
    assert relative(found["t0"], found["t1"]).max() < 1e-9  # least forces share equally
    alone = rigid_case(robot, [tie], q, 13)
    whole = alone.truth(case.q, case.v, case.tau).forces()[0]
    assert relative(found["t0"] + found["t1"], whole).max() < 1e-8


# --- residuals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_residuals_and_rows(kind: str) -> None:
    """Zero residuals where the oracle has none, and rows that span the same space as its rows."""
    case = loop(arms(), kind, 3, 5, seed=14)
    positions, velocities = case.model.residual(case.q, case.v)
    assert max(np.abs(positions).max(), np.abs(velocities).max()) < 1e-14
    np.testing.assert_array_equal(case.model.residual(case.q), positions)
    rows = case.model.constraint_jacobian(case.q)
    truth = _rounded(block(case.ties[0], case.robot.frames(case.q, np.zeros((1, len(case.v)), dtype=object))).rows[0])
    assert rows.shape == truth.shape
    mixing = np.linalg.lstsq(truth.T, rows.T, rcond=None)[0].T
    assert np.abs(mixing @ truth - rows).max() < 1e-13
    assert np.linalg.cond(mixing) < 1e3
    step = 1e-4 * np.random.default_rng(0).uniform(-1, 1, len(case.v))
    ahead, behind = (case.model.residual(case.model.integrate(case.q, s * step)) for s in (1, -1))
    moved = rows @ step
    if kind in ("ball", "wheel"):  # one of its rows is holonomic
        assert np.abs(ahead - behind).max() > 1e-6
        told = np.abs(ahead - behind) > 0
        assert told.sum() == 1
        assert np.abs((ahead - behind) / 2 - moved)[told] < 1e-10
    else:
        assert np.abs((ahead - behind) / 2 - moved).max() < 1e-10


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "second"), [(5, -1), (-1, 5), (3, 5)])
def test_derivatives_of_the_rows(kind: str, first: int, second: int) -> None:
    """Along a motion of constant velocity, by eighth-order central differences; the second body may be the world."""
    case, weights, h = loop(arms(), kind, first, second, seed=16), (4 / 5, -1 / 5, 4 / 105, -1 / 280), 2e-3
    stack = np.zeros((3, len(case.v)))
    stack[0] = np.random.default_rng(1).uniform(-1, 1, len(case.v))
    found = case.model.constraint_jacobian_derivatives(case.q, stack)

    def at(t: float) -> np.ndarray:
        return case.model.constraint_jacobian_derivatives(case.model.integrate(case.q, t * stack[0]), stack)

    rates = sum(w * (at(i * h) - at(-i * h)) for i, w in enumerate(weights, 1)) / h
    np.testing.assert_allclose(found[0], case.model.constraint_jacobian(case.q), rtol=0, atol=1e-15)
    for k in range(3):
        size = max(1.0, np.abs(found[k + 1]).max())
        np.testing.assert_allclose(found[k + 1], rates[k], rtol=0, atol=1e-10 * size)


# --- soft robots --------------------------------------------------------------------------------------------


def fingers() -> SoftSpec:
    """Two rods of constant curvature on a turning base, with a body at the tip of each."""
    rng, length = np.random.default_rng(43), 0.375
    phi = constant_curvature(length, planar=False, elongation=True)
    common = {"length": length, "radii": (0.02, 0.015), "density": 1050.0, "young": 2e3, "poisson": 0.4}
    common |= {"basis": constant_basis(phi), "amplitudes": 3, "uniform": True, "section": "disk", "nodes": 3}
    modules: list[object] = [
        Joint(placement=random_pose(rng), axis=random_axes(rng)[0]),
        RigidBody(parent=0, mass=0.7, com=rng.uniform(-0.1, 0.1, 3), inertia=random_inertia(rng, 0.7)),
    ]
    for _ in range(2):
        modules.append(Rod(parent=1, placement=random_pose(rng, 0.2), viscosity=1e-3, **common))
        inertia = random_inertia(rng, 0.1)
        modules.append(RigidBody(parent=len(modules) - 1, mass=0.1, com=np.zeros(3), inertia=inertia))
    return SoftSpec(tuple(modules), np.array([0.7, -0.4, -9.6]))


def soft_case(kind: str, at: float | None = None) -> Case:
    spec = fingers()
    robot, rng = SoftRobot(spec), np.random.default_rng(15)
    scale = np.array([1.0, 0.5, 0.5, 0.03, 0.5, 0.5, 0.03])
    q, v = scale * rng.uniform(-1, 1, 7), scale * rng.uniform(-1, 1, 7)
    tie = random_tie(rng, robot, q, kind, 3 if at is None else 2, 5, at=at)
    q, v = map(_rounded, project(robot, [tie], q, v))
    model, names = closed(build_soft(spec, exact_nodes=True), [f"m{i}" for i in range(6)], {0: "m0"}, [tie])
    return Case(robot, model, [tie], names, q, v, 0.01 * scale * rng.uniform(-1, 1, (ORDER + 1, 7)))


@pytest.mark.parametrize("kind", nightly(["spherical", "distance", "universal"], but=["universal"]))
def test_soft_fingers_that_hold_each_other(kind: str) -> None:
    check(soft_case(kind))


def test_a_place_along_a_rod() -> None:
    check(soft_case("spherical", at=0.2))


# --- the test itself ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["revolute", "helical", "distance", "wheel"])
def test_a_tie_that_is_off_is_seen(kind: str) -> None:
    case = loop(arms(), kind, 3, 5)
    (tie,) = case.ties
    place = tie.b.place.copy()
    place[:3, 3] *= 1 + 1e-9
    other = replace(case, ties=[replace(tie, b=replace(tie.b, place=place))])
    report = errors(other)
    assert max(report["dynamics"].max(), report["rows"].max()) > BACKWARD
