"""Partial derivatives of inverse and forward dynamics, against oracles that share no code with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from build import joint_of, jounce_model
from oracles import directional, paper_b
from trees import (
    ALL_JOINTS,
    ONE_DOF,
    TreeSpec,
    random_body,
    random_configuration,
    random_stack,
    random_tree,
)

MOVING = [j for j in ALL_JOINTS if j != "fixed"]


def off(result: np.ndarray, truth: np.ndarray) -> float:
    """Relative to the largest entry."""
    assert result.shape == truth.shape
    return float(np.abs(result - truth).max() / np.abs(truth).max())


def case(seed: int, n: int, **kwargs) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, **kwargs)
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 2)


def assert_inverse(tree: TreeSpec, robot: jn.Model, q: np.ndarray, v: np.ndarray, tolerance: float, **wrenches) -> None:
    """All three matrices, each along two random directions in all coordinates at once."""
    directions = np.random.default_rng(0).normal(size=(2, tree.nv))
    none = np.zeros(tree.nv)
    ways = [(None, np.array(rows)) for d in directions for rows in ([d, none], [none, d])]
    given = {key: value for key, value in wrenches.items() if key != "wrenches"}
    named = {tree.bodies[i].name: w[0] for i, w in wrenches.get("wrenches", {}).items()}
    truth = directional.derivatives(tree, q, v, [*((d, None) for d in directions), *ways], **wrenches)[:, 0]
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v[0], v[1], wrenches=named or None, **given)
    assert off(directions @ by_q.T, truth[:2]) < tolerance
    assert off(directions @ by_v.T, truth[2::2]) < tolerance
    assert off(directions @ M.T, truth[3::2]) < tolerance


# --- inverse dynamics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", MOVING)
def test_every_joint(joint: str) -> None:
    """At the root, in the middle and at the ends, so also `Free` and `Spherical` on moving bodies."""
    rng = np.random.default_rng(1)
    kinds = ((-1, joint), (0, "revolute"), (1, joint), (1, "prismatic"), (2, joint))
    bodies = tuple(random_body(rng, f"b{i}", parent, kind, passive=True) for i, (parent, kind) in enumerate(kinds))
    tree = TreeSpec(bodies, gravity=rng.uniform(-10, 10, 3))
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 2)
    assert_inverse(tree, jounce_model(tree), q, v, 1e-13)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("n", [1, 7, 16])
def test_random_trees(n: int, floating: bool) -> None:
    tree, robot, q, v = case(n, n, floating=floating, passive=n < 10)
    assert_inverse(tree, robot, q, v, 1e-12)


def test_every_instruction_set(instruction_set: str) -> None:
    tree, robot, q, v = case(10, 7, joints=MOVING)
    assert_inverse(tree, robot, q, v, 1e-12)
    assert_forward(tree, robot, q, v[0], v[1])


def test_every_entry() -> None:
    tree, robot, q, v = case(4, 4, joints=("free", "planar", "universal", "spherical"))
    by_q, by_v = directional.jacobians(tree, q, v)
    found = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    for result, truth in zip(found, (by_q[0], by_v[0, 0], by_v[0, 1]), strict=True):
        assert off(result, truth) < 1e-13


@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_wrenches_are_held_in_their_own_axes(wrench_frame: str) -> None:
    tree, robot, q, v = case(3, 6, floating=True)
    rng = np.random.default_rng(3)
    wrenches = {i: 20 * rng.normal(size=(1, 6)) for i in (0, 3, 5)}
    assert_inverse(tree, robot, q, v, 1e-13, wrenches=wrenches, wrench_frame=wrench_frame)


def test_the_axes_of_a_wrench_matter() -> None:
    tree, robot, q, v = case(3, 8, floating=True)
    wrenches = {tree.bodies[7].name: np.ones(6)}
    by_q = [
        robot.inverse_dynamics_derivatives(q, v[0], v[1], wrenches=wrenches, wrench_frame=frame)[0]
        for frame in ("body", "world", "mixed")
    ]
    assert min(np.abs(by_q[i] - by_q[i - 1]).max() for i in range(3)) > 1e-2


def test_wrench_on_a_fixed_frame() -> None:
    """A fixed body at the end carries the wrench, which is held in that body's axes."""
    rng = np.random.default_rng(5)
    kinds = ("free", "revolute", "spherical", "fixed")
    bodies = tuple(random_body(rng, f"b{i}", i - 1, kind) for i, kind in enumerate(kinds))
    tree = TreeSpec(bodies)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 2)
    for frame in ("body", "world", "mixed"):
        wrench = {3: rng.normal(size=(1, 6))}
        assert_inverse(tree, jounce_model(tree), q, v, 1e-13, wrenches=wrench, wrench_frame=frame)


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_springs_of_balls_near_the_identity_and_near_pi(joint: str) -> None:
    rng = np.random.default_rng(5)
    tree = TreeSpec((replace(random_body(rng, "b", -1, joint), stiffness=3.0),), gravity=np.zeros(3))
    robot, v = jounce_model(tree), random_stack(rng, tree, 2)
    for angle in (0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-6):
        turn = np.append(np.sin(angle / 2) * np.array([1.0, -2.0, 2.0]) / 3, np.cos(angle / 2))
        q = np.append(rng.normal(size=tree.nq - 4), turn)
        (truth,) = directional.derivatives(tree, q, v, [(d := rng.normal(size=tree.nv), None)])[:, 0]
        for each in (q, np.append(q[:-4], -turn)):
            assert off(robot.inverse_dynamics_derivatives(each, *v)[0] @ d, truth) < 1e-13, angle


def test_springs_at_rest_elsewhere() -> None:
    """A rest position changes forces, not their derivatives; nor `forward_dynamics_derivatives`, at the same a."""
    rng = np.random.default_rng(2)
    bodies = tuple(random_body(rng, f"b{i}", i - 1, kind, passive=True) for i, kind in enumerate(ONE_DOF))
    tree, builder = TreeSpec(bodies), jn.Builder()
    for body in bodies:
        joint = joint_of(body)
        kinds = {"revolute": (body.axis,), "prismatic": (body.axis,), "helical": (body.axis, body.pitch)}
        passive = {key: getattr(body, key) for key in ("armature", "damping", "stiffness")}
        joint = type(joint)(*kinds[body.joint], **passive, rest=rng.normal())
        parent = "world" if body.parent < 0 else bodies[body.parent].name
        builder.add(body.name, parent, joint, body.placement, jn.Inertia(body.mass, body.com, body.inertia))
    robot, plain = builder.build(), jounce_model(tree)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 2)
    tau = robot.inverse_dynamics(q, v[0], v[1])
    assert np.abs(tau - plain.inverse_dynamics(q, v[0], v[1])).min() > 1e-3
    assert_inverse(tree, robot, q, v, 1e-13)
    assert_forward(tree, robot, q, v[0], tau)


def test_passive_terms_that_differ_by_coordinate() -> None:
    """Each coordinate of a joint has its own armature, damping and stiffness: they add to the diagonals."""
    rng = np.random.default_rng(8)
    body = random_body(rng, "b", -1, "planar")
    armature, damping, stiffness = rng.uniform(0.1, 1, (3, 3))
    models = []
    for options in ({}, {"armature": armature, "damping": damping, "stiffness": stiffness}):
        builder = jn.Builder()
        joint = jn.Planar(body.axis, body.axis2, **options)
        builder.add("b", "world", joint, body.placement, jn.Inertia(body.mass, body.com, body.inertia))
        models.append(builder.build())
    q, v, a = rng.normal(size=(3, 3))
    bare, passive = (m.inverse_dynamics_derivatives(q, v, a) for m in models)
    for one, other, diagonal in zip(bare, passive, (stiffness, damping, armature), strict=True):
        np.testing.assert_allclose(other - one, np.diag(diagonal), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_against_paper_b(seed: int) -> None:
    tree, robot, q, v = case(seed, 15, floating=True, joints=ONE_DOF)
    by_q, by_v, M = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    paper_q, paper_v = paper_b.inverse_dynamics_derivatives(tree, q, v[0], v[1])
    assert off(by_q, paper_q) < 1e-13
    assert off(by_v, paper_v) < 1e-13
    assert off(paper_b.immamb(tree, q[7:]) @ M, np.eye(tree.nv)) < 1e-11
    _, _, inverse = robot.forward_dynamics_derivatives(q, v[0], robot.inverse_dynamics(q, v[0], v[1]))
    assert off(inverse, paper_b.immamb(tree, q[7:])) < 1e-12


def test_only_gravity_depends_on_the_pose_of_the_base() -> None:
    tree, _, q, v = case(6, 9, floating=True)
    floating = jounce_model(replace(tree, gravity=np.zeros(3)))
    assert np.abs(floating.inverse_dynamics_derivatives(q, v[0], v[1])[0][:, :6]).max() < 1e-12
    by_q = jounce_model(tree).inverse_dynamics_derivatives(q, v[0], v[1])[0]
    assert np.abs(by_q[:, :3]).max() < 1e-12
    assert np.abs(by_q[:, 3:6]).max() > 1


# --- forward dynamics ----------------------------------------------------------------------------------


def assert_forward(tree: TreeSpec, robot: jn.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, **wrenches) -> None:
    """A change according to the derivatives leaves tau unchanged, or changes it as prescribed.

    The oracle gives the change of tau along (dq, dv, da); times M^-1 it is an error of da. Relative to the largest
    entry it may be as large as rounding at the condition number of M, 1e3 to 1e5 here.
    """
    given = {key: value for key, value in wrenches.items() if key != "wrenches"}
    named = {tree.bodies[i].name: w[0] for i, w in wrenches.get("wrenches", {}).items()} or None
    a = robot.forward_dynamics(q, v, tau, wrenches=named, **given)
    found = robot.forward_dynamics_derivatives(q, v, tau, wrenches=named, **given)
    directions = np.random.default_rng(1).normal(size=(2, tree.nv))
    none = np.zeros(tree.nv)
    ways, changes = [], []
    for d in directions:
        ways += [(d, [none, found[0] @ d]), (none, [d, found[1] @ d]), (none, [none, found[2] @ d])]
        changes += [none, none, d]
    ways = [(dq, np.array(dv)) for dq, dv in ways]
    residual = directional.derivatives(tree, q, np.array([v, a]), ways, **wrenches)[:, 0] - changes
    M = robot.mass_matrix(q)
    wrong = np.abs(np.linalg.solve(M, residual.T)).reshape(tree.nv, 2, 3)
    for i, matrix in enumerate(found):
        assert wrong[:, :, i].max() < min(2e-15 * np.linalg.cond(M), 1e-9) * np.abs(matrix).max()


@pytest.mark.parametrize("joint", MOVING)
def test_every_joint_forward(joint: str) -> None:
    tree, robot, q, v = case(1, 5, joints=(joint, "revolute"), passive=True)
    assert_forward(tree, robot, q, v[0], robot.inverse_dynamics(q, v[0], v[1]))


@pytest.mark.parametrize("floating", [False, True])
def test_random_trees_forward(floating: bool) -> None:
    tree, robot, q, v = case(2, 10, floating=floating)
    assert_forward(tree, robot, q, v[0], v[1])


@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_wrenches_forward(wrench_frame: str) -> None:
    tree, robot, q, v = case(3, 6, floating=True)
    rng = np.random.default_rng(3)
    wrenches = {i: rng.normal(size=(1, 6)) for i in (0, 3, 5)}
    assert_forward(tree, robot, q, v[0], v[1], wrenches=wrenches, wrench_frame=wrench_frame)


# --- Pinocchio -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "base"),
    [("talos_reduced.urdf", "floating"), ("anymal.urdf", "floating"), ("panda.urdf", "fixed")],
)
@pytest.mark.parametrize("pushed", [False, True])
def test_against_pinocchio(name: str, base: str, pushed: bool) -> None:
    """With pushed, a wrench on every body, fixed in its axes."""
    pinocchio = pytest.importorskip("pinocchio")
    from urdf_peer import urdf_path, urdf_peer

    peer = urdf_peer(urdf_path(name), base)
    robot, rng = peer.robot, np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), *rng.normal(size=(2, robot.nv))
    state = [peer.q_to_pin(q), peer.v_to_pin(v)]
    tau = robot.inverse_dynamics(q, v, a)
    wrenches, extra = None, []
    if pushed:
        joints = [peer.model.frames[peer.frame_id(body)].parentJoint for body in robot.body_names]
        forces = rng.normal(size=(len(joints), 6))
        wrenches = dict(zip(robot.body_names, forces, strict=True))
        every = [pinocchio.Force.Zero() for _ in range(peer.model.njoints)]
        for joint, force in zip(joints, forces, strict=True):
            every[joint] = pinocchio.Force(force)
        extra = [every]

    theirs = pinocchio.computeRNEADerivatives(peer.model, peer.data, *state, peer.v_to_pin(a), *extra)
    for result, truth in zip(robot.inverse_dynamics_derivatives(q, v, a, wrenches=wrenches), theirs, strict=True):
        assert off(result, peer.matrix_from_pin(_symmetric(truth, theirs[2]))) < 1e-10

    theirs = pinocchio.computeABADerivatives(peer.model, peer.data, *state, peer.v_to_pin(tau), *extra)
    for result, truth in zip(robot.forward_dynamics_derivatives(q, v, tau, wrenches=wrenches), theirs, strict=True):
        assert off(result, peer.matrix_from_pin(_symmetric(truth, theirs[2]))) < 1e-10


def _symmetric(matrix: np.ndarray, half_filled: np.ndarray) -> np.ndarray:
    """Pinocchio guarantees only the upper triangle of the mass matrix and its inverse."""
    return np.triu(matrix) + np.triu(matrix, 1).T if matrix is half_filled else np.array(matrix)


# --- shapes, batches, couplings ------------------------------------------------------------------------


def test_batches_broadcast(instruction_set: str) -> None:
    _, robot, _, _ = case(9, 7, floating=True)
    rng = np.random.default_rng(9)
    q = robot.random_configuration(rng, (50, 1))
    v, a = rng.normal(size=(2, 3, robot.nv))
    wrenches = {robot.body_names[-1]: rng.normal(size=(50, 3, 6))}
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        found = method(q, v, a, wrenches=wrenches, wrench_frame="mixed")
        for i in (0, 1, 2, 24, 49):
            for j in range(3):
                one = {name: w[i, j] for name, w in wrenches.items()}
                single = method(q[i, 0], v[j], a[j], wrenches=one, wrench_frame="mixed")
                for many, alone in zip(found, single, strict=True):
                    assert many.shape == (50, 3, robot.nv, robot.nv)
                    np.testing.assert_allclose(many[i, j], alone, rtol=1e-11, atol=1e-11)


def test_no_states_at_all() -> None:
    _, robot, _, _ = case(9, 3)
    none = np.zeros((0, robot.nv))
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        assert [x.shape for x in method(robot.neutral(), none, none)] == [(0, robot.nv, robot.nv)] * 3


def test_bad_arguments() -> None:
    _, robot, q, v = case(9, 3, floating=True)
    for method in (robot.inverse_dynamics_derivatives, robot.forward_dynamics_derivatives):
        with pytest.raises(ValueError, match="q has shape"):
            method(q[:-1], v[0], v[1])
        with pytest.raises(ValueError, match="v has shape"):
            method(q, v[0, :-1], v[1])
        with pytest.raises(ValueError, match="nan"):
            method(q, v[0], np.nan * v[1])
        with pytest.raises(ValueError, match="wrench_frame"):
            method(q, v[0], v[1], wrenches={robot.body_names[0]: np.zeros(6)}, wrench_frame="sideways")
        with pytest.raises(ValueError, match="nobody"):
            method(q, v[0], v[1], wrenches={"nobody": np.zeros(6)})


def test_joints_that_follow_others() -> None:
    """With v_full = G v and tau = G^T tau_full, along G d; and forward dynamics, since M and tau are known."""
    rng = np.random.default_rng(12)
    kinds = ((-1, "free"), (0, "revolute"), (1, "prismatic"), (1, "helical"), (3, "spherical"), (4, "revolute"))
    bodies = tuple(random_body(rng, f"b{i}", parent, kind, passive=True) for i, (parent, kind) in enumerate(kinds))
    tree, builder = TreeSpec(bodies), jn.Builder()
    follows = {2: jn.Follow("b1", 0.7, 0.2), 5: jn.Follow("b3", -1.3, -0.4)}
    for i, body in enumerate(bodies):
        joint = joint_of(body)
        if i in follows:
            passive = {key: getattr(body, key) for key in ("armature", "damping", "stiffness")}
            joint = type(joint)(body.axis, **passive, follows=follows[i])
        parent = "world" if body.parent < 0 else bodies[body.parent].name
        builder.add(body.name, parent, joint, body.placement, jn.Inertia(body.mass, body.com, body.inertia))
    robot = builder.build()
    at = tree.v_slices()
    own = [j for i in range(6) if i not in follows for j in range(at[i].start, at[i].stop)]
    G = np.eye(tree.nv)[:, own]
    G[at[2].start, own.index(at[1].start)] = 0.7
    G[at[5].start, own.index(at[3].start)] = -1.3

    full_q = random_configuration(rng, tree)
    position = tree.q_slices()
    full_q[position[2]], full_q[position[5]] = 0.7 * full_q[position[1]] + 0.2, -1.3 * full_q[position[3]] - 0.4
    q = np.concatenate([full_q[position[i]] for i in range(6) if i not in follows])
    v = rng.normal(size=(2, len(own)))
    d = rng.normal(size=len(own))
    ways = [(G @ d, None), (None, np.array([G @ d, 0 * G @ d])), (None, np.array([0 * G @ d, G @ d]))]
    truth = directional.derivatives(tree, full_q, v @ G.T, ways)[:, 0] @ G
    K, D, M = robot.inverse_dynamics_derivatives(q, v[0], v[1])
    for result, expected in zip((K, D, M), truth, strict=True):
        assert off(result @ d, expected) < 1e-13
    forward = robot.forward_dynamics_derivatives(q, v[0], robot.inverse_dynamics(q, v[0], v[1]))
    for result, expected in zip(forward, (-K, -D, np.eye(len(own))), strict=True):
        assert off(result, np.linalg.solve(M, expected)) < 1e-11


def test_singular_robots_are_refused_forward_only() -> None:
    builder = jn.Builder()
    builder.add("a", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, (0, 0, 0.1), np.zeros((3, 3))))
    robot = builder.build()
    assert np.isfinite(robot.inverse_dynamics_derivatives([0.3], [0.1], [0.2])).all()
    with pytest.raises(ValueError, match="singular"):
        robot.forward_dynamics_derivatives([0.3], [0.1], [0.2])


@pytest.mark.parametrize("rows", [2, 3])
def test_arms_on_the_world_do_not_meet(rows: int) -> None:
    """Not even by rounding: matrix entries between them are exactly zero."""
    rng = np.random.default_rng(2)
    joints = [(-1, "revolute"), (-1, "prismatic"), (0, "revolute"), (1, "revolute"), (3, "prismatic")]  # alternating
    bodies = tuple(random_body(rng, f"b{i}", parent, joint) for i, (parent, joint) in enumerate(joints))
    robot = jounce_model(TreeSpec(bodies))
    q, v = robot.random_configuration(rng), rng.normal(size=(rows, robot.nv))
    arm = np.array([0, 1, 0, 1, 1], dtype=bool)
    apart = arm[:, None] != arm
    matrices = [*robot.inverse_dynamics_derivatives(q, v), robot.mass_matrix_derivatives(q, v[:-1])]
    matrices += [robot.coriolis_matrix(q, v[0]), robot.inverse_mass_matrix(q)]
    for matrix in matrices:
        assert np.all(matrix[..., apart] == 0)
        assert matrix[..., ~apart].any()
