"""The oracles against each other and, where applicable, Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb, factorial

import numpy as np
import pytest

from oracles import paper_a, paper_c, virtual_work
from trees import (
    ALL_JOINTS,
    ONE_DOF,
    TreeSpec,
    random_body,
    random_configuration,
    random_stack,
    random_tree,
)

TOLERANCE = 1e-11


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float = TOLERANCE) -> None:
    """Each row to the tolerance relative to the row's greatest magnitude."""
    error = np.abs(actual - expected).max(axis=1) / np.abs(expected).max(axis=1)
    assert actual.shape == expected.shape
    assert error.max() < tolerance, error


def without_group_stiffness(tree: TreeSpec) -> TreeSpec:
    """paper_a has no spring for spherical and free joints."""
    group = ("spherical", "free")
    bodies = (replace(b, stiffness=0.0) if b.joint in group else b for b in tree.bodies)
    return replace(tree, bodies=tuple(bodies))


def random_wrenches(rng: np.random.Generator, bodies: list[int], rows: int) -> dict[int, np.ndarray]:
    return {i: rng.uniform(-5.0, 5.0, (rows, 6)) for i in bodies}


@pytest.mark.parametrize("joint", ALL_JOINTS)
def test_each_joint(joint: str) -> None:
    """The joint on the world, in the middle and at the end of a small tree, with passive terms."""
    rng = np.random.default_rng(sum(joint.encode()))
    kinds = ((-1, joint), (0, "revolute"), (1, joint), (1, "prismatic"), (2, joint), (0, "spherical"))
    bodies = tuple(random_body(rng, f"b{i}", p, kind, passive=True) for i, (p, kind) in enumerate(kinds))
    tree = without_group_stiffness(TreeSpec(bodies, gravity=rng.uniform(-10.0, 10.0, 3)))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    assert_close(paper_a.inverse_dynamics(tree, q, v), virtual_work.inverse_dynamics(tree, q, v))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("floating", [False, True])
def test_trees_with_wrenches(seed: int, floating: bool) -> None:
    rng = np.random.default_rng(seed)
    tree = without_group_stiffness(random_tree(rng, 12, floating=floating, passive=True))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    wrenches = random_wrenches(rng, [0, 5, 11], 4)
    truth = virtual_work.inverse_dynamics(tree, q, v, wrenches)
    assert_close(paper_a.inverse_dynamics(tree, q, v, wrenches), truth)
    assert np.abs(truth - virtual_work.inverse_dynamics(tree, q, v)).max() > 1e-2


@pytest.mark.parametrize("seed", range(3))
def test_serial_chains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 7, joints=ONE_DOF, serial=True, passive=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    truth = virtual_work.inverse_dynamics(tree, q, v)
    assert_close(paper_c.inverse_dynamics(tree, q, v), truth)
    assert_close(paper_a.inverse_dynamics(tree, q, v), truth)


def test_sixth_order() -> None:
    """Beyond the order of the other tests, the same tolerance still holds."""
    rng = np.random.default_rng(7)
    tree = random_tree(rng, 7, joints=ONE_DOF, serial=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 8)
    truth = virtual_work.inverse_dynamics(tree, q, v)
    assert_close(paper_c.inverse_dynamics(tree, q, v), truth)
    assert_close(paper_a.inverse_dynamics(tree, q, v), truth)


def test_base_wrench() -> None:
    """The spatial base wrench is the body one transformed to the world: R f, and R m + x cross R f."""
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 8, floating=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    body_wrench = virtual_work.inverse_dynamics(tree, q, v)[:, :6]
    pose = virtual_work.body_poses(tree, q, v)[:, 0]

    def leibniz(a: np.ndarray, b: np.ndarray, product: Callable) -> np.ndarray:
        terms = [[comb(k, i) * product(a[i], b[k - i]) for i in range(k + 1)] for k in range(4)]
        return np.array([sum(row) for row in terms])

    force = leibniz(pose[:, :3, :3], body_wrench[:, :3], np.matmul)
    moment = leibniz(pose[:, :3, :3], body_wrench[:, 3:], np.matmul) + leibniz(pose[:, :3, 3], force, np.cross)
    assert_close(paper_a.base_wrench_spatial(tree, q, v), np.hstack([force, moment]))


def test_point_masses() -> None:
    """Total, first moments and inertia of the points are those of the body."""
    body = random_body(np.random.default_rng(0), "b", -1, "fixed")
    weights, points = (np.array(a / virtual_work.ONE, dtype=float) for a in virtual_work.point_masses(body))
    arms = points[:3] - body.com[:, None]
    assert weights.sum() == pytest.approx(body.mass, rel=1e-14)
    assert np.abs(arms @ weights).max() < 1e-15
    second = (arms * weights) @ arms.T
    assert np.abs(second.trace() * np.eye(3) - second - body.inertia).max() < 1e-15


@pytest.mark.parametrize("start", ["identity", "generic", "negative", "almost half a turn"])
@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_group_stiffness(joint: str, start: str) -> None:
    """On a massless body the spring is the only force: exp(phi(t)) is R(t), and the force is R^T x."""
    rng = np.random.default_rng(5)
    body = random_body(rng, "b", -1, joint)
    body = replace(body, placement=np.eye(4), mass=0.0, inertia=np.zeros((3, 3)), stiffness=2.0)
    tree = TreeSpec((body,))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 9)
    quaternion = {
        "identity": [0, 0, 0, 1],
        "generic": [0.1, -0.7, 0.5, 0.5],
        "negative": [0.1, -0.7, 0.5, -0.5],
        "almost half a turn": [0.6, 0.48, 0.64, 0.1],
    }
    q[-4:] = np.array(quaternion[start]) / np.linalg.norm(quaternion[start])
    tau = virtual_work.inverse_dynamics(tree, q, v) / 2.0
    poses = virtual_work.body_poses(tree, q, v)[:8, 0]
    h = 0.01
    powers = np.array([h**k / factorial(k) for k in range(8)])
    phi, pose = powers @ tau[:, -3:], np.tensordot(powers, poses, 1)
    angle = np.linalg.norm(phi)
    n = np.cross(phi / angle, -np.eye(3))  # [phi / angle]
    assert angle <= np.pi
    assert np.abs(np.eye(3) + np.sin(angle) * n + (1 - np.cos(angle)) * n @ n - pose[:3, :3]).max() < 1e-12
    if joint == "free":
        assert np.abs(powers @ tau[:, :3] - pose[:3, :3].T @ pose[:3, 3]).max() < 1e-12


def pinocchio_model(pin: object, tree: TreeSpec) -> object:
    model = pin.Model()
    model.gravity.linear = tree.gravity
    for body in tree.bodies:
        joint = {
            "revolute": lambda b: pin.JointModelRevoluteUnaligned(b.axis),
            "prismatic": lambda b: pin.JointModelPrismaticUnaligned(b.axis),
            "helical": lambda b: pin.JointModelHelicalUnaligned(b.axis, b.pitch),
            "free": lambda b: pin.JointModelFreeFlyer(),
        }[body.joint](body)
        index = model.addJoint(body.parent + 1, joint, pin.SE3(body.placement), body.name)
        model.appendBodyToJoint(index, pin.Inertia(body.mass, body.com, body.inertia), pin.SE3.Identity())
    return model


@pytest.mark.parametrize("seed", range(3))
def test_pinocchio(seed: int) -> None:
    """rnea at the acceleration level, with external forces."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 9, floating=True, joints=ONE_DOF)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 2)
    wrenches = random_wrenches(rng, list(range(9)), 1)
    model = pinocchio_model(pin, tree)
    forces = [pin.Force.Zero(), *(pin.Force(wrenches[i][0]) for i in range(9))]
    expected = pin.rnea(model, model.createData(), q, v[0], v[1], forces)[None]
    assert_close(virtual_work.inverse_dynamics(tree, q, v, wrenches), expected)
    assert_close(paper_a.inverse_dynamics(tree, q, v, wrenches), expected)


def test_pinocchio_along_the_motion() -> None:
    """The derivatives extrapolate rnea's torque to a later instant of the same polynomial motion."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 6, joints=ONE_DOF)
    rows, h = 8, 0.01
    q, v = random_configuration(rng, tree), random_stack(rng, tree, rows)
    powers = np.array([h**k / factorial(k) for k in range(rows + 1)])
    later_q, later_v, later_a = powers @ np.vstack([q, v]), powers[:-1] @ v, powers[:-2] @ v[1:]
    model = pinocchio_model(pin, tree)
    expected = pin.rnea(model, model.createData(), later_q, later_v, later_a)
    tau = powers[: rows - 1] @ virtual_work.inverse_dynamics(tree, q, v)
    assert_close(tau[None], expected[None])
