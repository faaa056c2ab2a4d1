"""Robots with followers, soft bodies and constraints, against the stored answers of coupled_reference.json.

A change of the code may change the last digits of an answer, and nothing else. Calls that solve with the mass matrix
lose digits if it is ill-conditioned; for these the equation must hold to the last digits, and the stored numbers to
nine.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import jounce as jn
from calls import CALLS, FRAMES, Call, ask, backward_error, error, good, numbers
from frozen_numbers import FILE, NAMES, PROPERTIES, ROBOTS, is_stored, key_of, questions, shortened, ways_to_ask

pytestmark = pytest.mark.filterwarnings("ignore::jounce.ModelWarning")  # a word on what may not be meant

STORED = json.loads(FILE.read_text())
TOLERANCE = 1e-13
CASES = [(n, c) for n in ROBOTS for c in CALLS if STORED[n].get(c, "") is not None and any(ways_to_ask(n, CALLS[c]))]

each_robot = pytest.mark.parametrize("name", ROBOTS)
each_case = pytest.mark.parametrize(("name", "call"), CASES)


def stored_error(call: Call, key: str, found: np.ndarray, stored: list) -> float:
    """Error of each order; the axis of orders is recovered after an array was shortened."""
    short, axis = shortened(np.asarray(found)), call.order_axis(key)
    if axis is not None and short.ndim < np.ndim(found):
        axis += 1
    return error(short, np.reshape(stored, short.shape) if short.size == 0 else np.array(stored), axis)


@each_case
def test_answers_are_the_same(name: str, call: str, instruction_set: str) -> None:
    model, how = ROBOTS[name].model, CALLS[call]
    tolerance = 1e-9 if how.solves else 1e-12 if ROBOTS[name].ties else TOLERANCE
    errors = {}
    for label, given, options in questions(name, how):
        if not is_stored(how, label) or STORED[name][key_of(how, label)] is None:
            continue
        stored = STORED[name][key_of(how, label)]
        arrays = numbers(model, how, ask(model, how, given, **options), options.get("frames"))
        assert set(arrays) == set(stored)
        errors |= {f"{label} {key}": stored_error(how, key, arrays[key], stored[key]) for key in stored}
    assert max(errors.values(), default=0.0) < tolerance, errors  # no limit may be broken


@pytest.mark.parametrize("call", [c for c in CALLS.values() if c.solves], ids=lambda c: c.name)
@each_robot
def test_equations_are_solved_to_the_last_digits(name: str, call: Call) -> None:
    if call.method in ("articulated_inertia", "equilibrium"):
        pytest.skip("it solves no linear equation: see test_articulated_inertia.py and test_statics.py")
    model, ties = ROBOTS[name].model, ROBOTS[name].ties
    if ties and call.method in ("linearize", "forward_dynamics_derivatives"):
        pytest.skip("with constraints, test_twins.py has these")
    asked = list(questions(name, call))
    if not asked:
        pytest.skip("it is for robots " + ("without constraints" if ties else "with constraints"))
    errors = {}
    for label, given, options in asked:
        if call.method == "linearize" and ("frame" in options or "u" in options):  # covered by the stored numbers
            continue
        errors[label] = backward_error(model, call, given, options, ask(model, call, given, **options))
    assert max(errors.values()) < (1e-11 if ties else TOLERANCE), errors


@each_robot
def test_lower_orders_are_the_rows_of_higher_ones(name: str) -> None:
    """For inverse and forward dynamics: orders 0, 1 and 3, and order 0 with separate v and a, give the same numbers."""
    robot, model = ROBOTS[name], ROBOTS[name].model
    for frame in FRAMES:
        q, v = good(CALLS["inverse_dynamics of stacks"], robot, rows=5, seed=12).values()
        v = robot.motion(q, v, frame)
        tau = model.inverse_dynamics(q, v, frame=frame)
        for rows in (2, 3, 4):
            assert error(model.inverse_dynamics(q, v[:rows], frame=frame), tau[: rows - 1], 0) < TOLERANCE
            acc = model.forward_dynamics(q, v[0], tau[: rows - 1], frame=frame)
            assert error(acc, v[1:rows], 0) < 1e-9
        assert error(model.inverse_dynamics(q, v[0], v[1], frame=frame), tau[0]) < TOLERANCE
        assert error(model.forward_dynamics(q, v[0], tau[0], frame=frame), v[1]) < 1e-9


@each_robot
def test_names_and_properties(name: str) -> None:
    model = ROBOTS[name].model
    for key in NAMES:
        assert list(getattr(model, key)) == STORED[name]["names"][key]
    for key in PROPERTIES:
        np.testing.assert_array_equal(np.nan_to_num(getattr(model, key)), STORED[name]["properties"][key])
    if STORED[name]["inertial_parameters"] is not None:
        found = model.inertial_parameters
        assert error(found, np.array(STORED[name]["inertial_parameters"][""])) < TOLERANCE


def test_every_call_is_stored_for_some_robot() -> None:
    """Except those that robots with followers and soft bodies refused on that day."""
    answered = {key.split(",")[0] for stored in STORED.values() for key, value in stored.items() if value is not None}
    assert set(CALLS) - answered == {"articulated_inertia", "closed_form", "closed_form of stacks"}


def test_the_numbers_can_tell_robots_apart() -> None:
    """A ratio or a density that is off by a millionth of a millionth is detected."""
    robot = ROBOTS["siblings that share a leader"]
    call = CALLS["inverse_dynamics of stacks"]
    builder = jn.Builder(gravity=robot.gravity)
    for part in robot.parts:
        b = part.spec
        joint = part.joint()
        if b.name == "left":
            joint = jn.Revolute(b.axis, follows=jn.Follow("lead", 0.8 * (1 + 3e-12)))
        parent = "world" if b.parent < 0 else robot.parts[b.parent].spec.name
        builder.add(b.name, parent, joint, b.placement, jn.Inertia(b.mass, b.com, b.inertia))
    given = good(call, robot, rows=5, seed=11)
    stored = STORED["siblings that share a leader"][call.name][""]
    assert stored_error(call, "", ask(robot.model, call, given), stored) < TOLERANCE
    assert stored_error(call, "", ask(builder.build(), call, given), stored) > TOLERANCE
