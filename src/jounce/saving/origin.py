"""The <origin> of a URDF's joints, inertias and visuals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jounce.saving.document import Element, add, numbers

Array = NDArray[np.float64]


def add_origin(parent: Element, pose: Array) -> None:
    """Adds one, unless the pose (4, 4) is the identity."""
    attributes = {}
    if pose[:3, 3].any():
        attributes["xyz"] = numbers(pose[:3, 3])
    if (pose[:3, :3] != np.eye(3)).any():
        attributes["rpy"] = numbers(roll_pitch_yaw(pose[:3, :3]))
    if attributes:
        add(parent, "origin", attributes)


def roll_pitch_yaw(turn: Array) -> tuple[float, float, float]:
    """Angles about the fixed x, y and z, in this order, of a rotation (3, 3).

    The roll is that of the rotation with its yaw undone, so that they fit together to the last digits even where the
    pitch is a right angle and either of them could be anything.

    >>> roll_pitch_yaw(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]))
    (0.0, 1.5707963267948966, 0.0)
    """
    yaw = math.atan2(turn[1, 0], turn[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-turn[2, 0], c * turn[0, 0] + s * turn[1, 0])
    roll = math.atan2(s * turn[0, 2] - c * turn[1, 2], c * turn[1, 1] - s * turn[0, 1])
    return roll, pitch, yaw
