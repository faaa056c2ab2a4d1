"""The propellers of the TiltHex base (paper A, section 7.1): from the base's wrench to speeds and their rates.

Propeller i sits at C_i = Rz((2 - i) pi/3) Tx(a) Rx(alpha) Ry(beta), (28), and gives the wrench (0 0 c_f,i; 0 0 c_d,i)
w_i^2 there, [force; moment]. Together they apply the wrench G u to the base, u_i = w_i^2.

The paper gives no numbers for a, alpha, beta, c_f,i and c_d,i. Neighbours turn in opposite directions, so c_d,i
alternates in sign; then G has rank 6 even with the same alpha and beta for all six, and the base is fully actuated. But
three of the six directions then come from drag alone, which is small, and speeds that fly the reference motion exist
only at tilts near 74 degrees. As on the real TiltHex, alpha also alternates here by default.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, factorial, inf, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import flag, real, reals

Array = NDArray[np.float64]
_SENSES = np.array([1.0, -1.0] * 3)  # of rotation


@dataclass(frozen=True)
class TiltHex:
    """Six tilted propellers on the base of paper A's flying robot, (28): its map from speeds to the wrench on the base.

    The paper gives no numbers. These are our choice, typical of a real base with 12-inch propellers.

    Args:
        a: distance of a propeller from the centre, m.
        alpha, beta: tilt about the arm, and then about the propeller's own y axis, rad.
        thrust: c_f of all, N s^2.
        drag: c_d, N m s^2, whose sign alternates from each propeller to the next.
        alternates: whether the sign of alpha alternates as well; (28) has a single alpha.

    >>> import jounce as jn
    >>> hexarotor = jn.robots.TiltHex()
    >>> squared = np.full(6, 500.0**2)  # rad^2/s^2
    >>> float((hexarotor.allocation() @ squared)[2].round(1))  # N, of [force; moment] in the base's axes
    30.3
    """

    a: float = 0.40
    alpha: float = np.deg2rad(35.0)
    beta: float = np.deg2rad(-10.0)
    thrust: float = 2.5e-5
    drag: float = 4.75e-7
    alternates: bool = True

    def __post_init__(self) -> None:
        for key, least in (("a", 0.0), ("alpha", -inf), ("beta", -inf), ("thrust", 0.0), ("drag", 0.0)):
            value = real(key, getattr(self, key))
            if not isfinite(value) or value < least or (value == 0 and key in ("a", "thrust")):
                kind = {
                    "drag": "finite number that is not negative",
                    "a": "positive number",
                    "thrust": "positive number",
                }
                raise ValueError(f"{key} is {value:g}, expected a {kind.get(key, 'finite number')}")
            object.__setattr__(self, key, value)
        object.__setattr__(self, "alternates", flag("alternates", self.alternates))

    def poses(self) -> Array:
        """(6, 4, 4) C_i, in the base's frame."""
        tilts = self.alpha * (_SENSES if self.alternates else np.ones(6))
        return np.array([_turn_z((2 - i) * pi / 3, self.a, tilt, self.beta) for i, tilt in enumerate(tilts, 1)])

    def allocation(self) -> Array:
        """(6, 6) G, from squared speeds to [force; moment] on the base in its own axes.

        >>> int(np.linalg.matrix_rank(TiltHex().allocation()))
        6
        >>> int(np.linalg.matrix_rank(TiltHex(alternates=False).allocation()))
        6
        """
        poses = self.poses()
        axes, places = poses[:, :3, 2], poses[:, :3, 3]
        force = self.thrust * axes
        moment = np.cross(places, force) + self.drag * _SENSES[:, None] * axes
        return np.hstack([force, moment]).T

    def speeds(self, wrench: ArrayLike) -> Array:
        """Propeller speeds and their derivatives (..., K, 6), rad/s, rad/s^2 and so on, for a stack of wrenches.

        In Taylor coefficients, u_k = sum w_i w_(k-i) gives w_k from the lower ones.

        >>> hover = np.zeros((2, 6))
        >>> hover[0, 2] = 4.0 * 9.81
        >>> TiltHex().speeds(hover).round(1)[:, 0].tolist()
        [569.5, 0.0]
        """
        given = reals("wrench", wrench)
        if given.ndim < 2 or given.shape[-1] != 6 or given.shape[-2] < 1 or not np.isfinite(given).all():
            raise ValueError(f"wrench has shape {given.shape}, expected a stack (..., K, 6) of finite numbers")
        u = np.swapaxes(np.linalg.solve(self.allocation(), np.swapaxes(given, -1, -2)), -1, -2)
        if not (u[..., 0, :] > 0).all():
            raise ValueError("wrench asks a propeller to pull: expected one that all six can push")
        w = np.zeros_like(u)
        w[..., 0, :] = np.sqrt(u[..., 0, :])
        for k in range(1, u.shape[-2]):
            known = sum((w[..., i, :] * w[..., k - i, :] for i in range(1, k)), np.zeros_like(w[..., 0, :]))
            w[..., k, :] = (u[..., k, :] / factorial(k) - known) / (2 * w[..., 0, :])
        return np.asarray(w * np.array([factorial(k) for k in range(u.shape[-2])], dtype=float)[:, None])


def _turn_z(angle: float, shift: float, alpha: float, beta: float) -> Array:
    """Rz(angle) Tx(shift) Rx(alpha) Ry(beta)."""
    z, x, y = (_turn(axis, by) for axis, by in ((2, angle), (0, alpha), (1, beta)))
    along = np.eye(4)
    along[0, 3] = shift
    pose: Array = z @ along @ x @ y
    return pose


def _turn(axis: int, angle: float) -> Array:
    pose, (i, j) = np.eye(4), ((1, 2), (2, 0), (0, 1))[axis]
    pose[[i, i, j, j], [i, j, i, j]] = cos(angle), -sin(angle), sin(angle), cos(angle)
    return pose
