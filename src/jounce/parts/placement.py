"""Poses as people write them down: a position, and a rotation in one of the usual ways."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import array_of, callers, flag, pose, quoted, reals, unit
from jounce.errors import ModelWarning
from jounce.parts.pose import exponential
from jounce.parts.pose import rotation as of_quaternion

Array = NDArray[np.float64]
_TURNS = 15.0  # rad, more than two turns


def placement(
    xyz: ArrayLike = (0.0, 0.0, 0.0),
    rpy: ArrayLike | None = None,
    *,
    quaternion: ArrayLike | None = None,
    axis: ArrayLike | None = None,
    angle: float | None = None,
    rotation_vector: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    degrees: bool = False,
) -> Array:
    """A pose (4, 4), for `Builder.add` and wherever else one is expected.

    The rotation is given in one way, or left out: then there is none. `jounce.poses` has the ways back, and makes many
    poses at once.

    Args:
        xyz: (3,) position, m.
        rpy: (3,) roll, pitch and yaw, rad, as in URDF: about the fixed axes x, y and z, in this order.
        quaternion: (4,) x y z w, of length 1 within 1e-6.
        axis, angle: turned about the axis (3,), of any length, by the angle, rad.
        rotation_vector: (3,) turned about its direction by its length, rad.
        rotation: (3, 3) matrix.
        degrees: whether rpy, angle or rotation_vector is in degrees.

    Warns:
        ModelWarning: rpy or angle, in radians, are whole numbers of more than two turns, as degrees are.

    Returns:
        (4, 4): a point p of the placed frame is at R p + xyz.

    >>> import jounce as jn
    >>> jn.placement((0.1, 0, 0.5), rpy=(0, 0, np.pi / 2)).round(12) + 0.0
    array([[ 0. , -1. ,  0. ,  0.1],
           [ 1. ,  0. ,  0. ,  0. ],
           [ 0. ,  0. ,  1. ,  0.5],
           [ 0. ,  0. ,  0. ,  1. ]])
    >>> bool(np.allclose(jn.placement(axis=(0, 0, 2), angle=0.3), jn.placement(rpy=(0, 0, 0.3))))
    True
    >>> bool(np.allclose(jn.placement(rotation_vector=(0, 0, 90), degrees=True), jn.placement(rpy=(0, 0, np.pi / 2))))
    True
    """
    unit_of_angles = np.pi / 180 if flag("degrees", degrees) else 1.0
    made = np.eye(4)
    made[:3, 3] = array_of("xyz", xyz, (3,))
    turned = axis if angle is None else angle
    ways = {"rpy": rpy, "axis and angle": turned, "rotation_vector": rotation_vector}
    ways |= {"quaternion": quaternion, "rotation": rotation}
    given = [name for name, value in ways.items() if value is not None]
    if degrees and not set(given) & {"rpy", "axis and angle", "rotation_vector"}:
        raise ValueError("degrees is True, expected it with rpy, an angle or a rotation_vector")
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} were given, expected one way to give the rotation")
    if rpy is not None:
        made[:3, :3] = roll_pitch_yaw(array_of("rpy", rpy, (3,)) * unit_of_angles)
    elif quaternion is not None:
        made[:3, :3] = _of_unit_quaternion(quaternion)
    elif turned is not None:
        made[:3, :3] = _about(axis, angle, unit_of_angles)
    elif rotation_vector is not None:
        turns = array_of("rotation_vector", rotation_vector, (3,)) * unit_of_angles
        made[:3, :3] = exponential(np.concatenate([np.zeros(3), turns]))[:3, :3]
    elif rotation is not None:
        made[:3, :3] = array_of("rotation", rotation, (3, 3))
        return pose("rotation", made)
    for name, value in (("rpy", rpy), ("angle", angle)):
        if value is not None and not degrees:
            _say_if_degrees(name, value)
    return made


def _say_if_degrees(name: str, value: ArrayLike) -> None:
    """Warns of angles that are whole numbers of several turns, which are degrees as a rule."""
    angles = reals(name, value)
    if (np.abs(angles) >= _TURNS).any() and (angles == angles.round()).all():
        warnings.warn(
            f"{name} is {quoted(angles.tolist())} rad, which looks like degrees: degrees=True takes it so",
            ModelWarning,
            stacklevel=callers(),
        )


def roll_pitch_yaw(angles: ArrayLike) -> Array:
    """The rotation (3, 3) about the fixed axes x, y and z, in this order."""
    roll, pitch, yaw = np.asarray(angles, dtype=np.float64).tolist()
    cr, cp, cy = math.cos(roll), math.cos(pitch), math.cos(yaw)
    sr, sp, sy = math.sin(roll), math.sin(pitch), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def about(axis: Array, angle: float) -> Array:
    """The rotation (3, 3) about a unit axis: Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + 2 * math.sin(angle / 2) ** 2 * cross @ cross)


def unit_quaternion(name: str, value: object) -> Array:
    """(4,) x y z w, of length 1 within 1e-6, normalised."""
    given = array_of(name, value, (4,))
    length = math.hypot(*given.tolist())
    if abs(length - 1) > 1e-6:
        raise ValueError(f"{name} is {quoted(value)}, of length {length:g}, expected x y z w of length 1")
    return given / length


def _of_unit_quaternion(value: ArrayLike) -> Array:
    x, y, z, w = unit_quaternion("quaternion", value)
    return of_quaternion((w, x, y, z))


def _about(axis: ArrayLike | None, angle: float | None, unit_of_angles: float) -> Array:
    if axis is None or angle is None:
        name, other = ("axis", "angle") if angle is None else ("angle", "axis")
        raise ValueError(f"{name} was given without {other}, expected both or neither")
    return about(unit("axis", axis), unit_of_angles * float(array_of("angle", angle, ())))
