"""Batches, broadcasting, threads and `out=`: the same numbers either way."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jounce as jn
from build import jounce_model
from time_limits import HANG
from trees import random_tree


@pytest.fixture(scope="module")
def robot() -> jn.Model:
    return jounce_model(random_tree(np.random.default_rng(0), 9, floating=True))


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6, 7, 8, 10, 14, 18])
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


@pytest.mark.parametrize(
    "call",
    [
        *("inverse_dynamics", "forward_dynamics", "hybrid_dynamics"),
        *("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize"),
    ],
)
def test_wrenches_alone_are_a_batch(robot: jn.Model, call: str) -> None:
    """One state, under several wrenches."""
    rng = np.random.default_rng(2)
    q, v, force, acc = robot.random_configuration(rng), *rng.normal(size=(3, robot.nv))
    given = (q, v, acc, force) if call == "hybrid_dynamics" else (q, v, force)
    prescribed = {"prescribed": np.arange(robot.nv) < 6} if call == "hybrid_dynamics" else {}
    wrench = rng.normal(size=(3, 6))

    def answers(w: np.ndarray) -> list[np.ndarray]:
        found = getattr(robot, call)(*given, **prescribed, wrenches={robot.body_names[3]: w})
        if call == "linearize":
            return [found.A, found.B, found.acceleration]
        return list(found) if isinstance(found, tuple) else [found]

    for i in range(3):
        for batch, one in zip(answers(wrench), answers(wrench[i]), strict=True):
            assert batch.shape == (3, *one.shape)
            np.testing.assert_allclose(batch[i], one, rtol=1e-11, atol=1e-11 * np.abs(one).max())


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


def test_a_robot_smaller_than_a_register(instruction_set: str) -> None:
    builder = jn.Builder()
    builder.add("link", "world", jn.Revolute((0.0, 1.0, 0.0)), inertia=jn.Inertia(1.0, rotational=(1.0, 2.0, 2.0)))
    pendulum, rng = builder.build(), np.random.default_rng(6)
    q, v = rng.normal(size=(19, 1)), rng.normal(size=(19, 4, 1))
    tau = pendulum.inverse_dynamics(q, v)
    for i in range(19):
        np.testing.assert_allclose(tau[i], pendulum.inverse_dynamics(q[i], v[i]), rtol=1e-12, atol=1e-12)


def test_what_is_no_number_is_found_in_every_part() -> None:
    robot, states = jn.robots.aerial_manipulator(), 5000
    rng = np.random.default_rng(7)
    q, v = robot.random_configuration(rng, states), rng.normal(size=(states, 2, robot.nv))
    for state in (0, 2600, 4999):
        bad = v.copy()
        bad[state, 1, 2] = np.nan
        with pytest.raises(ValueError, match=rf"v\[{state}, 1, 2\] is nan"):
            robot.inverse_dynamics(q, bad)
    q[4000, 3:7] *= 2
    with pytest.raises(ValueError, match=r"q\[..., 3:7\] is a quaternion of length 2\.0+ in state 4000"):
        robot.inverse_dynamics(q, v)


def test_two_callers_at_once() -> None:
    robot, rng = jn.robots.aerial_manipulator(5, 4), np.random.default_rng(8)
    q, v = robot.random_configuration(rng, 2000), rng.normal(size=(2000, 3, robot.nv))
    alone = robot.inverse_dynamics(q, v)
    with ThreadPoolExecutor(3) as callers:
        for tau in callers.map(lambda _: robot.inverse_dynamics(q, v), range(12)):
            np.testing.assert_array_equal(tau, alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    program = """
import os, numpy as np, jounce as jn
robot, rng = jn.robots.aerial_manipulator(), np.random.default_rng(0)
q, v = robot.random_configuration(rng, 4000), rng.normal(size=(4000, 3, robot.nv))
jn.set_num_threads(3)
before = robot.inverse_dynamics(q, v)
child = os.fork()
same = (robot.inverse_dynamics(q, v) == before).all()
if child == 0:
    os._exit(0 if same else 1)
assert same and os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=HANG)


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
