"""Locked joints and attached robots against Pinocchio's reduced and appended models, on files of example-robot-data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import jounce as jn
from test_pinocchio_mimic import peer_of
from urdf_peer import UrdfPeer, pinocchio, urdf_path, urdf_peer

LOCKED = {
    "panda.urdf": "fixed",
    "talos_reduced.urdf": "floating",
    "anymal.urdf": "floating",
    "ur5_robot.urdf": "fixed",
    "solo12.urdf": "floating",
    "icub.urdf": "floating",
}


def agree(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    off = np.abs(found - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-12)
    assert off < 1e-12, f"{what}: {off:.1e}"


def pinocchios(robot: jn.Model, model: pinocchio.Model) -> UrdfPeer:
    """A pair of models, as if from a file."""
    peer = UrdfPeer.__new__(UrdfPeer)
    peer.robot, peer.model = robot, model
    peer._joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    peer.v_index = np.concatenate([np.zeros(0, int), *(j.idx_v + np.arange(j.nv) for j in peer._joints)])
    return peer


def compare(peer: UrdfPeer, seed: int = 0) -> None:
    """Dynamics, and the pose of every frame that both have."""
    robot, model, data, rng = peer.robot, peer.model, peer.data, np.random.default_rng(seed)
    assert robot.nv == model.nv
    for _ in range(3):
        q, v, a = robot.random_configuration(rng), *rng.uniform(-1, 1, (2, robot.nv))
        pq, pv, pa = peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a)
        agree(robot.mass_matrix(q), peer.matrix_from_pin(pinocchio.crba(model, data, pq)), "mass matrix")
        agree(robot.inverse_dynamics(q, v, a), peer.v_from_pin(pinocchio.rnea(model, data, pq, pv, pa)), "forces")
        pinocchio.framesForwardKinematics(model, data, pq)
        poses = {f.name: data.oMf[i].homogeneous for i, f in enumerate(model.frames) if f.type == pinocchio.BODY}
        for name in set(poses) & set(robot.frame_names):
            agree(robot.pose(name, q), poses[name], name)
        assert set(robot.body_names) <= set(poses)


@pytest.mark.parametrize("name", LOCKED)
@pytest.mark.parametrize("seed", range(3))
def test_locked_joints_are_a_reduced_model(name: str, seed: int) -> None:
    peer = urdf_peer(urdf_path(name), LOCKED[name])
    rng = np.random.default_rng(seed)
    q = peer.robot.random_configuration(rng)
    some = [j for j in peer.robot.joint_names if rng.random() < 0.5]
    ids = [peer.model.getJointId(j) for j in some]
    reduced = pinocchio.buildReducedModel(peer.model, ids, peer.q_to_pin(q))
    compare(pinocchios(peer.robot.lock({j: q[peer.robot.position(j)] for j in some}), reduced), seed)


@pytest.mark.parametrize("name", ["panda.urdf", "baxter.urdf", "talos_full_v2.urdf"])
def test_followers_of_locked_joints_are_locked(name: str) -> None:
    """Pinocchio's have coordinates of their own here, which are locked where they would be."""
    peer = urdf_peer(urdf_path(name), "fixed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        robot = jn.load(urdf_path(name), damping=False)
    follows = {b.joint_name: b.joint.follows for b in robot.bodies if b.joint.follows}
    q = robot.random_configuration(np.random.default_rng(0))
    leaders = {f.joint for f in follows.values()} - set(follows)
    at = {j: float(q[robot.position(j)][0]) for j in leaders}
    everywhere = dict(at)
    while len(everywhere) < len(at) + len(follows):
        everywhere |= {j: f.ratio * everywhere[f.joint] + f.offset for j, f in follows.items() if f.joint in everywhere}
    free = peer.robot.neutral()
    for joint, value in everywhere.items():
        free[peer.robot.position(joint)] = value
    ids = [peer.model.getJointId(j) for j in everywhere]
    reduced = pinocchio.buildReducedModel(peer.model, ids, peer.q_to_pin(free))
    compare(pinocchios(robot.lock(at), reduced))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_hand_on_an_arm_is_an_appended_model(base: str) -> None:
    arm, hand = urdf_peer(urdf_path("panda.urdf"), base), urdf_peer(urdf_path("allegro_right_hand.urdf"), "fixed")
    place = pinocchio.SE3.Random()
    frame = arm.model.getFrameId("panda_link5")
    theirs = hand.model.copy()
    for i in range(1, theirs.njoints):
        theirs.names[i] = "hand_" + theirs.names[i]
    for f in theirs.frames:
        f.name = "hand_" + f.name if f.name != "universe" else f.name
    both = pinocchio.appendModel(arm.model, theirs, frame, place)
    compare(pinocchios(arm.robot.attach(hand.robot, "panda_link5", place.homogeneous, prefix="hand_"), both))


def test_a_payload_is_an_inertia_more() -> None:
    peer = urdf_peer(urdf_path("ur5_robot.urdf"), "fixed")
    place, load = pinocchio.SE3.Random(), pinocchio.Inertia.FromBox(2.0, 0.1, 0.2, 0.3)
    model = peer.model.copy()
    frame = model.frames[model.getFrameId("tool0")]
    model.appendBodyToJoint(frame.parentJoint, load, frame.placement * place)
    robot = peer.robot.payload("tool0", jn.Inertia.box(2.0, (0.1, 0.2, 0.3)), place.homogeneous)
    compare(pinocchios(robot, model))


@pytest.mark.parametrize("name", ["panda.urdf", "baxter.urdf", "talos_full_v2.urdf"])
def test_followers_of_free_joints_stay(name: str) -> None:
    """Reduced models of Pinocchio's with joints that mimic others."""
    if "mimic" not in pinocchio.buildModelFromXML.__doc__:
        pytest.skip("this Pinocchio has no joints that mimic")
    peer = peer_of(name, "fixed")
    robot, (q, _, _) = peer.robot, peer.state()
    leaders = {b.joint.follows.joint for b in robot.bodies if b.joint.follows}
    some = [j for j in robot.joint_names if j not in leaders][::2]
    reduced = pinocchio.buildReducedModel(peer.model, [peer.model.getJointId(j) for j in some], peer.q_to_pin(q))
    locked = robot.lock({j: q[robot.position(j)] for j in some})
    assert any(b.joint.follows for b in locked.bodies)
    joints = {j: reduced.joints[reduced.getJointId("A_" * (j in leaders) + j)] for j in locked.joint_names}
    theirs, own = np.zeros(reduced.nq), np.zeros(locked.nq)
    for j, joint in joints.items():
        x = own[locked.position(j)] = q[robot.position(j)]
        turn = np.array([np.cos(x[0]), np.sin(x[0])]) if joint.nq == 2 else x
        theirs[joint.idx_q : joint.idx_q + joint.nq] = turn
    at = np.concatenate([j.idx_v + np.arange(j.nv) for j in joints.values()])
    upper = np.triu(pinocchio.crba(reduced, reduced.createData(), theirs))
    agree(locked.mass_matrix(own), (upper + np.triu(upper, 1).T)[np.ix_(at, at)], "mass matrix")
    weight = pinocchio.computeGeneralizedGravity(reduced, reduced.createData(), theirs)[at]
    agree(locked.gravity_force(own), weight, "gravity")
