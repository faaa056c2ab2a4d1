"""Poses and twists to any order, against positions differentiated in high precision and against Pinocchio."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from oracles import virtual_work
from peers import PinocchioTree, body_poses, body_twists
from trees import TreeSpec, random_configuration, random_stack, random_tree


def moving_bodies(tree: TreeSpec) -> list[int]:
    return [i for i, b in enumerate(tree.bodies) if b.joint != "fixed"]


def skew(u: np.ndarray) -> np.ndarray:
    x, y, z = u
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def twists_of(poses: np.ndarray, frame: str) -> np.ndarray:
    """Twist stack of one body from the derivatives of its pose, by Leibniz' rule: (K + 1, 4, 4) -> (K, 6)."""
    rotation, position = poses[:, :3, :3], poses[:, :3, 3]
    rows = len(poses) - 1

    def derivative(product, a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
        return sum(comb(k, j) * product(a[j], b[k - j]) for j in range(k + 1))

    body_w = np.array([derivative(lambda r, d: r.T @ d, rotation, rotation[1:], k) for k in range(rows)])
    world_w = np.array([derivative(lambda d, r: d @ r.T, rotation[1:], rotation, k) for k in range(rows)])
    axial = lambda m: np.stack([m[:, 2, 1], m[:, 0, 2], m[:, 1, 0]], axis=1)  # noqa: E731
    if frame == "body":
        linear = [derivative(lambda r, d: r.T @ d, rotation, position[1:], k) for k in range(rows)]
        return np.concatenate([linear, axial(body_w)], axis=1)
    linear = position[1:].copy()
    if frame == "world":
        w = axial(world_w)
        linear = linear - [derivative(np.cross, w, position, k) for k in range(rows)]
    return np.concatenate([linear, axial(world_w)], axis=1)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 7, 9, 13])
def test_pose_derivatives(rows: int, floating: bool, instruction_set: str) -> None:
    rng = np.random.default_rng(rows)
    tree = random_tree(rng, 20, floating=floating)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)
    truth = virtual_work.body_poses(tree, q, v)[:, moving_bodies(tree)]
    result = robot.pose_derivatives(q, v)
    scale = np.abs(truth).max(axis=(1, 2, 3), keepdims=True)
    assert (np.abs(result - truth) / scale).max() < 1e-12
    np.testing.assert_allclose(robot.forward_kinematics(q).pose, truth[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
@pytest.mark.parametrize("rows", [1, 2, 6, 12])
def test_twists_are_the_derivatives_of_the_poses(rows: int, frame: str, instruction_set: str) -> None:
    rng = np.random.default_rng(rows)
    tree = random_tree(rng, 14, floating=True)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)
    poses = virtual_work.body_poses(tree, q, v)
    given = robot.change_velocity_frame(q, v, "body", frame)
    result = robot.forward_kinematics(q, given, frame=frame, velocity_frame=frame).twist
    for index, i in enumerate(moving_bodies(tree)):
        truth = twists_of(poses[:, i], frame)
        scale = np.abs(poses[1:, i]).max(axis=(1, 2))[:, None]  # size of the terms summed above
        assert (np.abs(result[:, index] - truth) / scale).max() < 1e-11
    np.testing.assert_allclose(result[:, 0], given[:, :6], rtol=1e-10, atol=1e-10)  # the base: as given


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_against_pinocchio(frame: str) -> None:
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 30, floating=True)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 1)
    peer, moving = PinocchioTree(tree), moving_bodies(tree)
    kin = robot.forward_kinematics(q, v, frame=frame, velocity_frame="body")
    np.testing.assert_allclose(kin.pose, body_poses(peer, q)[moving], rtol=0, atol=1e-12)
    np.testing.assert_allclose(kin.twist[0], body_twists(peer, q, v[0], frame)[moving], rtol=0, atol=1e-11)


def test_batches_broadcast() -> None:
    rng = np.random.default_rng(0)
    robot = jn.robots.aerial_manipulator()
    q, v = robot.random_configuration(rng, (3, 1)), rng.normal(size=(4, 2, robot.nv))
    kin = robot.forward_kinematics(q, v, frame="mixed", velocity_frame="mixed")
    assert kin.pose.shape == (3, 4, 7, 4, 4)
    assert kin.twist.shape == (3, 4, 2, 7, 6)
    one = robot.forward_kinematics(q[2, 0], v[1], frame="mixed", velocity_frame="mixed")
    np.testing.assert_array_equal(kin.pose[2, 1], one.pose)
    np.testing.assert_array_equal(kin.twist[2, 1], one.twist)


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
@pytest.mark.parametrize("other", ["body", "world", "mixed"])
def test_changing_frames_and_back(frame: str, other: str) -> None:
    rng = np.random.default_rng(5)
    tree = random_tree(rng, 6, joints=("free", "spherical", "revolute"))
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 8)
    there = robot.change_velocity_frame(q, v, frame, other)
    back = robot.change_velocity_frame(q, there, other, frame)
    scale = np.abs(there).max(axis=1, keepdims=True)
    assert (np.abs(back - v) / scale).max() < 1e-11
    assert (frame == other) == bool(np.allclose(there, v))
