"""Paper D's recursion by Kane's equations, literally, in NumPy; for checking, not for production.

Kinematics is its input: the `Motion` of each module, from `paper_d_modules` or elsewhere. {S_i} is the frame at the far
end of module i, where the next one attaches, R and t its pose in {S_{i-1}}. All quantities of body i are in {S_i}; p is
a material point, r = p - p_CoM, a dot the rate of components there; a, dw, a_CoM and the twice dotted p of (19) and
(38) are inertial accelerations, rotated into {S_i}. "i - 1" is the parent, so that trees work as well. Numbers may be
complex, or of a kind that counts operations.

    (12)  v_i  = R^T (v_{i-1} + w_{i-1} x t + v_rel)
    (13)  w_i  = R^T (w_{i-1} + w_rel)
    (16)  a_i  = R^T (a_{i-1} + dw_{i-1} x t + w_{i-1} x (w_{i-1} x t + v_rel) + w_{i-1} x v_rel + dv_rel)
    (17)  dw_i = R^T (dw_{i-1} + w_{i-1} x w_rel + dw_rel)                                                         (d)
    (18)  a_CoM = a_i + dw x p_CoM + w x (w x p_CoM + p'_CoM) + w x p'_CoM + p''_CoM                              (d)
    (19)  p''  = a_CoM + dw x r + w x (w x r) + 2 w x r' + r''                                                     (d)
    (38)  pi*  = -int (dp/dq)^T p'' dm
    (46)  F*   = -m a_CoM
    (48)  T*   = -I dw - w x I w - J w - w x int r x r' dm - int r x r'' dm,  J = dI/dt
    (49)  pi*  = -{ m (dp_CoM/dq)^T a_CoM + (int r x dr/dq dm)^T dw - 1/2 [w^T (dI/dq_k) w]_k                      (d)
                   + 2 (int r' x dr/dq dm)^T w + int (dr/dq)^T r'' dm }
    (41)  F_j  = F*_j + sum R F_child,  T_j = T*_j + p_CoM x F*_j + sum (R T_child + t x R F_child)
    (45)  Q*_j = pi*_j + (dv_j/dq')^T F_j + (dw_j/dq')^T T_j,  and Q = -Q*
    (54)  F^g  = m g;  (55) pi^g = m (dp_CoM/dq)^T g, with g in {S_i}; the same as a_0 = -g in (16)

(d): damaged in the text at hand, or missing there; derived here from what precedes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .claims import Array

LITERAL = ("(17)", "(18)", "(35)", "(47)")  # equations that can be taken as in the text at hand


@dataclass(frozen=True, eq=False)
class Motion:
    """One module in motion, as seen from the far end of the one before.

    Attributes:
        R, t: pose of {S_i} in {S_{i-1}}.
        v_rel, w_rel, dv_rel, dw_rel: velocity of {S_i} as seen from {S_{i-1}} and in its axes, and the rates of these.
        v_q, w_q: (3, n) partial velocities in {S_i}, (42), (43) transposed.
        mass: (P,) of points.
        p, dp, ddp: (P, 3) their positions in {S_i}, and rates of these.
        p_q: (P, 3, n) partial derivatives of the positions.
    """

    R: Array
    t: Array
    v_rel: Array
    w_rel: Array
    dv_rel: Array
    dw_rel: Array
    v_q: Array
    w_q: Array
    mass: Array
    p: Array
    dp: Array
    ddp: Array
    p_q: Array


class Body:
    """One body of the robot: the part of its motion that does not depend on the others, then its inertial forces."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.m = motion, motion.mass.sum()
        share = motion.mass / self.m if self.m else motion.mass
        self.com, self.dcom, self.ddcom = share @ motion.p, share @ motion.dp, share @ motion.ddp
        self.com_q = np.tensordot(share, motion.p_q, 1)
        self.r, self.dr, self.ddr = motion.p - self.com, motion.dp - self.dcom, motion.ddp - self.ddcom  # (6)

    def accelerate(self, w: Array, a: Array, dw: Array, literal: str = "") -> None:
        """(13), (16)-(18), from the w, a and dw of the previous body."""
        x, k = cross, self.motion
        R, t, v_rel, w_rel = k.R, k.t, k.v_rel, k.w_rel
        self.a = R.T @ (a + x(dw, t) + x(w, x(w, t) + v_rel) + x(w, v_rel) + k.dv_rel)
        if literal == "(17)":
            self.dw = R.T @ (dw + x(w, w_rel)) + k.dw_rel
        else:
            self.dw = R.T @ (dw + x(w, w_rel) + k.dw_rel)
        self.w = w = R.T @ (w + w_rel)
        turning = w if literal == "(18)" else self.dw
        self.a_com = self.a + x(turning, self.com) + x(w, x(w, self.com) + self.dcom) + x(w, self.dcom) + self.ddcom

    def inertial(self, literal: str = "") -> tuple[Array, Array, Array]:
        """F* of (46), T* of (48) or (47), and pi* of (38) with (19)."""
        x, m, r, dr, w, dw = cross, self.motion.mass, self.r, self.dr, self.w, self.dw
        inertia, d_inertia = _inertia(m, r, r), _inertia(m, dr, r) + _inertia(m, r, dr)
        torque = -inertia @ dw - d_inertia @ w - m @ x(r, self.ddr)
        if literal != "(47)":
            torque = torque - x(w, inertia @ w) - x(w, m @ x(r, dr))
        force = -self.m * self.a_com
        if literal == "(35)":
            return force, torque, self.com_q.T @ force
        return force, torque, -np.tensordot(m[:, None] * self.acceleration(), self.motion.p_q, 2)

    def acceleration(self) -> Array:
        """(19): of the points, (P, 3)."""
        x, r, w = cross, self.r, self.w
        return np.asarray(self.a_com + x(self.dw, r) + x(w, x(w, r)) + 2 * x(w, self.dr) + self.ddr)

    def own_force(self) -> Array:
        """pi* of (49), as derived here."""
        m, w = self.motion.mass, self.w
        r_q = self.motion.p_q - self.com_q
        return -np.asarray(
            self.m * self.com_q.T @ self.a_com
            + np.tensordot(m, tilde(self.r) @ r_q, 1).T @ self.dw
            - np.tensordot(m[:, None] * (cross(w, self.r) @ tilde(w)), r_q, 2)  # half of w^T (dI/dq_k) w
            + 2 * np.tensordot(m, tilde(self.dr) @ r_q, 1).T @ w
            + np.tensordot(m[:, None] * self.ddr, r_q, 2)
        )


def generalized_inverse_dynamics(
    bodies: Sequence[Body], parents: Sequence[int] | None = None, base: Array | None = None, literal: str = ""
) -> Array:
    """Algorithm 1, GID: Q = M q'' + n.

    Args:
        parents: of each body, before it in the list, -1 for the base; a chain when left out.
        base: (3,) acceleration of the base; none when left out, -g for the forces with gravity.
        literal: the equation, of `LITERAL`, that is taken as in the text at hand.
    """
    parents = range(-1, len(bodies) - 1) if parents is None else parents
    zero = np.zeros(3)
    for body, i in zip(bodies, parents, strict=True):
        if i < 0:
            body.accelerate(zero, zero if base is None else np.asarray(base), zero, literal)
        else:
            body.accelerate(bodies[i].w, bodies[i].a, bodies[i].dw, literal)
    return -projected(bodies, parents, [body.inertial(literal) for body in bodies])


def gravity_force(bodies: Sequence[Body], gravity: Array, parents: Sequence[int] | None = None) -> Array:
    """Q^g by (54), (55)."""
    parents = range(-1, len(bodies) - 1) if parents is None else parents
    turned: list[Array] = []
    own = []
    for body, i in zip(bodies, parents, strict=True):
        turned.append(body.motion.R.T @ (turned[i] if i >= 0 else gravity))
        force = body.m * turned[-1]
        own.append((force, np.zeros(3), body.com_q.T @ force))
    return projected(bodies, parents, own)


def projected(bodies: Sequence[Body], parents: Sequence[int], own: Sequence[tuple[Array, Array, Array]]) -> Array:
    """Backward step, (40), (41): each body's force, torque about its centre of mass, and pi, to generalized forces."""
    F = [force for force, _, _ in own]
    T = [torque + cross(body.com, force) for body, (force, torque, _) in zip(bodies, own, strict=True)]
    Q = []
    for j in reversed(range(len(bodies))):
        k, i = bodies[j].motion, parents[j]
        Q.append(own[j][2] + k.v_q.T @ F[j] + k.w_q.T @ T[j])
        if i >= 0:
            force = k.R @ F[j]
            F[i], T[i] = F[i] + force, T[i] + k.R @ T[j] + cross(k.t, force)
    return np.concatenate(Q[::-1])


def centred(bodies: Sequence[Body]) -> float:
    """(7), (25), (26): the largest of the integrals of r, r' and r'', relative to those of their magnitudes."""
    worst = 0.0
    for body in bodies:
        mass = body.motion.mass
        for r in (body.r, body.dr, body.ddr):
            worst = max(worst, float(np.abs(mass @ r).max() / max((mass @ np.abs(r)).max(), 1e-12)))
    return worst


def cross(a: Array, b: Array) -> Array:
    """a x b along the last axes; faster than np.cross on short arrays."""
    right, left = [1, 2, 0], [2, 0, 1]
    return np.asarray(a[..., right] * b[..., left] - a[..., left] * b[..., right])


def tilde(a: Array) -> Array:
    """Matrix of `a x`, for the last axis of a."""
    result = np.zeros((*a.shape, 3), a.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., k, j], result[..., j, k] = a[..., i], -a[..., i]
    return result


def _inertia(m: Array, a: Array, b: Array) -> Array:
    """The integral of tilde(a)^T tilde(b) dm."""
    return np.asarray((m @ (a * b).sum(axis=1)) * np.eye(3) - (b.T * m) @ a)
