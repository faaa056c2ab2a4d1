"""Guarantees of every call: on threads, with other register widths, and out of memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jounce as jn
from calls import CALLS, ONE_STATE, SOLVES, Call, ask, good, keywords, numbers
from coupled_robots import FOLLOWERS, SOFT, Robot, maker
from jounce import _core
from kinds import TIED
from time_limits import HANG

RIGID = maker(31).add("base", "world", "free").add("hip", "base", "spherical").add("knee", "hip", "revolute")
ROBOTS: dict[str, Robot] = {
    "rigid": RIGID.add("slide", "knee", "prismatic").add("screw", "base", "helical").robot(),
    "followers": FOLLOWERS["siblings that share a leader"],
    "soft": SOFT["rod on a floating base"],
    "constraints": TIED["two feet"],
}
STATES = 301  # several registers, the last one not full
ALONE = ONE_STATE | {"backbone", "equilibrium"}  # the last takes batches, but of robots that something holds
BATCHED = [call for call in CALLS.values() if call.method not in ALONE]

each_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
each_call = pytest.mark.parametrize("call", BATCHED, ids=[call.name for call in BATCHED])


def question(call: Call, robot: Robot, batch: tuple[int, ...]) -> Callable[[], dict[str, np.ndarray]]:
    """Asks it, each time with the same arguments."""
    given, options = good(call, robot, batch), next(iter(keywords(call, robot, batch).values()))
    return lambda: numbers(robot.model, call, ask(robot.model, call, given, **options))


def refuses(call: Call, robot: Robot) -> bool:
    """Whether this kind of robot has no answer to the call."""
    try:
        question(call, robot, ())()
    except ValueError:
        return True
    return False


@pytest.fixture
def threads() -> Iterator[None]:
    before = jn.num_threads()
    yield
    jn.set_num_threads(before)


@each_robot
@each_call
def test_numbers_of_threads_do_not_change_a_bit(call: Call, robot: Robot, threads: None) -> None:
    if refuses(call, robot):
        pytest.skip("has no answer")
    answer = question(call, robot, (STATES,))
    jn.set_num_threads(1)
    alone = answer()
    for count in (2, 5):
        jn.set_num_threads(count)
        for key, found in answer().items():
            np.testing.assert_array_equal(found, alone[key], err_msg=key)


@each_robot
def test_threads_share_a_model(robot: Robot) -> None:
    """All calls at once, from eight Python threads."""
    possible = {call.name: question(call, robot, (40,)) for call in BATCHED if not refuses(call, robot)}
    alone = {name: answer() for name, answer in possible.items()}
    with ThreadPoolExecutor(8) as callers:
        for name, found in callers.map(lambda name: (name, possible[name]()), 3 * list(possible)):
            for key, value in found.items():
                np.testing.assert_array_equal(value, alone[name][key], err_msg=f"{name}, {key}")


@each_robot
@each_call
def test_registers_change_rounding_alone(call: Call, robot: Robot) -> None:
    """By 1e-12 of the largest entry of each array, and by 1e-9 if equations are solved."""
    if refuses(call, robot):
        pytest.skip("has no answer")
    answer, best, found = question(call, robot, (9,)), _core.instruction_set(), {}
    try:
        for name in _core.instruction_sets():
            _core.use_instruction_set(name)
            found[name] = answer()
    finally:
        _core.use_instruction_set(best)
    digits = 1e-9 if call.method in SOLVES else 1e-12
    for name, arrays in found.items():
        for key, value in arrays.items():
            largest = np.abs(found[best][key]).max(initial=0.0)
            np.testing.assert_allclose(value, found[best][key], rtol=0, atol=digits * largest, err_msg=f"{name}, {key}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on memory")
def test_out_of_memory_is_an_error_and_no_end() -> None:
    """Answers that do not fit, and threads' workspaces; afterwards everything works as before."""
    program = """
import resource, numpy as np, jounce as jn
robot, rng = jn.robots.aerial_manipulator(5, 20), np.random.default_rng(0)
q, v = robot.random_configuration(rng, 20), rng.normal(size=(20, 2, robot.nv))
before = robot.inverse_dynamics(q, v)
many = np.broadcast_to(q[:1], (200_000, robot.nq))
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**29, 3 * 2**29))
for call in (lambda: robot.mass_matrix(many), lambda: robot.linearize(many, v[0, 0], v[0, 1])):
    try:
        call()
    except MemoryError:
        pass
    else:
        raise SystemExit("no MemoryError")
assert (robot.inverse_dynamics(q, v) == before).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=HANG)
