"""The reference motion of paper A's Table 3."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HORIZON = 30.0  # s
STEP = 0.01  # s


def reference_motion(t: Array, rows: int) -> tuple[Array, Array]:
    """Configurations (T, 13) and velocity stacks (T, rows, 12), base in mixed axes.

    The base flies a circle of 1 m at height 0 in 20 s while its yaw swings by 25 degrees in 30 s; each joint follows
    half a cosine wave from its initial angle. The paper does not give the phase of the yaw: it starts at zero here.

    >>> q, v = reference_motion(np.array([0.0]), 2)
    >>> [float(x) for x in q[0, :2]], round(float(v[0, 0, 1]), 3)
    ([1.0, 0.0], 0.314)
    """
    circle, swing, bend = 2 * np.pi / 20, 2 * np.pi / 30, np.pi / HORIZON
    amplitude = np.deg2rad(25.0)
    start = np.deg2rad([10.0, -5.0, 15.0, -10.0, 7.0, -12.0])
    reach = np.deg2rad([60.0, 50.0, 40.0, 55.0, 45.0, 35.0])

    q = np.zeros((len(t), 13))
    yaw = amplitude * np.sin(swing * t)
    q[:, 0], q[:, 1] = np.cos(circle * t), np.sin(circle * t)
    q[:, 5], q[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
    q[:, 7:] = start + reach / 2 * (1 - np.cos(bend * t))[:, None]

    v = np.zeros((len(t), rows, 12))
    for k in range(rows):  # derivative k + 1 of sin(a t) is a^(k+1) sin(a t + (k+1) pi/2)
        quarter = (k + 1) * np.pi / 2
        v[:, k, 0] = circle ** (k + 1) * np.cos(circle * t + quarter)
        v[:, k, 1] = circle ** (k + 1) * np.sin(circle * t + quarter)
        v[:, k, 5] = amplitude * swing ** (k + 1) * np.sin(swing * t + quarter)
        v[:, k, 6:] = -reach / 2 * (bend ** (k + 1) * np.cos(bend * t + quarter))[:, None]
    return q, v
