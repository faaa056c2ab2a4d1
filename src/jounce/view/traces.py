"""Paths of bodies and frames along a motion, as lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jounce.view.motion import Motion
from jounce.view.scene import DrawnRobot
from jounce.view.style import RGB, TRACES

_MOST = 2000  # points of a line
_FINE = 30  # points between two samples of a motion that has few


def draw_traces(drawn: DrawnRobot, motion: Motion, names: Sequence[str]) -> list[tuple[RGB, str]]:
    """Draws the paths of bodies or frames; returns the colour and the label of each."""
    steps = len(motion.time) - 1
    if not steps:
        return []
    between = min(_FINE, max(_MOST // steps, 1))
    samples = np.linspace(0.0, steps, min(between * steps, _MOST) + 1)
    times = np.interp(samples, np.arange(steps + 1), motion.time)
    q = np.stack([motion.at(float(t))[0] for t in times])
    points = motion.robot.forward_kinematics(q, frames=names).pose[:, :, :3, 3]
    made = []
    for i, name in enumerate(names):
        colour, label = TRACES[i % len(TRACES)], f"path of {name}"
        lines = np.stack([points[:-1, i], points[1:, i]], axis=1).astype(np.float32)
        drawn.scene.add_line_segments(drawn.path(label), lines, colour, thickness=2.5, thickness_units="screen")
        made.append((colour, label))
    return made
