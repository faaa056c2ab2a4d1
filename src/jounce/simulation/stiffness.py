"""The linear system that a motion is near a state: what an implicit method needs, and what explains short steps.

Small changes obey M dv' + D dv + K dq = 0, with the derivatives of the inverse dynamics, exact, less those of the
torque, by differences. The eigenvalues of that system are the rates at which such changes grow, fade and swing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.simulation.stepping import Array, Layout, TorqueFunction

_SLIGHT = math.sqrt(np.finfo(float).eps)  # relative, to take differences of torques


def linear_system(
    robot: Model, layout: Layout, torque: TorqueFunction, t: float, q: Array, v: Array, a: Array
) -> tuple[Array, Array, Array]:
    """M, D and K (nv, nv) at a state with dv/dt = a; `torque` returns (nv,)."""
    K, D, M = robot.inverse_dynamics_derivatives(q, v, a)
    now = torque(t, q, v)
    dq, dv = (_SLIGHT * np.maximum(size, 0.01) for size in (layout.size(q), np.abs(v)))
    for i in range(robot.nv):
        moved = np.zeros(robot.nv)
        moved[i] = dq[i]
        K[:, i] -= (torque(t, robot.integrate(q, moved), v) - now) / dq[i]
        moved[i] = dv[i]
        D[:, i] -= (torque(t, q, v + moved) - now) / dv[i]
    return M, D, K


def rates(M: Array, D: Array, K: Array) -> NDArray[np.complex128]:
    """The eigenvalues (2 nv,) of the system, 1/s.

    Raises:
        LinAlgError: M is singular, or the numbers are not finite.
    """
    inverse, one = np.linalg.inv(M), np.eye(len(M))
    found: NDArray[np.complex128] = np.linalg.eigvals(np.block([[0 * one, one], [-inverse @ K, -inverse @ D]]))
    return found
