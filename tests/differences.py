"""The same question asked in two ways: a call and its twins must give the same answer.

A twin is another form of the arguments (lists, strides, keywords, `out`, one state at a time), another path through
the core (instruction set), or an equivalent robot (a joint of ratio zero for a fixed one, another order of siblings,
joints that follow for free ones). `differences` reports what differs, and what is wrong by itself: an exception not
listed in docs/reliability.md, a warning, numbers that are not finite, inputs that were changed.
"""

from __future__ import annotations

import collections
import copy
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np

import jounce as jn
from calls import ARRAYS, BY_BODY, EDITS, FRAMES, OF_ALL_STATES, ONE_STATE, WORDS, error, numbers, outcome, outs, says
from coupled_robots import Part, Robot
from demands import DEMANDS
from drawn_calls import Question, drawn
from jounce import _core
from kinds import EVERY, FIXED, RIGID, STIFF
from rules import RULE, freed_arguments, lift, projected
from trees import random_body

OF_TIES = {"residual", "loop_coordinate"}  # in m and rad, and zero, or without rates, if all constraints hold
FLOOR = 1e-4  # smaller forces, inertias and the like are zero up to rounding
Answer = dict[str, np.ndarray] | Exception
made = 0  # number of calls made
compared: collections.Counter[tuple[str, str]] = collections.Counter()  # number of comparisons, by call and twin
listeners: list[Callable[[int, bool], None]] = []  # notified when each call starts and ends


@contextmanager
def counted() -> Iterator[None]:
    global made
    made += 1
    for tell in listeners:
        tell(made, True)
    try:
        yield
    finally:
        for tell in listeners:
            tell(made, False)


def answer(model: jn.Model, question: Question, **changes: object) -> Answer:
    """The numbers that a call returns, or its exception."""
    asked = question.with_(**changes) if changes else question
    frames = asked.given.get("frames")
    with counted():
        return outcome(lambda: numbers(model, asked.call, asked.asked(model), frames))


# --- what is wrong by itself ----------------------------------------------------------------------------

# Messages of errors that name a part of the robot instead of an argument.
OF_THE_ROBOT = (
    "^no (body or frame|soft body|joint) is named ",
    "^frame .* does not exist: there are ",
    "^joint '.*' follows '.*': it has no coordinate$",
    "rigid bodies; '.*' is soft$",
    "^(forward|hybrid) dynamics has no answer: the joint of body ",
    "has no answer: the joint of body ",
    "^the batch dimensions do not broadcast: ",
    "has no sections along a backbone$",
    "^no constraint is named ",
    "^constraint '.*' is a .*, which has no coordinates$",
    "^contact '.*' is held wherever it is, ",
    "^constraint '.*'( is|:| ties) ",
    "^joint '.*' follows '.*', which would be cut away: ",
)


def undocumented(fault: Exception, question: Question) -> str:
    """Why an exception is not a documented one; empty if it is."""
    text = f"{type(fault).__name__}: {str(fault)[:300]}"
    if isinstance(fault, jn.Error):
        return ""
    if type(fault) is TypeError:  # Python's own
        return "" if re.search("missing|unexpected keyword|incompatible function arguments|required", str(fault)) and (
            question.wrong == "nonsense" or question.wrong not in question.given
        ) else text  # fmt: skip
    if isinstance(fault, RuntimeWarning) and "overflow" in str(fault) and question.style == "large":
        return ""
    if type(fault) is not ValueError:
        return text
    if len(str(fault)) > 2000:
        return f"{len(str(fault))} characters: {text}"
    names = "|".join([*question.given, "v", "q"])
    named = re.search(
        rf"\b({names})\b(\[.*\])? ?(is|has|have|must|contains|splits|was|shares|in state|,|:)", str(fault)
    )
    return "" if named or any(re.search(p, str(fault)) for p in OF_THE_ROBOT) else f"names no argument: {text}"


def arrays_of(given: dict[str, object]) -> Iterator[np.ndarray]:
    for x in given.values():
        if isinstance(x, np.ndarray):
            yield x
        elif isinstance(x, dict):
            yield from arrays_of(x)


def doubtful(found: dict[str, np.ndarray], question: Question) -> str:
    """Why an answer cannot be right; empty if it may be."""
    odd = question.given.get(question.wrong)
    if isinstance(odd, np.ma.MaskedArray):
        return "a mask was taken no notice of"
    if question.wrong in WORDS and odd is not None and not (isinstance(odd, str) and odd in FRAMES):
        return f"{question.wrong} was taken no notice of"
    if question.wrong:
        return ""
    bad = [k for k, x in found.items() if not np.isfinite(np.asarray(x, float)).all()]
    return f"{bad} not finite" if bad else ""


# --- comparisons ----------------------------------------------------------------------------------------


def words(fault: Exception, across: bool = False) -> str:
    """The message of an exception; `across` robots, without their names."""
    text = says(fault)
    if isinstance(fault, jn.NoEquilibrium):  # how far it got depends on rounding
        return type(fault).__name__
    if isinstance(fault, jn.ConstraintError):  # so does the residual
        text = re.sub(r"\d\.\de[+-]\d+", "#", text)
        if across:  # the name of the worst of many
            text = re.sub(r"constraint '.*?' contradicts|joint '.*?'|leave '.*?'|in state \d+", "one", text)
    return re.sub(r"(there are|did you mean) .*", r"\1", text) if across else text


def exactly(found: Answer, expected: Answer, across: bool = False) -> str:
    """What differs, to the last bit."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        mine, other = (words(x, across) if isinstance(x, Exception) else "an answer" for x in (found, expected))
        return "" if mine == other else f"{mine!r}, expected {other!r}"
    if set(found) != set(expected):
        return f"{sorted(found)}, expected {sorted(expected)}"
    for key, x in expected.items():
        if not np.array_equal(found[key], x, equal_nan=True) or np.shape(found[key]) != np.shape(x):
            return f"{key!r} differs"
    return ""


def nearly(found: Answer, expected: Answer, question: Question, model: jn.Model) -> str:
    """What differs beyond rounding."""
    if wanders(question, model):
        return ""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        overflow = isinstance(found, jn.RangeError) or isinstance(expected, jn.RangeError)
        return "" if overflow and question.style == "large" else exactly(found, expected, across=True)
    if not set(expected) <= set(found):
        return f"no {sorted(set(expected) - set(found))}"
    for key, x in expected.items():
        if np.shape(found[key]) != np.shape(x):
            return f"{key!r} has shape {np.shape(found[key])}, expected {np.shape(x)}"
        if np.asarray(x).dtype == float and np.isfinite(x).all() and np.isfinite(found[key]).all():
            axis = question.call.order_axis(key)
            first = x if axis is None or not x.shape[axis] else np.take(x, 0, axis)  # size of cancelling terms
            floor = 1.0 if question.call.method in OF_TIES else FLOOR
            least = max(floor, float(np.abs(first).max(initial=0.0)))
            off = error(found[key], x, axis, np.full_like(x, least))
            if off > tolerance(question, model):
                return f"{key!r} is off by {off:.1e}"
        elif not np.array_equal(found[key], x, equal_nan=True):
            return f"{key!r} differs"
    return ""


def far(model: jn.Model, q: np.ndarray | None) -> bool:
    """Whether a configuration, by default the neutral one, is far from the constraints."""
    return bool(np.abs(model.residual(model.neutral() if q is None else q)).max(initial=0.0) > 0.1)


def wanders(question: Question, model: jn.Model) -> bool:
    """Rounding may decide which equilibrium is found: from afar, where a foot is held; of what rolls, always.

    And the order of coordinates decides between two that are alike.
    """
    if question.call.method != "equilibrium" or not question.plain:
        return False
    if question.given.get("branch") == "stable":
        return True
    return any(isinstance(c.kind, jn.Rolling) for c in model.constraints) or far(model, question.given.get("q0"))


def tolerance(question: Question, model: jn.Model) -> float:
    """Tolerance between two ways that round differently; solving loses digits with the condition number at each order.

    In high derivatives, whose cancelling terms grow like numbers of partitions, no digit may be left.
    """
    stacks = [question.given[k] for k in question.call.stacks & set(question.given) if k != "wrenches"]
    rows = max((np.shape(x)[-2] for x in stacks if np.ndim(x) > 1), default=1)
    if rows > 9:
        return np.inf
    if question.call.method == "equilibrium":
        return 1e-6
    if not question.call.solves:
        return float(1e-11 * 1.6**rows)
    q = model.neutral() if question.given.get("q") is None else question.given["q"]
    M = model.mass_matrix(q)
    condition = np.linalg.cond(M).max(initial=1.0) if M.size else 1.0
    if question.call.method == "project" and far(model, q):
        return 1e-4  # a long distance magnifies rounding
    if model.constraints and np.size(q):
        sizes = np.linalg.svd(model.constraint_jacobian(q), compute_uv=False)
        least = np.where(sizes > 1e-6 * sizes[..., :1], sizes, np.inf).min(axis=-1, initial=np.inf)
        condition *= float((sizes[..., 0] / least).max()) ** 2
    return float(max(1e-10, 1e-13 * condition) * 30.0 ** max(rows - 1, 0))


# --- other forms of the arguments -----------------------------------------------------------------------


class Own(np.ndarray):
    """A user-defined array class."""


class Lazy:
    """Converts to an array on request."""

    def __init__(self, x: np.ndarray) -> None:
        self._x = x

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self._x.astype(dtype or self._x.dtype)


def _misaligned(x: np.ndarray) -> np.ndarray:
    room = np.frombuffer(bytearray(x.nbytes + 1), np.uint8)[1:]
    found = room.view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


def _locked(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def _reversed(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1] if x.ndim else x


LAYOUTS: dict[str, Callable[[np.ndarray], object]] = {
    "list": lambda x: x.tolist() if x.size else x,
    "tuple of arrays": lambda x: tuple(x) if x.size else x,
    "Fortran order": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": _reversed,
    "within a larger one": lambda x: np.pad(x, [(1, 2)] * x.ndim)[(slice(1, -2),) * x.ndim],
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "long double": lambda x: x.astype(np.longdouble),
    "memoryview": lambda x: memoryview(x) if x.size else x,
    "read-only": _locked,
    "misaligned": _misaligned,
    "an array of a user's": lambda x: x.view(Own),
    "to be an array": Lazy,
}
OF_STYLE: dict[str, dict[str, Callable[[np.ndarray], object]]] = {
    "single": {"single precision": lambda x: x.astype(np.float32)},
    "whole": {
        "integers": lambda x: x.astype(int),
        "bytes": lambda x: x.astype(np.int8),
        "integers in a list": lambda x: x.astype(int).tolist() if x.size else x,
        "half precision": lambda x: x.astype(np.float16),
    },
    "zero": {"booleans": lambda x: x.astype(bool)},
}


def _layout(question: Question, rng: np.random.Generator, name: str, x: object) -> object:
    """An argument in another form."""
    if isinstance(x, np.ndarray) and x.dtype == float:
        styled = OF_STYLE.get(question.style, {}) if name in ARRAYS | {"u", "wrenches"} else {}
        forms = [*LAYOUTS.values(), *(2 * list(styled.values()))]
        # A quaternion of integers is valid, and a zero one is (0, 0, 0, 1); lost signs of zeros do not matter.
        return forms[int(rng.integers(len(forms)))](x)
    if isinstance(x, dict):
        inner = {k: _layout(question, rng, name, w) for k, w in x.items()}
        return (dict, MappingProxyType, collections.UserDict, collections.OrderedDict)[int(rng.integers(4))](inner)
    if isinstance(x, np.ndarray):
        return (x.tolist(), x[::1].copy(order="F"), _locked(x))[int(rng.integers(3))] if x.size else x
    if isinstance(x, str):
        return np.str_(x)
    if isinstance(x, int) and not isinstance(x, bool):
        return np.int64(x)
    if isinstance(x, list):
        return tuple(x)
    return x


def other_layout(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    if isinstance(found, Exception) and not question.wrong:  # its message may quote any of them
        return
    quoted = isinstance(found, Exception)
    changes = {
        k: _layout(question, rng, k, x)
        for k, x in question.given.items()
        if k != question.wrong and not (quoted and k not in ARRAYS)
    }
    yield exactly(answer(robot.model, question, **changes), found)


def again(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    yield exactly(answer(robot.model, question), found)


def by_keyword(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    names = list(question.given)
    shuffled = {str(k): question.given[str(k)] for k in rng.permutation(names)} if names else {}
    yield exactly(answer(robot.model, replace(question, given=shuffled, by_position=0)), found)


def copied(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    yield exactly(answer(_pickled(robot), question), found)
    yield exactly(answer(copy.deepcopy(robot.model), question), found)


@lru_cache(maxsize=40)
def _pickled(robot: Robot) -> jn.Model:
    try:
        return pickle.loads(pickle.dumps(robot.model))
    except (pickle.PicklingError, AttributeError):  # user-defined functions
        return robot.model


def with_out(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Filled and returned; unsuitable arrays are refused."""
    if "out" not in question.call.keywords:
        return
    if isinstance(found, Exception):
        yield exactly(answer(robot.model, question, out=None), found)
        return
    shape = found[""].shape
    place = np.full(shape, np.nan)
    yield exactly(answer(robot.model, question, out=place), found)
    yield "" if np.array_equal(place, found[""], equal_nan=True) else "out is not filled"
    bad = outs(shape, {k: x for k, x in question.given.items() if k in ARRAYS and isinstance(x, np.ndarray) and x.size})
    label = sorted(bad)[int(rng.integers(len(bad)))]
    other = bad[label][0]
    if place.size == 0 or (label == "strided" and other.flags.c_contiguous):  # fits an empty result or one number
        return
    refused = answer(robot.model, question, out=other, **bad[label][1])
    if label.startswith("shared") and not isinstance(refused, Exception):  # the argument was copied to broadcast it
        yield exactly(refused, found)
    elif not isinstance(refused, ValueError) or not str(refused).startswith("out "):
        yield f"out {label}: {refused!r}"[:300]


# --- batches --------------------------------------------------------------------------------------------


def _whole(question: Question) -> dict[str, object]:
    """The arguments written out: each of them for the whole batch."""

    def spread(key: str, x: np.ndarray) -> np.ndarray:
        core = x.ndim - len(question.batch[key])
        return np.broadcast_to(x, question.lead + x.shape[x.ndim - core :]).copy()

    changes: dict[str, object] = {k: spread(k, x) for k, x in question.given.items() if k in question.batch}
    for name in ("wrenches", "motions", "held"):
        if not isinstance(question.given.get(name), dict) or not question.given[name]:
            continue
        pushes = dict(question.given[name])
        keys = [k for k in question.batch if k.startswith(f"{name} ")]
        if len(keys) != len(pushes):  # the same frame twice
            return {}
        changes[name] = {n: spread(k, w) for k, (n, w) in zip(keys, pushes.items(), strict=True)}
    return changes


def spread_out(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Broadcast explicitly."""
    if question.wrong or not question.lead or question.call.method in ONE_STATE:
        return
    changes = _whole(question)
    if not changes:
        return
    other = answer(robot.model, question, **changes)
    if isinstance(found, Exception) or isinstance(other, Exception):  # whose messages mention shapes
        mine, theirs = (type(x).__name__ if isinstance(x, Exception) else "an answer" for x in (found, other))
        yield "" if mine == theirs else f"{mine}, expected {theirs}"
    elif question.plain:
        yield nearly(found, other, question, robot.model)


def one_by_one(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """A single state of the batch."""
    lead = question.lead
    if isinstance(found, Exception) or not question.plain or not lead or 0 in lead:
        return
    changes = _whole(question)
    if not changes:
        return
    at = tuple(int(rng.integers(n)) for n in lead)
    alone = {k: {n: w[at] for n, w in x.items()} if isinstance(x, dict) else x[at] for k, x in changes.items()}
    single = answer(robot.model, question, **alone)
    part = {k: x if k in OF_ALL_STATES else x[at] for k, x in found.items()}
    yield nearly(part, single, question.with_(**alone), robot.model)


# --- other paths through the core -----------------------------------------------------------------------


def instruction_sets(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    if question.call.method == "equilibrium":  # rounding may decide which of several is found
        yield ""
        return
    best = _core.instruction_set()
    try:
        for isa in _core.instruction_sets():
            _core.use_instruction_set(isa)
            other = answer(robot.model, question)
            if question.plain or isinstance(found, Exception):
                yield f"{isa}: {off}" if (off := nearly(other, found, question, robot.model)) else ""
    finally:
        _core.use_instruction_set(best)


def frame_by_hand(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Velocities are converted to body axes before, forces back afterwards."""
    call, given, model = question.call, question.given, robot.model
    if isinstance(found, Exception) or not question.plain:
        return
    axes = "velocity_frame" if "velocity_frame" in call.keywords else "frame"
    source = given.get(axes) or given.get("frame", "body")
    rule = RULE.get(call.method, "")
    known = rule in ("force", "same") or call.method == "forward_dynamics"
    if not known or source == "body" or axes not in call.keywords:
        return
    if call.method in ("inverse_dynamics_passive", "bias_force") or not np.size(given["q"]) > 0:
        return
    q, changes = given["q"], {axes: "body"}
    stack = None
    if "v" in given:
        stack = given["v"] if "v" in call.stacks else given["v"][..., None, :]
        if "a" in given:
            stack = np.stack(np.broadcast_arrays(given["v"], given["a"]), axis=-2)
        body = model.change_velocity_frame(q, stack, source, "body")
        changes["v"] = body if "v" in call.stacks else body[..., 0, :]
        if "a" in given:
            changes["a"] = body[..., 1, :]
    elif rule == "same":
        return
    else:
        stack = np.zeros((1, model.nv))
    if call.method == "forward_dynamics":
        yield from _accelerations(model, question, found, source, stack, changes)
        return
    other = answer(model, question, **changes)
    if rule == "force" and not isinstance(other, Exception):
        stacked = bool(call.stacks)
        force = other[""] if stacked else other[""][..., None, :]
        motion = changes["v"] if stacked else np.zeros((1, model.nv))
        turned = model.change_force_frame(q, motion, force, "body", source)
        other = {"": turned if stacked else turned[..., 0, :]}
    yield nearly(found, other, question, model)


def _accelerations(
    model: jn.Model, question: Question, found: dict[str, np.ndarray], source: str, v: np.ndarray, changes: dict
) -> Iterator[str]:
    """Forward dynamics: its result, converted to body axes, is that of the arguments in body axes."""
    q, stacked = question.given["q"], bool(question.call.stacks)
    tau = question.given["tau"] if stacked else question.given["tau"][..., None, :]
    acc = found[""] if stacked else found[""][..., None, :]
    lead = acc.shape[:-2]
    motion = np.concatenate([np.broadcast_to(v, (*lead, 1, model.nv)), acc], axis=-2)
    changes["tau"] = model.change_force_frame(q, motion, tau, source, "body")
    body = model.change_velocity_frame(q, motion, source, "body")
    changes["v"] = body[..., 0, :]
    if not stacked:
        changes["tau"] = changes["tau"][..., 0, :]
    other = answer(model, question, **changes)
    yield nearly({"": body[..., 1:, :] if stacked else body[..., 1, :]}, other, question, model)


# --- other robots that are the same ---------------------------------------------------------------------


def _by_name(model: jn.Model, question: Question) -> Question:
    """With frames by name, as their numbers differ in another robot."""

    def name(x: object) -> object:
        known = isinstance(x, int) and not isinstance(x, bool) and 0 <= x < len(model.frame_names)
        return model.frame_names[x] if known else x

    changes: dict[str, object] = {}
    for k, x in question.given.items():
        if k == question.wrong:
            continue
        if k == "name":
            changes[k] = name(x)
        elif k == "frames":
            changes[k] = [name(each) for each in x]
        elif k == "wrenches" and len({name(n) for n in x}) == len(x):
            changes[k] = {name(n): w for n, w in x.items()}
    return question.with_(**changes)


def _quotes(question: Question) -> bool:
    """Whether an error mentions the number of a frame."""
    frames = ("name", "frames", "wrenches", "contacts", "to", "base", "tip")
    joints = (
        "joint",
        "names",
        "positions",
        "armature",
        "damping",
        "friction",
        "friction_speed",
        "stiffness",
        "rest",
        "limits",
        "held",
    )
    return question.wrong in (*frames, *joints, "constraints")


def joint_that_stays(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """A joint of ratio zero is a fixed joint."""
    other = next((FIXED[k] for k in FIXED if EVERY[k] is robot), None)
    own = {
        "frame_index",
        "coordinate",
        "position",
        "replace",
        "lock",
        "subtree",
        "chain",
        "remove",
        "with_inertial_parameters",
    }  # which name or cut followers
    if other is None or _quotes(question) or question.call.method in own:
        return
    named = _by_name(robot.model, question)
    if isinstance(found, Exception) or question.plain:
        yield nearly(answer(robot.model, named), answer(other.model, named), named, robot.model)


def rigid_body(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """A rod that cannot deform is a rigid body; its frame is not a body there, and its joint is "near"."""
    of_rods = {"backbone", "inverse_dynamics_regressor", "articulated_inertia", "coordinate", "position", "frame_index"}
    method, given = question.call.method, question.given
    if (
        robot is not STIFF
        or method in of_rods | (EDITS - {"attach"})
        or _quotes(question)
        or not (isinstance(found, Exception) or question.plain)
    ):
        return
    if isinstance(given.get("actuated"), list) or given.get("names") is not None or given.get("held"):  # joints by name
        return
    named = _by_name(robot.model, question)
    if method in BY_BODY and given.get("frames") is None:
        named = named.with_(frames=list(robot.model.body_names))
    yield nearly(answer(STIFF.model, named), answer(RIGID.model, named), named, robot.model)


@lru_cache(maxsize=80)
def _with_a_frame(robot: Robot, at: int) -> jn.Model:
    spec = random_body(np.random.default_rng(at), "one more", at, "fixed")
    empty = replace(spec, mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))
    return replace(robot, parts=(*robot.parts, Part(empty))).model


def frame_more(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """A massless frame changes nothing, except that frames needed by ties come after it."""
    if _quotes(question) or (robot.ties and question.call.method == "frame_index"):
        return
    named = _by_name(robot.model, question)
    other = answer(_with_a_frame(robot, len(robot.parts) - 1 - int(rng.integers(min(2, len(robot.parts))))), named)
    if isinstance(found, Exception) or question.plain:
        yield nearly(answer(robot.model, named), other, named, robot.model)


@lru_cache(maxsize=80)
def _shuffled(robot: Robot, seed: int) -> Robot:
    """Bodies are added in another order, each after its parent."""
    rng, order = np.random.default_rng(seed), []
    left = set(range(len(robot.parts)))
    while left:
        ready = sorted(i for i in left if robot.parts[i].spec.parent not in left)
        order.append(ready[int(rng.integers(len(ready)))])
        left.remove(order[-1])
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    parts = [robot.parts[i] for i in order]
    return replace(robot, parts=tuple(replace(p, spec=replace(p.spec, parent=place[p.spec.parent])) for p in parts))


def _columns(robot: Robot, other: Robot, size: str) -> np.ndarray:
    """The indices of the other's coordinates among the robot's."""
    own, found = robot._columns(size), [np.zeros(0, int)]
    for key, where in other._columns(size).items():
        assert where.stop - where.start == own[key].stop - own[key].start
        found.append(np.arange(own[key].start, own[key].stop))
    return np.concatenate(found)


V_AXES = {"force": (-1,), "columns": (-1,), "motion": (-1,), "matrix": (-2, -1), "rows": (-2,), "same": ()}
OWN_AXES = {
    "forward_dynamics": (-1,),
    "hybrid_dynamics": (-1,),
    "inverse_mass_matrix_apply": (-1,),
    "inverse_mass_matrix": (-2, -1),
    "forward_dynamics_derivatives": (-2, -1),
    "articulated_inertia": (),
    "inverse_constraint_inertia": (),
}
KEY_AXES = {"acc": (-1,), "tau": (-1,), "v": (-1,), "jacobian": (-1,), "speed_q": (-1,), "multipliers": ()}
KEY_AXES |= {"acc_q": (-2, -1), "acc_v": (-2, -1), "acc_tau": (-2, -1), "forces": (), "impulses": ()}
KEY_AXES |= dict.fromkeys(("forces_q", "forces_v", "forces_tau"), (-1,))
BY_KEY = {"constrained_dynamics", "constrained_dynamics_derivatives", "constrained_inverse_dynamics", "impact"}


def siblings(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Bodies in another order: the same answer with coordinates in another order."""
    method = question.call.method
    axes = OWN_AXES.get(method, V_AXES.get(RULE.get(method, "")))
    if not question.plain or isinstance(found, Exception) or method == "frame_index":
        return
    if axes is None and method not in {"integrate", "neutral", "equilibrium", "project"} | BY_KEY:
        return
    if {"actuated", "weight", "force_weight"} & set(question.given):  # which depend on the order
        return
    other = _shuffled(robot, int(rng.integers(2)))
    if other.model.input_names != robot.model.input_names:
        return
    nq, nv = _columns(robot, other, "nq"), _columns(robot, other, "nv")
    named = _by_name(robot.model, question)
    changes: dict[str, object] = {}
    for k, x in named.given.items():
        if k in ARRAYS:
            changes[k] = x[..., nq if k.startswith("q") else nv]
        elif k == "prescribed":
            changes[k] = x[nv]
    theirs, mine = answer(other.model, named, **changes), answer(robot.model, named)
    if isinstance(theirs, Exception) or isinstance(mine, Exception):
        yield "" if wanders(named, robot.model) else exactly(theirs, mine, across=True)
        return
    expected = {}
    for key, x in mine.items():
        if method in ("integrate", "neutral") or key == "q" or (method == "project" and key in ("", "0")):
            expected[key] = x[..., nq]
        elif method == "project":
            expected[key] = x[..., nv]
        elif method in BY_KEY:
            for axis in KEY_AXES[key.rpartition(": ")[2]]:
                x = np.take(x, nv, axis)
            expected[key] = x
        elif key == "stiffness":
            expected[key] = np.take(np.take(x, nv, -2), nv, -1)
        else:
            for axis in axes or ():
                x = np.take(x, nv, axis)
            expected[key] = x
    yield nearly(theirs, expected, named, robot.model)


def free_joints(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Joints that follow are free joints with prescribed motion."""
    rule = RULE.get(question.call.method)
    if rule not in V_AXES or isinstance(found, Exception) or not question.plain or robot.model.nv == 0:
        return
    if not all(np.isfinite(np.asarray(x, float)).all() for x in found.values()):  # reported already
        return
    if question.call.method == "frame_index" or not any(p.follows is not None for p in robot.parts):
        return
    named = _by_name(robot.model, question)
    full = answer(robot.freed.model, named, **freed_arguments(robot, named.given))
    mine, G = answer(robot.model, named), robot.G
    if isinstance(full, Exception) or isinstance(mine, Exception):
        yield exactly(mine, full, across=True)
        return
    for key, x in full.items():
        left, right = mine[key] @ G.T if rule == "motion" else mine[key], projected(rule, x, G)
        zero = 1e-15 * np.abs(right).max(initial=0.0)  # up to rounding
        if question.call.method == "residual":
            zero = 1e-12
        off = error(left, right, question.call.order_axis(key), x if rule in ("force", "matrix") else None)
        wrong = off > tolerance(question, robot.model) and np.abs(left - right).max(initial=0.0) > zero
        yield f"{key!r} is off by {off:.1e}" if wrong else ""


# --- robots with constraints ----------------------------------------------------------------------------

OBEYS = {"forward_dynamics", "hybrid_dynamics", "forward_dynamics_derivatives", "linearize", "equilibrium"}
OBEYS |= {"project", "residual", "loop_coordinate", "impact", "independent_coordinates", "constraint_rows"}
OBEYS |= {"constraint_jacobian", "constraint_jacobian_derivatives", "inverse_constraint_inertia", "constrained"}
OBEYS |= EDITS | {"constrained_dynamics", "constrained_dynamics_derivatives", "constrained_inverse_dynamics"}


def tree_alone(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Calls that do not solve for motions give the answers of the robot without its constraints.

    To the last bit, unless a tie is somewhere along a rod: its frame there adds a step to the rod.
    """
    if not robot.ties or question.call.method in OBEYS | {"frame_index"} or _quotes(question):
        return
    named = _by_name(robot.model, question)
    frames = {n for k in ("frames", "wrenches") for n in named.given.get(k) or ()} | {named.given.get("name")}
    if all(f is None or f in robot.untied.model.frame_names for f in frames):
        mine, other = answer(robot.model, named), answer(robot.untied.model, named)
        along = any(t.at_a is not None or t.at_b is not None for t in robot.ties)
        yield nearly(mine, other, named, robot.model) if along else exactly(mine, other, across=True)


def demands(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """The equations that an answer under constraints must satisfy, assembled from the tree's answers."""
    check = DEMANDS.get(question.call.method)
    if check is None or isinstance(found, Exception) or not question.plain or 0 in question.lead:
        return
    off = check(robot.model, question, found)
    yield f"is off by {off:.1e}" if off > max(1e-9, tolerance(question, robot.model)) else ""


def geared(robot: Robot, question: Question, rng: np.random.Generator, found: Answer) -> Iterator[str]:
    """Joints that follow are free joints geared to their leaders: the motion is the same."""
    method = question.call.method
    if isinstance(found, Exception) or not question.plain or not any(p.follows is not None for p in robot.parts):
        return
    moved = {"forward_dynamics": "", "constrained_dynamics": "acc", "hybrid_dynamics": "0", "impact": "v"}
    if method not in moved or 0 in question.lead or robot.geared.model.nv > 30:
        return
    named = _by_name(robot.model, question)
    arguments = freed_arguments(robot, named.given)
    if "prescribed" in arguments:
        arguments["prescribed"] = (lift(robot) @ arguments["prescribed"]) > 0
    other, key = answer(robot.geared.model, named, **arguments), moved[method]
    if isinstance(other, Exception):
        yield f"{other!r}, expected an answer"
        return
    mine = found if method == "impact" else answer(robot.model, named)
    yield nearly({key: other[key]}, {key: mine[key] @ robot.G.T}, named, robot.model)


TWINS: dict[str, Callable[[Robot, Question, np.random.Generator, Answer], Iterator[str]]] = {
    "asked again": again,
    "in another layout": other_layout,
    "by keyword": by_keyword,
    "of a copy": copied,
    "with out": with_out,
    "broadcast by hand": spread_out,
    "one by one": one_by_one,
    "by another instruction set": instruction_sets,
    "in body axes": frame_by_hand,
    "where a joint of ratio zero is fixed": joint_that_stays,
    "where a rod that cannot deform is rigid": rigid_body,
    "with a frame more": frame_more,
    "with siblings in another order": siblings,
    "where followers are free": free_joints,
    "without constraints": tree_alone,
    "as the constraints demand": demands,
    "where followers are geared": geared,
}


def differences(kind: str, robot: Robot, method: str, seed: int, count: int = 3) -> list[str]:
    """All that is wrong with a randomly drawn call and with `count` of its twins; empty if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", jn.StabilityWarning)  # a finding
        warnings.simplefilter("ignore", jn.ModelWarning)  # a word on what may not be meant
        warnings.simplefilter("ignore", jn.BatchWarning)
        warnings.filterwarnings("ignore", message=".* holds long doubles")
        question, rng = drawn(robot, kind, method, seed)
        kept = [x.copy() for x in arrays_of(question.given)]
        found = answer(robot.model, question)
        wrong = [undocumented(found, question) if isinstance(found, Exception) else doubtful(found, question)]
        for i in rng.permutation(len(TWINS))[:count]:
            name = list(TWINS)[i]
            for text in TWINS[name](robot, question, rng, found):
                compared[method, name] += 1
                wrong.append(f"{name}: {text}" if text else "")
        same = all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            for a, b in zip(kept, arrays_of(question.given), strict=True)
        )
        wrong.append("" if same else "an argument was changed")
    return [f"{text}\n    {question}" for text in wrong if text]


def answered(kind: str, robot: Robot, method: str, seed: int) -> bool:
    """Whether the randomly drawn call gets an answer."""
    question, _ = drawn(robot, kind, method, seed)
    return not isinstance(answer(robot.model, question), Exception)
