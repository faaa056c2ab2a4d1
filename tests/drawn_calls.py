"""Randomly drawn calls: from the signature of a public call, a robot and a seed, arguments that are good, or nearly so.

A parameter is drawn by its name, which means the same in all calls: a public call with known parameters is drawn
without an entry here. Which arguments are stacks of derivatives is in the table of `calls`; for a call that is not in
it, it is left to chance.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

import jounce as jn
from calls import (
    ARRAYS,
    BAD_WORDS,
    CALLS,
    FRAMES,
    OF_MOTIONS,
    ONE_STATE,
    WORDS,
    Call,
    bad_arrays,
    bad_contacts,
    bad_keywords,
    bad_names,
    bounces,
    obeyed,
    own_joints,
    pendulum,
    signature,
)
from coupled_robots import Robot
from jounce.dynamics.named_coordinates import names
from odd_values import ODD

# Known, and left out: products of finite numbers over 1e100 can overflow; derivatives already over ORDINARY.
OVERFLOWS = {"a huge number", "huge numbers", "a long double"}
ORDINARY = 1e9

SHAPES = ((), (), (), (1,), (2,), (3,), (9,), (0,), (2, 3), (1, 4), (3, 1, 2), (2, 0))
FEW = ((), (), (), (1,), (2,), (0,), (2, 1), (2, 0))  # where each state takes long
STYLES = ("plain", "plain", "plain", "single", "whole", "zero", "tiny", "big", "large")


@dataclass(frozen=True)
class Generator:
    """Stands for a random generator: a fresh one each time that the question is asked."""

    seed: int


@dataclass(frozen=True, eq=False)
class Question:
    """A call with its arguments, by the names of the signature.

    `plain`: numbers of ordinary size, so that two ways to the answer agree up to rounding. `wrong`: the invalid
    argument, if there is one.
    """

    call: Call
    given: dict[str, object]
    by_position: int
    style: str
    wrong: str = ""
    batch: dict[str, tuple[int, ...]] = field(default_factory=dict)  # the batch dimensions of each array

    @property
    def plain(self) -> bool:
        return self.style in ("plain", "single", "whole") and not self.wrong

    @property
    def lead(self) -> tuple[int, ...]:
        """The batch dimensions of the answer."""
        return np.broadcast_shapes(*self.batch.values())

    def with_(self, **changes: object) -> Question:
        """The same with other arguments."""
        return replace(self, given=self.given | changes)

    def asked(self, model: jn.Model) -> object:
        values = [np.random.default_rng(x.seed) if isinstance(x, Generator) else x for x in self.given.values()]
        first, rest = values[: self.by_position], dict(zip(self.given, values, strict=True))
        named = {k: rest[k] for k in list(rest)[self.by_position :]}
        return getattr(model, self.call.method)(*first, **named)

    def __str__(self) -> str:
        words = [f"{k}={described(x)}" for k, x in self.given.items()]
        for i in range(self.by_position):
            words[i] = words[i].partition("=")[2]
        return f"{self.call.method}({', '.join(words)})"


def described(value: object) -> str:
    """An argument on one line."""
    if isinstance(value, np.ndarray) and value.size > 12:
        return f"<{value.dtype} {value.shape}>"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {described(x)}" for k, x in value.items()) + "}"
    try:
        return repr(value)[:200].replace("\n", " ")
    except Exception:
        return f"<{type(value).__name__}>"


def quaternions(robot: Robot) -> list[int]:
    """Where in q they start."""
    found, at = [], 0
    for p in robot.parts:
        at += 0 if p.follows is not None else p.spec.nq
        if p.follows is None and p.spec.joint in ("free", "spherical"):
            found.append(at - 4)
        at += p.shape
    return found


class Draw:
    """The arguments of one call of a robot."""

    def __init__(self, robot: Robot, method: str, rng: np.random.Generator) -> None:
        self.robot, self.method, self.rng = robot, method, rng
        self.model = robot.model
        recipes = [c for c in CALLS.values() if c.method == method]
        self.signature = signature(getattr(type(self.model), method)).parameters
        self.call = self.one(recipes) if recipes else self.unknown()
        self.style = self.one(STYLES)
        self.lead = () if method in ONE_STATE else self.one(FEW if method == "equilibrium" else SHAPES)
        self.rows = self.one((0, 1, 2, 2, 3, 3, 4, 6, 9, 30) if rng.random() < 0.3 else (2, 3, 4))
        # Whether tau is a stack follows from its dimensions: then it has those of v. In `project`, likewise v and q. A
        # stack must not look like one velocity for each q.
        self.told = len({c.stacks for c in recipes}) > 1 and ("tau" in self.signature or method == "project")
        self.told |= method == "check_limits"
        self.obeys = bool(robot.ties) and (method in OF_MOTIONS or rng.random() < 0.5)
        if self.obeys:  # numbers of arbitrary size, or with few digits, would not
            self.style = self.one(("plain", "plain", "plain", "big"))
        self.given: dict[str, object] = {}
        self.batch: dict[str, tuple[int, ...]] = {}

    def one(self, values: object) -> object:
        values = list(values)
        return values[int(self.rng.integers(len(values)))]

    def unknown(self) -> Call:
        arrays = [n for n in self.signature if n in ARRAYS and not n.startswith("q")]
        stacks = frozenset(arrays) if self.rng.random() < 0.5 else frozenset()
        return Call(self.method, tuple(self.signature), (), stacks)

    def question(self) -> Question:
        given = self.given
        single = "a" in self.call.first or "v" not in self.call.stacks
        for name, p in self.signature.items():
            if name in ("self", "out"):
                continue
            if name == "a" and (not single or "a" not in self.call.first):
                continue
            if name == "v" and "v" not in self.call.first:
                continue
            needed = p.default is inspect.Parameter.empty or name in self.call.first
            if needed or self.rng.random() < 0.5:
                given[name] = PARAMETERS[name](self, name)
        if self.obeys:
            given |= self.motion()
        positional = [n for n, p in self.signature.items() if p.kind is p.POSITIONAL_OR_KEYWORD and n != "self"]
        count = 0
        while count < min(len(positional), len(given)) and positional[count] == list(given)[count]:
            count += 1
        count = int(self.rng.integers(count + 1)) if self.rng.random() < 0.3 else count
        question = Question(self.call, given, count, self.style, batch=dict(self.batch))
        return self.spoilt(question) if self.rng.random() < 0.25 else question

    # Good arguments

    def leading(self, name: str) -> tuple[int, ...]:
        """Batch dimensions that broadcast to those of the call."""
        shape, chance = self.lead, self.rng.random()
        if shape and chance < 0.15 and not (self.told and (name != "q" or self.method == "project")):
            shape = shape[int(self.rng.integers(1, len(shape) + 1)) :]
        elif chance < 0.3:
            shape = tuple(1 if self.rng.random() < 0.5 else n for n in shape)
        self.batch[name] = shape
        return shape

    def sized(self, x: np.ndarray) -> np.ndarray:
        match self.style:
            case "single":
                return x.astype(np.float32).astype(float)
            case "whole":
                return np.round(2 * x)
            case "zero":
                return np.copysign(0.0, x)
            case "tiny":
                return x * 10.0 ** self.rng.uniform(-320, -8)
            case "big":
                return x * 10.0 ** self.rng.uniform(0, 9 if self.rows < 9 else 2)
            case "large":
                return x * 10.0 ** self.rng.uniform(9, 99)
        return x

    def configuration(self, name: str) -> np.ndarray:
        q = self.robot.configuration(self.rng, self.leading(name))
        if self.obeys:
            return q
        numbers = q.copy() if self.style in ("big", "large") else self.sized(q)
        if self.style in ("big", "large"):
            numbers *= self.one((1.0, 1.0, 30.0))
        for at in quaternions(self.robot):
            where = slice(at, at + 4)
            if self.style in ("whole", "zero", "tiny"):
                numbers[..., where] = np.eye(4)[3 if self.style == "zero" else int(self.rng.integers(4))]
            elif self.style in ("big", "large"):
                numbers[..., where] = q[..., where]
        return np.ascontiguousarray(numbers)

    def motion(self) -> dict[str, object]:
        """The drawn motion, made to obey the constraints; it then has the batch of q."""
        given, named = self.given, [k for k in ("v", "a", "acc") if k in self.given]
        if "q" not in given or "v" not in named or not isinstance(given["v"], np.ndarray):
            return {}
        lead = np.broadcast_shapes(*(self.batch[k] for k in ("q", *named)))
        whole = {}
        for k in ("q", *named):
            core = given[k].shape[given[k].ndim - 1 - (k in self.call.stacks) :]
            whole[k] = np.broadcast_to(given[k], (*lead, *core)).copy()
        if any(x.size == 0 for x in whole.values()):
            return {}
        frame = given.get("velocity_frame") or given.get("frame", "body")
        found = obeyed(self.call, self.robot, whole, str(frame))
        self.batch |= dict.fromkeys(found, lead)
        return found

    def rates(self, name: str) -> np.ndarray:
        lead = self.leading(name)
        if name in self.call.stacks:
            count = self.rows if name == "v" else max(self.rows - 1, 0)
            lead = (*lead, count)
        return np.ascontiguousarray(self.sized(self.robot.rates(self.rng, lead)))

    def frame(self, name: str) -> object:
        """A body or frame."""
        if "constraint" in self.call.first and name == "name":
            return self.one(self.model.constraint_names or ["loop"])
        if "soft" in self.call.first and name == "name":
            soft = [p.spec.name for p in self.robot.parts if p.soft is not None]
            return self.one(soft or ["rod"])
        names = self.model.frame_names
        at = int(self.rng.integers(len(names)))
        return at if self.rng.random() < 0.2 else names[at]

    def frames(self, name: str) -> object:
        return [self.frame("") for _ in range(int(self.rng.integers(4)))]

    def joint(self, name: str) -> object:
        """Or one of its coordinates."""
        known = names(self.model)
        own = known.q if self.method == "position" else known.v
        return self.one([*(p.spec.name for p in self.robot.parts if p.spec.nv), *own] or ["arm"])

    def word(self, name: str) -> object:
        if name == "velocity_frame" and self.rng.random() < 0.2:
            return None
        return self.one(FRAMES)

    def wrenches(self, name: str) -> object:
        found = {}
        names = self.rng.permutation(self.model.frame_names)[: int(self.rng.integers(4))]
        for i, each in enumerate(names):
            shape = (6,)
            if "wrenches" in self.call.stacks:
                shape = (max(self.rows - 1, 0), 6)
            lead = () if self.method in ONE_STATE else self.leading(f"wrenches {i}")
            key = self.model.frame_index(str(each)) if self.rng.random() < 0.1 else str(each)
            found[key] = self.sized(self.rng.uniform(-1, 1, (*lead, *shape)))
        return found

    def contacts(self, name: str) -> object:
        found = {}
        for each in self.rng.permutation(self.model.frame_names)[: int(self.rng.integers(4))]:
            x, y, z = self.rng.normal(size=(3, 3))
            kinds = (jn.Fixed(), jn.Revolute(x), jn.Universal(x, y), jn.Spherical(), jn.OnPlane(z), jn.OnLine(z),
                     jn.Rolling(0.2, axis=x, normal=z), jn.Contact(jn.Prismatic(x)), jn.Contact(jn.Planar(), np.eye(4)),
                     jn.Contact(jn.Distance(0.3), np.eye(4)), jn.Contact(jn.Revolute(x), axes="world"),
                     jn.Contact(jn.OnLine(z), axes="frame"),
                     jn.Contact(jn.Cylindrical(y), np.eye(4), axes="world"))  # fmt: skip
            if each not in self.model.constraint_names:
                found[str(each)] = self.one(kinds)
        return found

    def motions(self, name: str) -> object:
        """The motions of some contacts."""
        held = [c.name for c in self.model.constraints if c.contact]
        if self.rng.random() < 0.2:
            return None
        rows = max(self.rows - 1, 0) + 1 if "tau" in self.call.stacks else 2
        found = {}
        for each in self.rng.permutation(held)[: int(self.rng.integers(len(held) + 1))]:
            lead = self.leading(f"motions {len(found)}")
            found[str(each)] = self.sized(self.rng.uniform(-1, 1, (*lead, rows, 6)))
        return found

    def correction(self, name: str) -> object:
        return self.one((None, (0.0, 0.0), [100.0, 20.0], self.rng.uniform(0, 10, 2)))

    def restitution(self, name: str) -> object:
        own, _ = bounces(self.robot)
        some = {n: self.rng.uniform(0, 1) for n in own if self.rng.random() < 0.7}
        return self.one((0.0, some, self.rng.uniform(0, 1) if own else 0, np.float32(0.5) if own else {}))

    def normals(self, name: str) -> object:
        return self.one((None, {n: self.rng.normal(size=3) for n in bounces(self.robot)[1] if self.rng.random() < 0.7}))

    def weight(self, name: str) -> object:
        """Weights of actuated coordinates, or of the constraints' rows."""
        count = sum(c.rows for c in self.model.constraints)
        if name == "weight":
            actuated = self.given.get("actuated")
            joints = isinstance(actuated, list) and actuated and isinstance(actuated[0], str)
            columns = np.arange(self.model.nv)
            if joints:
                columns = np.concatenate([columns[self.model.coordinate(j)] for j in actuated])
            elif actuated is not None:
                columns = columns[np.asarray(actuated, dtype=None if len(actuated) else int)]
            count = len(columns)
        root = self.rng.normal(size=(count, count))
        return self.one((None, self.rng.uniform(0.1, 2), self.rng.uniform(1, 2, count), root @ root.T + np.eye(count)))

    def joints(self, name: str) -> object:
        """The independent coordinates, or some joints."""
        some = [str(j) for j in self.rng.permutation(self.model.joint_names) if self.rng.random() < 0.5]
        q = self.given["q"]
        if 0 in q.shape[:-1]:
            return some
        found = list(self.model.independent_coordinates(q[(0,) * (q.ndim - 1)]).names)
        return self.one((None, found, found, tuple(found), some))

    def positions(self, name: str) -> object:
        """Of some joints and shapes, in no particular order."""
        q = self.robot.configuration(self.rng)
        some = [str(j) for j in self.rng.permutation(self.model.joint_names) if self.rng.random() < 0.4]
        return {j: q[self.model.position(j)] for j in some}

    def drive(self, name: str) -> object:
        """A number, or numbers for some joints; of `bias_force`, whether to count them."""
        if self.method == "bias_force":
            return self.flag(name)
        size = 1 if name in ("rest", "limits") else 0
        joints = [j for j in own_joints(self.robot, size) if self.rng.random() < 0.5]
        if name == "limits":
            return self.one((None, jn.Limits(-1.0, 2.0), {j: jn.Limits(0.0, self.rng.uniform(0, 2)) for j in joints}))
        each = np.zeros(self.model.nv)
        for j in own_joints(self.robot, 1):
            if j in self.model.joint_names:
                each[self.model.coordinate(j)] = self.rng.uniform(0, 2)
        return self.one((None, self.rng.uniform(0, 2), {j: self.rng.uniform(0, 2) for j in joints}, each))

    def gravity(self, name: str) -> object:
        return self.one((None, self.rng.normal(size=3), (0.0, 0.0, -1.62)))

    def other(self, name: str) -> object:
        return self.one((pendulum(self.model.gravity), pendulum(self.model.gravity), self.model, pendulum((0, 0, 1))))

    def carrier(self, name: str) -> object:
        return self.one(("world", *self.model.frame_names))

    def tip(self, name: str) -> object:
        return self.one(self.model.frame_names)

    def place(self, name: str) -> object:
        return self.one((None, jn.placement(self.rng.normal(size=3), rpy=self.rng.normal(size=3))))

    def prefix(self, name: str) -> object:
        return self.one(("", "its ", "a"))

    def inertia(self, name: str) -> object:
        """One, or several by body for `replace`."""

        def some() -> jn.Inertia:
            return jn.Inertia(self.rng.uniform(0, 2), self.rng.normal(size=3), (1.0, 0.8, 0.9))

        if self.method != "replace":
            return some()
        rigid = [p.spec.name for p in self.robot.parts if p.soft is None]
        return self.one((None, {n: some() for n in rigid if self.rng.random() < 0.4}))

    def parameters(self, name: str) -> object:
        """Those of some bodies, scaled."""
        if self.model._soft:
            return np.zeros(10)
        return self.model.inertial_parameters * self.rng.choice([1.0, 1.2], len(self.model.body_names)).repeat(10)

    def flag(self, name: str) -> object:
        return self.one((True, False))

    def constraints(self, name: str) -> object:
        return self.one((None, [n for n in self.model.constraint_names if self.rng.random() < 0.5]))

    def mask(self, name: str) -> object:
        """Coordinates of some of the joints."""
        mask = np.zeros(self.model.nv, bool)
        for joint in self.model.joint_names:
            mask[self.model.coordinate(joint)] = self.rng.random() < 0.4
        return mask

    def actuated(self, name: str) -> object:
        mask = self.mask(name)
        columns = self.rng.permutation(np.flatnonzero(mask))
        joints = [str(j) for j in self.rng.permutation(self.model.joint_names) if self.rng.random() < 0.5]
        single = [names(self.model).v[i] for i in columns[::2]]
        return self.one((mask, columns, joints, single))

    def held(self, name: str) -> object:
        """Some joints, or coordinates of joints, by name or with the positions they are held at.

        Those that constraints leave free, so that the rest can follow.
        """
        q, known, free = self.robot.configuration(self.rng, ()), names(self.model), list(self.model.joint_names)
        free += sorted(set(known.q) & set(known.v) - set(free))
        if self.method == "project":
            own = self.model.independent_coordinates(q).names
            free = [n for n in free if n in own][: 1 if self.robot.ties else None]
        some = [str(j) for j in self.rng.permutation(free) if self.rng.random() < 0.4]
        where = {}
        for i, each in enumerate(some):
            at = q[self.model.position(each)]
            where[each] = np.broadcast_to(at, (*self.leading(f"held {i}"), len(at))).copy()
        found = self.one(((), some, tuple(some), where))
        if not isinstance(found, dict):
            self.batch = {k: x for k, x in self.batch.items() if not k.startswith("held ")}
        return found

    def branch(self, name: str) -> object:
        return self.one((None, "any", "stable"))

    def inputs(self, name: str) -> object:
        lead = () if self.method in ONE_STATE else self.leading(name)
        return self.sized(self.rng.uniform(0, 0.2, (*lead, len(self.model.input_names))))

    def sections(self, name: str) -> object:
        """Positions along a soft body; those of the tests are at least 0.2 m long."""
        return self.rng.uniform(0, 0.2, int(self.rng.integers(4)))

    def order(self, name: str) -> object:
        if self.method == "torque_coefficients":
            return self.one((None, 0, max(self.rows - 1, 0)))
        return self.one((None, self.call.highest(self.rows), np.int64(self.call.highest(self.rows))))

    def shape(self, name: str) -> object:
        return self.one(((), 3, (2,), [2, 1], 0, np.int64(2)))

    def generator(self, name: str) -> object:
        return Generator(int(self.rng.integers(1000)))

    # Bad arguments

    def spoilt(self, question: Question) -> Question:
        """With one argument that is invalid, missing or unknown."""
        chance = self.rng.random()
        if chance < 0.05:
            return replace(question.with_(nonsense=1), wrong="nonsense")
        if not question.given:
            return question
        name = str(self.one(question.given))
        if chance < 0.1:
            given = {k: x for k, x in question.given.items() if k != name}
            count = min(question.by_position, list(question.given).index(name))
            return replace(question, given=given, by_position=count, wrong=name)
        return replace(question.with_(**{name: self.bad(name, question.given[name])}), wrong=name)

    def bad(self, name: str, value: object) -> object:
        if isinstance(value, np.ndarray) and value.dtype == float and value.size and self.rng.random() < 0.6:
            one = value[(0,) * (value.ndim - 1 - (name in self.call.stacks))]
            chance = self.rng.random()
            if chance < 0.2:  # one number in it
                value = value.copy()
                value.flat[int(self.rng.integers(value.size))] = self.one((np.nan, np.inf, -np.inf))
                return value
            if chance < 0.3:
                return np.repeat(value[None], int(self.rng.integers(2, 5)), axis=0)
            if chance < 0.4 and value.ndim > 1:
                return value[:, :-1]
            with np.errstate(over="ignore"):
                found = bad_arrays(one, name in self.call.stacks)
            return self.one(x for label, x in found.items() if label != "too large")
        if name == "contacts" and self.rng.random() < 0.7:
            return self.one(bad_contacts(self.robot))
        own = ("motions", "correction", "restitution", "normals", "weight", "force_weight", "names", "held")
        if name in own and self.rng.random() < 0.6:
            return self.one(x[name] for x in bad_keywords(self.call, self.robot) if name in x)
        if name in ("wrenches", "motions") and isinstance(value, dict) and value and self.rng.random() < 0.7:
            key = self.one(value)
            return value | {key: self.bad("wrenches", value[key])} | self.one(({}, {"none such": value[key]}))
        if name in WORDS and self.rng.random() < 0.5:
            return self.one(BAD_WORDS)
        if name in ("name", "joint") and self.rng.random() < 0.5:
            return self.one(bad_names(self.robot))
        if name in ("frames", "actuated") and self.rng.random() < 0.5:
            return [*value, *self.one(([99], ["none such"], [None], list(value) or [-1]))]
        return self.one(x for label, x in ODD.items() if label not in OVERFLOWS)


PARAMETERS: dict[str, Callable[[Draw, str], object]] = {
    **dict.fromkeys(("q", "q0", "q1"), Draw.configuration),
    **dict.fromkeys(ARRAYS - {"q", "q0", "q1"}, Draw.rates),
    **dict.fromkeys(WORDS, Draw.word),
    "name": Draw.frame,
    "joint": Draw.joint,
    "frames": Draw.frames,
    "wrenches": Draw.wrenches,
    "prescribed": Draw.mask,
    "actuated": Draw.actuated,
    "u": Draw.inputs,
    "s": Draw.sections,
    "order": Draw.order,
    "rng": Draw.generator,
    "shape": Draw.shape,
    "contacts": Draw.contacts,
    "motions": Draw.motions,
    "correction": Draw.correction,
    "restitution": Draw.restitution,
    "normals": Draw.normals,
    "weight": Draw.weight,
    "force_weight": Draw.weight,
    "names": Draw.joints,
    "positions": Draw.positions,
    **dict.fromkeys(("armature", "damping", "friction", "friction_speed", "stiffness", "rest", "limits"), Draw.drive),
    "gravity": Draw.gravity,
    "other": Draw.other,
    **dict.fromkeys(("to", "base"), Draw.carrier),
    "tip": Draw.tip,
    "placement": Draw.place,
    "prefix": Draw.prefix,
    "inertia": Draw.inertia,
    "parameters": Draw.parameters,
    "physical": Draw.flag,
    "constraints": Draw.constraints,
    "held": Draw.held,
    "branch": Draw.branch,
}


def drawn(robot: Robot, kind: str, method: str, seed: int) -> tuple[Question, np.random.Generator]:
    """A call of that method, the same for the same seed; and the generator, for further random choices."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{kind} {method}".encode())])
    return Draw(robot, method, rng).question(), rng
