"""SciPy and python-control: regulators, and systems in discrete time, from jounce's linearization."""

from __future__ import annotations

import numpy as np

from ..hover import STEP, horizon, hovering, regulated
from ..race import Array, Call, Problem


def scipy(problem: Problem) -> Call | None:
    from scipy import linalg

    lin = hovering(problem)
    if lin is None:
        return None
    A, B, Q, R = lin.A, lin.B, *regulated(lin)
    if problem.quantity == "regulator":

        def gain() -> Array:
            P = linalg.solve_continuous_are(A, B, Q, R)
            return np.asarray(np.linalg.solve(R, B.T @ P))

        return Call("solve_continuous_are", gain, gain)
    if problem.quantity == "discrete time":
        n, m = B.shape[-2:]

        def exponential() -> Array:
            both = np.zeros((len(A), n + m, n + m))
            both[:, :n, :n], both[:, :n, n:] = STEP * A, STEP * B
            return np.asarray(linalg.expm(both))[:, :n]

        return Call("expm", exponential, exponential, states=problem.states)
    n = A.shape[-1]

    def backward() -> Array:
        """Each interval by the exponential of its Hamiltonian matrix, which works if it is short."""
        a, b = (A[1:] + A[:-1]) / 2, (B[1:] + B[:-1]) / 2
        g = b @ np.linalg.solve(R, np.swapaxes(b, -1, -2))
        M = np.block([[a, -g], [np.broadcast_to(-Q, a.shape), -np.swapaxes(a, -1, -2)]])
        L = linalg.expm(-np.diff(horizon(problem))[:, None, None] * M)
        P = np.empty_like(A)
        P[-1] = Q
        for k in range(len(A) - 2, -1, -1):
            X = L[k] @ np.vstack([np.eye(n), P[k + 1]])
            P[k] = np.linalg.solve(X[:n].T, X[n:].T).T
        return np.asarray(np.linalg.solve(R, np.swapaxes(B, -1, -2) @ P))

    return Call("expm of the Hamiltonian matrices", backward, backward, states=problem.states)


def python_control(problem: Problem) -> Call | None:
    import control

    lin = hovering(problem)
    if lin is None or problem.quantity == "regulators":
        return None
    Q, R = regulated(lin)
    if problem.quantity == "regulator":

        def gain() -> Array:
            return np.asarray(control.lqr(lin.A, lin.B, Q, R)[0])

        return Call("lqr", gain, gain)
    m = lin.B.shape[-1]
    systems = [control.ss(A, B, np.eye(len(A)), np.zeros((len(A), m))) for A, B in zip(lin.A, lin.B, strict=True)]

    def sampled() -> list[object]:
        return [control.c2d(system, STEP) for system in systems]

    def answer() -> Array:
        return np.array([np.hstack([s.A, s.B]) for s in sampled()])  # type: ignore[attr-defined]

    return Call("c2d", sampled, answer, states=problem.states)
