"""Limits of joints, which jounce only stores, and springs with a rest position other than zero."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn

BOX = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))


def robot_with(*joints: jn.Joint) -> jn.Model:
    """A chain."""
    builder = jn.Builder()
    for i, joint in enumerate(joints):
        builder.add(f"b{i}", f"b{i - 1}" if i else "world", joint, inertia=BOX)
    return builder.build()


# --- limits --------------------------------------------------------------------------------------------


def test_limits_are_where_their_joints_are() -> None:
    robot = robot_with(
        jn.Free(),
        jn.Revolute(limits=jn.Limits(-1, 2, velocity=3, effort=4)),
        jn.Spherical(),
        jn.Prismatic(limits=jn.Limits(upper=0.5)),
        jn.Fixed(),
        jn.Universal(),
        jn.Helical(limits=jn.Limits(lower=-7, effort=0)),
    )
    inf = np.inf
    assert robot.lower.tolist() == [-inf] * 7 + [-1] + [-inf] * 4 + [-inf] + [-inf] * 2 + [-7]
    assert robot.upper.tolist() == [inf] * 7 + [2] + [inf] * 4 + [0.5] + [inf] * 2 + [inf]
    assert robot.velocity_limit.tolist() == [inf] * 6 + [3] + [inf] * 3 + [inf] + [inf] * 2 + [inf]
    assert robot.effort_limit.tolist() == [inf] * 6 + [4] + [inf] * 3 + [inf] + [inf] * 2 + [0]
    assert robot.lower.shape == robot.upper.shape == (robot.nq,)
    assert robot.velocity_limit.shape == robot.effort_limit.shape == (robot.nv,)


def test_no_limits() -> None:
    for robot, nq, nv in ((robot_with(), 0, 0), (robot_with(jn.Fixed()), 0, 0), (robot_with(jn.Free()), 7, 6)):
        np.testing.assert_array_equal(robot.lower, np.full(nq, -np.inf))
        np.testing.assert_array_equal(robot.upper, np.full(nq, np.inf))
        np.testing.assert_array_equal(robot.velocity_limit, np.full(nv, np.inf))
        np.testing.assert_array_equal(robot.effort_limit, np.full(nv, np.inf))


def test_random_configurations_stay_within() -> None:
    robot = robot_with(
        jn.Revolute(limits=jn.Limits(-0.1, 0.2)),
        jn.Prismatic((1, 0, 0), limits=jn.Limits(5, 6)),
        jn.Revolute(limits=jn.Limits(lower=10)),
        jn.Revolute(limits=jn.Limits(upper=-10)),
        jn.Revolute(limits=jn.Limits(1, 1)),
    )
    q = robot.random_configuration(np.random.default_rng(0), 1000)
    assert (q >= robot.lower).all()
    assert (q <= robot.upper).all()
    assert np.ptp(q[:, 0]) > 0.29
    assert np.ptp(q[:, 2]) > 6
    assert np.ptp(q[:, 3]) > 6
    assert (q[:, 4] == 1).all()


def test_dynamics_do_not_know_of_limits() -> None:
    limited, plain = robot_with(jn.Revolute(limits=jn.Limits(-1, 1, 1, 1))), robot_with(jn.Revolute())
    q, stack = [3.0], [[5.0], [7.0], [9.0]]
    np.testing.assert_array_equal(limited.inverse_dynamics(q, stack), plain.inverse_dynamics(q, stack))


def test_limits_survive_pickling() -> None:
    robot = pickle.loads(pickle.dumps(robot_with(jn.Revolute(limits=jn.Limits(-1, 2, 3, 4), rest=0.3, stiffness=2.0))))
    assert robot.bodies[0].joint.limits == jn.Limits(-1, 2, 3, 4)
    assert robot.bodies[0].joint.rest == 0.3
    assert robot.potential_energy([0.3]) == pytest.approx(robot_with(jn.Revolute()).potential_energy([0.3]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: jn.Limits(2, 1), "^lower is 2, above upper, 1"),
        (lambda: jn.Limits(velocity=-1), "^velocity and effort are -1 and inf"),
        (lambda: jn.Limits(effort=-2), "^velocity and effort are inf and -2"),
        (lambda: jn.Limits(lower=np.nan), "^lower "),
        (lambda: jn.Limits(upper="1"), "^upper "),
        (lambda: jn.Limits(effort=[1.0]), "^effort "),
        (lambda: jn.Revolute(limits=(-1, 1)), r"^limits is \(-1, 1\), expected a jounce.Limits"),
        (lambda: jn.Universal(limits=jn.Limits(-1, 1)), "^limits is for joints with one coordinate, not for Universal"),
        (lambda: jn.Free(limits=jn.Limits(-1, 1)), "^limits is for joints with one coordinate, not for Free"),
        (lambda: jn.Spherical(rest=1.0), "^rest is for joints with one coordinate, not for Spherical"),
        (lambda: jn.Planar(rest=1.0), "^rest is for joints with one coordinate, not for Planar"),
        (lambda: jn.Revolute(rest=np.nan), "^rest "),
        (lambda: jn.Revolute(rest=np.inf), "^rest "),
        (lambda: jn.Revolute(rest=[1.0]), "^rest has shape"),
        (lambda: jn.Revolute(rest="1"), "^rest "),
    ],
)
def test_bad_limits_and_rests(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# --- springs with other rest positions -----------------------------------------------------------------

REST, STIFFNESS = np.array([0.7, -0.4, 2.5]), np.array([3.0, 5.0, 1.5])


def springs(*, rest: bool = True, stiffness: bool = True) -> jn.Model:
    """A revolute, a prismatic and a helical joint between others without such springs."""
    at, k = REST * rest, STIFFNESS * stiffness
    return robot_with(
        jn.Free(),
        jn.Revolute((0, 1, 0), rest=at[0], stiffness=k[0], damping=0.2),
        jn.Universal(stiffness=0.4),
        jn.Prismatic((1, 0, 0), rest=at[1], stiffness=k[1]),
        jn.Helical((0, 0, 1), 0.1, rest=at[2], stiffness=k[2]),
    )


WHERE = [6, 9, 10]  # indices in v; in q one higher


@pytest.mark.parametrize("rows", [2, 5, 9])
def test_a_rest_only_moves_the_torque(rows: int, instruction_set: str) -> None:
    """A constant: it appears in row 0 only."""
    robot, zero = springs(), springs(rest=False)
    rng = np.random.default_rng(0)
    for lead in ((), (9,)):
        q, stack = robot.random_configuration(rng, lead), rng.normal(size=(*lead, rows, robot.nv))
        for frame in ("body", "world", "mixed"):
            tau = robot.inverse_dynamics(q, stack, frame=frame)
            shift = tau - zero.inverse_dynamics(q, stack, frame=frame)
            truth = np.zeros_like(shift)
            truth[..., 0, WHERE] = -STIFFNESS * REST
            np.testing.assert_allclose(shift, truth, rtol=0, atol=1e-11 * np.abs(tau).max())


def test_forward_dynamics_undoes_inverse() -> None:
    robot = springs()
    rng = np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=(4, robot.nv)) * 10.0 ** np.arange(4)[:, None]
    tau = robot.inverse_dynamics(q, v)
    np.testing.assert_allclose(robot.forward_dynamics(q, v[0], tau), v[1:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(q, v[0], tau[0]), v[1], rtol=1e-10, atol=1e-10)
    mask = np.isin(np.arange(robot.nv), [6, 7, 8])
    acc, force = robot.hybrid_dynamics(q, v[0], v[1], tau[0], prescribed=mask)
    np.testing.assert_allclose(acc, v[1], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(force, tau[0], rtol=1e-10, atol=1e-10)


def test_potential_energy() -> None:
    robot, slack = springs(), springs(stiffness=False)
    rng = np.random.default_rng(2)
    q, v = robot.random_configuration(rng), rng.normal(size=(5, robot.nv))
    stretch = q[np.add(WHERE, 1)] - REST
    stored = robot.potential_energy(q) - slack.potential_energy(q)
    assert stored == pytest.approx(STIFFNESS @ stretch**2 / 2, rel=1e-13)
    rates = robot.potential_energy_derivatives(q, v) - slack.potential_energy_derivatives(q, v)
    u, du, ddu = stretch, v[0, WHERE], v[1, WHERE]
    assert rates[1] == pytest.approx(STIFFNESS @ (u * du), rel=1e-11)
    assert rates[2] == pytest.approx(STIFFNESS @ (du**2 + u * ddu), rel=1e-11)
    bias = robot.bias_force(q, v[0]) - slack.bias_force(q, v[0])
    np.testing.assert_allclose(bias[WHERE], STIFFNESS * stretch, rtol=1e-12)
    np.testing.assert_allclose(np.delete(bias, WHERE), 0, atol=1e-13)


def test_at_rest_nothing_pulls() -> None:
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("arm", "world", jn.Revolute(stiffness=7.0, rest=0.6), inertia=BOX)
    robot = builder.build()
    assert robot.inverse_dynamics([0.6], [0.0], [0.0]) == pytest.approx(0, abs=1e-15)
    assert robot.forward_dynamics([0.6], [0.0], [0.0]) == pytest.approx(0, abs=1e-15)
    assert robot.potential_energy([0.6]) == 0
    assert robot.forward_dynamics([0.7], [0.0], [0.0])[0] < 0
    assert robot.forward_dynamics([0.5], [0.0], [0.0])[0] > 0


def test_gravity_and_matrices_do_not_know_of_springs() -> None:
    robot, slack = springs(), springs(stiffness=False)
    q, v = robot.random_configuration(np.random.default_rng(3)), np.ones(robot.nv)
    np.testing.assert_array_equal(robot.gravity_force(q), slack.gravity_force(q))
    np.testing.assert_array_equal(robot.mass_matrix(q), slack.mass_matrix(q))
    passive = robot.inverse_dynamics_passive(q, v, v, v)
    np.testing.assert_array_equal(passive, slack.inverse_dynamics_passive(q, v, v, v))
