"""The view follows a body or a frame: the camera stays where it is, and the scene moves past it.

So a page can still be turned by hand while it follows, live or saved. The floor has no end: it moves by less than one
of its sections, after which it looks the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.view.scene import DrawnRobot

Array = NDArray[np.float64]


class Following:
    """A body or frame that stays where it first was on the page.

    Args:
        drawn: the robot that it is part of.
        name: of the body or frame.
    """

    def __init__(self, drawn: DrawnRobot, name: str) -> None:
        self._drawn, self._name = drawn, name
        self._home = drawn.origin(name, drawn.q)
        self._floor: tuple[Any, Array] | None = None

    def shift(self, q: Array) -> Array:
        """How far the scene has moved, (3,), when the robot is at q (nq,)."""
        return self._home - self._drawn.origin(self._name, q)

    def take(self, floor: Any) -> None:
        """Takes viser's floor along, if there is one."""
        self._floor = None if floor is None else (floor, np.array(floor.position))

    def lower(self, height: float) -> None:
        """Where the floor is, if it was higher, before the scene moves."""
        if self._floor is not None:
            home = self._floor[1]
            home[2] = min(home[2], height)

    def move(self, robots: Iterable[DrawnRobot]) -> None:
        """Moves the robots of a scene, and its floor, to where they are now."""
        shift = self.shift(self._drawn.q)
        for drawn in robots:
            drawn.move(shift)
        if self._floor is not None:
            floor, home = self._floor
            floor.position = home + np.append(np.fmod(shift[:2], floor.section_size), shift[2])
