"""A small picture of a robot in its neutral configuration, as SVG: sticks between joints, and a shape for each mass.

The shape is the outline of the ellipsoid of uniform density with the mass and inertia of the body. With second moments
S = (tr(I)/2 1 - I)/m about the centre of mass, its points are those with x^T (5 S)^-1 x <= 1, and its outline in an
orthographic view P is the ellipse with P (5 S) P^T in place of 5 S.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce.display.html import path, svg
from jounce.display.style import BLUE, GREEN, ORANGE
from jounce.errors import Error
from jounce.parts.joints import Fixed, Free

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_MOST = 400  # bodies that are drawn
_MARGIN = 14.0  # pixels
_FATTEST = 0.11  # semi-axis of an ellipse, relative to the size of the robot


def _view(azimuth: float = 0.7, elevation: float = 0.35) -> Array:
    """(3, 3): to the right, up, and towards the viewer, of a view from the front left, from above."""
    c, s, e, f = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    return np.array([[-s, c, 0.0], [-c * f, -s * f, e], [c * e, s * e, f]])


VIEW = _view()


class _Figure(NamedTuple):
    """What there is to draw, in metres, as seen: (n, 2) each."""

    sticks: list[Array]
    rods: list[Array]
    ellipses: list[tuple[float, Array, Array]]  # depth, centre (2,), matrix (2, 2)
    joints: list[Array]


def stick_figure(robot: Model, size: float = 230.0) -> str:
    """The picture, a square of so many pixels; empty if there is nothing to draw."""
    if not robot.bodies or len(robot.bodies) > _MOST:
        return ""
    try:
        figure = _seen(robot)
    except Error:  # the neutral configuration is singular
        return ""
    points = np.concatenate([*figure.sticks, *figure.rods, *np.reshape(figure.joints, (-1, 1, 2))])
    if not np.isfinite(points).all():
        return ""
    corners, reach = _reach(points, figure)
    middle, scale = corners.mean(axis=0), (size - 2 * _MARGIN) / max(float(np.ptp(corners, axis=0).max()), 1e-9)

    def placed(x: Array) -> Array:
        seen: Array = (x - middle) * np.array([scale, -scale]) + size / 2
        return seen

    parts = [_axes(placed(np.zeros(2)))]
    for _, centre, matrix in sorted(figure.ellipses, key=lambda each: each[0]):
        parts.append(_ellipse(placed(centre), _outline(matrix, reach), scale))
    stroke = 'fill="none" stroke-linecap="round" stroke-linejoin="round"'
    lines = "".join(path(placed(stick)) for stick in figure.sticks)
    parts.append(f'<path d="{lines}" stroke="currentColor" stroke-width="2" {stroke}/>')
    soft = "".join(path(placed(rod)) for rod in figure.rods)
    parts.append(f'<path d="{soft}" stroke="{GREEN}" stroke-width="5" {stroke}/>' if soft else "")
    for x, y in (placed(joint) for joint in figure.joints):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{ORANGE}"/>')
    return svg(size, size, "".join(parts), "the robot in its neutral configuration")


def _seen(robot: Model) -> _Figure:
    q = robot.neutral()
    poses = dict(zip(robot.frame_names, robot.forward_kinematics(q, frames=robot.frame_names).pose, strict=True))
    figure = _Figure([], [], [], [])
    carries = {b.parent for b in robot.bodies}
    for i, b in enumerate(robot.bodies):
        pose = poses[b.name]
        start, com = pose[:3, 3], pose[:3, :3] @ b.inertia.com + pose[:3, 3]
        if b.soft is not None:
            along = robot.backbone(b.name, q)[:, :3, 3]
            figure.rods.append(along @ VIEW[:2].T)
            start = along[0]
        elif b.inertia.mass > 0:
            figure.ellipses.append(_mass(pose[:3, :3], com, b.inertia.rotational / b.inertia.mass))
            if i not in carries:  # a last link
                figure.sticks.append(np.stack([start, com]) @ VIEW[:2].T)
        if b.at is None and not isinstance(b.joint, Free):
            before = np.zeros(3) if b.parent < 0 else poses[robot.bodies[b.parent].name][:3, 3]
            figure.sticks.append(np.stack([before, start]) @ VIEW[:2].T)
        if not isinstance(b.joint, Fixed):
            figure.joints.append(VIEW[:2] @ start)
    return figure


def _mass(turn: Array, com: Array, moments: Array) -> tuple[float, Array, Array]:
    """Depth, centre and matrix of the outline of a body, from its rotational inertia divided by its mass."""
    second = turn @ (np.trace(moments) / 2 * np.eye(3) - moments) @ turn.T
    return float(VIEW[2] @ com), VIEW[:2] @ com, 5 * VIEW[:2] @ second @ VIEW[:2].T


def _outline(matrix: Array, size: float) -> tuple[float, float, float]:
    """Semi-axes and tilt of an ellipse; no larger than fits the robot, whatever its file says, and at least a dot."""
    squares, axes = np.linalg.eigh(matrix)
    long, short = (float(min(max(x, 0.0), 1e300)) ** 0.5 for x in (squares[1], squares[0]))
    most, least = _FATTEST * size, 0.012 * size
    return min(max(long, least), most), min(max(short, least), most), float(np.arctan2(axes[1, 1], axes[0, 1]))


def _reach(points: Array, figure: _Figure) -> tuple[Array, float]:
    """The corners (2, 2) of all that is drawn, and the size of the robot."""
    centres = np.array([centre for _, centre, _ in figure.ellipses]).reshape(-1, 2)
    points = np.concatenate([points, centres])
    size = float(np.ptp(points, axis=0).max())
    if size == 0.0:  # a single body: as large as its mass is spread out
        size = max((2 * float(np.sqrt(np.trace(m))) for _, _, m in figure.ellipses if np.trace(m) > 0), default=1.0)
        size /= 2 * _FATTEST
    rim = [_outline(matrix, size)[0] for _, _, matrix in figure.ellipses]
    around = [centres + side * np.array(rim)[:, None] for side in (-1, 1)] if rim else []
    points = np.concatenate([points, *around])
    return np.stack([points.min(axis=0), points.max(axis=0)]), size


def _ellipse(centre: Array, outline: tuple[float, float, float], scale: float) -> str:
    (x, y), (long, short, tilt) = centre, outline
    shape = f'rx="{long * scale:.1f}" ry="{short * scale:.1f}"'
    place = f'transform="translate({x:.1f} {y:.1f}) rotate({-np.degrees(tilt):.0f})"'
    return f'<ellipse {shape} {place} fill="{BLUE}" fill-opacity=".22" stroke="{BLUE}" stroke-opacity=".7"/>'


def _axes(origin: Array) -> str:
    """The world's x, y and z at its origin, faint."""
    ends = origin + 16 * VIEW[:2].T * (1, -1)
    lines = "".join(path(np.stack([origin, end])) for end in ends)
    return f'<path d="{lines}" stroke="currentColor" stroke-opacity=".45" stroke-width="1" fill="none"/>'
