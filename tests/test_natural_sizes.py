"""What counts as zero: how many constraints are independent depends on no unit, no ratio of a gear and no mass."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jounce as jn
from jounce.dynamics.constraints.natural import NaturalRows
from kinds import TIED
from test_constraints_rank import HINGE, parallelogram, shift


def bar(length: float, mass: float = 1.0) -> jn.Inertia:
    return jn.Inertia(mass, (length / 2, 0, 0), mass * length**2 * np.array([1e-3, 1 / 12, 1 / 12]))


def four_bar(pin: object, size: float = 1.0) -> jn.Builder:
    b = jn.Builder()
    b.add("crank", "world", jn.Revolute(HINGE), inertia=bar(0.1 * size))
    b.add("coupler", "crank", jn.Revolute(HINGE), shift(0.1 * size), bar(0.3 * size))
    b.add("rocker", "world", jn.Revolute(HINGE), shift(0.25 * size), bar(0.2 * size))
    b.close("pin", "coupler", "rocker", pin, placement_a=shift(0.3 * size), placement_b=shift(0.2 * size))
    return b


# --- the sizes themselves -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TIED)
def test_singular_values_are_large_or_nothing(name: str) -> None:
    model, rng = TIED[name].model, np.random.default_rng(3)
    for _ in range(20):
        J = model.constraint_jacobian(model.project(TIED[name].configuration(rng)))
        natural = NaturalRows(model, J)
        values = np.linalg.svd(natural.scaled, compute_uv=False)
        assert ((values > 1e-3) | (values < 1e-9)).all(), values
        assert values.max(initial=0.0) < 10
        assert natural.rank == (values > 1e-6).sum()


def test_a_force_counts_as_its_moment_at_the_length_of_the_robot() -> None:
    rows, coordinates, loads, length = four_bar(jn.Revolute(HINGE), 3.0).build()._natural_sizes()
    np.testing.assert_allclose(loads, [1.2, 1.2, 1.2, 1, 1], rtol=1e-12)  # crank and coupler, stretched
    assert length == pytest.approx(1.2)
    assert rows[0] == rows[1] == rows[2]
    assert rows[3] == rows[4]
    assert (coordinates > 0.3).all()  # radians
    assert (coordinates < 3).all()


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_other_units_of_length(unit: float) -> None:
    """Rows of forces scale with it, those of moments and all angles do not."""
    mine, other = (four_bar(jn.Revolute(HINGE), size).build()._natural_sizes() for size in (1.0, unit))
    by = np.array([unit, unit, unit, 1, 1])
    for a, b, scale in zip(mine, other, (by, 1.0, by, unit), strict=True):
        np.testing.assert_allclose(b, scale * a, rtol=1e-9)


def test_equal_hinges_carry_equal_loads() -> None:
    """A door hangs on two hinges, one twice as far from the joint that carries the frame as the other."""
    b = jn.Builder()
    b.add("door", "world", jn.Free(), inertia=jn.Inertia(20.0, (0.4, 0, 0.5), [2.0, 2.0, 1.0]))
    for name, z in (("lower", 0.0), ("upper", 1.0)):
        place = jn.placement((0.0, 0.0, z))
        b.close(name, "world", "door", jn.Revolute((0, 0, 1)), placement_a=place, placement_b=place)
    robot = b.build()
    found = robot.constrained_dynamics(robot.neutral(), np.zeros(6), np.zeros(6), wrench_frame="world").forces
    assert found["lower"][2] == pytest.approx(10 * 9.81)
    assert found["upper"][2] == pytest.approx(10 * 9.81)
    stopped = robot.impact(robot.neutral(), [0, 0, -1.0, 0, 0, 0], wrench_frame="world").impulses
    assert stopped["lower"][2] == pytest.approx(10.0)
    assert stopped["upper"][2] == pytest.approx(10.0)


def test_project_stays_near_where_rows_are_redundant() -> None:
    """Off the constraints the second pin is nearly, but not quite, a combination of the first: no reason to go far."""
    b = parallelogram(pin=jn.Revolute(HINGE))
    b.add("other", "world", jn.Revolute(HINGE), shift(0.2), bar(0.3))
    b.close("other pin", "coupler", "other", jn.Revolute(HINGE), placement_a=shift(0.2), placement_b=shift(0.3))
    robot, rng = b.build(), np.random.default_rng(0)
    for _ in range(20):
        near = 0.7 * np.array([1.0, -1.0, 1.0, 1.0]) + 0.05 * rng.normal(size=4)
        assert np.abs(robot.project(near) - near).max() < 0.15


# --- gears of all ratios beside a loop ------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1.0, 1e3, 6.3e4, 2e6, 1e8])
@pytest.mark.parametrize("pin", [jn.Revolute(HINGE), jn.OnLine(HINGE)], ids=["five rows", "two rows"])
def test_a_steep_gear_beside_a_loop(pin: object, ratio: float) -> None:
    b = four_bar(pin)
    b.add("motor", "world", jn.Revolute((0, 0, 1)), shift(0.0, 1.0), jn.Inertia(1e-3, rotational=[1e-6 / ratio**2] * 3))
    b.close("gear", "crank", "motor", jn.Gear((0.0, ratio)))
    robot, plain = b.build(), four_bar(pin).build()
    start, speed = np.array([0.5, 0.5, 2.0, 0.5 * ratio]), np.array([3.0, 0.0, 0.0, 3.0 * ratio])
    q, v = robot.project(start, speed)
    loop, gear = np.split(robot.residual(q), [-1])
    assert np.abs(loop).max() < 1e-13
    assert np.abs(gear).max() < 1e-15 * ratio + 1e-13
    loop, gear = np.split(robot.constraint_jacobian(q) @ v, [-1])
    assert np.abs(loop).max() < 1e-13
    assert np.abs(gear).max() < 1e-14 * max(ratio, 1.0)
    np.testing.assert_allclose(q[3], ratio * q[0], rtol=1e-12)
    assert robot.independent_coordinates(q).G.shape == (4, 1)
    A, _ = robot.linearize(q, v, np.zeros(4)).reduced()
    assert A.shape == (2, 2)
    # With the rotor's inertia as armature of the crank, the linkage alone moves alike.
    acc = robot.forward_dynamics(q, v, np.zeros(4))
    J, M = plain.constraint_jacobian(q[:3]), plain.mass_matrix(q[:3])
    M[0, 0] += 1e-6
    direction = np.linalg.svd(J)[2][-1]
    rate = plain.constraint_jacobian_derivatives(q[:3], v[None, :3])[1] @ v[:3]
    particular = -np.linalg.pinv(J, rcond=1e-9) @ rate
    force = -plain.inverse_dynamics(q[:3], v[:3], np.zeros(3)) - M @ particular
    expected = particular + direction * (direction @ force) / (direction @ M @ direction)
    np.testing.assert_allclose(acc[:3], expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(acc[3], ratio * expected[0], rtol=1e-7)
    run = jn.simulate(robot, q, v, [0.0, 0.05], method="implicit", rtol=1e-7, atol=1e-8)
    assert np.abs(robot.residual(run.q[-1])[:-1]).max() < 1e-12


def test_masses_that_are_very_unequal_hide_no_row() -> None:
    """A grain of dust and a rock, each held in a plane: what the rock's row adds is 1e-16 of J M^-1 J^T.

    Twice the digits find it. Derivatives have no more than doubles, and say so.
    """
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("rock", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1e8))
    b.add("dust", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1e-8))
    b.close("apart", "rock", "dust", jn.OnPlane((1, 0, 0)))
    b.close("dust stays", "world", "dust", jn.OnPlane((1, 0, 0)))
    robot = b.build()
    push = np.array([1e8, 0.0])
    found = robot.constrained_dynamics(np.zeros(2), np.zeros(2), push)
    np.testing.assert_allclose(found.acc, [0, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.multipliers), [1e8, 1e8], rtol=1e-15)
    with pytest.warns(
        jn.PrecisionWarning, match="'dust stays' may be off by .*: masses, .* are very unequal beside it"
    ):
        robot.constrained_dynamics_derivatives(np.zeros(2), np.zeros(2), push)
    np.testing.assert_allclose(np.abs(found.multipliers), [1e8, 1e8], rtol=1e-9)


# --- impacts --------------------------------------------------------------------------------------------


def crane() -> jn.Model:
    b = jn.Builder()
    b.add("jib", "world", jn.Free(), inertia=jn.Inertia(80.0, (2.0, 0, 0), [1.0, 110.0, 110.0]))
    b.close("hinge", "world", "jib", jn.Revolute((0, 0, 1)))
    top, end = jn.placement((0, 0, 3.0)), jn.placement((4.0, 0, 0))
    b.close("rope", "world", "jib", jn.Distance(5.0), placement_a=top, placement_b=end)
    return b.build()


def test_velocities_that_obey_redundant_constraints_stay() -> None:
    robot, v = crane(), np.array([0, 0, 0, 0, 0, 1.0])
    for angle in np.linspace(0.0, 2 * np.pi, 61):
        q = robot.integrate(robot.neutral(), angle * v)
        np.testing.assert_allclose(robot.impact(q, v).v, v, atol=1e-12)
        assert np.abs(robot.impact(q, v).multipliers).max() < 1e-9


def test_impulses_that_redundant_constraints_share_are_the_least() -> None:
    robot = crane()
    q, load = robot.neutral(), robot._natural_sizes()[2]
    found = robot.impact(q, np.random.default_rng(0).normal(size=6)).multipliers
    J = robot.constraint_jacobian(q)
    least = np.linalg.pinv((J / load[:, None]).T, rcond=1e-9) @ (J.T @ found) / load
    np.testing.assert_allclose(found, least, atol=1e-10 * np.abs(found).max())


@pytest.mark.parametrize("size", [1e-16, 1e-8, 1.0, 1e6])
def test_what_cannot_move_is_stopped_by_an_impact(size: float) -> None:
    """It is held in six ways and by a rope besides, which contradicts nothing."""
    b = jn.Builder()
    b.add("box", "world", jn.Free(), inertia=jn.Inertia(2.0, (0.1, 0, 0), [1.0, 2.0, 2.0]))
    b.close("weld", "world", "box", jn.Fixed())
    top, end = jn.placement((0, 0, 3.0)), jn.placement((4.0, 0, 0))
    b.close("rope", "world", "box", jn.Distance(5.0), placement_a=top, placement_b=end)
    robot, rng = b.build(), np.random.default_rng(0)
    for _ in range(20):
        found = robot.impact(robot.neutral(), size * rng.normal(size=6))
        assert np.abs(found.v).max() < 1e-14 * size


def test_an_impact_whose_mass_matrix_is_singular_where_constraints_hold() -> None:
    b = jn.Builder()
    b.add("body", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=[1.0, 1.0, 1.0]))
    b.add("point", "body", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0))
    b.close("lock", "point", "point", jn.Gear((0.2, 0.0)))
    robot = b.build()
    q, v = robot.neutral(), np.ones(7)
    q[-1] = 0.2
    np.testing.assert_allclose(robot.impact(q, v).v, [1, 1, 1, 1, 1, 1, 0], atol=1e-12)


# --- near a dead centre ---------------------------------------------------------------------------------


def exact(robot: jn.Model, angle: float, speed: float, tau: np.ndarray) -> np.ndarray:
    """A parallelogram has one angle: the tree's forces along its motion (1, -1, 1), order by order."""
    G = np.array([1.0, -1.0, 1.0])
    stack, inertia = [speed * G], G @ robot.mass_matrix(angle * G) @ G
    for k in range(len(tau)):
        known = robot.inverse_dynamics(angle * G, np.array([*stack, 0 * G]))[k]
        stack.append(G * (G @ (tau[k] - known)) / inertia)
    return np.array(stack[1:])


@pytest.mark.parametrize("pin", [None, jn.Revolute(HINGE)], ids=["two rows", "five rows"])
@pytest.mark.parametrize("angle", [1e-2, 1e-3, 1e-4, 2e-5, 5e-6])
def test_near_a_dead_centre_the_motion_is_found_and_lost_digits_are_announced(angle: float, pin: object) -> None:
    robot, tau = parallelogram(pin=pin).build(), np.random.default_rng(0).normal(size=(4, 3))
    q, v = angle * np.array([1.0, -1.0, 1.0]), 2.0 * np.array([1.0, -1.0, 1.0])
    truth = exact(robot, angle, 2.0, tau)
    np.testing.assert_allclose(
        robot.forward_dynamics(q, v, tau[0]), truth[0], rtol=0, atol=1e-10 * np.abs(truth[0]).max()
    )
    for order in range(1, 4):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = robot.forward_dynamics(q, v, tau[: order + 1])
            digit = 1 + np.array([0, 0, 2.0**-52])
            moved = robot.forward_dynamics(q * digit, v * digit, tau[: order + 1])
        large = np.abs(truth[: order + 1]).max(axis=1)
        assert (np.abs(found - truth[: order + 1]).max(axis=1) < 1e-10 * large).all()
        off = (np.abs(moved - found).max(axis=1) / large).max()  # as the last digit of q decides
        assert off < 1e-8 or said, (order, off)
        assert not said or off > 1e-11
        assert not said or (said[0].category is jn.PrecisionWarning and "'pin' is nearly" in str(said[0].message))


@pytest.mark.parametrize("pin", [None, jn.Revolute(HINGE)], ids=["two rows", "five rows"])
@pytest.mark.parametrize("order", [5, 7])
@pytest.mark.parametrize("angle", [1e-2, 2e-2, 3e-2, 5e-2, 0.1, 0.3])
def test_high_derivatives_lose_digits_farther_from_a_dead_centre(angle: float, order: int, pin: object) -> None:
    """Each order loses as many as the one before: at 0.03 rad the fifth derivative was off by 6e-7 without a word."""
    robot, tau = parallelogram(pin=pin).build(), np.random.default_rng(0).normal(size=(8, 3))[: order + 1]
    q, v = angle * np.array([1.0, -1.0, 1.0]), 2.0 * np.array([1.0, -1.0, 1.0])
    truth, digit = exact(robot, angle, 2.0, tau), 1 + np.array([0, 0, 2.0**-52])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, moved = (robot.forward_dynamics(q * one, v * one, tau) for one in (1.0, digit))
    large = np.abs(truth).max(axis=1)
    off = (np.abs(moved - found).max(axis=1) / large).max()  # as the last digit of q decides
    assert said or (off < 1e-8 and (np.abs(found - truth).max(axis=1) < 1e-8 * large).all())
    assert off > 1e-11 or not said


@pytest.mark.parametrize("angle", [1e-7, 0.0])
def test_at_a_dead_centre_there_are_no_derivatives(angle: float) -> None:
    robot = parallelogram().build()
    q, v = angle * np.array([1.0, -1.0, 1.0]), np.array([2.0, -2.0, 2.0])
    with pytest.raises(jn.ConstraintError, match="'pin' loses rank in this configuration, as at a dead centre"):
        robot.forward_dynamics(q, v, np.zeros((2, 3)))
    with pytest.warns(jn.ConstraintWarning, match="those of least constraint"):
        robot.forward_dynamics(q, v, np.zeros(3))


def test_a_simulation_passes_by_without_a_word() -> None:
    """Its steps are judged by their errors."""
    robot = parallelogram().build()
    q, v = 5e-3 * np.array([1.0, -1.0, 1.0]), 2.0 * np.array([1.0, -1.0, 1.0])
    run = jn.simulate(robot, q, v, [0.0, 0.01])
    np.testing.assert_allclose(run.q[-1], run.q[-1, 0] * np.array([1, -1, 1]), atol=1e-9)


# --- rows that need others ------------------------------------------------------------------------------


def sliders(mass: float, *ties: tuple[str, str, str, object]) -> jn.Model:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("a", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1.0))
    b.add("m", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(mass))
    for tie in ties:
        b.close(*tie)
    return b.build()


@pytest.mark.parametrize(("ratio", "mass"), [(1.0, 1.0), (1e-6, 1.0), (1e-7, 1.0), (1.0, 1e10)])
def test_no_row_is_taken_for_rounding_of_others(ratio: float, mass: float) -> None:
    """What a gear adds to a slider that is locked is ratio^2 / mass of what J M^-1 J^T is made of."""
    lock, gear = ("lock", "world", "a", jn.OnPlane((1, 0, 0))), ("gear", "m", "a", jn.Gear((0.0, ratio)))
    robot = sliders(mass, lock, gear)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.PrecisionWarning)
        found = robot.constrained_dynamics(np.zeros(2), np.zeros(2), [2.0, 3.0])
    np.testing.assert_allclose(found.acc, 0, atol=1e-12)
    np.testing.assert_allclose(found.forces["gear"], [-3.0, 3.0 / ratio], rtol=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 0.1, 1e-3])
def test_a_row_may_be_a_combination_of_later_ones(ratio: float) -> None:
    oblique = jn.OnPlane((np.cos(1.3), np.sin(1.3), 0))
    lock, gear = ("lock", "world", "a", jn.OnPlane((1, 0, 0))), ("gear", "m", "a", jn.Gear((0.0, ratio)))
    robot = sliders(1.0, ("oblique", "world", "a", oblique), lock, gear)
    found = robot.constrained_dynamics(np.zeros(2), np.zeros(2), [2.0, 3.0])
    np.testing.assert_allclose(found.acc, 0, atol=1e-12)
    np.testing.assert_allclose(found.forces["gear"], [-3.0, 3.0 / ratio], rtol=1e-9)


@pytest.mark.parametrize("slope", [1e-8, 1e-4, 1.0, 1e4])
def test_a_geared_joint_has_all_its_digits(slope: float) -> None:
    """Its force is 1e-8 of what its motor and the gear push."""
    robot = sliders(1e-3, ("gear", "a", "m", jn.Gear((0.0, slope))))
    acc = robot.forward_dynamics(np.zeros(2), np.zeros(2), [0.3, 1 / slope])
    expected = 1.3 / (1 + 1e-3 * slope**2)
    np.testing.assert_allclose(acc, [expected, slope * expected], rtol=1e-9)


@pytest.mark.parametrize("moment", [1e-2, 1e-6])
def test_a_light_body_beside_a_loop_hides_no_dead_centre(moment: float) -> None:
    b = parallelogram()
    b.add("rotor", "rocker", jn.Revolute(HINGE), shift(0.05), jn.Inertia(1e-3, rotational=[moment] * 3))
    robot = b.build()
    with pytest.warns(jn.ConstraintWarning, match="'pin' loses rank in this configuration"):
        robot.constrained_dynamics(np.zeros(4), [2.0, -2.0, 2.0, 0.0], [1.0, 0.0, 0.0, 1.0])


# --- how far a state is off -----------------------------------------------------------------------------


def test_results_carry_the_residual_of_their_state() -> None:
    robot = jn.robots.aerial_manipulator()
    held = robot.constrained({"B7": jn.Contact(jn.Revolute((1, 2, 3)), pose=robot.pose("B7", robot.neutral()))})
    rng = np.random.default_rng(0)
    q, v = held.integrate(held.neutral(), 0.1 * rng.normal(size=held.nv)), rng.normal(size=held.nv)
    found = held.constrained_dynamics(q, v, np.zeros(held.nv))
    for mine, expected in zip(found.residual, held.residual(q, v), strict=True):
        np.testing.assert_array_equal(mine, expected)
    kept = found.residual[1]
    v[:] = 0.0
    np.testing.assert_array_equal(found.residual[1], kept)  # of the state as it was
    batch = held.constrained_dynamics(q, rng.normal(size=(2, 3, held.nv)), np.zeros((2, 3, 1, held.nv)))
    assert [x.shape for x in batch.residual] == [(2, 3, 5)] * 2
    none = robot.constrained_dynamics(robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
    assert [x.shape for x in none.residual] == [(0,)] * 2


def test_residuals_are_relative_to_supports_that_move() -> None:
    """A robot that moves with its support breaks nothing; one that stays breaks it by the speed of the support."""
    robot = jn.robots.aerial_manipulator()
    place = robot.pose("B7", robot.neutral())
    held = robot.constrained({"B7": jn.Contact(jn.Spherical(), pose=place)})
    twist = np.zeros((2, 6))
    twist[0] = [0.1, -0.2, 0.3, 0.5, 0.6, -0.7]
    q, along = held.neutral(), np.zeros(held.nv)
    along[:3] = twist[0, :3]
    for v, expected in ((along, np.zeros(3)), (np.zeros(held.nv), -place[:3, :3].T @ twist[0, :3])):
        found = held.constrained_dynamics(q, v, np.zeros(held.nv), motions={"B7": twist})
        np.testing.assert_allclose(found.residual[1], expected, atol=1e-14)


# --- digits --------------------------------------------------------------------------------------------------


def trunk_on_legs(mass: float) -> tuple[jn.Model, np.ndarray]:
    """A trunk on four legs, each of two links of 1 kg, the lower one fixed: motors can only push against each other."""
    b = jn.Builder()
    b.add("trunk", "world", jn.Free(), inertia=jn.Inertia.box(mass, (1, 0.5, 0.3)))
    link = jn.Inertia(1.0, com=(0, 0, -0.15), rotational=(0.01,) * 3)
    for i, (x, y) in enumerate(((0.5, 0.25), (0.5, -0.25), (-0.5, 0.25), (-0.5, -0.25))):
        b.add(f"thigh {i}", "trunk", jn.Revolute(HINGE), jn.placement((x, y, 0)), link)
        b.add(f"shank {i}", f"thigh {i}", jn.Revolute(HINGE), jn.placement((0, 0, -0.3)), link)
    robot = b.build()
    q = robot.neutral()
    q[7::2], q[8::2] = 0.4, -0.8
    held = {f"shank {i}": jn.Contact(jn.Fixed(), pose=robot.pose(f"shank {i}", q)) for i in range(4)}
    return robot.constrained(held), q


@pytest.mark.parametrize("mass", [1e2, 1e12, 1e15, 1e17])
def test_a_trunk_of_any_mass_moves_as_the_null_space_of_its_constraints_says(mass: float) -> None:
    """Reduced equations G^T M G z = G^T (tau - b) + ..., in which nothing large cancels; 16 % were off at 1e15 kg."""
    robot, q = trunk_on_legs(mass)
    tau = np.zeros(robot.nv)
    tau[6:] = mass * np.sin(np.arange(8) + 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.PrecisionWarning)  # of forces that are 1e-16 of others
        acc = robot.forward_dynamics(q, np.zeros(robot.nv), tau)
    J = robot.constraint_jacobian(q)
    _, values, Vt = np.linalg.svd(J)
    G = Vt[int((values > 1e-9).sum()) :].T
    M, weight = robot.mass_matrix(q), robot.gravity_force(q)
    expected = G @ np.linalg.solve(G.T @ M @ G, G.T @ (tau - weight)) if G.shape[1] else np.zeros(robot.nv)
    np.testing.assert_allclose(acc, expected, rtol=0, atol=1e-9 * max(np.abs(expected).max(), 9.81))
    np.testing.assert_allclose(J @ acc, 0, atol=1e-12 * max(np.abs(expected).max(), 9.81))


@pytest.mark.parametrize("push", [0.0, 1e3, 1e6])
def test_a_large_force_hides_no_contradiction(push: float) -> None:
    """Three shafts with equal gears, of which the first and the last are told to turn differently."""
    b = jn.Builder(gravity=(0, 0, 0))
    for name in "xyw":
        b.add(name, "world", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1e-3,) * 3))
    b.close("first", "x", "y", jn.Gear((0, 1.0)))
    b.close("second", "y", "w", jn.Gear((0, 1.0)))
    robot, zero = b.build(), np.zeros(3)
    with pytest.raises(jn.ConstraintError, match="contradicts others, or a prescribed acceleration"):
        robot.hybrid_dynamics(zero, zero, [1.0, 0.0, 2.0], [0.0, push, 0.0], prescribed=["x", "w"])
    acc, _ = robot.hybrid_dynamics(zero, zero, [2.0, 0.0, 2.0], [0.0, push, 0.0], prescribed=["x", "w"])
    np.testing.assert_allclose(acc, [2.0, 2.0, 2.0], rtol=1e-12)


def test_a_crane_does_not_hide_that_nothing_moves_its_hook() -> None:
    b = jn.Builder()
    for name in ("left", "right"):
        b.add(name, "world", jn.Prismatic((0, 0, 1)), inertia=jn.Inertia(1e6))
    b.add("hook", "left", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(0.1))
    b.close("sync", "left", "right", jn.Gear((0, 1.0)))
    robot, zero = b.build(), np.zeros(3)
    with pytest.raises(jn.ConstraintError, match=r"cannot be produced .*: 5\.0e-01 N or N m is left on joint 'hook'"):
        robot.constrained_inverse_dynamics(zero, zero, [0.0, 0.0, 5.0], actuated=["left", "right"])
    robot.constrained_inverse_dynamics(zero, zero, [1.0, 1.0, 0.0], actuated=["left", "right"])


@pytest.mark.parametrize("apart", [1e-7, 1e-6, 2e-6])
def test_what_project_leaves_open_counts_as_closed(apart: float) -> None:
    """A door whose hinges are out of line by rounded digits turns, and its states start a simulation."""
    b = jn.Builder()
    b.add("door", "world", jn.Free(), inertia=jn.Inertia(30.0, com=(0.45, 0, 1.0), rotational=(10.0, 12.0, 2.1)))
    for i, height in enumerate((0.2, 1.8)):
        here, there = jn.placement((apart * i, 0, height)), jn.placement((0, 0, height))
        b.close(f"hinge {i}", "world", "door", jn.Revolute((0, 0, 1)), placement_a=here, placement_b=there)
    robot = b.build()
    with pytest.warns(jn.ConstraintWarning, match="cannot be satisfied exactly"):
        q, v = robot.project(robot.neutral(), [0, 0, 0, 0, 0, 1.0])
    assert v[5] == pytest.approx(1.0, abs=1e-9)
    acc = robot.forward_dynamics(q, 0 * v, [0, 0, 0, 0, 0, 1.0])
    assert acc[5] == pytest.approx(1 / (2.1 + 30.0 * 0.45**2), rel=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.ConstraintWarning)
        assert jn.simulate(robot, q, v, [0.0, 0.05]).v[-1, 5] == pytest.approx(1.0, abs=1e-6)
    wide = jn.placement((5e-6, 0, 1.8))
    b.close("third", "world", "door", jn.Revolute((0, 0, 1)), placement_a=wide, placement_b=there)
    wider = b.build()
    with pytest.raises(jn.ConstraintError, match="cannot be brought onto the constraints"):
        wider.project(robot.neutral())


def test_the_residual_beside_a_turntable() -> None:
    """A body that is carried along by a turntable, 1 m from its axis."""
    b = jn.Builder()
    b.add("body", "world", jn.Free(), inertia=jn.Inertia.box(1.0, (1, 0.5, 0.5)))
    turn = np.zeros((2, 6))
    turn[0, 5] = 3.0
    for kind in (jn.OnPlane((0, 1, 0)), jn.OnLine((1, 0, 0)), jn.Prismatic((1, 0, 0))):
        robot = b.build().constrained({"body": jn.Contact(kind, pose=np.eye(4))})
        found = robot.constrained_dynamics(
            [1.0, 0, 0, 0, 0, 0, 1], [0, 3.0, 0, 0, 0, 3.0], np.zeros(6), motions={"body": turn}
        )
        np.testing.assert_allclose(found.residual[1], 0, atol=1e-14)


@pytest.mark.parametrize("angle", [1e-1, 1e-3, 1e-5, 5e-6])
def test_the_motor_of_a_press_holds_its_spring_however_near_the_dead_centre(angle: float) -> None:
    """A crank of 0.1 m, a rod of 0.2 m, a ram with a spring and the motor: the pin carries nothing."""
    b = jn.Builder(gravity=(0, 0, 0))
    for name, parent, height in (("crank", "world", 0.0), ("rod", "crank", 0.1)):
        link = jn.Inertia(1.0, com=(0, 0, 0.1), rotational=(0.01,) * 3)
        b.add(name, parent, jn.Revolute(HINGE), jn.placement((0, 0, height)), link)
    b.add("ram", "world", jn.Prismatic((0, 0, 1), stiffness=1e5), inertia=jn.Inertia(5.0))
    b.close("pin", "rod", "ram", jn.Revolute(HINGE), placement_a=jn.placement((0, 0, 0.2)))
    tilt = np.arcsin(0.5 * np.sin(angle))
    q, zero = np.array([angle, -tilt - angle, 0.1 * np.cos(angle) + 0.2 * np.cos(tilt)]), np.zeros(3)
    found = b.build().constrained_inverse_dynamics(q, zero, zero, actuated=["ram"])
    np.testing.assert_allclose(found.tau, [0, 0, 1e5 * q[2]], rtol=1e-13)
    np.testing.assert_allclose(found.forces["pin"], 0, atol=1e-8 * 1e5 * q[2])
