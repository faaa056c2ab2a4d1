"""The forward and hybrid dynamics oracle against the inverse dynamics one and, where applicable, Pinocchio.

Forward dynamics amplifies rounding from order to order, by the square of the fastest natural frequency (light
bodies under gravity, springs and wrenches) every two orders. For a motion with all derivatives about 1, which no
such tree would make by itself, an error of one unit in the last place of tau changes the fifth derivative of the
acceleration by up to 1e-5. So accelerations are compared on motions whose derivatives grow like those of free
motions, and otherwise the residual is compared: tau computed back from the accelerations found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles import paper_a, paper_a_forward
from trees import (
    ALL_JOINTS,
    BodySpec,
    TreeSpec,
    random_body,
    random_configuration,
    random_stack,
    random_tree,
)

pytestmark = pytest.mark.night  # and .ci/run
ORDERS = 6  # r = 0..5
SPEED, RATE = 0.3, 20.0  # RATE per second


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    """Each row to the tolerance relative to the row's greatest magnitude."""
    assert actual.shape == expected.shape
    error = np.abs(actual - expected).max(axis=1) / np.abs(expected).max(axis=1)
    assert error.max() < tolerance, error  # fails on NaN too


def random_motion(rng: np.random.Generator, tree: TreeSpec) -> np.ndarray:
    """A velocity stack whose k-th row is about SPEED RATE^k."""
    return SPEED * random_stack(rng, tree, ORDERS + 1) * RATE ** np.arange(ORDERS + 1)[:, None]


def any_tree(rng: np.random.Generator, n: int, floating: bool, passive: bool) -> TreeSpec:
    return without_group_stiffness(random_tree(rng, n, floating=floating, passive=passive))


def without_group_stiffness(tree: TreeSpec) -> TreeSpec:
    group = ("spherical", "free")
    return replace(tree, bodies=tuple(replace(b, stiffness=0.0) if b.joint in group else b for b in tree.bodies))


def tree_with(joint: str, rng: np.random.Generator) -> TreeSpec:
    """The joint on the world, in the middle and at the end, with passive terms."""
    kinds = ((-1, joint), (0, "revolute"), (1, joint), (1, "prismatic"), (2, joint), (0, "spherical"))
    bodies = tuple(random_body(rng, f"b{i}", p, kind, passive=True) for i, (p, kind) in enumerate(kinds))
    return without_group_stiffness(TreeSpec(bodies, gravity=rng.uniform(-10.0, 10.0, 3)))


def random_wrenches(rng: np.random.Generator, tree: TreeSpec, orders: int = ORDERS) -> dict[int, np.ndarray]:
    bodies = {0, len(tree.bodies) // 2, len(tree.bodies) - 1}
    return {i: rng.uniform(-5.0, 5.0, (orders, 6)) for i in bodies}


def back(tree: TreeSpec, q: np.ndarray, v: np.ndarray, acc: np.ndarray, wrenches: dict) -> np.ndarray:
    return paper_a.inverse_dynamics(tree, q, np.vstack([v, acc]), wrenches)


@pytest.mark.parametrize("joint", ALL_JOINTS)
def test_each_joint(joint: str) -> None:
    rng = np.random.default_rng(sum(joint.encode()))
    tree = tree_with(joint, rng)
    q, v = random_configuration(rng, tree), random_motion(rng, tree)
    tau = paper_a.inverse_dynamics(tree, q, v)
    assert_close(paper_a_forward.forward_dynamics(tree, q, v[0], tau), v[1:], 1e-11)


@pytest.mark.parametrize("passive", [False, True])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(("seed", "n"), [(1, 12), (3, 6), (9, 1)])
def test_round_trip(seed: int, n: int, floating: bool, passive: bool) -> None:
    """forward(inverse(acc)) is acc, with applied wrenches."""
    rng = np.random.default_rng(seed)
    tree = any_tree(rng, n, floating, passive)
    q, v = random_configuration(rng, tree), random_motion(rng, tree)
    wrenches = random_wrenches(rng, tree)
    tau = paper_a.inverse_dynamics(tree, q, v, wrenches)
    acc = paper_a_forward.forward_dynamics(tree, q, v[0], tau, wrenches)
    assert_close(acc, v[1:], 1e-9)


@pytest.mark.parametrize("passive", [False, True])
@pytest.mark.parametrize("floating", [False, True])
def test_residual(floating: bool, passive: bool) -> None:
    """inverse(forward(tau)) is tau at full speed, up to rounding of the forces for the accelerations."""
    rng = np.random.default_rng(0)
    tree = any_tree(rng, 12, floating, passive)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 1)[0]
    tau, wrenches = random_stack(rng, tree, ORDERS), random_wrenches(rng, tree)
    acc = paper_a_forward.forward_dynamics(tree, q, v, tau, wrenches)
    forces = np.abs(acc) @ np.abs(paper_a_forward.leading_matrix(tree, q, v[None], 0)).T
    error = np.abs(back(tree, q, v, acc, wrenches) - tau).max(axis=1) / forces.max(axis=1)
    assert error.max() < 1e-13, error


@pytest.mark.parametrize("floating", [False, True])
def test_leading_matrix_is_that_of_every_order(floating: bool) -> None:
    """Lemma 2: the factor of the highest unknown is the mass matrix (with armature) at all orders."""
    rng = np.random.default_rng(2)
    tree = any_tree(rng, 5, floating, True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 5)
    matrices = [paper_a_forward.leading_matrix(tree, q, v, order) for order in range(5)]
    assert np.abs(matrices[0] - matrices[0].T).max() < 1e-13
    assert np.linalg.eigvalsh(matrices[0]).min() > 0
    for M in matrices[1:]:
        assert np.abs(M - matrices[0]).max() < 1e-10 * np.abs(matrices[0]).max()


@pytest.mark.parametrize("floating", [False, True])
def test_articulated_inertias(floating: bool) -> None:
    """Each is the inverse of the free body's block in the inverse mass matrix of the branch from there on."""
    rng = np.random.default_rng(4)
    tree = any_tree(rng, 12, floating, True)
    q = random_configuration(rng, tree)
    inertias = paper_a_forward.articulated_inertias(tree, q)
    assert len(inertias) == len(tree.bodies)
    for i, M_A in enumerate(inertias):
        if tree.bodies[i].joint == "fixed":
            assert M_A is None
            continue
        branch, q_branch = freed_branch(tree, q, i)
        M = paper_a_forward.leading_matrix(branch, q_branch, np.zeros((1, branch.nv)), 0)
        expected = np.linalg.inv(np.linalg.inv(M)[:6, :6])
        assert_close(M_A, expected, 1e-10)


def freed_branch(tree: TreeSpec, q: np.ndarray, root: int) -> tuple[TreeSpec, np.ndarray]:
    """The bodies from root on, root being free on the world, at the origin."""
    index = {root: 0}
    bodies: list[BodySpec] = [replace(tree.bodies[root], parent=-1, joint="free", placement=np.eye(4), armature=0.0)]
    parts = [np.array([0, 0, 0, 0, 0, 0, 1.0])]
    for i, (body, q_at) in enumerate(zip(tree.bodies, tree.q_slices(), strict=True)):
        if body.parent in index:
            index[i] = len(bodies)
            bodies.append(replace(body, parent=index[body.parent]))
            parts.append(q[q_at])
    return without_group_stiffness(TreeSpec(tuple(bodies))), np.concatenate(parts)


@pytest.mark.parametrize(("floating", "passive"), [(False, True), (True, False), (True, True)])
def test_hybrid(floating: bool, passive: bool) -> None:
    """All, none and some of the joints prescribed; values not given are NaN on input."""
    rng = np.random.default_rng(1)
    tree = any_tree(rng, 12, floating, passive)
    q, v = random_configuration(rng, tree), random_motion(rng, tree)
    wrenches = random_wrenches(rng, tree)
    truth = paper_a.inverse_dynamics(tree, q, v, wrenches)
    sizes = [body.nv for body in tree.bodies]
    for share in (0.0, 0.3, 0.7, 1.0):
        prescribed = np.repeat(rng.uniform(size=len(sizes)) < share, sizes)
        acc, tau = np.where(prescribed, v[1:], np.nan), np.where(prescribed, np.nan, truth)
        acc, tau = paper_a_forward.hybrid_dynamics(tree, q, v[0], acc, tau, prescribed, wrenches)
        assert_close(acc, v[1:], 1e-9)
        assert_close(tau, truth, 1e-9)
        assert np.array_equal(acc[:, prescribed], v[1:, prescribed])
        assert np.array_equal(tau[:, ~prescribed], truth[:, ~prescribed])
        if share == 0.0:
            assert np.array_equal(acc, paper_a_forward.forward_dynamics(tree, q, v[0], truth, wrenches))
        if share == 1.0:
            assert_close(tau, truth, 1e-12)


def test_hybrid_takes_whole_joints() -> None:
    tree = TreeSpec((random_body(np.random.default_rng(0), "b", -1, "universal"),))
    zero = np.zeros((1, 2))
    with pytest.raises(AssertionError, match="whole joints"):
        paper_a_forward.hybrid_dynamics(tree, zero[0], zero[0], zero, zero, np.array([True, False]))


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_no_group_stiffness(joint: str) -> None:
    rng = np.random.default_rng(0)
    tree = TreeSpec((random_body(rng, "b", -1, joint, passive=True),))
    zero = np.zeros((1, tree.nv))
    with pytest.raises(NotImplementedError):
        paper_a_forward.forward_dynamics(tree, random_configuration(rng, tree), zero[0], zero)


def test_base_case() -> None:
    """The paper's own base, with its wrench and acceleration in world coordinates."""
    rng = np.random.default_rng(1)
    tree = any_tree(rng, 9, True, False)
    q, v = random_configuration(rng, tree), random_motion(rng, tree)
    wrenches = random_wrenches(rng, tree)
    tau = paper_a.inverse_dynamics(tree, q, v, wrenches)
    tau[:, :6] = np.nan
    W_prop = paper_a.base_wrench_spatial(tree, q, v, wrenches)
    V_dot = paper_a_forward.base_acceleration_spatial(tree, q, v[0], tau, W_prop, wrenches)
    links, _ = paper_a.links_of(tree, q, v)
    V = paper_a.forward(links, ORDERS)[1][0]
    assert_close(V_dot, V[1:, paper_a.ANGULAR_FIRST], 1e-9)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_pinocchio(seed: int, floating: bool) -> None:
    """aba with external forces, at full speed."""
    pin = pytest.importorskip("pinocchio")
    from peers import PinocchioTree

    rng = np.random.default_rng(seed)
    tree = any_tree(rng, 12, floating, False)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 1)[0]
    tau = random_stack(rng, tree, 1)
    wrenches = {i: rng.uniform(-5.0, 5.0, (1, 6)) for i, b in enumerate(tree.bodies) if b.joint != "fixed"}
    peer = PinocchioTree(tree)
    forces = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    for i, wrench in wrenches.items():
        forces[peer.body_joint[i]] = pin.Force(wrench[0])
    expected = pin.aba(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(tau[0]), forces)
    acc = paper_a_forward.forward_dynamics(tree, q, v, tau, wrenches)
    assert_close(acc, peer.v_from_pin(expected)[None], 1e-11)
