"""Calls for matrices, forces, momenta and energies: batches, threads, `out=`, and bad input."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import jounce as jn
from calls import ONE_ROW

FRAMES = ("body", "world", "mixed")


def robot_with_everything() -> jn.Model:
    """nq = 15, nv = 13: a flying base, an arm, a ball, a frame on it, a massless slide that carries a plate."""
    box = jn.Inertia(1.5, (0.1, 0.2, -0.1), (0.1, 0.2, 0.25))
    builder = jn.Builder()
    builder.add("base", "world", jn.Free(armature=0.1), inertia=box)
    builder.add("arm", "base", jn.Revolute((0, 1, 0), damping=0.5, armature=0.2), inertia=box)
    builder.add("slide", "base", jn.Prismatic((1, 0, 0), stiffness=3.0))
    builder.add("ball", "arm", jn.Spherical(stiffness=2.0), inertia=box)
    builder.add("tip", "ball", jn.Fixed(), inertia=box)
    builder.add("plate", "slide", jn.Universal(), inertia=box)
    return builder.build()


ROBOT = robot_with_everything()
NQ, NV = ROBOT.nq, ROBOT.nv

# name -> arguments besides q ("v": a row, "stack": K rows), and the shape of the result for K rows
CALLS: dict[str, tuple[tuple[str, ...], Callable[[int, int], tuple[int, ...]]]] = {
    "mass_matrix": ((), lambda K, n: (n, n)),
    "inverse_mass_matrix": ((), lambda K, n: (n, n)),
    "gravity_force": ((), lambda K, n: (n,)),
    "center_of_mass": ((), lambda K, n: (3,)),
    "centroidal_momentum_matrix": ((), lambda K, n: (6, n)),
    "potential_energy": ((), lambda K, n: ()),
    "coriolis_matrix": (("v",), lambda K, n: (n, n)),
    "centroidal_momentum": (("v",), lambda K, n: (6,)),
    "kinetic_energy": (("v",), lambda K, n: ()),
    "inverse_dynamics_passive": (("v", "v_ref", "a_ref"), lambda K, n: (n,)),
    "mass_matrix_derivatives": (("stack",), lambda K, n: (K + 1, n, n)),
    "coriolis_matrix_derivatives": (("stack",), lambda K, n: (K, n, n)),
    "gravity_force_derivatives": (("stack",), lambda K, n: (K + 1, n)),
    "center_of_mass_derivatives": (("stack",), lambda K, n: (K + 1, 3)),
    "centroidal_momentum_derivatives": (("stack",), lambda K, n: (K, 6)),
    "centroidal_momentum_matrix_derivatives": (("stack",), lambda K, n: (K + 1, 6, n)),
    "kinetic_energy_derivatives": (("stack",), lambda K, n: (K,)),
    "potential_energy_derivatives": (("stack",), lambda K, n: (K + 1,)),
    "jacobian": ((), lambda K, n: (6, n)),
    "jacobian_derivatives": (("stack",), lambda K, n: (K + 1, 6, n)),
}
each_call = pytest.mark.parametrize("call", CALLS)
STACKED = [name for name, (takes, _) in CALLS.items() if takes == ("stack",)]
PLACES = [(name, where) for name, (takes, _) in CALLS.items() for where in ("q", *takes)]
each_place = pytest.mark.parametrize(("call", "argument"), PLACES)
FRAMELESS = ("center_of_mass", "potential_energy")


def ask(call: str, *arrays: object, robot: jn.Model = ROBOT, name: object = "tip", **options: object) -> np.ndarray:
    method = getattr(robot, call)
    return method(name, *arrays, **options) if "jacobian" in call else method(*arrays, **options)


def good(call: str, batch: tuple[int, ...] = (), rows: int = 3, robot: jn.Model = ROBOT) -> list[np.ndarray]:
    """q and the other arguments."""
    rng = np.random.default_rng(0)
    shapes = [(*batch, rows, robot.nv) if what == "stack" else (*batch, robot.nv) for what in CALLS[call][0]]
    return [robot.random_configuration(rng, batch), *(rng.uniform(-1, 1, shape) for shape in shapes)]


def with_bad(call: str, argument: str, value: object) -> Callable[[], np.ndarray]:
    arrays: list[object] = list(good(call))
    arrays[("q", *CALLS[call][0]).index(argument)] = value
    return lambda: ask(call, *arrays)


def rejects(message: str, call: Callable[..., object], *args: object, **kwargs: object) -> None:
    with pytest.raises(ValueError, match=message):
        call(*args, **kwargs)


def same(result: np.ndarray, truth: np.ndarray, tolerance: float) -> None:
    assert result.shape == truth.shape
    assert np.abs(result - truth).max(initial=0) <= tolerance * np.abs(truth).max(initial=1)


# --- batches -------------------------------------------------------------------------------------------


@each_call
def test_a_batch_is_its_states(call: str, instruction_set: str) -> None:
    for rows in (1, 4):
        arrays = good(call, (19,), rows)
        axes = ("frame", "velocity_frame") if "jacobian" in call else ("frame",)
        for options in [{}] if call in FRAMELESS else [dict.fromkeys(axes, frame) for frame in FRAMES]:
            batch = ask(call, *arrays, **options)
            assert batch.shape == (19, *CALLS[call][1](rows, NV))
            for i in (0, 7, 8, 18):
                same(batch[i], ask(call, *(a[i] for a in arrays), **options), 1e-15)


@each_call
def test_batches_broadcast(call: str) -> None:
    shapes = [(2, 1), (3,), (2, 3), (1, 3)]
    arrays = [good(call, shape)[i] for i, shape in zip(range(1 + len(CALLS[call][0])), shapes, strict=False)]
    result = ask(call, *arrays)
    lead = (2, 3) if len(arrays) > 1 else (2, 1)
    assert result.shape == (*lead, *CALLS[call][1](3, NV))
    for i, j in np.ndindex(lead):
        one = [np.broadcast_to(a, (*lead, *a.shape[len(s) :]))[i, j] for a, s in zip(arrays, shapes, strict=False)]
        same(result[i, j], ask(call, *one), 1e-15)
    assert ask(call, *good(call, (0, 3))).shape == (0, 3, *CALLS[call][1](3, NV))


@each_call
def test_batches_that_do_not_broadcast(call: str) -> None:
    arrays = good(call, (4,))
    if len(arrays) == 1:
        pytest.skip("it takes one array only")
    arrays[0] = arrays[0][:3]
    rejects("^the batch dimensions do not broadcast: ", ask, call, *arrays)


@each_call
def test_threads_do_not_change_a_bit(call: str) -> None:
    arrays, before = good(call, (200,)), jn.num_threads()
    try:
        jn.set_num_threads(1)
        alone = ask(call, *arrays)
        jn.set_num_threads(4)
        np.testing.assert_array_equal(ask(call, *arrays), alone)
    finally:
        jn.set_num_threads(before)


@each_call
def test_out(call: str) -> None:
    for batch in ((), (5,), (2, 3), (0,)):
        arrays = good(call, batch)
        shape = (*batch, *CALLS[call][1](3, NV))
        out = np.full(shape, np.nan)
        assert ask(call, *arrays, out=out) is out
        np.testing.assert_array_equal(out, ask(call, *arrays))
    arrays = good(call)
    shape = CALLS[call][1](3, NV)
    rejects(r"^out has shape \(7, 7, 7\), expected ", ask, call, *arrays, out=np.zeros((7, 7, 7)))
    rejects("^out must be .*float64", ask, call, *arrays, out=np.zeros(shape, np.float32))
    rejects("^out must be a NumPy array", ask, call, *arrays, out=[0.0])


@each_call
def test_out_must_not_share_memory_with_an_input(call: str) -> None:
    room = np.zeros(NQ + int(np.prod(CALLS[call][1](3, NV))))
    arrays = good(call)
    room[:NQ] = arrays[0]
    out = room[NQ - 1 : -1].reshape(CALLS[call][1](3, NV))
    rejects("^out shares memory with q", ask, call, room[:NQ], *arrays[1:], out=out)


@pytest.mark.parametrize("call", [c for c in STACKED if c.removesuffix("_derivatives") in CALLS])
def test_the_first_row_is_the_call_without_derivatives(call: str, instruction_set: str) -> None:
    plain = call.removesuffix("_derivatives")
    for batch in ((), (9,)):
        q, stack = good(call, batch, 3)
        speed = [stack[..., 0, :]] if CALLS[plain][0] == ("v",) else []
        below = len(CALLS[plain][1](3, NV))
        same(np.moveaxis(ask(call, q, stack), -below - 1, 0)[0], ask(plain, q, *speed), 1e-14)


@pytest.mark.parametrize("call", STACKED)
def test_lower_rows_do_not_depend_on_higher_ones(call: str) -> None:
    q, stack = good(call, rows=jn.MAX_ORDER)
    full = ask(call, q, stack)
    assert np.isfinite(full).all()
    for rows in range(1, 10):
        part = ask(call, q, stack[:rows])
        for k, row in enumerate(part):
            same(row, full[k], 1e-12)


def test_torque_coefficients_in_a_batch() -> None:
    q, stack = good("mass_matrix_derivatives", (2, 3), 4)
    for n in (0, 3):
        P = ROBOT.torque_coefficients(q, stack, n, frame="mixed")
        assert P.shape == (2, 3, n + 2, NV, NV)
        same(P[1, 2], ROBOT.torque_coefficients(q[1, 2], stack[1, 2], n, frame="mixed"), 1e-15)


def test_bias_force_in_a_batch() -> None:
    q, v = good("coriolis_matrix", (2, 3))
    bias = ROBOT.bias_force(q, v[:, :1], frame="world")
    assert bias.shape == (2, 3, NV)
    same(bias[1, 2], ROBOT.bias_force(q[1, 2], v[1, 0], frame="world"), 1e-15)


# --- bad input -----------------------------------------------------------------------------------------


@each_place
def test_wrong_shape(call: str, argument: str) -> None:
    size, symbol = (NQ, "nq") if argument == "q" else (NV, "nv")
    named = "v" if argument == "stack" else argument
    for wrong in (size - 1, size + 1, 0):
        message = rf"^{named} has shape \(3, {wrong}\), expected .*{size}\): this model has {symbol} = {size}"
        rejects(message, with_bad(call, argument, np.zeros((3, wrong))))
    rejects(rf"^{named} has shape \(\), expected ", with_bad(call, argument, 1.0))
    if argument == "stack":
        if call not in ONE_ROW:
            rejects(rf"^v has shape \({NV},\), expected a stack ", with_bad(call, argument, np.zeros(NV)))
        rejects(rf"^v has shape \(0, {NV}\), expected a stack ", with_bad(call, argument, np.zeros((0, NV))))


@each_place
def test_not_numbers(call: str, argument: str) -> None:
    named = "v" if argument == "stack" else argument
    for value in ("abc", None, {}, [[1.0], [1.0, 2.0]], np.zeros(3, complex)):
        rejects(rf"^{named} must be an array of real numbers, got ", with_bad(call, argument, value))
    spoilt = good(call)[("q", *CALLS[call][0]).index(argument)]
    for value, text in ((np.nan, "nan"), (-np.inf, "-inf")):
        spoilt[..., 2] = value
        rejects(rf"^{named}\[.*2\] is {text}, expected finite numbers", with_bad(call, argument, spoilt))


@each_call
def test_quaternions(call: str) -> None:
    arrays = good(call)
    arrays[0][3:7] *= 1.01
    rejects("^q.* quaternion of length 1.01", ask, call, *arrays)


@pytest.mark.parametrize("call", STACKED)
def test_too_many_rows(call: str) -> None:
    """The highest derivative returned is of order MAX_ORDER."""
    most = jn.MAX_ORDER + (CALLS[call][1](3, NV)[0] == 3)
    q = good(call)[0]
    assert len(ask(call, q, np.zeros((most, NV)))) == jn.MAX_ORDER + 1
    for rows in (most + 1, 1000):
        message = rf"^v has {rows} rows, expected at most {most}: the highest order is {jn.MAX_ORDER}"
        rejects(message, ask, call, q, np.zeros((rows, NV)))


@each_call
def test_frame_names(call: str) -> None:
    if call in FRAMELESS:
        with pytest.raises(TypeError, match="frame"):
            ask(call, *good(call), frame="body")
    else:
        for name in ("Body", "", "wrld", 5, None, b"body"):
            rejects("^frame is .*, expected 'body', 'world' or 'mixed'", ask, call, *good(call), frame=name)
            if "jacobian" in call and name is not None:
                message = "^velocity_frame is .*, expected 'body', 'world' or 'mixed'"
                rejects(message, ask, call, *good(call), velocity_frame=name)


NAMED: dict[str, Callable[[object], object]] = {
    "jacobian": lambda name: ROBOT.jacobian(name, ROBOT.neutral()),
    "jacobian_derivatives": lambda name: ROBOT.jacobian_derivatives(name, ROBOT.neutral(), np.zeros((2, NV))),
    "pose": lambda name: ROBOT.pose(name, ROBOT.neutral()),
    "twist": lambda name: ROBOT.twist(name, ROBOT.neutral(), np.zeros((2, NV))),
    "forward_kinematics": lambda name: ROBOT.forward_kinematics(ROBOT.neutral(), frames=["arm", name]),
    "pose_derivatives": lambda name: ROBOT.pose_derivatives(ROBOT.neutral(), np.zeros((2, NV)), frames=["arm", name]),
}


@pytest.mark.parametrize("call", NAMED)
def test_unknown_names_have_near_matches(call: str) -> None:
    rejects("^no body or frame is named 'bse': did you mean 'base'", NAMED[call], "bse")
    for name in ("zzz", "world", "", None, 1.0, b"arm", []):
        there_are = "'base', 'arm', 'slide', 'ball', 'plate', 'tip'"
        message = f"^no body or frame is named {re.escape(repr(name))}: (there are {there_are}|did you mean)"
        rejects(message, NAMED[call], name)
    for index in (-1, 6, 10**30):
        rejects(f"^frame {index} does not exist: there are 6, counted from 0", NAMED[call], index)
    NAMED[call](5)
    NAMED[call](np.int64(5))


def test_order_of_torque_coefficients() -> None:
    q, stack = good("mass_matrix_derivatives")
    for order in (-1, 3, 100):
        rejects(f"^order is {order}, expected 0 to 2: v has 3 rows", ROBOT.torque_coefficients, q, stack, order)
    for order in (1.5, "2"):
        rejects("^order is ", ROBOT.torque_coefficients, q, stack, order)


def test_highest_order_of_torque_coefficients() -> None:
    q, stack = good("mass_matrix_derivatives", rows=jn.MAX_ORDER + 1)
    assert ROBOT.torque_coefficients(q, stack).shape == (jn.MAX_ORDER + 2, NV, NV)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(NV), rf"^v has shape \({NV},\), expected a stack "),
        (np.zeros((0, NV)), rf"^v has shape \(0, {NV}\), expected a stack "),
        (np.zeros((3, NV - 1)), rf"^v has shape \(3, {NV - 1}\), expected "),
        (np.full((3, NV), np.nan), r"^v\[0, 0\] is nan, expected finite numbers"),
        ("abc", "^v must be an array of real numbers"),
        (None, "^v must be an array of real numbers"),
        ([[1.0], [1.0, 2.0]], "^v must be an array of real numbers"),
        (np.zeros((3, NV), complex), "^v must be an array of real numbers"),
    ],
)
def test_velocities_of_torque_coefficients(value: object, message: str) -> None:
    rejects(message, ROBOT.torque_coefficients, ROBOT.neutral(), value)


@pytest.mark.parametrize("name", ["Body", "", 5])
def test_velocity_frame_of_kinematics(name: object) -> None:
    q, stack = good("mass_matrix_derivatives")
    message = "^velocity_frame is .*, expected 'body', 'world' or 'mixed'"
    rejects(message, ROBOT.twist, "arm", q, stack, velocity_frame=name)
    rejects(message, ROBOT.forward_kinematics, q, stack, velocity_frame=name)


def test_frames_of_kinematics() -> None:
    """One name is not a list of its letters."""
    for frames in ("arm", 5):
        rejects("^frames ", ROBOT.forward_kinematics, ROBOT.neutral(), frames=frames)
        rejects("^frames ", ROBOT.pose_derivatives, ROBOT.neutral(), np.zeros((2, NV)), frames=frames)


def test_twist_of_no_velocity() -> None:
    rejects("^v must be an array of real numbers", ROBOT.twist, "arm", ROBOT.neutral(), None)


# --- robots that cannot move ---------------------------------------------------------------------------


def fixed_robot() -> jn.Model:
    builder = jn.Builder()
    builder.add("table", "world", jn.Fixed(), inertia=jn.Inertia(5.0))
    builder.add("tip", "table", jn.Fixed())
    return builder.build()


@each_call
@pytest.mark.parametrize("robot", [jn.Builder().build(), fixed_robot()], ids=["empty", "fixed"])
def test_no_degree_of_freedom(call: str, robot: jn.Model) -> None:
    if "jacobian" in call and not robot.frame_names:
        rejects("^no body or frame is named 'tip'", ask, call, *good(call, robot=robot), robot=robot)
    else:
        for batch in ((), (4,), (2, 3), (0,)):
            result = ask(call, *good(call, batch, robot=robot), robot=robot)
            assert result.shape == (*batch, *CALLS[call][1](3, 0))
            assert not result.any()
        rejects(r"^q has shape \(1,\), expected", ask, call, [0.0], *good(call, robot=robot)[1:], robot=robot)


def test_no_degree_of_freedom_but_coefficients() -> None:
    assert fixed_robot().torque_coefficients([], np.zeros((3, 0))).shape == (4, 0, 0)
    assert fixed_robot().bias_force(np.zeros((2, 0)), []).shape == (2, 0)
