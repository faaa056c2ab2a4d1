"""The <origin> of a URDF's joints, inertias and visuals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jounce.loading.xml_source import Element
from jounce.parts.placement import roll_pitch_yaw

Array = NDArray[np.float64]
_ZERO = (0.0, 0.0, 0.0)
IDENTITY = np.eye(4)


def pose_of(origin: Element | None) -> Array:
    """Placement (4, 4) of an <origin>: roll, pitch and yaw about the fixed x, y and z, in this order."""
    if origin is None:
        return IDENTITY
    pose = IDENTITY.copy()
    pose[:3, 3] = origin.numbers("xyz", 3, _ZERO)
    if "quat_xyzw" in origin.attributes:  # URDF 1.2
        pose[:3, :3] = _from_quaternion(origin)
    elif "rpy" in origin.attributes:
        pose[:3, :3] = roll_pitch_yaw(origin.numbers("rpy", 3, _ZERO))
    return pose


def _from_quaternion(origin: Element) -> Array:
    if "rpy" in origin.attributes:
        raise origin.error("has both rpy and quat_xyzw, expected one of them")
    quaternion = origin.numbers("quat_xyzw", 4, (0.0, 0.0, 0.0, 1.0))
    length = math.hypot(*quaternion)
    if abs(length - 1) > 1e-3:  # files round to a few digits
        raise origin.error(f"quat_xyzw has length {length:g}, expected 1")
    x, y, z, w = (part / length for part in quaternion)
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        )
    )
