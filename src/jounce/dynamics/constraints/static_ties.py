"""Constraints in statics: their forces at rest, and displacements that they allow.

At rest F(q) = J^T l and c(q) = 0. For any q, l is the least-squares solution of least norm, so only q is unknown.
With l held, the residual changes by K - d(J^T l)/dq, and Newton's step is that of

    [ K - d(J^T l)/dq  -J^T ] [ dq ]   [ J^T l - F ]
    [        J           0  ] [ dl ] = [    -c     ]

solved with the null space Z of J, dq = -J^+ c + Z z, as rows of J may be redundant. Nonholonomic rows, those of rolling
contacts, have c = 0: each step rolls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce._core import pseudo_inverse
from jounce.dynamics.constraints.constrained import RANK
from jounce.dynamics.constraints.frames import placed
from jounce.parts.constraints import Rolling

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
_CLOSED = 1e-10  # m or rad, largest residual of a constraint


class Ties(NamedTuple):
    """The constraints of a robot at a configuration."""

    J: Array  # (rows, nv)
    slopes: Array  # (nv, rows, nv), of J along each coordinate
    broken: Array  # (rows,)

    @classmethod
    def at(cls, robot: Model, q: Array) -> Ties:
        if not robot.constraints:
            return cls(np.zeros((0, robot.nv)), np.zeros((robot.nv, 0, robot.nv)), np.zeros(0))
        J = robot.constraint_jacobian_derivatives(q, np.eye(robot.nv)[:, None])
        return cls(J[0, 0], J[:, 1], robot.residual(q))

    @property
    def closed(self) -> bool:
        return bool(np.abs(self.broken).max(initial=0.0) <= _CLOSED)

    def multipliers(self, F: Array) -> Array:
        """The multipliers that come nearest to balancing forces F."""
        if not self.broken.size or not np.isfinite(F).all():
            return np.zeros_like(self.broken)
        return pseudo_inverse(self.J).T @ F

    def freed(self, F: Array, K: Array) -> tuple[Array, Array]:
        """The part of forces F that the constraints do not balance, and its derivative."""
        if not self.broken.size:
            return F, K
        multipliers = self.multipliers(F)
        return F - self.J.T @ multipliers, K - np.einsum("jri,r->ij", self.slopes, multipliers)

    def split(self, scale: Array) -> tuple[Array, Array]:
        """In scaled coordinates: the displacement (nv,) that closes the constraints; a basis (nv, n) of free ones."""
        if not self.broken.size:
            return np.zeros(len(scale)), np.eye(len(scale))
        U, values, Vt = np.linalg.svd(self.J / scale)
        rank = int((values > RANK * values[0]).sum())
        closing = -Vt[:rank].T @ ((U[:, :rank].T @ self.broken) / values[:rank])
        return closing, Vt[rank:].T


def held(robot: Model, q: Array) -> Model:
    """The robot with its contacts fixed where they are now."""
    if all(c.held for c in robot.constraints):
        return robot
    records = [c if c.held else replace(c, pose_a=placed(robot, c, q)[0], held=True) for c in robot.constraints]
    model = type(robot)(robot.bodies, robot.gravity, records)
    for i, c in enumerate(records):
        if isinstance(c.kind, Rolling) and not robot.constraints[i].held:  # the plane is under the wheel
            under = c.pose_a.copy()
            under[:3, 3] += under[:3, :3] @ c.kind.normal * model.residual(q)[model.constraint_rows(c.name).start]
            records[i] = replace(c, pose_a=under)
    return type(robot)(robot.bodies, robot.gravity, records)
