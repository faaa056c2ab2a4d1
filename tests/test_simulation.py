"""Simulation: closed forms, a reference in 50 digits, conserved energy, saved results and bad input."""

from __future__ import annotations

import csv
import io
import math
import os
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

import jounce as jn
from build import jounce_model
from jounce import robots, trajectory
from jounce.simulation import rkmk
from jounce.simulation import simulate as simulation
from jounce.simulation.simulate import simulate
from jounce.trajectory import Trajectory
from trees import TreeSpec, random_tree

Array = NDArray[np.float64]
METHODS = ("taylor", "rkmk")
# A free symmetric top: closed form


def top() -> jn.Model:
    builder = jn.Builder(gravity=(0.0, 0.5, -2.0))
    builder.add("top", "world", jn.Free(), inertia=jn.Inertia(2.0, rotational=(0.3, 0.3, 0.5)))
    return builder.build()


TOP_V0 = np.array([0.3, -0.2, 0.5, 0.7, 0.4, 1.3])
TOP_Q0 = np.array([0.4, -0.3, 0.2, 0.5, -0.5, 0.1, 0.7])  # 0.25 + 0.25 + 0.01 + 0.49 = 1


def turn(vector: Array) -> Array:
    """exp of a rotation vector, by Rodrigues' formula."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def flying_top(robot: jn.Model, t: float) -> tuple[Array, Array]:
    """Pose (4, 4) and twist (6,): A w' = L x w turns w about the symmetry axis, and L stays, so

    R(t) = exp(t L / A) R(0) exp(-t lam e_z), lam = (C - A) / A w_z; the centre falls.
    """
    start = robot.forward_kinematics(TOP_Q0).pose[0]
    R0, x0, v0, w0, g = start[:3, :3], start[:3, 3], TOP_V0[:3], TOP_V0[3:], robot.gravity
    A, C = 0.3, 0.5
    lam = (C - A) / A * w0[2]
    pose = np.eye(4)
    if t > 0:
        pose[:3, :3] = turn(t * R0 @ (w0 * (A, A, C)) / A) @ R0 @ turn(np.array([0, 0, -lam * t]))
    else:
        pose[:3, :3] = R0
    pose[:3, 3] = x0 + t * R0 @ v0 + t * t / 2 * g
    w = np.array([[np.cos(lam * t), -np.sin(lam * t), 0], [np.sin(lam * t), np.cos(lam * t), 0], [0, 0, 1]]) @ w0
    return pose, np.concatenate([pose[:3, :3].T @ (R0 @ v0 + t * g), w])


def top_error(motion: Trajectory) -> float:
    robot, worst = top(), 0.0
    for t, q, v in motion:
        pose, twist = flying_top(robot, t)
        worst = max(worst, np.abs(robot.forward_kinematics(q).pose[0] - pose).max(), np.abs(v - twist).max())
    return worst


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_flying_top(method: str, tolerance: float) -> None:
    motion = simulate(top(), TOP_Q0, TOP_V0, np.linspace(0, 5, 41), method=method, rtol=tolerance, atol=tolerance)
    assert top_error(motion) < 60 * tolerance
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 3:], axis=1), 1.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("joint", [jn.Free(), jn.Spherical()], ids=repr)
def test_a_steady_spin(method: str, joint: jn.Joint) -> None:
    """The velocity is constant, so only the orientation itself limits the step."""
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("ball", "world", joint, inertia=jn.Inertia(1.0, rotational=(0.2, 0.2, 0.2)))
    robot = builder.build()
    spin = np.concatenate([np.zeros(robot.nv - 3), [3.0, -2.0, 1.0]])
    motion = simulate(robot, robot.neutral(), spin, [0, 20], method=method)
    exact = robot.integrate(robot.neutral(), 20 * spin)
    np.testing.assert_allclose(robot.difference(exact, motion.q[-1]), 0, atol=1e-7)
    np.testing.assert_allclose(motion.v[-1], spin, rtol=0, atol=1e-12)


def order_of(errors: list[float]) -> float:
    return math.log2(errors[0] / errors[1])


@pytest.mark.parametrize("order", [1, 2, 3, 5, 8])
def test_taylor_converges_with_its_order(order: int) -> None:
    errors = []
    for count in (16, 32):
        robot, q, v = top(), TOP_Q0, TOP_V0
        for start in np.arange(count):  # tolerances that always hold: one step to each end
            times = np.array([start, start + 1]) * (2.0 / count)
            _, q, v = simulate(robot, q, v, times, rtol=0, atol=1e9, order=order)[-1]
        pose, twist = flying_top(robot, 2.0)
        errors.append(max(np.abs(robot.forward_kinematics(q).pose[0] - pose).max(), np.abs(v - twist).max()))
    assert order + 0.7 < order_of(errors) < order + 1.6


def test_rkmk_converges_with_order_five() -> None:
    errors = []
    for count in (40, 80):  # tolerances that always hold: one step to each output time, except for the first few
        motion = simulate(top(), TOP_Q0, TOP_V0, np.linspace(0, 2, count + 1), method="rkmk", rtol=0, atol=1e9)
        errors.append(top_error(motion))
    assert 4.7 < order_of(errors) < 5.6


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.5, 1.5, 3.0])
def test_rate_in_the_lie_algebra(angle: float) -> None:
    """inverse_dexp against the slope of log(exp(u) exp(t V)), for a ball joint and a free one."""
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("ball", "base", jn.Spherical(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    robot, rng = builder.build(), np.random.default_rng(4)
    u, v = rng.normal(size=(2, robot.nv))
    for part in (slice(3, 6), slice(6, 9)):
        u[part] *= angle / np.linalg.norm(u[part])
    at, h = robot.integrate(robot.neutral(), u), 1e-2
    nodes, weights = np.arange(-4, 5), np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
    slope = weights @ robot.difference(robot.neutral(), robot.integrate(at, h * nodes[:, None] * v)) / h
    balls = np.stack([u[:6], [0, 0, 0, *u[6:]]]), np.stack([v[:6], [0, 0, 0, *v[6:]]])
    found = rkmk.inverse_dexp(*balls)
    np.testing.assert_allclose(np.concatenate([found[0], found[1, 3:]]), slope, rtol=0, atol=1e-11)


# A double pendulum: textbook equations, in 50 digits

PENDULUM = {"g": 9.8125, "m1": 1.0, "m2": 0.5, "l1": 1.0, "l2": 0.75}  # all exact in binary
PENDULUM_START = [2.0, 1.0, 0.5, -0.25]  # angles from the vertical, and their rates
PENDULUM_AFTER_2_S = (  # by pendulum_reference(2)
    "-0.4546817228080867729573217",
    "-6.945349358999860207267045",
    "6.227743400548644313105727",
    "-10.24133364065660505169276",
)


def pendulum_rates(y: list[mp.mpf]) -> list[mp.mpf]:
    """Two point masses on massless rods, angles from the vertical."""
    a, b, da, db = y
    g, m1, m2, l1, l2 = (mp.mpf(PENDULUM[key]) for key in ("g", "m1", "m2", "l1", "l2"))
    s, c, low = mp.sin(a - b), mp.cos(a - b), 2 * m1 + m2 - m2 * mp.cos(2 * a - 2 * b)
    pull = g * (2 * m1 + m2) * mp.sin(a) + m2 * g * mp.sin(a - 2 * b)
    dda = -(pull + 2 * s * m2 * (db**2 * l2 + da**2 * l1 * c)) / (l1 * low)
    ddb = 2 * s * (da**2 * l1 * (m1 + m2) + g * (m1 + m2) * mp.cos(a) + db**2 * l2 * m2 * c) / (l2 * low)
    return [da, db, dda, ddb]


def pendulum_reference(t: float, digits: int = 50) -> list[str]:
    """Computed PENDULUM_AFTER_2_S; takes a quarter of an hour."""
    with mp.workdps(digits):
        solution = mp.odefun(lambda _, y: pendulum_rates(y), 0, [mp.mpf(each) for each in PENDULUM_START])
        return [mp.nstr(each, 25) for each in solution(t)]


def double_pendulum() -> jn.Model:
    p = PENDULUM
    builder = jn.Builder(gravity=(0, 0, -p["g"]))
    builder.add("one", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(p["m1"], com=(0, 0, -p["l1"])))
    knee = np.eye(4)
    knee[2, 3] = -p["l1"]
    builder.add("two", "one", jn.Revolute((0, 1, 0)), knee, jn.Inertia(p["m2"], com=(0, 0, -p["l2"])))
    return builder.build()


@pytest.mark.parametrize(("method", "tolerance", "bound"), [("taylor", 1e-14, 2e-12), ("rkmk", 1e-11, 2e-8)])
def test_double_pendulum(method: str, tolerance: float, bound: float) -> None:
    a, b, da, db = PENDULUM_START
    motion = simulate(
        double_pendulum(), [a, b - a], [da, db - da], [0, 1.1, 2], method=method, rtol=tolerance, atol=tolerance
    )
    found = np.concatenate([np.cumsum(motion.q[-1]), np.cumsum(motion.v[-1])])
    np.testing.assert_allclose(found, [float(each) for each in PENDULUM_AFTER_2_S], rtol=0, atol=bound)


# Trees: energy, and one method against the other


def energy(tree_gravity: Array, robot: jn.Model, q: Array, v: Array) -> float:
    """Kinetic from the columns of M, potential from the positions of the masses."""
    still, nv = np.zeros(robot.nv), robot.nv
    M = robot.inverse_dynamics(q, still, np.eye(nv)) - robot.inverse_dynamics(q, still, still)
    bodies = [b for b in robot.bodies if b.name in robot.body_names]
    pose = robot.forward_kinematics(q).pose
    height = sum(b.inertia.mass * (p[:3, :3] @ b.inertia.com + p[:3, 3]) for b, p in zip(bodies, pose, strict=True))
    return float(v @ M @ v / 2 - height @ tree_gravity)


def test_energy_of_the_aerial_manipulator() -> None:
    """It tumbles for ten seconds, arms swinging: without gravity, and falling, relative to the energy exchanged."""
    flying, rng = jn.robots.aerial_manipulator(), np.random.default_rng(5)
    q, v = flying.random_configuration(rng), 0.3 * rng.normal(size=flying.nv)
    for robot in (jn.Model(flying.bodies, np.zeros(3)), flying):
        motion = simulate(robot, q, v, np.linspace(0, 10, 21), order=12, rtol=1e-14, atol=1e-14)
        energies = np.array([energy(robot.gravity, robot, q, v) for _, q, v in motion])
        kinetic = energy(np.zeros(3), robot, motion.q[-1], motion.v[-1])
        assert np.abs(energies - energies[0]).max() < 1e-12 * kinetic


def test_energy_without_gravity() -> None:
    """A free tree with every joint type and no forces: kinetic energy is constant to 1e-12 for ten seconds."""
    rng = np.random.default_rng(6)
    joints = ("revolute", "spherical", "universal", "helical", "cylindrical", "planar")
    tree = replace(random_tree(rng, 7, floating=True, joints=joints), gravity=np.zeros(3))
    robot = jounce_model(tree)
    q, v = robot.random_configuration(rng), 0.1 * rng.normal(size=robot.nv)
    motion = simulate(robot, q, v, np.linspace(0, 10, 21), order=12, rtol=1e-14, atol=1e-14)
    energies = np.array([energy(tree.gravity, robot, q, v) for _, q, v in motion])
    np.testing.assert_allclose(energies, energies[0], rtol=1e-12)


def passive_tree(seed: int) -> tuple[TreeSpec, jn.Model]:
    tree = random_tree(np.random.default_rng(seed), 10, passive=True)
    return tree, jounce_model(tree)


@pytest.mark.parametrize("seed", range(3))
def test_methods_agree(seed: int) -> None:
    """Every joint type, with armature, damping and springs, and constant torques."""
    _, robot = passive_tree(seed)
    rng = np.random.default_rng(seed)
    q, v, tau = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    times = np.linspace(1.0, 1.4, 5)
    one = simulate(robot, q, v, times, tau, rtol=1e-12, atol=1e-12)
    two = simulate(robot, q, v, times, tau, method="rkmk", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(robot.difference(one.q, two.q), 0, atol=5e-9)
    np.testing.assert_allclose(one.v, two.v, rtol=0, atol=5e-8)
    for motion in (one, two):
        np.testing.assert_allclose(motion.tau, np.broadcast_to(tau, (5, robot.nv)), rtol=0)
        forces = robot.inverse_dynamics(motion.q, motion.v, motion.a)
        np.testing.assert_allclose(forces, motion.tau, rtol=0, atol=1e-9)


def test_outputs_do_not_change_the_motion() -> None:
    robot, rng = jn.robots.aerial_manipulator(), np.random.default_rng(8)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    sparse = simulate(robot, q, v, [0, 1])
    dense = simulate(robot, q, v, np.linspace(0, 1, 401))
    np.testing.assert_allclose(sparse.q[-1], dense.q[-1], rtol=0, atol=1e-12)  # the same steps, polynomials between
    half = simulate(robot, q, v, [0, dense.time[200]], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(robot.difference(half.q[-1], dense.q[200]), 0, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_robot_that_cannot_move_and_a_single_time(method: str) -> None:
    builder = jn.Builder()
    builder.add("block", "world", jn.Fixed(), inertia=jn.Inertia(1.0))
    assert simulate(builder.build(), [], [], [0, 1, 2], method=method).q.shape == (3, 0)
    only = simulate(top(), TOP_Q0, TOP_V0, [3.0], method=method)
    np.testing.assert_array_equal(only.v, TOP_V0[None])
    np.testing.assert_allclose(only.q, TOP_Q0[None], rtol=1e-15)


# Torques that are functions


def slider(mass: float = 2.0) -> jn.Model:
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(mass))
    return builder.build()


@pytest.mark.parametrize("method", METHODS)
def test_inverse_dynamics_backwards(method: str) -> None:
    """The forces of the demo's flight, as functions of time alone, reproduce it."""
    robot = jn.robots.aerial_manipulator()

    def motion(t: float, rows: int) -> tuple[Array, Array]:
        q, mixed = robots.reference_motion(np.array([t]), rows)
        return q[0], robot.change_velocity_frame(q[0], mixed[0], "mixed", "body")

    def forces(t: float, q: Array, v: Array) -> Array:
        q[:] = v[:] = np.nan  # the function gets its own copies
        return robot.inverse_dynamics(*motion(t, 12))

    times = np.linspace(0, 2, 5)
    q0, stack = motion(0.0, 1)
    flown = simulate(robot, q0, stack[0], times, forces, method=method, rtol=1e-11, atol=1e-11)
    for i, t in enumerate(times):
        q, stack = motion(t, 2)
        np.testing.assert_allclose(robot.difference(q, flown.q[i]), 0, atol=2e-9)
        np.testing.assert_allclose(flown.v[i], stack[0], rtol=0, atol=2e-9)
        np.testing.assert_allclose(flown.a[i], stack[1], rtol=0, atol=2e-8)


def test_feedback() -> None:
    """A spring and damper in a function: the closed form of the damped oscillator."""
    m, c, k = 2.0, 0.8, 20.0
    times = np.linspace(0, 3, 10)
    motion = simulate(slider(m), [0.5], [0.0], times, lambda t, q, v: -k * q - c * v, method="rkmk", rtol=1e-10)
    decay, rate = c / (2 * m), math.sqrt(k / m - (c / (2 * m)) ** 2)
    exact = 0.5 * np.exp(-decay * times) * (np.cos(rate * times) + decay / rate * np.sin(rate * times))
    np.testing.assert_allclose(motion.q[:, 0], exact, rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion.tau, -k * motion.q - c * motion.v, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_a_pulse_is_not_missed(method: str) -> None:
    """4 N for a second: nothing announces it, but the output times are close enough."""

    def pulse(t: float, q: Array, v: Array) -> Array:
        return np.array([[4.0 if 1 <= t < 2 else 0.0], [0.0], [0.0]])

    motion = simulate(slider(), [0.0], [0.0], np.linspace(0, 4, 9), pulse, method=method)
    np.testing.assert_allclose(motion.v[-1], 2.0, rtol=1e-7)
    np.testing.assert_allclose(motion.q[-1], 1.0 + 2 * 2.0, rtol=1e-7)
    np.testing.assert_array_equal(motion.tau[:, 0], [0, 0, 4, 4, 0, 0, 0, 0, 0])


# Failures


def blow_up(t: float, q: Array, v: Array) -> Array:
    """m v' = v^3 diverges after a second from v = 1, m = 2; with two derivatives."""
    a = v**3 / 2
    return np.stack([v**3, 3 * v**2 * a, 6 * v * a**2 + 3 * v**2 * (3 * v**2 * a / 2)])


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_ends_is_an_error(method: str) -> None:
    with pytest.raises(RuntimeError, match=r"simulation stopped at t = (0\.9999|1\.0000)\d* s: "):
        simulate(slider(), [0.0], [1.0], [0, 2], blow_up, method=method, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_torque_that_is_not_finite_is_an_error(method: str) -> None:
    with pytest.raises(RuntimeError, match=r"at t = \S+ s: tau\(t, q, v\) is not finite, \[\[nan\]"):
        simulate(slider(), [0.0], [1.0], [0, 2], lambda t, q, v: [[np.nan], [0.0]], method=method)


BAD = [
    ({"q0": [0.0, 1.0]}, r"q0 has shape \(2,\), expected \(1,\)"),
    ({"v0": [[0.0]]}, r"v0 has shape \(1, 1\), expected \(1,\)"),
    ({"v0": [np.nan]}, r"v0 is \[nan\], expected finite numbers"),
    ({"times": 3.0}, r"times has shape \(\), expected \(T,\): output times that increase, such as \[0, 1\]"),
    ({"times": [[0.0, 1.0]]}, r"times has shape \(1, 2\), expected \(T,\)"),
    ({"times": []}, "times must be one or more numbers that increase"),
    ({"times": [0.0, 2.0, 2.0]}, "times must be one or more numbers that increase"),
    ({"times": "soon"}, "times must be an array of real numbers"),
    ({"tau": [1.0, 2.0]}, r"tau has shape \(2,\), expected \(1,\)"),
    ({"tau": lambda t, q, v: [1.0]}, r"returned shape \(1,\), without derivatives: .*or use method 'rkmk'"),
    ({"tau": lambda t, q, v: [[1.0]]}, r"returned shape \(1, 1\), without derivatives"),
    ({"tau": lambda t, q, v: np.ones((3, 2))}, r"shape \(3, 2\), expected \(1,\) or \(r \+ 1, 1\)"),
    ({"tau": lambda t, q, v: 1.0, "method": "rkmk"}, r"shape \(\), expected \(1,\)"),
    ({"tau": lambda t, q, v: None, "method": "rkmk"}, r"returned object of shape \(\)"),
    ({"tau": lambda t, q, v: [1j], "method": "rkmk"}, "returned complex128"),
    ({"method": "euler"}, "method is 'euler', expected 'taylor' or 'rkmk'"),
    ({"rtol": -1.0}, "rtol and atol are -1.0 and"),
    ({"atol": 0.0}, "expected 0 <= rtol < 1 and atol > 0"),
    ({"method": ["taylor"]}, "expected 'taylor' or 'rkmk'"),
    ({"times": [0.0, [1.0]]}, "times must be an array of real numbers"),
    ({"tau": lambda t, q, v: [1.0, [2.0]]}, "returned object"),
    ({"atol": np.inf}, "atol is inf, expected finite"),
    ({"order": 0}, "order is 0, expected 1 to 30"),
    ({"order": 31}, "order is 31, expected 1 to 30"),
    ({"order": 2.5}, "order is 2.5, expected 1 to 30"),
    ({"order": 5, "method": "rkmk"}, "only for method 'taylor'"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD, ids=[m for _, m in BAD])
def test_bad_arguments(wrong: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"q0": [0.0], "v0": [0.0], "times": [0.0, 1.0]}
    with pytest.raises(ValueError, match=message):
        simulate(slider(), **(good | wrong))  # type: ignore[arg-type]


def test_quaternions_must_be_of_unit_length() -> None:
    with pytest.raises(ValueError, match="quaternion"):
        simulate(top(), [0, 0, 0, 1, 1, 0, 0], np.zeros(6), [0, 1])


# Trajectories


def sample_motion(robot: jn.Model, count: int = 6) -> Trajectory:
    rng = np.random.default_rng(9)
    q = robot.random_configuration(rng, count)
    return trajectory.of(robot, np.linspace(0, 1, count), q, *rng.normal(size=(3, count, robot.nv)))


def test_indexing_and_names() -> None:
    robot = jn.robots.aerial_manipulator()
    motion = sample_motion(robot)
    assert len(motion) == 6
    state = motion[-1]
    assert state.time == 1.0
    assert (state.q == motion.q[5]).all()
    assert (state.v == motion.v[5]).all()
    part = motion[1::2]
    assert len(part) == 3
    assert (part.a == motion.a[1::2]).all()
    assert part.q_names is motion.q_names
    assert motion.q_names[2:8] == ("base.z", "base.qx", "base.qy", "base.qz", "base.qw", "q2")
    assert motion.v_units[2:7] == ("m/s", "rad/s", "rad/s", "rad/s", "rad/s")
    assert len(list(motion)) == 6
    with pytest.raises(IndexError):
        motion[6]


def test_some_of_the_times() -> None:
    motion = sample_motion(jn.robots.panda())
    some = [0, 2, 5]
    mask = np.isin(np.arange(6), some)
    for index in (mask, mask.tolist(), some, np.array(some), np.array(some, dtype=np.uint8), [0, -4, -1]):
        part = motion[index]
        assert isinstance(part, Trajectory)
        assert (part.time == motion.time[some]).all()
        assert (part.tau == motion.tau[some]).all()
        assert part.v_names is motion.v_names
    assert (motion[range(3)].q == motion.q[:3]).all()
    assert len(motion[[]]) == len(motion[np.zeros(6, dtype=bool)]) == 0
    assert motion[np.int64(2)].time == motion.time[2]
    assert [state.time for state in motion] == motion.time.tolist()
    assert isinstance(motion, Iterable)


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        ([True, False], IndexError, r"array \(2,\) of bool, expected a mask \(6,\) or a list"),
        (np.ones((2, 2), dtype=int), IndexError, r"array \(2, 2\) of int64"),
        ([0.0, 1.0], IndexError, r"array \(2,\) of float64"),
        ([0, 6], IndexError, "index 6 is out of range: the trajectory has 6 times"),
        ([-7], IndexError, "index -7 is out of range"),
        (["a"], IndexError, r"array \(1,\) of <U1"),
        ([[0], [1, 2]], TypeError, r"index is \[\[0\], \[1, 2\]\], expected an integer, a slice, a mask"),
        ("time", TypeError, "index is 'time', expected an integer, a slice, a mask or a list of indices"),
        ((0, 1), TypeError, r"index is \(0, 1\)"),
        (1.0, TypeError, "index is 1.0"),
        (None, TypeError, "index is None"),
    ],
)
def test_what_is_no_index(index: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sample_motion(jn.robots.panda())[index]


def test_names_of_every_joint() -> None:
    builder = jn.Builder()
    for joint in (jn.Cylindrical(), jn.Planar(), jn.Universal(), jn.Helical(pitch=0.1), jn.Spherical()):
        name = type(joint).__name__
        builder.add(name, "world", joint, inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    motion = sample_motion(builder.build())
    assert motion.v_names[:3] == ("Cylindrical.0", "Cylindrical.1", "Planar.0")
    assert motion.v_names[7:] == ("Helical", "Spherical.wx", "Spherical.wy", "Spherical.wz")
    assert motion.q_units == ("m", "rad", "m", "m", "rad", "rad", "rad", "rad", "1", "1", "1", "1")


def test_save_and_load(tmp_path: Path) -> None:
    motion = sample_motion(jn.robots.aerial_manipulator())
    path = motion.save(tmp_path / "flight")
    assert path == tmp_path / "flight"
    again = Trajectory.load(str(path))
    for key in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, key), getattr(motion, key))
    assert (again.q_names, again.v_names) == (motion.q_names, motion.v_names)
    assert (again.q_units, again.v_units) == (motion.q_units, motion.v_units)
    Trajectory.load(motion[:0].save(path))
    fixed = Trajectory(np.arange(2.0), *np.zeros((4, 2, 0)), (), (), (), ())
    assert Trajectory.load(fixed.save(path)).v_names == ()


def test_a_table_has_every_digit(tmp_path: Path) -> None:
    """For the readers of other programs, too; names may have anything in them."""
    b = jn.Builder()
    for above, name, joint in (("world", 'a, "b" [c]', jn.Free()), ('a, "b" [c]', "é\nf\r [", jn.Prismatic((1, 0, 0)))):
        b.add(name, above, joint, inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    b.add("rod", "é\nf\r [", body=jn.soft.Rod(0.3, 0.01, 1000.0, 1e6, strain=np.eye(6)[:, [0, 4]]))
    robot, rng = b.build(), np.random.default_rng(0)
    rows = np.ldexp(rng.normal(size=(6, robot.nq)), rng.integers(-1070, 1000, (6, robot.nq)))
    rows[0, :3] = -0.0, 5e-324, -1.7976931348623157e308
    motion = Trajectory.of(
        robot, np.cumsum(rng.uniform(size=6)), rows, *rows[:, : robot.nv] / np.array([3, 7, 9])[:, None, None]
    )
    path = motion.save(tmp_path / "motion.CSV")
    again = Trajectory.load(path)
    for key in ("time", "q", "v", "a", "tau"):
        assert getattr(again, key).tobytes() == getattr(motion, key).tobytes()
    for key in ("q_names", "v_names", "q_units", "v_units"):
        assert getattr(again, key) == getattr(motion, key)
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header[:2] == ["time [s]", 'q a, "b" [c].x [m]']
    assert header[4] == 'q a, "b" [c].qx [1]'
    own = ["é\nf\r [ [m/s]", "rod.shear_x [1/s]", "rod.bend_y [1/(m s)]"]
    assert header[17:20] == [f"v {each}" for each in own]
    assert header[26:29] == ["a é\nf\r [ [m/s^2]", "a rod.shear_x [1/s^2]", "a rod.bend_y [1/(m s^2)]"]
    assert header[29:31] == ['tau a, "b" [c].vx [N]', 'tau a, "b" [c].vy [N]']
    assert header[35:] == ["tau é\nf\r [ [N]", "tau rod.shear_x [N m]", "tau rod.bend_y [N m^2]"]
    assert [float(x) for x in lines[2]] == [motion.time[2], *motion.q[2], *motion.v[2], *motion.a[2], *motion.tau[2]]


def test_tables_of_little(tmp_path: Path) -> None:
    motion = sample_motion(slider())
    assert len(Trajectory.load(motion[:0].save(tmp_path / "none.csv"))) == 0
    fixed = Trajectory(np.arange(2.0), *np.zeros((4, 2, 0)), (), (), (), ())
    assert Trajectory.load(fixed.save(tmp_path / "fixed.csv")).time.tolist() == [0.0, 1.0]
    path = motion.save(tmp_path / "marked.csv")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", b"\n"))  # as editors save it
    assert (Trajectory.load(path).q == motion.q).all()
    with pytest.raises(ValueError, match="v contains nan or inf"):
        replace(motion, v=motion.v * np.nan).save(tmp_path / "nan.csv")
    assert not (tmp_path / "nan.csv").exists()


def test_no_cell_of_a_table_is_a_formula(tmp_path: Path) -> None:
    """Whoever named the joints: programs for tables compute what begins with one of these signs."""
    for name in ("=1+1", "+1", "-1", "@a", "a =1", "a;b", "a; b=1", 'a"=1'):
        b = jn.Builder()
        b.add("body", "world", jn.Revolute(name=name), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
        motion = Trajectory.of(b.build(), np.arange(2.0), -np.ones((2, 1)))
        header, *_ = csv.reader(motion.save(tmp_path / "motion.csv").read_text().splitlines())
        assert not [cell for cell in header if cell[0] in "=+-@"]
        assert Trajectory.load(tmp_path / "motion.csv").q_names == (name,)
    for between in (";", "; ", "\t", "\n", "|", ';"', ";' \"", ";\uff1d", "; \uff0b", ";\uff0d", ";\uff20"):
        b = jn.Builder()
        b.add("body", "world", jn.Revolute(name=f"a{between}=1+1"), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
        motion = Trajectory.of(b.build(), np.arange(2.0), np.ones((2, 1)))
        with pytest.raises(
            ValueError, match=r"^a coordinate is named 'a.*=1\+1', where programs for tables may find a"
        ):
            motion.save(tmp_path / "formula.csv")
        assert not (tmp_path / "formula.csv").exists()
        assert Trajectory.load(motion.save(tmp_path / "formula.npz")).q_names == motion.q_names


BAD_TABLES = {
    "nothing": ("", r"its first line is '', expected 'time \[s\]'"),
    "an npz": (None, "."),
    "another": ("time,x\n0,1\n", r"its first line is 'time,x', expected 'time \[s\]'"),
    "a unit": ("time [s],q x [mm],v x [m/s],a x [m/s^2],tau x [N]\n0,1,2,3,4\n", "units are"),
    "a rate": ("time [s],q x [m],v x [furlong],a x [?],tau x [?]\n0,1,2,3,4\n", "units are"),
    "an order": ("time [s],v x [m/s],q x [m],a x [m/s^2],tau x [N]\n0,1,2,3,4\n", "its first line"),
    "a force": ("time [s],q x [m],v x [m/s],a x [m/s^2],tau x [N m]\n0,1,2,3,4\n", "its first line"),
    "short": ("time [s],q x [m],v x [m/s],a x [m/s^2],tau x [N]\n0,1,2,3,4\n1,2\n", "line 3 has 2 numbers, expected 5"),
    "a word": ("time [s],q x [m],v x [m/s],a x [m/s^2],tau x [N]\n0,1,2,3,four\n", "'four'"),
    "back": ("time [s],q x [m],v x [m/s],a x [m/s^2],tau x [N]\n1,1,2,3,4\n0,1,2,3,4\n", "time does not increase"),
    "endless": ("time [s],q x [m],v x [m/s],a x [m/s^2],tau x [N]\n0,1,2,3,inf\n", "tau contains nan or inf"),
    "a quote": ('time [s],"q x', "."),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(name: str, tmp_path: Path) -> None:
    content, message = BAD_TABLES[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(edited(lambda a: None) if content is None else content.encode())
    with pytest.raises(jn.LoadError, match=rf"bad\.csv holds no trajectory: .*{message}") as refused:
        Trajectory.load(path)
    assert len(str(refused.value)) < len(str(path)) + 400


def edited(change: Callable[[dict[str, object]], object]) -> bytes:
    motion = sample_motion(jn.robots.aerial_manipulator())
    arrays: dict[str, object] = {key: np.asarray(getattr(motion, key)) for key in motion.__dataclass_fields__}
    change(arrays)
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def poked(key: str, offset: int, value: int, which: bytes = b"PK\x01\x02") -> bytes:
    """One byte changed in the header of an entry: in the directory at the end of the file, or before the entry."""
    file = bytearray(edited(lambda a: None))
    at = file.index(key.encode(), file.index(which)) - {b"PK\x01\x02": 46, b"PK\x03\x04": 30}[which]
    file[at + offset] = value
    return bytes(file)


def with_header(key: str, **header: object) -> bytes:
    """An array with a false header."""
    own, file = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(own, {"descr": "<f8", "fortran_order": False, "shape": (6,)} | header)
    with zipfile.ZipFile(io.BytesIO(edited(lambda a: None))) as source, zipfile.ZipFile(file, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, own.getvalue() if name == f"{key}.npy" else source.read(name))
    return file.getvalue()


def twice() -> bytes:
    file = io.BytesIO(edited(lambda a: None))
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("time.npy", b"")
    return file.getvalue()


def compressed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("time.npy", bytes(100_000))
    return file.getvalue()


def huge() -> bytes:
    """time.npy claims to hold 2^60 numbers."""
    header, file = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**60,)})
    with zipfile.ZipFile(io.BytesIO(edited(lambda a: None))) as source, zipfile.ZipFile(file, "w") as archive:
        for name in source.namelist():
            archive.writestr(name, header.getvalue() if name == "time.npy" else source.read(name))
    return file.getvalue()


BAD_FILES = {
    "empty": b"",
    "text": b"time,q,v",
    "cut": edited(lambda a: None)[:-100],
    "damaged": edited(lambda a: None).replace(b"descr", b"dxscr"),
    "an array alone": (lambda f: (np.save(f, np.arange(3)), f.getvalue())[1])(io.BytesIO()),
    "compressed": compressed(),
    "huge": huge(),
    "key missing": edited(lambda a: a.pop("v")),
    "key added": edited(lambda a: a.update(x=np.arange(3))),
    "pickle": edited(lambda a: a.update(q_names=np.array([{}], dtype=object))),
    "shape": edited(lambda a: a.update(v=np.zeros((6, 11)))),
    "rank": edited(lambda a: a.update(time=np.zeros((2, 3)))),
    "type": edited(lambda a: a.update(v=np.zeros((6, 12), dtype=complex))),
    "names that are numbers": edited(lambda a: a.update(v_names=np.arange(12))),
    "names in a table": edited(lambda a: a.update(v_names=np.array([["a"] * 12]))),
    "units": edited(lambda a: a.update(v_units=np.array(["m"]))),
    "unknown unit": edited(lambda a: a.update(v_units=np.array(["furlong"] * 12))),
    "time": edited(lambda a: a.update(time=np.zeros(6))),
    "nan": edited(lambda a: a["v"].__setitem__((3, 4), np.nan)),
    "infinite": edited(lambda a: a["time"].__setitem__(5, np.inf)),
    "encrypted": poked("tau.npy", 8, 1),
    "begins before the file": poked("time.npy", 45, 255),
    "of a zip to come": poked("time.npy", 6, 255),
    "not there": poked("q.npy", 42, 7),
    "checksum": poked("q.npy", 16, 7),
    "two of a name": twice(),
    "a billion names without letters": with_header("v_names", descr="<U0", shape=(10**9,)),
    "more numbers than there are": with_header("time", shape=(7,)),
    "negative": with_header("time", shape=(-1,)),
    "objects": with_header("q_names", descr="|O", shape=(13,)),
    "an unknown type": with_header("time", descr="banana"),
    "a name of a thousand letters": poked("q_units.npy", 27, 3, b"PK\x03\x04"),
    "brackets": edited(lambda a: None).replace(b"'fortran_order': False", b"'fortran_order': ((((("),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(BAD_FILES[name])
    with pytest.raises(jn.LoadError, match=r"bad\.npz holds no trajectory: .") as refused:
        Trajectory.load(path)
    assert isinstance(refused.value, ValueError)
    assert len(str(refused.value)) < len(str(path)) + 400


class Mine:
    """Creates a folder when unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.folder),)


def test_loading_runs_no_code(tmp_path: Path) -> None:
    names = np.array([Mine(tmp_path / "run")], dtype=object)
    (tmp_path / "bad.npz").write_bytes(edited(lambda a: a.update(q_names=names)))
    with pytest.raises(ValueError, match="holds no trajectory"):
        Trajectory.load(tmp_path / "bad.npz")
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Trajectory.load(tmp_path / "none.npz")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(jn.LoadError, match="pipe holds no trajectory: it is a device or a pipe"):
            Trajectory.load(tmp_path / "pipe")


def test_what_is_no_motion_is_not_saved(tmp_path: Path) -> None:
    """Anything that `load` would refuse."""
    motion = sample_motion(slider())
    with pytest.raises(ValueError, match="time does not increase"):
        motion[::-1].save(tmp_path / "back.npz")
    with pytest.raises(ValueError, match="tau contains nan or inf, expected finite numbers"):
        replace(motion, tau=motion.tau * np.nan).save(tmp_path / "nan.npz")
    assert list(tmp_path.iterdir()) == []


def test_lists_are_arrays_and_names_are_texts() -> None:
    rows = [[0.0], [1.0]]
    motion = Trajectory([0.0, 1.0], rows, rows, rows, rows, ["x"], ["x"], ["m"], ["m/s"])  # type: ignore[arg-type]
    assert motion.q[:, 0].tolist() == [0.0, 1.0]
    assert motion.q_names == ("x",)
    for names in ("x", [3], [b"x"]):
        with pytest.raises(ValueError, match=r"^v_names is .*, expected a tuple of strings"):
            replace(motion, v_names=names)  # type: ignore[arg-type]


ODD_NAMES = ("$$", "_x", "$x^{", "a_b", "_nolegend_", "\\frac", "%s", "<b>&amp;", "[red]x", "two\nlines", "\x1b[31m")


def oddly_named() -> jn.Model:
    builder = jn.Builder()
    for name in ODD_NAMES:
        builder.add(name, "world", jn.Prismatic(), inertia=jn.Inertia(1.0))
    return builder.build()


def test_names_are_texts_in_plots(tmp_path: Path) -> None:
    """matplotlib reads $ as mathematics, and omits names that start with an underscore from legends."""
    figure = sample_motion(oddly_named()).plot(tmp_path / "motion.png")
    shown = [*ODD_NAMES[:-2], "two\\nlines", "\\x1b[31m"]
    rows = [ax for ax in figure.axes if ax.get_legend()]
    texts = [text for ax in rows for text in ax.get_legend().get_texts()]
    assert [text.get_text() for text in texts] == shown
    assert not any(text.get_parse_math() or text.get_usetex() for text in texts)
    for ax in rows:
        assert [line.get_color() for line in ax.get_legend().get_lines()] == [line.get_color() for line in ax.lines]


def test_names_are_texts_in_trees() -> None:
    lines = str(oddly_named()).splitlines()
    assert len(lines) == 2 + len(ODD_NAMES)
    assert "two\\nlines: Prismatic" in lines[-2]
    assert "\\x1b[31m: Prismatic" in lines[-1]


# Progress


@pytest.mark.parametrize(("wanted", "shown"), [(True, True), (False, False), (None, False)])
def test_progress(wanted: bool | None, shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    simulate(slider(), [0.0], [1.0], [0, 1], progress=wanted)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("1.00 of 1.00 s" in captured.err) == shown


def test_progress_appears_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulation.sys.stderr, "isatty", lambda: True)
    simulate(slider(), [0.0], [1.0], [0, 1])
    assert "of 1.00 s" not in capsys.readouterr().err
    monkeypatch.setattr("jounce.display.progress._PATIENCE", 0.0)
    monkeypatch.setattr(simulation.sys.stderr, "isatty", lambda: True)
    simulate(slider(), [0.0], [1.0], [0, 1])
    assert "of 1.00 s" in capsys.readouterr().err
