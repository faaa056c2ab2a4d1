"""Constraints in an implicit method: their multipliers are unknowns in addition to the accelerations.

At the nodes of a step

    f(q, v, a) - J^T l = tau,    J a + J' v = 0

must hold, where f is the inverse dynamics. Small changes of both residuals are

    [ M  -J^T ] [ da ]   [ D ]      [ K ]
    [ J    0  ] [ dl ] + [ Z ] dv + [ Y ] dq

with M, D and K those of f, minus the torque's in D and K, and minus d(J^T l)/dq in K. Since J F + J' v = 0 for the
constrained acceleration F, Z = -J dF/dv and Y = -J dF/dq. With columns of zeros for l in D and K these are the same
kind of matrices as without constraints, enlarged by the multipliers (implicit.py).

Stiff forces enter the first line directly, linear if their springs are. With l eliminated, a = F(q, v), they would be
rotated and distributed by matrices that change with q, and Newton's iteration would need short steps.

If rows of J are linearly dependent, l = U x with the left singular vectors U of J at the state where the matrices are
evaluated: near that state there are as many multipliers as independent rows, and no contradictory equations. Rows and
multipliers are in natural sizes here: each row of J is divided by its own, and its multiplier is as much larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jounce.dynamics.constraints.natural import NaturalRows
from jounce.model import Model
from jounce.simulation.stepping import Array, Layout, TorqueFunction
from jounce.simulation.stiffness import torque_slopes


class Tied(NamedTuple):
    """M, D and K (nv + r, nv + r) at a state; the basis U (rows, r) and the multipliers there (rows,), both natural."""

    M: Array
    D: Array
    K: Array
    basis: Array
    multipliers: Array


def tied_system(robot: Model, layout: Layout, torque: TorqueFunction, t: float, q: Array, v: Array, a: Array) -> Tied:
    """The linear system of a robot with constraints at a state with dv/dt = a; `torque` returns (nv,)."""
    nv, tau = robot.nv, torque(t, q, v)
    by_q, by_v = torque_slopes(robot, layout, torque, t, q, v, tau)
    K, D, M = robot.inverse_dynamics_derivatives(q, v, a)
    change = robot.constrained_dynamics_derivatives(q, v, tau)
    natural = NaturalRows(robot, change.jacobian)
    basis = np.linalg.svd(natural.scaled, full_matrices=False)[0][:, : int(natural.rank)]
    multipliers: Array = natural.sharing @ (robot.inverse_dynamics(q, v, a) - tau)
    rows = basis.T @ (natural.J / natural.row_sizes[:, None])
    system = np.zeros((3, nv + len(rows), nv + len(rows)))
    system[:, :nv, :nv] = M, D - by_v, K - by_q - _turned(robot, q, multipliers)
    system[0, :nv, nv:], system[0, nv:, :nv] = -rows.T, rows
    system[1, nv:, :nv], system[2, nv:, :nv] = -rows @ change.acc_v, -rows @ change.acc_q
    return Tied(system[0], system[1], system[2], basis, multipliers * natural.row_sizes)


def keeps_rank(robot: Model, basis: Array, q: Array) -> bool:
    """Whether as many rows are independent at q as where the basis was found; else some of them are not obeyed."""
    return bool(NaturalRows(robot, robot.constraint_jacobian(q)).rank == basis.shape[1])


def _turned(robot: Model, q: Array, multipliers: Array) -> Array:
    """d(J^T l)/dq (nv, nv)."""
    slopes = robot.constraint_jacobian_derivatives(q, np.eye(robot.nv)[:, None])[:, 1]  # of J, along each coordinate
    change: Array = np.einsum("jri,r->ij", slopes, multipliers)
    return change


def tied_residual(robot: Model, basis: Array, q: Array, v: Array, a: Array, x: Array, tau: Array) -> Array:
    """The residual of both equations, (s, nv + r), at states (s, .) with accelerations a and multipliers U x."""
    sizes = robot._natural_sizes()[0][:, None]
    J, rate = np.moveaxis(robot.constraint_jacobian_derivatives(q, v[:, None]) / sizes, 1, 0)
    forces = robot.inverse_dynamics(q, v, a) - tau - np.einsum("sri,sr->si", J, x @ basis.T)
    broken = np.einsum("sri,si->sr", J, a) + np.einsum("sri,si->sr", rate, v)
    return np.hstack([forces, broken @ basis])
