"""Partial derivatives of the higher-order dynamics (paper A's future work), from those at order zero along the motion.

The core gives K, D and M with their time derivatives: at every instant, dtau = K dq + D dv + M dv', with dq in
left-trivialized tangent coordinates. Changing one derivative v^(m) at t = 0 and no other changes the motion by
dv(t) = t^m / m!, and the tangent coordinates by the solution of

    dq' = dv - ad_v dq

(ad_v is zero for joints with plain coordinates, the bracket of twists for `Free`, the cross product for `Spherical`).
The k-th time derivative of dtau at t = 0, by Leibniz' rule, is the derivative sought.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.interruptible import Gathered, States
from jounce.parts.joints import Free, Spherical

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


def bracket_matrix(v: Array) -> Array:
    """ad_v (..., n, n) of a twist v (..., 6) [linear; angular], or of an angular velocity (..., 3)."""
    if v.shape[-1] == 3:
        return skew(v)
    ad = np.zeros((*v.shape[:-1], 6, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = skew(v[..., 3:])
    ad[..., :3, 3:] = skew(v[..., :3])
    return ad


def skew(w: Array) -> Array:
    """[w] (..., 3, 3), with [w] u = w x u."""
    matrix = np.zeros((*w.shape[:-1], 3, 3))
    for i in range(3):
        matrix[..., (i + 1) % 3, (i + 2) % 3] = -w[..., i]
        matrix[..., (i + 2) % 3, (i + 1) % 3] = w[..., i]
    return matrix


def ball_columns(model: Model) -> list[slice]:
    """The columns of v that belong to `Free` and `Spherical` joints."""
    return [where for b, (_, where) in model._moving() if isinstance(b.joint, (Free, Spherical))]


def _response(v: Array, m: int, rows: int) -> Array:
    """Derivatives (..., rows, n, n) of dq for dv = t^m / m!; for m = -1, of dq starting at the identity with dv = 0."""
    n = v.shape[-1]
    ad = bracket_matrix(v)
    dq = np.zeros((*v.shape[:-2], rows, n, n))
    if m < 0:
        dq[..., 0, :, :] = np.eye(n)
    for j in range(rows - 1):
        dq[..., j + 1, :, :] = (j == m) * np.eye(n) - sum(
            comb(j, i) * ad[..., i, :, :] @ dq[..., j - i, :, :] for i in range(j + 1)
        )
    return dq


def inverse_partials(model: Model, v: Array, K: Array, D: Array, M: Array | None) -> tuple[Array, Array]:
    """Partials of each torque derivative k <= r with respect to q and to each v^(m), m <= r + 1.

    Args:
        v: stack (..., r + 2, nv).
        K, D, M: (..., r + 1, nv, nv), derivatives along the motion; or, without M, those of any quantity that changes
            by K dq + D dv, each (..., r + 1, m, nv).

    Returns:
        (..., r + 1, nv, nv) and (..., r + 1, r + 2, nv, nv).
    """
    if K.ndim > 3 and (states := States(K.shape[-1], v=(v, 2), K=(K, 3), D=(D, 3), M=(M, 3))).many:
        made = Gathered(states.lead)
        for some, piece in states.pieces():
            dq, dv = inverse_partials(model, piece["v"], piece["K"], piece["D"], piece.get("M"))
            made.put(some, dq=dq, dv=dv)
        return made["dq"], made["dv"]
    rows = K.shape[-3]
    dq = np.zeros_like(K)
    dv = np.zeros((*K.shape[:-2], rows + 1, *K.shape[-2:]))
    for m in range(-1, rows + 1):
        out = dq if m < 0 else dv[..., m, :, :]
        for k in range(rows):  # joints with one coordinate: dq = t^(m + 1) / (m + 1)!
            if m + 1 <= k:
                out[..., k, :, :] = comb(k, m + 1) * K[..., k - m - 1, :, :]
        for where in ball_columns(model):
            change = _response(v[..., where], m, rows)
            for k in range(rows):
                out[..., k, :, where] = sum(
                    comb(k, j) * K[..., k - j, :, where] @ change[..., j, :, :] for j in range(k + 1)
                )
        for k in range(rows):
            if 0 <= m <= k:
                out[..., k, :, :] += comb(k, m) * D[..., k - m, :, :]
            if M is not None and 1 <= m <= k + 1:
                out[..., k, :, :] += comb(k, m - 1) * M[..., k - m + 1, :, :]
    return dq, dv


def forward_partials(dtau_dq: Array, dtau_dv: Array, inverse: Array) -> tuple[Array, Array, Array]:
    """Partials of each acceleration derivative k <= r with respect to q, v and each tau^(l), l <= r.

    tau^(k) depends on q, v and the accelerations up to order k, on the last through M; so they are found in turn.

    Args:
        dtau_dq, dtau_dv: from `inverse_partials`.
        inverse: (..., nv, nv), M^-1.

    Returns:
        (..., r + 1, nv, nv), the same, and (..., r + 1, r + 1, nv, nv).
    """
    rows, nv = dtau_dq.shape[-3], dtau_dq.shape[-1]
    several = dtau_dq.ndim > 3
    if several and (states := States(nv, dtau_dq=(dtau_dq, 3), dtau_dv=(dtau_dv, 4), inverse=(inverse, 2))).many:
        made = Gathered(states.lead)
        for some, piece in states.pieces():
            dq, dv, dtau = forward_partials(piece["dtau_dq"], piece["dtau_dv"], piece["inverse"])
            made.put(some, dq=dq, dv=dv, dtau=dtau)
        return made["dq"], made["dv"], made["dtau"]
    # All unknowns side by side: q, v, tau, tau', ...
    given = np.zeros((*dtau_dq.shape[:-2], nv, (2 + rows) * nv))
    given[..., :nv] = -dtau_dq
    given[..., nv : 2 * nv] = -dtau_dv[..., :, 0, :, :]
    for k in range(rows):
        given[..., k, :, (2 + k) * nv : (3 + k) * nv] = np.eye(nv)
        for j in range(k):
            given[..., k, :, :] -= dtau_dv[..., k, j + 1, :, :] @ given[..., j, :, :]
        given[..., k, :, :] = inverse @ given[..., k, :, :]
    dtau = np.moveaxis(given[..., 2 * nv :].reshape(*given.shape[:-1], rows, nv), -2, -3)
    return given[..., :nv], given[..., nv : 2 * nv], dtau
