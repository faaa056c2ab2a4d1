"""Configurations by the names of joints, with poses and rotations, and back; twists with the angular part first."""

from __future__ import annotations

import re

import numpy as np
import pytest

import jounce as jn
from kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [(), (3,), (2, 0), (2, 3)])
def test_there_and_back(kind: str, batch: tuple[int, ...]) -> None:
    robot = KINDS[kind]
    model = robot.model
    q = robot.untied.configuration(np.random.default_rng(5), batch)
    at = model.joint_positions(q)
    assert tuple(at) == model.joint_names
    again = model.configuration(at)
    assert again.shape == q.shape
    np.testing.assert_allclose(model.difference(q, again), 0.0, atol=1e-14)  # quaternions may have changed sign
    kin = model.forward_kinematics(q)
    for body in model.bodies:
        if body.parent < 0 and isinstance(body.joint, jn.Free):
            np.testing.assert_allclose(kin[body.name], body.placement @ at[body.joint_name], atol=1e-14)


def test_each_way_to_say_where_a_joint_is() -> None:
    b = jn.Builder()
    ball = jn.Inertia.sphere(1.0, 0.1)
    b.add("base", "world", jn.Free(), inertia=ball)
    b.add("head", "base", jn.Spherical(), inertia=ball)
    b.add("cart", "head", jn.Planar((1, 0, 0), (0, 1, 0)), inertia=ball)
    b.add("arm", "cart", jn.Revolute((0, 0, 1)), inertia=ball)
    robot = b.build()
    turn = jn.placement(axis=(0, 0, 1), angle=0.4)[:3, :3]
    H = jn.placement((1, 2, 3), rotation=turn)
    quaternion = np.array([0, 0, np.sin(0.2), np.cos(0.2)])
    q = robot.configuration({"base": H, "head": turn, "cart": (4, 5, 0.6), "arm": 0.7})
    expected = [1, 2, 3, *quaternion, *quaternion, 4, 5, 0.6, 0.7]
    np.testing.assert_allclose(q, expected, atol=1e-15)
    same = robot.configuration({"base": expected[:7], "head": quaternion, "cart": (4, 5, 0.6), "arm": 0.7})
    np.testing.assert_allclose(same, expected, atol=1e-15)
    np.testing.assert_array_equal(robot.configuration({}), robot.neutral())
    mixed = robot.configuration({"base": H[None].repeat(2, axis=0), "arm": np.zeros((3, 1))})
    assert mixed.shape == (3, 2, robot.nq)
    np.testing.assert_allclose(robot.pose("base", mixed[1, 1]), H, atol=1e-15)
    half = jn.placement(axis=(0.6, 0, 0.8), angle=np.pi)  # where w is zero
    np.testing.assert_allclose(robot.joint_positions(robot.configuration({"base": half}))["base"], half, atol=1e-15)


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        ([("elbow", 1.0)], "positions is [('elbow', 1.0)], expected a mapping from joint names to positions"),
        ({"elbw": 1.0}, "no joint is named 'elbw': did you mean 'elbow'"),
        ({"elbow": np.nan}, "positions['elbow'] contains nan or inf, expected finite numbers"),
        ({"base": np.zeros(3)}, "positions['base'] has shape (3,), expected (..., 7) or a pose (..., 4, 4)"),
        ({"base": 2 * np.eye(4)}, "positions['base'] has a last row other than [0, 0, 0, 1], expected poses"),
        ({"base": np.diag([1.0, 1.0, -1.0, 1.0])}, "positions['base'] has a block that is not a rotation"),
        ({"base": np.zeros(7)}, "positions['base'] has a quaternion of length 0, expected x y z w of length 1"),
        (
            {"elbow": np.zeros(2), "shoulder": np.zeros(3)},
            "the batch dimensions do not broadcast: positions['elbow'] (2,)",
        ),
    ],
)
def test_what_is_wrong_is_said(positions: object, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        jn.robots.quadrotor_arm().configuration(positions)


def test_wrong_configurations_are_said() -> None:
    robot = jn.robots.quadrotor_arm()
    with pytest.raises(ValueError, match=re.escape("q has shape (3,), expected (..., 9)")):
        robot.joint_positions(np.zeros(3))
    with pytest.raises(ValueError, match="q, of joint 'base', has a quaternion of length 0"):
        robot.joint_positions(np.zeros(9))


def test_angular_first() -> None:
    """Paper A's twists and inertias from ours, and back."""
    x = np.arange(24.0).reshape(4, 6)
    np.testing.assert_array_equal(jn.angular_first(x)[1], [9, 10, 11, 6, 7, 8])
    np.testing.assert_array_equal(jn.angular_first(jn.angular_first(x)), x)
    M = np.arange(36.0).reshape(6, 6)
    order = [3, 4, 5, 0, 1, 2]
    np.testing.assert_array_equal(jn.angular_first(M, matrix=True), M[np.ix_(order, order)])
    with pytest.raises(ValueError, match=re.escape("x has shape (7,), expected (..., 6)")):
        jn.angular_first(np.zeros(7))
    with pytest.raises(ValueError, match=re.escape("x has shape (6,), expected (..., 6, 6)")):
        jn.angular_first(np.zeros(6), matrix=True)
