"""Batches, broadcasting, threads and `out=`: the same numbers whichever way they are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from trees import random_tree


@pytest.fixture(scope="module")
def robot() -> jn.Model:
    return jounce_model(random_tree(np.random.default_rng(0), 9, floating=True))


@pytest.mark.parametrize("rows", [2, 3, 4, 7, 10])
@pytest.mark.parametrize("frame", ["body", "world", "mixed"])
def test_a_batch_is_its_states(robot: jn.Model, rows: int, frame: str, instruction_set: str) -> None:
    rng = np.random.default_rng(rows)
    q, v = robot.random_configuration(rng, 21), rng.uniform(-1, 1, (21, rows, robot.nv))
    wrench = {robot.body_names[3]: rng.normal(size=(21, rows - 1, 6))}
    batch = robot.inverse_dynamics(q, v, frame=frame, wrenches=wrench, wrench_frame="mixed")
    for i in range(21):
        one = {name: w[i] for name, w in wrench.items()}
        single = robot.inverse_dynamics(q[i], v[i], frame=frame, wrenches=one, wrench_frame="mixed")
        scale = np.abs(single).max(axis=1, keepdims=True)
        assert (np.abs(batch[i] - single) / scale).max() < 1e-12


def test_broadcasting(robot: jn.Model) -> None:
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng, (5, 1))
    v, a = rng.normal(size=(1, 4, robot.nv)), rng.normal(size=(2, 1, 1, robot.nv))
    wrench = rng.normal(size=(4, 6))
    tau = robot.inverse_dynamics(q, v, a, wrenches={robot.body_names[0]: wrench})
    assert tau.shape == (2, 5, 4, robot.nv)
    for index in np.ndindex(2, 5, 4):
        i, j, k = index
        one = robot.inverse_dynamics(q[j, 0], v[0, k], a[i, 0, 0], wrenches={robot.body_names[0]: wrench[k]})
        np.testing.assert_allclose(tau[index], one, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rows", [2, 7])
def test_threads_do_not_change_a_bit(rows: int) -> None:
    robot = jn.robots.aerial_manipulator(5, 20)
    rng = np.random.default_rng(2)
    q, v = robot.random_configuration(rng, 300), rng.normal(size=(300, rows, robot.nv))
    before = jn.num_threads()
    try:
        jn.set_num_threads(1)
        alone = robot.inverse_dynamics(q, v)
        jn.set_num_threads(4)
        np.testing.assert_array_equal(robot.inverse_dynamics(q, v), alone)
    finally:
        jn.set_num_threads(before)


@pytest.mark.parametrize("lead", [(), (6,), (2, 3)])
def test_out(robot: jn.Model, lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    q, v = robot.random_configuration(rng, lead), rng.normal(size=(*lead, 4, robot.nv))
    out = np.full((*lead, 3, robot.nv), np.nan)
    assert robot.inverse_dynamics(q, v, out=out) is out
    np.testing.assert_array_equal(out, robot.inverse_dynamics(q, v))


def test_stack_and_rows_agree(robot: jn.Model) -> None:
    rng = np.random.default_rng(4)
    q, v = robot.random_configuration(rng, 3), rng.normal(size=(3, 2, robot.nv))
    np.testing.assert_array_equal(robot.inverse_dynamics(q, v)[:, 0], robot.inverse_dynamics(q, v[:, 0], v[:, 1]))


def test_lower_rows_do_not_depend_on_higher_ones(robot: jn.Model) -> None:
    rng = np.random.default_rng(5)
    q, v = robot.random_configuration(rng), rng.normal(size=(9, robot.nv))
    full = robot.inverse_dynamics(q, v)
    for rows in range(2, 9):
        part = robot.inverse_dynamics(q, v[:rows])
        np.testing.assert_allclose(part, full[: rows - 1], rtol=1e-10, atol=1e-10)
