"""The robot in flight as one self-contained HTML file: plain JavaScript on a canvas, no network."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from jounce.demo.flight import Flight
from jounce.demo.motion import Array
from jounce.demo.rotors import TiltHex
from jounce.model import Model

_FRAME = 0.05  # s
_LINK = np.array([0.0, 0.0, -0.12, 1.0])  # where a link ends, in its own frame (2 d)


def write_animation(robot: Model, flight: Flight, hexarotor: TiltHex, speeds: Array, path: Path) -> Path:
    """Writes the page.

    Args:
        robot: the aerial manipulator with two arms of three links.
        speeds: (T, K, 6) of the propellers, rad/s.
    """
    every = max(1, round(_FRAME / (flight.time[1] - flight.time[0])))
    frames = _frames(robot, flight.q[::every], hexarotor.thrust * speeds[::every, 0] ** 2)
    data = {
        "step": float(every * (flight.time[1] - flight.time[0])),
        "frames": frames.round(4).tolist(),
        "rotors": hexarotor.poses()[:, :3].round(5).tolist(),
        "speeds": speeds[:: 2 * every, 0].T.round(2).tolist(),
        "torques": [[_digits(curve) for curve in row.T] for row in np.moveaxis(flight.tau[:: 2 * every, :, 6:], 1, 0)],
    }
    page = Path(__file__).with_name("animation.html").read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page.replace("/*DATA*/null", json.dumps(data, separators=(",", ":"))), encoding="utf-8")
    return path


def _frames(robot: Model, q: Array, thrusts: Array) -> Array:
    """(F, 37): position and quaternion of the base, for each arm its joints and its end, the thrusts."""
    poses = robot.forward_kinematics(q).pose
    joints = poses[:, 1:, :3, 3]
    ends = (poses[:, [3, 6]] @ _LINK)[..., :3]
    arms = np.concatenate([joints[:, :3], ends[:, :1], joints[:, 3:], ends[:, 1:]], axis=1)
    return np.hstack([q[:, :7], arms.reshape(len(q), -1), thrusts])


def _digits(curve: Array) -> list[float]:
    return [float(f"{x:.4g}") for x in curve]
