"""Regulators: against SciPy, against the Riccati equation itself, and in flight."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are, solve_discrete_are

import jounce as jn
from jounce import control

Array = NDArray[np.float64]
ROTORS = range(2, 8)
Q = np.array([10.0] * 3 + [5.0] * 5 + [2.0] * 3 + [0.5] * 3 + [0.1] * 2)
R = np.array([0.1, 3.0, 3.0, 3.0, 10.0, 10.0])


@pytest.fixture(scope="module")
def robot() -> jn.Model:
    return jn.robots.quadrotor_arm()


@pytest.fixture(scope="module")
def hover(robot: jn.Model) -> jn.Linearization:
    q = robot.neutral()
    q[:7] = 1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8
    q[7:] = 0.5, -1.0
    return robot.linearize(q, np.zeros(8), robot.gravity_force(q), actuated=ROTORS)


def test_quadrotor_carries_its_payload() -> None:
    assert jn.robots.quadrotor_arm().gravity_force(jn.robots.quadrotor_arm().neutral())[2] == pytest.approx(1.75 * 9.81)
    heavy = jn.robots.quadrotor_arm(payload=0.2)
    q = heavy.neutral()
    q[7:] = np.pi / 2, 0.0  # the arm held out backward, 0.36 m
    assert heavy.gravity_force(q)[2] == pytest.approx(1.95 * 9.81)
    assert abs(heavy.gravity_force(q)[6]) == pytest.approx(9.81 * (0.15 * 0.09 + 0.10 * 0.27 + 0.2 * 0.36))


# At one state


def test_gain_is_scipys(hover: jn.Linearization) -> None:
    regulator = control.lqr(hover, Q, R)
    P = solve_continuous_are(hover.A, hover.B, np.diag(Q), np.diag(R))
    np.testing.assert_allclose(regulator.P, P, rtol=0, atol=1e-12 * np.abs(P).max())
    np.testing.assert_allclose(regulator.K, hover.B.T @ P / R[:, None], rtol=1e-10, atol=1e-10)
    poles = np.linalg.eigvals(hover.A - hover.B @ regulator.K)
    assert poles.real.max() < -1.0
    np.testing.assert_allclose(np.sort(poles.real), np.sort(regulator.poles.real))
    assert regulator.dt is None
    assert regulator.lin is hover


def test_diagonals_stand_for_matrices(hover: jn.Linearization) -> None:
    np.testing.assert_array_equal(control.lqr(hover, Q, R).K, control.lqr(hover, np.diag(Q), np.diag(R)).K)


def test_discrete_time(hover: jn.Linearization) -> None:
    dt = 0.02
    regulator = control.lqr(hover, Q, R, dt=dt)
    A, B = hover.discretize(dt)
    P = solve_discrete_are(A, B, np.diag(Q), np.diag(R))
    np.testing.assert_allclose(regulator.P, P, rtol=0, atol=1e-10 * np.abs(P).max())
    poles = np.linalg.eigvals(A - B @ regulator.K)
    assert np.abs(poles).max() < 1.0
    np.testing.assert_allclose(np.sort(np.abs(poles)), np.sort(np.abs(regulator.poles)), atol=1e-9)
    fine, continuous = control.lqr(hover, Q * 1e-5, R * 1e-5, dt=1e-5), control.lqr(hover, Q, R)
    assert np.abs(fine.K - continuous.K).max() < 1e-3 * np.abs(continuous.K).max()


def test_gain_does_not_depend_on_where_it_hovers(robot: jn.Model, hover: jn.Linearization) -> None:
    """Apart from gravity, the equations are the same everywhere: the gain moves with the body axes."""
    q = robot.neutral()
    q[7:] = hover.q[7:]
    origin = robot.linearize(q, np.zeros(8), robot.gravity_force(q), actuated=ROTORS)
    np.testing.assert_allclose(control.lqr(origin, Q, R).K, control.lqr(hover, Q, R).K, rtol=0, atol=1e-8)


def test_cost_to_go_is_the_cost(robot: jn.Model, hover: jn.Linearization) -> None:
    """x^T P x, and the actual cost of a flight from nearby."""
    regulator = control.lqr(hover, Q, R)
    x = 1e-3 * np.random.default_rng(0).normal(size=16)
    time = np.linspace(0.0, 5.0, 501)
    run = jn.simulate(
        robot,
        robot.integrate(hover.q, x[:8]),
        x[8:],
        time,
        lambda t, q, v: regulator.control(robot, q, v),
        method="rkmk",
        rtol=1e-6,
    )
    errors = np.hstack([robot.difference(hover.q, run.q), run.v])
    effort = (run.tau - hover.tau)[:, list(ROTORS)]
    rate = (errors**2) @ Q + (effort**2) @ R
    assert 0.01 * (rate.sum() - rate[0] / 2) == pytest.approx(x @ regulator.P @ x, rel=0.02)


def test_hover_from_far_off(robot: jn.Model, hover: jn.Linearization) -> None:
    regulator = control.lqr(hover, Q, R)
    q = robot.integrate(hover.q, [0.5, -0.5, 0.3, 0.6, -0.5, 1.0, 0.5, -0.5])

    def tau(t: float, q: Array, v: Array) -> Array:
        return regulator.control(robot, q, v)

    run = jn.simulate(robot, q, np.zeros(8), np.linspace(0, 8, 9), tau, method="rkmk", rtol=1e-5, atol=1e-6)
    away = np.linalg.norm(robot.difference(hover.q, run.q), axis=1)
    assert away[0] > 1.5
    assert away[-1] < 1e-4
    np.testing.assert_array_equal(run.tau[:, :2], 0.0)  # no force along x and y


def test_other_frames_give_gains_but_no_control(robot: jn.Model, hover: jn.Linearization) -> None:
    lin = robot.linearize(hover.q, hover.v, robot.gravity_force(hover.q, frame="mixed"), frame="mixed")
    regulator = control.lqr(lin, Q, np.ones(8))
    assert regulator.poles.real.max() < 0
    with pytest.raises(ValueError, match="'mixed'"):
        regulator.control(robot, hover.q, hover.v)


# Along a motion


def test_constant_motion_tends_to_the_plain_gain(robot: jn.Model, hover: jn.Linearization) -> None:
    plain = control.lqr(hover, Q, R)
    time = np.linspace(0.0, 8.0, 21)  # steps need not be short if nothing changes
    still = tuple(np.tile(x, (21, 1)) for x in (hover.q, hover.v, hover.tau))
    tracking = control.tvlqr(robot, (time, *still), Q, R, np.zeros(16), actuated=ROTORS)
    np.testing.assert_array_equal(tracking.K[-1], 0.0)
    np.testing.assert_allclose(tracking.K[0], plain.K, rtol=0, atol=1e-7 * np.abs(plain.K).max())
    steady = control.tvlqr(robot, (time, *still), Q, R, plain.P, actuated=ROTORS)
    np.testing.assert_allclose(
        steady.P, np.broadcast_to(plain.P, (21, 16, 16)), rtol=0, atol=1e-9 * np.abs(plain.P).max()
    )


def test_riccati_equation_of_a_time_varying_system() -> None:
    """Against an integrator; the error falls with the square of the step."""
    rng = np.random.default_rng(0)
    A0, A1, B0, B1 = (rng.normal(size=s) for s in ((4, 4), (4, 4), (4, 2), (4, 2)))
    weight, price, end = np.diag([1.0, 2.0, 0.0, 0.5]), np.array([[2.0, 0.3], [0.3, 1.0]]), np.diag([1.0, 0, 0, 3.0])

    def matrices(t: float) -> tuple[Array, Array]:
        return A0 + np.sin(3 * t) * A1, B0 + np.cos(2 * t) * B1

    def rate(t: float, flat: Array) -> Array:
        P, (A, B) = flat.reshape(4, 4), matrices(t)
        return -(A.T @ P + P @ A - P @ B @ np.linalg.solve(price, B.T @ P) + weight).ravel()

    exact = solve_ivp(rate, (2.0, 0.0), end.ravel(), rtol=1e-11, atol=1e-12).y[:, -1].reshape(4, 4)
    errors = []
    for count in (101, 201):
        time = np.linspace(0.0, 2.0, count)
        A, B = (np.array(x) for x in zip(*map(matrices, time), strict=True))
        K, P = control.riccati(time, A, B, weight, price, end)
        np.testing.assert_allclose(K[0], np.linalg.solve(price, B[0].T @ P[0]))
        assert np.linalg.eigvalsh(P[:-1]).min() > 0
        errors.append(np.abs(P[0] - exact).max() / np.abs(exact).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.3)


def test_long_steps_and_large_matrices_do_no_harm() -> None:
    """Exponents of hundreds, which a naive exponential of the Hamiltonian cannot handle."""
    A = np.array([[0.0, 1.0], [300.0, 0.0]])
    B = np.array([[0.0], [1.0]])
    exact = solve_continuous_are(A, B, np.eye(2), np.eye(1))
    _, P = control.riccati([0.0, 10.0, 20.0], np.tile(A, (3, 1, 1)), np.tile(B, (3, 1, 1)), [1, 1], [1], [0, 0])
    np.testing.assert_allclose(P[0], exact, rtol=1e-9)


def test_reference_between_the_times(robot: jn.Model) -> None:
    """Cubic on the group: against the motion itself, sampled more finely."""
    rng = np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=8)
    time = np.linspace(0.0, 1.0, 81)
    fine = jn.simulate(robot, q, v, time)
    errors = []
    for step in (8, 4):
        tracking = control.tvlqr(robot, fine[::step], Q, np.ones(8), Q)
        between = [tracking.reference(t) for t in time]
        errors.append(
            max(
                np.abs([robot.difference(q, r[0]) for q, r in zip(fine.q, between, strict=True)]).max(),
                np.abs([v - r[1] for v, r in zip(fine.v, between, strict=True)]).max(),
            )
        )
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] > 10  # fourth order
    q_end, v_end, tau_end = tracking.reference(5.0)
    np.testing.assert_allclose(robot.difference(fine.q[-1], q_end), 0, atol=1e-12)
    np.testing.assert_allclose(v_end, fine.v[-1])
    np.testing.assert_allclose(tau_end, fine.tau[-1])


def test_many_states_at_one_time(robot: jn.Model) -> None:
    rng = np.random.default_rng(2)
    fall = jn.simulate(robot, robot.neutral(), np.zeros(8), np.linspace(0, 1, 11))
    tracking = control.tvlqr(robot, fall, Q, R, Q, actuated=ROTORS)
    q, v = robot.random_configuration(rng, 5), rng.normal(size=(5, 8))
    together = tracking.control(0.37, q, v)
    for i in range(5):
        np.testing.assert_allclose(together[i], tracking.control(0.37, q[i], v[i]), atol=1e-12)
        x = tracking.error(0.37, q[i], v[i])
        np.testing.assert_allclose(together[i, 2:], -tracking.gain(0.37) @ x, atol=1e-10)


# The example


@pytest.fixture(scope="module")
def example() -> ModuleType:
    path = Path(__file__).parents[1] / "examples" / "flip.py"
    spec = importlib.util.spec_from_file_location("flip", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_flip(robot: jn.Model, example: ModuleType) -> None:
    """Struck as it flips, it stays on its path; in roll, pitch and yaw it is lost."""
    motion = example.flip(robot)[:601:2]
    np.testing.assert_array_equal(motion.tau[:, :2], 0.0)  # rotors can fly it
    assert motion.q[-1, 6] == pytest.approx(-1.0)  # once around
    assert np.abs(motion.v[-1]).max() < 1e-8
    assert abs(motion.q[-1, 2]) < 1e-8
    assert motion.q[:, 2].max() > 1.5
    assert (motion.tau[:, 2:] > example.LOWER).all()
    assert (motion.tau[:, 2:] < example.UPPER).all()

    lin = robot.linearize(motion.q[-1], np.zeros(8), motion.tau[-1], actuated=ROTORS)
    end = control.lqr(lin, example.Q, example.R).P
    tracking = control.tvlqr(robot, motion, example.Q, example.R, end, actuated=ROTORS)
    chart = example.ChartRegulator(tracking, example.Q, example.R, end)
    np.testing.assert_allclose(chart.K[-1], tracking.K[-1], atol=1e-9)  # upright, both are the same
    assert chart.condition.max() > 50

    strikes = np.array([example.STRIKE, [0, 0, 0]])
    start = np.tile(robot.integrate(motion.q[0], example.START), (2, 1))
    results = {}
    for name, regulator in (("group", tracking), ("chart", chart)):
        q, _ = example.fly(robot, regulator, motion.time, start, np.zeros((2, 8)), strikes)
        results[name] = q
    away, turned = example.errors(robot, motion, results["group"])
    assert turned[:, 0].max() < 45
    assert away[-1].max() < 0.01
    assert turned[-1].max() < 0.5
    away, turned = example.errors(robot, motion, results["chart"])
    assert turned[:, 0].max() > 90
    assert away[-1, 0] > 0.1
    assert away[-1, 1] < 0.01  # without a strike, it gets through as well


def test_a_batch_of_gains_is_that_of_each(robot: jn.Model, hover: jn.Linearization) -> None:
    """Also in steps, under constraints, and in flight: each regulator sees its own state."""
    q = hover.q + np.linspace(-0.5, 0.5, 6).reshape(2, 3, 1) * np.eye(9)[8]
    lins = robot.linearize(q, np.zeros(8), robot.gravity_force(q), actuated=ROTORS)
    for dt in (None, 0.01):
        many = control.lqr(lins, Q, R, dt=dt)
        assert (many.K.shape, many.P.shape, many.poles.shape) == ((2, 3, 6, 16), (2, 3, 16, 16), (2, 3, 16))
        for i in np.ndindex(2, 3):
            one = robot.linearize(q[i], np.zeros(8), robot.gravity_force(q[i]), actuated=ROTORS)
            alone = control.lqr(one, Q, R, dt=dt)
            for key in ("K", "P", "poles"):
                np.testing.assert_allclose(getattr(many, key)[i], getattr(alone, key), rtol=1e-9, atol=1e-9)
            v = np.linspace(0, 0.1, 8)
            found = many.control(robot, hover.q, v)
            assert found.shape == (2, 3, 8)
            np.testing.assert_allclose(found[i], alone.control(robot, hover.q, v), rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match=r"do not broadcast: q \(4,\), v \(\), the regulators \(2, 3\)"):
        many.control(robot, np.tile(hover.q, (4, 1)), np.zeros(8))
    assert control.lqr(robot.linearize(q[:0], np.zeros(8), np.zeros(8)), Q, np.ones(8)).K.shape == (0, 3, 8, 16)
    held = robot.constrained({"tool": jn.Contact(jn.Spherical(), robot.pose("tool", hover.q))})
    turned = held.project(np.tile(hover.q, (2, 1)), held={"elbow": [[-1.0], [-0.9]]})
    still = held.hybrid_dynamics(turned, *np.zeros((3, 8)), prescribed=list(held.joint_names))[1]
    many = control.lqr(held.linearize(turned, np.zeros(8), still), Q, np.ones(8))
    alone = control.lqr(held.linearize(turned[1], np.zeros(8), still[1]), Q, np.ones(8))
    np.testing.assert_allclose(many.K[1], alone.K, rtol=1e-7, atol=1e-8)


# Bad input


def test_errors(robot: jn.Model, hover: jn.Linearization) -> None:
    def raises(message: str, *arguments: object, **options: object) -> None:
        with pytest.raises(ValueError, match=message):
            control.lqr(*arguments, **options)  # type: ignore[arg-type]

    raises(r"Q has shape \(15,\), expected \(16, 16\) or \(16,\)", hover, Q[:15], R)
    raises(r"R has shape \(8,\)", hover, Q, np.ones(8))
    raises("R has the eigenvalue 0, expected a positive definite", hover, Q, R * (R < 10))
    raises("Q has the eigenvalue -1", hover, -np.ones(16), R)
    raises("Q is not symmetric", hover, np.triu(np.ones((16, 16))), R)
    raises("expected finite", hover, Q * np.nan, R)
    raises("dt is -1.0", hover, Q, R, dt=-1)
    raises("no stabilizing solution", hover, np.zeros(16), R)
    level = robot.linearize(hover.q, hover.v, hover.tau, actuated=["shoulder", "elbow"])
    raises("not stabilizable", level, Q, np.ones(2))
    raises(r"with eigenvalue 0 1/s;", level, Q, np.ones(2))
    raises("not stabilizable", level, Q, np.ones(2), dt=0.01)
    batch = robot.linearize(np.tile(hover.q, (3, 1)), hover.v, hover.tau, actuated=ROTORS)
    raises(r"Q has shape \(3, 16\), expected \(16, 16\) or \(16,\)", batch, np.tile(Q, (3, 1)), R)
    batch.acceleration[2, 5] = -3.0
    with pytest.warns(UserWarning, match=r"does not stay in this state, in state 2, it accelerates by up to 3 m"):
        control.lqr(batch, Q, R)
    batch.acceleration[2] = 0.0
    batch.B[1] = 0.0
    raises("not stabilizable: .*, in state 1$", batch, Q, R)

    still = [np.tile(x, (3, 1)) for x in (hover.q, hover.v, hover.tau)]
    for message, motion in (
        ("two or more numbers that increase", ([0.0, 0.0, 1.0], *still)),
        ("two or more", ([0.0], *(x[:1] for x in still))),
        (r"q has shape \(3, 9\), expected \(2, 9\)", ([0.0, 1.0], *still)),
        ("Trajectory or a tuple", ([0.0, 1.0], *still[:2])),
        ("Trajectory or a tuple", 3),
    ):
        with pytest.raises(ValueError, match=message):
            control.tvlqr(robot, motion, Q, R, Q, actuated=ROTORS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Q_final has shape"):
        control.tvlqr(robot, ([0.0, 1.0, 2.0], *still), Q, R, Q[:3], actuated=ROTORS)
    with pytest.raises(ValueError, match="A has shape"):
        control.riccati([0.0, 1.0], np.ones((2, 3, 2)), np.ones((2, 3, 1)), [1, 1, 1], [1], [1, 1, 1])


def test_a_state_in_which_the_robot_does_not_stay() -> None:
    robot = jn.robots.panda()
    still, weights = np.zeros(7), (np.ones(14), np.ones(7))
    with pytest.warns(UserWarning, match=r"^the robot does not stay in this state, it accelerates by up to 5\d"):
        control.lqr(robot.linearize(robot.neutral(), still, still), *weights)
    control.lqr(robot.linearize(robot.neutral(), still, robot.gravity_force(robot.neutral())), *weights)


def test_matrices_that_are_not_one_for_each_time() -> None:
    A, B, one = np.zeros((3, 2, 2)), np.ones((3, 2, 1)), np.eye(1)
    for key, given in (("A", (A[0], B)), ("B", (A, B[0]))):
        with pytest.raises(
            ValueError, match=rf"^{key} has shape \(2, \d\), expected 3 matrices, one for each of the ti"
        ):
            control.riccati([0.0, 1.0, 2.0], *given, np.eye(2), one, np.eye(2))
