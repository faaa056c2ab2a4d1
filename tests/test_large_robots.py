"""Robots of thousands of bodies, against the recursions of paper A in NumPy.

(Pinocchio's memory grows with the cube of the number of coordinates.)
"""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from oracles import paper_a
from trees import TreeSpec, random_configuration, random_stack, random_tree

SIZES = {"chain": (2000, True), "tree": (2000, False)}


class Case:
    """With slow joints, as their speeds add up along a chain."""

    def __init__(self, count: int, serial: bool) -> None:
        rng = np.random.default_rng(count)
        kinds = ("revolute", "prismatic", "spherical")
        self.tree: TreeSpec = random_tree(rng, count, floating=True, serial=serial, joints=kinds)
        self.robot: jn.Model = jounce_model(self.tree)
        self.q, self.v = random_configuration(rng, self.tree), 0.1 * random_stack(rng, self.tree, 4)
        self.force = paper_a.inverse_dynamics(self.tree, self.q, self.v)


@pytest.fixture(scope="module", params=SIZES, ids=list(SIZES))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*SIZES[request.param])


def off(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(found - truth).max() / np.abs(truth).max())


def test_inverse_dynamics(case: Case, instruction_set: str) -> None:
    """The forces and their first two derivatives."""
    alone = case.robot.inverse_dynamics(case.q, case.v)
    batch = case.robot.inverse_dynamics(np.stack([case.q] * 9), np.stack([case.v] * 9))
    for found in (alone, batch[4], batch[8]):
        assert max(off(*rows) for rows in zip(found, case.force, strict=True)) < 1e-10


def test_forward_dynamics(case: Case) -> None:
    """The recursion's forces for the motion found are those given."""
    acc = case.robot.forward_dynamics(case.q, case.v[0], case.force[:2])
    back = paper_a.inverse_dynamics(case.tree, case.q, np.vstack([case.v[:1], acc]))
    M = np.abs(case.robot.mass_matrix(case.q))
    for k in range(2):
        assert np.abs(back[k] - case.force[k]).max() < 1e-10 * (M @ np.abs(acc[k])).max()


def test_mass_matrix(case: Case) -> None:
    """Times an acceleration: the difference that it makes to the force."""
    a = case.v[1]
    rest, moved = (paper_a.inverse_dynamics(case.tree, case.q, np.stack([case.v[0], x])) for x in (0 * a, a))
    M = case.robot.mass_matrix(case.q)
    assert np.abs(M @ a - (moved - rest)[0]).max() < 1e-10 * np.abs(moved).max()
    np.testing.assert_array_equal(M, M.T)


def test_kinematics(case: Case) -> None:
    links, link_of = paper_a.links_of(case.tree, case.q, case.v)
    pose, twist, _ = paper_a.forward(links, 1)
    found = case.robot.forward_kinematics(
        case.q, case.v[:2], frames=[b.name for b in case.tree.bodies], frame="world", velocity_frame="body"
    )
    assert off(found.pose, pose[link_of]) < 1e-11
    truth = twist[link_of][..., paper_a.ANGULAR_FIRST]
    for k in range(2):
        assert off(found.twist[k], truth[:, k]) < 1e-10
    masses, places = np.array([b.mass for b in case.tree.bodies]), found.pose
    centers = [p[:3, :3] @ b.com + p[:3, 3] for p, b in zip(places, case.tree.bodies, strict=True)]
    assert off(case.robot.center_of_mass(case.q), masses @ centers / masses.sum()) < 1e-11
