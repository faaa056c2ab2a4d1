"""Derivatives of constrained dynamics with respect to the state and the forces, and their applications."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
from closed_robots import placed, some_inertia
from jounce import control
from jounce.dynamics.constraints.derivatives import ConstrainedDerivatives
from jounce.dynamics.constraints.static_ties import anchored

# Central differences of order 8.
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
STEP = 2e-3

JOINTS: dict[str, Callable[[np.random.Generator], jn.Joint]] = {
    "fixed": lambda rng: jn.Fixed(),
    "revolute": lambda rng: jn.Revolute(rng.normal(size=3)),
    "prismatic": lambda rng: jn.Prismatic(rng.normal(size=3)),
    "helical": lambda rng: jn.Helical(rng.normal(size=3), 0.3),
    "cylindrical": lambda rng: jn.Cylindrical(rng.normal(size=3)),
    "universal": lambda rng: jn.Universal(rng.normal(size=3), rng.normal(size=3)),
    "planar": lambda rng: jn.Planar(),
    "spherical": lambda rng: jn.Spherical(),
}
OTHERS: dict[str, Callable[[np.random.Generator], object]] = {
    "distance": lambda rng: jn.Distance(0.7),
    "on plane": lambda rng: jn.OnPlane(rng.normal(size=3)),
    "on line": lambda rng: jn.OnLine(rng.normal(size=3)),
    "ball": lambda rng: jn.Rolling(0.2),
    "wheel": lambda rng: jn.Rolling(0.2, axis=rng.normal(size=3)),
}
KINDS = JOINTS | OTHERS
FORCES = ("forces_q", "forces_v", "forces_tau")


def arms(rng: np.random.Generator, soft: bool = False) -> jn.Builder:
    """Two arms on a flying base; a joint of one follows the other."""
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), placed(rng), some_inertia(rng))
    for arm in "ab":
        above = "base"
        for i in range(4):
            axis = rng.normal(size=3)
            joint = (jn.Revolute(axis), jn.Prismatic(axis), jn.Spherical(), jn.Revolute(axis))[i]
            if (arm, i) == ("b", 3):
                joint = jn.Revolute(axis, follows=jn.Follow("a3", 0.7, 0.1))
            builder.add(f"{arm}{i}", above, joint, placed(rng), some_inertia(rng))
            above = f"{arm}{i}"
        if soft:
            builder.add(f"{arm} rod", above, None, placed(rng), body=jn.soft.Rod(0.3, 0.02, 1e3, 1e5))
    return builder


def closed(name: str, rng: np.random.Generator, soft: bool = False) -> jn.Model:
    builder, ends = arms(rng, soft), ("a rod", "b rod") if soft else ("a3", "b3")
    if name == "gear":
        builder.close("tie", "a0", "b0", jn.Gear((0.1, 0.5, 0.2, -0.3)))
    else:
        at = {"at_a": 0.1} if soft else {}
        kind = KINDS[name](rng)
        builder.close("tie", *ends, kind, placement_a=placed(rng), placement_b=placed(rng), **at)
    return builder.build()


def standing(name: str, rng: np.random.Generator, held: bool) -> jn.Model:
    kind = KINDS[name](rng)
    return arms(rng).build().constrained({"a3": jn.Contact(kind, placed(rng)) if held else kind})


def on_the_base(name: str, rng: np.random.Generator) -> jn.Model:
    """A loop whose second body is the base."""
    builder = arms(rng)
    builder.close("tie", "a3", "base", KINDS[name](rng), placement_a=placed(rng), placement_b=placed(rng))
    return builder.build()


def state(robot: jn.Model, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
    return q, v, rng.normal(size=(rows, robot.nv))


def difference(f: Callable[[float], np.ndarray]) -> np.ndarray:
    return sum(w * (f(k * STEP) - f(-k * STEP)) for k, w in WEIGHTS.items()) / STEP


def agree(found: np.ndarray, expected: np.ndarray, error: float) -> None:
    """Order by order, relative to the largest entry of each."""
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0, atol=error * np.abs(other).max(initial=1e-12))


def check(robot: jn.Model, rng: np.random.Generator, error: float = 2e-8, **axes: str) -> None:
    """Checks derivatives along some directions, up to order 2."""
    q, v, tau = state(robot, rng, 3)
    change = robot.constrained_dynamics_derivatives(q, v, tau, **axes)
    (name,) = robot.constraint_names
    np.testing.assert_array_equal(change.forces[name], robot.constrained_dynamics(q, v, tau, **axes).forces[name])
    robot = anchored(robot, q)  # a contact without a pose is where it is at q
    for _ in range(2):
        d = rng.normal(size=robot.nv)
        d /= np.abs(d).max() * 10
        ways = {
            "q": lambda h, d=d: robot.constrained_dynamics(robot.integrate(q, h * d), v, tau, **axes),
            "v": lambda h, d=d: robot.constrained_dynamics(q, v + h * d, tau, **axes),
        }
        for way, f in ways.items():
            agree(getattr(change, f"acc_{way}") @ d, difference(lambda h, f=f: f(h).acc), error)
            mine = getattr(change, f"forces_{way}")[name] @ d
            agree(mine, difference(lambda h, f=f: f(h).forces[name]), error)
        for order in range(3):
            more = np.zeros_like(tau)
            more[order] = d
            plus, minus = (robot.constrained_dynamics(q, v, tau + s * more, **axes) for s in (1, -1))
            agree(change.acc_tau[:, order] @ d, (plus.acc - minus.acc) / 2, max(error / 10, 1e-9))  # no cubic terms
            if order == 2:
                mine = change.forces_tau[name][2, 2] @ d
                other = (plus.forces[name] - minus.forces[name])[2] / 2
                np.testing.assert_allclose(mine, other, rtol=0, atol=error * np.abs(other).max())


@pytest.mark.parametrize("name", [*KINDS, "gear"])
def test_loops(name: str) -> None:
    check(closed(name, np.random.default_rng(1)), np.random.default_rng(2))


@pytest.mark.parametrize("name", ["fixed", "spherical", "distance"])
def test_loops_of_soft_bodies(name: str) -> None:
    check(closed(name, np.random.default_rng(3), soft=True), np.random.default_rng(4), 1e-6)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_contacts(name: str, held: bool) -> None:
    if name == "distance" and not held:
        pytest.skip("a distance needs to know from where")
    check(standing(name, np.random.default_rng(5), held), np.random.default_rng(6))


@pytest.mark.parametrize("wrench_frame", ["world", "mixed"])
@pytest.mark.parametrize("name", ["fixed", "revolute", "distance", "wheel", "gear"])
def test_forces_in_other_axes(name: str, wrench_frame: str) -> None:
    """On loops, whose forces are on their first body, and on contacts."""
    check(closed(name, np.random.default_rng(1)), np.random.default_rng(2), wrench_frame=wrench_frame)
    if name != "gear":
        check(standing(name, np.random.default_rng(5), True), np.random.default_rng(6), wrench_frame=wrench_frame)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("name", [*JOINTS, "on plane", "on line"])
def test_the_core_says_the_same_at_order_zero(name: str, soft: bool) -> None:
    """The core has explicit formulas; constraints whose rows change take the general path."""
    rng = np.random.default_rng(7)
    robots = [closed(name, rng, soft), standing(name, rng, held=True), standing(name, rng, held=False)]
    robots += [on_the_base(name, rng), arms(rng).build().constrained({"base": KINDS[name](rng)})]
    for robot in robots:
        q = robot.random_configuration(rng)
        if robot is not robots[3]:  # whose loop is short
            q, _ = robot.project(q, np.zeros(robot.nv))
        v, tau = rng.normal(size=(2, robot.nv))  # need not obey the constraints
        mine, general = (robot.constrained_dynamics_derivatives(q, v, x) for x in (tau, tau[None]))
        for key in ("acc", "acc_q", "acc_v"):
            agree(getattr(mine, key)[None], getattr(general, key), 1e-10)
        agree(mine.acc_tau[None], general.acc_tau[:, 0], 1e-10)
        agree(mine.jacobian[None], general.jacobian[None], 1e-13)
        size = max(1.0, np.abs(general.speed_q).max())  # zero if the base is held
        np.testing.assert_allclose(mine.speed_q, general.speed_q, rtol=0, atol=1e-12 * size)
        same_forces(mine, general)
        other_axes = {"wrench_frame": "mixed" if robot is robots[1] else "world"}
        same_forces(*(robot.constrained_dynamics_derivatives(q, v, x, **other_axes) for x in (tau, tau[None])))


def same_forces(mine: ConstrainedDerivatives, general: ConstrainedDerivatives) -> None:
    for constraint in mine.forces:
        agree(mine.forces[constraint][None], general.forces[constraint], 1e-10)
        for key in FORCES:
            other = getattr(general, key)[constraint]
            agree(getattr(mine, key)[constraint][None], other[:, 0] if key == "forces_tau" else other, 1e-10)


def test_batches_and_wrenches() -> None:
    rng = np.random.default_rng(8)
    robot = closed("revolute", rng)
    q, v, tau = (np.array(x) for x in zip(*(state(robot, rng, 2) for _ in range(3)), strict=True))
    wrenches = {"a1": rng.normal(size=(2, 6)), "b2": rng.normal(size=(3, 2, 6))}
    for stacked in (False, True):
        force = tau if stacked else tau[:, 0]
        acting = wrenches if stacked else {k: w[..., 0, :] for k, w in wrenches.items()}
        found = robot.constrained_dynamics_derivatives(q, v, force, wrenches=acting, wrench_frame="mixed")
        for i in range(3):
            one = {k: w[i] if w.ndim > (1 + stacked) else w for k, w in acting.items()}
            single = robot.constrained_dynamics_derivatives(q[i], v[i], force[i], wrenches=one, wrench_frame="mixed")
            agree(found.acc_q[i][None], single.acc_q[None], 1e-12)
            agree(found.forces_v["tie"][i][None], single.forces_v["tie"][None], 1e-12)
    d = rng.normal(size=robot.nv) / 10
    acting = {k: w[..., 0, :] if w.ndim == 2 else w[0, 0] for k, w in wrenches.items()}
    change = robot.constrained_dynamics_derivatives(q[0], v[0], tau[0, 0], wrenches=acting, wrench_frame="mixed")
    moved = difference(
        lambda h: robot.forward_dynamics(
            robot.integrate(q[0], h * d), v[0], tau[0, 0], wrenches=acting, wrench_frame="mixed"
        )
    )
    agree((change.acc_q @ d)[None], moved[None], 1e-8)


@pytest.mark.parametrize("kind", ["revolute", "distance"])  # with constant rows, and without
@pytest.mark.parametrize("batched", ["q", "v", "q v", "v tau"])  # tau alone would be a stack
def test_what_is_no_batch_is_that_of_all_states(kind: str, batched: str) -> None:
    rng = np.random.default_rng(10)
    robot = closed(kind, rng)
    states = [dict(zip(("q", "v", "tau"), state(robot, rng, 1), strict=True)) for _ in range(2)]
    for s in states:
        s["tau"] = s["tau"][0]
        s |= {k: states[0][k] for k in s if k not in batched.split()}
    given = {k: np.stack([s[k] for s in states]) if k in batched.split() else x for k, x in states[0].items()}
    found = robot.constrained_dynamics_derivatives(**given)
    for i, s in enumerate(states):
        single = robot.constrained_dynamics_derivatives(**s)
        for key in ("acc", "acc_q", "acc_v", "acc_tau"):
            agree(getattr(found, key)[i][None], getattr(single, key)[None], 1e-10)


def test_forward_dynamics_derivatives_obey() -> None:
    rng = np.random.default_rng(9)
    robot = closed("spherical", rng)
    q, v, tau = state(robot, rng, 2)
    change = robot.constrained_dynamics_derivatives(q, v, tau)
    for mine, other in zip(
        robot.forward_dynamics_derivatives(q, v, tau), (change.acc_q, change.acc_v, change.acc_tau), strict=True
    ):
        np.testing.assert_array_equal(mine, other)
    assert np.abs(robot.constraint_jacobian(q) @ change.acc_tau[0, 0]).max() < 1e-12


def four_bar(axis: tuple[float, float, float]) -> jn.Model:
    """Hinges in space: three of the rows of the pin are redundant."""
    builder, shift = jn.Builder(), np.eye(4)
    for name, parent, x in (("crank", "world", 0.0), ("coupler", "crank", 0.1), ("rocker", "world", 0.34)):
        shift[0, 3] = x
        bar = jn.Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.01, 0.02, 0.02]))
        builder.add(name, parent, jn.Revolute(axis, damping=0.01), shift, bar)
    ends = np.tile(np.eye(4), (2, 1, 1))
    ends[:, 0, 3] = 0.3, 0.27
    builder.close("pin", "coupler", "rocker", jn.Revolute(axis), placement_a=ends[0], placement_b=ends[1])
    return builder.build()


def table() -> jn.Model:
    """On four feet that hold three directions each: twelve rows for six degrees of freedom and a drawer."""
    builder, rng = jn.Builder(), np.random.default_rng(5)
    builder.add("top", "world", jn.Free(), inertia=some_inertia(rng))
    builder.add("drawer", "top", jn.Prismatic((1, 2, 0)), placed(rng), some_inertia(rng))
    for i in range(4):
        builder.add(f"foot {i}", "drawer" if i == 3 else "top", jn.Fixed(), placed(rng))
    return builder.build().constrained({f"foot {i}": jn.Spherical() for i in range(3)})


def held_twice(kind: str) -> jn.Model:
    """Tied by the same joint twice, at different places: rows of one are those of the other plus a lever arm."""
    rng = np.random.default_rng(3)
    builder = arms(rng)
    axis, at = rng.normal(size=3), (placed(rng), placed(rng))
    joint = {"revolute": jn.Revolute(axis), "cylindrical": jn.Cylindrical(axis), "gear": jn.Gear((0.1, 0.5, 0.2))}[kind]
    for name, x in (("first", 0.0), ("second", 0.4)):
        if kind == "gear":
            builder.close(name, "a0", "b0", joint)
            continue
        along = np.eye(4)
        along[:3, 3] = x * axis
        builder.close(name, "a3", "b3", joint, placement_a=at[0] @ along, placement_b=at[1] @ along)
    return builder.build()


def three_bars() -> jn.Model:
    """Of equal length and parallel, under one coupler: the sharing of a load on it changes as they swing."""
    builder, shift = jn.Builder(), np.tile(np.eye(4), (4, 1, 1))
    shift[:, 0, 3] = 0.0, 0.3, 0.8, 0.5
    for name, at in zip("abc", shift[:3], strict=True):
        builder.add(name, "world", jn.Revolute((0, 1, 0)), at, some_inertia(np.random.default_rng(1)))
    tip = shift[3]
    builder.add("coupler", "a", jn.Revolute((0, 1, 0)), tip, some_inertia(np.random.default_rng(2)))
    for name, at in zip("bc", shift[1:3], strict=True):
        builder.close(f"pin {name}", "coupler", name, jn.Revolute((0, 1, 0)), placement_a=at, placement_b=tip)
    return builder.build()


def three_legs() -> jn.Model:
    """The same upside down, on turning feet: each holds a point, in axes that turn with it."""
    builder, shift = jn.Builder(), np.tile(np.eye(4), (4, 1, 1))
    shift[:, 0, 3] = 0.0, 0.3, 0.8, 0.5
    rng = np.random.default_rng(1)
    builder.add("coupler", "world", jn.Free(), inertia=some_inertia(rng))
    for name, at in zip("abc", shift[:3], strict=True):
        builder.add(name, "coupler", jn.Revolute((0, 1, 0)), at, some_inertia(rng))
        builder.add(f"foot {name}", name, jn.Revolute((0, 1, 0)), shift[3], some_inertia(rng))
    return builder.build().constrained({f"foot {name}": jn.Spherical() for name in "abc"})


REDUNDANT: dict[str, Callable[[], jn.Model]] = {
    "four-bar": lambda: four_bar((0, -1, 0)),
    "tilted four-bar": lambda: four_bar((0, -1, 0.2)),
    "three bars": three_bars,
    "three legs": three_legs,
    "three feet": table,
    "two hinges": lambda: held_twice("revolute"),
    "two sleeves": lambda: held_twice("cylindrical"),
    "two gears": lambda: held_twice("gear"),
}


@pytest.mark.parametrize("name", REDUNDANT)
def test_rows_that_depend_on_others(name: str) -> None:
    """Accelerations and least forces, along states that obey; elsewhere rows contradict each other."""
    robot, rng = REDUNDANT[name](), np.random.default_rng(4)
    starts = {"four-bar": [0.5, 0.5, 2.0], "tilted four-bar": [0.5, 0.5, 2.0], "three bars": [0.7, 0.7, 0.7, -0.7]}
    starts["three legs"] = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0, 0.7, 0.1, 0.7, -0.8, 0.7, 0.5]
    start = starts.get(name, robot.random_configuration(rng))
    q, v = robot.project(start, rng.normal(size=robot.nv))
    J = robot.constraint_jacobian(q)
    assert np.linalg.matrix_rank(J, 1e-6) < len(J)
    tau, push = rng.normal(size=(3, robot.nv)), {robot.body_names[-1]: rng.normal(size=(3, 6))}
    d = robot.project(q, 0.1 * rng.normal(size=robot.nv))[1]
    faster = robot.project(q, 0.1 * rng.normal(size=robot.nv))[1]

    def near(h: float) -> tuple[np.ndarray, np.ndarray]:
        return robot.project(robot.integrate(q, h * d), v + h * faster)

    dq = difference(lambda h: robot.difference(q, near(h)[0]))
    dv = difference(lambda h: near(h)[1])
    for force, wrench in ((tau[0], None), (tau, None), (tau, push)):
        change = robot.constrained_dynamics_derivatives(q, v, force, wrenches=wrench)
        moved = {
            k * s: robot.constrained_dynamics(*near(k * s * STEP), force, wrenches=wrench)
            for k in WEIGHTS
            for s in (1, -1)
        }
        pairs = [(change.acc_q @ dq + change.acc_v @ dv, {k: x.acc for k, x in moved.items()})]
        for tie in robot.constraint_names:
            mine = change.forces_q[tie] @ dq + change.forces_v[tie] @ dv
            pairs.append((mine, {k: x.forces[tie] for k, x in moved.items()}))
        for mine, each in pairs:
            other = sum(w * (each[k] - each[-k]) for k, w in WEIGHTS.items()) / STEP
            for a, b in zip(np.atleast_2d(mine), np.atleast_2d(other), strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=2e-8 * max(np.abs(b).max(), 1.0))
    for order in range(3):
        more = np.zeros_like(tau)
        more[order] = 0.1 * rng.normal(size=robot.nv)
        plus, minus = (robot.constrained_dynamics(q, v, tau + s * more) for s in (1, -1))
        for tie in robot.constraint_names:
            mine = change.forces_tau[tie][order, order] @ more[order]
            other = (plus.forces[tie] - minus.forces[tie])[order] / 2
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-8 * np.abs(other).max(initial=1e-6))


def test_derivatives_of_shared_forces_of_batches() -> None:
    robot, rng = table(), np.random.default_rng(0)
    q, v = robot.project(robot.random_configuration(rng, 3), rng.normal(size=(3, robot.nv)))
    for tau in (rng.normal(size=(3, robot.nv)), rng.normal(size=(3, 2, robot.nv))):
        whole = robot.constrained_dynamics_derivatives(q, v, tau)
        for i in range(3):
            one = robot.constrained_dynamics_derivatives(q[i], v[i], tau[i])
            for name, kind in itertools.product(robot.constraint_names, FORCES):
                mine, other = getattr(whole, kind)[name][i], getattr(one, kind)[name]
                np.testing.assert_allclose(mine, other, rtol=0, atol=1e-10 * np.abs(other).max())


def test_linearization_in_independent_coordinates() -> None:
    """A linkage has one angle: against differences of its motion in that angle, at a moving state."""
    robot = four_bar((0, -1, 0))
    q, v = robot.project([0.5, 0.5, 2.0], [3.0, 0.0, 0.0])
    tau = np.array([1.0, 0.0, 0.0])
    lin = robot.linearize(q, v, tau, actuated=["crank"])
    A, B = lin.reduced()
    assert lin.A.shape == (6, 6)
    assert A.shape == (2, 2)
    assert B.shape == (2, 1)

    def rate(z: np.ndarray) -> np.ndarray:  # of the two coordinates, as a function of them
        x = lin.lift @ z
        place, speed = robot.project(q + x[:3], v + x[3:])
        for _ in range(5):  # onto the constraints, keeping z
            error = z - lin.independent @ np.concatenate([place - q, speed - v])
            x = x + lin.lift @ error
            place, speed = robot.project(q + x[:3], v + x[3:])
        return lin.independent @ np.concatenate([speed, robot.forward_dynamics(place, speed, tau)])

    for i in range(2):
        column = difference(lambda h, i=i: rate(0.1 * h * np.eye(2)[i])) / 0.1
        np.testing.assert_allclose(A[:, i], column, rtol=0, atol=1e-7 * np.abs(A).max())


def test_rolling_has_more_positions_than_velocities() -> None:
    builder = jn.Builder()
    builder.add("disc", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(2.5e-3, 5e-3, 2.5e-3)))
    builder.close("ground", "world", "disc", jn.Rolling(0.1, axis=(0, 1, 0)))
    disc = builder.build()
    q = np.array([0, 0, 0.1, 0, 0, 0, 1.0])
    v = disc.project(q, np.array([0, 0, 0, 0.0, 20.0, 0.0]))[1]
    lin = disc.linearize(q, v, np.zeros(6))
    assert lin.lift.shape == (12, 5 + 3)
    change = disc.constrained_dynamics_derivatives(q, v, np.zeros(6))
    dq, dv = lin.lift[:6], lin.lift[6:]
    assert np.abs(change.jacobian[0] @ dq).max() < 1e-14  # only contact with the plane is holonomic
    assert np.abs(change.jacobian[1:] @ dq).max() > 0.1
    assert np.abs(change.speed_q @ dq + change.jacobian @ dv).max() < 1e-13
    np.testing.assert_allclose(lin.independent @ lin.lift, np.eye(8), atol=1e-14)


def test_lqr_of_a_robot_that_holds_on() -> None:
    """The linkage is held up by a torque on its crank, and returns to its state."""
    robot = four_bar((0, -1, 0))
    q, rest = robot.project([0.5, 0.5, 2.0]), np.zeros(3)
    crank = np.array([True, False, False])
    _, hold = robot.hybrid_dynamics(q, rest, rest, rest, prescribed=crank)
    lin = robot.linearize(q, rest, hold, actuated=["crank"])
    regulator = control.lqr(lin, np.ones(6), np.ones(1))
    assert regulator.K.shape == (1, 6)
    assert len(regulator.poles) == 2
    assert regulator.poles.real.max() < -0.1
    start = robot.project(q + np.array([0.05, 0.0, 0.0]))
    times = np.linspace(0.0, 15 / -regulator.poles.real.max(), 5)
    run = jn.simulate(robot, start, rest, times, lambda t, q, v: regulator.control(robot, q, v), method="rkmk")
    assert np.abs(run.q[-1] - q).max() < 1e-4
    assert np.abs(robot.residual(run.q)).max() < 1e-12
    sampled = control.lqr(lin, np.ones(6), np.ones(1), dt=0.01)
    assert np.abs(sampled.poles).max() < 1


def test_orders_whose_factorials_exceed_integers() -> None:
    rng = np.random.default_rng(4)
    robot = closed("distance", rng)
    q, v, tau = state(robot, rng, 25)
    low, high = (robot.constrained_dynamics_derivatives(q, v, tau[:rows]) for rows in (19, 25))
    for name in ("acc_q", "acc_v", *FORCES[:2]):
        mine, other = getattr(high, name), getattr(low, name)
        if name in FORCES:
            mine, other = mine["tie"], other["tie"]
        assert mine.dtype == float
        agree(mine[:19], other, 1e-12)
