"""The implicit method under constraints: order, energy, the other methods, and stiffness that costs nothing."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from jounce import soft
from jounce.dynamics.constraints.constrained import onto
from jounce.dynamics.constraints.static_ties import anchored
from jounce.simulation import implicit
from jounce.simulation.implicit_ties import tied_residual, tied_system
from jounce.simulation.stepping import Layout, Tolerance
from jounce.simulation.stiffness import linear_system
from linkages import shift

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[1] / "examples"
HINGE = (0.0, -1.0, 0.0)


@pytest.fixture
def four_bar(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("four_bar")


@pytest.fixture
def fin_ray_finger(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("fin_ray_finger")


def linkage() -> tuple[jn.Model, Array, Array]:
    """A plane linkage with one motion, in motion."""
    b = jn.Builder()
    for name, parent, x, length in (
        ("crank", "world", 0.0, 0.2),
        ("coupler", "crank", 0.2, 0.5),
        ("rocker", "world", 0.5, 0.4),
    ):
        inertia = jn.Inertia(length, (length / 2, 0, 0), np.diag([1e-3, length**3 / 12, length**3 / 12]))
        b.add(name, parent, jn.Revolute(HINGE), shift(x), inertia)
    b.close("pin", "coupler", "rocker", jn.Revolute(HINGE), placement_a=shift(0.5), placement_b=shift(0.4))
    robot = b.build()
    return robot, *robot.project([0.3122840184698, 0.4181538344721, 1.4132249980696], [0.8442, -1.3214, -0.2717])


def ladder(young: float, damping: float = 1e-3) -> tuple[jn.Model, Array]:
    """Two rods that hang side by side, a rib between their ends; bent, at rest."""
    b = jn.Builder()
    rod = soft.Rod(0.2, 0.01, 1e3, young, damping=damping, strain=soft.constant_curvature(planar=True))
    for name, x in (("left", 0.0), ("right", 0.1)):
        b.add(name, "world", placement=shift(x) @ np.diag([1.0, -1.0, -1.0, 1.0]), body=rod)
    b.close("rib", "left", "right", jn.Distance(0.1))
    robot = b.build()
    return robot, robot.project([0.3, 0.0, 0.0, 0.0])


def counted(robot: jn.Model) -> tuple[jn.Model, dict[str, int]]:
    """The same robot, and of how many states it is asked for dynamics, and how often for their derivatives."""
    count = {"states": 0, "derivatives": 0}

    class Counting(jn.Model):
        def forward_dynamics(self, q: Array, *rest: Array, **options: object) -> Array:
            count["states"] += 1 if np.ndim(q) == 1 else len(q)
            return super().forward_dynamics(q, *rest, **options)

        def inverse_dynamics(self, q: Array, *rest: Array, **options: object) -> Array:
            count["states"] += 1 if np.ndim(q) == 1 else len(q)
            return super().inverse_dynamics(q, *rest, **options)

        def constrained_dynamics_derivatives(self, *state: Array, **options: object) -> object:
            count["derivatives"] += 1
            return super().constrained_dynamics_derivatives(*state, **options)

    return Counting(robot.bodies, robot.gravity, robot.constraints), count


# Against the other methods


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_agrees_with_taylor_on_a_four_bar(four_bar: ModuleType, tolerance: float) -> None:
    """Three free bodies and four hinges, more than are needed."""
    robot = four_bar.linkage()
    q, v = four_bar.start(robot)
    tau = np.zeros(robot.nv)
    tau[4] = -four_bar.TORQUE
    times = np.linspace(0.0, 0.3, 13)
    exact = jn.simulate(robot, q, v, times, tau, rtol=1e-13, atol=1e-13)
    found = jn.simulate(robot, q, v, times, tau, method="implicit", rtol=tolerance, atol=tolerance)
    assert np.ptp(exact.q[:, robot.position("coupler")][:, 0]) > 0.1
    np.testing.assert_allclose(robot.difference(exact.q, found.q), 0, atol=30 * tolerance)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=300 * tolerance)  # rad/s, of 22
    position, speed = robot.residual(found.q, found.v)
    np.testing.assert_allclose(position, 0, atol=tolerance)
    np.testing.assert_allclose(speed, 0, atol=30 * tolerance)
    assert (found.tau == tau).all()


def test_agrees_with_taylor_on_a_fin_ray_finger(fin_ray_finger: ModuleType) -> None:
    """Soft walls, a weld and four ribs; let go."""
    robot = fin_ray_finger.finger()
    q, rest = fin_ray_finger.loaded(robot)[-1], np.zeros(robot.nv)
    times = np.linspace(0.0, 0.001, 3)
    exact = jn.simulate(robot, q, rest, times, rtol=1e-12, atol=1e-12)
    found = jn.simulate(robot, q, rest, times, method="implicit", rtol=1e-10, atol=1e-10)
    assert np.abs(exact.q[-1] - q).max() > 1
    np.testing.assert_allclose(found.q, exact.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=1e-5)  # of 3000
    assert np.abs(exact.v).max() > 1e3
    np.testing.assert_allclose(robot.residual(found.q), 0, atol=1e-12)


def test_agrees_with_taylor_on_a_floating_robot_that_holds_on() -> None:
    robot = jn.robots.aerial_manipulator().constrained({"B4": jn.Fixed(), "B7": jn.Spherical()})
    rng = np.random.default_rng(0)
    q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
    times = np.linspace(0.0, 1.0, 6)
    exact = jn.simulate(robot, q, v, times, rtol=1e-12, atol=1e-12)
    found = jn.simulate(robot, q, v, times, method="implicit", rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(robot.difference(exact.q, found.q), 0, atol=1e-8)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=1e-8)


def test_what_rolls() -> None:
    """Constraints that come from no position: a disc, against Taylor's method, and its energy."""
    b = jn.Builder()
    b.add("disc", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(2.5e-3, 5e-3, 2.5e-3)))
    b.close("ground", "world", "disc", jn.Rolling(0.1, axis=(0, 1, 0)))
    disc = b.build()
    q = disc.project(np.array([0, 0, 0.15, 0.1, 0, 0, 1]) / [1, 1, 1, *[np.sqrt(1.01)] * 4])
    v = disc.project(q, np.array([0, 0, 0, 0.0, 20.0, 0.3]))[1]
    times = np.linspace(0.0, 1.0, 11)
    exact = jn.simulate(disc, q, v, times, rtol=1e-12, atol=1e-12)
    found = jn.simulate(disc, q, v, times, method="implicit")
    np.testing.assert_allclose(disc.difference(exact.q, found.q), 0, atol=1e-7)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=1e-7)


# Order and balances


def test_order_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of fixed length, each brought back onto the constraints."""
    monkeypatch.setattr(implicit, "_ITERATIONS", 40)  # for long steps, and exactly
    robot, q, v = linkage()
    none = np.zeros(robot.nv)
    exact = jn.simulate(robot, q, v, [0.0, 0.2], rtol=1e-15, atol=1e-15)[-1]
    method = implicit.Method(robot, lambda t, q, v: none, Tolerance(0.0, 5e-13))
    errors = []
    for count in (5, 10):
        now = implicit.State(0.0, q, v, robot.forward_dynamics(q, v, none))
        for i in range(count):
            step = method.step(now, 0.2 / count, method.matrices(now), np.repeat(now.a[None], implicit.STAGES, axis=0))
            assert step is not None
            end = step.end((i + 1) * 0.2 / count)
            now = implicit.State(end.t, *onto(robot, end.q, end.v), end.a)
        errors.append(np.abs(np.concatenate([now.q - exact.q, now.v - exact.v])).max())
    assert 8.5 < np.log2(errors[0] / errors[1]) < 9.7


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_energy_and_loops_are_kept_to_the_tolerance(tolerance: float) -> None:
    robot, q, v = linkage()
    run = jn.simulate(robot, q, v, np.linspace(0, 3, 31), method="implicit", rtol=tolerance, atol=tolerance)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=300 * tolerance)
    assert np.ptp(robot.potential_energy(run.q)) > 0.5
    position, speed = robot.residual(run.q, run.v)
    np.testing.assert_allclose(position, 0, atol=tolerance)
    np.testing.assert_allclose(speed, 0, atol=30 * tolerance)


# Stiffness


@pytest.mark.parametrize("young", [1e8, 1e9, 1e10])
def test_stiff_rods_take_as_few_steps_as_without_constraints(young: float) -> None:
    """As many for any stiffness, where Dormand and Prince's six stages are stable for steps up to 3.3 / rate."""
    robot, q = ladder(young, damping=0.01)
    lin = robot.linearize(q, np.zeros(4), np.zeros(4))
    fastest = np.abs(np.linalg.eigvals(lin.reduced()[0])).max()
    free, of_free = counted(jn.Model(robot.bodies, robot.gravity))
    tied, of_tied = counted(robot)
    for each in (free, tied):
        jn.simulate(each, q, np.zeros(4), [0, 0.5], method="implicit", rtol=1e-6, atol=1e-7)
    assert of_tied["states"] < 1.3 * of_free["states"]
    assert of_tied["states"] < 1000
    assert of_tied["states"] < 6 * 0.5 * fastest / 3.3 / (young / 2e6)
    assert of_tied["derivatives"] < 20


def test_a_stiff_robot_asks_for_less_than_with_explicit_methods() -> None:
    asked, ends = {}, {}
    for method in ("taylor", "rkmk", "implicit"):
        robot, q = ladder(2e8, damping=0.01)
        robot, count = counted(robot)
        run = jn.simulate(robot, q, np.zeros(4), [0, 0.1], method=method, rtol=1e-6, atol=1e-7)
        asked[method], ends[method] = count["states"], run.q[-1]
    assert asked["implicit"] < asked["rkmk"] / 20
    assert asked["implicit"] < asked["taylor"] / 2  # whose calls are of high order, besides
    np.testing.assert_allclose(ends["implicit"], ends["rkmk"], rtol=0, atol=1e-5)


def test_stiff_rods_come_to_rest_in_equilibrium() -> None:
    robot, q = ladder(1e6, damping=0.05)
    tau = np.array([0.3, 1.0, -0.2, 0.5])
    end = jn.simulate(robot, q, np.zeros(4), [0, 20], tau, method="implicit")[-1]
    rest = robot.equilibrium(tau=tau)
    np.testing.assert_allclose(end.q, rest.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(end.v, 0, atol=1e-7)
    forces = robot.constrained_dynamics(end.q, np.zeros(4), tau).forces["rib"]
    np.testing.assert_allclose(forces, rest.forces["rib"], rtol=0, atol=1e-6)


def test_stiff_feedback() -> None:
    """A controller that is fast holds the crank to a motion; the others follow."""
    robot, q, _ = linkage()
    start = q[0]

    def torque(t: float, q: Array, v: Array) -> Array:
        return np.array([1e6 * (start + np.sin(t) - q[0]) + 1e5 * (np.cos(t) - v[0]), 0.0, 0.0])

    robot, count = counted(robot)
    _, v = robot.project(q, [1.0, 0.0, 0.0])
    run = jn.simulate(robot, q, v / v[0], np.linspace(0, 1, 11), torque, method="implicit", rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(run.q[:, 0], start + np.sin(run.time), rtol=0, atol=1e-4)
    np.testing.assert_allclose(robot.residual(run.q), 0, atol=1e-8)
    assert count["states"] < 3000


def test_the_linear_system_is_that_of_the_motion() -> None:
    """With the torque's part, against differences of the acceleration."""
    robot, q, v = linkage()
    gains = np.random.default_rng(0).normal(size=(2, 3, 3))

    def torque(t: float, q: Array, v: Array) -> Array:
        return gains[0] @ q + gains[1] @ v

    M, D, K = linear_system(robot, Layout(robot), torque, 0.0, q, v, np.zeros(3))
    np.testing.assert_array_equal(M, np.eye(3))

    def acceleration(q: Array, v: Array) -> Array:
        return robot.forward_dynamics(q, v, torque(0.0, q, v))

    for matrix, moved in ((K, lambda d: acceleration(q + d, v)), (D, lambda d: acceleration(q, v + d))):
        columns = [(moved(d) - moved(-d)) / 2e-6 for d in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(-matrix, np.transpose(columns), rtol=0, atol=1e-5 * np.abs(matrix).max())


@pytest.mark.parametrize(
    "joint", [jn.Spherical(), jn.Revolute((1, 2, 3)), jn.Universal((1, 0, 0), (1, 2, 0)), jn.Fixed()], ids=repr
)
def test_newton_has_the_derivatives_of_what_it_solves(joint: jn.Joint) -> None:
    """By accelerations, multipliers, velocities and positions, against differences; some rows depend on others."""
    b = jn.Builder.from_model(jn.robots.aerial_manipulator())
    b.close("rope", "world", "B4", jn.Distance(1.0))
    b.close("teeth", "q2", "q5", jn.Gear((0.1, 0.5, 0.2)))
    robot = b.build().constrained({"B7": joint, "B3": jn.OnPlane((1, 2, 3))})
    rng = np.random.default_rng(1)
    q, v = robot.project(robot.random_configuration(rng), rng.normal(size=robot.nv))
    robot = jn.Model(robot.bodies, robot.gravity, [*robot.constraints, replace(robot.constraints[0], name="again")])
    robot = anchored(robot, q)
    gains, nv = rng.normal(size=(2, robot.nv, robot.nv)), robot.nv

    def torque(t: float, q: Array, v: Array) -> Array:
        return gains[0] @ (q[1:] + q[:-1]) + gains[1] @ v

    tau = torque(0.0, q, v)
    a = robot.forward_dynamics(q, v, tau)
    M, D, K, basis, multipliers = tied_system(robot, Layout(robot), torque, 0.0, q, v, a)
    J = robot.constraint_jacobian(q)
    assert basis.shape == (len(J), np.linalg.matrix_rank(J, tol=1e-8))
    assert basis.shape[1] < len(J)
    x = multipliers @ basis

    def left(q: Array, v: Array, a: Array, x: Array) -> Array:
        return tied_residual(robot, basis, q[None], v[None], a[None], x[None], torque(0.0, q, v))[0]

    np.testing.assert_allclose(left(q, v, a, x), 0, atol=1e-9 * np.abs(tau).max())
    moved = {
        "a": (M[:, :nv], lambda d: left(q, v, a + d, x), nv),
        "x": (M[:, nv:], lambda d: left(q, v, a, x + d), len(x)),
        "v": (D[:, :nv], lambda d: left(q, v + d, a, x), nv),
        "q": (K[:, :nv], lambda d: left(robot.integrate(q, d), v, a, x), nv),
    }
    for key, (matrix, of, size) in moved.items():
        columns = [(of(d) - of(-d)) / 2e-6 for d in 1e-6 * np.eye(size)]
        np.testing.assert_allclose(matrix, np.transpose(columns), rtol=0, atol=1e-5 * np.abs(matrix).max(), err_msg=key)
    assert not D[:, nv:].any()
    assert not K[:, nv:].any()


# When it cannot go on


def test_short_steps_are_explained_by_the_rates_under_constraints() -> None:
    """The rate is that of what moves, not of a stiffer spring that is held."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("moves", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(1.0))
    b.add("held", "world", jn.Prismatic((1, 0, 0), stiffness=1e26), inertia=jn.Inertia(1.0))
    b.close("brake", "held", "held", jn.Gear((0.0, 0.0)))
    robot = b.build()

    def drag(t: float, q: Array, v: Array) -> Array:
        return -1e9 * v

    with pytest.raises(jn.SimulationError, match=r"the motion has rates up to 1e\+09 1/s"):
        jn.simulate(robot, [0.0, 0.0], [1.0, 0.0], [0, 1], drag, method="rkmk", max_steps=200)
    end = jn.simulate(robot, [0.0, 0.0], [1.0, 0.0], [0, 1], drag, method="implicit", max_steps=200)[-1]
    np.testing.assert_allclose(end.q, [1e-9, 0.0], rtol=0, atol=1e-9)


def test_a_dead_centre_is_named() -> None:
    """A parallelogram, all bars on one line, may open to either side: there one row less is independent."""
    b = jn.Builder()
    solid = jn.Inertia(1.0, (0.05, 0, 0), 1e-2 * np.eye(3))
    b.add("crank", "world", jn.Revolute(HINGE), inertia=solid)
    b.add("coupler", "crank", jn.Revolute(HINGE), shift(0.1), solid)
    b.add("rocker", "world", jn.Revolute(HINGE), shift(0.3), solid)
    b.close("pin", "coupler", "rocker", jn.Revolute(HINGE), placement_a=shift(0.3), placement_b=shift(0.1))
    flat = b.build()
    with (
        pytest.warns(jn.ConstraintWarning),
        pytest.raises(jn.SimulationError, match=r"t = 0\.000\d* s: the constraints lose rank"),
    ):
        jn.simulate(flat, np.zeros(3), np.zeros(3), [0.0, 1.0], method="implicit")
    q, v = flat.project([0.5, -0.5, 0.5], [1.0, 0.0, 0.0])
    run = jn.simulate(flat, q, v, [0.0, 0.1], method="implicit")  # from elsewhere it goes
    np.testing.assert_allclose(flat.residual(run.q), 0, atol=1e-9)


def test_what_was_found_has_the_torque_that_was_given() -> None:
    robot, q, v = linkage()
    tau = np.array([0.3, 0.2, 0.1])
    with pytest.raises(jn.SimulationError) as caught:
        jn.simulate(robot, q, v, [0.0, 9.0], tau, method="implicit", max_steps=10)
    motion = caught.value.trajectory
    assert len(motion.time) == 2
    assert (motion.tau == tau).all()
    np.testing.assert_allclose(motion.a[-1], robot.forward_dynamics(motion.q[-1], motion.v[-1], tau), atol=1e-5)
