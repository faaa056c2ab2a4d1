"""The same robot described in two ways, and robots that take the same arguments: generated for all calls.

(a) A joint that follows another with ratio zero is a fixed joint: every call returns the same numbers, for all shapes
and keywords. And whatever a robot is made of, its calls refuse bad input as a rigid robot with the same coordinates
does, in the same words.
(b) A joint that follows another is a free joint with prescribed motion: with x = G q + offset the coordinates of the
robot whose joints are all free, forces are G^T tau_x, matrices G^T M_x G, Jacobians J_x G.
(c) A rod that cannot deform is a rigid body.
(d) A joint that follows another is one geared to it, and a body on a fixed joint is one on a free joint that is welded
on: constraints are equivalent to the tree, with more coordinates and the same motion.

The calls are found in the class itself. One without a recipe in calls.py, or without a rule below, is a failure.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import jounce as jn
from calls import (
    BAD_WORDS,
    BY_BODY,
    CALLS,
    FRAMES,
    OF_ALL_STATES,
    OF_TIES,
    ONE_STATE,
    PROPERTIES,
    WORDS,
    Call,
    ask,
    ask_by_keyword,
    backward_error,
    bad_arrays,
    bad_keywords,
    bad_names,
    bad_quaternions,
    contacts,
    error,
    good,
    keywords,
    numbers,
    outcome,
    outs,
    parameters,
    parameters_in_table,
    public_calls,
    public_properties,
    says,
    wrenches,
)
from coupled_robots import FOLLOWERS, SOFT, Robot, Tie
from kinds import FIXED, KINDS, TIED
from rules import RULE, freed_arguments, lift, projected

OF_RIGID_BODIES = {"inverse_dynamics_regressor", "with_inertial_parameters"}
pytestmark = [  # a word on what they may not mean; test_stack_or_batch.py asks for the last two
    pytest.mark.filterwarnings("ignore::jounce.ModelWarning"),
    pytest.mark.filterwarnings("ignore::jounce.BatchWarning"),
    pytest.mark.filterwarnings("ignore:.* holds long doubles"),
]
REFUSED = "it is for bodies or constraints that this robot does not have, and says so"
NOT_FOR_BOTH = "it is for bodies or constraints that this robot or the rigid one does not have"

each_kind = pytest.mark.parametrize("kind", KINDS)
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
each_array_call = pytest.mark.parametrize("call", [c for c in CALLS.values() if c.arrays], ids=lambda c: c.name)
each_batch_call = pytest.mark.parametrize(
    "call", [c for c in CALLS.values() if c.arrays and c.method not in ONE_STATE], ids=lambda c: c.name
)
each_call_with_out = pytest.mark.parametrize(
    "call", [c for c in CALLS.values() if "out" in c.keywords], ids=lambda c: c.name
)


def is_refused(kind: str, call: Call) -> bool:
    """Whether the call is for rigid bodies only, or for soft ones, and the robot has others: it then says so."""
    of_others = call.method in OF_RIGID_BODIES if kind == "soft" else call.method == "backbone"
    of_others = of_others or call.method in OF_TIES
    fault = of_others and outcome(lambda: ask(KINDS[kind].model, call, good(call, KINDS[kind])))
    if not isinstance(fault, Exception):
        return False
    assert isinstance(fault, ValueError)
    words = "rigid bodies|no soft body|no constraint is named|has no coordinates|is held wherever it is"
    assert re.search(words, str(fault))
    return True


def report(differences: dict[str, object]) -> None:
    """Fails with all that is wrong, one line each."""
    lines = [f"{label}: {text}" for label, text in differences.items() if text]
    assert not lines, "\n".join(lines)


def compared(found: object, expected: object, call: Call, models: tuple[jn.Model, jn.Model], frames: object) -> str:
    """What differs between two outcomes; empty if nothing does."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        mine, other = (says(x) if isinstance(x, Exception) else "an answer" for x in (found, expected))
        return "" if mine == other else f"{mine!r}, expected {other!r}"
    tolerance = 1e-9 if call.method == "equilibrium" else 1e-11 if call.solves else 5e-13  # rounding
    arrays, others = (numbers(m, call, x, frames) for m, x in zip(models, (found, expected), strict=True))
    if not set(others) <= set(arrays):
        return f"no {sorted(set(others) - set(arrays))}"
    for key, other in others.items():
        if np.shape(arrays[key]) != np.shape(other):
            return f"{key} shape {np.shape(arrays[key])}, expected {np.shape(other)}"
        off = error(arrays[key], other, call.order_axis(key))
        if not off < tolerance:
            return f"{key} is off by {off:.1e}"
    return ""


def assert_same(kind: str, call: Call, questions: dict[str, tuple[dict[str, object], dict[str, object]]]) -> None:
    """Compares the robot with a follower of ratio zero and the one where that joint is fixed."""
    models = KINDS[kind].model, FIXED[kind].model
    differences = {}
    for label, (given, options) in questions.items():
        found, expected = (outcome(lambda m=m, g=given, o=options: ask(m, call, g, **o)) for m in models)
        differences[label] = compared(found, expected, call, models, options.get("frames"))
        if isinstance(expected, Exception) and not is_refused(kind, call):
            differences[label] = f"{says(expected)}, expected an answer"
    report(differences)


# --- recipes --------------------------------------------------------------------------------------------


@each_kind
def test_every_public_call_has_a_recipe(kind: str) -> None:
    """With every parameter of its signature."""
    model = KINDS[kind].model
    assert public_calls(model) == {c.method for c in CALLS.values()}
    assert public_properties(model) == PROPERTIES
    for method in public_calls(model):
        assert parameters(model, method) == parameters_in_table(method), method


# --- (a) the same numbers -------------------------------------------------------------------------------


@each_call
@each_kind
def test_a_joint_of_ratio_zero_is_fixed(kind: str, call: Call) -> None:
    """In all axes, with wrenches in all axes, and with every other keyword."""
    robot = KINDS[kind]
    if call.method == "equilibrium" and robot.model.constraints:
        pytest.skip("it has several, and which one is found is left to rounding")
    if call.method in ("lock", "subtree", "chain", "remove"):
        pytest.skip("what is cut off or locked must not be followed")
    if call.method == "with_inertial_parameters":
        pytest.skip("what is fixed has no parameters of its own")
    given = good(call, robot)
    assert_same(kind, call, {k: (given, o) for k, o in keywords(call, robot).items()})


@each_kind
def test_properties(kind: str) -> None:
    found, expected = KINDS[kind].model, FIXED[kind].model
    for key in ("nq", "nv", "joint_names", "input_names"):
        assert getattr(found, key) == getattr(expected, key)
    for key in ("gravity", "lower", "upper", "velocity_limit", "effort_limit", "damping", "friction", "stiffness"):
        np.testing.assert_array_equal(getattr(found, key), getattr(expected, key))
    assert set(found.frame_names) == set(expected.frame_names)
    assert set(found.body_names) - set(expected.body_names) == {"zero"}
    # If the joint is fixed, its body is part of its parent. Soft bodies have no inertial parameters.
    if kind != "soft":
        own, other = (
            dict(zip(m.body_names, m.inertial_parameters.reshape(-1, 10), strict=True)) for m in (found, expected)
        )
        zero = next(p.spec for p in KINDS[kind].parts if p.spec.name == "zero")
        carrier = KINDS[kind].parts[zero.parent].spec.name
        moved = zero.placement @ pseudo_inertia(own.pop("zero")) @ zero.placement.T
        both = pseudo_inertia(own.pop(carrier)) + moved
        np.testing.assert_allclose(both, pseudo_inertia(other.pop(carrier)), atol=1e-14)
        for name, value in other.items():
            np.testing.assert_array_equal(own[name], value)


def pseudo_inertia(p: np.ndarray) -> np.ndarray:
    """(4, 4) of the ten parameters: integrals of x x^T, x and 1."""
    inertia = np.array([[p[4], p[5], p[7]], [p[5], p[6], p[8]], [p[7], p[8], p[9]]])
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    return np.block([[second, p[1:4, None]], [p[None, 1:4], p[:1, None]]])


SHAPES = ((5,), (2, 3), (0,), (3, 0), (1,))


@each_batch_call
@each_kind
def test_batches(kind: str, call: Call) -> None:
    robot = KINDS[kind]
    questions = {}
    for shape in SHAPES:
        given = good(call, robot, shape)
        questions |= {f"{shape} {label}": (given, options) for label, options in keywords(call, robot, shape).items()}
    assert_same(kind, call, questions)


def mixed_batches(call: Call, robot: Robot) -> dict[str, tuple[dict[str, object], dict[str, object]]]:
    """Each argument against the others: the only one with a batch, the only one without, and crossed; also wrenches."""
    one, many, crossed = (good(call, robot, shape) for shape in ((), (3,), (3, 1)))
    found = {}
    for label, options in keywords(call, robot).items():
        if label not in ("", "frame world"):
            continue
        for name in call.arrays:
            found[f"{name} alone {label}"] = one | {name: many[name]}, options
            found[f"all but {name} {label}"] = many | {name: one[name]}, options
            found[f"{name} crosswise {label}"] = many | {name: crossed[name]}, options
    if "wrenches" in call.keywords:
        always = keywords(call, robot)[""]
        for shape in ((4,), (0,), (2, 1), (3,)):
            push = {"wrenches": wrenches(call, robot, shape), "wrench_frame": "mixed"}
            found[f"wrenches {shape}"] = one, always | push
            found[f"wrenches {shape} on three"] = many, always | push
    return found


def broadcast(call: Call, given: dict[str, object], options: dict[str, object]) -> tuple[dict, dict]:
    """The arguments written out: each of them for the whole batch."""
    core = {k: 1 + (k in call.stacks) for k in (*call.arrays, "wrenches")}
    pushes = options.get("wrenches", {})
    leads = [given[k].shape[: -core[k]] for k in call.arrays] + [w.shape[: -core["wrenches"]] for w in pushes.values()]
    lead = np.broadcast_shapes(*leads)

    def whole(key: str, x: np.ndarray) -> np.ndarray:
        return np.broadcast_to(x, lead + x.shape[-core[key] :]).copy()

    if pushes:
        options = options | {"wrenches": {n: whole("wrenches", w) for n, w in pushes.items()}}
    return {k: whole(k, x) if k in call.arrays else x for k, x in given.items()}, options


@each_batch_call
@each_kind
def test_arguments_broadcast(kind: str, call: Call) -> None:
    """To the same result as when written out, if a rigid robot accepts them; otherwise with the same error."""
    robot, model, plain = KINDS[kind], KINDS[kind].model, KINDS[kind].plain.model
    if is_refused(kind, call) or call.method == "backbone":
        pytest.skip(NOT_FOR_BOTH)
    differences = {}
    for label, (given, options) in mixed_batches(call, robot).items():
        mine, other = (outcome(lambda m=m, g=given, o=options: ask(m, call, g, **o)) for m in (model, plain))
        if isinstance(other, Exception) or isinstance(mine, Exception):
            words = [says(x) if isinstance(x, Exception) else "an answer" for x in (mine, other)]
            differences[label] = "" if words[0] == words[1] else f"{words[0]}, expected {words[1]}"
            continue
        given, options = broadcast(call, given, options)
        my_whole, other_whole = (ask(m, call, given, **options) for m in (model, plain))
        if not compared(other, other_whole, call, (plain, plain), None):
            differences[label] = compared(mine, my_whole, call, (model, model), None)
        elif shape_of(mine, call) != shape_of(other, call):
            differences[label] = f"{shape_of(mine, call)}, expected {shape_of(other, call)}"
    report(differences)


@each_batch_call
@each_kind
def test_a_batch_is_its_states(kind: str, call: Call) -> None:
    """With more states than SIMD lanes."""
    robot, model, count = KINDS[kind], KINDS[kind].model, 11
    if is_refused(kind, call):
        pytest.skip(REFUSED)
    given = good(call, robot, (count,))
    differences = {}
    for label, options in keywords(call, robot, (count,)).items():
        frames = options.get("frames")
        whole = numbers(model, call, ask(model, call, given, **options), frames)
        for i in (0, 7, count - 1):
            single = {k: x[i] if k in call.arrays else x for k, x in given.items()}
            own = options | {
                k: {n: w[i] for n, w in x.items()}
                for k, x in options.items()
                if k in ("wrenches", "motions", "held") and isinstance(x, dict)
            }
            alone = numbers(model, call, ask(model, call, single, **own), frames)
            for key in alone:
                part = whole[key] if key in OF_ALL_STATES else whole[key][i]
                off = error(part, alone[key], call.order_axis(key))
                if not off < (1e-11 if call.solves else 1e-13):
                    differences[f"{label} {key} of state {i}"] = f"is off by {off:.1e}"
    report(differences)


LAYOUTS = {
    "list": lambda x: x.tolist(),
    "tuple of arrays": tuple,
    "Fortran order": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "long double": lambda x: x.astype(np.longdouble),
    "memoryview": memoryview,
}


@each_array_call
@each_kind
def test_layouts(kind: str, call: Call) -> None:
    """Lists and arrays of any kind are equivalent to plain ones; inputs are left unchanged."""
    robot, model = KINDS[kind], KINDS[kind].model
    if is_refused(kind, call):
        pytest.skip(REFUSED)
    for shape in ((),) if call.method in ONE_STATE else ((), (2,)):
        given, options = good(call, robot, shape), next(iter(keywords(call, robot, shape).values()))
        kept = {k: np.copy(x) for k, x in given.items() if k in call.arrays}
        truth = numbers(model, call, ask(model, call, given, **options))
        for label, layout in LAYOUTS.items():
            for name in call.arrays:
                changed = given | {name: layout(given[name])}
                same = numbers(model, call, ask(model, call, changed, **options))
                for key in truth:
                    np.testing.assert_array_equal(same[key], truth[key], err_msg=f"{name} as {label}")
        named = numbers(model, call, ask_by_keyword(model, call, given, **options))
        for key in truth:
            np.testing.assert_array_equal(named[key], truth[key], err_msg="by keyword")
        for name, array in kept.items():
            np.testing.assert_array_equal(given[name], array)


# --- (a) the same words ---------------------------------------------------------------------------------


def assert_same_words(
    kind: str, call: Call, questions: dict[str, tuple[dict[str, object], dict[str, object]]], *, must: bool = False
) -> None:
    """As a rigid robot with the same coordinates; `must`: that one must refuse, or the test is void."""
    robot, plain = KINDS[kind], KINDS[kind].plain
    assert (robot.model.nq, robot.model.nv) == (plain.model.nq, plain.model.nv)
    assert robot.model.joint_names == plain.model.joint_names
    differences = {}
    for label, (given, options) in questions.items():
        found, expected = (
            outcome(lambda m=m, g=given, o=options: ask(m, call, g, **o)) for m in (robot.model, plain.model)
        )
        mine, other = (says(x) if isinstance(x, Exception) else shape_of(x, call) for x in (found, expected))
        if mine != other:
            differences[label] = f"{mine}, expected {other}"
        assert not must or isinstance(expected, Exception), f"{label} is not refused by a rigid robot"
    report(differences)


def shape_of(result: object, call: Call) -> str:
    """The shape of an answer; axes over bodies differ between robots with the same coordinates."""
    if call.method in BY_BODY or call.method == "closed_form":
        return "an answer"
    if isinstance(result, jn.Linearization):
        return f"an answer, {result.A.shape}, {result.B.shape}"
    parts = result if isinstance(result, tuple) else [result]
    return "an answer, " + ", ".join(str(np.shape(x)) for x in parts if not isinstance(x, (slice, jn.Equilibrium)))


@each_array_call
@each_kind
def test_bad_arrays(kind: str, call: Call) -> None:
    robot = KINDS[kind]
    if is_refused(kind, call) or call.method == "backbone":
        pytest.skip(NOT_FOR_BOTH)
    given, options = good(call, robot), keywords(call, robot)[""]
    questions = {}
    for name in call.arrays:
        values = bad_arrays(given[name], name in call.stacks and call.method != "closed_form")
        if call.method == "closed_form" and kind == "soft":  # a rigid robot takes complex numbers, and symbols
            values = {label: bad for label, bad in values.items() if label not in ("complex", "too large")}
        if name.startswith("q"):
            values |= bad_quaternions(robot, given[name])
        questions |= {f"{name}: {label}": (given | {name: bad}, options) for label, bad in values.items()}
        if len(call.arrays) > 1 and call.method not in ONE_STATE:
            batch, other = good(call, robot, (3,)), good(call, robot, (2,))
            questions[f"{name}: does not broadcast"] = batch | {name: other[name]}, options
    assert_same_words(kind, call, questions)


@each_call
@each_kind
def test_bad_names_and_words(kind: str, call: Call) -> None:
    robot = KINDS[kind]
    given, options = good(call, robot), keywords(call, robot)[""]
    questions = {}
    for name in call.first:
        values = bad_names(robot) if name in ("name", "joint") else BAD_WORDS if name in WORDS else ()
        questions |= {f"{name}: {bad!r}": (given | {name: bad}, options) for bad in values}
    if not questions:
        pytest.skip("bad_names and BAD_WORDS hold nothing for its arguments")
    assert_same_words(kind, call, questions, must=True)


@each_call
@each_kind
def test_bad_keywords(kind: str, call: Call) -> None:
    robot = KINDS[kind]
    if is_refused(kind, call):
        pytest.skip(REFUSED)
    questions, given = {}, good(call, robot)
    for i, options in enumerate(bad_keywords(call, robot)):
        if "u" in options and robot.model.input_names:  # a rigid robot has no inputs at all
            continue
        questions[f"{i}: {options}"] = given, options
    if call.method in ("linearize", "hybrid_dynamics") and kind in ("floating", "branches"):
        half = np.arange(robot.model.nv) < 3
        questions["half a joint"] = given, {{"linearize": "actuated"}.get(call.method, "prescribed"): half}
    assert_same_words(kind, call, questions)


@each_call_with_out
@each_kind
def test_out(kind: str, call: Call) -> None:
    """Unsuitable arrays are refused; suitable ones are filled and returned."""
    robot, model = KINDS[kind], KINDS[kind].model
    for frame in ("body", "world"):
        options = {"frame": frame} if "frame" in call.keywords else {}
        if "velocity_frame" in call.keywords:
            options["velocity_frame"] = frame
        for shape in ((), (3,)):
            given = good(call, robot, shape)
            expected = np.asarray(ask(model, call, given, **options))
            out = np.full(expected.shape, np.nan)
            assert ask(model, call, given, out=out, **options) is out
            np.testing.assert_array_equal(out, expected)
            questions = {
                f"{label}, {shape}, {frame}": (other, options | {"out": bad})
                for label, (bad, other) in outs(expected.shape, given).items()
            }
            assert_same_words(kind, call, questions, must=True)
    if "wrenches" in call.keywords:
        given, push = good(call, robot), wrenches(call, robot)
        expected = ask(model, call, given, wrenches=push)
        room = np.zeros(expected.size + push["tip"].size)
        place = {"wrenches": {"tip": room[-push["tip"].size :].reshape(push["tip"].shape)}}
        inside = room[1 : expected.size + 1].reshape(expected.shape)
        assert_same_words(kind, call, {"shared with a wrench": (given, place | {"out": inside})}, must=True)


# --- (b) followers are free joints with prescribed motion -----------------------------------------------

COUPLED = FOLLOWERS | {"rod and followers": SOFT["rod and followers"], "a loop": TIED["followers in a loop"]}
PROJECTED = [c for c in CALLS.values() if RULE.get(c.method) not in ("equation", "own test")]
SOLVED = [c for c in CALLS.values() if RULE.get(c.method) == "equation"]

each_coupled = pytest.mark.parametrize("name", COUPLED)


class Projected:
    """Stands for a robot in the equations that its forward dynamics solves: the free robot, through G."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._free, self._G = robot, robot.freed.model, robot.G
        self.forward_dynamics, self.nv = robot.model.forward_dynamics, robot.model.nv
        self.constraints, self.body_names = robot.model.constraints, robot.model.body_names

    def inverse_dynamics(self, q, v, **options):
        return self._free.inverse_dynamics(self._robot.full(q), v @ self._G.T, **options) @ self._G

    def mass_matrix(self, q, **options):
        return self._G.T @ self._free.mass_matrix(self._robot.full(q), **options) @ self._G

    def constraint_jacobian(self, q, **options):
        return self._free.constraint_jacobian(self._robot.full(q), **options) @ self._G

    def constraint_jacobian_derivatives(self, q, v, **options):
        return self._free.constraint_jacobian_derivatives(self._robot.full(q), v @ self._G.T, **options) @ self._G

    def inverse_dynamics_derivatives(self, q, *v, **options):
        motion = [x @ self._G.T for x in v]
        found = self._free.inverse_dynamics_derivatives(self._robot.full(q), *motion, **options)
        return [self._G.T @ x @ self._G for x in found]


def test_every_public_call_has_a_rule() -> None:
    assert set(RULE) == public_calls(next(iter(COUPLED.values())).model)


@pytest.mark.parametrize("call", PROJECTED, ids=lambda c: c.name)
@each_coupled
def test_followers_are_joints_whose_motion_is_given(name: str, call: Call) -> None:
    robot, model, free, G = COUPLED[name], COUPLED[name].model, COUPLED[name].freed.model, COUPLED[name].G
    soft = [p for p in robot.parts if p.soft is not None]
    if (call.method == "backbone" and not soft) or (call.method in OF_RIGID_BODIES and soft):
        pytest.skip(REFUSED)
    if call.method in OF_TIES and not robot.ties:
        pytest.skip(REFUSED)
    rule, differences = RULE[call.method], {}
    for shape in ((),) if call.method in ONE_STATE else ((), (2,)):
        given = good(call, robot, shape, seed=5)
        for label, options in keywords(call, robot, shape).items():
            frames = options.get("frames")
            found = numbers(model, call, ask(model, call, given, **options), frames)
            full = numbers(free, call, ask(free, call, freed_arguments(robot, given), **options), frames)
            for key, x in full.items():
                mine = found[key] @ G.T if rule == "motion" else found[key]
                scale = x if rule in ("force", "matrix") else None
                off = error(mine, projected(rule, x, G), call.order_axis(key), scale)
                still = call.method == "residual" and np.abs(mine - x).max(initial=0.0) < 1e-14  # zero up to rounding
                if not off < 1e-13 and not still:
                    differences[f"{label} {shape} {key}"] = off
    report(differences)


@pytest.mark.parametrize("call", SOLVED, ids=lambda c: c.name)
@each_coupled
def test_what_solves_solves_the_equation_of_the_free_robot(name: str, call: Call) -> None:
    robot, model = COUPLED[name], COUPLED[name].model
    if robot.ties and call.method in ("linearize", "forward_dynamics_derivatives"):
        pytest.skip("with constraints, test_a_follower_is_geared has these")
    given, errors = good(call, robot, seed=6), {}
    for label, options in keywords(call, robot).items():
        result = ask(model, call, given, **options)
        if call.method == "hybrid_dynamics":
            mask = options["prescribed"]
            np.testing.assert_array_equal(result[0][..., mask], given["acc"][..., mask])
            np.testing.assert_array_equal(result[1][..., ~mask], given["tau"][..., ~mask])
        if call.method == "linearize":
            errors[label] = linearization_error(robot, given, options, result)
        else:
            errors[label] = backward_error(Projected(robot), call, given, options, result)
    assert max(errors.values()) < (1e-11 if robot.ties else 1e-13), errors


def linearization_error(robot: Robot, given: dict[str, object], options: dict[str, object], lin) -> float:
    """Displacements and velocities transform with G; M times the rates of velocities agrees with the free robot.

    There they are G times a vector, up to the effect of the forces that couple the followers, which G^T removes.
    """
    G, n, free = robot.G, robot.model.nv, robot.freed.model
    frame = {"frame": options.get("frame", "body")}
    given_wrenches = {k: options[k] for k in ("wrenches", "wrench_frame") if k in options}
    q, v, acc = robot.full(given["q"]), given["v"] @ G.T, lin.acceleration @ G.T
    tau = free.inverse_dynamics(q, v, acc, **given_wrenches, **frame)
    other = free.linearize(q, v, tau, **given_wrenches, **frame)
    np.testing.assert_allclose(other.acceleration, acc, rtol=1e-9, atol=1e-9)
    both = np.kron(np.eye(2), G)
    M = free.mass_matrix(q, **frame)
    N = free.nv
    mine, theirs = G.T @ M @ G @ lin.A[n:], G.T @ M @ other.A[N:] @ both
    scale = np.abs(G.T) @ np.abs(M) @ np.abs(other.A[N:]) @ np.abs(both)
    solved = error(mine, theirs, scale=scale)
    moved = error(G @ lin.A[:n], other.A[:N] @ both)
    driven = error(G.T @ M @ G @ lin.B[n:], np.eye(n)[:, lin.actuated], scale=np.abs(M) @ np.abs(G @ lin.B[n:]))
    assert not lin.B[:n].any()
    balance = error(robot.model.inverse_dynamics(given["q"], given["v"], lin.acceleration, **given_wrenches, **frame),
                    given["tau"], scale=np.abs(G.T @ M @ G) @ np.abs(lin.acceleration))  # fmt: skip
    return max(solved, moved, driven, balance)


@each_coupled
def test_coordinates(name: str) -> None:
    robot, model, free, G = COUPLED[name], COUPLED[name].model, COUPLED[name].freed.model, COUPLED[name].G
    rng = np.random.default_rng(0)
    q, dv = robot.configuration(rng, (4,)), robot.rates(rng, (4,))
    moved = free.integrate(robot.full(q), dv @ G.T)
    np.testing.assert_allclose(robot.full(model.integrate(q, dv)), moved, rtol=1e-14, atol=1e-14)
    for joint in model.joint_names:
        np.testing.assert_array_equal(
            G[free.coordinate(joint), model.coordinate(joint)], np.eye(len(dv[0, model.coordinate(joint)]))
        )
        np.testing.assert_array_equal(model.neutral()[model.position(joint)], free.neutral()[free.position(joint)])
    followers = [p.spec.name for p in robot.parts if p.follows is not None]
    for joint in followers:
        with pytest.raises(ValueError, match=f"joint '{joint}' follows '.*': it has no coordinate"):
            model.coordinate(joint)
        with pytest.raises(ValueError, match="it has no coordinate"):
            model.position(joint)
    assert set(model.joint_names) | set(followers) == set(free.joint_names)
    some = model.random_configuration(np.random.default_rng(1), (50,))
    assert some.shape == (50, model.nq)
    assert (some >= model.lower).all()
    assert (some <= model.upper).all()


@each_coupled
def test_equilibrium(name: str) -> None:
    """With a spring at each joint: no force remains, and the stiffness is that of the free robot."""
    weak = COUPLED[name]
    parts = [p if p.spec.joint == "fixed" else replace(p, spec=replace(p.spec, stiffness=60.0)) for p in weak.parts]
    robot = Robot(tuple(parts), weak.gravity)
    push = {robot.parts[-1].spec.name: np.array([0.3, -0.2, 0.1, 0.02, 0.01, -0.03])}
    tau = 0.1 * robot.rates(np.random.default_rng(0))
    for frame in FRAMES:
        rest = robot.model.equilibrium(tau=tau, wrenches=push, wrench_frame=frame, branch="any")
        q, none, G, free = robot.full(rest.q), np.zeros(robot.freed.model.nv), robot.G, robot.freed.model
        force = free.inverse_dynamics(q, none, none, wrenches=push, wrench_frame=frame)
        assert np.abs(force @ G - tau).max() < 1e-12 * np.abs(free.gravity_force(q)).max()
        K, _, _ = free.inverse_dynamics_derivatives(q, none, none, wrenches=push, wrench_frame=frame)
        assert error(rest.stiffness, G.T @ K @ G) < 1e-12


@each_coupled
def test_closed_form(name: str) -> None:
    """The papers' matrices, through G."""
    robot = COUPLED[name]
    for call in (c for c in CALLS.values() if c.method == "closed_form"):
        given = good(call, robot, seed=5)
        for label, options in keywords(call, robot).items():
            found = numbers(robot.model, call, ask(robot.model, call, given, **options))
            freed = ask(robot.freed.model, call, freed_arguments(robot, given), **options)
            for key, x in numbers(robot.freed.model, call, freed).items():
                expected = projected("matrix" if x.ndim == 2 else "force", x, robot.G)
                assert error(found[key], expected, scale=x) < 1e-12, (key, label)


def test_a_ratio_that_is_off_is_seen() -> None:
    robot = COUPLED["siblings that share a leader"]
    call = CALLS["inverse_dynamics of stacks"]
    given = good(call, robot, seed=5)
    full = ask(robot.freed.model, call, freed_arguments(robot, given))
    G = robot.G.copy()
    G[2] *= 1 + 1e-11
    assert error(ask(robot.model, call, given), full @ robot.G, 0) < 1e-13
    assert error(ask(robot.model, call, given), full @ G, 0) > 1e-13


@each_coupled
def test_constraints(name: str) -> None:
    """States that obey are unchanged, independent coordinates determine the free robot's, contacts are the same."""
    robot, model, free, G = COUPLED[name], COUPLED[name].model, COUPLED[name].freed.model, COUPLED[name].G
    rng = np.random.default_rng(1)
    q = robot.configuration(rng, (3,))
    v = robot.motion(q, robot.rates(rng, (3, 2)))
    same_q, same_v = model.project(q, v)
    np.testing.assert_allclose(same_q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(same_v, v, rtol=0, atol=1e-11)
    independent = model.independent_coordinates(q[0])
    J = free.constraint_jacobian(robot.full(q[0]))
    # tol, not rtol: without constraints J is empty, and some versions of NumPy look for its largest singular value
    assert independent.velocities == model.nv - np.linalg.matrix_rank(J @ G, tol=1e-6)
    assert np.abs(J @ G @ independent.G).max(initial=0.0) < 1e-12
    held = contacts(robot)
    found, expected = (m.constrained(held).constraint_jacobian for m in (model, free))
    np.testing.assert_allclose(found(q), expected(robot.full(q)) @ G, rtol=0, atol=1e-13)


# --- (c) a rod that cannot deform is a rigid body -------------------------------------------------------


def arm_of(link: dict[str, object]) -> jn.Model:
    """A flying base, a link of 0.4 m along its z, whose frame is at its far end, and a hand on it."""
    length = np.eye(4)
    length[2, 3] = 0.4
    b = jn.Builder()
    b.add("base", "world", jn.Free(stiffness=30.0), inertia=jn.Inertia(0.3, rotational=(0.1, 0.2, 0.15)))
    if "body" in link:
        b.add("link", "base", jn.Revolute((0, 1, 0), damping=0.1, stiffness=9.0), **link)
    else:
        b.add("near", "base", jn.Revolute((0, 1, 0), damping=0.1, stiffness=9.0, name="link"))
        b.add("link", "near", jn.Fixed(), length, **link)
    b.add(
        "tip",
        "link",
        jn.Revolute((1, 0, 0), stiffness=9.0),
        np.eye(4),
        jn.Inertia(0.2, (0, 0.1, 0), (0.01, 0.02, 0.02)),
    )
    return b.build()


class Stiff:
    """The robot of (c) where a `Robot` is expected."""

    ties = ()

    def __init__(self, model: jn.Model) -> None:
        self.model = model
        self.parts = [type("Part", (), {"spec": type("Spec", (), {"name": n}), "soft": None}) for n in ("base", "tip")]

    def configuration(self, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> np.ndarray:
        return self.model.random_configuration(rng, batch)

    def rates(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
        return rng.uniform(-1, 1, (*shape, self.model.nv))


@pytest.mark.parametrize(
    "call",
    [c for c in CALLS.values() if c.method not in OF_RIGID_BODIES | {"backbone", "articulated_inertia"}],
    ids=lambda c: c.name,
)
def test_a_rod_without_strains_is_a_rigid_body(call: Call) -> None:
    length, radius, density = 0.4, 0.03, 900.0
    mass = density * np.pi * radius**2 * length
    across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
    cylinder = jn.Inertia(mass, (0, 0, -length / 2), (across, across, along))
    stiff = arm_of({"body": jn.soft.Rod(length, radius, density, 1e5, strain=np.zeros((6, 0)))})
    rigid = arm_of({"inertia": cylinder})
    assert (stiff.nq, stiff.nv) == (rigid.nq, rigid.nv) == (9, 8)
    differences = {}
    for shape in ((),) if call.method in ONE_STATE else ((), (3,)):
        given = good(call, Stiff(rigid), shape)
        for label, options in keywords(call, Stiff(rigid), shape).items():
            found, expected = (outcome(lambda m=m, g=given, o=options: ask(m, call, g, **o)) for m in (stiff, rigid))
            if call.method in BY_BODY and not isinstance(expected, Exception) and "frames" not in options:
                options = options | {"frames": ["base", "link", "tip"]}
                found, expected = (ask(m, call, given, **options) for m in (stiff, rigid))
            differences[f"{label} {shape}"] = compared(found, expected, call, (stiff, rigid), options.get("frames"))
    report(differences)


# --- (d) constraints equivalent to the tree -------------------------------------------------------------


@each_coupled
def test_a_follower_is_geared(name: str) -> None:
    """Motion, and its derivatives with respect to all motions of leaders, up to second order."""
    robot, model, other, G, L = (
        COUPLED[name], COUPLED[name].model, COUPLED[name].geared.model, COUPLED[name].G, lift(COUPLED[name])
    )  # fmt: skip
    rng = np.random.default_rng(2)
    q = robot.configuration(rng, (3,))
    v, tau = robot.motion(q, robot.rates(rng, (3, 1)))[:, 0], robot.rates(rng, (3, 3))
    full = robot.full(q), v @ G.T, tau @ L.T
    push = {robot.parts[-1].spec.name: rng.uniform(-1, 1, (3, 3, 6))}
    assert other.nv == G.shape[0]
    assert np.abs(other.residual(full[0])).max(initial=0.0) < 1e-12
    for frame in FRAMES:
        mine, theirs = (
            m.forward_dynamics(*state, wrenches=push, wrench_frame=frame)
            for m, state in ((model, (q, v, tau)), (other, full))
        )
        assert error(theirs, mine @ G.T, -2) < 1e-9, frame
    for mine, theirs, to in zip(
        model.forward_dynamics_derivatives(q, v, tau[:, :2]),
        other.forward_dynamics_derivatives(*full[:2], full[2][:, :2]),
        (G, G, L),
        strict=True,
    ):
        assert error(theirs @ to, G @ mine, 1) < 1e-9
    lin, others = (
        m.linearize(*state) for m, state in ((model, (q, v, tau[:, 0])), (other, (*full[:2], full[2][:, 0])))
    )
    assert error(others.A @ np.kron(np.eye(2), G), np.kron(np.eye(2), G) @ lin.A) < 1e-9
    assert error(others.B @ L, np.kron(np.eye(2), G) @ lin.B) < 1e-9
    stack = np.concatenate([v[:, None], model.forward_dynamics(q, v, tau)], axis=-2)
    least = other.constrained_inverse_dynamics(full[0], stack @ G.T, actuated=np.flatnonzero(L.any(axis=1)))
    once = model.constrained_inverse_dynamics(q, stack)
    assert error(least.tau @ L, once.tau, -2) < 1e-8
    hit, others_hit = model.impact(q, v), other.impact(*full[:2])
    assert error(others_hit.v, hit.v @ G.T) < 1e-9


WELDED = {kind: robot for kind, robot in KINDS.items() if not robot.ties}


@pytest.mark.parametrize("kind", WELDED)
def test_a_weld_is_a_fixed_joint(kind: str) -> None:
    robot = WELDED[kind]
    tip = robot.parts[-1]
    assert (tip.spec.name, tip.spec.joint) == ("tip", "fixed")
    assert tip.spec.mass > 0
    loose = replace(tip, spec=replace(tip.spec, joint="free"))
    carrier = robot.parts[tip.spec.parent].spec.name
    weld = Tie("weld", jn.Fixed(), carrier, "tip", placement_a=tip.spec.placement)
    welded = replace(robot, parts=(*robot.parts[:-1], loose), ties=(weld,)).model
    rng, nv = np.random.default_rng(3), robot.model.nv
    q, v, tau = robot.configuration(rng, (4,)), robot.rates(rng, (4,)), robot.rates(rng, (4, 3))
    none = np.zeros(6)
    more = [np.concatenate([x, np.broadcast_to(y, (*x.shape[:-1], len(y)))], axis=-1)
            for x, y in ((q, [*none, 1.0]), (v, none), (tau, none))]  # fmt: skip
    assert np.abs(welded.residual(*more[:2])[1]).max() < 1e-15
    push = {"tip": rng.uniform(-1, 1, (4, 3, 6))}
    for frame in FRAMES:
        found, expected = (
            m.forward_dynamics(*state, wrenches=push, wrench_frame=frame)
            for m, state in ((welded, more), (robot.model, (q, v, tau)))
        )
        assert error(found[..., :nv], expected, -2) < 1e-9, frame
        assert error(found[..., nv:], np.zeros_like(found[..., nv:]), -2, expected) < 1e-9, frame
    for found, expected in zip(
        welded.forward_dynamics_derivatives(*more[:2], more[2][:, 0]),
        robot.model.forward_dynamics_derivatives(q, v, tau[:, 0]),
        strict=True,
    ):
        assert error(found[..., :nv, :nv], expected) < 1e-9
