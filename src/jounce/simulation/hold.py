"""Joints that are held, as of ``jounce simulate --hold``: each stays where it started, by a spring and a damper.

Their strength follows from the inertia M that each joint moves at the start: M w^2 and 2 M w, critically damped at w.
The weight is carried, and joints without motors, `Free` joints and the shapes of soft bodies, are left alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.joints import Free
from jounce.parts.sections import Shape

Array = NDArray[np.float64]


def holding(robot: Model, q0: Array, frequency: float) -> Callable[[float, Array, Array], Array]:
    """A torque (t, q, v) -> (nv,), for springs of that frequency, Hz."""
    if not 0 < frequency <= 1e6:
        raise ValueError(f"--hold is {frequency:g}, expected a positive frequency, Hz, up to 1e6")
    rate = 2 * math.pi * frequency
    driven = np.zeros(robot.nv)
    for body, (_, where) in robot._moving():
        driven[where] = 0.0 if isinstance(body.joint, (Free, Shape)) else 1.0
    inertia = driven * np.diag(robot.mass_matrix(q0))

    def torque(t: float, q: Array, v: Array) -> Array:
        away = robot.difference(q0, q)
        held: Array = driven * robot.gravity_force(q) - inertia * (rate**2 * away + 2 * rate * v)
        return held

    return torque
