"""Centre of mass, momentum and energy with derivatives: against point masses, mechanics and Pinocchio."""

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
from trees import ALL_JOINTS, TreeSpec, random_body, random_configuration, random_stack, random_tree

FRAMES = ("body", "world", "mixed")
KINDS: dict[str, dict] = {joint: {"n": 5, "joints": (joint, "revolute")} for joint in ALL_JOINTS if joint != "fixed"}
KINDS |= {
    "tree": {"n": 14},
    "floating": {"n": 12, "floating": True},
    "free bodies on bodies": {"n": 6, "joints": ("free", "spherical", "fixed")},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_frame = pytest.mark.parametrize("frame", FRAMES)


@cache
def case(kind: str) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    """Each tree has an additional body fixed to the world: it has neither momentum nor energy."""
    rng = np.random.default_rng(5)
    tree = random_tree(rng, passive=True, **KINDS[kind])
    tree = TreeSpec((*tree.bodies, random_body(rng, "rock", -1, "fixed")), gravity=np.array([1.0, -2.0, -9.0]))
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 8)


@cache
def motions(kind: str) -> dict[str, differentiate.Motion]:
    tree, _, q, v = case(kind)
    return differentiate.motions(tree, q, v)


def rows_in(kind: str, frame: str) -> np.ndarray:
    return differentiate.derivatives(motions(kind)[frame].rows)


def error(result: np.ndarray, truth: np.ndarray) -> float:
    """The largest error, relative to the magnitude of the derivative it is in (axis 0)."""
    assert result.shape == truth.shape
    result, truth = result.reshape(len(truth), -1), truth.reshape(len(truth), -1)
    return float((np.abs(result - truth).max(axis=1) / np.abs(truth).max(axis=1)).max())


def leibniz(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Derivatives of a @ b from those of a and b, as many as the shorter has."""
    n = min(len(a), len(b))
    return np.array([sum(comb(k, i) * a[k - i] @ b[i] for i in range(k + 1)) for k in range(n)])


# --- against point masses ------------------------------------------------------------------------------


@every_frame
@every_kind
def test_momentum_against_point_masses(kind: str, frame: str) -> None:
    _, robot, q, _ = case(kind)
    m, v = motions(kind)[frame], rows_in(kind, frame)
    assert error(robot.center_of_mass_derivatives(q, v, frame=frame), differentiate.center_of_mass(m)) < 1e-12
    A = differentiate.momentum_matrix(m)
    assert error(robot.centroidal_momentum_matrix_derivatives(q, v, frame=frame), A) < 1e-12
    h = leibniz(A, v)
    assert error(robot.centroidal_momentum_derivatives(q, v, frame=frame), h) < 1e-12
    assert error(robot.center_of_mass(q)[None], differentiate.center_of_mass(m)[:1]) < 1e-13
    assert error(robot.centroidal_momentum_matrix(q, frame=frame)[None], A[:1]) < 1e-13
    assert error(robot.centroidal_momentum(q, v[0], frame=frame)[None], h[:1]) < 1e-13


@every_frame
@every_kind
def test_energy_against_point_masses(kind: str, frame: str) -> None:
    """The error of each derivative is relative to its terms: a sum with large terms may vanish."""
    _, robot, q, _ = case(kind)
    m, v = motions(kind)[frame], rows_in(kind, frame)
    kinetic, potential = differentiate.kinetic_energy(m), differentiate.potential_energy(m)
    M = differentiate.mass_matrix(m)
    size = np.array([np.abs(M[: n + 1]).max() * np.abs(v[: n + 1]).max() ** 2 for n in range(len(v))])
    assert (np.abs(robot.kinetic_energy_derivatives(q, v, frame=frame) - kinetic) < 1e-13 * (size + abs(kinetic))).all()
    assert robot.kinetic_energy(q, v[0], frame=frame) == pytest.approx(kinetic[0], rel=1e-13)
    force = np.abs(robot.inverse_dynamics(q, v, frame=frame)).max(axis=1)
    result = robot.potential_energy_derivatives(q, v, frame=frame)
    assert (np.abs(result[1:-1] - potential[1:-1]) < 1e-13 * (np.abs(potential[1:-1]) + force)).all()
    assert robot.potential_energy(q) == pytest.approx(potential[0], rel=1e-13)
    assert error(result, potential) < 1e-11


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 13, 20, jn.MAX_ORDER])
def test_every_order(rows: int, instruction_set: str) -> None:
    robot, q, v, expected = highest()
    many = np.stack([robot.neutral()] * 9 + [q])
    for name, truth in expected.items():
        result = getattr(robot, f"{name}_derivatives")(q, v[:rows])
        batch = getattr(robot, f"{name}_derivatives")(many, v[:rows])
        for each in (result, batch[-1]):
            assert error(each[:8], truth[: len(each)][:8]) < 1e-12
            assert error(each, truth[: len(each)]) < 1e-9


@cache
def highest() -> tuple[jn.Model, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(8)
    tree = random_tree(rng, 5, joints=("spherical", "helical", "universal"), floating=True, passive=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, jn.MAX_ORDER)
    m = differentiate.motions(tree, q, v)["body"]
    A = differentiate.momentum_matrix(m)
    expected = {"centroidal_momentum_matrix": A, "centroidal_momentum": leibniz(A, v)}
    expected |= {n: getattr(differentiate, n)(m) for n in ("center_of_mass", "kinetic_energy", "potential_energy")}
    return jounce_model(tree), q, v, expected


# --- the laws of mechanics -----------------------------------------------------------------------------


@every_frame
@every_kind
def test_power_is_the_rate_of_energy(kind: str, frame: str) -> None:
    """(T + U)' = v . tau - damping v^2, and its derivatives, with tau from inverse dynamics."""
    tree, robot, q, body_rows = case(kind)
    v = rows_in(kind, frame)
    tau = robot.inverse_dynamics(q, v, frame=frame)
    damping = differentiate._each(tree, "damping")
    power = leibniz(v, tau) - leibniz(damping * body_rows, body_rows)[: len(tau)]
    energy = robot.kinetic_energy_derivatives(q, v, frame=frame)
    energy = energy + robot.potential_energy_derivatives(q, v, frame=frame)[: len(energy)]
    terms = leibniz(np.abs(v), np.abs(tau))
    assert (np.abs(energy[1:] - power) < 1e-13 * terms).all()


@every_frame
@every_kind
def test_kinetic_energy_is_half_of_the_mass_matrix(kind: str, frame: str) -> None:
    _, robot, q, _ = case(kind)
    v = rows_in(kind, frame)
    momentum = leibniz(robot.mass_matrix_derivatives(q, v, frame=frame), v)
    truth, terms = leibniz(v, momentum) / 2, leibniz(np.abs(v), np.abs(momentum))
    assert (np.abs(robot.kinetic_energy_derivatives(q, v, frame=frame) - truth) < 1e-13 * terms).all()


def flying(gravity: tuple[float, float, float]) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    """A free-floating tree, without drives, as these do not turn with the bodies."""
    rng = np.random.default_rng(6)
    tree = replace(random_tree(rng, 10, floating=True), gravity=np.array(gravity))
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 1)[0]


@every_frame
def test_momentum_rate_is_the_force_from_outside(frame: str) -> None:
    """Mass times gravity plus the wrenches, moments about the centre of mass; joint torques have no effect."""
    tree, robot, q, v = flying((0.5, 1.0, -9.81))
    rng, order = np.random.default_rng(7), 3
    tau, names = rng.normal(size=(order + 1, robot.nv)), [tree.bodies[i].name for i in (0, 3, 7, 9)]
    tau[:, :6] = 0
    wrenches = {name: rng.normal(size=(order + 1, 6)) for name in names}
    v = robot.change_velocity_frame(q, v[None], "body", frame)[0]
    acc = robot.forward_dynamics(q, v, tau, wrenches=wrenches, wrench_frame="mixed", frame=frame)
    stack = np.concatenate([v[None], acc])
    rate = robot.centroidal_momentum_derivatives(q, stack, frame=frame)[1:]
    mass = sum(b.mass for b in tree.bodies)
    force, moment = (sum(w[:, half] for w in wrenches.values()) for half in (slice(0, 3), slice(3, 6)))
    force[0] += mass * tree.gravity
    center = robot.center_of_mass_derivatives(q, stack, frame=frame)
    positions = robot.pose_derivatives(q, stack, frames=names, frame=frame)[..., :3, 3]
    for i, w in enumerate(wrenches.values()):
        moment = moment + leibniz(differentiate.skew(positions[:, i] - center), w[:, :3])
    truth = np.concatenate([force, moment], axis=1)
    assert error(rate[:1], truth[:1]) < 1e-12
    assert error(rate, truth) < 1e-9  # forward dynamics of order 3, then inverse
    A = robot.centroidal_momentum_matrix_derivatives(q, stack, frame=frame)
    terms = leibniz(np.abs(A[:, :3]), np.abs(stack)).max(axis=1, keepdims=True)
    momentum = robot.centroidal_momentum_derivatives(q, stack, frame=frame)[:, :3]
    assert (np.abs(mass * center[1:] - momentum) < 1e-13 * terms).all()


@every_frame
def test_momentum_is_conserved_in_free_space(frame: str) -> None:
    _, robot, q, v = flying((0.0, 0.0, 0.0))
    tau = np.zeros((4, robot.nv))
    tau[:, 6:] = np.random.default_rng(1).normal(size=(4, robot.nv - 6))
    v = robot.change_velocity_frame(q, v[None], "body", frame)[0]
    stack = np.concatenate([v[None], robot.forward_dynamics(q, v, tau, frame=frame)])
    h = robot.centroidal_momentum_derivatives(q, stack, frame=frame)
    A = robot.centroidal_momentum_matrix_derivatives(q, stack, frame=frame)
    terms = leibniz(np.abs(A), np.abs(stack)).max(axis=1)
    assert np.abs(h[0]).max() > 0.1
    assert (np.abs(h[1:]).max(axis=1) < 1e-12 * terms[1:]).all()


def test_gravity_force_is_the_gradient_of_potential_energy() -> None:
    tree, _, q, v = case("tree")
    robot = jounce_model(replace(tree, bodies=tuple(replace(b, stiffness=0.0) for b in tree.bodies)))
    directions = np.eye(robot.nv)[:, None]
    rate = robot.potential_energy_derivatives(q, directions)[:, 1]
    assert error(rate[None], robot.gravity_force(q)[None]) < 1e-13
    assert robot.potential_energy_derivatives(q, v)[1] == pytest.approx(v[0] @ robot.gravity_force(q), rel=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1e-3, 0.1, 1.0, 2.0, 2.2, 3.0, np.pi - 1e-6])
def test_springs_of_ball_joints_near_the_identity_and_near_pi(angle: float) -> None:
    builder = jn.Builder(gravity=(0, 0, 0))
    builder.add("ball", "world", jn.Spherical(stiffness=3.0), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add(
        "kite", "world", jn.Free(stiffness=(5.0,) * 3 + (3.0,) * 3), inertia=jn.Inertia(1.0, rotational=(1, 1, 1))
    )
    robot = builder.build()
    axis, x = np.array([1.0, -2.0, 2.0]) / 3, np.array([0.3, -0.2, 0.5])
    turned = np.concatenate([np.sin(angle / 2) * axis, [np.cos(angle / 2)]])
    truth = 2 * 1.5 * angle**2 + 2.5 * x @ x
    for sign in (1, -1):
        q = np.concatenate([sign * turned, x, -sign * turned])
        assert robot.potential_energy(q) == pytest.approx(truth, rel=1e-14)
    v = np.random.default_rng(2).normal(size=(6, robot.nv))
    energy = robot.kinetic_energy_derivatives(q, v) + robot.potential_energy_derivatives(q, v)[:-1]
    tau = robot.inverse_dynamics(q, v)
    assert (np.abs(energy[1:] - leibniz(v, tau)) < 1e-11 * leibniz(np.abs(v), np.abs(tau))).all()


def test_textbook() -> None:
    """A cart of 3 kg with a pendulum of 2 kg half a metre below."""
    builder = jn.Builder()
    builder.add("cart", "world", jn.Prismatic((1, 0, 0)), inertia=jn.Inertia(3.0))
    builder.add("pole", "cart", jn.Revolute((0, -1, 0)), inertia=jn.Inertia(2.0, com=(0, 0, -0.5)))
    robot = builder.build()
    (x, phi), (dx, dphi) = q, v = np.array([[0.7, 0.4], [1.3, -2.0]])
    c, s = np.cos(phi), np.sin(phi)
    np.testing.assert_allclose(robot.center_of_mass(q), [x + 0.2 * s, 0, -0.2 * c], rtol=1e-14)
    bob = np.array([dx + 0.5 * c * dphi, 0.5 * s * dphi])
    assert robot.kinetic_energy(q, v) == pytest.approx(1.5 * dx**2 + bob @ bob, rel=1e-14)
    assert robot.potential_energy(q) == pytest.approx(-2 * 9.81 * 0.5 * c, rel=1e-14)
    linear = [3 * dx + 2 * bob[0], 0, 2 * bob[1]]
    spin = -(6 / 5) * 0.25 * dphi  # reduced mass times square of the distance; about -y
    np.testing.assert_allclose(robot.centroidal_momentum(q, v), [*linear, 0, spin, 0], rtol=1e-14, atol=1e-15)


def test_far_from_the_origin() -> None:
    tree, _, q, v = case("floating")
    robot = jounce_model(replace(tree, bodies=tuple(replace(b, stiffness=0.0) for b in tree.bodies)))
    move, far = np.array([1e4, -1e4, 1e4]), q.copy()
    far[:3] += move
    for name in ("centroidal_momentum", "centroidal_momentum_matrix", "kinetic_energy"):
        there, here = (getattr(robot, f"{name}_derivatives")(at, v[:4]) for at in (far, q))
        assert error(there, here) < 1e-11
    there, here = (robot.center_of_mass_derivatives(at, v[:4]) for at in (far, q))
    assert error(there[1:], here[1:]) < 1e-11
    moved = tree.bodies[0].placement[:3, :3] @ move
    assert error(there[:1], here[:1] + moved) < 1e-14
    lifted = robot.potential_energy(far) - robot.potential_energy(q)
    assert lifted == pytest.approx(-sum(b.mass for b in tree.bodies[:-1]) * tree.gravity @ moved, rel=1e-13)


# --- against Pinocchio ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("floating", [False, True])
def test_against_pinocchio(seed: int, floating: bool) -> None:
    rng = np.random.default_rng(seed)
    joints = ALL_JOINTS if floating else tuple(j for j in ALL_JOINTS if j != "fixed")  # none is fixed to the world
    tree = random_tree(rng, 20, floating=floating, joints=joints)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 2)
    peer = PinocchioTree(tree)
    model, data, at = peer.model, peer.data, peer.q_to_pin(q)
    speed, acc = peer.v_to_pin(v[0]), peer.v_to_pin(v[1])
    pinocchio.centerOfMass(model, data, at, speed, acc)
    truth = np.array([data.com[0], data.vcom[0], data.acom[0]])
    assert error(robot.center_of_mass_derivatives(q, v), truth) < 1e-12
    h = robot.centroidal_momentum_derivatives(q, v)
    pinocchio.computeCentroidalMomentumTimeVariation(model, data, at, speed, acc)
    assert error(h, np.array([data.hg.vector, data.dhg.vector])) < 1e-12
    pinocchio.dccrba(model, data, at, speed)
    truth = np.array([data.Ag[:, peer.v_index], data.dAg[:, peer.v_index]])
    assert error(robot.centroidal_momentum_matrix_derivatives(q, v[:1]), truth) < 1e-12
    pinocchio.ccrba(model, data, at, speed)
    assert error(robot.centroidal_momentum_matrix(q)[None], data.Ag[:, peer.v_index][None]) < 1e-12
    assert error(robot.centroidal_momentum(q, v[0])[None], data.hg.vector[None]) < 1e-12
    energy = pinocchio.computeKineticEnergy(model, data, at, speed)
    assert robot.kinetic_energy(q, v[0]) == pytest.approx(energy, rel=1e-12)
    assert robot.potential_energy(q) == pytest.approx(pinocchio.computePotentialEnergy(model, data, at), rel=1e-12)
