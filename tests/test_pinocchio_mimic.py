"""Robots whose joints mimic others, as loaded by `jounce.load`, against Pinocchio's mimic joints.

test_urdf.py compares the same robots with themselves with independent joints; Pinocchio has its own mimic joints
(``mimic=True``) and its own projections: rnea, crba, and kinematics through them.

Pinocchio sorts siblings by the name of their joint and needs a leader before the joints that mimic it. TALOS has them
in another order, so both libraries get the file with an A before the leaders' names; this does not affect the dynamics.
"""

from __future__ import annotations

import functools
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import jounce as jn
from urdf_peer import pinocchio, urdf_path

NAMES = {"panda.urdf": (8, 1), "talos_full_v2.urdf": (32, 12), "baxter.urdf": (17, 2)}  # coordinates, followers
pytestmark = pytest.mark.skipif(
    "mimic" not in pinocchio.buildModelFromXML.__doc__, reason="this Pinocchio has no joints that mimic"
)


def loaded(source: object, base: str) -> jn.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.LoadWarning)
        return jn.load(source, base)


class Peer:
    """A file in both libraries, with the coordinates of one mapped to the other."""

    def __init__(self, name: str, base: str) -> None:
        path = urdf_path(name)
        text = path.read_text()
        leaders = {e.get("joint") for e in ElementTree.fromstring(text).iter("mimic")}
        for leader in leaders:
            text = text.replace(f'"{leader}"', f'"A_{leader}"')
        root = [pinocchio.JointModelFreeFlyer()] if base == "floating" else []
        self.model = pinocchio.buildModelFromXML(text, *root, mimic=True)
        self.data = self.model.createData()
        self.robot = loaded(path, base)  # the unmodified file
        names = ["A_" + n if n in leaders else n for n in self.robot.joint_names]
        assert list(loaded(text, base).joint_names) == names
        self.joints = [self.model.joints[self.model.getJointId(n)] for n in names]
        self.v_index = np.concatenate([j.idx_v + np.arange(j.nv) for j in self.joints])

    def q_to_pin(self, q: np.ndarray) -> np.ndarray:
        found = np.zeros(self.model.nq)
        for name, joint in zip(self.robot.joint_names, self.joints, strict=True):
            own = q[self.robot.position(name)]
            if joint.nq == 2:  # continuous
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            found[joint.idx_q : joint.idx_q + joint.nq] = own
        return found

    def v_to_pin(self, v: np.ndarray) -> np.ndarray:
        found = np.zeros(self.model.nv)
        found[self.v_index] = v
        return found

    def from_pin(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x)[..., self.v_index]

    def state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        return self.robot.random_configuration(rng), *rng.normal(size=(2, self.robot.nv))


@functools.cache
def peer_of(name: str, base: str) -> Peer:
    return Peer(name, base)


each_robot = pytest.mark.parametrize("name", NAMES)
each_base = pytest.mark.parametrize("base", ["fixed", "floating"])


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@each_base
@each_robot
def test_coordinates(name: str, base: str) -> None:
    peer, (nv, followers) = peer_of(name, base), NAMES[name]
    assert peer.robot.nv == peer.model.nv == nv + 6 * (base == "floating")
    mimics = [j for j in peer.model.joints if j.shortname() == "JointModelMimic"]
    assert len(mimics) == followers == sum(b.joint.follows is not None for b in peer.robot.bodies)


@each_base
@each_robot
def test_inverse_dynamics(name: str, base: str) -> None:
    """Pinocchio's rnea ignores the file's damping."""
    peer = peer_of(name, base)
    robot, (q, v, a) = peer.robot, peer.state()
    expected = pinocchio.rnea(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a))
    close(robot.inverse_dynamics(q, v, a) - robot.damping_force(q, v), peer.from_pin(expected))
    expected = pinocchio.nonLinearEffects(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v))
    close(robot.bias_force(q, v) - robot.damping_force(q, v), peer.from_pin(expected))
    expected = pinocchio.computeGeneralizedGravity(peer.model, peer.data, peer.q_to_pin(q))
    close(robot.gravity_force(q), peer.from_pin(expected))


@each_base
@each_robot
def test_mass_matrix_and_forward_dynamics(name: str, base: str) -> None:
    """Pinocchio's aba does not support joints that mimic others, so its crba and bias are used."""
    peer = peer_of(name, base)
    robot, (q, v, tau) = peer.robot, peer.state()
    upper = np.triu(pinocchio.crba(peer.model, peer.data, peer.q_to_pin(q)))
    M = (upper + np.triu(upper, 1).T)[np.ix_(peer.v_index, peer.v_index)]
    close(robot.mass_matrix(q), M)
    bias = pinocchio.nonLinearEffects(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v))
    acc = robot.forward_dynamics(q, v, tau)
    force = M @ acc + peer.from_pin(bias) + robot.damping_force(q, v)
    assert np.abs(force - tau).max() < 1e-12 * (np.abs(M) @ np.abs(acc)).max()
    close(robot.inverse_mass_matrix(q) @ M, np.eye(robot.nv))
    close(robot.kinetic_energy(q, v), v @ M @ v / 2)


@each_base
@each_robot
def test_frames_and_their_jacobians(name: str, base: str) -> None:
    """For the bodies on mimic joints, and for the last one."""
    peer = peer_of(name, base)
    robot, (q, v, _) = peer.robot, peer.state()
    axes = {"body": pinocchio.LOCAL, "mixed": pinocchio.LOCAL_WORLD_ALIGNED}
    bodies = [b.name for b in robot.bodies if b.joint.follows is not None] + [robot.body_names[-1]]
    pinocchio.forwardKinematics(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v))
    pinocchio.updateFramePlacements(peer.model, peer.data)
    pinocchio.computeJointJacobians(peer.model, peer.data, peer.q_to_pin(q))
    for body in bodies:
        frame = peer.model.getFrameId(body)
        close(robot.pose(body, q), peer.data.oMf[frame].homogeneous)
        for mine, theirs in axes.items():
            J = pinocchio.getFrameJacobian(peer.model, peer.data, frame, theirs)
            close(robot.jacobian(body, q, frame=mine, velocity_frame="body"), peer.from_pin(J))
            twist = pinocchio.getFrameVelocity(peer.model, peer.data, frame, theirs).vector
            close(robot.twist(body, q, v[None], frame=mine, velocity_frame="body")[0], twist)


@each_base
@each_robot
def test_centre_of_mass_and_momentum(name: str, base: str) -> None:
    peer = peer_of(name, base)
    robot, (q, v, _) = peer.robot, peer.state()
    close(robot.center_of_mass(q), pinocchio.centerOfMass(peer.model, peer.data, peer.q_to_pin(q)))
    momentum = pinocchio.computeCentroidalMomentum(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v))
    close(robot.centroidal_momentum(q, v), momentum.vector)
    matrix = pinocchio.ccrba(peer.model, peer.data, peer.q_to_pin(q), peer.v_to_pin(v))
    close(robot.centroidal_momentum_matrix(q), peer.from_pin(matrix))
