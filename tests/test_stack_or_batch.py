"""A stack of derivatives or one row per state: shapes decide, `order=` states it, a warning says what may be meant."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import jounce as jn
from calls import CALLS, ONE_ROW, ROWS, Call, ask, good, keywords, numbers, signature
from coupled_robots import Robot
from kinds import KINDS

ROBOT = KINDS["floating"]
HELD = next(robot for robot in KINDS.values() if any(c.contact for c in robot.model.constraints))
CONSTRAINED = {"constraint_jacobian_derivatives", "constrained_dynamics", "constrained_dynamics_derivatives"}
# A velocity per state and a stack cannot be mistaken for each other, or look like it to nobody: it has no batches.
PLAIN = {"project", "closed_form", "torque_coefficients", "check_limits"}
STACKED = [c for c in CALLS.values() if c.stacks & {"v", "acc", "tau"} and c.method not in PLAIN]
each_stacked = pytest.mark.parametrize("call", STACKED, ids=lambda c: c.name)


def robot_of(call: Call) -> Robot:
    return HELD if call.method.startswith(("constrain", "inverse_constraint")) else ROBOT


def doubted(call: Call) -> str:
    """The argument whose shape decides."""
    return "tau" if "tau" in call.stacks else "v"


def one_stack_for_all(call: Call) -> tuple[Robot, dict[str, object], int, dict[str, object]]:
    """A call for as many configurations as the stack that decides has rows, that count, and the keywords it needs."""
    robot = robot_of(call)
    count = ROWS if doubted(call) == "v" else ROWS - 1
    given = good(call, robot)
    given["q"] = np.repeat(given["q"][None], count, axis=0)
    return robot, given, count, keywords(call, robot)[""]


@each_stacked
def test_a_stack_with_the_batch_shape_of_q_is_warned_of(call: Call) -> None:
    robot, given, count, options = one_stack_for_all(call)
    name = doubted(call)
    with pytest.warns(
        jn.BatchWarning, match=rf"^{name} has shape \({count}, .*batch shape of q.*{name}\[None\]"
    ) as said:
        found = ask(robot.model, call, given, **options)
    assert "\n" not in str(said[0].message)
    assert ("was `a` forgotten" in str(said[0].message)) == (
        "a" in signature(getattr(jn.Model, call.method)).parameters
    )
    meant = {k: x[None] if k in call.stacks else x for k, x in given.items()}
    expected = numbers(robot.model, call, found)
    for other in (
        ask(robot.model, call, meant, **options),
        ask(robot.model, call, given, order=call.highest(), **options),
    ):
        same = numbers(robot.model, call, other)
        for key, x in expected.items():
            np.testing.assert_allclose(same[key], x, rtol=1e-12, atol=1e-12)


@each_stacked
def test_the_warning_is_given_once_and_names_the_line_of_the_caller(call: Call) -> None:
    robot, given, _, options = one_stack_for_all(call)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            ask(robot.model, call, given, **options)
    assert [w.category for w in said] == [jn.BatchWarning]
    assert said[0].filename == inspect.getsourcefile(ask)


@each_stacked
def test_length_alone_says_nothing(call: Call) -> None:
    """One state with many rows; and other numbers of states than of rows, also of the rows that calls use inside."""
    robot, given, count, options = one_stack_for_all(call)
    for states in (None, 1, count - 1, count + 1):
        q = given["q"][0] if states is None else np.repeat(given["q"][:1], states, axis=0)
        ask(robot.model, call, given | {"q": q}, **options)


@each_stacked
def test_an_order_that_the_shapes_do_not_have_is_refused(call: Call) -> None:
    robot = robot_of(call)
    given, options = good(call, robot), keywords(call, robot)[""]
    right = call.highest()
    shape = f"({ROWS}, " if doubted(call) == "v" else f"({ROWS - 1}, "
    for bad in (right - 1, right + 1, True, str(right), float(right), 10**30):
        with pytest.raises(ValueError, match=r"^order is ") as refused:
            ask(robot.model, call, given, order=bad, **options)
        assert f"expected {right}, the highest derivative in the result" in str(refused.value)
        assert f"{doubted(call)} has shape {shape}" in str(refused.value)
    ask(robot.model, call, given, order=np.int8(right), **options)


@pytest.mark.parametrize(
    "call", [c for c in CALLS.values() if "order" in c.keywords and not c.stacks], ids=lambda c: c.name
)
def test_the_order_of_single_rows_is_zero(call: Call) -> None:
    robot = robot_of(call)
    given, options = good(call, robot), keywords(call, robot)[""]
    ask(robot.model, call, given, order=0, **options)
    with pytest.raises(ValueError, match=r"^order is 1, expected 0, the highest derivative in the result: "):
        ask(robot.model, call, given, order=1, **options)


def test_inverse_dynamics_whose_acceleration_was_forgotten() -> None:
    robot, rng = jn.robots.panda(), np.random.default_rng(0)
    Q, V = rng.normal(size=(2, 20, 7))
    with pytest.warns(jn.BatchWarning, match=r"was `a` forgotten\? With `a`, v is one velocity for each state"):
        assert robot.inverse_dynamics(Q, V).shape == (20, 19, 7)
    assert robot.inverse_dynamics(Q, V[None]).shape == (20, 19, 7)
    assert robot.inverse_dynamics(Q, V, np.zeros(7)).shape == (20, 7)
    with pytest.raises(ValueError, match=r"order is 0, expected 18.*was `a` forgotten\?"):
        robot.inverse_dynamics(Q, V, order=0)
    with pytest.raises(
        ValueError, match=r"v has 50 rows, expected at most 32: .* batch shape of q: was `a` forgotten\?"
    ):
        robot.inverse_dynamics(rng.normal(size=(50, 7)), rng.normal(size=(50, 7)))
    with pytest.raises(
        ValueError, match=r"v has 50 rows.* batch shape of q: one velocity for each state is v\[\.\.\., None"
    ):
        robot.mass_matrix_derivatives(rng.normal(size=(50, 7)), rng.normal(size=(50, 7)))
    with pytest.warns(jn.BatchWarning, match="forgotten"), pytest.raises(ValueError, match="do not broadcast"):
        robot.inverse_dynamics(rng.normal(size=(3, 4, 7)), rng.normal(size=(3, 4, 7)))


def test_torques_of_a_sampling_controller() -> None:
    """Five torques in one state are a stack unless v has their dimension; order=0 says that they are not."""
    robot, rng = jn.robots.panda(), np.random.default_rng(0)
    q, v, taus = rng.normal(size=7), rng.normal(size=7), rng.normal(size=(5, 7))
    with pytest.raises(ValueError, match=r"order is 0, expected 4.*tau has shape \(5, 7\).*v\[None\]"):
        robot.forward_dynamics(q, v, taus, order=0)
    five = robot.forward_dynamics(q, v[None], taus, order=0)
    for found, tau in zip(five, taus, strict=True):
        np.testing.assert_allclose(found, robot.forward_dynamics(q, v, tau), rtol=1e-11)
    many = r"tau has 50 rows, expected at most 31: the highest order is 30; for one force .*: v\[None\]"
    held = robot.constrained({"link7": jn.Spherical()})
    for ask_for in (robot.forward_dynamics, held.constrained_dynamics):
        with pytest.raises(ValueError, match=many):
            ask_for(q, v, rng.normal(size=(50, 7)))


def test_more_velocities_than_a_stack_has_rows() -> None:
    robot, Q, V = jn.robots.panda(), np.zeros((50, 7)), np.zeros((50, 7))
    with pytest.raises(ValueError, match=r"v has shape \(50, 7\), one row for each of .*None, :"):
        robot.check_limits(Q, V)
    held = robot.constrained({"link7": jn.Spherical()})
    with pytest.raises(ValueError, match=r"v \(50, 7\), a stack of 50 rows, expected at most 31; .*: q\[None\]"):
        held.project(Q[0], V)


def test_some_frames_ask_once() -> None:
    robot, V = jn.robots.panda(), np.ones((4, 7))
    with pytest.warns(jn.BatchWarning) as said:
        robot.frames(["link3", "link5", "link7"]).jacobian_derivatives(np.zeros((4, 7)), V)
    assert len(said) == 1


def test_a_stack_of_one_row() -> None:
    robot = jn.robots.panda()
    for call in (robot.inverse_dynamics, robot.inverse_dynamics_regressor, robot.constrained_inverse_dynamics):
        with pytest.raises(
            ValueError, match=r"v has shape \(1, 7\), expected a stack \(\.\.\., rows, 7\) of at least 2 rows"
        ):
            call(np.zeros(7), np.zeros((1, 7)))


@pytest.mark.parametrize("call", [c for c in STACKED if c.method in ONE_ROW], ids=lambda c: c.name)
def test_a_plain_velocity_stands_for_a_stack_of_one_row(call: Call) -> None:
    robot = robot_of(call)
    for shape in ((), (2,), (3, 2)):
        given = good(call, robot, shape, rows=1)
        given["v"] = given["v"][(0,) * len(shape)]
        expected = numbers(robot.model, call, ask(robot.model, call, given))
        plain = given | {"v": given["v"][0]}
        for options in ({}, {"order": 1}):
            found = numbers(robot.model, call, ask(robot.model, call, plain, **options))
            for key, x in expected.items():
                np.testing.assert_array_equal(found[key], x)
        with pytest.raises(ValueError, match=r"^order is 0, expected 1"):
            ask(robot.model, call, plain, order=0)


def test_the_twist_of_a_plain_velocity_is_plain() -> None:
    robot = ROBOT.model
    q, v = robot.random_configuration(0, (2,)), np.linspace(-1, 1, robot.nv)
    for at in (q, q[0]):
        for frame in ("body", "world", "mixed"):
            axes = {"frame": frame, "velocity_frame": "mixed"}
            found = robot.twist("tip", at, v, order=0, **axes)
            np.testing.assert_array_equal(found, robot.twist("tip", at, [v], **axes)[..., 0, :])
            np.testing.assert_array_equal(robot.twist("tip", at, v.tolist(), **axes), found)


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="a long double is a double here")
@pytest.mark.parametrize("call", [c for c in CALLS.values() if c.arrays], ids=lambda c: c.name)
def test_long_doubles_are_not_cast_in_silence(call: Call) -> None:
    robot = robot_of(call)
    if call.method in ("backbone", "loop_coordinate"):
        robot = next(r for r in KINDS.values() if (r.model._soft if call.method == "backbone" else r.ties))
    given, options = good(call, robot), keywords(call, robot)[""]
    for name in call.arrays:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ask(robot.model, call, given | {name: given[name].astype(np.longdouble)}, **options)
        words = {str(w.message) for w in said if w.category is jn.PrecisionWarning}
        assert f"{name} holds long doubles, which are read as doubles: answers have at most 16 digits" in words, name
