"""The motion linearized about a state: needed by implicit methods, and to explain short steps.

Small changes obey M dv' + D dv + K dq = 0, with the exact derivatives of the inverse dynamics, minus those of the
torque, by differences; with constraints M = 1, and D and K are the negative derivatives of the acceleration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jounce.core_tables import resolve
from jounce.dynamics.named_coordinates import names
from jounce.model import Model
from jounce.parts.joints import Follow
from jounce.simulation.stepping import Array, Layout, TorqueFunction
from jounce.units import UNITS

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


@dataclass(frozen=True)
class Fading:
    """How fast joints come to rest under their own damping and dry friction.

    Attributes:
        rate: of the fastest such motion, 1/s.
        joint: that slows down fastest by itself.
        damping: of that joint, friction at standstill included.
        unit: of that.
    """

    rate: float
    joint: str
    damping: float
    unit: str

    @staticmethod
    def of(robot: Model, q: Array, v: Array, tau: Array) -> Fading | None:
        """At a state; None if no joint has damping or friction."""
        leaders, slope = resolve(robot.bodies), np.zeros(robot.nv)
        largest, owners = np.zeros(robot.nv), [""] * robot.nv
        for body in robot.bodies:
            if not body.joint.nv:
                continue
            follow = leaders.get(body.joint_name, Follow(body.joint_name))
            own = follow.ratio**2 * (body.joint.damping + body.joint.friction / body.joint.friction_speed)
            where = robot.coordinate(follow.joint)
            slope[where] += own
            for i, share in zip(range(where.start, where.stop), own, strict=True):
                if share > largest[i]:
                    largest[i], owners[i] = share, body.joint_name
        if not slope.any():
            return None
        lightness = robot.forward_dynamics_derivatives(q, v, tau)[2]
        fastest = int(np.argmax(slope * np.diagonal(lightness)))
        rates = np.linalg.eigvalsh(np.sqrt(slope)[:, None] * lightness * np.sqrt(slope))
        speed = names(robot).v_units[fastest]
        force = next(units.force for units in UNITS.values() if units.rate == speed)
        return Fading(float(rates[-1]), owners[fastest], float(slope[fastest]), f"{force}/({speed})")


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
