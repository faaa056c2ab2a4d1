"""Paper D's recursion by Kane's equations, as printed and as corrected, in NumPy; a check, not a way to compute.

A module's sections are at exp(constant + basis q) from its near end, each with a point mass; the last is its far end,
{S_i}, where the next module sits. A joint with a rigid body is a module of one section, a rod of constant strain one of
many. Motions are polynomials of second degree in time. Twists are [linear; angular]; everything of body i is in {S_i},
a dot is the rate of components there, r = p - p_CoM, and the twice dotted p of (19) and (38) is an inertial
acceleration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .claims import Array

PRINTED = ("(17)", "(18)", "(35)", "(47)")  # what can be taken as it is printed


@dataclass(frozen=True, eq=False)
class Module:
    """Sections (S), the last without mass.

    Attributes:
        placement: (4, 4) of the near end in the far end of the module before.
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
    """A rod of constant strain, columns (6,) a coordinate, its mass on the backbone at Gauss points."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    s = np.append((1 + x) / 2 * length, length)
    rest = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    basis = s[:, None, None] * np.stack(columns, axis=1)
    return Module(placement, s[:, None] * rest, basis, np.zeros((nodes, 3)), line_density * length * w / 2)


def hinge(placement: Array, axis: Array, points: Array, mass: Array) -> Module:
    """A revolute joint with a rigid body of point masses."""
    basis = np.tile(np.concatenate([np.zeros(3), axis])[:, None], (len(mass) + 1, 1, 1))
    return Module(placement, np.zeros((len(mass) + 1, 6)), basis, points, mass)


class _Body:
    """One module in motion: relative motion of {S_i}, points and their partial derivatives."""

    def __init__(self, module: Module, q: Array, qd: Array, qdd: Array) -> None:
        (T, dT, ddT), (p, dp, ddp) = module.moved(q, qd, qdd)
        unit, none = np.eye(module.n), np.zeros(module.n)
        partial = [module.moved(q, e, none) for e in unit]
        self.R, self.t, self.mass = T[:3, :3], T[:3, 3], module.mass
        self.v_rel, self.dv_rel = dT[:3, 3], ddT[:3, 3]
        dR, ddR = dT[:3, :3], ddT[:3, :3]
        self.w_rel, self.dw_rel = _vee(dR @ self.R.T), _vee(ddR @ self.R.T + dR @ dR.T)
        self.v_q = self.R.T @ np.stack([P[1, :3, 3] for P, _ in partial], axis=1)  # (42)
        self.w_q = self.R.T @ np.stack([_vee(P[1, :3, :3] @ self.R.T) for P, _ in partial], axis=1)  # (43)
        self.p_q = np.stack([points[1] for _, points in partial], axis=-1)
        share = self.mass / self.mass.sum()
        self.com, self.dcom, self.ddcom = share @ p, share @ dp, share @ ddp
        self.com_q = np.tensordot(share, self.p_q, 1)
        self.r, self.dr, self.ddr = p - self.com, dp - self.dcom, ddp - self.ddcom  # (6)

    def accelerate(self, w: Array, a: Array, dw: Array, printed: str) -> None:
        """(13), (16)-(18), from the w, a and dw of the body before."""
        x = np.cross
        R, t, v_rel, w_rel = self.R, self.t, self.v_rel, self.w_rel
        self.a = R.T @ (a + x(dw, t) + x(w, x(w, t) + v_rel) + x(w, v_rel) + self.dv_rel)
        if printed == "(17)":
            self.dw = R.T @ (dw + x(w, w_rel)) + self.dw_rel
        else:
            self.dw = R.T @ (dw + x(w, w_rel) + self.dw_rel)
        self.w = w = R.T @ (w + w_rel)
        turning = w if printed == "(18)" else self.dw
        self.a_com = self.a + x(turning, self.com) + x(w, x(w, self.com) + self.dcom) + x(w, self.dcom) + self.ddcom

    def inertial(self, printed: str) -> tuple[Array, Array, Array]:
        """F* of (46), T* of (48) or (47), and pi* of (38) with (19)."""
        x, m, r, dr, w, dw = np.cross, self.mass, self.r, self.dr, self.w, self.dw
        inertia, d_inertia = _inertia(m, r, r), _inertia(m, dr, r) + _inertia(m, r, dr)
        spin, rate = m @ x(r, dr), m @ x(r, self.ddr)
        torque = -inertia @ dw - d_inertia @ w - rate
        if printed != "(47)":
            torque = torque - x(w, inertia @ w) - x(w, spin)
        force = -m.sum() * self.a_com
        if printed == "(35)":
            return force, torque, self.com_q.T @ force
        acceleration = self.a_com + x(dw, r) + x(w, x(w, r)) + 2 * x(w, dr) + self.ddr  # (19)
        return force, torque, -np.einsum("p,pik,pi->k", m, self.p_q, acceleration)


def generalized_inverse_dynamics(
    chain: Sequence[Module], q: Array, qd: Array, qdd: Array, base: Array | None = None, printed: str = ""
) -> Array:
    """Algorithm 1, Q = M q'' + n, of modules one on the other.

    Args:
        base: (3,) acceleration of the base; none when left out, -g for the forces with gravity.
        printed: the equation, of `PRINTED`, that is taken as it is printed.
    """
    at = np.cumsum([0, *(m.n for m in chain)])
    where = [slice(a, b) for a, b in pairwise(at)]
    bodies = [_Body(m, q[i], qd[i], qdd[i]) for m, i in zip(chain, where, strict=True)]
    w, a, dw = np.zeros(3), np.zeros(3) if base is None else np.asarray(base), np.zeros(3)
    for body in bodies:
        body.accelerate(w, a, dw, printed)
        w, a, dw = body.w, body.a, body.dw
    Q, F, T = np.zeros(len(q)), np.zeros(3), np.zeros(3)
    after: _Body | None = None
    for body, i in zip(reversed(bodies), reversed(where), strict=True):
        force, torque, own = body.inertial(printed)
        if after is not None:
            F, T = after.R @ F, after.R @ T + np.cross(after.t, after.R @ F)
        F, T = F + force, T + torque + np.cross(body.com, force)  # (41)
        Q[i] = -(own + body.v_q.T @ F + body.w_q.T @ T)  # (40), (45)
        after = body
    return Q


def centred(chain: Sequence[Module], q: Array, qd: Array, qdd: Array) -> float:
    """(7), (25), (26): the largest of the integrals of r, r' and r'', relative to those of their magnitudes."""
    worst, at = 0.0, 0
    for m in chain:
        i = slice(at, at := at + m.n)
        body = _Body(m, q[i], qd[i], qdd[i])
        for r in (body.r, body.dr, body.ddr):
            size = m.mass @ np.abs(r)
            worst = max(worst, float(np.abs(m.mass @ r).max() / max(size.max(), 1e-12)))
    return worst


def _product(a: Array, b: Array) -> Array:
    """Of two polynomials of second degree, coefficients first."""
    return np.stack([a[0] @ b[0], a[0] @ b[1] + a[1] @ b[0], a[0] @ b[2] + a[1] @ b[1] + a[2] @ b[0]])


def _exp(x: Array) -> Array:
    """(3, S, 4, 4) of exponents (3, S, 6), by the exponential's series."""
    hat = np.zeros((*x.shape[:-1], 4, 4))
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


def _inertia(m: Array, a: Array, b: Array) -> Array:
    """The integral of tilde(a)^T tilde(b) dm."""
    return np.asarray((m @ np.sum(a * b, axis=1)) * np.eye(3) - np.einsum("p,pi,pj->ij", m, b, a))
