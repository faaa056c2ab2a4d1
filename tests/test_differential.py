"""Every public call, on every kind of robot, randomly drawn and compared with its twins (`differences`).

A short round; fuzz/calls.py makes long ones. Calls are drawn from the signatures, so a new public call is included
automatically, and a parameter that cannot be drawn is a failure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest

import differences as module
import jounce as jn
from calls import CALLS, outcome, public_calls, signature
from differences import TWINS, answered, compared, differences
from drawn_calls import PARAMETERS, drawn
from drawn_functions import CALLS as FUNCTIONS
from drawn_functions import function_differences, public_functions, uncovered, untried
from kinds import EVERY, FIXED, KINDS, random_robot

DAY, NIGHT = range(1), range(1, 4)  # seeds of each call of each kind
METHODS = sorted(public_calls(EVERY["rigid"].model))

pytestmark = pytest.mark.filterwarnings("ignore::jounce.ModelWarning")  # a word on what may not be meant
each_method = pytest.mark.parametrize("method", METHODS)


# --- coverage -------------------------------------------------------------------------------------------


@each_method
def test_every_parameter_can_be_drawn(method: str) -> None:
    named = set(signature(getattr(jn.Model, method)).parameters) - {"self", "out"}
    assert named <= set(PARAMETERS)


def test_every_public_function_is_drawn() -> None:
    """With all of its parameters."""
    assert {"simulate", "load", "lqr", "Rod", "aerial_manipulator", "MuJoCo", "set_num_threads"} <= set(
        public_functions()
    )
    assert not uncovered()
    assert not untried()


def test_a_new_public_call_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an entry for it anywhere, if its parameters are known."""

    def squared(self: jn.Model, q: np.ndarray, v: np.ndarray, *, frame: str = "body") -> np.ndarray:
        self.kinetic_energy(q, v, frame=frame)
        return np.asarray(v, dtype=float) ** 2

    monkeypatch.setattr(jn.Model, "squared", squared, raising=False)
    robot = EVERY["floating"]
    assert "squared" in public_calls(robot.model)
    found = [outcome(lambda s=s: drawn(robot, "floating", "squared", s)[0].asked(robot.model)) for s in range(40)]
    assert sum(not isinstance(x, Exception) for x in found) > 10
    assert any(isinstance(x, ValueError) for x in found)


@each_method
def test_calls_that_are_drawn_are_answered(method: str) -> None:
    """Some of them, by each kind of robot that can."""
    if method == "equilibrium":
        pytest.skip("one need not exist")
    for kind, robot in EVERY.items():
        soft = any(p.soft is not None for p in robot.parts)
        sections = soft and kind != "module of a user"
        joints = any(p.spec.nv and p.follows is None for p in robot.parts)
        can = {"backbone": sections, "inverse_dynamics_regressor": not soft, "coordinate": joints, "position": joints}
        loops = [t for t in robot.ties if t.second and not isinstance(t.kind, (jn.Gear, jn.Rolling))]
        can |= {"constraint_rows": bool(robot.ties), "loop_coordinate": bool(loops)}
        tied = bool(robot.ties) or any(p.follows is not None for p in robot.parts)  # which few cuts leave whole
        can |= {"subtree": not tied, "chain": not tied, "remove": not tied, "with_inertial_parameters": not soft}
        if can.get(method, True):
            assert any(answered(kind, robot, method, seed) for seed in range(12)), kind


# --- the round ------------------------------------------------------------------------------------------


def assert_twins_agree(kind: str, seeds: range) -> None:
    robot = EVERY[kind]
    wrong = [f"{m} {s}: {x}" for m in METHODS for s in seeds for x in differences(kind, robot, m, s, count=4)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", EVERY)
def test_calls_agree_with_their_twins(kind: str) -> None:
    assert_twins_agree(kind, DAY)


@pytest.mark.night
@pytest.mark.parametrize("kind", EVERY)
def test_more_calls_agree_with_their_twins(kind: str) -> None:
    assert_twins_agree(kind, NIGHT)


@pytest.mark.parametrize("seed", range(6))
def test_robots_drawn_by_lot(seed: int) -> None:
    robot, kind = random_robot(seed), f"random {seed}"
    wrong = [f"{m}: {x}" for m in METHODS for x in differences(kind, robot, m, seed, count=4)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    wrong = [x for seed in range(2) for x in function_differences(name, seed)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_a_simulation_with_a_joint_that_stays(kind: str) -> None:
    robot, rng = KINDS[kind], np.random.default_rng(0)
    q = robot.configuration(rng)
    v = robot.motion(q, 0.3 * robot.rates(rng)[None])[0]
    one, other = (jn.simulate(m, q, v, [0.0, 0.05]) for m in (robot.model, FIXED[kind].model))
    np.testing.assert_allclose(one.q, other.q, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(one.v, other.v, rtol=1e-6, atol=1e-6)


# --- that it detects faults -----------------------------------------------------------------------------


@pytest.mark.night
def test_every_twin_is_met() -> None:
    """By many of the calls, including those that it applies to."""
    compared.clear()
    for kind in ("floating", "soft", "branches", "rod that cannot deform", "held", "constraints, followers in a loop"):
        for method in METHODS:
            for seed in range(100, 103):
                differences(kind, EVERY[kind], method, seed, count=len(TWINS))
    met = {twin: {m for m, t in compared if t == twin} for twin in TWINS}
    everywhere = {"asked again", "in another layout", "by keyword", "of a copy", "by another instruction set"}
    for twin in everywhere | {"with a frame more"}:
        assert met[twin] == set(METHODS), twin
    assert met["with out"] == {c.method for c in CALLS.values() if "out" in c.keywords}
    fewer = {
        "broadcast by hand": 40,
        "one by one": 40,
        "where a joint of ratio zero is fixed": 40,
        "with siblings in another order": 40,
        "where followers are free": 30,
        "where a rod that cannot deform is rigid": 30,
        "in body axes": 10,
        "without constraints": 30,
        "as the constraints demand": 9,
        "where followers are geared": 4,
    }
    assert everywhere | {"with a frame more", "with out"} | set(fewer) == set(TWINS)
    assert not {twin: len(met[twin]) for twin, least in fewer.items() if len(met[twin]) < least}


def faulty(change: Callable[[np.ndarray, tuple[object, ...], dict[str, object]], object]) -> object:
    """The gravity force, with a fault."""
    own = jn.Model.gravity_force

    def gravity_force(self: jn.Model, q: object, *, frame: str = "body", out: object = None) -> object:
        return change(own(self, q, frame=frame, out=out), (q,), {"frame": frame, "out": out})

    return gravity_force


def _raises(result: np.ndarray, given: tuple[object, ...], options: dict[str, object]) -> object:
    raise KeyError("q")


def _numpys(result: np.ndarray, given: tuple[object, ...], options: dict[str, object]) -> object:
    return np.zeros((2, 3)) + np.zeros((4, 5))


def _writes(result: np.ndarray, given: tuple[object, ...], options: dict[str, object]) -> object:
    if isinstance(given[0], np.ndarray) and given[0].size:
        given[0].flat[0] += 1.0
    return result


FAULTS: dict[str, Callable[[np.ndarray, tuple[object, ...], dict[str, object]], object]] = {
    "another exception": _raises,
    "words of NumPy's": _numpys,
    "its argument is changed": _writes,
    "not a number": lambda x, given, options: x * np.nan,
    "batches are off": lambda x, given, options: x * (1 + 1e-9 * (x.ndim > 1)),
    "lists are off": lambda x, given, options: x * (1 + 1e-15 * isinstance(given[0], np.ndarray)),
    "another axes": lambda x, given, options: x * (1 + 1e-9 * (options["frame"] != "body")),
    "out is not filled": lambda x, given, options: x + 1.0 if options["out"] is not None else x,
    "a state of the last call": lambda x, given, options: x + np.random.default_rng().uniform(),
    "the first coordinate is off": lambda x, given, options: x * np.where(np.arange(x.shape[-1]) == 0, 1 + 1e-9, 1.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = EVERY["floating"]
    clean = [differences("floating", robot, "gravity_force", s, count=len(TWINS)) for s in range(12)]
    assert not any(clean)
    monkeypatch.setattr(jn.Model, "gravity_force", faulty(FAULTS[fault]))
    assert any(differences("floating", robot, "gravity_force", s, count=len(TWINS)) for s in range(12))


def test_calls_are_counted() -> None:
    """And reported, so that slow ones can be identified."""
    before, told = module.made, []

    def listener(made: int, begins: bool) -> None:
        told.append((made, begins))

    module.listeners.append(listener)
    try:
        differences("rigid", EVERY["rigid"], "mass_matrix", 0)
    finally:
        module.listeners.remove(listener)
    assert told == [(made, begins) for made in range(before + 1, module.made + 1) for begins in (True, False)]
    assert told


def test_signatures_of_the_core_are_those_of_python() -> None:
    found = signature(jn.Model.inverse_dynamics).parameters
    assert list(found) == ["self", "q", "v", "a", "wrenches", "wrench_frame", "frame", "order", "out"]
    assert found["v"].default is inspect.Parameter.empty
    assert found["a"].default is None
    assert found["frame"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature(jn.Model.hybrid_dynamics).parameters["prescribed"].default is inspect.Parameter.empty
