"""Forward and hybrid dynamics to any order, against oracles, peers, energy and inverse dynamics."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from jounce import robots
from oracles import paper_a_forward, virtual_work
from peers import PinocchioTree
from trees import ALL_JOINTS, TreeSpec, random_configuration, random_tree


def error(result: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Error of each row, relative to the row's magnitude."""
    return np.abs(result - truth).max(-1) / np.abs(truth).max(-1)


def lively_stack(rng: np.random.Generator, nv: int, rows: int) -> np.ndarray:
    """A motion whose derivatives grow with the order, as those of a motion with a time scale of 1/20 s.

    If they do not, the way back is ill-conditioned: an error in the forces at order k returns through gravity at order
    k + 2, multiplied by the square of the robot's own (high) frequencies.
    """
    return 0.3 * rng.uniform(-1, 1, (rows, nv)) * 20.0 ** np.arange(rows)[:, None]


def case(seed: int, n: int, **kwargs) -> tuple[np.random.Generator, TreeSpec, jn.Model, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n, **kwargs)
    return rng, tree, jounce_model(tree), random_configuration(rng, tree)


@pytest.mark.parametrize("joint", [j for j in ALL_JOINTS if j != "fixed"])
@pytest.mark.parametrize("floating", [False, True])
def test_every_joint_against_paper_a(joint: str, floating: bool) -> None:
    rng, tree, robot, q = case(1, 6, joints=(joint, "revolute"), floating=floating)
    v, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (5, tree.nv))
    assert error(robot.forward_dynamics(q, v, tau), paper_a_forward.forward_dynamics(tree, q, v, tau)).max() < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_trees_with_wrenches_against_paper_a(seed: int, instruction_set: str) -> None:
    rng, tree, robot, q = case(seed, 12, floating=seed > 0)
    v, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (4, tree.nv))
    wrenches = {i: rng.normal(size=(4, 6)) for i in (0, 5, 11)}
    truth = paper_a_forward.forward_dynamics(tree, q, v, tau, wrenches)
    named = {tree.bodies[i].name: w for i, w in wrenches.items()}
    assert error(robot.forward_dynamics(q, v, tau, wrenches=named), truth).max() < 1e-10


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("n", [3, 10, 20, 30])
def test_forward_undoes_inverse(n: int, floating: bool, instruction_set: str) -> None:
    rng, tree, robot, q = case(n, n, floating=floating, passive=True)
    stack = lively_stack(rng, tree.nv, 7)
    tau = robot.inverse_dynamics(q, stack)
    assert error(robot.forward_dynamics(q, stack[0], tau), stack[1:]).max() < 1e-9


def unavoidable(robot: jn.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, frame: str = "body") -> np.ndarray:
    """Change of the accelerations when each force is off by its rounding: no algorithm in float64 can do better."""
    rng = np.random.default_rng(0)
    rounded = [tau * (1 + 2.0**-53 * rng.choice([-1.0, 1.0], tau.shape)) for _ in range(3)]
    exact = robot.forward_dynamics(q, v, tau, frame=frame)
    return np.max([np.abs(robot.forward_dynamics(q, v, t, frame=frame) - exact) for t in rounded], axis=0)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("n", [10, 20, 30])
def test_forward_undoes_inverse_as_far_as_rounding_lets_it(n: int, floating: bool) -> None:
    """Without armature, light bodies at the ends make the accelerations sensitive to the forces' last digit."""
    rng, tree, robot, q = case(n, n, floating=floating)
    stack = lively_stack(rng, tree.nv, 7)
    tau = robot.inverse_dynamics(q, stack)
    off = np.abs(robot.forward_dynamics(q, stack[0], tau) - stack[1:]).max(-1)
    least = unavoidable(robot, q, stack[0], tau).max(-1)
    assert (off < 1e-9 * np.abs(stack[1:]).max(-1) + 10 * least).all()


@pytest.mark.parametrize("seed", range(4))
def test_inverse_undoes_forward(seed: int) -> None:
    """The residual: forces of the motion found against the forces given, relative to the terms that cancel in it."""
    rng, tree, robot, q = case(seed, 30, floating=seed % 2 == 0, passive=seed > 1)
    v, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (6, tree.nv))
    stack = np.concatenate([v[None], robot.forward_dynamics(q, v, tau)])
    size = np.abs(stack[1:]).max(axis=1, keepdims=True) + np.abs(tau).max(axis=1, keepdims=True)
    assert (np.abs(robot.inverse_dynamics(q, stack) - tau) / size).max() < 1e-10


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_aerial_manipulator_along_its_flight(frame: str) -> None:
    """Paper A's Fig. 3(a): forces of the reference motion in, the motion out, at all 3000 steps and up to order five.

    The motion is so slow that its derivatives decay with the order (3e-4 at order five) while the rounding of the
    forces returns through the arms' own frequency: from order four on, that limits the accuracy, not 1e-9.
    """
    robot = jn.robots.aerial_manipulator()
    t = np.arange(0.0, robots.HORIZON, robots.STEP)
    q, mixed = robots.reference_motion(t, 7)
    v = robot.change_velocity_frame(q, mixed, "mixed", frame)
    tau = robot.inverse_dynamics(q, v, frame=frame)
    off = np.abs(robot.forward_dynamics(q, v[:, 0], tau, frame=frame) - v[:, 1:]).max(axis=(0, 2))
    magnitude = np.abs(v[:, 1:]).max(axis=(0, 2))
    assert (off[:3] / magnitude[:3]).max() < 1e-9
    least = unavoidable(robot, q, v[:, 0], tau, frame).max(axis=(0, 2))
    assert (off < 1e-9 * magnitude + 5 * least).all()


@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
@pytest.mark.parametrize("wrench_frame", ["body", "world", "mixed"])
def test_frames_and_wrenches_both_ways(frame: str, wrench_frame: str, instruction_set: str) -> None:
    rng, tree, robot, q = case(4, 8, joints=("free", "revolute", "helical", "spherical", "prismatic"))
    stack = lively_stack(rng, tree.nv, 6)
    wrenches = {robot.body_names[i]: rng.normal(size=(5, 6)) for i in (1, 6)}
    loads = {"wrenches": wrenches, "wrench_frame": wrench_frame, "frame": frame}
    tau = robot.inverse_dynamics(q, stack, **loads)
    assert error(robot.forward_dynamics(q, stack[0], tau, **loads), stack[1:]).max() < 1e-9
    mask = np.repeat(rng.random(len(robot.joint_names)) < 0.5, [_width(robot, j) for j in robot.joint_names])
    acc, force = robot.hybrid_dynamics(q, stack[0], stack[1:], tau, prescribed=mask, **loads)
    assert error(acc, stack[1:]).max() < 1e-9
    assert error(force, tau).max() < 1e-9


def _width(robot: jn.Model, joint: str) -> int:
    where = robot.coordinate(joint)
    return where.stop - where.start


def random_mask(rng: np.random.Generator, robot: jn.Model) -> np.ndarray:
    return np.repeat(rng.random(len(robot.joint_names)) < 0.5, [_width(robot, j) for j in robot.joint_names])


@pytest.mark.parametrize("seed", range(3))
def test_hybrid_with_twenty_masks(seed: int) -> None:
    rng, tree, robot, q = case(seed, 15, floating=seed > 0, passive=seed == 2)
    stack = lively_stack(rng, tree.nv, 7)
    tau = robot.inverse_dynamics(q, stack)
    for _ in range(20):
        mask = random_mask(rng, robot)
        given_acc, given_tau = np.where(mask, stack[1:], np.nan), np.where(mask, np.nan, tau)
        acc, force = robot.hybrid_dynamics(q, stack[0], given_acc, given_tau, prescribed=mask)
        assert error(acc, stack[1:]).max() < 1e-9
        assert error(force, tau).max() < 1e-9


@pytest.mark.parametrize("seed", range(2))
def test_hybrid_against_paper_a(seed: int) -> None:
    rng, tree, robot, q = case(seed, 9, floating=True)
    v, acc, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (4, tree.nv)), rng.uniform(-1, 1, (4, tree.nv))
    for _ in range(5):
        mask = random_mask(rng, robot)
        truth = paper_a_forward.hybrid_dynamics(tree, q, v, acc, tau, mask)
        result = robot.hybrid_dynamics(q, v, acc, tau, prescribed=mask)
        for mine, theirs in zip(result, truth, strict=True):
            assert error(mine, theirs).max() < 1e-10


@pytest.mark.parametrize("many", ["q", "v", "acc", "tau"])
def test_hybrid_of_one_argument_that_is_a_batch(many: str) -> None:
    rng, tree, robot, _ = case(8, 6, floating=True)
    mask = random_mask(rng, robot)
    four = {"q": robot.random_configuration(rng, (4,))} | {
        k: rng.normal(size=(4, tree.nv)) for k in ("v", "acc", "tau")
    }
    given = {k: x if k == many else x[:1] for k, x in four.items()}
    found = robot.hybrid_dynamics(**given, prescribed=mask)
    for i in range(4):
        alone = robot.hybrid_dynamics(**{k: x[i if k == many else 0] for k, x in four.items()}, prescribed=mask)
        for several, single in zip(found, alone, strict=True):
            assert several.shape == (4, tree.nv)
            assert error(several[i], single).max() < 1e-11


def test_the_two_ends_of_hybrid() -> None:
    rng, tree, robot, q = case(7, 12, floating=True, passive=True)
    stack = lively_stack(rng, tree.nv, 5)
    tau = robot.inverse_dynamics(q, stack)
    everything, nothing = np.ones(tree.nv, bool), np.zeros(tree.nv, bool)
    acc, force = robot.hybrid_dynamics(q, stack[0], stack[1:], tau, prescribed=everything)
    np.testing.assert_allclose(acc, stack[1:], rtol=1e-15)
    assert error(force, tau).max() < 1e-12
    acc, force = robot.hybrid_dynamics(q, stack[0], stack[1:], tau, prescribed=nothing)
    np.testing.assert_array_equal(acc, robot.forward_dynamics(q, stack[0], tau))
    assert error(force, tau).max() < 1e-15


@pytest.mark.parametrize("seed", range(4))
def test_against_pinocchio(seed: int) -> None:
    pin = pytest.importorskip("pinocchio")
    rng, tree, robot, q = case(seed, 30, floating=seed % 2 == 0)
    v, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, tree.nv)
    peer = PinocchioTree(tree)
    theirs = pin.aba(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(tau))
    assert error(robot.forward_dynamics(q, v, tau), peer.v_from_pin(theirs)) < 1e-10


def test_against_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    xml = """<mujoco><option integrator="Euler"/><worldbody><body name="base"><freejoint/>
      <inertial mass="2" pos="0.02 0.01 0" diaginertia="0.03 0.04 0.05"/>
      <body name="arm" pos="0.2 0 -0.1"><joint type="hinge" axis="0 1 0" armature="0.01" damping="0.2" stiffness="0.7"/>
        <inertial mass="0.5" pos="0.1 0 -0.1" diaginertia="0.002 0.003 0.002"/>
        <body name="slider" pos="0.1 0 0"><joint type="slide" axis="0 0 1"/>
          <inertial mass="0.3" pos="0 0.05 0" diaginertia="0.001 0.001 0.001"/></body></body></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(2, (0.02, 0.01, 0), (0.03, 0.04, 0.05)))
    arm, slider = np.eye(4), np.eye(4)
    arm[:3, 3], slider[:3, 3] = (0.2, 0, -0.1), (0.1, 0, 0)
    joint = jn.Revolute((0, 1, 0), armature=0.01, damping=0.2, stiffness=0.7)
    builder.add("arm", "base", joint, arm, jn.Inertia(0.5, (0.1, 0, -0.1), (0.002, 0.003, 0.002)))
    builder.add("slider", "arm", jn.Prismatic(), slider, jn.Inertia(0.3, (0, 0.05, 0), (0.001, 0.001, 0.001)))
    robot = builder.build()

    rng = np.random.default_rng(0)
    q, v, tau = robot.random_configuration(rng), rng.normal(size=8), rng.normal(size=8)
    data.qpos[:] = q[[0, 1, 2, 6, 3, 4, 5, 7, 8]]
    rotation = robot.forward_kinematics(q).pose[0, :3, :3]
    data.qvel[:], data.qfrc_applied[:] = v, tau
    data.qvel[:3], data.qfrc_applied[:3] = rotation @ v[:3], rotation @ tau[:3]
    mujoco.mj_forward(model, data)
    acc = robot.forward_dynamics(q, v, tau)
    acc[:3] = rotation @ (acc[:3] + np.cross(v[3:6], v[:3]))  # MuJoCo's is the classical one, in world axes
    np.testing.assert_allclose(acc, data.qacc, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_lemma_two(seed: int) -> None:
    """The matrix of the highest unknown is the mass matrix at every order."""
    rng, tree, robot, q = case(seed, 10, floating=True)
    v = rng.uniform(-1, 1, (7, tree.nv))
    mass = np.linalg.inv(robot.inverse_mass_matrix_apply(q, np.eye(tree.nv)))
    for order in range(6):
        stack = np.repeat(v[None, : order + 2], tree.nv + 1, axis=0)
        stack[1:, -1] += np.eye(tree.nv)
        top = robot.inverse_dynamics(q, stack)[:, -1]
        np.testing.assert_allclose(top[1:] - top[0], mass, rtol=0, atol=1e-9 * np.abs(mass).max())


@pytest.mark.parametrize("seed", range(2))
def test_articulated_inertia(seed: int) -> None:
    _, tree, robot, q = case(seed, 10, floating=True)
    truth = [m for m in paper_a_forward.articulated_inertias(tree, q) if m is not None]
    result = robot.articulated_inertia(np.stack([q, q]))
    for mine, theirs in zip(result[1], truth, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-11 * np.abs(theirs).max())
        np.testing.assert_allclose(mine, mine.T, rtol=0, atol=1e-12 * np.abs(theirs).max())


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_inverse_mass_matrix_apply(lead: tuple[int, ...]) -> None:
    rng, tree, robot, q = case(3, 12, floating=True, passive=True)
    stack = np.zeros((tree.nv, 2, tree.nv))
    stack[:, 1] = np.eye(tree.nv)
    mass = robot.inverse_dynamics(q, stack)[:, 0] - robot.inverse_dynamics(q, np.zeros((2, tree.nv)))
    f = rng.normal(size=(*lead, tree.nv))
    np.testing.assert_allclose(robot.inverse_mass_matrix_apply(q, f) @ mass, f, rtol=0, atol=1e-10)
    other = robot.random_configuration(rng, lead)
    one = robot.inverse_mass_matrix_apply(other, f).reshape(-1, tree.nv)[-1]
    single = robot.inverse_mass_matrix_apply(other.reshape(-1, tree.nq)[-1], f.reshape(-1, tree.nv)[-1])
    np.testing.assert_array_equal(one, single)


@pytest.mark.parametrize("floating", [False, True])
def test_power_balance_and_its_derivatives(floating: bool) -> None:
    """d/dt (kinetic + potential) = v . tau, and the first four derivatives of that, in high precision."""
    rng, tree, robot, q = case(2, 8, floating=floating)
    v, tau = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (5, tree.nv))
    stack = np.concatenate([v[None], robot.forward_dynamics(q, v, tau)])
    poses = virtual_work.body_poses(tree, q, stack)
    energy = np.zeros(6)
    for i, b in enumerate(tree.bodies):
        moments = np.zeros((4, 4))  # integral of (x, 1) (x, 1)^T dm
        moments[:3, :3] = np.trace(b.inertia) / 2 * np.eye(3) - b.inertia + b.mass * np.outer(b.com, b.com)
        moments[:3, 3] = moments[3, :3] = b.mass * b.com
        moments[3, 3] = b.mass
        for k in range(6):
            rates = [comb(k, j) * np.trace(poses[j + 1, i] @ moments @ poses[k - j + 1, i].T) for j in range(k + 1)]
            energy[k] += sum(rates) / 2 - tree.gravity @ (poses[k, i] @ moments)[:3, 3]
    power = [sum(comb(k, j) * stack[j] @ tau[k - j] for j in range(k + 1)) for k in range(5)]
    terms = [sum(comb(k, j) * np.abs(stack[j] * tau[k - j]).sum() for j in range(k + 1)) for k in range(5)]
    assert (np.abs(energy[1:] - power) / terms).max() < 1e-9


def test_batches_threads_and_out(instruction_set: str) -> None:
    rng, tree, robot, _ = case(5, 9, floating=True)
    q, v = robot.random_configuration(rng, 21), rng.uniform(-1, 1, (21, tree.nv))
    tau = rng.uniform(-1, 1, (21, 4, tree.nv))
    batch = robot.forward_dynamics(q, v, tau)
    for i in range(21):
        assert error(batch[i], robot.forward_dynamics(q[i], v[i], tau[i])).max() < 1e-9
    out = np.empty_like(batch)
    assert robot.forward_dynamics(q, v, tau, out=out) is out
    np.testing.assert_array_equal(out, batch)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau[:, 0]), batch[:, 0], rtol=1e-8, atol=1e-8)
    assert robot.forward_dynamics(q[:, None], v[:3], tau[0, 0]).shape == (21, 3, tree.nv)


def test_a_joint_that_moves_nothing_is_named() -> None:
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=jn.Inertia(1.0, (0, 0, 0.3), (0.1, 0.1, 0.1)))
    builder.add("bead", "arm", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(0.5, com=(0, 0, 0.2)))  # a point on its axis
    robot = builder.build()
    with pytest.raises(ValueError, match="joint of body 'bead' moves no inertia"):
        robot.forward_dynamics([0.1, 0.2], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="in state 0"):
        robot.inverse_mass_matrix_apply(np.zeros((3, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="'bead'"):
        robot.articulated_inertia([0.0, 0.0])
    held = robot.hybrid_dynamics(
        [0.1, 0.2], [0, 0], [0, 0], [0, 0], prescribed=[False, True]
    )  # but if held, it does no harm
    assert np.isfinite(held[0]).all()


@pytest.mark.parametrize("seed", range(8))
def test_an_inertia_that_is_only_rounding_is_refused(seed: int) -> None:
    """A point mass on a slanted axis: its inertia about the axis is computed as some 1e-17 instead of zero."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    builder = jn.Builder()
    builder.add("bead", "world", jn.Revolute(axis), inertia=jn.Inertia(0.7, com=0.31 * axis))
    with pytest.raises(ValueError, match="'bead'"):
        builder.build().forward_dynamics([0.4], [0.2], [0.1])


@pytest.mark.parametrize("offset", [1e-3, 1e-5, 1e-7, 1e-9])
def test_nearly_singular_is_right_or_refused(offset: float) -> None:
    """Two coaxial joints, the first with hardly any inertia of its own: D of the first is pure cancellation."""
    builder = jn.Builder()
    builder.add("thin", "world", jn.Revolute(), inertia=jn.Inertia(offset, rotational=np.full(3, offset)))
    builder.add("heavy", "thin", jn.Revolute(), inertia=jn.Inertia(1.0, (0.3, 0, 0), (1.0, 1.0, 1.0)))
    robot = builder.build()
    q, tau = np.array([0.3, 0.4]), np.array([0.2, 0.5])
    inertia = 1.0 + 0.3**2
    mass = np.array([[inertia + offset, inertia], [inertia, inertia]])
    try:
        acc = robot.forward_dynamics(q, np.zeros(2), tau)
    except ValueError:
        assert offset < 1e-8
    else:
        truth = np.array([tau[0] - tau[1], 0]) / offset + np.array([0, tau[1] / inertia - (tau[0] - tau[1]) / offset])
        np.testing.assert_allclose(acc, truth, rtol=1e-13 / offset)
        np.testing.assert_allclose(mass @ acc, tau, rtol=0, atol=1e-12 / offset)


def test_bad_input() -> None:
    robot = jn.robots.aerial_manipulator()
    q, v, tau = robot.neutral(), np.zeros(12), np.zeros((2, 12))
    refused = [
        ("^tau has shape", lambda: robot.forward_dynamics(q, v, np.zeros((2, 11)))),
        ("^tau has 40 rows", lambda: robot.forward_dynamics(q, v, np.zeros((40, 12)))),
        ("^tau has shape .* and v", lambda: robot.forward_dynamics(q, np.zeros((3, 4, 12)), tau)),
        ("^tau.* is nan", lambda: robot.forward_dynamics(q, v, np.full(12, np.nan))),
        ("^v must be", lambda: robot.forward_dynamics(q, None, tau)),
        ("^prescribed has shape", lambda: robot.hybrid_dynamics(q, v, tau, tau, prescribed=[True])),
        ("^prescribed has shape .* dtype int", lambda: robot.hybrid_dynamics(q, v, v, v, prescribed=np.ones(12, int))),
        ("splits joint 'base'", lambda: robot.hybrid_dynamics(q, v, v, v, prescribed=np.arange(12) < 3)),
        ("^acc has shape .* and tau", lambda: robot.hybrid_dynamics(q, v, v, tau, prescribed=np.ones(12, bool))),
        ("^acc.*not finite where it is prescribed", lambda: _not_a_number(robot, "acc")),
        ("^tau.*not finite where it is given", lambda: _not_a_number(robot, "tau")),
        ("^out has shape", lambda: robot.forward_dynamics(q, v, tau, out=np.empty(12))),
    ]
    for message, call in refused:
        with pytest.raises(ValueError, match=message):
            call()


def _not_a_number(robot: jn.Model, which: str) -> None:
    given = {"acc": np.zeros(12), "tau": np.zeros(12)}
    given[which] = np.full(12, np.nan)
    robot.hybrid_dynamics(robot.neutral(), np.zeros(12), prescribed=np.arange(12) < 6, **given)


@pytest.mark.filterwarnings("ignore")  # about lost digits
def test_a_marble_on_a_mast_of_a_kilometre_has_inertia() -> None:
    """Rounding error is judged by a joint's own axes, not by those of others."""
    builder, top = jn.Builder(), np.eye(4)
    top[0, 3] = 1000.0
    builder.add("mast", "world", jn.Revolute((0, 0, 1)), inertia=jn.Inertia(1.0, rotational=(1.0, 1.0, 1.0)))
    marble = jn.Inertia(1e-3, com=(0.001, 0.002, 0.0), rotational=(1e-7, 2e-7, 2e-7))
    builder.add("marble", "mast", jn.Spherical(), top, marble)
    robot = builder.build()
    q, v, tau = robot.neutral(), np.array([1e-4, 0.2, -0.1, 0.3]), np.array([0.2, 1e-7, 2e-7, -1e-7])
    acc = robot.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, acc), tau, rtol=1e-3)  # ten digits are lost


def test_one_number_is_no_row_of_forces() -> None:
    robot = jounce_model(random_tree(np.random.default_rng(0), 3))
    q, v, some = robot.neutral(), np.zeros(robot.nv), np.ones(robot.nv, dtype=bool)
    with pytest.raises(ValueError, match=r"^tau has shape \(\), expected at least 1 dimension$"):
        robot.forward_dynamics(q, v, 1.0)
    with pytest.raises(ValueError, match=r"^acc has shape \(\), expected at least 1 dimension$"):
        robot.hybrid_dynamics(q, v, 1.0, v, prescribed=some)
    with pytest.raises(ValueError, match=r"^tau has shape \(\), expected at least 1 dimension$"):
        robot.hybrid_dynamics(q, v, v, 1.0, prescribed=some)
