"""Jacobians with derivatives, poses and twists of chosen frames: against differentiated positions and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from math import comb

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from oracles import differentiate
from peers import FRAMES as PINOCCHIO_FRAMES
from peers import PinocchioTree, pinocchio
from trees import ALL_JOINTS, TreeSpec, random_body, random_configuration, random_pose, random_stack, random_tree

FRAMES = ("body", "world", "mixed")
KINDS: dict[str, dict] = {joint: {"n": 4, "joints": (joint, "universal")} for joint in ALL_JOINTS if joint != "fixed"}
KINDS |= {
    "tree": {"n": 14},
    "floating": {"n": 12, "floating": True},
    "free bodies on bodies": {"n": 7, "joints": ("free", "spherical", "fixed", "free")},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_frame = pytest.mark.parametrize("frame", FRAMES)
every_velocity_frame = pytest.mark.parametrize("velocity_frame", FRAMES)


@cache
def case(kind: str) -> tuple[TreeSpec, jn.Model, np.ndarray, np.ndarray]:
    """The last body of each tree is a frame on the world, the one before it a frame on a frame on a body."""
    rng = np.random.default_rng(4)
    tree = random_tree(rng, **KINDS[kind])
    for parent in (len(tree.bodies) - 1, len(tree.bodies), -1):
        body = random_body(rng, f"b{len(tree.bodies)}", parent, "fixed")
        tree = TreeSpec((*tree.bodies, body), tree.gravity)
    return tree, jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 7)


@cache
def motions(kind: str) -> dict[str, differentiate.Motion]:
    """Motions by the frame of the velocities."""
    tree, _, q, v = case(kind)
    return differentiate.motions(tree, q, v)


@cache
def truth(kind: str, velocity_frame: str, frame: str) -> np.ndarray:
    """Jacobians of all bodies, (K + 1, nbodies, 6, nv)."""
    bodies = range(len(case(kind)[0].bodies))
    return np.stack([differentiate.jacobian(motions(kind)[velocity_frame], i, frame) for i in bodies], axis=1)


def rows_in(kind: str, velocity_frame: str) -> np.ndarray:
    return differentiate.derivatives(motions(kind)[velocity_frame].rows)


def error(result: np.ndarray, truth: np.ndarray) -> float:
    """The largest error, relative to the magnitude of the derivative it is in (axis 0)."""
    assert result.shape == truth.shape
    result, truth = result.reshape(len(truth), -1), truth.reshape(len(truth), -1)
    return float((np.abs(result - truth).max(axis=1) / np.abs(truth).max(axis=1)).max())


@every_frame
@every_velocity_frame
@every_kind
def test_derivatives_against_positions(kind: str, velocity_frame: str, frame: str) -> None:
    tree, robot, q, _ = case(kind)
    rows, frames = rows_in(kind, velocity_frame), {"frame": frame, "velocity_frame": velocity_frame}
    jacobians = [robot.jacobian_derivatives(b.name, q, rows, **frames) for b in tree.bodies]
    expected = truth(kind, velocity_frame, frame)
    assert error(np.stack(jacobians, axis=1), expected) < 1e-12
    jacobians = [robot.jacobian(b.name, q, **frames) for b in tree.bodies]
    assert error(np.stack(jacobians)[None], expected[:1]) < 1e-13


@every_frame
@every_velocity_frame
@every_kind
def test_twists_are_jacobians_times_velocities(kind: str, velocity_frame: str, frame: str) -> None:
    """twist^(n) = sum of binom(n, k) J^(n-k) v^(k), with the oracle's J for the frames and jounce's J for each."""
    tree, robot, q, _ = case(kind)
    v, frames = rows_in(kind, velocity_frame), {"frame": frame, "velocity_frame": velocity_frame}
    kin = robot.forward_kinematics(q, v, frames=[b.name for b in tree.bodies], **frames)
    J = truth(kind, velocity_frame, frame)
    expected = np.array([sum(comb(n, k) * J[n - k] @ v[k] for k in range(n + 1)) for n in range(len(v))])
    assert error(kin.twist, expected) < 1e-12
    for i, body in enumerate(tree.bodies):
        J = robot.jacobian_derivatives(body.name, q, v, **frames)
        mine = np.array([sum(comb(n, k) * J[n - k] @ v[k] for k in range(n + 1)) for n in range(len(v))])
        assert (np.abs(mine - kin.twist[:, i]) <= 1e-12 * np.abs(expected).max(axis=(1, 2))[:, None]).all()


@every_frame
def test_a_frame_on_the_world_does_not_move(frame: str) -> None:
    tree, robot, q, v = case("floating")
    name = tree.bodies[-1].name
    axes = {"frame": frame, "velocity_frame": "body"}
    assert not robot.jacobian(name, q, **axes).any()
    assert not robot.jacobian_derivatives(name, q, v, **axes).any()
    assert not robot.twist(name, q, v, **axes).any()
    np.testing.assert_allclose(robot.pose(name, q), tree.bodies[-1].placement, rtol=0, atol=1e-15)


def test_a_body_moves_with_its_ancestors_only() -> None:
    tree, robot, q, v = case("tree")
    for i, body in enumerate(tree.bodies):
        J = robot.jacobian_derivatives(body.name, q, v[:3], frame="world", velocity_frame="world")
        carried = differentiate._carried(tree)[i].astype(bool)
        assert (J[..., ~carried] == 0).all()


@every_frame
def test_a_fixed_frame_is_its_body_seen_from_elsewhere(frame: str) -> None:
    """Textbook formulas for a frame at (R, x) on the body, with numbers instead of series."""
    rng = np.random.default_rng(5)
    place = random_pose(rng)
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("arm", "base", jn.Revolute((0, 1, 0)), random_pose(rng), jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("tool", "arm", jn.Fixed(), place)
    robot = builder.build()
    q = robot.random_configuration(rng)
    body, tool = (robot.jacobian(name, q, frame=frame, velocity_frame="body") for name in ("arm", "tool"))
    R, arm = place[:3, :3], place[:3, 3]
    if frame == "mixed":
        arm = robot.pose("arm", q)[:3, :3] @ arm
    expected = body.copy()
    if frame != "world":
        expected[:3] += np.cross(body[3:], arm, axis=0)
    if frame == "body":
        expected[:3], expected[3:] = R.T @ expected[:3], R.T @ expected[3:]
    np.testing.assert_allclose(tool, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(robot.pose("tool", q), robot.pose("arm", q) @ place, rtol=0, atol=1e-14)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8, 13, 20, jn.MAX_ORDER])
def test_every_order(rows: int, instruction_set: str) -> None:
    robot, q, v, expected = highest()
    for frame in FRAMES:
        J = robot.jacobian_derivatives("b4", q, v[:rows], frame=frame, velocity_frame="body")
        batch = robot.jacobian_derivatives(
            "b4", np.stack([robot.neutral()] * 9 + [q]), v[:rows], frame=frame, velocity_frame="body"
        )
        for each in (J, batch[-1]):
            assert error(each[:8], expected[frame][: rows + 1][:8]) < 1e-12
            assert error(each, expected[frame][: rows + 1]) < 1e-8  # terms of order 30 cancel to one part in 1e7


@cache
def highest() -> tuple[jn.Model, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(6)
    tree = random_tree(rng, 5, joints=("spherical", "helical", "universal"), serial=True, floating=True)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, jn.MAX_ORDER)
    m = differentiate.motions(tree, q, v)["body"]
    return jounce_model(tree), q, v, {frame: differentiate.jacobian(m, 4, frame) for frame in FRAMES}


def test_far_from_the_origin() -> None:
    tree, robot, q, v = case("floating")
    far = q.copy()
    far[:3] += 1e4, 1e4, -1e4
    for frame in ("body", "mixed"):
        for body in tree.bodies[:-1]:
            axes = {"frame": frame, "velocity_frame": frame}
            there, here = (robot.jacobian_derivatives(body.name, at, v[:4], **axes) for at in (far, q))
            assert np.abs(there - here).max() < 1e-12 * np.abs(here).max()


# --- chosen frames -------------------------------------------------------------------------------------


@every_frame
@every_velocity_frame
def test_chosen_frames_are_rows_of_the_whole(frame: str, velocity_frame: str) -> None:
    _, robot, q, v = case("tree")
    frames = {"frame": frame, "velocity_frame": velocity_frame}
    whole = robot.forward_kinematics(q, v, frames=robot.frame_names, **frames)
    assert whole.names == robot.frame_names
    derivatives = robot.pose_derivatives(q, v, frames=robot.frame_names, frame=velocity_frame)
    last = len(robot.frame_names) - 1
    for chosen in ([robot.frame_names[3]], [last], ["b5", 0, "b2", "b5"], [*robot.frame_names][::-1], []):
        at = [robot.frame_index(c) for c in chosen]
        kin = robot.forward_kinematics(q, v, frames=chosen, **frames)
        assert kin.names == tuple(robot.frame_names[i] for i in at)
        np.testing.assert_allclose(kin.pose, whole.pose[at], rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(kin.twist, whole.twist[:, at], rtol=1e-12, atol=1e-12)
        some = robot.pose_derivatives(q, v, frames=chosen, frame=velocity_frame)
        np.testing.assert_allclose(some, derivatives[:, at], rtol=1e-12, atol=1e-12)
        for name, i in zip(kin.names, at, strict=True):
            np.testing.assert_array_equal(kin[name], kin.pose[kin.names.index(name)])
            np.testing.assert_allclose(robot.pose(name, q), whole.pose[i], rtol=1e-14, atol=1e-14)
            np.testing.assert_allclose(robot.twist(i, q, v, **frames), whole.twist[:, i], rtol=1e-12, atol=1e-12)
    plain = robot.forward_kinematics(q, v, **frames)
    assert plain.names == robot.body_names
    np.testing.assert_allclose(plain.twist, whole.twist[:, : len(plain.names)], rtol=1e-12, atol=1e-12)


def calls(robot: jn.Model, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[..., object]]:
    """The calls whose results have axes of their own, with all arguments but the axes."""
    return {
        "jacobian": partial(robot.jacobian, 3, q),
        "jacobian_derivatives": partial(robot.jacobian_derivatives, 3, q, v),
        "twist": partial(robot.twist, 3, q, v),
        "forward_kinematics": lambda **axes: robot.forward_kinematics(q, v, **axes).twist,
    }


@pytest.mark.parametrize("frame", ["world", "mixed"])
@pytest.mark.parametrize("call", ["jacobian", "jacobian_derivatives", "twist", "forward_kinematics"])
def test_axes_of_free_joints_must_be_given(call: str, frame: str) -> None:
    """Libraries differ in what they take them to be, and the numbers look alike."""
    _, robot, q, v = case("free bodies on bodies")
    ask = calls(robot, q, v)[call]
    with pytest.raises(
        ValueError, match=rf"^velocity_frame is missing: frame is '{frame}'.*'body' \(as in Pinocchio\)"
    ):
        ask(frame=frame)
    with pytest.raises(ValueError, match=r"^velocity_frame is missing"):
        ask(frame=frame, velocity_frame=None)
    answers = [ask(frame=frame, velocity_frame=given) for given in FRAMES]
    assert not any(np.allclose(x, y) for x, y in combinations(answers, 2))
    np.testing.assert_array_equal(ask(), ask(frame="body", velocity_frame="body"))
    assert robot.forward_kinematics(q, frame=frame).twist.size == 0  # there is no velocity


@every_velocity_frame
@pytest.mark.parametrize("call", ["jacobian", "jacobian_derivatives", "twist", "forward_kinematics"])
def test_without_free_joints_they_change_nothing(call: str, velocity_frame: str) -> None:
    robot, rng = jn.robots.panda(), np.random.default_rng(3)
    ask = calls(robot, robot.random_configuration(rng), rng.normal(size=(3, robot.nv)))[call]
    for frame in FRAMES:
        np.testing.assert_array_equal(ask(frame=frame), ask(frame=frame, velocity_frame=velocity_frame))


def test_poses_of_no_velocity() -> None:
    _, robot, q, _ = case("tree")
    kin = robot.forward_kinematics(q, frames=["b3"])
    assert (kin.names, kin.pose.shape, kin.twist.shape) == (("b3",), (1, 4, 4), (0, 1, 6))
    with pytest.raises(ValueError, match=r"no pose was computed for 'b4': .*'b3'"):
        kin["b4"]


def test_wrenches_act_through_the_transposed_jacobian() -> None:
    tree, robot, q, v = case("tree")
    wrench = np.random.default_rng(0).normal(size=6)
    for frame in FRAMES:
        for name in (tree.bodies[7].name, tree.bodies[-2].name):
            without = robot.inverse_dynamics(q, v[0], v[1])
            pushed = robot.inverse_dynamics(q, v[0], v[1], wrenches={name: wrench}, wrench_frame=frame)
            work = robot.jacobian(name, q, frame=frame, velocity_frame="body").T @ wrench
            np.testing.assert_allclose(without - pushed, work, rtol=0, atol=1e-12 * np.abs(without).max())


# --- against Pinocchio ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@every_frame
def test_against_pinocchio(seed: int, frame: str) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 20, floating=seed > 0)
    robot, q, v = jounce_model(tree), random_configuration(rng, tree), random_stack(rng, tree, 1)
    peer, reference = PinocchioTree(tree), PINOCCHIO_FRAMES[frame]
    pinocchio.computeJointJacobiansTimeVariation(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v[0]))
    pinocchio.updateFramePlacements(peer.model, peer.data)
    for body, at in zip(tree.bodies, peer.body_frame, strict=True):
        J, dJ = robot.jacobian_derivatives(body.name, q, v, frame=frame, velocity_frame="body")
        theirs = pinocchio.getFrameJacobian(peer.model, peer.data, at, reference)
        np.testing.assert_allclose(J, theirs[:, peer.v_index], rtol=0, atol=1e-13)
        rate = pinocchio.getFrameJacobianTimeVariation(peer.model, peer.data, at, reference)[:, peer.v_index]
        np.testing.assert_allclose(dJ, rate, rtol=0, atol=1e-13 * (1 + np.abs(rate).max()))
