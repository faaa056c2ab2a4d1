"""Inverse dynamics to any order, against oracles that share no code with it."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from oracles import paper_a, paper_c, virtual_work
from peers import PinocchioTree, rnea
from trees import ALL_JOINTS, ONE_DOF, BodySpec, TreeSpec, random_configuration, random_pose, random_stack, random_tree


def error(result: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Error of each row, relative to the row's magnitude."""
    return np.abs(result - truth).max(-1) / np.abs(truth).max(-1)


def case(seed: int, n: int, rows: int, **kwargs) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, **kwargs)
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)


@pytest.mark.parametrize("joint", [j for j in ALL_JOINTS if j != "fixed"])
@pytest.mark.parametrize("passive", [False, True])
def test_every_joint_against_virtual_work(joint: str, passive: bool) -> None:
    tree, robot, q, v = case(1, 6, 7, joints=(joint, "revolute"), passive=passive)
    assert error(robot.inverse_dynamics(q, v), virtual_work.inverse_dynamics(tree, q, v)).max() < 1e-12


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_random_trees_against_virtual_work(seed: int, floating: bool) -> None:
    tree, robot, q, v = case(seed, 12 + 4 * seed, 7, floating=floating, passive=True)
    assert error(robot.inverse_dynamics(q, v), virtual_work.inverse_dynamics(tree, q, v)).max() < 1e-11


def test_thirty_bodies_at_order_twelve_against_virtual_work(instruction_set: str) -> None:
    tree, robot, q, v = case(7, 30, 14, floating=True, passive=True)
    truth = virtual_work.inverse_dynamics(tree, q, v)
    errors = error(robot.inverse_dynamics(q, v), truth)
    assert errors[:6].max() < 1e-11
    assert errors.max() < 1e-10


@pytest.mark.parametrize("lead", [(), (9,)])
@pytest.mark.parametrize("order", [7, 8, 9, 10, 11, 14, 15, 22, 29])
def test_an_order_does_not_depend_on_those_above(order: int, lead: tuple[int, ...], instruction_set: str) -> None:
    """Each range of orders has its own code; that of the highest is compared with formulas."""
    robot = jn.robots.aerial_manipulator()
    rng = np.random.default_rng(order)
    q, v = robot.random_configuration(rng, lead), rng.normal(size=(*lead, 32, robot.nv))
    full, found = robot.inverse_dynamics(q, v), robot.inverse_dynamics(q, v[..., : order + 2, :])
    size = np.abs(full).max(axis=-1, keepdims=True)
    np.testing.assert_allclose(
        found / size[..., : order + 1, :], (full / size)[..., : order + 1, :], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("order", range(13))
def test_every_order_single_and_in_a_batch(order: int, instruction_set: str) -> None:
    tree, robot, q, v = case(order, 9, order + 2, floating=True)
    truth = virtual_work.inverse_dynamics(tree, q, v)
    assert error(robot.inverse_dynamics(q, v), truth).max() < 1e-11
    batch = robot.inverse_dynamics(np.stack([robot.neutral()] * 10 + [q]), v[None])
    assert error(batch[-1], truth).max() < 1e-11


@pytest.mark.parametrize("order", [13, 15, 20, jn.MAX_ORDER])
def test_highest_orders(order: int, instruction_set: str) -> None:
    tree, robot, q, v = case(order, 5, order + 2, joints=("free", "revolute", "helical"))
    assert error(robot.inverse_dynamics(q, v), virtual_work.inverse_dynamics(tree, q, v)).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_against_paper_a(seed: int) -> None:
    tree, robot, q, v = case(seed, 20, 7, floating=seed > 0)
    rng = np.random.default_rng(seed)
    wrenches = {i: rng.normal(size=(6, 6)) for i in (0, 5, 11)}
    named = {tree.bodies[i].name: w for i, w in wrenches.items()}
    truth = paper_a.inverse_dynamics(tree, q, v, wrenches)
    assert error(robot.inverse_dynamics(q, v, wrenches=named), truth).max() < 1e-11


def test_base_wrench_of_paper_a_is_the_world_frame() -> None:
    tree, robot, q, v = case(3, 8, 7, floating=True, joints=ONE_DOF)
    spatial = paper_a.base_wrench_spatial(tree, q, v)
    in_world = robot.change_velocity_frame(q, v, "body", "world")
    assert error(robot.inverse_dynamics(q, in_world, frame="world")[:, :6], spatial).max() < 1e-11


@pytest.mark.parametrize("seed", range(3))
def test_against_paper_c_on_serial_chains(seed: int) -> None:
    tree, robot, q, v = case(seed, 8, 7, joints=ONE_DOF, serial=True)
    assert error(robot.inverse_dynamics(q, v), paper_c.inverse_dynamics(tree, q, v)).max() < 1e-11


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_against_pinocchio(seed: int, floating: bool) -> None:
    tree, robot, q, v = case(seed, 30, 2, floating=floating)
    truth = rnea(PinocchioTree(tree), q, v[0], v[1])
    assert error(robot.inverse_dynamics(q, v)[0], truth) < 1e-11
    assert error(robot.inverse_dynamics(q, v[0], v[1]), truth) < 1e-11


@pytest.mark.parametrize("seed", range(3))
def test_wrenches_in_body_axes(seed: int) -> None:
    tree, robot, q, v = case(seed, 10, 5, floating=True)
    rng = np.random.default_rng(seed)
    wrenches = {i: rng.normal(size=(4, 6)) for i in (0, 3, 9)}
    truth = virtual_work.inverse_dynamics(tree, q, v, wrenches)
    named = {tree.bodies[i].name: w for i, w in wrenches.items()}
    assert error(robot.inverse_dynamics(q, v, wrenches=named), truth).max() < 1e-11


@pytest.mark.parametrize("wrench_frame", ["world", "mixed"])
@pytest.mark.parametrize("order", [0, 3, 9])
def test_wrenches_in_world_axes(wrench_frame: str, order: int, instruction_set: str) -> None:
    tree, robot, q, v = case(order, 9, order + 2, floating=True)
    rng = np.random.default_rng(order)
    given = {i: rng.normal(size=(order + 1, 6)) for i in (0, 4, 8)}
    poses = virtual_work.body_poses(tree, q, v[: order + 1])[: order + 1]
    in_body = {i: _in_body_axes(w, poses[:, i], wrench_frame) for i, w in given.items()}
    truth = virtual_work.inverse_dynamics(tree, q, v, in_body)
    named = {tree.bodies[i].name: w for i, w in given.items()}
    result = robot.inverse_dynamics(q, v, wrenches=named, wrench_frame=wrench_frame)
    assert error(result, truth).max() < 1e-11


def _in_body_axes(wrench: np.ndarray, pose: np.ndarray, frame: str) -> np.ndarray:
    """Leibniz' rule, written out: f_b = R^T f, n_b = R^T (n - x x f) (world) or R^T n (mixed)."""
    rotation, position = pose[:, :3, :3], pose[:, :3, 3]
    force, moment = wrench[:, :3], wrench[:, 3:].copy()
    if frame == "world":
        moment -= _leibniz(lambda x, f: np.cross(x, f), position, force)
    back = [_leibniz(lambda r, u: r.T @ u, rotation, part) for part in (force, moment)]
    return np.concatenate(back, axis=1)


def _leibniz(product, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from math import comb

    return np.array([sum(comb(k, j) * product(a[j], b[k - j]) for j in range(k + 1)) for k in range(len(b))])


def test_wrench_on_a_fixed_frame_is_the_wrench_at_its_place() -> None:
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0, 0, 0.3), (0.1, 0.1, 0.1)))
    tool = np.eye(4)
    tool[:3, 3] = 0.1, 0.2, 0.5
    builder.add("tool", "arm", jn.Fixed(), tool)
    robot = builder.build()
    without = robot.inverse_dynamics([0.3], [0.0], [0.0])
    force = robot.inverse_dynamics([0.3], [0.0], [0.0], wrenches={"tool": [2.0, 0, 0, 0, 0.7, 0]})
    np.testing.assert_allclose(without - force, [0.7 + 0.5 * 2.0], rtol=1e-12)


@pytest.mark.parametrize("frame", ["world", "mixed"])
def test_frames_do_the_same_work(frame: str) -> None:
    """Power v . tau, and its derivatives, are the same in all frames, and joint torques do not change."""
    _, robot, q, v = case(11, 9, 7, floating=True)
    body = robot.inverse_dynamics(q, v)
    converted = robot.change_velocity_frame(q, v, "body", frame)
    tau = robot.inverse_dynamics(q, converted, frame=frame)
    base = slice(0, 6)
    power = _leibniz(np.dot, v[:6, base], body[:, base])
    np.testing.assert_allclose(_leibniz(np.dot, converted[:6, base], tau[:, base]), power, rtol=1e-10)
    np.testing.assert_allclose(robot.change_force_frame(q, v, body, "body", frame), tau, rtol=1e-9, atol=1e-9)
    back = robot.change_force_frame(q, converted, tau, frame, "body")
    np.testing.assert_allclose(back, body, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_moving_the_world_changes_no_torque(seed: int) -> None:
    tree, robot, q, v = case(seed, 10, 7)
    move = random_pose(np.random.default_rng(seed))
    roots = tuple(
        b if b.parent >= 0 else BodySpec(**{**b.__dict__, "placement": move @ b.placement}) for b in tree.bodies
    )
    moved = jounce_model(TreeSpec(roots, gravity=move[:3, :3] @ tree.gravity))
    assert error(moved.inverse_dynamics(q, v), robot.inverse_dynamics(q, v)).max() < 1e-11


@pytest.mark.parametrize("seed", range(3))
def test_choosing_another_body_frame_changes_no_torque(seed: int) -> None:
    """Every body frame is moved along and turned about its joint axis, and its children and inertia accordingly."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 10, joints=("revolute", "prismatic", "helical", "cylindrical"))
    moves = []
    bodies = []
    for b in tree.bodies:
        turn = np.eye(4)
        angle = rng.uniform(-3, 3)
        k = np.cross(np.eye(3), b.axis).T
        turn[:3, :3] = np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k
        turn[:3, 3] = rng.uniform(-0.3, 0.3) * b.axis
        back = np.linalg.inv(turn)
        above = np.eye(4) if b.parent < 0 else np.linalg.inv(moves[b.parent])
        moves.append(turn)
        changed = {
            "placement": above @ b.placement @ turn,
            "com": back[:3, :3] @ b.com + back[:3, 3],
            "inertia": back[:3, :3] @ b.inertia @ turn[:3, :3],
        }
        bodies.append(BodySpec(**{**b.__dict__, **changed}))
    moved = jounce_model(TreeSpec(tuple(bodies)))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 7)
    assert error(moved.inverse_dynamics(q, v), jounce_model(tree).inverse_dynamics(q, v)).max() < 1e-11


def test_stiffness_of_ball_joints_near_the_identity_and_near_pi() -> None:
    tree, robot, _, v = case(5, 1, 6, joints=("spherical",), passive=True)
    for angle in (0.0, 1e-9, 1e-5, 1e-3, 0.1, 1.0, 2.0, 2.2, 3.0, np.pi - 1e-6):
        axis = np.array([1.0, -2.0, 2.0]) / 3
        q = np.concatenate([np.sin(angle / 2) * axis, [np.cos(angle / 2)]])
        truth = virtual_work.inverse_dynamics(tree, q, v)
        assert error(robot.inverse_dynamics(q, v), truth).max() < 1e-11, angle
        assert error(robot.inverse_dynamics(-q, v), truth).max() < 1e-11, angle


@pytest.mark.parametrize("angle", [0.0, 1e-7, np.pi / 4, 1.0, np.pi / 2, -2.3, np.pi, 100.0, -1e4, 9.9e5, 1.1e6, 1e15])
def test_angles_of_any_size(angle: float, instruction_set: str) -> None:
    tree, robot, _, v = case(2, 3, 6, joints=("revolute", "helical"))
    q = np.full(3, angle)
    turned = np.full(3, np.arctan2(np.sin(angle), np.cos(angle)))  # the same pose except for the slide of the helix
    if tree.bodies[1].joint == "helical" or abs(angle) < 10:
        truth = virtual_work.inverse_dynamics(tree, q, v)
    else:
        truth = virtual_work.inverse_dynamics(tree, turned, v)
    assert error(robot.inverse_dynamics(q, v), truth).max() < 1e-9
