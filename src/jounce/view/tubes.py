"""Soft bodies as smooth tubes that bend with q.

A rod has a pose at every place along it. Of a module of one's own the poses of both ends and its material points are
known. Where these follow each other from the near end to the far end, the tube goes through them, otherwise straight
from end to end; either way it leaves and arrives in directions that are fixed in the frames of the ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.parts.pose import inverse
from jounce.soft import Rod, VariableRadius
from jounce.soft.module import ModuleBody
from jounce.view.curves import is_curve, smooth
from jounce.view.shapes import AROUND, Faces, ring_faces, rings

Array = NDArray[np.float64]
SECTIONS = 41
_THIN = 0.04  # radius over length, for bodies without a radius


class Tube:
    """The surface of a soft body.

    Args:
        robot: that it is part of.
        name: of the body.
        size: of the robot, m, for bodies without a length.
    """

    def __init__(self, robot: Model, name: str, size: float) -> None:
        self._robot, self._name = robot, name
        self._part = robot._soft[name]
        body = self._part.body
        self._s = np.linspace(0.0, body.length, SECTIONS)
        self._shape = _ModuleShape(body) if isinstance(body, ModuleBody) else None
        length = self._shape.length if self._shape is not None else body.length
        self._fallback = (_THIN * length) or 0.01 * size

    @property
    def faces(self) -> Faces:
        """(F, 3), the same for all q."""
        return ring_faces(SECTIONS)

    def vertices(self, q: Array) -> Array:
        """(V, 3) in the world."""
        poses = self._sections(q)
        return rings(poses[:, :3, 3], poses[:, :3, :3], self._radii(q))[0]

    def _sections(self, q: Array) -> Array:
        if self._shape is None:
            return self._robot.backbone(self._name, q, self._s)
        own = q[self._part.q]
        return np.asarray(self._robot.pose(self._name, q) @ inverse(self._shape.far(own)) @ self._shape.sections(own))

    def _radii(self, q: Array) -> Array:
        body = self._part.body
        if isinstance(body, Rod):
            return np.array([[body.radius(s)] for s in self._s])
        if isinstance(body, VariableRadius):
            angle = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
            return body.swollen(q[self._part.q], self._s, angle)
        return np.full((SECTIONS, 1), self._fallback)


class _ModuleShape:
    """The curve of a module in the frame of its near end; how it leaves its ends is chosen where q is zero."""

    def __init__(self, body: ModuleBody) -> None:
        self._module = body.module
        rest = np.zeros(body.n)
        far = self.far(rest)
        through = np.concatenate([np.zeros((1, 3)), self._points(rest), far[None, :3, 3]])
        self._through = is_curve(through)
        if not self._through:
            through = through[[0, -1]]
        self.length = float(np.linalg.norm(np.diff(through, axis=0), axis=1).sum())
        self._first = _nearest_axis(np.eye(3), through[1] - through[0])
        self._last = _nearest_axis(far[:3, :3], through[-1] - through[-2])

    def far(self, q: Array) -> Array:
        """(4, 4) pose of the far end."""
        return np.asarray(self._module.pose(q), dtype=np.float64)

    def _points(self, q: Array) -> Array:
        return np.asarray(self._module.points(q), dtype=np.float64)

    def sections(self, q: Array) -> Array:
        """(SECTIONS, 4, 4) frames along the module, z along it."""
        far = self.far(q)
        ends = np.stack([np.zeros(3), far[:3, 3]])
        through = np.concatenate([ends[:1], self._points(q), ends[1:]]) if self._through else ends
        if not np.linalg.norm(np.diff(through, axis=0), axis=1).all():
            through = ends
        if not (ends[1] != ends[0]).any():
            return np.tile(far, (SECTIONS, 1, 1))
        return smooth(through, self._first, far[:3, :3] @ self._last, SECTIONS)


def _nearest_axis(axes: Array, direction: Array) -> Array:
    """The one of the six directions along the axes (3, 3) of a frame that is nearest to a direction; in that frame."""
    along = axes.T @ direction
    k = int(np.argmax(np.abs(along)))
    axis = np.zeros(3)
    axis[k] = 1.0 if along[k] >= 0 else -1.0
    return axis
