"""A smooth motion for the Panda of paper C, `jounce.robots.panda`."""

from __future__ import annotations

from math import pi

import numpy as np

from jounce.robots import panda as panda

from .claims import Array

PERIOD = 10.0  # s
_MIDDLE = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.7, 0.8])
_SWING = np.array([[0.7, 0.5, 0.6, 0.6, 0.8, 0.6, 0.9], [0.25, -0.2, 0.3, 0.25, -0.3, 0.3, -0.3]])  # rad
_WAVES = np.array([[1, 1, 2, 1, 2, 2, 3], [3, 2, 3, 3, 4, 3, 4]])  # in a period
_PHASE = np.array([[0.0, 0.6, 1.1, -0.5, 0.3, 0.9, 0.0], [0.4, 1.3, -0.2, 0.7, 1.5, -0.8, 0.2]])


def motion(t: Array, rows: int) -> tuple[Array, Array]:
    """q (T, 7) and velocity stacks (T, rows, 7): two sine waves for each joint, within the limits of the robot.

    >>> q, v = motion(np.linspace(0, PERIOD, 500), 1)
    >>> robot = panda()
    >>> bool((q > robot.lower).all() and (q < robot.upper).all() and (np.abs(v[:, 0]) < robot.velocity_limit).all())
    True
    """
    rate = 2 * pi * _WAVES / PERIOD
    angle = rate * t[:, None, None] + _PHASE
    q = _MIDDLE + (_SWING * np.sin(angle)).sum(axis=1)
    stack = [(_SWING * rate**k * np.sin(angle + k * pi / 2)).sum(axis=1) for k in range(1, rows + 1)]
    return q, np.stack(stack, axis=1)
