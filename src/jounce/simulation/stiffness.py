"""The motion linearized about a state: needed by implicit methods, and to explain short steps.

Small changes obey M dv' + D dv + K dq = 0, with the exact derivatives of the inverse dynamics, minus those of the
torque, by differences; with constraints M = 1, and D and K are the negative derivatives of the acceleration.
"""

from __future__ import annotations

import math

import numpy as np

from jounce.model import Model
from jounce.simulation.stepping import Array, Layout, TorqueFunction

_SLIGHT = math.sqrt(np.finfo(float).eps)  # relative step for differences of torques


def linear_system(
    robot: Model, layout: Layout, torque: TorqueFunction, t: float, q: Array, v: Array, a: Array
) -> tuple[Array, Array, Array]:
    """M, D and K (nv, nv) at a state with dv/dt = a; `torque` returns (nv,)."""
    now = torque(t, q, v)
    by_q, by_v = torque_slopes(robot, layout, torque, t, q, v, now)
    if robot.constraints:
        acc_q, acc_v, acc_tau = robot.forward_dynamics_derivatives(q, v, now)
        return np.eye(robot.nv), -acc_v - acc_tau @ by_v, -acc_q - acc_tau @ by_q
    K, D, M = robot.inverse_dynamics_derivatives(q, v, a)
    return M, D - by_v, K - by_q


def torque_slopes(
    robot: Model, layout: Layout, torque: TorqueFunction, t: float, q: Array, v: Array, now: Array
) -> tuple[Array, Array]:
    """Derivatives of a torque with value `now` by position and velocity, (nv, nv) each, by differences."""
    by_q, by_v = np.empty((2, robot.nv, robot.nv))
    dq, dv = (_SLIGHT * np.maximum(size, 0.01) for size in (layout.size(q), np.abs(v)))
    for i in range(robot.nv):
        moved = np.zeros(robot.nv)
        moved[i] = dq[i]
        by_q[:, i] = (torque(t, robot.integrate(q, moved), v) - now) / dq[i]
        moved[i] = dv[i]
        by_v[:, i] = (torque(t, q, v + moved) - now) / dv[i]
    return by_q, by_v
