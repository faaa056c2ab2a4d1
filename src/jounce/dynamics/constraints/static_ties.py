"""Constraints in statics: their forces at rest, and displacements that they allow.

At rest F(q) = J^T l and c(q) = 0. For any q, l is the least-squares solution of least norm, so only q is unknown.
With l held, the residual changes by K - d(J^T l)/dq, and Newton's step is that of

    [ K - d(J^T l)/dq  -J^T ] [ dq ]   [ J^T l - F ]
    [        J           0  ] [ dl ] = [    -c     ]

solved with the null space Z of J, dq = -J^+ c + Z z, as rows of J may be redundant. Nonholonomic rows, those of rolling
contacts, have c = 0: each step rolls. Coordinates that are held have dq = 0: their columns of J, and their rows of the
forces, take no part; what is left of F - J^T l in these rows are the reactions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.constraints.frames import placed
from jounce.dynamics.constraints.natural import NaturalRows
from jounce.parts.constraints import ConstraintRecord, Rolling
from jounce.parts.joints import Joint

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
_CLOSED = 1e-10  # largest residual of a constraint, in natural sizes


class Ties(NamedTuple):
    """The constraints of a robot at a configuration, and the coordinates that are not held."""

    J: Array  # (rows, nv)
    slopes: Array  # (nv, rows, nv), of J along each coordinate
    broken: Array  # (rows,)
    free: Mask  # (nv,)
    allowed: NaturalRows | None  # J in the free coordinates; None without constraints

    @classmethod
    def at(cls, robot: Model, q: Array, free: Mask) -> Ties:
        if not robot.constraints:
            return cls(np.zeros((0, robot.nv)), np.zeros((robot.nv, 0, robot.nv)), np.zeros(0), free, None)
        J = robot.constraint_jacobian_derivatives(q, np.eye(robot.nv)[:, None])
        return cls(J[0, 0], J[:, 1], robot.residual(q), free, NaturalRows(robot, J[0, 0], columns=free))

    @property
    def closed(self) -> bool:
        return self.allowed is None or bool(np.abs(self.broken / self.allowed.row_sizes).max(initial=0.0) <= _CLOSED)

    def multipliers(self, F: Array) -> Array:
        """The multipliers that come nearest to balancing forces F."""
        if self.allowed is None or not np.isfinite(F).all():
            return np.zeros_like(self.broken)
        return self.allowed.sharing @ F[self.free]

    def freed(self, F: Array, K: Array) -> tuple[Array, Array]:
        """The part of forces F that neither the constraints nor what holds joints balance, and F's derivative."""
        if self.broken.size:
            multipliers = self.multipliers(F)
            F, K = F - self.J.T @ multipliers, K - np.einsum("jri,r->ij", self.slopes, multipliers)
        return np.where(self.free, F, 0.0), K

    def reactions(self, F: Array) -> Array:
        """The forces (nv,) that hold the joints, zero in all other coordinates."""
        left = F - self.J.T @ self.multipliers(F) if self.broken.size else F
        return np.where(self.free, 0.0, left)

    def split(self, scale: Array) -> tuple[Array, Array]:
        """In scaled coordinates: the displacement (nv,) that closes the constraints; a basis (nv, n) of free ones."""
        within = np.eye(len(scale))[:, self.free]
        if self.allowed is None:
            return np.zeros(len(scale)), within
        sizes, rank = self.allowed.row_sizes, int(self.allowed.rank)
        U, values, Vt = np.linalg.svd(self.allowed.J / sizes[:, None] / scale[self.free])
        closing = -Vt[:rank].T @ ((U[:, :rank].T @ (self.broken / sizes)) / values[:rank])
        return within @ closing, within @ Vt[rank:].T


def _anchored(robot: Model, c: ConstraintRecord, q: Array) -> ConstraintRecord:
    a, b = placed(robot, c, q)
    if isinstance(c.kind, Joint):  # whose axes B has, too
        c = replace(c, pose_b=c.pose_b @ np.linalg.inv(b) @ a)
    return replace(c, pose_a=a, held=True, upright=False)


def anchored(robot: Model, q: Array) -> Model:
    """The robot with its contacts fixed where they are now."""
    if all(c.held for c in robot.constraints):
        return robot
    records = [c if c.held else _anchored(robot, c, q) for c in robot.constraints]
    model = type(robot)(robot.bodies, robot.gravity, records)
    for i, c in enumerate(records):
        if isinstance(c.kind, Rolling) and not robot.constraints[i].held:  # the plane is under the wheel
            under = c.pose_a.copy()
            under[:3, 3] += under[:3, :3] @ c.kind.normal * model.residual(q)[model.constraint_rows(c.name).start]
            records[i] = replace(c, pose_a=under)
    return type(robot)(robot.bodies, robot.gravity, records)
