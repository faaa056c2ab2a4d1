"""Mass, Coriolis and gravity terms with their derivatives: against point masses, inverse dynamics and Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import comb

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from oracles import differentiate
from peers import PinocchioTree, pinocchio
from trees import ALL_JOINTS, TreeSpec, random_configuration, random_pose, random_stack, random_tree

FRAMES = ("body", "world", "mixed")
KINDS: dict[str, dict] = {joint: {"n": 5, "joints": (joint, "revolute")} for joint in ALL_JOINTS if joint != "fixed"}
KINDS |= {
    "tree": {"n": 14},
    "floating": {"n": 12, "floating": True},
    "free bodies on bodies": {"n": 6, "joints": ("free", "spherical", "fixed")},
    "chain": {"n": 7, "joints": ("revolute", "prismatic", "helical"), "serial": True},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_frame = pytest.mark.parametrize("frame", FRAMES)
some_kinds = pytest.mark.parametrize("kind", ["tree", "floating", "free bodies on bodies"])


@cache
def case(kind: str, passive: bool = True, rows: int = 8) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    tree = random_tree(rng, passive=passive, **KINDS[kind])
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, rows)


@cache
def motions(kind: str) -> dict[str, differentiate.Motion]:
    tree, _, q, v = case(kind)
    return differentiate.motions(tree, q, v)


def rows_in(kind: str, frame: str) -> np.ndarray:
    """The velocity stack of the case, in that frame."""
    return differentiate.derivatives(motions(kind)[frame].rows)


def undamped(tree: TreeSpec) -> jn.Model:
    return jounce_model(replace(tree, bodies=tuple(replace(b, damping=0.0, stiffness=0.0) for b in tree.bodies)))


def error(result: np.ndarray, truth: np.ndarray) -> float:
    """The largest error, relative to the magnitude of the derivative it is in (axis 0)."""
    assert result.shape == truth.shape
    result, truth = result.reshape(len(truth), -1), truth.reshape(len(truth), -1)
    return float((np.abs(result - truth).max(axis=1) / np.abs(truth).max(axis=1)).max())


def leibniz(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Derivative n of a @ b from those of a and b."""
    return sum(comb(n, k) * a[n - k] @ b[k] for k in range(n + 1))


def test_some_subtree_is_no_range() -> None:
    """Bodies come in any order: code that takes a subtree for a range of indices is wrong, and would be detected."""
    carried = differentiate._carried(case("tree")[0]).T
    assert any((np.diff(np.flatnonzero(below)) > 1).any() for below in carried)


# --- against point masses ------------------------------------------------------------------------------


@every_frame
@every_kind
def test_derivatives_against_point_masses(kind: str, frame: str) -> None:
    _, robot, q, _ = case(kind)
    m, rows = motions(kind)[frame], rows_in(kind, frame)
    truth = differentiate.mass_matrix(m)
    assert error(robot.mass_matrix_derivatives(q, rows, frame=frame), truth) < 1e-12
    assert error(robot.mass_matrix(q, frame=frame)[None], truth[:1]) < 1e-13
    truth = differentiate.coriolis_matrix(m)
    assert error(robot.coriolis_matrix_derivatives(q, rows, frame=frame), truth) < 1e-12
    assert error(robot.coriolis_matrix(q, rows[0], frame=frame)[None], truth[:1]) < 1e-13
    truth = differentiate.gravity_force(m)
    assert error(robot.gravity_force_derivatives(q, rows, frame=frame), truth) < 1e-12
    assert error(robot.gravity_force(q, frame=frame)[None], truth[:1]) < 1e-13


@pytest.mark.parametrize("frame", ["body", "mixed"])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6, 9, 13, 20, 30])
def test_every_order(rows: int, frame: str, instruction_set: str) -> None:
    robot, q, in_frames = highest()
    given = differentiate.derivatives(in_frames[frame].rows)[:rows]
    for name in ("mass_matrix", "coriolis_matrix", "gravity_force"):
        truth = truth_of_highest(name, frame)
        result = getattr(robot, f"{name}_derivatives")(q, given, frame=frame)
        assert len(result) == rows + (name != "coriolis_matrix")
        batch = getattr(robot, f"{name}_derivatives")(np.stack([robot.neutral()] * 9 + [q]), given, frame=frame)
        for each in (result, batch[-1]):
            assert error(each[:8], truth[: len(each)][:8]) < 1e-12
            assert error(each, truth[: len(each)]) < 1e-9


@cache
def highest() -> tuple[jn.Model, np.ndarray, dict[str, differentiate.Motion]]:
    rng = np.random.default_rng(30)
    tree = random_tree(rng, 5, joints=("revolute", "helical", "universal"), floating=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, jn.MAX_ORDER)
    return jounce_model(tree), q, differentiate.motions(tree, q, v)


@cache
def truth_of_highest(name: str, frame: str) -> np.ndarray:
    return getattr(differentiate, name)(highest()[-1][frame])


# --- against inverse dynamics --------------------------------------------------------------------------


@every_frame
@every_kind
def test_they_are_the_inverse_dynamics(kind: str, frame: str) -> None:
    """tau^(n) = sum of binom(n, k) (M^(n-k) v^(k+1) + C^(n-k) v^(k)) + g^(n)."""
    tree, robot, q, _ = case(kind)
    v = rows_in(kind, frame)
    M = robot.mass_matrix_derivatives(q, v, frame=frame)
    C = robot.coriolis_matrix_derivatives(q, v, frame=frame)
    g = robot.gravity_force_derivatives(q, v, frame=frame)
    tau = [leibniz(M, v[1:], n) + leibniz(C, v, n) + g[n] for n in range(7)]
    assert error(np.array(tau), undamped(tree).inverse_dynamics(q, v, frame=frame)) < 1e-11


@every_frame
@some_kinds
def test_torque_coefficients(kind: str, frame: str) -> None:
    tree, robot, q, _ = case(kind)
    v = rows_in(kind, frame)
    truth = undamped(tree).inverse_dynamics(q, v, frame=frame)
    g = robot.gravity_force_derivatives(q, v, frame=frame)
    for n in (0, 1, 3, 6):
        P = robot.torque_coefficients(q, v[: n + 1], frame=frame)
        assert P.shape == (n + 2, tree.nv, tree.nv)
        assert error((np.einsum("kij,kj->i", P, v[: n + 2]) + g[n])[None], truth[n : n + 1]) < 1e-11
        np.testing.assert_allclose(robot.torque_coefficients(q, v, n, frame=frame), P, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(P[-1], robot.mass_matrix(q, frame=frame), rtol=0, atol=1e-12)


@every_frame
@some_kinds
def test_the_rest_is_damping_and_springs(kind: str, frame: str) -> None:
    """These act on the velocity and the displacement in body axes, whatever the frame."""
    tree, robot, q, _ = case(kind)
    m, v = motions(kind)[frame], rows_in(kind, frame)
    M = robot.mass_matrix_derivatives(q, v, frame=frame)
    C = robot.coriolis_matrix_derivatives(q, v, frame=frame)
    g = robot.gravity_force_derivatives(q, v, frame=frame)
    tau = robot.inverse_dynamics(q, v, frame=frame)
    in_body = differentiate.product("ij,j->i", m.to_body, m.rows)
    damping, stiffness = (differentiate._each(tree, key) for key in ("damping", "stiffness"))
    force = damping * in_body + stiffness * m.displacement[: len(in_body)]
    passive = differentiate.derivatives(differentiate.product("ji,j->i", m.to_body, force))
    rest = [tau[n] - leibniz(M, v[1:], n) - leibniz(C, v, n) - g[n] for n in range(7)]
    assert error(np.array(rest) + tau, passive[:7] + tau) < 1e-11
    bias = robot.coriolis_matrix(q, v[0], frame=frame) @ v[0] + g[0] + passive[0]
    assert error(robot.bias_force(q, v[0], frame=frame)[None], bias[None]) < 1e-12


@every_frame
@every_kind
def test_passive_inverse_dynamics(kind: str, frame: str) -> None:
    """With the robot's own velocity in C and another as its factor; no damping, no springs."""
    _, robot, q, _ = case(kind)
    v = rows_in(kind, frame)
    M, C = robot.mass_matrix(q, frame=frame), robot.coriolis_matrix(q, v[0], frame=frame)
    truth = M @ v[2] + C @ v[1] + robot.gravity_force(q, frame=frame)
    assert error(robot.inverse_dynamics_passive(q, v[0], v[1], v[2], frame=frame)[None], truth[None]) < 1e-13


def test_passive_inverse_dynamics_of_the_motion_itself() -> None:
    tree, robot, q, v = case("floating")
    result = robot.inverse_dynamics_passive(q, v[0], v[0], v[1])
    assert error(result[None], undamped(tree).inverse_dynamics(q, v[:2])) < 1e-13


@every_frame
def test_drives_that_differ_between_the_axes(frame: str) -> None:
    """For a free joint: in body axes each coordinate has its own armature; in other axes they are coupled and vary."""
    armature = (1.0, 2.0, 3.0, 0.4, 0.5, 0.6)
    box = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
    rng = np.random.default_rng(4)
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(armature=armature), random_pose(rng), box)
    builder.add("arm", "base", jn.Universal(armature=(0.7, 0.8)), random_pose(rng), box)
    builder.add("kite", "arm", jn.Free(armature=armature[::-1]), random_pose(rng), box)
    robot = builder.build()
    q, v = robot.random_configuration(rng), rng.normal(size=(6, robot.nv))
    M = robot.mass_matrix_derivatives(q, v, frame=frame)
    C = robot.coriolis_matrix_derivatives(q, v, frame=frame)
    g = robot.gravity_force_derivatives(q, v, frame=frame)
    tau = [leibniz(M, v[1:], n) + leibniz(C, v, n) + g[n] for n in range(5)]
    assert error(np.array(tau), robot.inverse_dynamics(q, v, frame=frame)) < 1e-12
    assert error(C + C.swapaxes(1, 2), M[1:]) < 1e-12
    force = robot.inverse_dynamics_passive(q, *v[:3], frame=frame)
    assert error(force[None], (M[0] @ v[2] + C[0] @ v[1] + g[0])[None]) < 1e-13
    momentum = [leibniz(M, v, n) for n in range(6)]
    energy = [sum(comb(n, k) * v[n - k] @ momentum[k] for k in range(n + 1)) / 2 for n in range(6)]
    np.testing.assert_allclose(robot.kinetic_energy_derivatives(q, v, frame=frame), energy, rtol=1e-11)
    np.testing.assert_allclose(robot.inverse_mass_matrix(q, frame=frame) @ M[0], np.eye(robot.nv), atol=1e-12)


# --- structure -----------------------------------------------------------------------------------------


@every_frame
@every_kind
def test_mass_matrix_rate_is_coriolis_and_its_transpose(kind: str, frame: str) -> None:
    _, robot, q, _ = case(kind)
    v = rows_in(kind, frame)
    M = robot.mass_matrix_derivatives(q, v, frame=frame)
    C = robot.coriolis_matrix_derivatives(q, v, frame=frame)
    assert error(C + C.swapaxes(1, 2), M[1:]) < 1e-12


@every_frame
@every_kind
def test_mass_matrix_rate_less_twice_coriolis_is_skew(kind: str, frame: str) -> None:
    _, robot, _, _ = case(kind)
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng, 20), rng.normal(size=(20, 1, robot.nv))
    M, dM = robot.mass_matrix_derivatives(q, v, frame=frame).swapaxes(0, 1)
    N = dM - 2 * robot.coriolis_matrix(q, v[:, 0], frame=frame)
    assert np.abs(N).max() > 1e-3
    assert error(N, -N.swapaxes(1, 2)) < 1e-12
    power = np.einsum("bi,bij,bj->b", v[:, 0], N, v[:, 0])
    assert (np.abs(power) < 1e-12 * np.abs(N).max(axis=(1, 2)) * (v[:, 0] ** 2).sum(axis=1)).all()
    assert error(M, M.swapaxes(1, 2)) < 1e-15
    assert (np.linalg.eigvalsh(M) > 0).all()


def test_passive_in_every_frame_but_not_the_same() -> None:
    """With v_world = T v: M = T^T M_world T, C = T^T (C_world T + M_world dT/dt)."""
    _, robot, q, v = case("free bodies on bodies")
    for frame in ("world", "mixed"):
        m = motions("free bodies on bodies")[frame]
        S, dS = m.to_body[0], differentiate.rate(m.to_body)[0]
        M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, v[0])
        rows = rows_in("free bodies on bodies", frame)
        assert error(robot.mass_matrix(q, frame=frame)[None], (S.T @ M @ S)[None]) < 1e-13
        there = robot.coriolis_matrix(q, rows[0], frame=frame)
        assert error(there[None], (S.T @ (C @ S + M @ dS))[None]) < 1e-13
        assert error(there[None], (S.T @ C @ S)[None]) > 1e-2


def test_far_from_the_origin() -> None:
    """In body axes the robot's position does not matter: nothing is computed about a distant point."""
    _, robot, q, v = case("floating", passive=False)
    far = q.copy()
    far[:3] += 1e4, -1e4, 1e4
    for name in ("mass_matrix", "coriolis_matrix", "gravity_force"):
        there, here = (getattr(robot, f"{name}_derivatives")(at, v[:4]) for at in (far, q))
        assert error(there, here) < 1e-12
    assert error(robot.inverse_mass_matrix(far)[None], robot.inverse_mass_matrix(q)[None]) < 1e-12
    result = robot.inverse_dynamics_passive(far, *v[:3])
    assert error(result[None], robot.inverse_dynamics_passive(q, *v[:3])[None]) < 1e-12


# --- the inverse ---------------------------------------------------------------------------------------


@every_frame
@every_kind
def test_inverse_mass_matrix(kind: str, frame: str) -> None:
    _, robot, _, _ = case(kind)
    rng = np.random.default_rng(1)
    q, force = robot.random_configuration(rng, 9), rng.normal(size=(9, robot.nv))
    inverse, M = robot.inverse_mass_matrix(q, frame=frame), robot.mass_matrix(q, frame=frame)
    np.testing.assert_allclose(inverse @ M, np.broadcast_to(np.eye(robot.nv), M.shape), rtol=0, atol=1e-11)
    assert error(inverse, inverse.swapaxes(1, 2)) < 1e-14
    if frame == "body":
        applied = robot.inverse_mass_matrix_apply(q, force)
        assert error((inverse @ force[..., None])[..., 0], applied) < 1e-12


def test_what_nothing_resists_has_no_inverse() -> None:
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0, 0, 1)))
    builder.add("needle", "arm", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, (0, 0, 0.5)))  # a point on its axis
    robot = builder.build()
    for call in (robot.inverse_mass_matrix, lambda q: robot.inverse_mass_matrix_apply(q, np.ones(2))):
        with pytest.raises(ValueError, match="'needle'"):
            call(np.zeros((3, 2)))
    M = robot.mass_matrix([0.3, 0.2])
    np.testing.assert_allclose(M, [[1 + 0.25, 0], [0, 0]], rtol=0, atol=1e-15)


def test_massless_bodies_between() -> None:
    """A universal joint made of two bodies, the first without mass."""
    box = jn.Inertia(2.0, (0.1, 0.2, 0.3), (0.03, 0.02, 0.04))
    whole, parts = jn.Builder(), jn.Builder()
    whole.add("box", "world", jn.Universal((0, 0, 1), (1, 0, 0)), inertia=box)
    parts.add("nothing", "world", jn.Revolute((0, 0, 1)))
    parts.add("box", "nothing", jn.Revolute((1, 0, 0)), inertia=box)
    a, b = whole.build(), parts.build()
    q, v = np.array([0.4, -1.2]), np.random.default_rng(0).normal(size=(5, 2))
    for name in ("mass_matrix", "coriolis_matrix", "gravity_force", "centroidal_momentum_matrix"):
        assert error(getattr(b, f"{name}_derivatives")(q, v), getattr(a, f"{name}_derivatives")(q, v)) < 1e-13
    assert error(b.inverse_mass_matrix(q), a.inverse_mass_matrix(q)) < 1e-13


@every_frame
@some_kinds
def test_instruction_sets(kind: str, frame: str, instruction_set: str) -> None:
    """One state and many, which run different code."""
    _, robot, _, _ = case(kind)
    rng = np.random.default_rng(2)
    q, v = robot.random_configuration(rng, 9), rng.normal(size=(3, 9, robot.nv))
    inverse, M = robot.inverse_mass_matrix(q, frame=frame), robot.mass_matrix(q, frame=frame)
    np.testing.assert_allclose(inverse @ M, np.broadcast_to(np.eye(robot.nv), M.shape), rtol=0, atol=1e-11)
    force = robot.inverse_dynamics_passive(q, *v, frame=frame)
    for i in (0, 8):
        assert error(robot.inverse_mass_matrix(q[i], frame=frame)[None], inverse[i : i + 1]) < 1e-12
        truth = robot.coriolis_matrix(q[i], v[0, i], frame=frame) @ v[1, i] + M[i] @ v[2, i]
        truth += robot.gravity_force(q[i], frame=frame)
        assert error(force[i : i + 1], truth[None]) < 1e-13
        assert error(robot.inverse_dynamics_passive(q[i], *v[:, i], frame=frame)[None], truth[None]) < 1e-13


# --- against Pinocchio ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("floating", [False, True])
def test_against_pinocchio(seed: int, floating: bool) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 20, floating=floating)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 1)[0]
    peer = PinocchioTree(tree)
    at, given, speed = np.ix_(peer.v_index, peer.v_index), peer.q_to_pin(q), peer.v_to_pin(v)

    def upper(matrix: np.ndarray) -> np.ndarray:
        return (np.triu(matrix) + np.triu(matrix, 1).T)[at]

    truth = upper(pinocchio.crba(peer.model, peer.data, given))
    assert error(robot.mass_matrix(q)[None], truth[None]) < 1e-13
    truth = upper(pinocchio.computeMinverse(peer.model, peer.data, given))
    assert error(robot.inverse_mass_matrix(q)[None], truth[None]) < 1e-10  # of numbers up to 1e6
    bias = peer.v_from_pin(pinocchio.nonLinearEffects(peer.model, peer.data, given, speed))
    assert error(robot.bias_force(q, v)[None], bias[None]) < 1e-12
    weight = peer.v_from_pin(pinocchio.computeGeneralizedGravity(peer.model, peer.data, given))
    assert error(robot.gravity_force(q)[None], weight[None]) < 1e-12
    theirs = pinocchio.computeCoriolisMatrix(peer.model, peer.data, given, speed)[at]
    ours = robot.coriolis_matrix(q, v)
    assert error((ours @ v)[None], (theirs @ v)[None]) < 1e-11
    assert error((ours + ours.T)[None], (theirs + theirs.T)[None]) < 1e-11
    assert error(ours[None], theirs[None]) > 1e-2  # another factorization
