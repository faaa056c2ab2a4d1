"""Limits on acceleration, deceleration, jerk and the rate of forces."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import jounce as jn

BOX = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
INF = np.inf


def robot_with(*joints: jn.Joint) -> jn.Model:
    """A chain."""
    builder = jn.Builder()
    for i, joint in enumerate(joints):
        builder.add(f"b{i}", f"b{i - 1}" if i else "world", joint, inertia=BOX)
    return builder.build()


# --- stored ---------------------------------------------------------------------------------------------


def test_they_are_where_their_joints_are() -> None:
    robot = robot_with(
        jn.Free(),
        jn.Revolute(limits=jn.Limits(acceleration=3, jerk=5, effort_rate=6)),
        jn.Spherical(),
        jn.Prismatic(limits=jn.Limits(acceleration=7, deceleration=8)),
        jn.Fixed(),
        jn.Universal(),
        jn.Helical(limits=jn.Limits(deceleration=9)),
    )
    assert robot.acceleration_limit.tolist() == [INF] * 6 + [3] + [INF] * 3 + [7] + [INF] * 2 + [INF]
    assert robot.deceleration_limit.tolist() == [INF] * 6 + [3] + [INF] * 3 + [8] + [INF] * 2 + [9]
    assert robot.jerk_limit.tolist() == [INF] * 6 + [5] + [INF] * 7
    assert robot.effort_rate_limit.tolist() == [INF] * 6 + [6] + [INF] * 7
    assert robot_with().deceleration_limit.shape == (0,)


def test_they_are_given_by_name() -> None:
    with pytest.raises(TypeError):
        jn.Limits(-1, 1, 2, 3, 4)  # type: ignore[misc]


def test_a_deceleration_that_is_not_given_follows_the_acceleration() -> None:
    """Also when that is changed later."""
    limits = replace(jn.Limits(acceleration=5.0), acceleration=10.0)
    assert robot_with(jn.Revolute(limits=limits)).deceleration_limit.tolist() == [10.0]
    assert jn.Limits(acceleration=5) == jn.Limits(acceleration=5.0)


def test_they_survive_pickling() -> None:
    limits = jn.Limits(-1, 2, 3, 4, acceleration=5, deceleration=6, jerk=7, effort_rate=8)
    robot = pickle.loads(pickle.dumps(robot_with(jn.Revolute(limits=limits))))
    assert robot.bodies[0].joint.limits == limits


def test_the_coordinates_of_a_joint_of_ones_own_have_them() -> None:
    def pose(q: list[float]) -> np.ndarray:
        return np.array([[1, 0, 0, q[0]], [0, 1, 0, q[1]], [0, 0, 1, 0], [0, 0, 0, 1]])

    limits = [None, jn.Limits(-1.0, 1.0, acceleration=2.0, jerk=3.0)]
    robot = robot_with(jn.CustomJoint(pose, n=2, limits=limits, coordinate_names=("x", "y"), name="table"))
    assert robot.deceleration_limit.tolist() == [INF, 2.0]


@pytest.mark.parametrize("key", ["acceleration", "deceleration", "jerk", "effort_rate"])
@pytest.mark.parametrize(("value", "message"), [
    (0.0, "^{} is 0, expected a positive number$"),
    (-2.0, "^{} is -2, expected a positive number$"),
    (np.nan, "^{} is nan, expected a number$"),
    ("5", "^{} is '5', expected a number$"),
    ([5.0], r"^{} is \[5.0\], expected a number$"),
])  # fmt: skip
def test_bad_ones_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message.format(key)):
        jn.Limits(**{key: value})  # type: ignore[arg-type]
