"""The implicit method: closed forms, the other methods, order, energy and momentum; stiffness costs nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from jounce import soft
from jounce.simulation import implicit
from jounce.simulation.stepping import Tolerance

Array = NDArray[np.float64]
TURNED = np.array([[0.0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])  # a rod's z along the parent's x


def arm(young: float, damping: float = 0.01, count: int = 2) -> jn.Model:
    """A hanging chain of rods."""
    b, parent, placement = jn.Builder(), "world", np.diag([1.0, -1.0, -1.0, 1.0])
    rod = soft.Rod(0.2, 0.02, 1e3, young, damping=damping, strain=soft.constant_curvature(planar=True))
    for i in range(count):
        b.add(f"rod {i}", parent=parent, placement=placement, body=rod)
        parent, placement = f"rod {i}", np.eye(4)
    return b.build()


def bent(robot: jn.Model) -> Array:
    q = np.zeros(robot.nq)
    q[0] = 0.3
    return q


def counted(robot: jn.Model) -> tuple[jn.Model, dict[str, int]]:
    """The same robot, counting the states passed to inverse dynamics and the calls for its derivatives."""
    kind, count = type(robot), {"states": 0, "derivatives": 0}

    class Counting(kind):  # type: ignore[misc, valid-type]
        def inverse_dynamics(self, q: Array, *motion: Array, **options: object) -> Array:
            count["states"] += 1 if np.ndim(q) == 1 else len(q)
            return super().inverse_dynamics(q, *motion, **options)

        def inverse_dynamics_derivatives(self, *state: Array, **options: object) -> tuple[Array, ...]:
            count["derivatives"] += 1
            return super().inverse_dynamics_derivatives(*state, **options)

    return Counting(robot.bodies, robot.gravity), count


# Coefficients


def test_radau_of_three_stages() -> None:
    """The table in Hairer and Wanner, Solving Ordinary Differential Equations II, table IV.5.6."""
    s = math.sqrt(6)
    table = implicit._Tableau(3)
    np.testing.assert_allclose(table.nodes, [(4 - s) / 10, (4 + s) / 10, 1], rtol=1e-14)
    expected = [
        [(88 - 7 * s) / 360, (296 - 169 * s) / 1800, (-2 + 3 * s) / 225],
        [(296 + 169 * s) / 1800, (88 + 7 * s) / 360, (-2 - 3 * s) / 225],
        [(16 - s) / 36, (16 + s) / 36, 1 / 9],
    ]
    np.testing.assert_allclose(table.weights, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(1 / table.real, 3 + 3 ** (2 / 3) - 3 ** (1 / 3), rtol=1e-12)


def test_error_is_filtered() -> None:
    """(1 - h l J) x = y, with J of the linear system."""
    rng = np.random.default_rng(2)
    M, D, K = np.eye(3) + 0.1 * rng.normal(size=(3, 3)), *rng.normal(size=(2, 3, 3))
    u, v = rng.normal(size=(2, 3))
    inverse, h = np.linalg.inv(M), 0.3
    J = np.block([[np.zeros((3, 3)), np.eye(3)], [-inverse @ K, -inverse @ D]])
    exact = np.linalg.solve(np.eye(6) - h * implicit._radau().real * J, np.concatenate([u, v]))
    np.testing.assert_allclose(np.concatenate(implicit._Matrices(M, D, K).filtered(h, u, v)), exact, rtol=1e-12)


# Against closed forms and other methods


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_agrees_with_taylor_on_a_floating_base(tolerance: float) -> None:
    robot, rng = jn.robots.aerial_manipulator(), np.random.default_rng(0)
    q, v, times = robot.random_configuration(rng), rng.normal(size=robot.nv), np.linspace(0, 2, 9)
    exact = jn.simulate(robot, q, v, times, rtol=1e-13, atol=1e-13)
    found = jn.simulate(robot, q, v, times, method="implicit", rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(robot.difference(exact.q, found.q), 0, atol=30 * tolerance)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=30 * tolerance)
    np.testing.assert_allclose(found.a, exact.a, rtol=0, atol=3000 * tolerance)
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:7], axis=1), 1.0, rtol=0, atol=1e-15)


def test_agrees_with_taylor_on_a_soft_arm() -> None:
    robot, times = arm(3e4), np.linspace(0, 0.3, 7)
    q, rest = bent(robot), np.zeros(robot.nv)
    tau = 0.01 * np.arange(robot.nv)
    exact = jn.simulate(robot, q, rest, times, tau)
    found = jn.simulate(robot, q, rest, times, tau, method="implicit")
    np.testing.assert_allclose(found.q, exact.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.v, exact.v, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.tau, exact.tau, rtol=0, atol=0)


@pytest.mark.parametrize("joint", [jn.Free(), jn.Spherical()], ids=repr)
def test_a_steady_spin(joint: jn.Joint) -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("ball", "world", joint, inertia=jn.Inertia(1.0, rotational=(0.2, 0.2, 0.2)))
    robot = b.build()
    spin = np.concatenate([np.zeros(robot.nv - 3), [3.0, -2.0, 1.0]])
    motion = jn.simulate(robot, robot.neutral(), spin, [0, 20], method="implicit")
    exact = robot.integrate(robot.neutral(), 20 * spin)
    np.testing.assert_allclose(robot.difference(exact, motion.q[-1]), 0, atol=1e-7)
    np.testing.assert_allclose(motion.v[-1], spin, rtol=0, atol=1e-12)


def test_order_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed steps, for a tumbling top; the interpolating polynomial has order 5, with a leading error of h^6."""
    monkeypatch.setattr(implicit, "_ITERATIONS", 40)  # for long steps, to full convergence
    b = jn.Builder(gravity=(0, 0.5, -2))
    b.add("top", "world", jn.Free(), inertia=jn.Inertia(2.0, rotational=(0.3, 0.4, 0.5)))
    robot, none = b.build(), np.zeros(6)
    q, v = np.array([0.4, -0.3, 0.2, 0.5, -0.5, 0.1, 0.7]), np.array([0.3, -0.2, 0.5, 0.7, 0.4, 1.3])
    exact = jn.simulate(robot, q, v, [0, 7.7, 7.85, 8], rtol=1e-15, atol=1e-15)
    method = implicit.Method(robot, lambda t, q, v: none, Tolerance(0.0, 1e-11))
    errors = []
    for count, middle in ((16, exact.v[1]), (32, exact.v[2])):
        now = implicit.State(0.0, q, v, robot.forward_dynamics(q, v, none))
        for i in range(count):
            step = method.step(now, 8 / count, method.matrices(now), np.repeat(now.a[None], implicit.STAGES, axis=0))
            assert step is not None
            now = step.end((i + 1) * 8 / count)
        end = np.concatenate([robot.difference(exact.q[3], now.q), now.v - exact.v[3]])
        errors.append([np.abs(end).max(), np.abs(step.at(np.array([0.4]))[1][0] - middle).max()])
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert 8.7 < orders[0] < 9.5
    assert 5.5 < orders[1] < 6.5


def test_output_times_are_on_the_way() -> None:
    robot = arm(1e6)
    q, rest = bent(robot), np.zeros(robot.nv)
    few = jn.simulate(robot, q, rest, [0, 0.1, 0.5], method="implicit", rtol=1e-6, atol=1e-7)
    many = jn.simulate(robot, q, rest, np.linspace(0, 0.5, 501), method="implicit", rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(few.q[1:], many.q[[100, 500]], rtol=0, atol=1e-15)
    exact = jn.simulate(robot, q, rest, many.time, method="implicit", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(many.q, exact.q, rtol=0, atol=1e-6)
    np.testing.assert_allclose(many.v, exact.v, rtol=0, atol=1e-5)


# Stiffness


@pytest.mark.parametrize(("young", "saved"), [(1e6, 2), (1e7, 20), (1e8, 200), (1e9, 2000)])
def test_stiff_rods_take_few_steps(young: float, saved: float) -> None:
    """The same number for any stiffness, while Dormand-Prince's six stages are stable for steps up to 3.3 / rate."""
    robot, count = counted(arm(young))
    q, rest = bent(robot), np.zeros(robot.nv)
    da_dq, da_dv, _ = robot.forward_dynamics_derivatives(0 * q, rest, rest)
    one = np.eye(robot.nv)
    fastest = np.abs(np.linalg.eigvals(np.block([[0 * one, one], [da_dq, da_dv]]))).max()
    count.update(states=0, derivatives=0)
    jn.simulate(robot, q, rest, [0, 0.5], method="implicit", rtol=1e-6, atol=1e-7)
    assert count["states"] < min(1000, 6 * 0.5 * fastest / 3.3 / saved)
    assert count["derivatives"] < 5


def test_stiff_rods_come_to_rest_in_equilibrium() -> None:
    robot = arm(1e6, damping=0.05)
    tau = np.array([0.3, 1.0, -0.2, 0.5])
    end = jn.simulate(robot, bent(robot), np.zeros(robot.nv), [0, 20], tau, method="implicit")[-1]
    rest = robot.equilibrium(tau=tau)
    assert rest.stable
    np.testing.assert_allclose(end.q, rest.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(end.v, 0, atol=1e-8)


def test_stiff_rods_tend_to_the_rigid_body() -> None:
    """A pendulum: its angle differs from that of a rigid body by the rod's bending, as 1 / young."""
    rod = soft.Rod(0.5, 0.02, 1e3, 1e8, strain=soft.constant_curvature(planar=True))
    inertia = rod.mass * (0.5**2 / 12 + 0.02**2 / 4)
    b = jn.Builder()
    solid = jn.Inertia(rod.mass, com=(0.25, 0, 0), rotational=(rod.mass * 0.02**2 / 2, inertia, inertia))
    b.add("hinge", "world", jn.Revolute((0, 1, 0)), inertia=solid)
    exact = jn.simulate(b.build(), [0.0], [0.0], [0, 0.7])[-1]
    errors = []
    for young in (1e9, 1e10):
        b = jn.Builder()
        b.add("hinge", "world", jn.Revolute((0, 1, 0)))
        rod = soft.Rod(0.5, 0.02, 1e3, young, damping=1e-3, strain=soft.constant_curvature(planar=True))
        b.add("rod", "hinge", placement=TURNED, body=rod)
        robot = b.build(allow_massless=True)
        end = jn.simulate(robot, np.zeros(3), np.zeros(3), [0, 0.7], method="implicit")[-1]
        errors.append(abs(end.q[0] - exact.q[0]) + abs(end.v[0] - exact.v[0]))
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.1)


# Balances


def gauss_times(end: float, panels: int, nodes: int) -> tuple[Array, Array]:
    """Times from 0 to `end`, inclusive, and quadrature weights."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    width = end / panels
    inner = (np.arange(panels)[:, None] + (x + 1) / 2) * width
    return np.concatenate([[0.0], inner.ravel(), [end]]), np.concatenate([[0.0], np.tile(w * width / 2, panels), [0.0]])


def test_energy_balance() -> None:
    """Kinetic and potential energy change by the work of the torque less dissipation."""
    robot = arm(1e6, damping=0.001)
    rate, size = np.array([9.0, 11.0, 7.0, 5.0]), np.array([0.3, 2.0, 0.2, 1.0])

    def torque(t: float, q: Array, v: Array) -> Array:
        return size * np.sin(rate * t)

    times, weights = gauss_times(0.5, 200, 6)
    run = jn.simulate(robot, bent(robot), np.zeros(robot.nv), times, torque, method="implicit")
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    work = weights @ (run.tau * run.v).sum(axis=1)
    lost = weights @ (robot.damping_force(run.q, run.v) * run.v).sum(axis=1)
    assert lost > 1e-3
    assert abs(work) > 1e-3
    assert energy[-1] - energy[0] == pytest.approx(work - lost, abs=1e-9 * lost)


def test_momentum_of_a_floating_base_with_a_tail() -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(0.5, rotational=(2e-3, 3e-3, 4e-3)))
    tail = soft.Rod(0.3, 0.01, 1e3, 1e6, damping=0.02, strain=soft.constant_curvature())
    b.add("tail", "base", body=tail)
    robot, rng = b.build(), np.random.default_rng(0)
    v = rng.normal(size=robot.nv)
    v[6:] = 1.0, -2.0, 0.0
    run = jn.simulate(robot, robot.neutral(), v, np.linspace(0, 2, 21), method="implicit")
    momentum = robot.centroidal_momentum(run.q, run.v)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(21, axis=0), rtol=0, atol=1e-9)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    assert (np.diff(energy) < 1e-12).all()
    assert energy[-1] < 0.999 * energy[0]


# Torques that are functions


@pytest.mark.parametrize(("stiffness", "damping", "off"), [(1e5, 1e5, 0.001), (1e8, 2e4, 0.0)])
def test_stiff_feedback(stiffness: float, damping: float, off: float) -> None:
    """Derivatives by differences allow long steps although the controller is fast; the motion is known."""
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("arm", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    robot, count = counted(b.build())

    def torque(t: float, q: Array, v: Array) -> Array:  # the error decays as exp(-t) or faster
        return stiffness * (np.sin(t) - q) + damping * (np.cos(t) - v) - np.sin(t)

    run = jn.simulate(robot, [off], [1.0 - off], np.linspace(0, 10, 11), torque, method="implicit")
    np.testing.assert_allclose(run.q[:, 0] - np.sin(run.time), off * np.exp(-run.time), rtol=0, atol=2e-8)
    assert count["states"] < 5000


def test_torque_with_derivatives_is_taken_too() -> None:
    robot = arm(1e5)
    rest = np.zeros(robot.nv)

    def stack(t: float, q: Array, v: Array) -> Array:
        return np.array([np.sin(t), np.cos(t)])[:, None] * np.array([0.1, 0.2, 0.0, 0.0])

    once, again = (
        jn.simulate(robot, rest, rest, [0, 0.2], each, method="implicit") for each in (stack, lambda *s: stack(*s)[0])
    )
    assert (once.q == again.q).all()


def test_what_cannot_go_on_says_so() -> None:
    b = jn.Builder(gravity=(0, 0, 0))
    b.add("arm", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    robot = b.build()
    with pytest.raises(RuntimeError, match=r"simulation stopped at t = (0\.99\d*|1) s: .* with steps as short as"):
        jn.simulate(robot, [0.0], [1.0], [0, 2], lambda t, q, v: v * v, method="implicit")  # v = 1 / (1 - t)
    with pytest.raises(ValueError, match="only for method 'taylor'"):
        jn.simulate(robot, [0.0], [1.0], [0, 2], method="implicit", order=3)
    with pytest.raises(ValueError, match="method is 'euler', expected 'taylor' or 'rkmk' or 'implicit'"):
        jn.simulate(robot, [0.0], [1.0], [0, 2], method="euler")
