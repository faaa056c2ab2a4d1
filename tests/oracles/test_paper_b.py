"""Paper B's tables against derivatives of forces computed from positions alone, in high precision."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from jounce_lab.reproduce.paper_b_derivatives import by_joints, by_pose, by_rates, by_twist
from jounce_lab.reproduce.paper_b_inverse import immamb
from oracles import directional, paper_b, virtual_work
from trees import ONE_DOF, random_configuration, random_stack, random_tree


def off(result: np.ndarray, truth: np.ndarray) -> float:
    """Relative to the largest entry."""
    assert result.shape == truth.shape
    return float(np.abs(result - truth).max() / np.abs(truth).max())


@pytest.fixture(scope="module")
def known() -> SimpleNamespace:
    """A tree in a state, its forces, and their exact derivatives."""
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 7, floating=True, joints=ONE_DOF)
    q, v = random_configuration(rng, tree), random_stack(rng, tree, 2)
    by_q, by_v = directional.jacobians(tree, q, v)
    tau = virtual_work.inverse_dynamics(tree, q, v)[0]
    e = paper_b.extended(paper_b.tree_of(tree), q, *v)
    return SimpleNamespace(tree=tree, q=q, v=v, e=e, tau=tau, by_q=by_q[0], by_v=by_v[0, 0], M=by_v[0, 1])


def test_table_4(known: SimpleNamespace) -> None:
    assert off(known.e.tau, known.tau) < 1e-14


def test_mass_matrix(known: SimpleNamespace) -> None:
    """(54), (56), and the joints' block."""
    assert off(known.e.mass_matrix, known.M) < 1e-14


def test_remark_on_consistent_inputs(known: SimpleNamespace) -> None:
    """a_0 = -(M^c_B0)^-1 b^c_B0 leaves no wrench on the base."""
    v, a = known.v
    a_0 = -np.linalg.solve(known.e.Mc[0], known.e.bc[0])
    still = paper_b.extended(paper_b.tree_of(known.tree), known.q, v, np.append(a_0, a[6:]))
    assert np.abs(still.tau[:6]).max() < 1e-12
    assert np.abs(known.tau[:6]).max() > 1


def test_table_5_with_the_body_components_of_the_twist_held(known: SimpleNamespace) -> None:
    assert off(by_pose(known.e, "body"), known.by_q[:, :6]) < 1e-14


def test_table_5_with_its_line_1_holds_the_world_components(known: SimpleNamespace) -> None:
    """Then the body components change by ad_v d."""
    truth = known.by_q[:, :6] + known.by_v[:, :6] @ paper_b.cross(known.v[0, :6])
    assert off(by_pose(known.e, "world"), truth) < 1e-14
    assert off(truth, known.by_q[:, :6]) > 0.01  # not the same thing


def test_table_6(known: SimpleNamespace) -> None:
    assert off(by_joints(known.e), known.by_q[:, 6:]) < 1e-14


def test_table_7(known: SimpleNamespace) -> None:
    assert off(by_twist(known.e), known.by_v[:, :6]) < 1e-14


def test_table_8(known: SimpleNamespace) -> None:
    assert off(by_rates(known.e), known.by_v[:, 6:]) < 1e-14


def test_table_9(known: SimpleNamespace) -> None:
    assert off(paper_b.immamb(known.tree, known.q[7:]) @ known.M, np.eye(known.tree.nv)) < 1e-12


def test_lines_to_the_letter_differ(known: SimpleNamespace) -> None:
    """As docs/paper_b.md says about lines 4.6, 5.12, 6.18 and 9.11."""
    tree = paper_b.tree_of(known.tree)
    assert off(paper_b.extended(tree, known.q, *known.v, printed="4.6").tau, known.tau) > 0.1
    assert off(by_pose(known.e, printed="5.12"), known.by_q[:, :6]) > 0.1
    assert off(by_joints(known.e, printed="6.18"), known.by_q[:, 6:]) > 0.01
    inverse = np.linalg.inv(known.M)
    assert off(immamb(tree, known.q[7:], printed="9.11"), inverse) > 0.01
