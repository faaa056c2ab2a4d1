"""Partial derivatives of every time derivative of forces and accelerations, against differences in 96 digits."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import joint_of, jounce_model
from oracles import directional
from oracles.paper_b import cross, hat
from trees import ALL_JOINTS, TreeSpec, random_body, random_configuration, random_stack, random_tree

MOVING = [j for j in ALL_JOINTS if j != "fixed"]
ROWS = 6  # v to its fifth derivative: forces to their fourth


def case(seed: int, n: int, rows: int = ROWS, **kwargs) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, **kwargs)
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)


def off(result: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Error of each order of the forces (axis -2), relative to its largest entry; zero where both are zero."""
    assert result.shape == truth.shape
    scale = np.abs(truth).max(-1)
    return np.abs(result - truth).max(-1) / np.where(scale > 0, scale, 1)


def named(tree: TreeSpec, wrenches: dict[int, np.ndarray] | None) -> dict[str, np.ndarray] | None:
    return None if wrenches is None else {tree.bodies[i].name: w for i, w in wrenches.items()}


def changed_row(v: np.ndarray, m: int, d: np.ndarray) -> np.ndarray:
    """A change d of row m of the stack only."""
    change = np.zeros_like(v)
    change[m] = d
    return change


def assert_inverse(
    tree: TreeSpec,
    robot: jn.Model,
    q: np.ndarray,
    v: np.ndarray,
    tolerance: float,
    wrenches: dict[int, np.ndarray] | None = None,
    wrench_frame: str = "body",
) -> None:
    """Derivatives by q and by each v^(m), along a random direction in all coordinates at once."""
    d = np.random.default_rng(0).normal(size=tree.nv)
    ways = [(d, None), *((None, changed_row(v, m, d)) for m in range(len(v)))]
    truth = directional.derivatives(tree, q, v, ways, wrenches, wrench_frame)
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v, wrenches=named(tree, wrenches), wrench_frame=wrench_frame)
    assert by_q.shape == (len(v) - 1, tree.nv, tree.nv)
    assert by_v.shape == (len(v) - 1, len(v), tree.nv, tree.nv)
    assert off(by_q @ d, truth[0]).max() < tolerance
    assert off(np.moveaxis(by_v @ d, 1, 0), truth[1:]).max() < tolerance


@pytest.mark.parametrize("joint", MOVING)
def test_every_joint(joint: str) -> None:
    """At the root and at the end, so also balls and free bodies on moving bodies."""
    rng = np.random.default_rng(1)
    kinds = ((-1, joint), (0, "revolute"), (1, joint))
    bodies = tuple(random_body(rng, f"b{i}", parent, kind, passive=True) for i, (parent, kind) in enumerate(kinds))
    tree = TreeSpec(bodies, gravity=rng.uniform(-10, 10, 3))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, ROWS)
    assert_inverse(tree, jounce_model(tree), q, v, 1e-12)


@pytest.mark.parametrize("floating", [False, True])
def test_random_trees(floating: bool) -> None:
    tree, robot, q, v = case(2, 6, floating=floating)
    assert_inverse(tree, robot, q, v, 1e-12)


def test_every_entry() -> None:
    tree, robot, q, v = case(4, 2, 4, joints=("free", "spherical"))
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v)
    true_q, true_v = directional.jacobians(tree, q, v)
    assert np.abs(by_q - true_q).max() < 1e-13 * np.abs(true_q).max()
    assert np.abs(by_v - true_v).max() < 1e-13 * np.abs(true_v).max()


@pytest.mark.parametrize("order", [0, 1, 5])
def test_low_orders(order: int, instruction_set: str) -> None:
    tree, robot, q, v = case(5, 3, order + 2, joints=("free", "revolute", "spherical"))
    assert_inverse(tree, robot, q, v, 1e-12)


@pytest.mark.parametrize("order", [9, 13])
def test_high_orders(order: int) -> None:
    """Beyond the last order with specialized code."""
    tree, robot, q, v = case(5, 2, order + 2, joints=("free", "helical"))
    assert_inverse(tree, robot, q, v, 1e-10)


@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_wrenches_are_held_in_their_own_axes(wrench_frame: str) -> None:
    """The whole stack of the wrench is held constant."""
    tree, robot, q, v = case(6, 4, floating=True)
    rng = np.random.default_rng(6)
    wrenches = {i: 10 * rng.normal(size=(ROWS - 1, 6)) for i in (0, 1, 3)}
    assert_inverse(tree, robot, q, v, 1e-12, wrenches, wrench_frame)


def test_two_rows_are_the_ordinary_derivatives() -> None:
    _, robot, q, v = case(7, 8, 2, floating=True, passive=True)
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v)
    K, D, M = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    for stacked, single in ((by_q[0], K), (by_v[0, 0], D), (by_v[0, 1], M)):
        np.testing.assert_allclose(stacked, single, rtol=1e-12, atol=1e-12)


def test_what_the_highest_rows_multiply() -> None:
    """tau^(k) = M v^(k+1) + ...: M for every k, nothing beyond, and k M' + D one row below."""
    _, robot, q, v = case(8, 8, floating=True)
    by_v = robot.inverse_dynamics_derivatives(q, v)[1]
    M, M_rate = robot.mass_matrix_derivatives(q, v[:1])
    D = robot.inverse_dynamics_derivatives(q, v[0], v[1])[1]
    for k in range(ROWS - 1):
        np.testing.assert_allclose(by_v[k, k + 1], M, rtol=0, atol=1e-12)
        assert not by_v[k, k + 2 :].any()
        np.testing.assert_allclose(by_v[k, k], k * M_rate + D, rtol=0, atol=1e-11)


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_tangent_coordinates_of_balls_turn_with_them(joint: str) -> None:
    """dq' = dv - ad_v dq, so dtau'/dq is K' - K ad_v, while for plain coordinates it is K'."""
    rng = np.random.default_rng(9)
    tree = TreeSpec((random_body(rng, "b", -1, joint),))
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 3)
    ad = cross(v[0]) if joint == "free" else hat(v[0])
    h = 1e-4
    ahead, behind = (
        robot.inverse_dynamics_derivatives(robot.integrate(q, t * v[0] + t**2 / 2 * v[1]), *(v[:2] + t * v[1:]))[0]
        for t in (h, -h)
    )
    rate = (ahead - behind) / (2 * h)
    by_q = robot.inverse_dynamics_derivatives(q, v)[0]
    assert np.abs(by_q[1] - (rate - by_q[0] @ ad)).max() < 1e-6
    assert np.abs(by_q[1] - rate).max() > 0.1


def test_against_differences_of_the_library_itself() -> None:
    """What a user would do: perturb, call, subtract; with the same `integrate`."""
    _, robot, q, v = case(10, 5, 4, floating=True)
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v)
    d = np.random.default_rng(3).normal(size=robot.nv)

    def slope(f) -> np.ndarray:
        h = 2e-3
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)

    by_difference = slope(lambda h: robot.inverse_dynamics(robot.integrate(q, h * d), v))
    np.testing.assert_allclose(by_q @ d, by_difference, rtol=1e-6, atol=1e-6 * np.abs(by_difference).max())
    for m in range(4):
        by_difference = slope(lambda h, m=m: robot.inverse_dynamics(q, v + changed_row(v, m, h * d)))
        np.testing.assert_allclose(by_v[:, m] @ d, by_difference, rtol=1e-6, atol=1e-6 * np.abs(by_difference).max())


# --- forward dynamics ----------------------------------------------------------------------------------


def assert_forward(
    tree: TreeSpec,
    robot: jn.Model,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    tolerance: float,
    wrenches: dict[int, np.ndarray] | None = None,
    wrench_frame: str = "body",
) -> None:
    """A change according to the derivatives changes tau^(l) as prescribed, and no other derivative of tau.

    Each residual is compared with the largest term that cancels in it.
    """
    rows = len(tau)
    options = {"wrenches": named(tree, wrenches), "wrench_frame": wrench_frame}
    acc = robot.forward_dynamics(q, v, tau, **options)
    by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, v, tau, **options)
    assert by_q.shape == by_v.shape == (rows, tree.nv, tree.nv)
    assert by_tau.shape == (rows, rows, tree.nv, tree.nv)
    d = np.random.default_rng(1).normal(size=tree.nv)
    stack, none = np.vstack([v, acc]), np.zeros(tree.nv)
    ways = [(d, np.vstack([none, by_q @ d])), (none, np.vstack([d, by_v @ d]))]
    ways += [(none, np.vstack([none, by_tau[:, m] @ d])) for m in range(rows)]
    wanted = np.zeros((rows + 2, rows, tree.nv))
    for m in range(rows):
        wanted[2 + m, m] = d
    residual = directional.derivatives(tree, q, stack, ways, wrenches, wrench_frame) - wanted
    dtau_dq, dtau_dv = (np.abs(x) for x in robot.inverse_dynamics_derivatives(q, stack, **options))
    for (dq, dv), wrong in zip(ways, residual, strict=True):
        terms = dtau_dq @ np.abs(dq) + np.einsum("kmij,mj->ki", dtau_dv, np.abs(dv))
        assert (np.abs(wrong).max(-1) < tolerance * np.maximum(terms.max(-1), 1)).all()


@pytest.mark.parametrize("joint", MOVING)
def test_every_joint_forward(joint: str) -> None:
    tree, robot, q, v = case(11, 3, joints=(joint, "revolute"), passive=True)
    assert_forward(tree, robot, q, v[0], robot.inverse_dynamics(q, v), 1e-12)


@pytest.mark.parametrize("floating", [False, True])
def test_random_trees_forward(floating: bool) -> None:
    tree, robot, q, v = case(12, 6, floating=floating)
    assert_forward(tree, robot, q, v[0], v[1:], 1e-12)


@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_wrenches_forward(wrench_frame: str) -> None:
    tree, robot, q, v = case(13, 5, 4, floating=True)
    rng = np.random.default_rng(6)
    wrenches = {i: rng.normal(size=(3, 6)) for i in (0, 4)}
    assert_forward(tree, robot, q, v[0], v[1:], 1e-12, wrenches, wrench_frame)


def test_forward_against_differences_of_the_library_itself() -> None:
    _, robot, q, v = case(14, 3, 4, floating=True, joints=("revolute", "spherical"), passive=True)
    tau = robot.inverse_dynamics(q, v)
    d = np.random.default_rng(3).normal(size=robot.nv)

    def slope(f) -> np.ndarray:
        """Extrapolated to h^6."""
        h = 2e-3
        return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)

    by_q, by_v, by_tau = robot.forward_dynamics_derivatives(q, v[0], tau)
    pairs = [
        (by_q, slope(lambda h: robot.forward_dynamics(robot.integrate(q, h * d), v[0], tau))),
        (by_v, slope(lambda h: robot.forward_dynamics(q, v[0] + h * d, tau))),
    ]
    pairs += [
        (by_tau[:, m], slope(lambda h, m=m: robot.forward_dynamics(q, v[0], tau + changed_row(tau, m, h * d))))
        for m in range(3)
    ]
    for matrices, by_difference in pairs:
        assert off(matrices @ d, by_difference).max() < 1e-7


def test_order_zero_forward_is_the_ordinary_one() -> None:
    _, robot, q, v = case(15, 6, 2, floating=True)
    stacked = robot.forward_dynamics_derivatives(q, v[0], v[1:])
    single = robot.forward_dynamics_derivatives(q, v[0], v[1])
    for many, one in zip((stacked[0][0], stacked[1][0], stacked[2][0, 0]), single, strict=True):
        np.testing.assert_allclose(many, one, rtol=1e-10, atol=1e-10)


def test_forward_and_inverse_undo_each_other() -> None:
    """As one block-triangular system: d(acc)/d(tau) is the inverse of d(tau)/d(acc), and so on."""
    _, robot, q, v = case(16, 6, 5, floating=True, passive=True)
    n, rows = robot.nv, 4
    dtau_dq, dtau_dv = robot.inverse_dynamics_derivatives(q, v)
    da_dq, da_dv, da_dtau = robot.forward_dynamics_derivatives(q, v[0], robot.inverse_dynamics(q, v))
    J = np.swapaxes(dtau_dv[:, 1:], 1, 2).reshape(rows * n, rows * n)
    inverse = np.swapaxes(da_dtau, 1, 2).reshape(rows * n, rows * n)
    condition = np.linalg.cond(J)
    assert np.abs(J @ inverse - np.eye(rows * n)).max() < 1e-15 * condition
    for by_tau, by_x in ((dtau_dq, da_dq), (dtau_dv[:, 0], da_dv)):
        assert np.abs(J @ by_x.reshape(rows * n, n) + by_tau.reshape(rows * n, n)).max() < 1e-15 * condition


# --- shapes, batches, couplings ------------------------------------------------------------------------


def test_batches_broadcast() -> None:
    _, robot, _, _ = case(17, 5, floating=True)
    rng = np.random.default_rng(17)
    q = robot.random_configuration(rng, (4, 1))
    v = rng.normal(size=(3, 4, robot.nv))
    wrenches = {robot.body_names[-1]: rng.normal(size=(4, 3, 3, 6))}
    inverse = robot.inverse_dynamics_derivatives(q, v, wrenches=wrenches)
    forward = robot.forward_dynamics_derivatives(q, v[:, 0], v[:, 1:], wrenches=wrenches)
    assert [x.shape[:-2] for x in inverse] == [(4, 3, 3), (4, 3, 3, 4)]
    assert [x.shape[:-2] for x in forward] == [(4, 3, 3), (4, 3, 3), (4, 3, 3, 3)]
    for i in range(4):
        for j in range(3):
            one = {name: w[i, j] for name, w in wrenches.items()}
            alone = robot.inverse_dynamics_derivatives(q[i, 0], v[j], wrenches=one)
            alone += robot.forward_dynamics_derivatives(q[i, 0], v[j, 0], v[j, 1:], wrenches=one)
            for many, single in zip(inverse + forward, alone, strict=True):
                np.testing.assert_allclose(many[i, j], single, rtol=1e-9, atol=1e-9 * np.abs(single).max())


def test_wrenches_alone_may_carry_the_batch() -> None:
    _, robot, q, v = case(18, 4, 3, floating=True)
    wrenches = {robot.body_names[-1]: np.random.default_rng(0).normal(size=(5, 2, 6))}
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v, wrenches=wrenches, wrench_frame="world")
    assert by_q.shape[:-2] == (5, 2)
    assert by_v.shape[:-2] == (5, 2, 3)
    for i in range(5):
        one = {name: w[i] for name, w in wrenches.items()}
        single = robot.inverse_dynamics_derivatives(q, v, wrenches=one, wrench_frame="world")
        np.testing.assert_allclose(by_q[i], single[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(by_v[i], single[1], rtol=0, atol=1e-12)


def test_bad_arguments() -> None:
    _, robot, q, v = case(19, 3, 4)
    with pytest.raises(ValueError, match="v has shape"):
        robot.inverse_dynamics_derivatives(q, v[:1])
    with pytest.raises(ValueError, match="v has shape"):
        robot.inverse_dynamics_derivatives(q, v[0])
    with pytest.raises(ValueError, match="highest order"):
        robot.inverse_dynamics_derivatives(q, np.zeros((jn.MAX_ORDER + 3, robot.nv)))
    with pytest.raises(ValueError, match="highest order"):
        robot.forward_dynamics_derivatives(q, v[0], np.zeros((jn.MAX_ORDER + 2, robot.nv)))
    with pytest.raises(ValueError, match="at least one row"):
        robot.forward_dynamics_derivatives(q, v[0], np.zeros((0, robot.nv)))
    with pytest.raises(ValueError, match="for each row"):
        robot.forward_dynamics_derivatives(q, v[0], v[1:], wrenches={robot.body_names[0]: np.zeros(6)})


def test_joints_that_follow_others() -> None:
    """With v_full = G v and tau = G^T tau_full, at every order."""
    rng = np.random.default_rng(20)
    kinds = ((-1, "free"), (0, "revolute"), (1, "prismatic"), (2, "spherical"))
    bodies = tuple(random_body(rng, f"b{i}", parent, kind, passive=True) for i, (parent, kind) in enumerate(kinds))
    tree, builder = TreeSpec(bodies), jn.Builder()
    for body in bodies:
        joint = joint_of(body)
        if body.joint == "prismatic":
            passive = {key: getattr(body, key) for key in ("armature", "damping", "stiffness")}
            joint = jn.Prismatic(body.axis, **passive, follows=jn.Follow("b1", 0.7, 0.2))
        parent = "world" if body.parent < 0 else bodies[body.parent].name
        builder.add(body.name, parent, joint, body.placement, jn.Inertia(body.mass, body.com, body.inertia))
    robot = builder.build()
    G = np.delete(np.eye(tree.nv), 7, axis=1)
    G[7, 6] = 0.7
    full_q = random_configuration(rng, tree)
    full_q[8] = 0.7 * full_q[7] + 0.2
    q, v, d = np.delete(full_q, 8), rng.normal(size=(4, robot.nv)), rng.normal(size=robot.nv)
    ways = [(G @ d, None), *((None, changed_row(v, m, d) @ G.T) for m in range(4))]
    truth = directional.derivatives(tree, full_q, v @ G.T, ways) @ G
    by_q, by_v = robot.inverse_dynamics_derivatives(q, v)
    assert off(by_q @ d, truth[0]).max() < 1e-12
    assert off(np.moveaxis(by_v @ d, 1, 0), truth[1:]).max() < 1e-12

    tau = robot.inverse_dynamics(q, v)
    da_dq, da_dv, da_dtau = robot.forward_dynamics_derivatives(q, v[0], tau)
    for k in range(3):  # the chain rule, order by order
        below = [by_v[k, j + 1] for j in range(k + 1)]
        for by_x, start in ((da_dq, by_q[k]), (da_dv, by_v[k, 0])):
            zero = start + sum(m @ x for m, x in zip(below, by_x, strict=False))
            assert np.abs(zero).max() < 1e-12 * np.abs(by_x).max()
        for m in range(3):
            unit = sum(matrix @ x for matrix, x in zip(below, da_dtau[:, m], strict=False))
            assert np.abs(unit - (k == m) * np.eye(robot.nv)).max() < 1e-12 * np.abs(da_dtau[:, m]).max()


def test_mass_on_a_spring() -> None:
    """tau^(k) = m v^(k+1) + d v^(k) + s v^(k-1), and tau = ... + s q."""
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("a", "world", jn.Prismatic((1, 0, 0), stiffness=3.0, damping=2.0), inertia=jn.Inertia(5.0))
    by_q, by_v = builder.build().inverse_dynamics_derivatives([0.4], np.ones((5, 1)))
    np.testing.assert_allclose(by_q[:, 0, 0], [3, 0, 0, 0], rtol=1e-14)
    expected = [[{-1: 3, 0: 2, 1: 5}.get(m - k, 0) for m in range(5)] for k in range(4)]
    np.testing.assert_allclose(by_v[..., 0, 0], expected, rtol=1e-14)
