"""The linear algebra of control: against SciPy, against fifty digits, and against the equations themselves."""

from __future__ import annotations

import sys
import warnings

import mpmath
import numpy as np
import pytest
from jounce._core import instruction_set, instruction_sets, use_instruction_set
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_are, solve_discrete_are
from scipy.signal import cont2discrete

import jounce as jn
from jounce import control

Array = NDArray[np.float64]
KINDS = ("plain", "unstable", "stiff", "scaled", "unreached", "unseen", "cheap", "dear")


def system(A: Array, B: Array) -> jn.Linearization:
    """x' = A x + B u, as if it were a robot's."""
    none = np.zeros(0)
    return jn.Linearization(A, B, none, none, none, none, np.arange(B.shape[-1]), "body")


def drawn(kind: str, rng: np.random.Generator, discrete: bool) -> tuple[Array, Array, Array, Array]:
    """A, B, Q and R, of a rough size of 1 apart from what the kind says."""
    n = int(rng.integers(2, 21))
    m = int(rng.integers(1, n + 1))
    A, B, C = rng.normal(size=(n, n)) / np.sqrt(n), rng.normal(size=(n, m)), rng.normal(size=(n, n))
    Q, R, half = C @ C.T, np.eye(m), n // 2
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    if kind == "unstable":
        A += np.eye(n)
        B = rng.normal(size=(n, n))  # else some motions are almost out of reach
        R = np.eye(n)
    elif kind == "stiff":
        rates = 10.0 ** rng.uniform(-6, 6, n)
        rates = np.exp(-rates * 1e-3) if discrete else -rates
        A = turn * rates @ turn.T
    elif kind == "scaled":
        units = 10.0 ** rng.uniform(-4, 4, n)
        A, B, Q = A * units[:, None] / units, B * units[:, None], Q / units[:, None] / units
    elif kind == "unreached":  # stable, and out of reach of all inputs
        A[half:, :half], B[half:] = 0.0, 0.0
        A[half:, half:] = 0.3 * A[half:, half:] if discrete else A[half:, half:] - 3 * np.eye(n - half)
        A, B = turn @ A @ turn.T, turn @ B
    elif kind == "unseen":  # unstable, and not in Q
        A[:half, half:], Q[half:], Q[:, half:] = 0.0, 0.0, 0.0
        A[half:, half:] = np.diag(rng.uniform(1.2, 2.0, n - half))
        B, R = rng.normal(size=(n, n)), np.eye(n)
    elif kind in ("cheap", "dear"):
        B = rng.normal(size=(n, max(m, n // 3)))
        m = B.shape[1]
        R = np.eye(m) * (1e-8 if kind == "cheap" else 1e8)
    return A, B, Q, R


def residual(A: Array, B: Array, Q: Array, R: Array, P: Array, discrete: bool) -> float:
    """Of the Riccati equation, relative to its largest term."""
    if discrete:
        terms = [Q, -P, A.T @ P @ A, -A.T @ P @ B @ np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)]
    else:
        terms = [Q, A.T @ P, P @ A, -P @ B @ np.linalg.solve(R, B.T @ P)]
    return float(np.abs(sum(terms)).max() / max(np.abs(x).max() for x in terms))


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_less_accurate_than_scipy(kind: str, discrete: bool) -> None:
    """Residuals of many systems; where SciPy has digits, the same ones."""
    rng = np.random.default_rng(0)
    ours, scipys = [], []
    for _ in range(40):
        A, B, Q, R = drawn(kind, rng, discrete)
        try:
            peer = (solve_discrete_are if discrete else solve_continuous_are)(A, B, Q, R)
        except np.linalg.LinAlgError:
            continue
        if discrete:
            K, P, solved, _ = jn._core.regulator(A, B, Q, R, True)
            expected = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        else:
            regulator = control.lqr(system(A, B), Q, R)
            K, P, solved = regulator.K, regulator.P, True
            expected = np.linalg.solve(R, B.T @ P)
        assert solved
        closed = np.linalg.eigvals(A - B @ K)
        assert (np.abs(closed).max() < 1) if discrete else (closed.real.max() < 0)
        np.testing.assert_allclose(
            K, expected, rtol=0, atol=(1e-4 if kind == "cheap" else 1e-6) * np.abs(expected).max()
        )
        ours.append(residual(A, B, Q, R, P, discrete))
        scipys.append(residual(A, B, Q, R, peer, discrete))
        if scipys[-1] < 1e-13 and kind in ("plain", "unstable", "unreached"):
            np.testing.assert_allclose(P, peer, rtol=0, atol=1e-9 * np.abs(peer).max())
    assert len(ours) > 20
    if kind not in ("stiff", "cheap"):  # for these, P itself, rounded, has no better residual
        assert np.median(ours) < 2e-15
    assert np.median(ours) < 3 * np.median(scipys)
    assert max(ours) < 10 * max(scipys) + 1e-12


@pytest.mark.parametrize("isa", instruction_sets())
def test_every_instruction_set(isa: str) -> None:
    rng, before = np.random.default_rng(1), instruction_set()
    try:
        use_instruction_set(isa)
        for n, m in ((1, 1), (3, 2), (8, 8), (13, 5), (24, 10)):
            A, B = rng.normal(size=(n, n)), rng.normal(size=(n, m))
            regulator = control.lqr(system(A, B), np.ones(n), np.ones(m))
            assert residual(A, B, np.eye(n), np.eye(m), regulator.P, False) < 1e-12
            E, F = system(A, B).discretize(0.3)
            there = cont2discrete((A, B, np.eye(n), np.zeros((n, m))), 0.3)
            np.testing.assert_allclose(E, there[0], rtol=0, atol=1e-13 * np.abs(E).max())
            np.testing.assert_allclose(F, there[1], rtol=0, atol=1e-13 * np.abs(F).max())
            stay = np.stack([A, A]), np.stack([B, B]), np.eye(n), np.eye(m), regulator.P  # P at rest stays at rest
            _, P = control.riccati([0.0, 0.3], *stay)
            np.testing.assert_allclose(P[0], regulator.P, rtol=0, atol=1e-12 * np.abs(P).max())
    finally:
        use_instruction_set(before)


# Fifty digits


def exact(x: Array) -> mpmath.matrix:
    return mpmath.matrix(x.tolist())


def rounded(x: mpmath.matrix) -> Array:
    return np.array([[float(x[i, j]) for j in range(x.cols)] for i in range(x.rows)])


@pytest.mark.parametrize("size", [1e-6, 1e-2, 0.2, 0.9, 2.0, 4.0, 30.0, 1000.0])
def test_discretize_to_fifty_digits(size: float) -> None:
    """All degrees of the approximant, and squaring; oscillators, whose motion is bounded."""
    rng = np.random.default_rng(2)
    for n, m in ((1, 1), (2, 1), (4, 2), (6, 3)):
        A = rng.normal(size=(n, n))
        A = (A - A.T) / 2 - 0.1 * np.eye(n)
        A, B = A * size / np.abs(A).sum(axis=0).max(), rng.normal(size=(n, m))
        E, F = system(A, B).discretize(1.0)
        with mpmath.workdps(50):
            whole = rounded(mpmath.expm(exact(np.block([[A, B], [np.zeros((m, n + m))]]))))
        error = 1e-15 * (4 + size)
        np.testing.assert_allclose(E, whole[:n, :n], rtol=0, atol=error * np.abs(E).max())
        np.testing.assert_allclose(F, whole[:n, n:], rtol=0, atol=error * np.abs(F).max())


def test_units_do_not_matter_to_the_exponential() -> None:
    """A spring of 1e12 N/m for 1 kg: entries from 1 to 1e12, but 1e6 rad/s."""
    for stiffness in (1e-6, 1.0, 1e6, 1e12):
        A, B = np.array([[0.0, 1.0], [-stiffness, -1e-3]]), np.array([[0.0], [1.0]])
        step = 2.0 / np.sqrt(stiffness)
        E, F = system(A, B).discretize(step)
        with mpmath.workdps(50):
            whole = rounded(mpmath.expm(exact(step * np.block([[A, B], [np.zeros((1, 3))]]))))
        np.testing.assert_allclose(E, whole[:2, :2], rtol=1e-14)
        np.testing.assert_allclose(F, whole[:2, 2:], rtol=1e-14)


def kleinman(A: Array, B: Array, Q: Array, R: Array, P: Array) -> Array:
    """The solution near P of the continuous equation, by Newton's method in fifty digits."""
    n = len(A)
    a, q, p = exact(A), exact(Q), exact(P)
    g = exact(B) * exact(R) ** -1 * exact(B).T
    for _ in range(6):
        closed = a - g * p
        left = mpmath.zeros(n * n)
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    left[n * i + j, n * k + j] += closed[k, i]
                    left[n * i + j, n * i + k] += closed[k, j]
        rest = a.T * p + p * a - p * g * p + q
        step = mpmath.lu_solve(left, mpmath.matrix([-rest[i, j] for i in range(n) for j in range(n)]))
        p = p + mpmath.matrix([[step[n * i + j] for j in range(n)] for i in range(n)])
    return rounded(p)


@pytest.mark.parametrize("rates", [(-1.0, 2.0, 0.5), (-1e6, -1.0, -1e-6), (1e-3, 1e3, -1e6), (0.0, 0.0, 0.0)])
def test_regulator_to_fifty_digits(rates: tuple[float, ...]) -> None:
    """Unstable, stiff and both, in coordinates that mix them; and integrators."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    A, B, Q, R = (
        turn * np.array(rates) @ turn.T,
        rng.normal(size=(3, 3)),
        np.diag([1.0, 2.0, 0.5]),
        np.diag([1.0, 2, 3]),
    )
    P = control.lqr(system(A, B), Q, R).P
    with mpmath.workdps(50):
        truth = kleinman(A, B, Q, R, P)
    scale = max(1.0, np.abs(A).max() * np.abs(truth).max())  # of the terms, whose rounding errors remain
    closed = np.linalg.eigvals(A - B @ np.linalg.solve(R, B.T @ truth)).real
    np.testing.assert_allclose(
        P, truth, rtol=0, atol=2e-15 * scale / np.abs(closed).min() + 1e-14 * np.abs(truth).max()
    )


@pytest.mark.parametrize("n", [4, 7, 9])  # even, odd, and more than the numbers in a register
@pytest.mark.parametrize("step", [1e-3, 0.02, 0.1, 0.3, 1.0, 10.0])  # polynomials of every degree
def test_backward_to_fifty_digits(step: float, n: int) -> None:
    """One interval with constant A and B: P = (L21 + L22 P1) (L11 + L12 P1)^-1, with L = exp(-step M)."""
    rng, m = np.random.default_rng(4), 2
    A, B, R = rng.normal(size=(n, n)), rng.normal(size=(n, m)), np.diag([0.5, 2.0])
    Q, end = (np.diag(np.resize(diagonal, n)) for diagonal in ([1.0, 0, 2, 3], [0.0, 1.0, 5.0, 0.2]))
    K, P = control.riccati([0.0, step], np.stack([A, A]), np.stack([B, B]), Q, R, end)
    with mpmath.workdps(80):
        G = B @ np.linalg.solve(R, B.T)
        L = mpmath.expm(exact(-step * np.block([[A, -G], [-Q, -A.T]])))
        first, last = exact(np.eye(n)), exact(end)
        top = L[:n, :n] * first + L[:n, n:] * last
        truth = rounded((L[n:, :n] * first + L[n:, n:] * last) * top**-1)
    np.testing.assert_allclose(P[0], truth, rtol=0, atol=3e-14 * np.abs(truth).max())
    np.testing.assert_array_equal(P[1], end)
    np.testing.assert_allclose(K, np.linalg.solve(R, B.T @ P), rtol=1e-12, atol=1e-14)


# What has no answer


def test_motions_out_of_reach_and_out_of_sight() -> None:
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    for rate in (0.0, 1e-3, 2.0):
        A = turn * np.array([rate, -1, -2, 1, 3]) @ turn.T
        for weak in (0.0, 1e-15, 1e-13):  # the first motion is hardly reached, if at all
            B = turn @ np.vstack([weak * np.ones((1, 3)), rng.normal(size=(4, 3))])
            for dt in (None, 0.1):
                with pytest.raises(control.NoRegulator, match="not stabilizable: no input reaches the motion"):
                    control.lqr(system(A, B), np.ones(5), np.ones(3), dt=dt)
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    for dt in (None, 0.1):  # a cart whose place, or whose place and speed, cost nothing
        for Q in ([0.0, 1.0], [0.0, 0.0]):
            with pytest.raises(control.NoRegulator, match="no stabilizing solution: does Q penalize"):
                control.lqr(system(A, B), Q, [1.0], dt=dt)
        control.lqr(system(A, B), [1.0, 0.0], [1.0], dt=dt)


def test_unstable_motion_that_costs_nothing() -> None:
    """The least effort mirrors its rate: u = -2 a x / b, whatever Q sees of other motions."""
    A, B = np.diag([1.5, -2.0]), np.array([[1.0], [1.0]])
    np.testing.assert_allclose(np.sort(control.lqr(system(A, B), [0, 0], [1]).poles.real), [-2.0, -1.5], rtol=1e-12)
    mixed = control.lqr(system(A, B), [0, 1], [1])
    assert mixed.poles.real.max() < 0
    assert residual(A, B, np.diag([0.0, 1.0]), np.eye(1), mixed.P, False) < 1e-14


def test_extreme_numbers_give_an_answer_or_an_error() -> None:
    rng = np.random.default_rng(6)
    answers = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(300):
            n, m = int(rng.integers(1, 6)), int(rng.integers(1, 4))
            a, b, q, r = 10.0 ** rng.uniform(-150, 150, 4)
            A, B = a * rng.normal(size=(n, n)), b * rng.normal(size=(n, m))
            try:
                found = control.lqr(system(A, B), q * np.ones(n), r * np.ones(m), dt=[None, 1e-2][answers % 2])
                assert np.isfinite(found.K).all()
                assert np.isfinite(found.P).all()
                answers += 1
            except (control.NoRegulator, jn.SingularError):
                pass
            try:
                K, P = control.riccati([0, 1], [A, A], [B, B], q * np.ones(n), r * np.ones(m), np.ones(n))
                assert np.isfinite(K).all()
                assert np.isfinite(P).all()
            except jn.SingularError:
                pass
    assert answers > 10


def test_batches_and_empty_ones() -> None:
    rng = np.random.default_rng(7)
    A, B = rng.normal(size=(3, 50, 6, 6)), rng.normal(size=(3, 50, 6, 2))
    E, F = system(A, B).discretize(0.1)
    for i in np.ndindex(3, 50):
        one = system(A[i], B[i]).discretize(0.1)
        np.testing.assert_array_equal(E[i], one[0])
        np.testing.assert_array_equal(F[i], one[1])
    E, F = system(A[:, :0], B[:, :0]).discretize(0.1)
    assert E.shape == (3, 0, 6, 6)
    assert F.shape == (3, 0, 6, 2)
    E, F = system(A[0], B[0, ..., :0]).discretize(0.1)
    assert F.shape == (50, 6, 0)


def test_needs_numpy_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    np.testing.assert_allclose(control.lqr(system(A, B), [1, 1], [1]).K, [[1.0, np.sqrt(3)]])
    assert control.lqr(system(A, B), [1, 1], [1], dt=0.1).K.shape == (1, 2)
