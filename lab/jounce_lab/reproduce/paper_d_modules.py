"""Modules for paper D's recursion: joints with rigid bodies, and rods of constant strain.

A module's sections are at exp(constant + basis q) from its near end, each with a point mass; the last is its far end,
{S_i}. Motions are polynomials of second degree in time, multiplied as such. Twists are [linear; angular].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from . import paper_d
from .claims import Array


@dataclass(frozen=True, eq=False)
class Module:
    """Sections (S), the last without mass.

    Attributes:
        placement: (4, 4) of the near end in the far end of the previous module.
        constant, basis: (S, 6) and (S, 6, n), the exponents of the sections.
        offset, mass: (S - 1, 3) and (S - 1,), the points in the sections.
    """

    placement: Array
    constant: Array
    basis: Array
    offset: Array
    mass: Array

    @property
    def n(self) -> int:
        return int(self.basis.shape[-1])

    def moved(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Poses of the far end (3, 4, 4) and points in it (3, P, 3): values, rates and second rates."""
        exponents = np.stack([self.constant + self.basis @ q, self.basis @ qd, self.basis @ qdd / 2])
        T = self.placement @ _exp(exponents)
        points = (T[:, :-1] @ np.column_stack([self.offset, np.ones(len(self.mass))])[..., None])[..., :3, 0]
        end = T[:, -1]
        back = end[:, :3, :3].swapaxes(1, 2)
        p = _product(back[:, None], (points - end[:, None, :3, 3])[..., None])[..., 0]
        factorials = np.array([1.0, 1.0, 2.0]).reshape(3, 1, 1)
        return end * factorials, p * factorials


def rod(placement: Array, length: float, line_density: float, columns: Sequence[Array], nodes: int) -> Module:
    """A rod of constant strain, one column (6,) per coordinate, its mass on the backbone at Gauss points."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    s = np.append((1 + x) / 2 * length, length)
    rest = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    basis = s[:, None, None] * np.stack(columns, axis=1)
    return Module(placement, s[:, None] * rest, basis, np.zeros((nodes, 3)), line_density * length * w / 2)


def hinge(placement: Array, axis: Array, points: Array, mass: Array) -> Module:
    """A revolute joint with a rigid body of point masses."""
    basis = np.tile(np.concatenate([np.zeros(3), axis])[:, None], (len(mass) + 1, 1, 1))
    return Module(placement, np.zeros((len(mass) + 1, 6)), basis, points, mass)


def motion(module: Module, q: Array, qd: Array, qdd: Array) -> paper_d.Motion:
    """The motion of a module with these coordinates and rates."""
    (T, dT, ddT), (p, dp, ddp) = module.moved(q, qd, qdd)
    R, dR, ddR = (x[:3, :3] for x in (T, dT, ddT))
    partial = [module.moved(q, e, np.zeros(module.n)) for e in np.eye(module.n)]
    return paper_d.Motion(
        R, T[:3, 3], v_rel=dT[:3, 3], w_rel=_vee(dR @ R.T), dv_rel=ddT[:3, 3], dw_rel=_vee(ddR @ R.T + dR @ dR.T),
        v_q=R.T @ np.stack([P[1, :3, 3] for P, _ in partial], axis=1),
        w_q=R.T @ np.stack([_vee(P[1, :3, :3] @ R.T) for P, _ in partial], axis=1),
        mass=module.mass, p=p, dp=dp, ddp=ddp, p_q=np.stack([points[1] for _, points in partial], axis=-1),
    )  # fmt: skip


def bodies(chain: Sequence[Module], q: Array, qd: Array, qdd: Array) -> list[paper_d.Body]:
    """The bodies of a chain of modules."""
    at = [slice(a, b) for a, b in pairwise(np.cumsum([0, *(m.n for m in chain)]))]
    return [paper_d.Body(motion(m, q[i], qd[i], qdd[i])) for m, i in zip(chain, at, strict=True)]


def generalized_inverse_dynamics(
    chain: Sequence[Module], q: Array, qd: Array, qdd: Array, base: Array | None = None, literal: str = ""
) -> Array:
    """Algorithm 1 on them."""
    return paper_d.generalized_inverse_dynamics(bodies(chain, q, qd, qdd), base=base, literal=literal)


def _product(a: Array, b: Array) -> Array:
    """The product of two polynomials of second degree; coefficients are the first axis."""
    return np.stack([a[0] @ b[0], a[0] @ b[1] + a[1] @ b[0], a[0] @ b[2] + a[1] @ b[1] + a[2] @ b[0]])


def _exp(x: Array) -> Array:
    """(3, S, 4, 4) of exponents (3, S, 6), by the exponential's series."""
    hat = np.zeros((*x.shape[:-1], 4, 4), x.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        hat[..., k, j], hat[..., j, k] = x[..., 3 + i], -x[..., 3 + i]
    hat[..., :3, 3] = x[..., :3]
    term = np.zeros_like(hat)
    term[0] = np.eye(4)
    total, k = term.copy(), 0
    while np.abs(term).max() > 1e-18:
        k += 1
        term = _product(term, hat) / k
        total += term
    return total


def _vee(A: Array) -> Array:
    return np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]]) / 2
