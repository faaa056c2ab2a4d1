"""Joints with armature, damping and springs next to soft bodies: each enters every code path as on a rigid robot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import jounce as jn

PASSIVE = {"armature": 0.3, "damping": 0.7, "stiffness": 11.0, "rest": 0.4}
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}  # of a central difference of eighth order


def robot_of(passive: dict[str, float], base: dict[str, float]) -> jn.Model:
    b = jn.Builder(gravity=(1.0, -2.0, -9.0))
    b.add("base", parent="world", joint=jn.Free(**base), inertia=jn.Inertia(1.0, rotational=(0.01, 0.02, 0.03)))
    b.add("hip", parent="base", joint=jn.Revolute((0, 1, 0), **passive), inertia=jn.Inertia(0.2, com=(0.05, 0, 0.1)))
    rod = jn.soft.Rod(0.3, (0.02, 0.015), 1000.0, 1e4, damping=0.1)
    b.add("rod", parent="hip", joint=jn.Prismatic((1, 0, 0), **passive), body=rod)
    b.add("hand", parent="rod", joint=jn.Revolute((1, 0, 0), **passive), inertia=jn.Inertia(0.1, com=(0, 0.05, 0)))
    return b.build()


PLAIN = robot_of({}, {})
ROBOTS = {
    "linear time": robot_of(PASSIVE, {"armature": 0.2, "damping": 0.5}),
    "spring on a ball": robot_of(PASSIVE, {"armature": 0.2, "damping": 0.5, "stiffness": 3.0}),  # the general path
    "spring that pulls": robot_of({}, {"stiffness": (3.0, 3.0, 3.0, 0.0, 0.0, 0.0)}),
    "spring that turns": robot_of({}, {"stiffness": (0.0, 0.0, 0.0, 3.0, 3.0, 3.0)}),
}


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> jn.Model:
    return ROBOTS[request.param]


def state(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return PLAIN.random_configuration(rng), rng.normal(size=(rows, PLAIN.nv))


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    assert np.abs(actual - expected).max() < tolerance * np.abs(expected).max()


def test_forces_are_those_without_and_what_joints_add():
    q, v = state(4)
    robot = ROBOTS["linear time"]
    joints = [PLAIN.coordinate(name).start for name in ("hip", "rod", "hand")]
    places = [PLAIN.position(name).start for name in ("hip", "rod", "hand")]
    added = np.zeros((3, PLAIN.nv))
    added[:, joints] = 0.3 * v[1:, joints] + 0.7 * v[:3, joints] + 11.0 * np.vstack([q[places] - 0.4, v[:2, joints]])
    added[:, :6] = 0.2 * v[1:, :6] + 0.5 * v[:3, :6]
    close(robot.inverse_dynamics(q, v), PLAIN.inverse_dynamics(q, v) + added)
    elastic, damping = np.zeros(PLAIN.nv), np.zeros(PLAIN.nv)
    elastic[joints], damping[joints], damping[:6] = 11.0 * (q[places] - 0.4), 0.7 * v[0, joints], 0.5 * v[0, :6]
    close(robot.elastic_force(q), PLAIN.elastic_force(q) + elastic)
    close(robot.damping_force(q, v[0]), PLAIN.damping_force(q, v[0]) + damping)
    inertia = np.zeros(PLAIN.nv)
    inertia[joints], inertia[:6] = 0.3, 0.2
    close(robot.mass_matrix(q), PLAIN.mass_matrix(q) + np.diag(inertia))
    close(robot.generalized_inverse_dynamics(q, *v[:2]), PLAIN.generalized_inverse_dynamics(q, *v[:2]) + inertia * v[1])


def test_springs_of_a_free_joint():
    q, v = state(2)
    turn = Rotation.from_quat(q[3:7])
    pulls, turns = ROBOTS["spring that pulls"], ROBOTS["spring that turns"]
    for robot, part, displacement in (
        (pulls, slice(0, 3), turn.inv().apply(q[:3])),
        (turns, slice(3, 6), turn.as_rotvec()),
    ):
        force = np.zeros(PLAIN.nv)
        force[part] = 3.0 * displacement
        close(robot.elastic_force(q), PLAIN.elastic_force(q) + force)
        close(robot.inverse_dynamics(q, *v), PLAIN.inverse_dynamics(q, *v) + force)
        energy = robot.potential_energy(q) - PLAIN.potential_energy(q)
        assert abs(energy - 1.5 * displacement @ displacement) < 1e-12


def test_forward_undoes_inverse(robot):
    q, v = state(4)
    tau = robot.inverse_dynamics(q, v)
    close(robot.forward_dynamics(q, v[0], tau[0]), v[1], 1e-10)
    close(robot.forward_dynamics(q, v[0], tau[:2])[1], v[2], 1e-6)


def test_derivatives_are_slopes(robot):
    q, v = state(2)
    K, D, M = robot.inverse_dynamics_derivatives(q, *v)

    def slope(h, moved):
        return sum(w * (moved(k * h) - moved(-k * h)) for k, w in WEIGHTS.items()) / h

    unit = np.eye(robot.nv)
    by_q = [slope(1e-3, lambda h, e=e: robot.inverse_dynamics(robot.integrate(q, h * e), *v)) for e in unit]
    by_v = [slope(1e-2, lambda h, e=e: robot.inverse_dynamics(q, v[0] + h * e, v[1])) for e in unit]
    close(K, np.stack(by_q, axis=1), 1e-10)
    close(D, np.stack(by_v, axis=1), 1e-10)
    close(M, robot.mass_matrix(q))
    along = robot._inverse_dynamics_derivatives(q, v, None, None, "body")  # the general path
    for fast, general in zip((K, D, M), along, strict=True):
        close(fast, general[0])
