"""Rods between two points that move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.parts.pose import quaternions
from jounce.view.plain import turned
from jounce.view.style import RGB

Array = NDArray[np.float64]


class Rod:
    """A rod in a scene, as long as the distance between its ends.

    Args:
        scene: viser's.
        path: of its node.
        radius: m.
        colour: of it.
        opacity: None if opaque.
    """

    def __init__(self, scene: Any, path: str, radius: float, colour: RGB, opacity: float | None = None) -> None:
        options = {"color": colour, "opacity": opacity, "cast_shadow": opacity is None}
        self._handle = scene.add_cylinder(path, radius=radius, height=1.0, radial_segments=24, visible=False, **options)

    def place(self, start: Array, end: Array, least: float = 0.0) -> None:
        """Draws it from one point to another, unless they are not more than `least` apart."""
        away = end - start
        length = float(np.linalg.norm(away))
        seen = length > least
        if seen:
            self._handle.scale = (1.0, 1.0, length)
            self._handle.wxyz, self._handle.position = quaternions(turned(away / length)), (start + end) / 2
        self._handle.visible = seen


@dataclass(frozen=True, eq=False)
class Slide:
    """A rod along which a body slides: from a place (4, 4) on its carrier's frame, None for the world, to its own."""

    rod: Rod
    carrier: int | None
    mount: Array
    body: int

    def place(self, poses: Array) -> None:
        """Moves it, to the poses (frames, 4, 4) of the robot."""
        mount = self.mount if self.carrier is None else poses[self.carrier] @ self.mount
        self.rod.place(mount[:3, 3], poses[self.body][:3, 3])
