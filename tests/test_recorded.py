"""Recorded functions: their values, time derivatives and partial derivatives, against mpmath and NumPy."""

from __future__ import annotations

import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest

from jounce.recording.record import SCALE, SINE, Expressions, Number, Tape, record
from jounce.soft import stumpff
from soft_build import central

FUNCTIONS = {
    "sin": (lambda x: np.sin(x[0]), mpmath.sin),
    "cos": (lambda x: np.cos(x[0]), mpmath.cos),
    "tan": (lambda x: np.tan(x[0]), mpmath.tan),
    "arctan": (lambda x: np.arctan(x[0]), mpmath.atan),
    "exp": (lambda x: np.exp(x[0]), mpmath.exp),
    "log": (lambda x: np.log(x[0]), mpmath.log),
    "sqrt": (lambda x: np.sqrt(x[0]), mpmath.sqrt),
    "sinh": (lambda x: np.sinh(x[0]), mpmath.sinh),
    "cosh": (lambda x: np.cosh(x[0]), mpmath.cosh),
    "tanh": (lambda x: np.tanh(x[0]), mpmath.tanh),
    "square": (lambda x: np.square(x[0]), lambda x: x**2),
    "x ** 7": (lambda x: x[0] ** 7, lambda x: x**7),
    "x ** 64": (lambda x: x[0] ** 64, lambda x: x**64),
    "x ** -3": (lambda x: x[0] ** -3, lambda x: x**-3),
    "x ** 0": (lambda x: x[0] ** 0 + x[0], lambda x: 1 + x),
    "x ** 1.5": (lambda x: x[0] ** 1.5, lambda x: x ** mpmath.mpf("1.5")),
    "x ** -0.7": (lambda x: x[0] ** -0.7, lambda x: x ** mpmath.mpf(-0.7)),
    "x ** x": (lambda x: x[0] ** x[0], lambda x: x**x),
    "2 ** x": (lambda x: 2.0 ** x[0], lambda x: mpmath.mpf(2) ** x),
    "1 / x": (lambda x: 1 / x[0], lambda x: 1 / x),
    "x / x^2": (lambda x: x[0] / (x[0] * x[0] + 1.0), lambda x: x / (x * x + 1)),
    "3 - x": (lambda x: 3 - x[0], lambda x: 3 - x),
    "x - x": (lambda x: x[0] - x[0] + 2.0 * x[0], lambda x: 2 * x),
    "-(+x) / 4": (lambda x: -(+x[0]) / 4, lambda x: -x / 4),
    "np.float64": (
        lambda x: np.float64(2.0) * x[0] + np.float32(0.5) - np.int64(3) / x[0],
        lambda x: 2 * x + 0.5 - 3 / x,
    ),
    "nested": (
        lambda x: np.exp(np.sin(x[0]) ** 2 / (1 + x[0] ** 2)) * np.sqrt(1 + np.arctan(x[0])),
        lambda x: mpmath.exp(mpmath.sin(x) ** 2 / (1 + x**2)) * mpmath.sqrt(1 + mpmath.atan(x)),
    ),
}


def compiled(function, *sizes: int) -> Expressions:
    tape, value = record(function, *sizes)
    return Expressions(tape, list(np.ravel(value)))


def taylor(function, motion: np.ndarray, order: int) -> np.ndarray:
    """Derivatives 0 .. order of function(x(t)) at 0, in 60 digits; x has the derivatives `motion`."""
    with mpmath.workdps(60):
        coefficients = [mpmath.mpf(float(m)) / mpmath.factorial(k) for k, m in enumerate(motion)]
        series = mpmath.taylor(lambda t: function(mpmath.polyval(coefficients[::-1], t)), 0, order)
        return np.array([float(c * mpmath.factorial(k)) for k, c in enumerate(series)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_derivatives_to_the_eighth(name):
    function, truth = FUNCTIONS[name]
    motion = np.array([0.83, 0.7, -0.4, 0.9, -0.2, 0.3, 0.5, -0.6, 0.1])
    found = compiled(function, 1).derivatives(motion[:, None])[:, 0]
    expected = taylor(truth, motion, 8)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_gradients(name):
    """The first three derivatives by x, and their time derivatives."""
    function, truth = FUNCTIONS[name]
    expressions = compiled(function, 1)
    motion = np.array([0.83, 0.7, -0.4])
    for order in range(1, 4):
        expressions = expressions.gradient([0])
        with mpmath.workdps(60):
            slope = lambda x, n=order: mpmath.diff(truth, x, n)  # noqa: E731
            value = float(slope(mpmath.mpf(0.83)))
        found = expressions.derivatives(motion[:, None])[:, 0]
        assert abs(found[0] - value) < 1e-12 * max(1.0, abs(value))
        rate = float(mpmath.diff(truth, 0.83, order + 1)) * 0.7
        assert abs(found[1] - rate) < 1e-10 * max(1.0, abs(rate))


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize(
    "u", [-400.0, -30.0, -1.0, -1e-9, 0.0, 1e-300, 1e-9, 0.5, 35.9, 36.1, 100.0, 400.0, 5000.0, 1e6]
)
def test_stumpff_functions(k, u):
    with mpmath.workdps(900 if abs(u) > 1e4 else 90):
        truth = (
            mpmath.nsum(lambda j: (-mpmath.mpf(u)) ** int(j) / mpmath.factorial(2 * int(j) + k), [0, 20], method="d")
            if abs(u) < 1
            else None
        )
        x = mpmath.sqrt(mpmath.mpf(u)) if u > 0 else mpmath.sqrt(-mpmath.mpf(u)) * 1j
        if truth is None:
            c = [mpmath.cos(x), mpmath.sin(x) / x]
            for i in range(5):
                c.append((1 / mpmath.factorial(i) - c[i]) / mpmath.mpf(u))
            truth = mpmath.re(c[k])
        expected = float(truth)
    # A Stumpff function of large u oscillates about zero for k = 0 and 1: its amplitude counts there.
    size = max(abs(expected), 1.0 if k == 0 and u > 1 else 1 / math.sqrt(u) if k == 1 and u > 1 else 0.0)
    assert abs(float(stumpff(k, u)) - expected) < 1e-13 * size * max(1.0, math.sqrt(abs(u)) / 20)


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("u", [0.0, 1e-8, 3.0, 35.99, 36.01, 90.0, 400.0])
def test_stumpff_derivatives(k, u):
    """Up to the sixth, along a motion; by the power series in 60 digits."""

    def series(x):
        total = term = 1 / mpmath.factorial(k)
        j = 0
        while abs(term) > mpmath.mpf(10) ** -50 or j < 10:
            j += 1
            term = -term * x / ((2 * j + k) * (2 * j + k - 1))
            total += term
        return total

    motion = np.array([u, 0.9, -0.5, 0.7, 0.3, -0.2, 0.4])
    found = compiled(lambda x: stumpff(k, x[0]), 1).derivatives(motion[:, None])[:, 0]
    np.testing.assert_allclose(found, taylor(series, motion, 6), rtol=1e-11, atol=1e-15)


def test_stumpff_of_arrays():
    x = np.array([[0.1, 2.0, 3.0], [0.0, 5.0, 20.0]])
    np.testing.assert_allclose(stumpff(0, x**2), np.cos(x), atol=1e-15)
    np.testing.assert_allclose(stumpff(1, x**2) * x, np.sin(x), atol=1e-14)
    np.testing.assert_allclose(stumpff(2, x**2) * x**2, 1 - np.cos(x), atol=1e-13)
    recorded = compiled(lambda q: stumpff(3, q), 2).values(np.array([0.3, 4.0]))
    np.testing.assert_allclose(recorded, stumpff(3, np.array([0.3, 4.0])), rtol=1e-15)
    for bad in (-1, 7, 1.0, "1", None):
        with pytest.raises(ValueError, match="k is"):
            stumpff(bad, 0.3)


def chain(x):
    """A function with many operations and four results."""
    a = np.array([[np.cos(x[0]), -np.sin(x[0])], [np.sin(x[0]), np.cos(x[0])]])
    b = a @ np.array([x[1], x[2] * x[0]])
    return np.array([b[0], b[1] / (2 + x[1] ** 2), np.exp(-b @ b) * x[3], np.sum(x) * 3.0])


def test_jacobians_and_hessians_of_a_function_of_four():
    expressions = compiled(chain, 4)
    rng = np.random.default_rng(0)
    x = rng.normal(size=4)
    J = expressions.gradient(range(4)).values(x).reshape(4, 4)
    H = expressions.gradient(range(4)).gradient(range(4)).values(x).reshape(4, 4, 4)
    slopes = [central(lambda t, e=e: chain(x + t * e), 1e-2) for e in np.eye(4)]
    np.testing.assert_allclose(J, np.transpose(slopes), rtol=1e-11, atol=1e-11)
    assert np.abs(H - H.swapaxes(1, 2)).max() < 1e-14
    # The Hessian is the derivative of the Jacobian along a motion.
    v = rng.normal(size=4)
    rate = expressions.gradient(range(4)).derivatives(np.stack([x, v]))[1].reshape(4, 4)
    np.testing.assert_allclose(rate, H @ v, rtol=1e-12, atol=1e-13)
    some = expressions.gradient([3, 1]).values(x).reshape(4, 2)
    np.testing.assert_array_equal(some, J[:, [3, 1]])


def test_functions_of_numpy_that_are_sums_and_products():
    x = np.array([0.3, -0.4, 1.2])
    for function in (
        lambda q: [np.linalg.norm(q), np.dot(q, q), np.sum(q), np.prod(q), np.mean(q)],
        lambda q: np.cross(q, [1.0, 2.0, 3.0]),
        lambda q: np.einsum("i,j->ij", q, q),
        lambda q: np.concatenate([q[:1], np.stack([q, 2 * q]).T @ np.ones(2)]),
        lambda q: np.where([True, False, True], q, 0.0),
        lambda q: np.outer(q, np.arange(3.0)) / 2 - np.trace(np.outer(q, q)),
    ):
        np.testing.assert_allclose(compiled(function, 3).values(x), np.ravel(function(x)), rtol=1e-14, atol=1e-15)


def test_batches_are_single_states():
    expressions = compiled(chain, 4)
    x = np.random.default_rng(1).normal(size=(2, 300, 5, 4))
    found = expressions.derivatives(x)
    assert found.shape == (2, 300, 5, 4)
    for i in ((0, 0), (1, 7), (1, 299)):
        np.testing.assert_array_equal(found[i], expressions.derivatives(x[i]))
    np.testing.assert_allclose(expressions.values(x[:, :, 0]), found[:, :, 0], rtol=1e-15)
    np.testing.assert_allclose(found[1, 3, 0], chain(x[1, 3, 0]), rtol=1e-13)


def test_constant_results_and_results_that_are_inputs():
    tape, value = record(lambda x, y: np.array([x[0], 2.5, y[1], x[0] * 0.0], dtype=object), 1, 2)
    expressions = Expressions(tape, list(value))
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(expressions.derivatives(x), [[1.0, 2.5, 3.0, 0.0], [4.0, 0.0, 6.0, 0.0]])
    J = expressions.gradient(range(3)).values(x[0]).reshape(4, 3)
    np.testing.assert_array_equal(J, [[1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]])


def test_each_operation_is_written_down_once():
    tape, _ = record(
        lambda x: [np.sin(x[0]) * x[1], np.cos(x[0]) * x[1], np.sin(x[0]) * x[1] + 1.0, x[1] * np.sin(x[0])], 2
    )
    assert len(tape.operations) == 6  # sine and cosine, two products, the one, and the sum


@pytest.mark.parametrize(
    "branch",
    [
        lambda x: x[0] if x[0] > 0 else -x[0],
        lambda x: x[0] if x[0] else 1.0,
        lambda x: abs(x[0]),
        lambda x: np.abs(x[0]),
        lambda x: max(x[0], x[1]),
        lambda x: np.maximum(x[0], x[1]),
        lambda x: np.minimum(x, 0.5),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: math.sin(x[0]),
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: round(x[0]),
        lambda x: x[0] // 2,
        lambda x: x[0] % 2,
        lambda x: np.zeros(2) + np.array([x[0], 1.0], dtype=float),
        lambda x: np.sort(x),
        lambda x: np.floor(x[0]),
    ],
    ids=range(17),
)
def test_what_depends_on_the_value_is_refused(branch):
    with pytest.raises(TypeError):
        record(branch, 2)


@pytest.mark.parametrize(
    "branch", [lambda x: 1.0 if x[0] == 0 else 2.0, lambda x: 1.0 if x[0] != 0 else 2.0], ids=["==", "!="]
)
def test_comparing_for_equality_is_refused_as_other_branches_are(branch):
    """`if q == 0` is the branch in formulas for constant curvature; silently taking one side of it is wrong."""
    with pytest.raises(TypeError, match="not known while the function is recorded"):
        record(branch, 2)


def test_values_that_do_not_exist_are_not_numbers():
    expressions = compiled(lambda x: np.array([np.log(x[0]), np.sqrt(x[0]), 1 / x[0]]), 1)
    found = expressions.values(np.array([-1.0]))
    assert np.isnan(found[:2]).all()
    assert found[2] == -1.0
    assert not np.isfinite(expressions.values(np.array([0.0]))[2])


def test_bad_motions_are_refused():
    expressions = compiled(chain, 4)
    for bad in (
        np.zeros(4),
        np.zeros((0, 4)),
        np.zeros((3, 5)),
        np.zeros((200, 4)),
        "x",
        None,
        np.zeros((2, 4), complex),
    ):
        with pytest.raises((ValueError, TypeError)):
            expressions.derivatives(bad)


def test_recordings_that_would_read_elsewhere_are_refused():
    from jounce._core import Recorded

    bad = [
        (1, [1, 0, 5], [0.0], [1]),
        (1, [1, -1, 0], [0.0], [1]),
        (1, [99, 0, 0], [0.0], [1]),
        (1, [-1, 0, 0], [0.0], [1]),
        (1, [9, 0, 2], [0.0], [1]),  # a sine without its cosine
        (1, [10, 0, 0], [0.0], [1]),  # a cosine without its sine
        (1, [13, 0, 0], [13.0], [1]),
        (1, [13, 0, 0], [-1.0], [1]),
        (1, [1, 0], [0.0], [1]),
        (1, [1, 0, 0], [0.0], [2]),
        (1, [1, 0, 0], [0.0], [-1]),
        (-1, [], [], []),
    ]
    for inputs, operations, values, outputs in bad:
        with pytest.raises((ValueError, TypeError)):
            Recorded(inputs, operations, np.array(values), outputs)


def test_the_longest_motion_there_may_be():
    """Stumpff's functions use tables of a fixed length: no stack is longer."""
    expressions = compiled(lambda x: stumpff(6, x[0]) + np.sin(x[0]), 1)
    rows = 2
    while True:
        try:
            found = expressions.derivatives(np.full((rows + 1, 1), 0.1))
        except ValueError:
            break
        rows += 1
        assert np.isfinite(found).all()
    assert 20 <= rows <= 34


def test_threads_may_differentiate_together():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            expressions = compiled(chain, 4)
            x = np.random.default_rng(0).normal(size=4)
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _: expressions.gradient(range(4)).gradient(range(4)).values(x), range(8)))  # noqa: B023
            for other in found[1:]:
                np.testing.assert_allclose(other, found[0], rtol=1e-12, atol=1e-14)
            truth = compiled(chain, 4).gradient(range(4)).gradient(range(4)).values(x)
            np.testing.assert_allclose(found[0], truth, rtol=1e-12, atol=1e-14)
    finally:
        sys.setswitchinterval(interval)


class Hesitating(list):
    """Others get their turn between the question how long it is and the answer's use."""

    def __len__(self):
        length = super().__len__()
        time.sleep(1e-3)
        return length


def test_what_threads_record_together_is_all_there():
    tape = Tape(1)
    tape.operations = Hesitating()
    with ThreadPoolExecutor(8) as pool:
        scaled = list(pool.map(lambda i: tape.emit(SCALE, value=float(i)), range(40)))
        sines = list(pool.map(lambda x: tape.circular(SINE, x._at), scaled))
    for i, (x, y) in enumerate(zip(scaled, sines, strict=True)):
        assert tape.operations[x._at - 1] == (SCALE, 0, 0, float(i))
        assert tape.operations[y._at - 1][:2] == (SINE, x._at)


def test_numbers_show_themselves_briefly():
    assert repr(Number(Tape(1), 0)) == "<number 0>"
