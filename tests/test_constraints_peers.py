"""Contacts and loops against Pinocchio's `constraintDynamics` and `lcaba`, which have accelerations and forces.

Both take velocities that obey the constraints. Higher orders are compared with differences of accelerations and forces
along the motion, which Pinocchio alone integrates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import cassie
import jounce as jn
from peers import PinocchioTree
from test_pinocchio_mimic import peer_of as mimic_peer_of
from urdf_peer import UrdfPeer, pinocchio, urdf_path, urdf_peer

pytestmark = pytest.mark.skipif(not hasattr(pinocchio, "RigidConstraintModel"), reason="this Pinocchio has no loops")
needs_lcaba = pytest.mark.skipif(not hasattr(pinocchio, "lcaba"), reason="this Pinocchio has no lcaba")

FEET = {
    "talos_full_v2.urdf": {name: jn.Fixed() for name in ("left_sole_link", "right_sole_link")},
    "anymal.urdf": {name: jn.Spherical() for name in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")},
}
AXES = {"body": pinocchio.LOCAL, "mixed": pinocchio.LOCAL_WORLD_ALIGNED}
each_robot = pytest.mark.parametrize("name", FEET)
each_seed = pytest.mark.parametrize("seed", range(4))

# Central differences of order 8: coefficients for steps 1, 2, 3, 4; odd for a first derivative, even for a second.
FIRST = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
SECOND = np.array([8 / 5, -1 / 5, 8 / 315, -1 / 560])


class Peer:
    """Constraints of a Pinocchio model, and its results: acceleration, and the forces on first bodies."""

    def __init__(self, model: object, constraints: list) -> None:
        self.model = model
        self.constraints = pinocchio.StdVec_RigidConstraintModel()
        for each in constraints:
            gains = each.m_baumgarte_parameters
            assert not np.any(gains.Kp)
            assert not np.any(gains.Kd)
            self.constraints.append(each)
        self.data, self.contacts = self._memory()
        pinocchio.initConstraintDynamics(model, self.data, self.constraints, self.contacts)

    def _memory(self) -> tuple[object, object]:
        contacts = pinocchio.StdVec_RigidConstraintData()
        for each in self.constraints:
            contacts.append(each.createData())
        return self.model.createData(), contacts

    def dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, mu: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        settings = pinocchio.ProximalSettings(1e-14, mu, 100)
        args = q, v, tau, self.constraints, self.contacts, settings
        acc = np.array(pinocchio.constraintDynamics(self.model, self.data, *args))
        return acc, np.array([c.contact_force.vector for c in self.contacts])

    def lcaba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Its forces have the opposite sign; they are in local axes only."""
        data, contacts = self._memory()
        pinocchio.computeJointMinimalOrdering(self.model, data, self.constraints)
        settings = pinocchio.ProximalSettings(1e-14, 1e-14, 1e-4, 1000)
        acc = np.array(pinocchio.lcaba(self.model, data, q, v, tau, self.constraints, contacts, settings))
        return acc, -np.array([c.contact_force.vector for c in contacts])

    def along(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, times: np.ndarray, mu: float = 0.0) -> list:
        """Accelerations and forces at some times of the motion under the torque tau[0] + tau[1] t + tau[2] t^2 / 2.

        Runge and Kutta's fourth-order method, in tangent coordinates x at the start, steps of a tenth of a millisecond.
        """

        def at(t: float, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            now = pinocchio.integrate(self.model, q, x)
            acc, force = self.dynamics(now, v, tau[0] + t * tau[1] + t**2 / 2 * tau[2], mu)
            return np.linalg.solve(pinocchio.dIntegrate(self.model, q, x)[1], v), acc, force

        found = []
        for end in times:
            x, now, count = np.zeros_like(v), v, max(1, round(abs(end) / 1e-4))
            h = end / count
            for k in range(count):
                t = k * h
                x1, v1, _ = at(t, x, now)
                x2, v2, _ = at(t + h / 2, x + h / 2 * x1, now + h / 2 * v1)
                x3, v3, _ = at(t + h / 2, x + h / 2 * x2, now + h / 2 * v2)
                x4, v4, _ = at(t + h, x + h * x3, now + h * v3)
                x = x + h / 6 * (x1 + 2 * x2 + 2 * x3 + x4)
                now = now + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
            found.append(at(end, x, now)[1:])
        return found


def close(found: np.ndarray, expected: np.ndarray, error: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * np.abs(expected).max())


def state(held: jn.Model, q: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A velocity that obeys the constraints, and a stack of torques: small ones on light bodies."""
    velocity = held.project(q, 0.5 * rng.normal(size=held.nv))[1]
    return q, velocity, 10 * np.diag(held.mass_matrix(q)) * rng.normal(size=(3, held.nv))


def kind_of(joint: jn.Joint) -> object:
    return pinocchio.ContactType.CONTACT_6D if isinstance(joint, jn.Fixed) else pinocchio.ContactType.CONTACT_3D


# Feet


def feet(name: str, axes: str) -> tuple[jn.Model, UrdfPeer, Peer]:
    robot = urdf_peer(urdf_path(name), "floating")
    constraints = []
    for foot, joint in FEET[name].items():
        frame = robot.model.frames[robot.frame_id(foot)]
        place = frame.parentJoint, frame.placement
        constraints.append(pinocchio.RigidConstraintModel(kind_of(joint), robot.model, *place, AXES[axes]))
    return robot.robot.constrained(FEET[name]), robot, Peer(robot.model, constraints)


@each_seed
@pytest.mark.parametrize("axes", AXES)
@each_robot
def test_feet(name: str, axes: str, seed: int) -> None:
    held, robot, peer = feet(name, axes)
    rng = np.random.default_rng(seed)
    q, v, tau = state(held, held.random_configuration(rng), rng)
    acc, forces = peer.dynamics(robot.q_to_pin(q), robot.v_to_pin(v), robot.v_to_pin(tau[0]))
    found = held.constrained_dynamics(q, v, tau[0], wrench_frame=axes)
    close(found.acc, robot.v_from_pin(acc), 1e-11)
    close(np.array([*found.forces.values()]), forces, 1e-11)
    assert list(found.forces) == list(FEET[name])
    close(held.forward_dynamics(q, v, tau[0]), robot.v_from_pin(acc), 1e-11)


@needs_lcaba
@each_seed
@each_robot
def test_feet_and_lcaba(name: str, seed: int) -> None:
    held, robot, peer = feet(name, "body")
    rng = np.random.default_rng(seed)
    q, v, tau = state(held, held.random_configuration(rng), rng)
    acc, forces = peer.lcaba(robot.q_to_pin(q), robot.v_to_pin(v), robot.v_to_pin(tau[0]))
    found = held.constrained_dynamics(q, v, tau[0])
    close(found.acc, robot.v_from_pin(acc), 1e-9)
    close(np.array([*found.forces.values()]), forces, 1e-9)


@each_seed
def test_talos_with_grippers_that_mimic(seed: int) -> None:
    """As loaded. `constraintDynamics` does not support joints that mimic others, so Pinocchio's matrices are used."""
    peer = mimic_peer_of("talos_full_v2.urdf", "floating")
    soles = FEET["talos_full_v2.urdf"]
    held = peer.robot.constrained(soles)
    rng = np.random.default_rng(seed)
    q, v, tau = state(held, held.random_configuration(rng), rng)
    Q, V = peer.q_to_pin(q), peer.v_to_pin(v)
    upper = np.triu(pinocchio.crba(peer.model, peer.data, Q))
    M = (upper + np.triu(upper, 1).T)[np.ix_(peer.v_index, peer.v_index)]
    bias = peer.from_pin(pinocchio.nonLinearEffects(peer.model, peer.data, Q, V)) + held.damping_force(q, v)
    pinocchio.computeJointJacobians(peer.model, peer.data, Q)
    pinocchio.forwardKinematics(peer.model, peer.data, Q, V, np.zeros(peer.model.nv))
    pinocchio.updateFramePlacements(peer.model, peer.data)
    frames = [peer.model.getFrameId(name) for name in soles]
    J = peer.from_pin(
        np.vstack([pinocchio.getFrameJacobian(peer.model, peer.data, f, pinocchio.LOCAL) for f in frames])
    )
    drift = np.concatenate(
        [pinocchio.getFrameAcceleration(peer.model, peer.data, f, pinocchio.LOCAL).vector for f in frames]
    )
    n, rows = len(M), len(J)
    solved = np.linalg.solve(
        np.block([[M, -J.T], [J, np.zeros((rows, rows))]]), np.concatenate([tau[0] - bias, -drift])
    )
    found = held.constrained_dynamics(q, v, tau[0])
    close(found.acc, solved[:n], 1e-9)
    close(np.concatenate([*found.forces.values()]), solved[n:], 1e-9)


# Cassie's loops


class Cassie:
    """The robot in both libraries, with loops closed in 3D or 6D, standing on its feet or not."""

    def __init__(self, closing: jn.Joint, loops: list[cassie.Loop], contacts: dict[str, jn.Joint]) -> None:
        self.held = cassie.closed(closing, loops).constrained(contacts)
        self.tree = PinocchioTree(cassie.tree())
        self.loops = loops
        constraints = []
        for loop in loops:
            sides = []
            for body, placement in ((loop.first, loop.placement_a), (loop.second, loop.placement_b)):
                joint, place = self._place(body)
                sides += [joint, place * pinocchio.SE3(placement)]
            constraints.append(
                pinocchio.RigidConstraintModel(kind_of(closing), self.tree.model, *sides, pinocchio.LOCAL)
            )
        for body, joint in contacts.items():
            place = self._place(body)
            constraints.append(pinocchio.RigidConstraintModel(kind_of(joint), self.tree.model, *place, pinocchio.LOCAL))
        self.peer = Peer(self.tree.model, constraints)

    def _place(self, body: str) -> tuple[int, object]:
        frame = self.tree.model.frames[self.tree.body_frame[self.held.body_names.index(body)]]
        return frame.parentJoint, frame.placement

    def forces(self, found: jn.ConstrainedDynamics) -> np.ndarray:
        """The forces of a loop about the point where it closes, in the axes there."""
        result = []
        for name, force in found.forces.items():
            place = next((loop.placement_a for loop in self.loops if loop.name == name), np.eye(4))
            linear, moment = force[..., :3], force[..., 3:] - np.cross(place[:3, 3], force[..., :3])
            result.append(np.concatenate([linear @ place[:3, :3], moment @ place[:3, :3]], axis=-1))
        return np.array(result)

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = self.held.integrate(cassie.standing(self.held), 0.2 * rng.normal(size=self.held.nv))
        q = self.held.integrate(self.held.project(q), np.zeros(self.held.nv))
        return state(self.held, q, rng)


def welded_feet(rng: np.random.Generator) -> list[cassie.Loop]:
    """The feet welded together as they are in some configuration."""
    free = cassie.closed(jn.Spherical(), [])
    q = free.integrate(cassie.standing(free), 0.2 * rng.normal(size=free.nv))
    left, right = free.pose("left_foot", q), free.pose("right_foot", q)
    here = cassie.placed(0.02, -0.01, 0.03)
    return [cassie.Loop("glue", "left_foot", "right_foot", here, np.linalg.inv(right) @ left @ here)]


SOLES = {"left_foot": jn.Fixed(), "right_foot": jn.Spherical()}
CASSIES: dict[str, Callable[[np.random.Generator], Cassie]] = {
    "Achilles rods": lambda rng: Cassie(jn.Spherical(), cassie.loops()[::2], {}),
    "Achilles rods, on its feet": lambda rng: Cassie(jn.Spherical(), cassie.loops()[::2], SOLES),
    "both rods": lambda rng: Cassie(jn.Spherical(), cassie.loops(), {}),
    "both rods, on its feet": lambda rng: Cassie(jn.Spherical(), cassie.loops(), SOLES),
    "feet that hold on to each other": lambda rng: Cassie(jn.Fixed(), welded_feet(rng), {}),
}
each_cassie = pytest.mark.parametrize("name", CASSIES)


def told(forces: np.ndarray, name: str) -> np.ndarray:
    """Without the residue of the peer's iterations in the redundant row of a planar loop."""
    if "both" in name:
        forces = forces.copy()
        forces[..., [1, 3], 2] = 0.0
    return forces


@each_seed
@each_cassie
def test_loops(name: str, seed: int) -> None:
    """The plantar loop is planar, so one of three rows is redundant: at least norm, its force is zero."""
    rng = np.random.default_rng(seed)
    robot = CASSIES[name](rng)
    q, v, tau = robot.random_state(rng)
    tree, args = robot.tree, (robot.tree.q_to_pin(q), robot.tree.v_to_pin(v), robot.tree.v_to_pin(tau[0]))
    acc, forces = robot.peer.dynamics(*args, mu=1e-7 if "both" in name else 0.0)
    found = robot.held.constrained_dynamics(q, v, tau[0])
    close(found.acc, tree.v_from_pin(acc), 1e-9)
    close(robot.forces(found), told(forces, name), 1e-9)


# Higher orders


def rates_agree(
    found: jn.ConstrainedDynamics, along: list, back: Callable, ours: Callable, h: float, error: float
) -> None:
    """Derivatives of accelerations and forces, from eight points of the motion around the middle one."""
    for which, mine in ((0, found.acc), (1, np.moveaxis(ours(found), -2, 0))):
        values = np.array([back(x[0]) if which == 0 else x[1] for x in along])
        before, middle, after = values[3::-1], values[4], values[5:]
        first = np.tensordot(FIRST, after - before, 1) / h
        second = (np.tensordot(SECOND, after + before, 1) - 2 * SECOND.sum() * middle) / h**2
        close(mine[0], middle, 1e-9)
        close(mine[1], first, error)
        close(mine[2], second, 100 * error)


@each_robot
def test_jerks_and_rates_of_forces_of_feet(name: str) -> None:
    held, robot, peer = feet(name, "body")
    rng = np.random.default_rng(5)
    q, v, tau = state(held, held.random_configuration(rng), rng)
    h = 1e-3
    times = h * np.arange(-4, 5)
    along = peer.along(robot.q_to_pin(q), robot.v_to_pin(v), robot.v_to_pin(tau), times)
    found = held.constrained_dynamics(q, v, tau)
    rates_agree(found, along, robot.v_from_pin, lambda x: np.array([*x.forces.values()]), h, 1e-7)


@pytest.mark.parametrize("name", ["Achilles rods, on its feet", "both rods, on its feet"])
def test_jerks_and_rates_of_forces_of_loops(name: str) -> None:
    rng = np.random.default_rng(6)
    robot = CASSIES[name](rng)
    q, v, tau = robot.random_state(rng)
    tree, h = robot.tree, 1e-3
    times = h * np.arange(-4, 5)
    mu = 1e-7 if "both" in name else 0.0
    along = robot.peer.along(tree.q_to_pin(q), tree.v_to_pin(v), tree.v_to_pin(tau), times, mu)
    along = [(acc, told(forces, name)) for acc, forces in along]
    found = robot.held.constrained_dynamics(q, v, tau)
    rates_agree(found, along, tree.v_from_pin, robot.forces, h, 1e-6)
