"""Poses and motions between them: exponential, logarithm and adjoint of SE(3), and rotations as people write them.

A pose is a matrix (..., 4, 4): a point p of the placed frame is at R p + x. A twist is [linear; angular]. Leading
dimensions are batch dimensions and broadcast. Rotations come back to the last digits, however small they are, near half
a turn, and where roll and yaw turn about the same axis. `jounce.placement` makes one pose from whatever is at hand.

==========================  ==================================================================================
function                    what it is
==========================  ==================================================================================
`exp`, `log`                the pose that a constant twist, in its own axes, leads to in unit time; and back
`adjoint`                   the matrix that takes twists from the placed frame's axes and origin to the outer ones
`inverse`                   the outer frame in the placed one
`error`                     the twist that leads from one pose to another in unit time
`from_quaternion`, ...      a pose from x y z w, from a rotation vector, from roll, pitch and yaw; and a position
`to_quaternion`, ...        the rotation of a pose, or (..., 3, 3) alone, in the same forms
==========================  ==================================================================================

>>> from jounce import poses
>>> H = poses.from_rpy((0, 0, 90), (0.1, 0, 0.5), degrees=True)
>>> poses.to_rotation_vector(H, degrees=True).round(9)
array([ 0.,  0., 90.])
>>> bool(np.allclose(poses.exp(poses.log(H)), H))
True
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import Frame, axes, batch_of, flag, quoted, reals
from jounce.errors import RangeError
from jounce.parts.pose import exponential, quaternions

__all__ = [
    "adjoint",
    "error",
    "exp",
    "from_quaternion",
    "from_rotation_vector",
    "from_rpy",
    "inverse",
    "log",
    "to_quaternion",
    "to_rotation_vector",
    "to_rpy",
]

Array = NDArray[np.float64]


def __dir__() -> list[str]:
    return sorted(__all__)


def exp(twist: ArrayLike) -> Array:
    """The pose (..., 4, 4) that a twist leads to in unit time from the identity, if it is constant in the moving axes.

    So that of a body with velocity V in its own axes ("body") is ``H @ exp(t * V)`` after t seconds.

    Args:
        twist: (..., 6) [linear; angular], m and rad.

    >>> exp((0, 0, 0, 0, 0, np.pi / 2)).round(12)[:3, :3] + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return _exponential("twist", _rows("twist", twist, 6))


def log(pose: ArrayLike) -> Array:
    """The twist (..., 6) whose `exp` is a pose, with an angle of at most pi; at pi, one of the two that there are.

    Args:
        pose: (..., 4, 4).

    Returns:
        (..., 6) [linear; angular], m and rad.

    >>> log(exp((0.1, 0.2, 0.3, 0, 0, 1.0))).round(12)
    array([0.1, 0.2, 0.3, 0. , 0. , 1. ])
    """
    H = _poses("pose", pose)
    w, x = _rotation_vector(H[..., :3, :3]), H[..., :3, 3]
    square = (w * w).sum(axis=-1)
    half = np.sqrt(square) / 2
    small = half < 1e-2
    safe = np.where(small, 1.0, half)
    # (1 - h cot h) / (2 h)^2, whose series is 1/12 + h^2/180 + h^4/1890 + ...
    closed = (1 - safe * np.cos(safe) / np.sin(safe)) / (4 * safe * safe)
    k = np.where(small, 1 / 12 + half * half * (1 / 180 + half * half / 1890), closed)
    across = np.cross(w, x)
    v = x - across / 2 + k[..., None] * np.cross(w, across)
    return np.concatenate([v, w], axis=-1)


def adjoint(pose: ArrayLike) -> Array:
    """The matrix (..., 6, 6) that takes twists [linear; angular] from the placed frame to the outer one.

    Of the pose of a body in the world, from "body" to "world" axes. Its transpose takes wrenches [force; moment] the
    other way, and ``adjoint(inverse(pose))`` is its inverse.

    Args:
        pose: (..., 4, 4).

    >>> import jounce as jn
    >>> robot = jn.robots.panda()
    >>> q, v = robot.neutral(), np.ones(7)
    >>> world = adjoint(robot.pose("link7", q)) @ robot.twist("link7", q, v)
    >>> bool(np.allclose(world, robot.twist("link7", q, v, frame="world")))
    True
    """
    H = _poses("pose", pose)
    R, (x, y, z) = H[..., :3, :3], np.moveaxis(H[..., :3, 3], -1, 0)
    none = np.zeros_like(x)
    cross = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(R.shape)
    made = np.zeros((*H.shape[:-2], 6, 6))
    made[..., :3, :3] = made[..., 3:, 3:] = R
    made[..., :3, 3:] = cross @ R
    return made


def inverse(pose: ArrayLike) -> Array:
    """The inverse (..., 4, 4) of a pose (..., 4, 4): [R.T, -R.T x].

    >>> inverse(exp((1.0, 0, 0, 0, 0, 0)))[:3, 3] + 0.0
    array([-1.,  0.,  0.])
    """
    H = _poses("pose", pose)
    back = H.copy()
    back[..., :3, :3] = H[..., :3, :3].swapaxes(-1, -2)
    back[..., :3, 3] = -np.einsum("...ji,...j->...i", H[..., :3, :3], H[..., :3, 3])
    return back


def error(pose: ArrayLike, target: ArrayLike, *, frame: Frame = "body") -> Array:
    """The constant twist that leads from a pose to the target in unit time, for control: zero where they are the same.

    In "body" and "world" axes it is the logarithm of pose^-1 target and of target pose^-1: one screw. In "mixed" axes
    position and orientation are separate: the way to the target, and the rotation vector of R_target R^T, in world
    axes. All three go with the Jacobians and twists of the same ``frame``.

    Args:
        pose, target: (..., 4, 4).
        frame: axes of the result.

    Returns:
        (..., 6) [linear; angular], m and rad, the shorter way around.

    >>> here, there = exp((0.1, 0, 0, 0, 0, 0)), exp((0.1, 0.2, 0, 0, 0, 0))
    >>> error(here, there, frame="mixed")
    array([0. , 0.2, 0. , 0. , 0. , 0. ])
    """
    H, T = _poses("pose", pose), _poses("target", target)
    batch_of(pose=H.shape[:-2], target=T.shape[:-2])
    match axes("frame", frame):
        case "body":
            return log(inverse(H) @ T)
        case "world":
            return log(T @ inverse(H))
    turn = _rotation_vector(T[..., :3, :3] @ H[..., :3, :3].swapaxes(-1, -2))
    return np.concatenate([T[..., :3, 3] - H[..., :3, 3], turn], axis=-1)


def from_quaternion(quaternion: ArrayLike, xyz: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """The pose (..., 4, 4) with the rotation of a quaternion, and a position.

    Args:
        quaternion: (..., 4) x y z w, of length 1 within 1e-6.
        xyz: (..., 3), m.

    >>> q = np.array([0.1, 0.2, 0.3, 0, 0, 0, 1])  # as in the configuration of a Free joint
    >>> from_quaternion(q[3:], q[:3])[:3]
    array([[1. , 0. , 0. , 0.1],
           [0. , 1. , 0. , 0.2],
           [0. , 0. , 1. , 0.3]])
    """
    given = _rows("quaternion", quaternion, 4)
    with np.errstate(over="ignore"):
        length = np.sqrt((given * given).sum(axis=-1, keepdims=True))
    if (np.abs(length - 1) > 1e-6).any():
        worst = float(length.flat[int(np.abs(length - 1).argmax())])
        raise ValueError(f"quaternion has length {worst:g}, expected x y z w of length 1: {quoted(quaternion)}")
    x, y, z, w = np.moveaxis(given / length, -1, 0)
    rows = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    rows += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return _placed(np.stack(rows, axis=-1).reshape(*x.shape, 3, 3), xyz)


def to_quaternion(pose: ArrayLike) -> Array:
    """The quaternion (..., 4) x y z w of the rotation of a pose, of length 1 and with w >= 0.

    Args:
        pose: (..., 4, 4), or a rotation (..., 3, 3).

    >>> to_quaternion(np.diag([1.0, -1.0, -1.0]))
    array([1., 0., 0., 0.])
    """
    return _quaternion(_rotations(pose))


def from_rotation_vector(vector: ArrayLike, xyz: ArrayLike = (0.0, 0.0, 0.0), *, degrees: bool = False) -> Array:
    """The pose (..., 4, 4) turned about the direction of a vector by its length, and a position.

    Args:
        vector: (..., 3), rad.
        xyz: (..., 3), m.
        degrees: whether the vector is in degrees.

    >>> from_rotation_vector((0, 0, 90), degrees=True)[:3, :3].round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    w = _angles("vector", vector, degrees)
    return _placed(_exponential("vector", np.concatenate([np.zeros_like(w), w], axis=-1))[..., :3, :3], xyz)


def to_rotation_vector(pose: ArrayLike, *, degrees: bool = False) -> Array:
    """The rotation vector (..., 3) of a pose, rad, of length at most pi; at pi, one of the two that there are.

    Args:
        pose: (..., 4, 4), or a rotation (..., 3, 3).
        degrees: whether to return degrees.

    >>> to_rotation_vector(np.diag([1.0, -1.0, -1.0])).round(6)
    array([3.141593, 0.      , 0.      ])
    """
    found = _rotation_vector(_rotations(pose))
    return np.degrees(found) if flag("degrees", degrees) else found


def from_rpy(angles: ArrayLike, xyz: ArrayLike = (0.0, 0.0, 0.0), *, degrees: bool = False) -> Array:
    """The pose (..., 4, 4) with roll, pitch and yaw about the fixed axes x, y and z, in this order, as in URDF.

    Args:
        angles: (..., 3) roll, pitch, yaw, rad.
        xyz: (..., 3), m.
        degrees: whether the angles are in degrees.

    >>> bool(np.allclose(from_rpy((0, 0, 0.3)), from_rotation_vector((0, 0, 0.3))))
    True
    """
    roll, pitch, yaw = np.moveaxis(_angles("angles", angles, degrees), -1, 0)
    cr, cp, cy = np.cos(roll), np.cos(pitch), np.cos(yaw)
    sr, sp, sy = np.sin(roll), np.sin(pitch), np.sin(yaw)
    rows = [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr]
    rows += [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr]
    rows += [-sp, cp * sr, cp * cr]
    return _placed(np.stack(rows, axis=-1).reshape(*roll.shape, 3, 3), xyz)


def to_rpy(pose: ArrayLike, *, degrees: bool = False) -> Array:
    """Roll, pitch and yaw (..., 3) of a pose, rad, as in URDF: pitch in [-pi/2, pi/2], the others in [-pi, pi].

    At a pitch of pi/2 or -pi/2 only a sum or difference of roll and yaw is determined; those returned give the same
    rotation.

    Args:
        pose: (..., 4, 4), or a rotation (..., 3, 3).
        degrees: whether to return degrees.

    >>> to_rpy(from_rpy((0.1, 0.2, 0.3))).round(12)
    array([0.1, 0.2, 0.3])
    """
    R = _rotations(pose)
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    c, s = np.cos(yaw), np.sin(yaw)  # of what is left without the yaw, roll is about x
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    pitch = np.arctan2(-R[..., 2, 0], c * R[..., 0, 0] + s * R[..., 1, 0])
    found = np.stack([roll, pitch, yaw], axis=-1)
    return np.degrees(found) if flag("degrees", degrees) else found


def _exponential(name: str, twist: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        found = exponential(twist)
    if not np.isfinite(found).all():
        raise RangeError(f"{name} is too large for double precision: {quoted(twist.tolist())}")
    return found


def _rotation_vector(R: Array) -> Array:
    """From the quaternion, whose vector has the sine of half the angle and w its cosine."""
    u = _quaternion(R)
    sine = np.sqrt((u[..., :3] * u[..., :3]).sum(axis=-1))
    # The angle over its sine; where the sine underflows, so does the rotation.
    factor = np.where(sine > 0, 2 * np.arctan2(sine, u[..., 3]) / np.where(sine > 0, sine, 1.0), 2.0)
    return np.asarray(u[..., :3] * factor[..., None])


def _quaternion(R: Array) -> Array:
    """x y z w, w >= 0."""
    w, x, y, z = np.moveaxis(quaternions(R), -1, 0)
    return np.stack([x, y, z, w], axis=-1) * np.where(np.signbit(w), -1.0, 1.0)[..., None]


def _placed(rotation: Array, xyz: ArrayLike) -> Array:
    at = _rows("xyz", xyz, 3)
    made = np.zeros((*batch_of(rotation=rotation.shape[:-2], xyz=at.shape[:-1]), 4, 4))
    made[..., :3, :3], made[..., :3, 3], made[..., 3, 3] = rotation, at, 1.0
    return made


def _angles(name: str, value: ArrayLike, degrees: bool) -> Array:
    given = _rows(name, value, 3)
    return np.radians(given) if flag("degrees", degrees) else given


def _rows(name: str, value: ArrayLike, size: int) -> Array:
    given = reals(name, value)
    if given.shape[-1:] != (size,):
        raise ValueError(f"{name} has shape {given.shape}, expected (..., {size})")
    _expect_finite(name, given)
    return given


def _poses(name: str, value: ArrayLike) -> Array:
    given = reals(name, value)
    if given.shape[-2:] != (4, 4):
        raise ValueError(f"{name} has shape {given.shape}, expected (..., 4, 4)")
    _expect_finite(name, given)
    if (np.abs(given[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) > 1e-9).any():
        raise ValueError(f"{name} has a last row that is not [0, 0, 0, 1]: {quoted(given.tolist())}")
    _expect_rotations(name, given[..., :3, :3])
    return given


def _rotations(value: ArrayLike) -> Array:
    """Those of poses (..., 4, 4), or (..., 3, 3) alone."""
    given = reals("pose", value)
    if given.shape[-2:] == (4, 4):
        return _poses("pose", given)[..., :3, :3]
    if given.shape[-2:] != (3, 3):
        raise ValueError(f"pose has shape {given.shape}, expected (..., 4, 4), or (..., 3, 3) for a rotation alone")
    _expect_finite("pose", given)
    _expect_rotations("pose", given)
    return given


def _expect_finite(name: str, given: Array) -> None:
    if not np.isfinite(given).all():
        raise ValueError(f"{name} contains nan or inf, expected finite numbers")


def _expect_rotations(name: str, R: Array) -> None:
    if not R.size:
        return
    ordinary = np.where(np.abs(R) < 2, R, 2.0)  # so that squares are finite
    off = np.abs(ordinary @ ordinary.swapaxes(-1, -2) - np.eye(3)).max(axis=(-2, -1))
    wrong = (off > 1e-6) | (np.linalg.det(ordinary) < 0)
    if wrong.any():
        i = int(np.argmax(wrong))
        where = f" in state {i}" if wrong.ndim else ""
        raise ValueError(f"{name} is not a rotation{where}: {quoted(R.reshape(-1, 3, 3)[i].tolist())}")
