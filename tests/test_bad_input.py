"""Bad input: a ValueError that names the argument, its value and what was expected; never a crash, never a guess."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import jounce as jn
from calls import ONE_ROW
from time_limits import HANG

Arguments = dict[str, np.ndarray]
MOST = jn.MAX_ORDER + 2  # rows of the longest stack


def small_robot() -> jn.Model:
    """nq = 12, nv = 10: a flying base, an arm, a ball joint and a fixed tip."""
    box = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(), inertia=box)
    builder.add("arm", "base", jn.Revolute((0, 1, 0), damping=0.5), inertia=box)
    builder.add("ball", "arm", jn.Spherical(stiffness=2.0), inertia=box)
    builder.add("tip", "ball", jn.Fixed(), inertia=box)
    return builder.build()


def plain_robot() -> jn.Model:
    """nq = nv = 3, no quaternion."""
    box = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
    builder = jn.Builder()
    builder.add("arm", "world", jn.Revolute((0, 1, 0)), inertia=box)
    builder.add("slide", "arm", jn.Prismatic((1, 0, 0)), inertia=box)
    builder.add("screw", "slide", jn.Helical((0, 0, 1), 0.1), inertia=box)
    return builder.build()


ROBOT = small_robot()
PLAIN = plain_robot()
NQ, NV = ROBOT.nq, ROBOT.nv

# Every public call with its arrays as arguments by name. Stacks have `K` rows.
CALLS: dict[str, Callable[..., np.ndarray]] = {
    "inverse_dynamics": lambda r, q, v: r.inverse_dynamics(q, v),
    "inverse_dynamics_apart": lambda r, q, v, a: r.inverse_dynamics(q, v, a),
    "inverse_dynamics_world": lambda r, q, v: r.inverse_dynamics(q, v, frame="world"),
    "forward_kinematics": lambda r, q, v: r.forward_kinematics(q, v).twist,
    "pose_derivatives": lambda r, q, v: r.pose_derivatives(q, v),
    "integrate": lambda r, q, dv: r.integrate(q, dv),
    "difference": lambda r, q0, q1: r.difference(q0, q1),
    "change_velocity_frame": lambda r, q, v: r.change_velocity_frame(q, v, "body", "world"),
    "change_force_frame": lambda r, q, v, tau: r.change_force_frame(q, v, tau, "mixed", "body"),
}
STACKS = {
    "inverse_dynamics": {"v": (2, MOST)},
    "inverse_dynamics_world": {"v": (2, MOST)},
    "forward_kinematics": {"v": (1, MOST - 1)},
    "pose_derivatives": {"v": (1, MOST - 1)},
    "change_velocity_frame": {"v": (1, MOST)},
    "change_force_frame": {"v": (1, MOST), "tau": (1, MOST - 1)},
}
ONE_ROW_TOO = {"pose_derivatives"}  # take a plain velocity for a stack of one row
PLACES = [(c, a) for c, f in CALLS.items() for a in f.__code__.co_varnames[1 : f.__code__.co_argcount]]
each_place = pytest.mark.parametrize(("call", "argument"), PLACES)
each_call = pytest.mark.parametrize("call", CALLS)


def good(call: str, batch: tuple[int, ...] = (), rows: int = 3, robot: jn.Model = ROBOT) -> Arguments:
    rng = np.random.default_rng(0)
    arguments = {}
    for name in (a for c, a in PLACES if c == call):
        if name.startswith("q"):
            arguments[name] = robot.random_configuration(rng, batch)
        elif name in STACKS.get(call, ()):
            arguments[name] = rng.uniform(-1, 1, (*batch, rows, robot.nv))
        else:
            arguments[name] = rng.uniform(-1, 1, (*batch, robot.nv))
    return arguments


def result_shape(call: str, batch: tuple[int, ...], rows: int, robot: jn.Model) -> tuple[int, ...]:
    bodies = len(robot.body_names)
    return {
        "inverse_dynamics": (*batch, rows - 1, robot.nv),
        "inverse_dynamics_apart": (*batch, robot.nv),
        "inverse_dynamics_world": (*batch, rows - 1, robot.nv),
        "forward_kinematics": (*batch, rows, bodies, 6),
        "pose_derivatives": (*batch, rows + 1, bodies, 4, 4),
        "integrate": (*batch, robot.nq),
        "difference": (*batch, robot.nv),
        "change_velocity_frame": (*batch, rows, robot.nv),
        "change_force_frame": (*batch, rows, robot.nv),
    }[call]


def rejects(message: str, call: Callable[..., object], *args: object, **kwargs: object) -> None:
    """Checks that the call raises a ValueError whose message matches."""
    with pytest.raises(ValueError, match=message):
        call(*args, **kwargs)


def with_bad(call: str, argument: str, value: object, batch: tuple[int, ...] = ()) -> Callable[[], np.ndarray]:
    """The call with one argument replaced."""
    return lambda: CALLS[call](ROBOT, **(good(call, batch) | {argument: value}))


# Invalid arrays


@each_place
def test_not_a_number_for_no_state(call: str, argument: str) -> None:
    """An empty batch is no excuse."""
    arguments = good(call)
    empty = next(a for a in arguments if a != argument)
    arguments[argument] = np.full((2, *arguments[argument].shape), np.nan)
    arguments[empty] = np.zeros((0, 1, *arguments[empty].shape))
    rejects(rf"^{argument}\[.* is nan, expected finite", lambda: CALLS[call](ROBOT, **arguments))


@each_place
@pytest.mark.parametrize("change", [-1, 1, 1000])
def test_wrong_length(call: str, argument: str, change: int) -> None:
    size = good(call)[argument].shape[-1]
    value = np.zeros((3, size + change))
    shape = rf"\(3, {size + change}\)"
    symbol = "nq" if argument.startswith("q") else "nv"
    message = rf"^{argument} has shape {shape}, expected .*{size}\): this model has {symbol} = {size}"
    rejects(message, with_bad(call, argument, value))


@each_place
def test_no_length_at_all(call: str, argument: str) -> None:
    for value in ([], np.zeros((3, 0)), np.zeros((0, 0))):
        rejects(rf"^{argument} has shape .*, expected ", with_bad(call, argument, value))


@each_place
def test_too_few_dimensions(call: str, argument: str) -> None:
    least = r"at least (1 dimension|[2-9] dimensions)$"
    rejects(rf"^{argument} has shape \(\), expected ({least}|a stack)", with_bad(call, argument, 1.0))
    if argument in STACKS.get(call, ()) and call not in ONE_ROW:
        message = rf"^{argument} has shape \({NV},\), expected a stack \(\.\.\., rows, {NV}\) of "
        rejects(message, with_bad(call, argument, np.zeros(NV)))


DTYPES = {
    "complex": np.zeros(3, complex),
    "object": np.array([1.0, None, "a"], object),
    "text": np.array(["1", "2", "3"]),
    "one text": "abc",
    "bytes": b"abc",
    "date": np.array([datetime(2020, 1, 1)], "M8[s]"),
    "time span": np.zeros(3, "m8[s]"),
    "record": np.zeros(3, [("x", float)]),
    "dict": {},
    "object of no kind": object(),
    "number too large": [10**400],
    "generator": (x for x in "ab"),
}


@each_place
@pytest.mark.parametrize("value", DTYPES.values(), ids=DTYPES.keys())
def test_wrong_dtype(call: str, argument: str, value: object) -> None:
    rejects(rf"^{argument} must be an array of real numbers, got dtype ", with_bad(call, argument, value))


LEFT_OUT = {("inverse_dynamics_apart", "a"), ("forward_kinematics", "v"), ("pose_derivatives", "v")}


@pytest.mark.parametrize(("call", "argument"), [p for p in PLACES if p not in LEFT_OUT])
def test_none(call: str, argument: str) -> None:
    rejects(rf"^{argument} must be an array of real numbers, got ", with_bad(call, argument, None))


def test_pose_derivatives_of_none() -> None:
    rejects("^v (must be|has shape) ", ROBOT.pose_derivatives, ROBOT.neutral(), None)


RAGGED = [[1.0], [1.0, 2.0]]


@pytest.mark.parametrize(("call", "argument"), [p for p in PLACES if p != ("pose_derivatives", "v")])
def test_ragged(call: str, argument: str) -> None:
    message = rf"^{argument} must be an array of real numbers, got a list that NumPy cannot read"
    rejects(message, with_bad(call, argument, RAGGED))


def test_pose_derivatives_of_ragged_rows() -> None:
    rejects("^v must be an array of real numbers", ROBOT.pose_derivatives, ROBOT.neutral(), RAGGED)


@each_place
@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_not_finite_names_the_place(call: str, argument: str, value: float, text: str) -> None:
    rng = np.random.default_rng(1)
    for batch in [(), (4, 3)]:
        array = good(call, batch)[argument]
        corners = [tuple(0 for _ in array.shape), tuple(n - 1 for n in array.shape)]
        for index in [*corners, *(tuple(map(int, rng.integers(0, array.shape))) for _ in range(3))]:
            spoilt = array.copy()
            spoilt[index] = value
            place = ", ".join(map(str, index))
            message = rf"^{argument}\[{place}\] is {text}, expected finite numbers"
            rejects(message, with_bad(call, argument, spoilt, batch))
            rejects(message, with_bad(call, argument, spoilt.astype(np.float32), batch))


@pytest.mark.parametrize(("call", "argument"), [p for p in PLACES if p[1].startswith("q")])
def test_quaternions(call: str, argument: str) -> None:
    arguments = good(call, (5,))
    truth = CALLS[call](ROBOT, **arguments)
    for at, scale in [(slice(3, 7), 0.0), (slice(8, 12), 1 + 2e-6), (slice(3, 7), 1 - 2e-6), (slice(8, 12), 1e200)]:
        q = arguments[argument].copy()
        q[2, at] *= scale
        message = rf"^{argument}\[\.\.\., {at.start}:{at.stop}\] is a quaternion of length .* in state 2, expected 1"
        rejects(message, CALLS[call], ROBOT, **(arguments | {argument: q}))
    for scale in (1 - 9e-7, 1 + 9e-7):
        q = arguments[argument].copy()
        q[:, 3:7] *= scale
        q[:, 8:12] *= scale
        near = CALLS[call](ROBOT, **(arguments | {argument: q}))
        np.testing.assert_allclose(near, truth, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("call", "argument"), [(c, a) for c, of in STACKS.items() for a in of])
def test_number_of_rows(call: str, argument: str) -> None:
    least, most = STACKS[call][argument]
    arguments = good(call, rows=jn.MAX_ORDER + 1)
    assert np.isfinite(CALLS[call](ROBOT, **(arguments | {argument: np.zeros((most, NV))}))).all()
    for rows in (0, least - 1):
        few = arguments | {argument: np.zeros((rows, NV))}
        rejects(rf"^{argument} has shape \({rows}, {NV}\), expected a stack ", CALLS[call], ROBOT, **few)
    for rows in (most + 1, 1000):
        many = arguments | {argument: np.zeros((rows, NV))}
        message = rf"^{argument} has {rows} rows, expected at most {most}: the highest order is {jn.MAX_ORDER}"
        rejects(message, CALLS[call], ROBOT, **many)


def test_forces_need_enough_rows_of_velocity() -> None:
    q, v, tau = good("change_force_frame", rows=5).values()
    ROBOT.change_force_frame(q, v[:4], tau, "body", "world")
    rejects(
        r"^v has shape \(3, 10\), expected a stack .* one row fewer",
        ROBOT.change_force_frame,
        q,
        v[:3],
        tau,
        "body",
        "world",
    )


@each_call
def test_batches_that_do_not_broadcast(call: str) -> None:
    arguments = good(call, (4, 3))
    for name in arguments:
        for batch in [(2,), (5, 1), (4, 2), (0, 3)]:
            other = arguments | {name: good(call, batch)[name]}
            text = "the batch dimensions do not broadcast: .*" + re.escape(f"{name} {other[name].shape}")
            rejects(text, CALLS[call], ROBOT, **other)


# Arrays equivalent to plain ones

LAYOUTS: dict[str, Callable[[np.ndarray], object]] = {
    "list": lambda x: x.tolist(),
    "tuple of arrays": tuple,
    "Fortran order": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
    "transposed": lambda x: x.T.copy().T,
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: _locked(x.copy()),
    "misaligned": lambda x: _misaligned(x),
    "subclass": lambda x: x.view(type("Other", (np.ndarray,), {})),
    "long double": lambda x: x.astype(np.longdouble),
    "broadcast": lambda x: np.broadcast_to(x, (2, *x.shape))[1],
    "has __array__": lambda x: type("Like", (), {"__array__": lambda self, dtype=None, copy=None: x})(),
    "memoryview": lambda x: memoryview(x),
}


def _locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _misaligned(array: np.ndarray) -> np.ndarray:
    moved = np.frombuffer(b"x" + array.tobytes(), np.float64, offset=1).reshape(array.shape)
    assert not moved.flags.aligned
    return moved


@each_call
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:.* holds long doubles")
def test_layouts(call: str, layout: str) -> None:
    for batch in [(), (3, 2)]:
        arguments = good(call, batch)
        truth = CALLS[call](ROBOT, **arguments)
        for name, array in arguments.items():
            before = array.copy()
            same = CALLS[call](ROBOT, **(arguments | {name: LAYOUTS[layout](array)}))
            np.testing.assert_array_equal(same, truth)
            np.testing.assert_array_equal(array, before)


@each_call
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, np.int64, bool])
def test_dtypes(call: str, dtype: type) -> None:
    """Numbers that each type represents exactly: 0 and 1."""
    rng = np.random.default_rng(3)
    arguments = {k: rng.integers(0, 2, x.shape).astype(float) for k, x in good(call, (3,)).items()}
    for name in arguments:
        if name.startswith("q"):
            arguments[name][..., 3:7] = arguments[name][..., 8:12] = 0.0, 0.0, 0.0, 1.0
    truth = CALLS[call](ROBOT, **arguments)
    same = CALLS[call](ROBOT, **{k: x.astype(dtype) for k, x in arguments.items()})
    assert same.dtype == np.float64
    np.testing.assert_array_equal(same, truth)


@each_call
@pytest.mark.parametrize("robot", [ROBOT, PLAIN], ids=["small", "plain"])
@pytest.mark.parametrize("batch", [(0,), (3, 0), (0, 3), (1,), (2, 3)])
def test_batch_shapes(call: str, robot: jn.Model, batch: tuple[int, ...]) -> None:
    """Empty ones too; and an argument without a batch broadcasts to any."""
    full, single = good(call, batch, robot=robot), good(call, robot=robot)
    shape = result_shape(call, batch, 3, robot)
    assert CALLS[call](robot, **full).shape == shape
    for name in full:
        for lead in [(), (1,), (1, 1)]:
            mixed = {k: single[k].reshape(lead + single[k].shape) for k in full} | {name: full[name]}
            result = CALLS[call](robot, **mixed)
            assert result.shape == np.broadcast_shapes(lead, batch) + shape[len(batch) :]
            assert np.isfinite(result).all()


@each_call
def test_batch_dimensions_of_all_kinds_together(call: str) -> None:
    """(3, 1) with (4,) is (3, 4): the only case that needs a copy."""
    full = good(call, (3, 4))
    for name in full:
        mixed = {k: x if k == name else x[:, :1] for k, x in full.items()}
        mixed[name] = full[name][0]
        result = CALLS[call](ROBOT, **mixed)
        for i, j in np.ndindex(3, 4):
            alone = {k: x[j] if k == name else x[i, 0] for k, x in mixed.items()}
            np.testing.assert_allclose(result[i, j], CALLS[call](ROBOT, **alone), rtol=1e-11, atol=1e-12)


@each_place
@pytest.mark.parametrize("value", [1e300, -1e300, 5e-324, 1e16])
def test_numbers_of_any_size_do_no_harm(call: str, argument: str, value: float) -> None:
    """Overflow is reported as an error; all other results are finite and have the right shape."""
    for robot, batch in [(PLAIN, ()), (PLAIN, (9,)), (ROBOT, (9,))]:
        arguments = good(call, batch, robot=robot)
        arguments[argument][..., :1] = value  # before any quaternion
        try:
            result = CALLS[call](robot, **arguments)
        except jn.RangeError:
            assert abs(value) == 1e300
        else:
            assert result.shape == result_shape(call, batch, 3, robot)
            assert np.isfinite(result).all()


def test_too_many_dimensions() -> None:
    most = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    q = np.zeros((1,) * (most - 1) + (3,))
    rejects("dimension", PLAIN.forward_kinematics, q, np.zeros((1, 3)))
    assert PLAIN.integrate(q, [1.0, 2.0, 3.0]).ravel().tolist() == [1, 2, 3]


def test_batches_beyond_memory() -> None:
    """Zero bytes of data, or one number repeated many times, whose result exceeds any memory."""
    with pytest.raises((MemoryError, ValueError)):
        PLAIN.inverse_dynamics(np.broadcast_to(0.0, (10**14, 3)), np.zeros(3), np.zeros(3))
    none = jn.Builder().build()
    text = r"^the arguments broadcast to shape \(1099511627776, 1099511627776.*\), which is too large$"
    with pytest.raises(ValueError, match=text):
        none.inverse_dynamics(np.zeros((2**40, 1, 0)), np.zeros((2**40, 2, 0)))


# Names


def test_one_row_where_two_are_needed() -> None:
    q, v = good("inverse_dynamics").values()
    stack = rf"^v has shape .*, expected a stack \(\.\.\., rows, {NV}\) of "
    for one in (v[0], v[:1]):
        rejects(stack + r"at least 2 rows: v, dv/dt, \.\.\. \(or v and a apart\)$", ROBOT.inverse_dynamics, q, one)
    rejects(stack + r"v, dv/dt, \.\.\.$", ROBOT.forward_kinematics, q, v[0])


@pytest.mark.parametrize(
    "name",
    [
        "Body",
        "",
        "body ",
        "wrld",
        5,
        b"body",
        ["body"],
        "\ud800",
        pytest.param("body\0x"),
        None,
    ],
)
def test_frame_names(name: object) -> None:
    q, v = good("inverse_dynamics").values()
    expected = " is .*, expected 'body', 'world' or 'mixed'"
    rejects("^frame" + expected, ROBOT.inverse_dynamics, q, v, frame=name)
    rejects("^wrench_frame" + expected, ROBOT.inverse_dynamics, q, v, wrench_frame=name)
    rejects("^frame" + expected, ROBOT.forward_kinematics, q, v, frame=name)
    rejects("^frame" + expected, ROBOT.pose_derivatives, q, v, frame=name)
    rejects("^source" + expected, ROBOT.change_velocity_frame, q, v, name, "body")
    rejects("^target" + expected, ROBOT.change_velocity_frame, q, v, "body", name)
    rejects("^source" + expected, ROBOT.change_force_frame, q, v, v, name, "body")
    rejects("^target" + expected, ROBOT.change_force_frame, q, v, v, "body", name)


@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        ([1.0], "^wrenches must be a dict of name: array, got a list"),
        (np.zeros(6), "^wrenches must be a dict of name: array, got a numpy.ndarray"),
        ({"bal": np.zeros((2, 6))}, "^no body or frame is named 'bal': did you mean 'ball'"),
        ({"world": np.zeros((2, 6))}, "^no body or frame is named 'world': "),
        ({"zzz": np.zeros((2, 6))}, "^no body or frame is named 'zzz': there are 'base', 'arm', 'ball', 'tip'"),
        ({5: np.zeros((2, 6))}, "^frame 5 does not exist: there are 4"),
        ({None: np.zeros((2, 6))}, "^no body or frame is named None: "),
        ({"tip": np.zeros((2, 5))}, r"^wrenches\['tip'\] has shape \(2, 5\), expected \(\.\.\., 2, 6\)"),
        ({"tip": np.zeros((3, 6))}, r"^wrenches\['tip'\] has shape \(3, 6\), expected \(\.\.\., 2, 6\)"),
        (
            {"tip": np.zeros((5, 2, 6)), "arm": np.zeros((4, 2, 6))},
            "^the batch dimensions do not broadcast: .*wrenches",
        ),
        ({"tip": np.zeros(6)}, r"^wrenches.* has shape \(6,\), expected "),
        ({"tip": "abc"}, "^wrenches.* must be an array of real numbers, got dtype"),
        ({"tip": [[1], [1, 2]]}, "^wrenches.* must be an array of real numbers, got a list"),
        ({"tip": np.full((2, 6), np.nan)}, r"^wrenches.*\[0, 0\] is nan, expected finite numbers"),
    ],
)
def test_wrenches(wrenches: object, message: str) -> None:
    rejects(message, ROBOT.inverse_dynamics, *good("inverse_dynamics").values(), wrenches=wrenches)


@pytest.mark.parametrize("value", [np.zeros(6), np.zeros((2, 6), complex), np.full((2, 6), np.nan), [[1], [1, 2]]])
def test_wrenches_say_on_which_body(value: object) -> None:
    rejects(r"^wrenches\['tip'\]", ROBOT.inverse_dynamics, *good("inverse_dynamics").values(), wrenches={"tip": value})


def test_wrenches_apart_from_a_stack() -> None:
    q, v, a = good("inverse_dynamics_apart").values()
    rejects(r"^wrenches\['tip'\] .*, expected \(\.\.\., 6\)", ROBOT.inverse_dynamics, q, v, a, wrenches={"tip": [1.0]})
    assert ROBOT.inverse_dynamics(q, v, a, wrenches={}).shape == (NV,)
    assert ROBOT.inverse_dynamics(q, v, a, wrenches={"tip": np.ones((0, 6))}).shape == (0, NV)
    many = np.arange(72.0).reshape(3, 4, 6)
    whole = ROBOT.inverse_dynamics(q, v, a, wrenches={"tip": many, "arm": many[0]})
    one = ROBOT.inverse_dynamics(q, v, a, wrenches={"tip": many[2, 1], "arm": many[0, 1]})
    np.testing.assert_allclose(whole[2, 1], one, rtol=1e-12)


@pytest.mark.parametrize("ask", [ROBOT.frame_index, ROBOT.coordinate, ROBOT.position])
def test_unknown_names_have_near_matches(ask: Callable[[object], object]) -> None:
    rejects("^no (joint|body or frame) is named 'bse': did you mean 'base'", ask, "bse")
    rejects("^no (joint|body or frame) is named 'zzz': there are 'base', 'arm', 'ball'", ask, "zzz")
    for name in (None, True, [], b"base", ""):
        rejects("^no (joint|body or frame) is named " + re.escape(repr(name)), ask, name)
    rejects("^(no joint is named 5|frame 5 does not exist)", ask, 5)


# out


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ([0.0], "^out must be a NumPy array, got a list"),
        (np.zeros((3, NV)), r"^out has shape \(3, 10\), expected \(2, 10\)"),
        (np.zeros(NV), r"^out has shape \(10,\), expected \(2, 10\)"),
        (np.zeros((1, 2, NV)), r"^out has shape \(1, 2, 10\), expected \(2, 10\)"),
        (np.zeros((2, NV), np.float32), "^out must be .* array of float64"),
        (np.zeros((2, NV), int), "^out must be .* array of float64"),
        (np.zeros((2, NV), ">f8"), "^out must be .* array of float64"),
        (_locked(np.zeros((2, NV))), "^out must be a writable "),
        (np.zeros((2, 2 * NV))[:, ::2], "^out must be .*C-contiguous"),
        (np.zeros((NV, 2)).T, "^out must be .*C-contiguous"),
        (np.zeros((2, NV))[::-1], "^out must be .*C-contiguous"),
        (np.frombuffer(bytearray(16 * NV + 1), np.float64, offset=1).reshape(2, NV), "^out must be "),
    ],
)
def test_out(out: object, message: str) -> None:
    rejects(message, ROBOT.inverse_dynamics, *good("inverse_dynamics").values(), out=out)


@pytest.mark.parametrize("batch", [(), (5,), (0,)])
def test_out_is_returned_and_filled(batch: tuple[int, ...]) -> None:
    q, v = good("inverse_dynamics", batch).values()
    out = np.full((*batch, 2, NV), np.nan)
    assert ROBOT.inverse_dynamics(q, v, out=out) is out
    np.testing.assert_array_equal(out, ROBOT.inverse_dynamics(q, v))


def test_out_must_not_share_memory_with_an_input() -> None:
    q, v = good("inverse_dynamics", rows=4).values()
    before = v.copy()
    rejects("^out shares memory with v", ROBOT.inverse_dynamics, q, v, out=v[1:])
    rejects("^out shares memory with v", ROBOT.inverse_dynamics, q, v, out=v[:3])
    room = np.zeros(NQ + 3 * NV)
    room[:NQ] = q
    out = room[NQ - 1 : -1].reshape(3, NV)
    rejects("^out shares memory with q", ROBOT.inverse_dynamics, room[:NQ], v, out=out)
    on_tip = {"tip": room[-18:].reshape(3, 6)}
    rejects("^out shares memory with wrenches", ROBOT.inverse_dynamics, q, v, wrenches=on_tip, out=out)
    np.testing.assert_array_equal(v, before)
    beside = ROBOT.inverse_dynamics(room[:NQ], v, out=room[NQ:].reshape(3, NV))
    np.testing.assert_array_equal(beside, ROBOT.inverse_dynamics(q, v))


# Robots that cannot move


def frozen_robot() -> jn.Model:
    builder = jn.Builder()
    builder.add("table", "world", jn.Fixed(), inertia=jn.Inertia(5.0))
    builder.add("vase", "table", jn.Fixed())
    return builder.build()


@each_call
@pytest.mark.parametrize("robot", [jn.Builder().build(), frozen_robot()], ids=["empty", "fixed"])
@pytest.mark.parametrize("batch", [(), (4,), (0,), (2, 3)])
def test_no_degree_of_freedom(call: str, robot: jn.Model, batch: tuple[int, ...]) -> None:
    assert (robot.nq, robot.nv) == (0, 0)
    arguments = good(call, batch, robot=robot)
    assert CALLS[call](robot, **arguments).shape == result_shape(call, batch, 3, robot)
    assert robot.forward_kinematics(np.zeros((*batch, 0))).pose.shape == (*batch, 0, 4, 4)
    for name in arguments:
        wrong = arguments | {name: np.zeros((3, 1))}
        rejects(rf"^{name} has shape \(3, 1\), expected .*0\): this model has n[qv] = 0", CALLS[call], robot, **wrong)


def test_wrench_where_nothing_moves() -> None:
    table = frozen_robot()
    wrenches = {"vase": np.ones((2, 6))}
    for frame in ("body", "world", "mixed"):
        result = table.inverse_dynamics([], np.zeros((3, 0)), wrenches=wrenches, wrench_frame=frame, frame=frame)
        assert result.shape == (2, 0)
    assert (table.neutral().shape, table.random_configuration(np.random.default_rng(0), 4).shape) == ((0,), (4, 0))


# Building


def body(name: object = "b", parent: object = "world", joint: object = None, **kwargs: object) -> None:
    builder = jn.Builder()
    builder.add("first", "world", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add("second", "first", jn.Revolute(), inertia=jn.Inertia(1.0, rotational=(1, 1, 1)))
    kwargs.setdefault("inertia", jn.Inertia(1.0, rotational=(1, 1, 1)))
    builder.add(name, parent, jn.Revolute() if joint is None else joint, **kwargs)
    builder.build()


def scaled(factor: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] *= factor
    return pose


def turned(row: int, column: int, value: float) -> np.ndarray:
    pose = np.eye(4)
    pose[row, column] = value
    return pose


INERTIAS = [
    ({"mass": -1.0}, "^mass is -1.0, expected a non-negative number"),
    ({"mass": np.nan}, "^mass is nan, expected finite"),
    ({"mass": np.inf}, "^mass is inf, expected finite"),
    ({"mass": None}, r"^mass must be real numbers of shape \(\), got None"),
    ({"mass": "1"}, r"^mass must be real numbers of shape \(\), got '1'"),
    ({"mass": 1j}, "^mass must be real numbers"),
    ({"mass": [1.0]}, r"^mass has shape \(1,\), expected \(\)"),
    ({"mass": 1, "com": (0, 0)}, r"^com has shape \(2,\), expected \(3,\)"),
    ({"mass": 1, "com": 0}, r"^com has shape \(\), expected \(3,\)"),
    ({"mass": 1, "com": (0, np.nan, 0)}, r"^com is \[0.0, nan, 0.0\], expected finite"),
    ({"mass": 1, "com": (0, [1], 0)}, "^com must be real numbers"),
    ({"mass": 1, "rotational": (1, 2)}, r"^rotational has shape \(2,\), expected "),
    ({"mass": 1, "rotational": np.ones((4, 4))}, r"^rotational has shape \(4, 4\), expected "),
    ({"mass": 1, "rotational": (1, np.nan, 1)}, "^rotational is .*nan.*, expected finite"),
    ({"mass": 1, "rotational": "abc"}, "^rotational must be real numbers"),
    ({"mass": 1, "rotational": ("a", "b", "c")}, "^rotational must be real numbers"),
    ({"mass": 1, "rotational": (None, None, None)}, "^rotational must be real numbers"),
    ({"mass": 1, "rotational": (1j, 1, 1)}, "^rotational must be real numbers"),
    ({"mass": 1, "rotational": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "^rotational is not symmetric"),
    ({"mass": 1, "rotational": (-1, 1, 1)}, "^rotational has a negative principal moment"),
    ({"mass": 1, "rotational": [[1, 5, 0], [5, 1, 0], [0, 0, 1]]}, "^rotational has a negative principal moment"),
    ({"mass": 1, "rotational": (1, 1, 2.1)}, "^rotational has principal moments .*exceeds the sum of the others"),
    ({"mass": 0, "rotational": (1, 1, 1)}, "^rotational is not zero although mass is"),
    pytest.param({"mass": 1, "rotational": [[1], [1, 2]]}, "^rotational"),
]

JOINTS = [
    (jn.Revolute, {"axis": (0, 0, 0)}, r"^axis is \[0.0, 0.0, 0.0\], expected a non-zero direction"),
    (jn.Prismatic, {"axis": (1, 0)}, r"^axis has shape \(2,\), expected \(3,\)"),
    (jn.Cylindrical, {"axis": (np.nan, 0, 1)}, "^axis is .*nan.*, expected finite"),
    (jn.Revolute, {"axis": "xyz"}, "^axis must be real numbers of shape"),
    (jn.Revolute, {"axis": None}, "^axis must be real numbers of shape"),
    (jn.Helical, {"pitch": np.inf}, "^pitch is inf, expected finite"),
    (jn.Helical, {"pitch": (1, 2)}, r"^pitch has shape \(2,\), expected \(\)"),
    (jn.Helical, {"pitch": "a"}, "^pitch must be real numbers"),
    (jn.Planar, {"x": (1, 0, 0), "y": (1, 1, 0)}, "^x and y are .*, expected orthogonal directions"),
    (jn.Planar, {"y": (0, 0, 0)}, "^y is .*, expected a non-zero direction"),
    (
        jn.Universal,
        {"first": (1, 0, 0), "second": (-2, 0, 0)},
        "^first and second are .*, expected axes that are not par",
    ),
    (jn.Universal, {"second": (0, 0)}, r"^second has shape \(2,\), expected \(3,\)"),
    (jn.Revolute, {"damping": -1}, r"^damping is \[-1.0\], expected non-negative numbers"),
    (jn.Universal, {"armature": (1, -1)}, r"^armature is \[1.0, -1.0\], expected non-negative numbers"),
    (jn.Universal, {"damping": (1, 2, 3)}, r"^damping has shape \(3,\), expected \(\) or \(2,\)"),
    (jn.Free, {"stiffness": np.nan}, "^stiffness is .*nan.*, expected finite"),
    (jn.Free, {"armature": "a"}, "^armature must be real numbers"),
    (jn.Free, {"armature": None}, "^armature must be real numbers"),
    (
        jn.Spherical,
        {"stiffness": (1, 1, 2)},
        r"^stiffness is \[1.0, 1.0, 2.0\], expected the same number for the three",
    ),
    (jn.Free, {"stiffness": (1, 1, 1, 2, 2, 3)}, "^stiffness is .*, expected the same number for the three axes"),
    pytest.param(jn.Revolute, {"damping": [[1], [1, 2]]}, "^damping"),
    pytest.param(jn.Revolute, {"name": 5}, "^name is 5, expected a non-empty string"),
    pytest.param(jn.Revolute, {"name": ["a"]}, "^name is"),
    pytest.param(jn.Revolute, {"name": ""}, "^name is ''"),
]

BODIES = [
    ({"name": "world"}, "^name is 'world', which is taken"),
    ({"name": ""}, "^name is '', expected a non-empty string"),
    ({"name": 5}, "^name is 5, expected a non-empty string"),
    ({"name": None}, "^name is None, expected a non-empty string"),
    ({"name": b"b"}, "^name is b'b', expected a non-empty string"),
    ({"name": ["b"]}, r"^name is \['b'\], expected a non-empty string"),
    ({"name": "second"}, "^name is 'second', which was added before, on 'first'"),
    ({"name": "first"}, "^name is 'first', which was added before, on 'world'"),
    ({"parent": "b"}, "^parent of 'b' is itself"),
    ({"parent": "secnd"}, "^parent of 'b' is 'secnd', which was not added before: did you mean 'second'"),
    ({"parent": "wrld"}, "^parent of 'b' is 'wrld', .*did you mean 'world'"),
    ({"parent": None}, "^parent of 'b' is None"),
    ({"parent": 0}, "^parent of 'b' is 0"),
    pytest.param({"parent": ["first"]}, "^parent of 'b' is"),
    ({"joint": "revolute"}, "^joint of 'b' is 'revolute', expected one such as"),
    ({"joint": jn.Revolute}, "^joint of 'b' is .*, expected one such as"),
    ({"inertia": 1.0}, "^inertia of 'b' is 1.0, expected a jounce.Inertia"),
    ({"placement": np.eye(3)}, r"^placement of 'b' has shape \(3, 3\), expected \(4, 4\)"),
    ({"placement": (0, 0, 1)}, r"^placement of 'b' has shape \(3,\), expected \(4, 4\)"),
    ({"placement": "abc"}, "^placement of 'b' must be real numbers"),
    ({"placement": np.full((4, 4), np.nan)}, "^placement of 'b' is .*nan.*, expected finite"),
    ({"placement": scaled(1.001)}, "^placement of 'b' has an upper left block that is not a rotation"),
    ({"placement": scaled(-1.0)}, "^placement of 'b' has an upper left block that is not a rotation"),
    ({"placement": np.diag([1.0, 1, -1, 1])}, "^placement of 'b' has an upper left block that is not a rotation"),
    ({"placement": turned(0, 1, 0.1)}, "^placement of 'b' has an upper left block that is not a rotation"),
    ({"placement": turned(3, 0, 0.1)}, r"^placement of 'b' has last row \[0.1, 0.0, 0.0, 1.0\], expected"),
    ({"placement": turned(3, 3, 2.0)}, r"^placement of 'b' has last row .*, expected \[0, 0, 0, 1\]"),
    ({"joint": jn.Revolute(name="first")}, "^two joints are named 'first'"),
    ({"inertia": None}, "^body 'b' moves but has no inertia"),
    ({"inertia": None, "joint": jn.Universal(armature=(1, 0))}, "^body 'b' moves but has no inertia"),
]


@pytest.mark.parametrize(("arguments", "message"), INERTIAS)
def test_inertia(arguments: dict[str, object], message: str) -> None:
    rejects(message, jn.Inertia, **arguments)


@pytest.mark.parametrize(("joint", "arguments", "message"), JOINTS)
def test_joint(joint: type, arguments: dict[str, object], message: str) -> None:
    rejects(message, joint, **arguments)


@pytest.mark.parametrize(("arguments", "message"), BODIES)
def test_body(arguments: dict[str, object], message: str) -> None:
    rejects(message, body, **arguments)


@pytest.mark.parametrize(
    ("gravity", "message"),
    [
        (9.81, r"^gravity has shape \(\), expected \(3,\)"),
        ((0, 0, np.inf), "^gravity is .*inf.*, expected finite"),
        ("down", "^gravity must be real numbers"),
        (None, "^gravity must be real numbers"),
    ],
)
def test_gravity(gravity: object, message: str) -> None:
    rejects(message, jn.Builder, gravity)


@pytest.mark.parametrize(
    "good_one",
    [
        lambda: jn.Inertia(0.0),
        lambda: jn.Inertia(1, rotational=(1, 1, 2)),
        lambda: jn.Inertia(np.float32(1), com=[0, 0, 1], rotational=np.eye(3)),
        lambda: body(inertia=None, joint=jn.Revolute(armature=0.1)),
        lambda: body(inertia=None, joint=jn.Universal(armature=(1, 2))),
        lambda: body(inertia=None, joint=jn.Fixed()),
        lambda: body(placement=scaled(1 + 1e-9).tolist()),
        lambda: jn.Free(stiffness=(1, 1, 1, 2, 2, 2)),
        lambda: jn.Free(stiffness=-1),
        lambda: body(joint=jn.Fixed(name="first")),
    ],
)
def test_as_far_as_it_may_go(good_one: Callable[[], object]) -> None:
    good_one()


def test_refused_body_leaves_no_trace() -> None:
    builder = jn.Builder()
    rejects("^placement of 'a'", builder.add, "a", "world", jn.Revolute(), np.eye(3), jn.Inertia(1.0))
    builder.add("a", "world", jn.Revolute(), np.eye(4), jn.Inertia(1.0))
    assert builder.build().body_names == ("a",)


def test_axis_of_any_length() -> None:
    assert jn.Revolute((1e300, 0, 0)).axis.tolist() == [1.0, 0.0, 0.0]


def test_negative_number_of_threads() -> None:
    before = jn.num_threads()
    rejects("^n is -1, expected", jn.set_num_threads, -1)
    assert jn.num_threads() == before


# Arbitrary input

KINDS = [np.float64, ">f8", np.float32, np.int32, bool, np.uint8]
ODD_KINDS = [np.complex128, object, "U3"]


@st.composite
def arrays(draw: st.DrawFn, core: tuple[int, ...]) -> np.ndarray:
    """Often of a shape that ends in `core`, of any type and with any strides."""
    lead = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    shape = (
        lead + core
        if draw(st.integers(0, 4))
        else draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=13))
    )
    dtype = np.dtype(draw(st.sampled_from(KINDS if draw(st.integers(0, 6)) else ODD_KINDS)))
    seed = draw(st.integers(0, 2**32 - 1))
    step = draw(st.sampled_from([1, 2, -1, -3]))
    spare = (
        np.random.default_rng(seed).integers(0, 4, (*shape[:-1], shape[-1] * abs(step)) if shape else ()).astype(dtype)
    )
    array = spare[..., ::step] if shape else spare
    if draw(st.booleans()):
        array = np.asfortranarray(array)
    if array.size and array.dtype.kind == "f" and not draw(st.integers(0, 5)):
        array = array.copy()
        array.flat[draw(st.integers(0, array.size - 1))] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    return array


def fits(array: np.ndarray, core: tuple[int, ...]) -> bool:
    """Whether it is real, finite and ends in `core`; rows may vary."""
    if array.dtype.kind not in "buif" or array.shape[array.ndim - 1 :] != core[-1:] or array.ndim < len(core):
        return False
    return bool(np.isfinite(array.astype(float)).all())


@pytest.mark.filterwarnings("ignore::jounce.BatchWarning")  # a word on what may not be meant
@each_call
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_comes(call: str, data: st.DataObject) -> None:
    """A call answers when it should, with finite numbers of the right shape, and otherwise raises a ValueError."""
    rows = data.draw(st.sampled_from([1, 2, 3, 5, MOST - 1, MOST, MOST + 1]))
    stacks = STACKS.get(call, {})
    cores = {k: (rows, 3) if k in stacks else (3,) for k in good(call)}
    arguments = {k: data.draw(arrays(core)) for k, core in cores.items()}
    meant = dict(arguments)
    if call in ONE_ROW_TOO and arguments["v"].ndim == 1:
        meant["v"] = arguments["v"][None]
    valid = all(fits(x, cores[k]) for k, x in meant.items())
    valid = valid and all(least <= meant[k].shape[-2] <= most for k, (least, most) in stacks.items())
    if valid and call == "change_force_frame":
        valid = meant["v"].shape[-2] >= meant["tau"].shape[-2] - 1
    try:
        batch = np.broadcast_shapes(*(x.shape[: max(0, x.ndim - len(cores[k]))] for k, x in meant.items()))
    except ValueError:
        valid = False
    if not valid:
        rejects(
            "^(q|q0|q1|v|a|dv|tau|the batch dimensions) ?.*, expected |got dtype|do not broadcast",
            CALLS[call],
            PLAIN,
            **arguments,
        )
    else:
        result = CALLS[call](PLAIN, **arguments)
        rows = meant[list(stacks)[-1]].shape[-2] if stacks else 0
        assert result.dtype == np.float64
        assert result.shape == result_shape(call, batch, rows, PLAIN)
        assert np.isfinite(result).all()


# Code that must not crash the interpreter, run in a separate one


START = """
import numpy as np, jounce as jn
robot = jn.robots.aerial_manipulator()
q, v = robot.neutral(), np.zeros((2, 12))
"""


def survives(code: str) -> None:
    """Runs code that must end normally or in a Python exception."""
    environment = os.environ | {"PYTHONMALLOC": "debug"}  # overwrites freed memory
    done = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, timeout=HANG, env=environment
    )
    assert done.returncode in (0, 1), done.stderr[-500:]


CHANGES = """
class Changes:  # as a log that grows does
    count = 0
    def __array__(self, dtype=None, copy=None):
        self.count += 1
        return np.zeros((2 if self.count <= {good} else 5000, 12))
"""
CRASHES = {
    "growing stack": CHANGES.format(good=2) + "robot.inverse_dynamics(q, Changes())",
    "growing stack in other axes": CHANGES.format(good=2)
    + "robot.change_velocity_frame(q, Changes(), 'body', 'world')",
    "wrenches that change": """
class Clears:
    def __array__(self, dtype=None, copy=None):
        wrenches.clear()
        return np.ones((1, 6))
wrenches = {f"B{i}": Clears() for i in range(1, 8)}
robot.inverse_dynamics(q, v, wrenches=wrenches)
""",
    "frame_index of a subclass": """
class Other(jn.Model):
    def frame_index(self, name):
        return 10**7
Other(robot.bodies, robot.gravity).inverse_dynamics(q, v, wrenches={"B1": np.ones((1, 6))})
""",
    "argument that another one reshapes": """
class Reshapes:
    def __array__(self, dtype=None, copy=None):
        q.shape = (13, 1)
        return np.ones((1, 6))
torque = robot.inverse_dynamics(q, v, wrenches={"B1": Reshapes()})
if not np.isfinite(torque).all():
    raise SystemExit(3)  # read beyond the end of q
""",
    "not a model": "jn.Model.inverse_dynamics(5, q, v)",
    "out of memory in a thread": """
import resource
big = jn.robots.aerial_manipulator(5, 400)
q, v = np.stack([big.neutral()] * 64), np.zeros((64, 31, big.nv))
out = np.empty((64, 30, big.nv))
jn.set_num_threads(1)
big.inverse_dynamics(q[:2], v[:2])
jn.set_num_threads(8)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 80 * 2**20,) * 2)
big.inverse_dynamics(q, v, out=out)
""",
}
HARMLESS = {
    "self is None": "jn.Model.integrate(None, q, v[0])",
    "initialised twice": "robot.__init__((), robot.gravity)",
    "empty core": "jn.Model.__new__(jn.Model).nq",
    "core of nothing": "from jounce import _core; _core.CoreModel({})",
    "frames that are not there": "robot._forward_kinematics(q, v, 1, 2**31 - 1, 1, 'body', 'body')",
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("code", CRASHES.values(), ids=CRASHES.keys())
def test_no_crash(code: str) -> None:
    survives(code)


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS.keys())
def test_no_crash_either(code: str) -> None:
    survives(code)


@pytest.mark.filterwarnings("ignore")  # nanobind also warns
def test_model_without_init() -> None:
    with pytest.raises(TypeError):
        jn.Model.__new__(jn.Model).integrate([], [])


def test_interrupt_while_reading_an_array() -> None:
    class Slow:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PLAIN.integrate(Slow(), [0.0, 0.0, 0.0])
