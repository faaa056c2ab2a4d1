"""Arguments of the core's calls: the call, the robot and the arrays are all read from the bytes.

The result must be finite arrays or a ValueError (or TypeError) with a message, whatever the arrays are and whatever
code they run when they are read.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import jounce as jn
from jounce import _core

from .pickles import robots
from .urdf import expect_short

WORDS: list[bytes] = []
FRAMES = ["body", "world", "mixed", "Body", "", "wörld", "\ud800", None, 3]
TYPES = ["f8", ">f8", "f4", "f2", "g", "i8", "u1", "?", "c16", "O", "U3", "S8", "M8[s]", "V8", "f8,f8"]
NUMBERS = [0.0, 1.0, -0.5, 0.7, 1e-300, 1e300, -1e308, 5e-324, np.nan, np.inf, -np.inf, 3.0]
SIZES = [0, 1, 2, 3, 5, 6, 17, 33]
SHORT = 6000  # inputs of a short round

# Method: its positional arguments, then its keyword arguments.
CALLS = {
    "inverse_dynamics": ("q", "v", "v?", "wrenches", "wrench_frame", "frame", "out"),
    "forward_dynamics": ("q", "v", "v", "wrenches", "wrench_frame", "frame", "out"),
    "hybrid_dynamics": ("q", "v", "v", "v", "prescribed", "wrenches", "wrench_frame", "frame"),
    "inverse_dynamics_passive": ("q", "v", "v", "v", "frame", "out"),
    "inverse_dynamics_derivatives": ("q", "v", "v?", "wrenches", "wrench_frame"),
    "forward_dynamics_derivatives": ("q", "v", "v", "wrenches", "wrench_frame"),
    "inverse_dynamics_regressor": ("q", "v", "v?", "frame"),
    "forward_kinematics": ("q", "v?", "frames", "frame", "velocity_frame"),
    "pose_derivatives": ("q", "v", "frames", "frame"),
    "jacobian": ("name", "q", "frame", "velocity_frame", "out"),
    "jacobian_derivatives": ("name", "q", "v", "frame", "velocity_frame", "out"),
    "mass_matrix": ("q", "frame", "out"),
    "mass_matrix_derivatives": ("q", "v", "frame", "out"),
    "inverse_mass_matrix": ("q", "frame", "out"),
    "inverse_mass_matrix_apply": ("q", "v"),
    "coriolis_matrix_derivatives": ("q", "v", "frame", "out"),
    "torque_coefficients": ("q", "v", "order", "frame"),
    "articulated_inertia": ("q",),
    "gravity_force": ("q", "frame", "out"),
    "centroidal_momentum_matrix_derivatives": ("q", "v", "frame", "out"),
    "kinetic_energy_derivatives": ("q", "v", "frame", "out"),
    "center_of_mass": ("q", "out"),
    "potential_energy": ("q", "out"),
    "integrate": ("q", "v"),
    "difference": ("q", "q"),
    "change_velocity_frame": ("q", "v", "word", "word"),
    "change_force_frame": ("q", "v", "v", "word", "word"),
    "generalized_inverse_dynamics": ("q", "v", "v?", "frame"),
    "actuation_matrix": ("q",),
    "linearize": ("q", "v", "v", "wrenches", "wrench_frame", "frame"),
    "constrained_dynamics": ("q", "v", "v", "wrenches", "wrench_frame", "frame", "motions", "correction"),
    "constrained_dynamics_derivatives": ("q", "v", "v", "wrenches", "wrench_frame"),
    "constrained_inverse_dynamics": (
        *("q", "v", "v?", "actuated", "weight", "force_weight", "wrenches", "wrench_frame", "frame"),
    ),
    "constraint_jacobian": ("q", "frame"),
    "constraint_jacobian_derivatives": ("q", "v", "frame"),
    "inverse_constraint_inertia": ("q",),
    "impact": ("q", "v", "restitution", "normals", "wrench_frame", "frame"),
    "residual": ("q", "v?"),
    "project": ("q", "v?"),
    "loop_coordinate": ("tie", "q", "v?"),
    "independent_coordinates": ("q", "names"),
    "constrained": ("contacts",),
    "lock": ("positions",),
    "replace": ("armature", "damping", "stiffness", "rest", "gravity"),
    "attach": ("other", "to", "placement", "prefix"),
    "subtree": ("name",),
    "chain": ("to", "name"),
    "payload": ("name", "inertia", "placement"),
}
POSITIONAL = {"q", "v", "v?", "name", "word", "tie", "contacts", "positions", "other", "to", "inertia"}


class OwnError(Exception):
    """Raised by objects given as arrays: it propagates unchanged."""


class Reader:
    """Choices from bytes; zeros once they run out."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def below(self, count: int) -> int:
        self.at += 1
        return self.data[self.at - 1] % count if self.at <= len(self.data) else 0

    def pick(self, choices: Any) -> Any:
        return choices[self.below(len(choices))]


@cache
def models() -> list[jn.Model]:
    none = jn.Builder()
    none.add("plate", "world", jn.Fixed(), inertia=jn.Inertia(1.0))
    return [*robots(), none.build()]


def seeds() -> list[bytes]:
    """Each call with valid arguments, on each robot (zeros are the usual choice), and some random ones."""
    usual = [bytes([robot, call]) for robot in range(len(models())) for call in range(len(CALLS))]
    rng = np.random.default_rng(0)
    return usual + [rng.integers(0, 256, 60, np.uint8).tobytes() for _ in range(40)]


def check(data: bytes) -> None:
    read = Reader(data)
    robot = read.pick(models())
    method, words = read.pick(list(CALLS.items()))
    maker = Maker(read, robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            first = [maker.of(word) for word in words if word in POSITIONAL]
            named = {word: maker.of(word) for word in words if word not in POSITIONAL and read.below(2)}
        except (ValueError, TypeError, OwnError):  # NumPy or jounce has no such thing
            return
        if "prescribed" in words:
            named.setdefault("prescribed", maker.mask())
        maker.given = [x for x in first if isinstance(x, np.ndarray)]
        _core.set_num_threads(read.pick([0, 1, 3]))
        try:
            found = getattr(robot, method)(*first, **named)
        except (ValueError, TypeError, MemoryError, OwnError) as error:
            expect_short(error)
            return
    for array in arrays(found):
        assert array.dtype != np.float64 or np.isfinite(array).all(), f"{method} gives numbers that are none"


def arrays(found: Any) -> list[np.ndarray]:
    if isinstance(found, np.ndarray):
        return [found]
    if isinstance(found, (tuple, list)):
        return [array for each in found for array in arrays(each)]
    return arrays(list(vars(found).values())) if hasattr(found, "__dict__") else []


class Maker:
    """Arguments of a call, each chosen by one or more bytes; zeros make valid ones."""

    def __init__(self, read: Reader, robot: jn.Model) -> None:
        self.read, self.robot = read, robot
        self.given: list[np.ndarray] = []
        self.batch = read.pick([(), (), (1,), (2,), (3, 2), (0,), (17,), (2, 1)])
        self.rows = read.pick([0, 0, 1, 2, 3, 7, 8, 9, 31, 32, 33])  # 0: not a stack

    def of(self, word: str) -> Any:
        if word == "q":
            return self.odd(np.broadcast_to(self.robot.neutral(), (*self.some_batch(), self.robot.nq)).copy())
        if word in ("v", "v?"):
            if word == "v?" and self.rows:
                return None
            rows = (self.rows,) if self.rows else ()
            return self.odd(np.full((*self.some_batch(), *rows, self.robot.nv), self.read.pick(NUMBERS[:6])))
        make: Callable[[], Any] = getattr(self, {"word": "frame"}.get(word, word).split("_")[-1])
        return make()

    def some_batch(self) -> tuple[int, ...]:
        """The batch of this call, or one that broadcasts to it, or does not."""
        how = self.read.below(6)
        if how == 4:
            return tuple(self.read.pick(SIZES[:5]) for _ in range(self.read.below(4)))
        return {3: (), 5: (1,) * self.read.below(70 if how == 5 else 1)}.get(how, self.batch)

    def frame(self) -> Any:
        return self.read.pick([*FRAMES[:3], *FRAMES])

    def name(self) -> Any:
        names = self.robot.frame_names
        return self.read.pick(
            [names[-1], names[0], 0, len(names), -1, "none", None, 2**70, 1.0, True, b"arm", "\ud800"]
        )

    def frames(self) -> Any:
        if self.read.below(4) == 3:
            return self.read.pick([None, "arm", 0, [], {}, ((),), np.arange(2)])
        return [self.name() for _ in range(self.read.below(4))]

    def tie(self) -> Any:
        names = self.robot.constraint_names
        return self.read.pick([*names, "none", None, 0, "\ud800"])

    def motions(self) -> Any:
        held = [c.name for c in self.robot.constraints if c.contact] or ["none"]
        rows = max(1, self.rows) + 1
        found = {}
        for _ in range(self.read.below(3)):
            twist = np.full((*self.some_batch(), rows, 6), self.read.pick(NUMBERS[:6]))
            found[self.read.pick([*held, *held, self.tie()])] = self.odd(twist)
        return self.read.pick([found, found, found, None, list(found), Changing(found), Mapping(found), 5])

    def correction(self) -> Any:
        return self.read.pick([(100.0, 20.0), (0.0, 1.0), (1e300, 0.0), (-1.0, 0.0), (np.nan, 1.0), (1.0,), 5, "soft"])

    def actuated(self) -> Any:
        nv = self.robot.nv
        return self.read.pick([None, np.ones(nv, bool), np.zeros(nv, bool), list(range(nv)), [0, 0], [nv], [-1], "all"])

    def weight(self) -> Any:
        n = self.read.pick([self.robot.nv, sum(c.rows for c in self.robot.constraints), 3])
        choices = [None, 2.0, np.ones(n), np.eye(n), 0.0, -1.0, np.nan, np.zeros((n, n)), -np.eye(n), 1e300, "heavy"]
        return self.odd(np.ones(n)) if self.read.below(3) == 2 else self.read.pick(choices)

    def restitution(self) -> Any:
        return self.read.pick([0.0, 0.5, 1.0, {self.tie(): 0.5}, {self.tie(): 2.0}, -1.0, np.nan, "high", None])

    def normals(self) -> Any:
        return self.read.pick([None, {self.tie(): self.odd(np.array([0.0, 0.0, 1.0]))}, {self.tie(): 0}, [1.0], "up"])

    def names(self) -> Any:
        joints = list(self.robot.joint_names) or ["none"]
        chosen = [self.read.pick(joints) for _ in range(self.read.below(6))]
        return self.read.pick([None, chosen, chosen, joints, joints[0], [None], 5, [joints]])

    def contacts(self) -> Any:
        kinds: list[Any] = [jn.Spherical(), jn.Fixed(), jn.OnPlane((0, 0, 1)), jn.Rolling(0.1), jn.Distance(0.3)]
        kinds += [jn.Contact(jn.Fixed(), self.odd(np.eye(4))), jn.Revolute, None, "ball"] if self.read.below(2) else []
        found = {self.name(): self.read.pick(kinds) for _ in range(self.read.below(4))}
        return self.read.pick([found, found, found, None, list(found), Mapping(found), 5])

    def positions(self) -> Any:
        joints = list(self.robot.joint_names) or ["none"]
        found = {}
        for _ in range(self.read.below(4)):
            joint = self.read.pick([*joints, "none", None])
            known = isinstance(joint, str) and joint in self.robot.joint_names
            found[joint] = self.odd(self.robot.neutral()[self.robot.position(joint)]) if known else 0.0
        return self.read.pick([found, found, found, None, list(found), Mapping(found), 5])

    def drive(self) -> Any:
        joint = self.read.pick([*self.robot.joint_names, "none", None])
        return self.read.pick([0.5, {joint: 0.5}, {joint: self.odd(np.ones(3))}, *NUMBERS[:6], None, "much", [0.5], {}])

    armature = damping = stiffness = rest = drive

    def gravity(self) -> Any:
        return self.odd(np.array([0.0, 0.0, -9.81]))

    def other(self) -> Any:
        return self.read.pick([self.robot, self.robot, models()[0], None, 5, jn.Model])

    def to(self) -> Any:
        return self.read.pick(["world", self.name()])

    def prefix(self) -> Any:
        return self.read.pick(["its ", "its ", "", None, 5, b"its "])

    def inertia(self) -> Any:
        return self.read.pick([jn.Inertia(1.0), jn.Inertia.box(1.0, (1, 2, 3)), jn.Inertia(0.0), None, 1.0, jn.Inertia])

    def placement(self) -> Any:
        return self.odd(np.eye(4))

    def order(self) -> Any:
        return self.read.pick([0, 1, 5, 30, 31, -1, 2**40, None, 1.5, np.int64(2)])

    def mask(self) -> Any:
        mask = np.zeros(self.robot.nv, bool)
        mask[: self.read.below(self.robot.nv + 1)] = True
        return self.read.pick(
            [mask, mask, mask.tolist(), mask.astype(float), mask[:-1], mask[None], None, "all", [0], [[True]]]
        )

    prescribed = mask

    def wrenches(self) -> Any:
        rows = (max(1, self.rows - 1),) if self.rows else ()
        found: dict[Any, Any] = {}
        for _ in range(self.read.below(4)):
            found[self.name()] = self.odd(np.full((*self.some_batch(), *rows, 6), self.read.pick(NUMBERS[:6])))
        return self.read.pick([found, found, found, None, list(found), Changing(found), Mapping(found), 5])

    def out(self) -> Any:
        shape = tuple(self.read.pick(SIZES) for _ in range(self.read.below(5)))
        last = (self.robot.nv,) if self.read.below(2) else ()
        usual = (*self.batch, *((max(0, self.rows - 1),) if self.rows else ()), *last)
        array = np.zeros(self.read.pick([usual, usual, shape]))
        return self.read.pick([array, array, self.odd(array), *self.given, None])

    def odd(self, array: np.ndarray) -> Any:
        """The array, as a rule; otherwise something like it."""
        how = self.read.below(28)
        if array.ndim == 0 or how < 8:
            return array
        if how == 8:
            array[..., self.read.below(max(1, array.shape[-1])) :] = self.read.pick(NUMBERS)
            return array
        if how == 9:
            return array[..., : -1 - self.read.below(2)]
        if how == 10:
            return np.concatenate([array, array[..., :1]], axis=-1)
        if how == 11:
            return np.full(tuple(self.read.pick(SIZES) for _ in range(self.read.below(4))), 0.5)
        if how == 12:
            return array.astype(self.read.pick(TYPES), casting="unsafe") if array.size else array.astype("O")
        if how == 13:
            return np.asfortranarray(array)
        if how == 14:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        if how == 15:
            return array[::-1][..., ::-1].copy()[..., ::-1]
        if how == 16:
            unaligned = np.zeros(array.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(array.shape)
            unaligned[...] = array
            return unaligned
        if how == 17:
            array.flags.writeable = False
            return array
        if how == 18:
            return array.tolist()
        if how == 19:
            return np.ma.masked_array(array, array > 0)
        if how == 20:
            return np.asmatrix(array) if array.ndim <= 2 else array
        if how == 21:
            return memoryview(np.ascontiguousarray(array)) if array.size else bytearray(8)
        if how == 22:
            return self.read.pick(
                [None, "text", 3, 1j, object(), [[1], [1, 2]], [], {}, np.float64(1), ..., int, 2**2000]
            )
        if how == 23:
            return Changing.of(self, array)
        if how == 24:
            return Interface(array, self.read.below(4))
        if how == 25:
            huge = 1 << self.read.pick([10, 31, 40, 61, 62])
            return np.lib.stride_tricks.as_strided(np.zeros(1), (huge, *array.shape[:-1], 0), (0,) * array.ndim + (8,))
        if how == 26:
            return np.expand_dims(array, tuple(range(self.read.pick([1, 5, 20, 29]))))
        return type("Sub", (np.ndarray,), {"__array_finalize__": lambda self, other: None})(
            array.shape, buffer=array.copy()
        )


class Changing:
    """An array, or a dict of wrenches, that changes others while it is read."""

    def __init__(self, found: dict[Any, Any]) -> None:
        self.found = found

    def keys(self) -> Any:
        for key in list(self.found):
            self.found.pop(key)
            yield key

    def __getitem__(self, key: Any) -> Any:
        if len(self.found) % 2:
            raise OwnError
        return np.zeros(6)

    @staticmethod
    def of(maker: Maker, array: np.ndarray) -> Any:
        how = maker.read.below(4)

        def convert(self: Any, dtype: Any = None, copy: Any = None) -> Any:
            for other in maker.given:
                if how == 1 and other.flags.writeable:
                    other[...] = np.nan
                if how == 2 and other.flags.owndata:
                    try:
                        other.resize((1,), refcheck=False)
                    except ValueError:
                        continue
            if how == 3:
                raise OwnError
            return array

        return type("Array", (), {"__array__": convert})()


class Mapping(dict):  # type: ignore[type-arg]
    """A dict that claims other things."""

    def keys(self) -> Any:
        return ["none"]

    def items(self) -> Any:
        return [(1, 2, 3)]


class Interface:
    """Read by NumPy through its array interface, which may claim anything about its memory except where it is."""

    def __init__(self, array: np.ndarray, how: int) -> None:
        self.kept = np.ascontiguousarray(array)
        told = dict(self.kept.__array_interface__)
        if how == 1:
            told["strides"] = (0,) * self.kept.ndim
        if how == 2:
            told["shape"] = (-1,)
        if how == 3:
            told["typestr"] = "<f9"
        self.__array_interface__ = told
