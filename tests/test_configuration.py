"""The configuration space: q (+) dv and q1 (-) q0, exact on SE(3) and SO(3), from zero to pi."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from trees import random_tree

ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.5, 0.999999, 1.0, 1.000001, 2.0, 3.0, np.pi - 1e-8, np.pi]


def free_body() -> jn.Model:
    builder = jn.Builder()
    builder.add("body", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    return builder.build()


def exact_exponential(twist: np.ndarray) -> np.ndarray:
    """exp of a 4x4 twist matrix in 40 digits."""
    with mp.workdps(40):
        vx, vy, vz, wx, wy, wz = map(mp.mpf, twist)
        m = mp.matrix([[0, -wz, wy, vx], [wz, 0, -wx, vy], [-wy, wx, 0, vz], [0, 0, 0, 0]])
        return np.array(mp.expm(m, method="taylor").tolist(), dtype=float)


@pytest.mark.parametrize("angle", [*ANGLES, 4.0, 6.2, 9.0])
def test_integrate_is_the_exponential(angle: float) -> None:
    robot = free_body()
    axis = np.array([2.0, -1.0, 2.0]) / 3
    twist = np.concatenate([[0.3, -0.7, 1.1], angle * axis])
    start = robot.random_configuration(np.random.default_rng(0))
    before = robot.forward_kinematics(start).pose[0]
    after = robot.forward_kinematics(robot.integrate(start, twist)).pose[0]
    np.testing.assert_allclose(after, before @ exact_exponential(twist), rtol=0, atol=2e-15 * (1 + angle))


@pytest.mark.parametrize("angle", ANGLES)
def test_difference_undoes_integrate(angle: float) -> None:
    robot = free_body()
    axis = np.array([2.0, -1.0, 2.0]) / 3
    twist = np.concatenate([[0.3, -0.7, 1.1], angle * axis])
    start = robot.random_configuration(np.random.default_rng(1))
    found = robot.difference(start, robot.integrate(start, twist))
    if angle == np.pi:  # both signs of the axis are right
        found *= np.sign(found[3:] @ twist[3:])
        np.testing.assert_allclose(found[3:], twist[3:], rtol=1e-14, atol=1e-15)
    else:
        np.testing.assert_allclose(found, twist, rtol=2e-14, atol=1e-15)


def test_small_rotations_keep_their_digits() -> None:
    builder = jn.Builder()
    builder.add("ball", "world", jn.Spherical(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    robot = builder.build()
    tiny = np.array([1e-20, -2e-18, 3e-19])
    np.testing.assert_allclose(
        robot.difference(robot.neutral(), robot.integrate(robot.neutral(), tiny)), tiny, rtol=1e-14
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_joint_broadcast(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = jounce_model(random_tree(rng, 12))
    q0 = robot.random_configuration(rng, (4, 1))
    dv = rng.uniform(-1, 1, (3, robot.nv))
    q1 = robot.integrate(q0, dv)
    assert q1.shape == (4, 3, robot.nq)
    np.testing.assert_allclose(robot.difference(q0, q1), np.broadcast_to(dv, (4, 3, robot.nv)), rtol=0, atol=1e-13)


def test_the_velocity_of_integrate_is_v() -> None:
    """q(t) = q (+) t v moves with body velocity v at every t, according to forward kinematics."""
    rng = np.random.default_rng(3)
    robot = jounce_model(random_tree(rng, 10))
    q, v = robot.random_configuration(rng), rng.uniform(-1, 1, robot.nv)
    h = 1e-4
    nodes = np.array([-3, -2, -1, 1, 2, 3])
    weights = np.array([-1, 9, -45, 45, -9, 1]) / 60  # sixth-order central difference
    later = robot.integrate(robot.integrate(q, 0.4 * v), h * nodes[:, None] * v)
    moved = np.tensordot(weights, robot.forward_kinematics(later).pose, axes=1) / h
    rate = robot.pose_derivatives(robot.integrate(q, 0.4 * v), v[None])[1]
    np.testing.assert_allclose(moved, rate, rtol=0, atol=1e-9)
