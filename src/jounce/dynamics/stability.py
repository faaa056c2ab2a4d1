"""Whether an equilibrium is stable, and along which motion a robot leaves one that is not.

With forces that have a potential, the tangent stiffness K is symmetric, and an equilibrium is stable if K is positive
definite in the motions that constraints and held joints allow. Otherwise, as under loads that turn with a body, the
motion decides: no eigenvalue of the linearization M q'' + D q' + K q = 0 may have a positive real part (H. Ziegler,
Principles of Structural Stability, 1968).

An equilibrium is lost, here, if some small push grows. One that is neither stable nor lost is indifferent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.constraints.static_ties import Ties
from jounce.dynamics.interruptible import eigenvalues

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_ZERO = 1e-12  # an eigenvalue, relative to the largest
_SYMMETRIC = 1e-8
_DEFECTIVE = 1e-3  # the error of a zero rate that is there four times, as that of a thrust which turns with a drone
_SAME = 1e-3  # two eigenvalues, relative to their size


class Stability(NamedTuple):
    """What becomes of a small push: it stays small in a stable equilibrium, and grows in one that is lost."""

    stable: bool
    lost: bool


def judged(robot: Model, q: Array, K: Array, ties: Ties, scale: Array) -> Stability:
    """The stability of an equilibrium with stiffness K (nv, nv); `scale` (nv,) makes coordinates comparable."""
    Z = ties.split(scale)[1]
    scaled = _reduced(K, Z, scale)
    if _symmetric(scaled):
        values = np.linalg.eigvalsh(scaled)
        zero = _ZERO * _most(scaled)
        return Stability(bool((values > zero).all()), bool((values < -zero).any()))
    indifferent = np.linalg.norm(scaled, -2) <= _ZERO * _most(scaled)
    rates = eigenvalues(_system(robot, q, K, Z / scale[:, None]))
    grows = bool(rates.real.max() > (_DEFECTIVE if indifferent else _SYMMETRIC) * np.abs(rates).max())
    return Stability(not grows and not indifferent, grows)


def critical_mode(robot: Model, q: Array, K: Array, ties: Ties, scale: Array) -> Array | None:
    """The displacement (nv,) that grows from an equilibrium that is lost; None if it grows while it oscillates.

    Its sign, and its direction if several are alike, as those of a round column, are such that the coordinate with the
    largest part in it grows, the first of these coordinates if there are several.
    """
    Z = ties.split(scale)[1]
    scaled = _reduced(K, Z, scale)
    if _symmetric(scaled):
        values, vectors = np.linalg.eigh(scaled)
        modes = Z @ vectors[:, values <= values[0] + _SAME * abs(values[0])]
    else:
        rates, states = np.linalg.eig(_system(robot, q, K, Z / scale[:, None]))
        worst = int(np.argmax(rates.real))
        if abs(rates[worst].imag) > _SYMMETRIC * abs(rates[worst]):
            return None
        modes = Z @ states[: len(scaled), worst : worst + 1].real
        modes = modes / np.linalg.norm(modes)
    parts = np.linalg.norm(modes, axis=1)
    first = int(np.argmax(parts >= (1 - _SAME) * parts.max()))
    return np.asarray(modes @ modes[first] / scale)


def _reduced(K: Array, Z: Array, scale: Array) -> Array:
    return np.asarray(Z.T @ (K / scale[:, None] / scale) @ Z)


def _symmetric(K: Array) -> bool:
    return _most(K - K.T) <= _SYMMETRIC * _most(K)


def _system(robot: Model, q: Array, K: Array, free: Array) -> Array:
    """The matrix of the first-order system in the free motions, the columns of `free`, and their rates."""
    rest = np.zeros(robot.nv)
    _, D, M = robot.inverse_dynamics_derivatives(q, rest, rest)
    K, D, M = (free.T @ each @ free for each in (K, D, M))
    inverse, one = np.linalg.pinv(M, hermitian=True), np.eye(len(K))
    return np.block([[0 * one, one], [-inverse @ K, -inverse @ D]])


def _most(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
