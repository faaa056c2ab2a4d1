"""Followers and soft bodies up to order seven against positions differentiated in 96 digits.

test_inverse_dynamics.py does the same for rigid trees, test_soft_dynamics.py for soft ones up to the fourth derivative,
in double precision. Inverse dynamics must agree to 1e-13 of the largest entry of each order. Forward dynamics is passed
to the inverse dynamics of the oracle, which must return the forces, to 1e-13 of the largest term of each order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from coupled_robots import Robot, maker
from oracles import soft_lagrange, soft_virtual_work, virtual_work
from soft_build import rod_of
from soft_models import Joint, RigidBody, Rod, SoftSpec, constant_basis, constant_curvature
from trees import random_axes, random_inertia, random_pose

ORDER = 7
FOLLOW = jn.Follow
# Ratios, offsets and positions with few bits: the oracle's robot is where jounce's is, to the last digit.
ROBOTS: dict[str, Robot] = {
    "chain": maker(41)
    .add("a", "world", "revolute", damping=0.2)
    .add("b", "a", "revolute", follows=FOLLOW("a", 1.5, -0.25), armature=0.3)
    .add("c", "b", "helical")
    .add("d", "c", "prismatic", follows=FOLLOW("b", -0.5, 0.125), damping=0.4, stiffness=6.0)
    .robot(),
    "siblings": maker(42)
    .add("base", "world", "free")
    .add("left", "base", "revolute", follows=FOLLOW("lead", -0.75, 0.5))
    .add("lead", "base", "revolute", stiffness=2.0)
    .add("right", "base", "prismatic", follows=FOLLOW("lead", 0.25))
    .add("ball", "right", "spherical")
    .robot(),
}  # fmt: skip


def few_bits(x: np.ndarray) -> np.ndarray:
    return np.round(x * 2**20) / 2**20


def state(robot: Robot, rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = robot.configuration(rng)
    for joint in robot.model.joint_names:
        where = robot.model.position(joint)
        if where.stop - where.start == 1:
            q[where] = few_bits(q[where])
    return q, few_bits(robot.rates(rng, (rows,)))


def row_errors(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    assert found.shape == truth.shape
    return np.abs(found - truth).max(axis=1) / np.abs(truth).max(axis=1)


def backward_errors(tau: np.ndarray, back: np.ndarray, M: np.ndarray, acc: np.ndarray) -> np.ndarray:
    """Error of each order, relative to the largest term of tau: M acc and the rest."""
    inertial = acc @ M
    terms = [np.abs(tau), np.abs(acc) @ np.abs(M), np.abs(back - inertial)]
    return np.abs(back - tau).max(axis=1) / np.max([t.max(axis=1) for t in terms], axis=0)


def true_forces(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return virtual_work.inverse_dynamics(robot.tree, robot.full(q), v @ robot.G.T) @ robot.G


@pytest.mark.parametrize("name", ROBOTS)
def test_followers_to_order_seven(name: str, instruction_set: str) -> None:
    robot, model = ROBOTS[name], ROBOTS[name].model
    q, v = state(robot, ORDER + 2)
    truth = true_forces(robot, q, v)
    assert row_errors(model.inverse_dynamics(q, v), truth).max() < 1e-13
    many = model.inverse_dynamics(np.stack([q] * 9), np.stack([v] * 9))  # states side by side in SIMD lanes
    for one in many:
        assert row_errors(one, truth).max() < 1e-13


@pytest.mark.parametrize("name", ROBOTS)
def test_a_ratio_that_is_off_is_seen(name: str) -> None:
    robot = ROBOTS[name]
    q, v = state(robot, 4)
    ties = [p.follows and replace(p.follows, ratio=p.follows.ratio * (1 + 1e-11)) for p in robot.parts]
    other = replace(robot, parts=tuple(replace(p, follows=f) for p, f in zip(robot.parts, ties, strict=True)))
    assert row_errors(other.model.inverse_dynamics(q, v), true_forces(robot, q, v)).min() > 1e-13


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_of_followers_to_order_seven(name: str) -> None:
    robot, model = ROBOTS[name], ROBOTS[name].model
    q, v = state(robot, ORDER + 2)
    tau = robot.rates(np.random.default_rng(1), (ORDER + 1,))
    acc = model.forward_dynamics(q, v[0], tau)
    back = true_forces(robot, q, np.vstack([v[:1], acc]))
    assert backward_errors(tau, back, model.mass_matrix(q), acc).max() < 1e-13


# --- soft bodies ----------------------------------------------------------------------------------------


def soft_spec() -> SoftSpec:
    """A turning base, a rod of constant curvature on it, a body at its tip, and a joint with a body on that."""
    rng = np.random.default_rng(43)
    length = 0.375
    phi = constant_curvature(length, planar=False, elongation=True)
    modules = [
        Joint(placement=random_pose(rng), axis=random_axes(rng)[0]),
        RigidBody(parent=0, mass=0.7, com=rng.uniform(-0.1, 0.1, 3), inertia=random_inertia(rng, 0.7)),
        Rod(
            parent=1,
            placement=random_pose(rng, 0.2),
            length=length,
            radii=(0.02, 0.015),
            density=1050.0,
            young=2e3,
            poisson=0.4,
            viscosity=1e-3,
            basis=constant_basis(phi),
            amplitudes=3,
            uniform=True,
            section="disk",
            nodes=4,
        ),
        RigidBody(parent=2, placement=random_pose(rng, 0.1), mass=0.1, inertia=random_inertia(rng, 0.1)),
        Joint(parent=3, placement=random_pose(rng, 0.1), axis=random_axes(rng)[0]),
        RigidBody(parent=4, mass=0.2, com=rng.uniform(-0.1, 0.1, 3), inertia=random_inertia(rng, 0.2)),
    ]
    return SoftSpec(tuple(modules), np.array([0.7, -0.4, -9.6]))


SPEC = soft_spec()
TIE = FOLLOW("m0", -0.75, 0.5)  # couples the joint at the tip to the one at the base


def soft_model(follows: jn.Follow | None = None) -> jn.Model:
    b = jn.Builder(gravity=SPEC.gravity)
    for i, m in enumerate(SPEC.modules):
        where = {"parent": "world" if m.parent < 0 else f"m{m.parent}", "placement": m.placement}
        if isinstance(m, Joint):
            b.add(f"m{i}", joint=jn.Revolute(m.axis, follows=follows if i == 4 else None), **where)
        elif isinstance(m, Rod):
            b.add(f"m{i}", body=rod_of(m, m.nodes), **where)
        else:
            b.add(f"m{i}", inertia=jn.Inertia(m.mass, m.com, m.inertia), **where)
    return b.build(allow_massless=True)


def soft_state(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng, scale = np.random.default_rng(2), np.array([1.0, 0.5, 0.5, 0.03, 1.0])
    return few_bits(scale * rng.uniform(-1, 1, 5)), few_bits(scale * rng.uniform(-1, 1, (rows, 5)))


def test_the_two_soft_oracles_agree() -> None:
    q, v = soft_state(6)
    truth = soft_virtual_work.inverse_dynamics(SPEC, q, v)
    assert row_errors(soft_lagrange.inverse_dynamics(SPEC, q, v), truth).max() < 1e-13


def test_the_oracle_is_that_of_rigid_trees_where_nothing_is_soft() -> None:
    robot = ROBOTS["chain"].freed
    plain = tuple(
        replace(p, spec=replace(p.spec, joint="revolute", damping=0.0, armature=0.0, stiffness=0.0))
        for p in robot.parts
    )
    tree = Robot(plain).tree
    modules = []
    for b in tree.bodies:
        modules.append(Joint(parent=2 * b.parent + 1 if b.parent >= 0 else -1, placement=b.placement, axis=b.axis))
        modules.append(RigidBody(parent=len(modules) - 1, mass=b.mass, com=b.com, inertia=b.inertia))
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-1, 1, tree.nv), rng.uniform(-1, 1, (5, tree.nv))
    truth = virtual_work.inverse_dynamics(tree, q, v)
    assert (
        row_errors(soft_virtual_work.inverse_dynamics(SoftSpec(tuple(modules), tree.gravity), q, v), truth).max()
        < 1e-15
    )


@pytest.mark.parametrize("tied", [False, True], ids=["free", "with a follower"])
def test_a_soft_robot_to_order_seven(tied: bool) -> None:
    q, v = soft_state(ORDER + 2)
    model = soft_model(TIE if tied else None)
    G, offset = np.eye(5), np.zeros(5)
    if tied:
        G, offset = np.delete(G, 4, axis=1), TIE.offset * G[4]
        G[4, 0] = TIE.ratio
        q, v = q[:4], v[:, :4]
    truth = soft_virtual_work.inverse_dynamics(SPEC, G @ q + offset, v @ G.T) @ G
    assert row_errors(model.inverse_dynamics(q, v), truth).max() < 1e-13
    tau = 0.01 * np.random.default_rng(3).uniform(-1, 1, (ORDER + 1, len(q)))
    acc = model.forward_dynamics(q, v[0], tau)
    back = soft_virtual_work.inverse_dynamics(SPEC, G @ q + offset, np.vstack([v[:1], acc]) @ G.T) @ G
    assert backward_errors(tau, back, model.mass_matrix(q), acc).max() < 1e-13
