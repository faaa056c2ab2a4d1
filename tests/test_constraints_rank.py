"""Rows of constraints that depend on each other: everywhere, nearly, at one configuration only, or in contradiction."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from closed_robots import arms, placed
from linkages import HINGE, shift

SOLID = [0.02, 0.03, 0.04]


def parallelogram(*, pin: object = None, gravity: float = 9.81) -> jn.Builder:
    """Cranks of 0.3 m and a coupler of 0.6 m as long as the ground: flat at q = 0, where it may fold either way."""
    b = jn.Builder(gravity=(0.0, 0.0, -gravity))
    hinge = jn.Revolute(HINGE)
    b.add("crank", "world", hinge, inertia=jn.Inertia(0.5, (0.15, 0, 0.02), SOLID))
    b.add("coupler", "crank", hinge, shift(0.3), jn.Inertia(0.8, (0.3, 0, 0), SOLID))
    b.add("rocker", "world", hinge, shift(0.6), jn.Inertia(0.6, (0.15, 0, 0.01), SOLID))
    kind = jn.OnLine(HINGE) if pin is None else pin
    b.close("pin", "coupler", "rocker", kind, placement_a=shift(0.6), placement_b=shift(0.3))
    return b


# --- that say nothing -----------------------------------------------------------------------------------


def drawn_plane(rng: np.random.Generator) -> tuple[np.ndarray, float, float, float]:
    """The normal of an oblique plane, and a radius, a mass and its moment of inertia over many scales."""
    normal, radius, mass = rng.normal(size=3), 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-3, 3)
    return normal / np.linalg.norm(normal), radius, mass, 0.4 * mass * radius**2


@pytest.mark.parametrize("seed", range(20))
def test_a_ball_in_a_socket_spins_on_its_plane(seed: int) -> None:
    """Its centre stays anyway. What is left of the row along the normal is rounding, whatever the radius."""
    rng = np.random.default_rng(seed)
    normal, radius, mass, inertia = drawn_plane(rng)
    b = jn.Builder(gravity=rng.normal(size=3))
    place = np.eye(4)
    place[:3, 3] = (seed % 2) * radius * rng.normal(size=3)
    b.add("ball", "world", jn.Spherical(), place, jn.Inertia(mass, rotational=[inertia] * 3))
    robot = b.build().constrained({"ball": jn.Rolling(radius, normal=normal)})
    q = robot.random_configuration(rng)
    about = robot.pose("ball", q)[:3, :3].T @ normal  # in body axes
    assert not robot.constraint_jacobian(q)[0].any()
    tau = inertia * rng.normal(size=3)
    for spin in (0.0, 1.0):
        found = robot.constrained_dynamics(q, spin * about, tau)
        np.testing.assert_allclose(found.acc, (tau @ about) * about / inertia, rtol=0, atol=1e-12)
        friction = np.linalg.norm(tau - (tau @ about) * about) / radius
        assert np.linalg.norm(found.forces["ball"][:3]) == pytest.approx(friction, rel=1e-9)


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_a_wheel_on_a_fixed_axle_cannot_roll(seed: int, geared: bool) -> None:
    """It holds still, with the friction that the torque takes."""
    rng = np.random.default_rng(seed)
    normal, radius, mass, inertia = drawn_plane(rng)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    b = jn.Builder(gravity=rng.normal(size=3))
    for name in ("wheel", "motor"):
        b.add(name, "world", jn.Revolute(axis), inertia=jn.Inertia(mass, rotational=[inertia] * 3))
    if geared:
        b.close("gear", "wheel", "motor", jn.Gear((0.0, 3.0)))
    tau = inertia * rng.normal(size=2)
    for kind in (jn.Rolling(radius, axis, normal), jn.Rolling(radius, normal=normal)):
        robot = b.build().constrained({"wheel": kind})
        found = robot.constrained_dynamics(rng.normal(size=1) * [1.0, 3.0], np.zeros(2), tau)
        np.testing.assert_allclose(found.acc[: 2 if geared else 1], 0, rtol=0, atol=1e-11)
        across = np.linalg.norm(np.cross(axis, normal))
        lever = radius if kind.axis is not None else radius * across  # of a wheel, from its axis to the contact
        torque = tau[0] + (3 * tau[1] if geared else 0.0)
        assert np.linalg.norm(found.forces["wheel"][:3]) == pytest.approx(abs(torque) / lever, rel=1e-9)


def arm_in_a_plane(rng: np.random.Generator) -> tuple[jn.Model, dict[str, jn.Contact]]:
    """Two links whose hinges are along the normal of some plane in space, and contacts with that plane."""
    b, place = jn.Builder(), placed(rng)
    heavy = jn.Inertia(1.0, (0.2, 0, 0), SOLID)
    b.add("upper", "world", jn.Revolute((0, 0, 1)), place, heavy)
    b.add("fore", "upper", jn.Revolute((0, 0, 1)), shift(0.4), heavy)
    b.add("tip", "fore", jn.Fixed(), shift(0.4))
    plane = jn.Contact(jn.OnPlane((0, 0, 1)), place)
    return b.build(), {"tip": plane, "fore": plane}


@pytest.mark.parametrize("count", [1, 2])
def test_contacts_with_the_plane_that_an_arm_moves_in(count: int) -> None:
    """They change nothing: rows that are zero but for rounding are no rows, in whatever call looks at them."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        free, planes = arm_in_a_plane(rng)
        held = free.constrained(dict(list(planes.items())[:count]))
        q, v, tau = rng.normal(size=(3, 2))
        assert not held.constraint_jacobian(q).any()
        np.testing.assert_array_equal(held.project(q, np.stack([v, tau]))[1], [v, tau])
        np.testing.assert_allclose(held.forward_dynamics(q, v, tau), free.forward_dynamics(q, v, tau), rtol=1e-12)
        np.testing.assert_array_equal(held.impact(q, v).v, v)
        own = held.independent_coordinates(q)
        assert (own.velocities, own.positions) == (2, 2)
        for mine, theirs in zip(
            held.forward_dynamics_derivatives(q, v, tau), free.forward_dynamics_derivatives(q, v, tau), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())
        assert held.linearize(q, v, tau).lift.shape == (4, 4)
        motions = [jn.simulate(robot, q, v, [0.0, 0.3], tau, rtol=1e-10, atol=1e-12)[-1] for robot in (held, free)]
        np.testing.assert_allclose(motions[0].q, motions[1].q, rtol=0, atol=1e-8)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("joint", [jn.Prismatic, jn.Revolute])
def test_a_plane_that_a_joint_moves_in_but_for_the_last_digit(joint: type[jn.Joint], axis: int) -> None:
    """Along a slide, or across a hinge; as numbers of one column may be all that a row is measured by."""
    along, across = np.eye(3)[axis], np.eye(3)[axis - 1]
    normal = across + 1e-17 * along if joint is jn.Prismatic else along + 1e-17 * across
    b = jn.Builder()
    b.add("body", "world", joint(along), inertia=jn.Inertia(1.0, (0.1, 0.2, 0.3), SOLID))
    b.add("tip", "body", jn.Fixed(), shift(*(np.eye(3)[axis - 2] * 0.3 if joint is jn.Revolute else np.zeros(3))))
    place = np.eye(4)
    place[:3, 3] = b.build().pose("tip", [0.0])[:3, 3]
    robot = b.build().constrained({"tip": jn.Contact(jn.OnPlane(normal), place)})
    assert not robot.constraint_jacobian([0.0]).any()
    assert not robot.constraint_jacobian_derivatives([0.0], [[0.0], [1.0]])[0].any()
    np.testing.assert_array_equal(robot.project([0.0], [2.0])[1], [2.0])


@pytest.mark.parametrize("first", ["ball", "world"])
def test_a_rod_that_ends_at_the_centre_of_a_ball_joint(first: str) -> None:
    """The ball turns about the end of the rod: of its row, everything cancels, and nothing else is there."""
    for seed in range(6):
        rng, b = np.random.default_rng(seed), jn.Builder()
        place, end = placed(rng), placed(rng)
        b.add("ball", "world", jn.Spherical(), place, jn.Inertia(1.0, (0.1, 0.2, 0), SOLID))
        free, length = b.build(), float(np.linalg.norm(place[:3, 3] - end[:3, 3]))
        ends = {"placement_b": end} if first == "ball" else {"placement_a": end}
        b.close("rod", first, "world" if first == "ball" else "ball", jn.Distance(length), **ends)
        robot = b.build()
        q, v, tau = robot.random_configuration(rng), *rng.normal(size=(2, 3))
        assert not robot.constraint_jacobian(q).any()
        np.testing.assert_array_equal(robot.project(q, v)[1], v)
        np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), free.forward_dynamics(q, v, tau), rtol=1e-9)


@pytest.mark.parametrize("far", [0.0, 300.0])
@pytest.mark.parametrize("tie", ["ball", "ball from the hand", "rod", "rod to the world"])
def test_ties_at_the_centre_of_a_joint_that_is_there(tie: str, far: float) -> None:
    """A joint closed once more by a ball, and a rod from the shoulder to the elbow; far from the origin, too."""
    b, place = jn.Builder(), placed(np.random.default_rng(1))
    place[0, 3] += far
    b.add("arm", "world", jn.Revolute((0.3, -0.5, 0.8)), place, jn.Inertia(1.0, (0.2, 0, 0), SOLID))
    b.add("hand", "arm", jn.Universal((1, 0, 0), (0, 0.6, 0.8)), shift(0.4), jn.Inertia(1.0, (0.2, 0, 0), SOLID))
    free = b.build()
    match tie:
        case "ball":
            b.close(tie, "arm", "hand", jn.Spherical(), placement_a=shift(0.4))
        case "ball from the hand":
            b.close(tie, "hand", "arm", jn.Spherical(), placement_b=shift(0.4))
        case "rod":
            b.close(tie, "world", "hand", jn.Distance(0.4), placement_a=place)
        case _:
            b.close(tie, "hand", "world", jn.Distance(0.4), placement_b=place)
    robot, rng = b.build(), np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, 3))
    assert not robot.constraint_jacobian(q).any()
    np.testing.assert_array_equal(robot.project(q, v)[1], v)
    assert robot.independent_coordinates(q).velocities == 3
    found = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(found, free.forward_dynamics(q, v, tau), rtol=1e-9)
    assert robot.linearize(q, v, tau).lift.shape == (6, 6)


# --- at a dead centre -----------------------------------------------------------------------------------


@pytest.mark.parametrize("pin", [jn.OnLine(HINGE), jn.Revolute(HINGE)], ids=["on a line", "hinge"])
def test_a_dead_centre_is_told(pin: object) -> None:
    """The accelerations are those of least constraint, of which Gauss' principle says which; they have no rates."""
    robot, rng = parallelogram(pin=pin).build(), np.random.default_rng(0)
    flat, tau = np.zeros(3), rng.normal(size=3)
    told = r"constraint 'pin' loses rank in this configuration, as at a dead centre: the accelerations are those of"
    with pytest.warns(jn.ConstraintWarning, match=told):
        acc = robot.forward_dynamics(flat, np.zeros(3), tau)
    M, free = robot.mass_matrix(flat), tau - robot.gravity_force(flat)
    J = robot.constraint_jacobian(flat)
    _, sizes, directions = np.linalg.svd(J)
    Z = directions[(sizes > 1e-9).sum() :].T
    assert Z.shape == (3, 2)
    np.testing.assert_allclose(acc, Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ free), rtol=1e-10)
    with pytest.raises(jn.ConstraintError, match="as at a dead centre: the motion has no derivatives that the eq"):
        robot.forward_dynamics(flat, np.zeros(3), np.stack([tau, tau]))


def test_a_dead_centre_of_one_state_of_a_batch() -> None:
    robot = parallelogram(pin=jn.Revolute(HINGE)).build()  # whose rows depend on each other anywhere
    q = np.stack([[0.7, -0.7, 0.7], [0.0, 0.0, 0.0], [1.1, -1.1, 1.1]])
    with pytest.warns(jn.ConstraintWarning, match=r"loses rank in this configuration, as at a dead centre, in state 1"):
        found = robot.forward_dynamics(q, np.zeros((3, 3)), np.ones((3, 3)))
    np.testing.assert_allclose(found[2], robot.forward_dynamics(q[2], np.zeros(3), np.ones(3)), rtol=1e-11)


def test_a_dead_centre_beside_what_flies_off() -> None:
    """A slide of a milligram: in the first state it is free, in the second one it is held and the linkage is flat."""
    b = parallelogram(pin=jn.Revolute(HINGE))
    b.add("swing", "world", jn.Revolute((1, 0, 0)), inertia=jn.Inertia(1.0, (0, 0, 0.1), SOLID))
    b.add("slide", "swing", jn.Prismatic((0, 0, 1)), inertia=jn.Inertia(1e-6))
    robot = b.build().constrained({"slide": jn.OnPlane((0, 0, 1))})
    q = np.stack([[0.7, -0.7, 0.7, np.pi / 2, 0.3], [0.0, 0.0, 0.0, 0.0, 0.3]])
    with pytest.warns(jn.ConstraintWarning, match=r"constraint 'pin' loses rank .*, in state 1"):
        robot.forward_dynamics(q, np.zeros(5), np.zeros(5))


# --- that contradict each other -------------------------------------------------------------------------


def box_on_two_hooks() -> tuple[jn.Model, np.ndarray]:
    """A body that flies, without weight, held at two of its points: they must keep their distance along y."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("box", "world", jn.Free(), inertia=jn.Inertia(2.0, (0.1, 0, 0.05), SOLID))
    b.add("left", "box", jn.Fixed(), shift(y=0.4))
    b.add("right", "box", jn.Fixed(), shift(y=-0.3))
    robot = b.build()
    return robot.constrained({"left": jn.Spherical(), "right": jn.Spherical()}), robot.neutral()


def pulls(left: float, right: float) -> dict[str, np.ndarray]:
    """Accelerations of the hooks along y."""
    found = np.zeros((2, 2, 6))
    found[:, 1, 1] = left, right
    return dict(zip(("left", "right"), found, strict=True))


@pytest.mark.parametrize("size", [1e6, 1.0, 1e-8, 1e-20])
def test_contradictions_of_any_size(size: float) -> None:
    robot, q = box_on_two_hooks()
    rest = np.zeros(robot.nv)
    together = robot.constrained_dynamics(q, rest, rest, motions=pulls(size, size))
    np.testing.assert_allclose(together.acc, [0, size, 0, 0, 0, 0], rtol=0, atol=1e-13 * size)
    with pytest.raises(jn.ConstraintError, match="constraint 'right' contradicts others"):
        robot.constrained_dynamics(q, rest, rest, motions=pulls(size, 0.9 * size))


def test_a_contradiction_is_not_hidden_by_another_state() -> None:
    robot, q = box_on_two_hooks()
    rest = np.zeros((2, robot.nv))
    both = [pulls(1e8, 1e8), pulls(0.1, -0.1)]
    for first in (0, 1):
        motions = {name: np.stack([both[first][name], both[1 - first][name]]) for name in both[0]}
        with pytest.raises(jn.ConstraintError, match=f"'right' contradicts others, .*, in state {1 - first}"):
            robot.constrained_dynamics(q, rest, rest, motions=motions)


@pytest.mark.parametrize(
    "base", [jn.Revolute(HINGE), jn.Universal(HINGE, (1, 0, 0)), jn.Spherical()], ids=["R", "U", "S"]
)
@pytest.mark.parametrize(
    "kind", [jn.OnPlane((1, 2, 3)), jn.OnLine((3, 1, 2)), jn.Spherical()], ids=["plane", "line", "ball"]
)
def test_a_loop_whose_only_joint_is_prescribed(base: jn.Joint, kind: object) -> None:
    """At the origin of the body below, where everything its rows are made of cancels: nothing else obeys for it."""
    for seed in range(5):
        rng, b = np.random.default_rng(seed), jn.Builder()
        b.add("base", "world", base, placed(rng), jn.Inertia(1.0, (0.1, 0.2, 0), SOLID))
        b.add("arm", "base", jn.Cylindrical(rng.normal(size=3)), placed(rng), jn.Inertia(1.0, (0.1, 0.2, 0), SOLID))
        free = b.build()
        q = free.random_configuration(rng)
        b.close("tie", "base", "arm", kind, placement_b=np.linalg.inv(free.pose("arm", q)) @ free.pose("base", q))
        robot = b.build()
        v, acc, tau = rng.normal(size=(3, robot.nv))
        mask = np.arange(robot.nv) >= robot.nv - 2
        with pytest.raises(jn.ConstraintError, match="'tie' contradicts others, or a prescribed acceleration"):
            robot.hybrid_dynamics(q, v, acc, tau, prescribed=mask)


@pytest.mark.parametrize("far", [0.0, 100.0])
@pytest.mark.parametrize("base", [jn.Revolute(HINGE), jn.Spherical()], ids=["R", "S"])
@pytest.mark.parametrize("kind", [jn.OnPlane((1, 2, 3)), jn.Spherical(), jn.Fixed()], ids=["plane", "ball", "weld"])
def test_a_loop_whose_only_joint_is_held(base: jn.Joint, kind: object, far: float) -> None:
    """The same place, and a motion that obeys: what is left of the rows is rounding, and the tie says nothing."""
    for seed in range(4):
        rng, b = np.random.default_rng(seed), jn.Builder()
        place = placed(rng)
        place[0, 3] += far
        b.add("base", "world", base, place, jn.Inertia(1.0, (0.1, 0.2, 0), SOLID))
        b.add("arm", "base", jn.Cylindrical(rng.normal(size=3)), placed(rng), jn.Inertia(1.0, (0.1, 0.2, 0), SOLID))
        free = b.build()
        q = free.random_configuration(rng)
        b.close("tie", "base", "arm", kind, placement_b=np.linalg.inv(free.pose("arm", q)) @ free.pose("base", q))
        robot, held = b.build(), np.arange(free.nv) >= free.nv - 2
        v, acc, tau = rng.normal(size=free.nv), *rng.normal(size=(2, 4, free.nv))
        v[held] = acc[:, held] = 0
        given, _ = robot.hybrid_dynamics(q, v, acc, tau, prescribed=held)
        expected, _ = free.hybrid_dynamics(q, v, acc, tau, prescribed=held)
        for mine, theirs in zip(given, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("slope", [2.0, -0.3, 1 / 3])
def test_a_gear_whose_joints_are_both_prescribed(slope: float) -> None:
    """As it demands: then nothing is left of its row but rounding, which is no contradiction."""
    b, rng = jn.Builder(), np.random.default_rng(3)
    for name in "xy":
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, (0.3, 1, 0.1), [1.0, 1.0, 1.0]))
    b.close("gear", "x", "y", jn.Gear((0.1, slope, 0.7)))
    robot = b.build()
    x, v, a = rng.normal(size=(3, 50))
    rate = slope + 1.4 * x
    q, speed = np.stack([x, 0.1 + slope * x + 0.7 * x**2], -1), np.stack([v, rate * v], -1)
    acc = np.stack([a, rate * a + 1.4 * v * v], -1)
    given, tau = robot.hybrid_dynamics(q, speed, acc, np.zeros((50, 2)), prescribed=np.array([True, True]))
    np.testing.assert_array_equal(given, acc)
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, speed, acc), rtol=1e-12, atol=1e-12)
    acc[30, 1] += 0.1
    with pytest.raises(jn.ConstraintError, match=r"'gear' contradicts others, or a prescribed acceleration.* state 30"):
        robot.hybrid_dynamics(q, speed, acc, np.zeros((50, 2)), prescribed=np.array([True, True]))


@pytest.mark.parametrize("off", [1e-8, 1e-5])
def test_a_loop_that_rounded_digits_keep_open(off: float) -> None:
    """Hinges that are not quite in one plane: closed but for what is left, unless that is more than rounding."""
    b = parallelogram(pin=jn.Revolute(HINGE))
    b.add("other", "world", jn.Revolute(HINGE), shift(0.2, off), jn.Inertia(0.6, (0.15, 0, 0.01), SOLID))
    b.close("other pin", "coupler", "other", jn.Revolute(HINGE), placement_a=shift(0.2), placement_b=shift(0.3))
    robot, start = b.build(), [0.7, -0.6, 0.7, 0.7]
    if off > 1e-6:
        with pytest.raises(jn.ConstraintError, match=r"onto the constraints: the smallest error found is"):
            robot.project(start)
    else:
        with pytest.warns(jn.ConstraintWarning, match=r"pin' cannot be satisfied exactly: .*e-0.* remains, as where"):
            q = robot.project(start)
        assert 1e-9 < np.abs(robot.residual(q)).max() < 1.1e-8
        np.testing.assert_allclose(q, q[0] * np.array([1, -1, 1, 1]), atol=1e-12)
        robot.forward_dynamics(q, np.zeros(4), np.zeros(4))


# --- that nearly depend on each other -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4, 10))
def test_two_planes_that_meet_at_a_small_angle_hold_on_a_line(seed: int) -> None:
    """They have lost seven digits where J M^-1 J^T is factored; the motion has lost those of the angle alone."""
    rng, angle = np.random.default_rng(seed), 3e-4
    builder, hand, _ = arms(rng)
    q = builder.build().random_configuration(rng)
    place = np.eye(4)
    place[:3, 3] = builder.build().pose(hand, q)[:3, 3]
    up, across = np.array([0.0, 0.6, 0.8]), np.array([0.0, -0.8, 0.6])
    robots = []
    for ties in (
        {"line": jn.OnLine((1, 0, 0))},
        {"first": jn.OnPlane(up), "second": jn.OnPlane(np.cos(angle) * up + np.sin(angle) * across)},
    ):
        again = jn.Builder.from_model(builder.build())
        for name, kind in ties.items():
            again.close(name, "world", hand, kind, placement_a=place)
        robots.append(again.build())
    line, planes = robots
    v = line.project(q, rng.normal(size=line.nv))[1]
    tau = rng.normal(size=(3, line.nv))
    expected = line.constrained_dynamics(q, v, tau, wrench_frame="world")
    found = planes.constrained_dynamics(q, v, tau, wrench_frame="world")
    for k in range(3):
        size = np.abs(expected.acc[k]).max()
        np.testing.assert_allclose(found.acc[k], expected.acc[k], rtol=0, atol=5e-11 * size)
    held = found.forces["first"][0] + found.forces["second"][0]
    size = np.abs(found.forces["first"][0]).max()
    assert size > 100 * np.abs(held).max()
    np.testing.assert_allclose(held, expected.forces["line"][0], rtol=0, atol=1e-10 * size)


def test_a_wheel_that_lies_flat_is_refused_by_all_calls() -> None:
    builder = jn.Builder()
    builder.add("disc", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=0.01 * np.eye(3)))
    free = builder.build()
    robot = free.constrained({"disc": jn.Contact(jn.Rolling(0.1, axis=(0, 0, 1)), pose=np.eye(4))})
    q, v = free.neutral(), np.ones(6)
    q[2] = 0.1
    calls = {
        "constraint_jacobian": lambda: robot.constraint_jacobian(q),
        "residual": lambda: robot.residual(q, v),
        "project": lambda: robot.project(q, v),
        "impact": lambda: robot.impact(q, v),
        "independent_coordinates": lambda: robot.independent_coordinates(q),
        "constrained_dynamics": lambda: robot.constrained_dynamics(q, v, v),
    }
    for call in calls.values():
        with pytest.raises(jn.ConstraintError, match="'disc' has no point where it rolls: the wheel lies flat"):
            call()
