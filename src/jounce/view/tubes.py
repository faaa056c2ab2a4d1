"""Soft bodies as smooth tubes that bend with q."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce.model import Model
from jounce.soft import Rod, VariableRadius
from jounce.view.plain import turned
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
        self._record = next(b for b in robot.bodies if b.name == name)
        self._s = np.linspace(0.0, body.length, SECTIONS)
        self._has_backbone = body.length > 0
        self._fallback = (_THIN * body.length) or 0.01 * size

    @property
    def faces(self) -> Faces:
        """(F, 3), the same for all q."""
        return ring_faces(SECTIONS)

    def vertices(self, q: Array) -> Array:
        """(V, 3) in the world."""
        poses = self._sections(q)
        return rings(poses[:, :3, 3], poses[:, :3, :3], self._radii(q))[0]

    def _sections(self, q: Array) -> Array:
        if self._has_backbone:
            return self._robot.backbone(self._name, q, self._s)
        far = self._robot.pose(self._name, q)
        near = self._near(q)
        along = np.linspace(0.0, 1.0, SECTIONS)[:, None]
        poses = np.tile(far, (SECTIONS, 1, 1))
        poses[:, :3, 3] = (1 - along) * near + along * far[:3, 3]
        line = far[:3, 3] - near
        if (length := float(np.linalg.norm(line))) > 0:
            poses[:, :3, :3] = turned(line / length)
        return poses

    def _near(self, q: Array) -> Array:
        """The near end of a body without a backbone, if its joint has no coordinates; otherwise its far end."""
        record = self._record
        if record.joint.nv or record.at is not None:
            return self._robot.pose(self._name, q)[:3, 3]
        above = np.eye(4) if record.parent < 0 else self._robot.pose(self._robot.bodies[record.parent].name, q)
        return np.asarray((above @ record.placement)[:3, 3])

    def _radii(self, q: Array) -> Array:
        body = self._part.body
        if isinstance(body, Rod):
            return np.array([[body.radius(s)] for s in self._s])
        if isinstance(body, VariableRadius):
            angle = np.linspace(0.0, 2 * np.pi, AROUND, endpoint=False)
            return body.swollen(q[self._part.q], self._s, angle)
        return np.full((SECTIONS, 1), self._fallback)
