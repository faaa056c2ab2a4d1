"""The Franka Emika Panda with the inertial parameters that paper C takes, and a smooth motion for it.

Masses, centres of mass and inertias are those that the maker publishes (franka_description); they were identified by
C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic Identification of the Franka Emika Panda Robot
With Retrieval of Feasible Parameters Using Penalty-Based Optimization", IEEE Robotics and Automation Letters 4(4),
2019. They are in the link frames of the maker's model (modified Denavit-Hartenberg), whose geometry this is. How high
the first link's centre is differs between copies; it loads no joint. No hand, no friction, no rotor inertia.
"""

from __future__ import annotations

from math import pi

import numpy as np

from ..builder import Builder
from ..inertia import Inertia
from ..joints import Revolute
from ..model import Model
from .claims import Array

# turn about x, shift x, y, z of each joint in the link before it
_GEOMETRY = (
    (0.0, 0.0, 0.0, 0.333),
    (-pi / 2, 0.0, 0.0, 0.0),
    (pi / 2, 0.0, -0.316, 0.0),
    (pi / 2, 0.0825, 0.0, 0.0),
    (-pi / 2, -0.0825, 0.384, 0.0),
    (pi / 2, 0.0, 0.0, 0.0),
    (pi / 2, 0.088, 0.0, 0.0),
)
# mass (kg); centre of mass (m); xx, yy, zz, xy, xz, yz about it (kg m^2)
_INERTIAS = (
    (4.970684, (3.875e-3, 2.081e-3, -4.762e-2), (7.0337e-1, 7.0661e-1, 9.117e-3, -1.39e-4, 6.772e-3, 1.9169e-2)),
    (0.646926, (-3.141e-3, -2.872e-2, 3.495e-3), (7.962e-3, 2.811e-2, 2.5995e-2, -3.925e-3, 1.0254e-2, 7.04e-4)),
    (3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2), (3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.1396e-2, -1.2805e-2)),
    (3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2), (2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, -1.332e-3, 8.641e-3)),
    (1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2), (3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4)),
    (1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2), (1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4)),
    (0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2), (1.2516e-2, 1.0027e-2, 4.815e-3, -4.28e-4, -1.196e-3, -7.41e-4)),
)
LIMITS = (  # of the joints: rad, rad and rad/s, the maker's
    (-2.8973, 2.8973, 2.175),
    (-1.7628, 1.7628, 2.175),
    (-2.8973, 2.8973, 2.175),
    (-3.0718, -0.0698, 2.175),
    (-2.8973, 2.8973, 2.61),
    (-0.0175, 3.7525, 2.61),
    (-2.8973, 2.8973, 2.61),
)
PERIOD = 10.0  # s
_MIDDLE = np.array([0.0, -0.3, 0.0, -1.8, 0.0, 1.7, 0.8])
_SWING = np.array([[0.7, 0.5, 0.6, 0.6, 0.8, 0.6, 0.9], [0.25, -0.2, 0.3, 0.25, -0.3, 0.3, -0.3]])  # rad
_WAVES = np.array([[1, 1, 2, 1, 2, 2, 3], [3, 2, 3, 3, 4, 3, 4]])  # in a period
_PHASE = np.array([[0.0, 0.6, 1.1, -0.5, 0.3, 0.9, 0.0], [0.4, 1.3, -0.2, 0.7, 1.5, -0.8, 0.2]])


def panda(tilt: float = 0.0) -> Model:
    """Seven revolute joints on a fixed base, which is tilted about x by so many radians.

    >>> robot = panda()
    >>> robot.nv, round(sum(body.inertia.mass for body in robot.bodies), 3)
    (7, 16.062)
    """
    builder = Builder()
    for i, ((turn, *shift), (mass, com, (xx, yy, zz, xy, xz, yz))) in enumerate(
        zip(_GEOMETRY, _INERTIAS, strict=True), 1
    ):
        placement = np.eye(4)
        placement[:3, 3] = shift
        turn += tilt if i == 1 else 0.0
        placement[1:3, 1:3] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        rotational = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        parent = f"link{i - 1}" if i > 1 else "world"
        builder.add(f"link{i}", parent, Revolute((0, 0, 1), name=f"q{i}"), placement, Inertia(mass, com, rotational))
    return builder.build()


def motion(t: Array, rows: int) -> tuple[Array, Array]:
    """q (T, 7) and velocity stacks (T, rows, 7): two sine waves for each joint, within the limits of the robot.

    >>> q, v = motion(np.linspace(0, PERIOD, 500), 1)
    >>> low, high, speed = np.transpose(LIMITS)
    >>> bool((q > low).all() and (q < high).all() and (np.abs(v[:, 0]) < speed).all())
    True
    """
    rate = 2 * pi * _WAVES / PERIOD
    angle = rate * t[:, None, None] + _PHASE
    q = _MIDDLE + (_SWING * np.sin(angle)).sum(axis=1)
    stack = [(_SWING * rate**k * np.sin(angle + k * pi / 2)).sum(axis=1) for k in range(1, rows + 1)]
    return q, np.stack(stack, axis=1)
