"""The robot in flight as a page of the viewer: one HTML file, with the forces of the propellers and their rates."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce.demo.flight import Flight
from jounce.demo.looks import dressed
from jounce.model import Model
from jounce.robots import Array, TiltHex
from jounce.trajectory import Trajectory

_FRAME = 0.05  # s between samples; the page interpolates
_RATE = 24.0  # frames per second


def write_animation(robot: Model, flight: Flight, hexarotor: TiltHex, speeds: Array, path: Path) -> Path:
    """Writes the page.

    Args:
        robot: the aerial manipulator with two arms of three links.
        speeds: (T, K, 6) of the propellers, rad/s, with at least one derivative.
    """
    every = max(1, round(_FRAME / (flight.time[1] - flight.time[0])))
    clad, thrusts = dressed(robot, hexarotor), thrusts_of(hexarotor, speeds[::every, :2])
    motion = Trajectory.of(clad, flight.time[::every], flight.q[::every])
    path.parent.mkdir(parents=True, exist_ok=True)
    motion.show(
        clad,
        wrenches={f"p{i}": thrusts[:, :, i - 1] for i in range(1, 7)},
        force_scale=0.03,
        trace=["tool 1", "tool 2"],
        name="Aerial manipulator in flight",
        floor=-0.9,
        save=path,
        rate=_RATE,
    )
    return path


def thrusts_of(hexarotor: TiltHex, speeds: Array) -> Array:
    """Wrenches (T, 2, 6, 6) of the propellers, each in its own axes, and their rates: c_f w² and 2 c_f w dw/dt."""
    w, rate = speeds[:, 0], speeds[:, 1]
    wrench = np.zeros((len(w), 2, w.shape[1], 6))
    wrench[:, 0, :, 2] = hexarotor.thrust * w**2
    wrench[:, 1, :, 2] = 2 * hexarotor.thrust * w * rate
    return wrench
