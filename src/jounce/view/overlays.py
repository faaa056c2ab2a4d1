"""Overlays on a robot: axes and names of its frames, its centre of mass, ellipsoids of inertia, its constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import printable
from jounce.parts.pose import quaternions
from jounce.view.plain import principal
from jounce.view.scene import DrawnRobot
from jounce.view.style import INERTIA
from jounce.view.ties import Ties

Array = NDArray[np.float64]
_LIGHT = 1e-5  # of the robot's mass: the ellipsoids of lighter bodies are as large as their files are careless
KINDS = {  # and the labels of their boxes on the page
    "frames": "Frames",
    "names": "Names",
    "com": "Centre of mass",
    "inertias": "Inertia ellipsoids",
    "constraints": "Constraints",
}


class Overlays:
    """The overlays of one robot; each is created when it is first shown."""

    def __init__(self, drawn: DrawnRobot) -> None:
        self._drawn = drawn
        self._handles: dict[str, list[Any]] = {}
        self._shown: set[str] = set()
        self._ties: Ties | None = None
        self._q: Array | None = None

    def show(self, kind: str, visible: bool) -> None:
        """Shows or hides one of `KINDS`."""
        if kind == "frames":
            for node in self._drawn.nodes:
                node.show_axes = visible
        elif visible or kind in self._handles:
            if kind not in self._handles:
                make = {"names": self._names, "com": self._com, "inertias": self._inertias, "constraints": self._signs}
                self._handles[kind] = make[kind]()
            for handle in self._handles[kind]:
                handle.visible = visible
        (self._shown.add if visible else self._shown.discard)(kind)
        if self._q is not None:
            self.place(self._q)

    def place(self, q: Array) -> None:
        """Moves overlays that do not move with a node."""
        self._q = q
        if "com" in self._shown:
            centre = self._drawn.robot.center_of_mass(q)
            for handle in self._handles["com"]:
                handle.position = centre
        if self._ties is not None and "constraints" in self._shown:
            self._ties.place(self._drawn.poses)

    def points(self) -> Array:
        """(n, 3) places beside the robot that should be in the picture, in its world."""
        return self._ties.points if self._ties is not None else np.zeros((0, 3))

    def _names(self) -> list[Any]:
        drawn = self._drawn
        return [
            drawn.scene.add_label(f"{node.name}/name", printable(name), font_screen_scale=0.8, anchor="bottom-left")
            for node, name in zip(drawn.nodes, drawn.robot.frame_names, strict=True)
        ]

    def _com(self) -> list[Any]:
        drawn = self._drawn
        path = drawn.path("centre of mass")  # a label, since it is the only thing that bodies do not hide
        return [drawn.scene.add_label(path, "⊕", font_screen_scale=1.2, depth_test=False, anchor="center-center")]

    def _signs(self) -> list[Any]:
        self._ties = Ties(self._drawn)
        return self._ties.handles

    def _inertias(self) -> list[Any]:
        """Solids of uniform density with the mass and inertia of each body."""
        drawn, made = self._drawn, []
        least = _LIGHT * sum(b.inertia.mass for b in drawn.robot.bodies)
        for b in drawn.robot.bodies:
            if b.inertia.mass <= least:
                continue
            pose, second = principal(b.inertia)
            radii = np.sqrt(5 * second)
            if radii.max() <= 0:
                continue
            x, y, z = (float(r) for r in np.maximum(radii, 0.01 * radii.max()))
            node = drawn.nodes[drawn.robot.frame_index(b.name)]
            options: dict[str, Any] = {"color": INERTIA, "opacity": 0.45, "cast_shadow": False, "scale": (x, y, z)}
            options |= {"wxyz": quaternions(pose[:3, :3]), "position": pose[:3, 3]}
            made.append(drawn.scene.add_icosphere(f"{node.name}/inertia", radius=1.0, **options))
        return made
