"""Constrained motion and its forces, against physics and their own definitions."""

from __future__ import annotations

from math import comb, factorial

import numpy as np
import pytest

import jounce as jn
from closed_robots import BODIES, CLOSINGS, Case, arms, contacts, given_back, loop, placed, some_inertia

each_body = pytest.mark.parametrize("bodies", BODIES)
each_closing = pytest.mark.parametrize("closing", CLOSINGS)
SOME = ("fixed", "universal", "wheel", "distance")
ORDER = 6
LOST = {"soft": 1e-7, "all of it": 1e-8}  # every derivative loses as many digits as the rods' frequencies have


def close(found: np.ndarray, expected: np.ndarray, error: float) -> None:
    """Compares stacks row by row, relative to the largest number of the row."""
    assert found.shape == expected.shape
    errors = np.abs(found - expected).max(axis=-1) / np.abs(expected).max(axis=-1)
    assert np.max(errors) < error


def stack(case: Case, found: jn.ConstrainedDynamics) -> np.ndarray:
    return np.concatenate([case.v[None], found.acc])


# Forces


@each_body
@each_closing
def test_forces_given_back_make_the_same_motion(closing: str, bodies: str) -> None:
    case = loop(closing, bodies, ORDER)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau, wrench_frame="world")
    wrenches = given_back(case, found)
    acc = case.free.forward_dynamics(case.q, case.v, case.tau, wrenches=wrenches, wrench_frame="world")
    close(acc, found.acc, LOST.get(bodies, 1e-12))
    alone, held = (
        case.free.inverse_dynamics(case.q, stack(case, found), wrenches=x, wrench_frame="world")
        for x in (None, wrenches)
    )
    errors = np.abs(held - case.tau).max(axis=-1) / np.abs(alone).max(axis=-1)
    assert errors.max() < 1e-12
    assert np.abs(case.free.forward_dynamics(case.q, case.v, case.tau)[0] - acc[0]).max() > 1e-3


@pytest.mark.parametrize("axes", ["body", "world", "mixed"])
@each_body
def test_forces_of_contacts_given_back(bodies: str, axes: str) -> None:
    case = contacts(bodies, ORDER)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau, wrench_frame=axes)
    acc = case.free.forward_dynamics(case.q, case.v, case.tau, wrenches=found.forces, wrench_frame=axes)
    close(acc, found.acc, LOST.get(bodies, 1e-12))


@each_body
def test_forces_of_gears_given_back(bodies: str) -> None:
    case = loop("gear", bodies, ORDER)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau)
    tau = case.tau.copy()
    for joint, which in (("a0", 0), ("b0", 1)):
        tau[:, case.free.coordinate(joint).start] += found.forces["loop"][:, which]
    close(case.free.forward_dynamics(case.q, case.v, tau), found.acc, LOST.get(bodies, 1e-12))


def power(force: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Derivatives of force . twist."""
    return np.array([sum(comb(k, j) * force[j] @ twist[k - j] for j in range(k + 1)) for k in range(len(force))])


def sizes(rows: np.ndarray) -> np.ndarray:
    """The size of each row, as a stack of vectors with one number."""
    return np.linalg.norm(rows, axis=-1, keepdims=True)


@each_body
@each_closing
def test_forces_of_loops_do_no_work(closing: str, bodies: str) -> None:
    case = loop(closing, bodies, 4)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau, wrench_frame="world")
    motion, (record,) = stack(case, found)[:-1], case.held.constraints
    options = {"frame": "world", "velocity_frame": "body"}
    first, second = (case.held.twist(x, case.q, motion, **options) for x in (record.a, record.b))
    force = found.forces["loop"]
    work = power(force, first - second)
    assert (np.abs(work) < 1e-11 * power(sizes(force), sizes(first) + sizes(second))).all()
    if closing != "fixed":
        assert (sizes(first - second) > 1e-3 * sizes(first)).all()


def test_forces_of_gears_do_no_work() -> None:
    case = loop("gear", "floating", 4)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau)
    columns = [case.held.coordinate(x).start for x in ("a0", "b0")]
    force, rates = found.forces["loop"], stack(case, found)[:-1, columns]
    assert (np.abs(power(force, rates)) < 1e-12 * power(sizes(force), sizes(rates))).all()


@pytest.mark.parametrize("axes", ["body", "world", "mixed"])
def test_forces_of_contacts_do_no_work(axes: str) -> None:
    case = contacts("all of it", 4)
    found = case.held.constrained_dynamics(case.q, case.v, case.tau, wrench_frame=axes)
    motion = stack(case, found)[:-1]
    for name, force in found.forces.items():
        twist = case.held.twist(name, case.q, motion, frame=axes, velocity_frame="body")
        assert (np.abs(power(force, twist)) < 1e-11 * power(sizes(force), sizes(twist))).all(), name


def test_a_foot_that_is_held_does_not_move() -> None:
    """Its twist and derivatives are zero, so its force does no work."""
    rng = np.random.default_rng(1)
    builder, a, _ = arms(rng, floating=True, soft=True, follows=True)
    held = builder.build().constrained({a: jn.Fixed()})
    q = held.random_configuration(rng)
    v = held.project(q, rng.normal(size=held.nv))[1]
    found = held.constrained_dynamics(q, v, rng.normal(size=(5, held.nv)))
    motion = np.concatenate([v[None], found.acc])
    twist = held.twist(a, q, motion, velocity_frame="body")
    other = held.twist("base", q, motion, velocity_frame="body")
    assert (np.abs(twist).max(axis=-1) < 1e-11 * np.abs(other).max(axis=-1)).all()


# More constraints than needed


def _door(bodies: str) -> Case:
    """The arms are tied by two hinges on one axis: ten rows, five of which suffice."""
    rng = np.random.default_rng(9)
    builder, a, b = arms(rng, **BODIES[bodies])
    free = builder.build()
    first, second, shift = placed(rng), placed(rng), np.eye(4)
    shift[2, 3] = 0.4
    for name, along in (("lower", np.eye(4)), ("upper", shift)):
        builder.close(name, a, b, jn.Revolute(), placement_a=first @ along, placement_b=second @ along)
    held = builder.build()
    q = held.project(held.random_configuration(rng))
    return Case(held, free, q, held.project(q, rng.normal(size=held.nv))[1], rng.normal(size=(1, held.nv)))


@pytest.mark.parametrize("bodies", ["rigid", "floating", "followers"])
def test_forces_of_two_hinges_are_the_least_and_their_rates_are_rates(bodies: str) -> None:
    """At a later time they are as their derivatives predict; the least forces of each order separately would not be."""
    case = _door(bodies)
    held, h = case.held, 2e-3
    tau = np.concatenate([case.tau, np.zeros((ORDER, held.nv))])
    found = held.constrained_dynamics(case.q, case.v, tau)
    J = held.constraint_jacobian(case.q)
    assert len(J) == 10
    assert np.linalg.matrix_rank(J, tol=1e-9) == 5
    length = held._natural_sizes()[2][0]  # of the robot: a force counts as its moment at this distance
    load = np.array([length, length, length, 1, 1] * 2)
    force = held.inverse_dynamics(case.q, case.v, found.acc[0]) - case.tau[0]
    close(found.multipliers[0], np.linalg.pinv((J / load[:, None]).T, rcond=1e-9) @ force / load, 1e-10)
    back = case.free.forward_dynamics(
        case.q,
        case.v,
        tau,
        wrenches=given_back(case, held.constrained_dynamics(case.q, case.v, tau, wrench_frame="world")),
        wrench_frame="world",
    )
    close(back, found.acc, 1e-11)

    motion = jn.simulate(held, case.q, case.v, [0.0, h], case.tau[0], rtol=1e-13, atol=1e-14)
    later = held.constrained_dynamics(motion.q[-1], motion.v[-1], case.tau[0])
    for name, force in later.forces.items():
        series = sum(found.forces[name][k] * h**k / factorial(k) for k in range(ORDER + 1))
        change = np.abs(force - found.forces[name][0]).max()
        assert np.abs(series - force).max() < 1e-7 * change, name


def test_a_row_that_says_nothing_wherever_the_robot_stands() -> None:
    """A planar four-bar closed by a ball joint: the row normal to its plane is zero up to rounding.

    The second plane is not aligned with the world's axes, so the row has entries of 1e-17.
    """
    found = []
    for place in (np.eye(4), placed(np.random.default_rng(10))):
        builder, shift = jn.Builder(gravity=(0.0, 0.0, 0.0)), np.eye(4)
        inertia = jn.Inertia(1.0, (0.1, 0.0, 0.0), np.diag([0.01, 0.02, 0.03]))
        for name, parent, x in (("crank", "world", 0.0), ("coupler", "crank", 0.2), ("rocker", "world", 0.5)):
            shift[0, 3] = x
            builder.add(name, parent, jn.Revolute(), place @ shift if parent == "world" else shift, inertia)
        ends = np.tile(np.eye(4), (2, 1, 1))
        ends[:, 0, 3] = 0.5, 0.4
        builder.close("pin", "coupler", "rocker", jn.Spherical(), placement_a=ends[0], placement_b=ends[1])
        robot = builder.build()
        q, v = robot.project([0.5, -0.5, -1.0], [1.0, 0.0, 0.0])
        found.append(robot.constrained_dynamics(q, v, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])))
    close(found[1].acc, found[0].acc, 1e-10)
    close(found[1].forces["pin"], found[0].forces["pin"], 1e-10)


def test_two_hinges_at_a_high_order() -> None:
    """Factorials beyond 20! do not fit into 64-bit integers."""
    case = _door("rigid")
    found = case.held.constrained_dynamics(case.q, case.v, np.concatenate([case.tau, np.zeros((22, case.held.nv))]))
    close(found.multipliers[:1], case.held.constrained_dynamics(case.q, case.v, case.tau).multipliers, 1e-12)
    assert np.isfinite(found.multipliers).all()


# One matrix for all orders; batches; axes


@each_body
@pytest.mark.parametrize("closing", SOME)
def test_lower_orders_do_not_see_higher_ones(closing: str, bodies: str) -> None:
    case = loop(closing, bodies, ORDER)
    full = case.held.constrained_dynamics(case.q, case.v, case.tau)
    for order in range(ORDER):
        part = case.held.constrained_dynamics(case.q, case.v, case.tau[: order + 1])
        close(part.acc, full.acc[: order + 1], 1e-13)  # higher ones may ask for twice the digits
        close(part.forces["loop"], full.forces["loop"][: order + 1], 1e-13)
    alone = case.held.constrained_dynamics(case.q, case.v, case.tau[0])
    close(alone.acc, full.acc[0], 1e-13)
    np.testing.assert_array_equal(case.held.forward_dynamics(case.q, case.v, case.tau), full.acc)


@each_body
def test_batches_are_one_by_one(bodies: str) -> None:
    case = contacts(bodies, 3)
    rng = np.random.default_rng(2)
    q = case.held.random_configuration(rng, (2, 3))
    v = np.array([case.held.project(x, rng.normal(size=case.held.nv))[1] for x in q.reshape(6, -1)]).reshape(2, 3, -1)
    tau = rng.normal(size=(2, 3, 4, case.held.nv))
    found = case.held.constrained_dynamics(q, v, tau)
    assert found.acc.shape == tau.shape
    acc = case.held.forward_dynamics(q, v, tau)
    for i in np.ndindex(2, 3):
        one = case.held.constrained_dynamics(q[i], v[i], tau[i])
        np.testing.assert_array_equal(found.acc[i], one.acc)
        np.testing.assert_array_equal(found.multipliers[i], one.multipliers)
        for name, force in one.forces.items():
            np.testing.assert_array_equal(found.forces[name][i], force)
        np.testing.assert_array_equal(acc[i], one.acc)


@pytest.mark.parametrize("frame", ["world", "mixed"])
@pytest.mark.parametrize("bodies", [x for x in BODIES if "floating" in BODIES[x]])
@pytest.mark.parametrize("closing", SOME)
def test_axes_of_free_joints(closing: str, bodies: str, frame: str) -> None:
    case = loop(closing, bodies, 3)
    held = case.held
    found = held.constrained_dynamics(case.q, case.v, case.tau, wrench_frame="mixed")
    motion = stack(case, found)
    v = held.change_velocity_frame(case.q, motion, "body", frame)
    tau = held.change_force_frame(case.q, motion, case.tau, "body", frame)
    there = held.constrained_dynamics(case.q, v[0], tau, frame=frame, wrench_frame="mixed")
    close(there.acc, v[1:], 1e-10)
    close(there.forces["loop"], found.forces["loop"], 1e-10)
    J, body = (held.constraint_jacobian(case.q, frame=x) for x in (frame, "body"))
    np.testing.assert_allclose(J @ v[0], body @ case.v, atol=1e-12)
    axes = np.array([held.change_velocity_frame(case.q, x[None], "body", frame)[0] for x in np.eye(held.nv)]).T
    np.testing.assert_allclose(J @ axes, body, atol=1e-12)


# Motions and corrections


@pytest.mark.parametrize("bodies", ["rigid", "all of it"])
@pytest.mark.parametrize("kind", ["fixed", "spherical", "universal"])
def test_a_moving_platform_is_a_body_whose_motion_is_prescribed(kind: str, bodies: str) -> None:
    """Against the same robot tied to the platform as a separate body, by hybrid dynamics."""
    rng = np.random.default_rng(3)
    joint = CLOSINGS[kind](*rng.normal(size=(2, 3)))
    builder, hand, _ = arms(rng, **BODIES[bodies])
    robot = builder.build()
    q = robot.random_configuration(rng)
    held = robot.constrained({hand: joint})
    builder.add("platform", "world", jn.Free(), inertia=some_inertia(rng))
    there = robot.pose(hand, q)
    builder.close("tie", "platform", hand, joint)
    both = builder.build()

    order = 4
    full = np.concatenate([q, there[:3, 3], _quaternion(there[:3, :3])])
    assert np.abs(both.residual(full)).max() < 1e-12
    twists = rng.normal(size=(order + 2, 6))  # of the platform in its own axes
    fixed = np.arange(both.nv) >= robot.nv
    wanted = np.concatenate([np.zeros((order + 2, robot.nv)), twists], axis=-1)
    J = both.constraint_jacobian(full)
    v = rng.normal(size=robot.nv)
    v -= np.linalg.pinv(J[:, ~fixed]) @ (J[:, ~fixed] @ v + J[:, fixed] @ twists[0])
    tau = rng.normal(size=(order + 1, robot.nv))
    acc, _ = both.hybrid_dynamics(
        full, np.concatenate([v, twists[0]]), wanted[1:], np.pad(tau, ((0, 0), (0, 6))), prescribed=fixed
    )

    motion = np.vstack([np.concatenate([v, twists[0]])[None], np.hstack([acc[:, : robot.nv], twists[1:]])])
    moving = both.twist("platform", full, motion, frame="mixed", velocity_frame="body")
    found = held.constrained_dynamics(q, v, tau, motions={hand: moving})
    close(found.acc, acc[:, : robot.nv], 1e-9)
    still = held.constrained_dynamics(q, v, tau)
    assert np.abs(still.acc - found.acc).max() > 1e-2


@pytest.mark.parametrize("first", [0, 1])
def test_hands_go_where_the_places_go_that_they_hold_on_to(first: int) -> None:
    """Each independently: their twists are those of the places, at every order; for one state, and for two."""
    rng, order = np.random.default_rng(12), 3
    builder, *hands = arms(rng, floating=True)
    robot = builder.build()
    held = robot.constrained({hands[first]: jn.Spherical(), hands[1 - first]: jn.Fixed()})
    q, some = robot.random_configuration(rng, (2,)), rng.normal(size=(2, order + 2, robot.nv))
    places = {h: robot.twist(h, q, some, frame="mixed", velocity_frame="body") for h in hands}
    tau = rng.normal(size=(2, order + 1, robot.nv))
    for state in (slice(None), 1):
        v, motions = some[state, 0], {h: x[state] for h, x in places.items()}
        found = held.constrained_dynamics(q[state], v, tau[state], motions=motions)
        assert np.abs(found.acc - some[state, 1:]).max() > 1.0  # the rest of the robot moves differently
        motion = np.concatenate([v[..., None, :], found.acc], axis=-2)
        for hand, twist in motions.items():
            moved = robot.twist(hand, q[state], motion, frame="mixed", velocity_frame="body")
            parts = slice(0, 6 if hand == hands[1 - first] else 3)
            errors = np.abs(moved - twist)[..., parts].max(axis=-1) / np.abs(motion).max(axis=-1)
            assert errors.max() < 1e-11, hand


def _quaternion(R: np.ndarray) -> np.ndarray:
    """x y z w."""
    w = np.sqrt(1 + np.trace(R)) / 2
    assert w > 0.1
    return np.append([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], 4 * w**2) / (4 * w)


@pytest.mark.parametrize("closing", ["spherical", "distance", "on a plane", "on a line", "ball", "gear"])
def test_a_correction_damps_what_is_broken(closing: str) -> None:
    """e'' + kd e' + kp e = 0, and its derivatives, for constraints whose residual's rate is J v."""
    kp, kd, order = 30.0, 7.0, 4
    case = loop(closing, "floating", order)
    rng = np.random.default_rng(5)
    q = case.held.integrate(case.q, 0.02 * rng.normal(size=case.held.nv))
    v = case.v + 0.1 * rng.normal(size=case.held.nv)
    found = case.held.constrained_dynamics(q, v, case.tau, correction=(kp, kd))
    motion = np.concatenate([v[None], found.acc])
    J = case.held.constraint_jacobian_derivatives(q, motion[:-1])
    speed = np.array([sum(comb(k, j) * J[j] @ motion[k - j] for j in range(k + 1)) for k in range(order + 2)])
    positions = [case.held.residual(q), *speed[:-1]]
    from_positions = np.ones(len(J[0]))
    if closing == "ball":
        from_positions[1:] = 0  # these rows are nonholonomic
    for k in range(order + 1):
        left = speed[k + 1] + kd * speed[k] + kp * from_positions * positions[k]
        size = np.abs(speed[k + 1]) + kd * np.abs(speed[k]) + kp * np.abs(positions[k])
        assert np.abs(left).max() < 1e-9 * size.max()
    assert np.abs(positions[0]).max() > 1e-3


@pytest.mark.parametrize(
    "closing", ["fixed", "revolute", "universal", "cylindrical", "helical", "spherical", "distance"]
)
def test_what_is_broken_decays(closing: str) -> None:
    """Eventually, for any kind of row: simulated by explicit steps."""
    case = loop(closing, "rigid", 0)
    rng = np.random.default_rng(6)
    q = case.held.integrate(case.q, 0.01 * rng.normal(size=case.held.nv))
    v, h = np.zeros(case.held.nv), 0.01
    before = np.abs(case.held.residual(q)).max()
    tau = case.held.bias_force(q, v)
    for _ in range(100):  # one second, critically damped at 20/s
        acc = case.held.constrained_dynamics(q, v, tau, correction=(400.0, 40.0)).acc
        v = v + h * acc
        q = case.held.integrate(q, h * v)
    assert np.abs(case.held.residual(q)).max() < 0.02 * before


# Textbook motions


def _four_bar() -> jn.Model:
    builder, axis = jn.Builder(), (0.0, 1.0, 0.0)

    def bar(name: str, parent: str, x: float, length: float) -> None:
        place = np.eye(4)
        place[0, 3] = x
        inertia = jn.Inertia(length, (length / 2, 0, 0), np.diag([1e-3, length**3 / 12, length**3 / 12]))
        builder.add(name, parent, jn.Revolute(axis), place, inertia)

    bar("crank", "world", 0.0, 0.2)
    bar("coupler", "crank", 0.2, 0.5)
    bar("rocker", "world", 0.5, 0.4)
    ends = [np.eye(4), np.eye(4)]
    ends[0][0, 3], ends[1][0, 3] = 0.5, 0.4
    builder.close("pin", "coupler", "rocker", jn.Revolute(axis), placement_a=ends[0], placement_b=ends[1])
    return builder.build()


def energy(robot: jn.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return robot.kinetic_energy(q, v) + robot.potential_energy(q)


@pytest.mark.parametrize("method", ["taylor", "rkmk", "implicit"])
def test_a_four_bar_keeps_its_energy_and_stays_closed(method: str) -> None:
    robot = _four_bar()
    q, v = robot.project([0.5, -0.5, -1.0], [3.0, 0.0, 0.0])
    assert np.linalg.matrix_rank(robot.constraint_jacobian(q), tol=1e-9) == 2
    motion = jn.simulate(robot, q, v, np.linspace(0.0, 2.0, 41), method=method)
    total = energy(robot, motion.q, motion.v)
    assert np.ptp(motion.q[:, 0]) > 1
    np.testing.assert_allclose(total, total[0], rtol=0, atol=1e-8)
    position, speed = robot.residual(motion.q, motion.v)
    assert np.abs(position).max() < 1e-8
    assert np.abs(speed).max() < 1e-8


def _rolling(axis: tuple[float, ...] | None, radius: float, moments: np.ndarray) -> jn.Model:
    """A body on the plane z = 0, with its centre of mass in the middle; a ball if it has no axis."""
    builder = jn.Builder()
    builder.add("body", "world", jn.Free(), inertia=jn.Inertia(2.0, rotational=np.diag(moments)))
    builder.close("ground", "world", "body", jn.Rolling(radius, axis=axis))
    return builder.build()


@pytest.mark.parametrize("shape", ["ball", "wheel"])
def test_what_rolls_keeps_its_energy(shape: str) -> None:
    """A ball with three different moments of inertia, and a wheel."""
    axis = None if shape == "ball" else (0.0, 1.0, 0.0)
    moments = np.array([0.02, 0.03, 0.04]) if shape == "ball" else np.array([0.02, 0.035, 0.02])
    robot = _rolling(axis, 0.2, moments)
    rng = np.random.default_rng(8)
    turned = robot.integrate(robot.neutral(), np.array([0, 0, 0, 0.3, 0, 0]))
    q, v = robot.project(turned, np.concatenate([np.zeros(3), np.array([0.5, 8.0, 2.0]) + 0.1 * rng.normal(size=3)]))
    assert robot.residual(q, v)[1] == pytest.approx(np.zeros(3), abs=1e-12)
    motion = jn.simulate(robot, q, v, np.linspace(0.0, 3.0, 31))
    total = energy(robot, motion.q, motion.v)
    assert np.abs(motion.q[:, :2] - q[:2]).max() > 0.2  # its radius
    np.testing.assert_allclose(total, total[0], rtol=1e-8)
    assert np.abs(robot.residual(motion.q)).max() < 1e-8


MASS, RADIUS, ACROSS, ALONG, GRAVITY = 2.0, 0.25, 0.03, 0.055, 9.81  # of a disc


def _disc(tilt: float, w: np.ndarray) -> tuple[jn.Model, np.ndarray, np.ndarray]:
    """A disc whose axis, y, is `tilt` above the horizontal; it stands on -z and rolls along x with angular velocity w.

    Let ``half-fixed`` axes move with the disc except for its spin: x stays horizontal. At this instant they coincide
    with the body's.
    """
    robot = _rolling((0.0, 1.0, 0.0), RADIUS, np.array([ACROSS, ALONG, ACROSS]))
    q = np.array([0.0, 0.0, RADIUS * np.cos(tilt), np.sin(tilt / 2), 0.0, 0.0, np.cos(tilt / 2)])
    v = np.concatenate([RADIUS * np.cross(w, (0.0, 0.0, 1.0)), w])
    assert np.abs(robot.residual(q)).max() < 1e-12
    assert np.abs(robot.residual(q, v)[1]).max() < 1e-12
    return robot, q, v


@pytest.mark.parametrize("tilt", [-0.5, 0.3, 1.0])
def test_steady_turning_of_a_disc(tilt: float) -> None:
    """In a circle at a constant tilt t, turning at rate P about the vertical, with angular velocity n along the axis.

    The moments about the centre, of the ground's force F = m P r n (0, cos t, -sin t) + m g (0, sin t, cos t), give

        A P^2 sin t cos t - (C + m r^2) n P cos t - m g r sin t = 0

    with A and C the moments of inertia across and along the axis. Everything is constant in half-fixed axes; in the
    spinning body axes, each derivative is one more cross product.
    """
    P, c, s = 1.7, np.cos(tilt), np.sin(tilt)
    n = (ACROSS * P**2 * s * c - MASS * GRAVITY * RADIUS * s) / ((ALONG + MASS * RADIUS**2) * P * c)
    robot, q, v = _disc(tilt, np.array([0.0, n, P * c]))
    found = robot.constrained_dynamics(q, v, np.zeros((ORDER + 1, 6)))
    F = MASS * (P * RADIUS * n * np.array([0.0, c, -s]) + GRAVITY * np.array([0.0, s, c]))
    F = np.concatenate([F, np.cross((0.0, 0.0, -RADIUS), F)])
    turn = -(n - P * s) * np.cross((0.0, 1.0, 0.0), np.eye(3)).T  # u -> -spin x u
    twice = np.kron(np.eye(2), turn)
    powers = [np.linalg.matrix_power(twice, k) for k in range(ORDER + 2)]
    close(found.acc, np.array([x @ v for x in powers[1:]]), 5e-12)
    close(found.forces["ground"], np.array([x @ F for x in powers[:-1]]), 5e-12)


def test_a_disc_that_rolls_as_it_will() -> None:
    """The Newton-Euler equations of a disc in half-fixed axes, with polynomials in time, order by order.

    There the axes turn with W = (w_x, w_z tan t, w_z), the disc with w, and v = r w x z = r (w_y, -w_x, 0). With F the
    force of the ground and e = (0, sin t, cos t) the vertical,

        m (v' + W x v) + m g e = F,     I w' + W x I w = -r z x F,

    which is solved for w'. Sine, cosine and tangent of the tilt and of the spin are unknowns like w.
    """
    tilt, w = 0.4, np.array([0.7, -3.0, 1.3])
    robot, q, v = _disc(tilt, w)
    count = ORDER + 2  # coefficients
    x = np.zeros((8, count))  # w, sin t, cos t, tan t, sine and cosine of the spin
    x[:, 0] = *w, np.sin(tilt), np.cos(tilt), np.tan(tilt), 0.0, 1.0

    def times(*factors: np.ndarray) -> np.ndarray:
        product = factors[0]
        for factor in factors[1:]:
            product = np.convolve(product, factor)[:count]
        return product

    for _ in range(count):  # each iteration gives one more coefficient
        wx, wy, wz, s, c, tan, sine, cosine = x
        Wy = times(wz, tan)
        spin = wy - Wy
        mr2 = MASS * RADIUS**2
        # W x v = r (wz wx, wz wy, -wx^2 - Wy wy) and W x I w by components
        rate_x = (
            mr2 * times(wz, wy) + MASS * GRAVITY * RADIUS * s - ACROSS * times(Wy, wz) + ALONG * times(wz, wy)
        ) / (ACROSS + mr2)
        rate_y = -mr2 * times(wz, wx) / (ALONG + mr2)  # W x I w has no y component
        rate_z = -(ALONG * times(wx, wy) - ACROSS * times(Wy, wx)) / ACROSS
        rates = [rate_x, rate_y, rate_z, times(c, wx), -times(s, wx), wx + times(tan, tan, wx)]
        rates += [times(cosine, spin), -times(sine, spin)]
        x[:, 1:] = np.array(rates)[:, :-1] / np.arange(1, count)
    wx, wy, wz, *_, sine, cosine = x
    v_x, v_y = RADIUS * wy, -RADIUS * wx
    in_body = [times(cosine, v_x), v_y, times(sine, v_x)]  # turned back by the spin about y
    in_body += [times(cosine, wx) - times(sine, wz), wy, times(sine, wx) + times(cosine, wz)]
    derivatives = np.array(in_body).T * np.array([factorial(k) for k in range(count)])[:, None]
    close(derivatives[0], v, 1e-14)
    close(robot.forward_dynamics(q, v, np.zeros((ORDER + 1, 6))), derivatives[1:], 1e-12)


# What is part of the world


@pytest.mark.parametrize("axes", ["body", "mixed", "world"])
@each_closing
def test_forces_on_a_body_that_is_part_of_the_world(closing: str, axes: str) -> None:
    """They are opposite to those on the hand, at every order: of the same loop with its bodies in the other order."""
    rng = np.random.default_rng(11)
    builder, hand, _ = arms(rng)
    place, ends = placed(rng), (placed(rng), placed(rng))
    builder.add("post", "world", jn.Fixed(), place, inertia=some_inertia(rng))
    kind, name = CLOSINGS[closing](*rng.normal(size=(2, 3))), "tie"
    on_post, from_world = (jn.Builder.from_model(builder.build()) for _ in range(2))
    on_post.close(name, "post", hand, kind, placement_a=ends[0], placement_b=ends[1])
    from_world.close(name, "world", hand, kind, placement_a=place @ ends[0], placement_b=ends[1])
    robot, other = on_post.build(), from_world.build()
    q = robot.project(robot.random_configuration(rng))
    v, tau = robot.project(q, rng.normal(size=robot.nv))[1], rng.normal(size=(4, robot.nv))
    found = robot.constrained_dynamics(q, v, tau, wrench_frame=axes)
    expected = other.constrained_dynamics(q, v, tau, wrench_frame="world")  # on the hand, about the world's origin
    close(found.acc, expected.acc, 1e-11)
    force, moment = np.split(-expected.forces[name], 2, axis=-1)
    if axes != "world":
        moment = moment - np.cross(place[:3, 3], force)
    if axes == "body":
        force, moment = force @ place[:3, :3], moment @ place[:3, :3]
    close(found.forces[name], np.concatenate([force, moment], axis=-1), 1e-10)
    if axes == "body":
        change = robot.constrained_dynamics_derivatives(q, v, tau[0])
        np.testing.assert_allclose(change.forces[name], found.forces[name][0], rtol=1e-9, atol=1e-9)
