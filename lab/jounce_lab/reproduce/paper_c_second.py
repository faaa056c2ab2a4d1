"""Inverse dynamics of a serial arm to second order, by hand: what paper C compares its algorithms of any order with.

Those are in its references [12] and [29]; here they are derived anew, in its notation, from its (4), (19), (27), (28).
Vectors are [angular; linear].

Recursive, O(n). With A = Ad_{C_i,i-1}, x = ad_{X_i}, A' = -q' x A and u_k = A V_{i-1}^(k), and since x X = 0,

    V    = u_0 + X q'
    V'   = u_1 - q' x V + X q''
    V''  = u_2 - q' x (u_1 + V') - q'' x V + X q'''
    V''' = u_3 - q' x (2 u_2 + V'' - q' x u_1) - q'' x (u_1 + 2 V') - q''' x V + X q''''

and of A^T W, with A and x of the next body and W its wrench, the derivatives are A^T (W' - q' x^T W) and
A^T (W'' - 2 q' x^T W' + (q' q' x^T x^T - q'' x^T) W).

Closed, with the matrices of section III and products of 6n x n matrices only. As A' = A a - A a A, (27), the derivative
of A y is A (a (y - A y) + y'), so with K = a J,

    J' = -A K,   J'' = -A y,  y = a (K + J') + K',   and the third derivative is -A (a (y + J'') + y')
    M = J^T (M J),   C = J^T P,  P = M J' - b^T M J,  by (28), (30) and (24); both are then differentiated twice
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .claims import Array
from .paper_a import Ad, ad, exp, inverse
from .paper_c import ClosedForm, Link


def recursive(links: Sequence[Link], q: Array, v: Array) -> Array:
    """Q, Q' and Q'' (3, n), for a stack v (4, n), without gravity."""
    A = [Ad(inverse(link.placement @ exp(link.X, x))) for link, x in zip(links, q, strict=True)]
    x = [ad(link.X) for link in links]
    V: list[list[Any]] = []
    for i, link in enumerate(links):
        d1, d2, d3, d4 = v[:, i]
        u = [A[i] @ below for below in V[-1]] if V else [np.zeros(6)] * 4
        V0 = u[0] + link.X * d1
        xV = x[i] @ V0
        V1 = u[1] - xV * d1 + link.X * d2
        V2 = u[2] - x[i] @ (u[1] + V1) * d1 - xV * d2 + link.X * d3
        inner, outer = u[2] + u[2] + V2 - x[i] @ u[1] * d1, u[1] + V1 + V1
        V.append([V0, V1, V2, u[3] - x[i] @ inner * d1 - x[i] @ outer * d2 - xV * d3 + link.X * d4])
    rows: list[list[Any]] = []
    W: list[Any] = []
    for i in reversed(range(len(links))):
        P = [links[i].M @ twist for twist in V[i]]
        turn = [ad(twist).T for twist in V[i][:3]]
        own = [P[1] - turn[0] @ P[0], P[2] - turn[0] @ P[1] - turn[1] @ P[0]]
        own.append(P[3] - turn[0] @ P[2] - 2.0 * (turn[1] @ P[1]) - turn[2] @ P[0])
        if W:
            d1, d2, back = v[0, i + 1], v[1, i + 1], x[i + 1].T
            x0, x1 = back @ W[0], back @ W[1]
            above = [W[0], W[1] - x0 * d1, W[2] - 2.0 * (x1 * d1) + (back @ x0) * (d1 * d1) - x0 * d2]
            own = [mine + A[i + 1].T @ w for mine, w in zip(own, above, strict=True)]
        W = own
        rows.insert(0, [links[i].X @ w for w in W])
    return np.array(rows).T


def closed(form: ClosedForm) -> Array:
    """Q, Q' and Q'' (3, n), from A, X and M of a closed form, without gravity."""
    A, M, (a, da, dda), v = form.A(), form.M, (form.a(n) for n in range(3)), [form.v(n) for n in range(4)]
    J0 = A @ form.X
    K0 = a @ J0
    J1 = -(A @ K0)
    K1 = da @ J0 + a @ J1
    y = a @ (K0 + J1) + K1
    J2 = -(A @ y)
    K2 = dda @ J0 + 2.0 * (da @ J1) + a @ J2
    J3 = -(A @ (a @ (y + J2) + da @ (K0 + J1) + a @ (K1 + J2) + K2))
    V0 = J0 @ v[0]
    V1 = J0 @ v[1] + J1 @ v[0]
    V2 = J0 @ v[2] + 2.0 * (J1 @ v[1]) + J2 @ v[0]
    b0, b1, b2 = (_diagonal(V).T for V in (V0, V1, V2))
    M0, M1, M2, M3 = (M @ J for J in (J0, J1, J2, J3))
    P0, P1 = M1 - b0 @ M0, M2 - b1 @ M0 - b0 @ M1
    P2 = M3 - b2 @ M0 - 2.0 * (b1 @ M1) - b0 @ M2
    m, half, quarter = J0.T @ M0, J1.T @ M0, J2.T @ M0
    dm, ddm = half + half.T, quarter + quarter.T + 2.0 * (J1.T @ M1)
    c, dc, ddc = J0.T @ P0, J1.T @ P0 + J0.T @ P1, J2.T @ P0 + 2.0 * (J1.T @ P1) + J0.T @ P2
    return np.array(
        [m @ v[1] + c @ v[0], m @ v[2] + (dm + c) @ v[1] + dc @ v[0],
         m @ v[3] + (2.0 * dm + c) @ v[2] + (ddm + 2.0 * dc) @ v[1] + ddc @ v[0]]
    )  # fmt: skip


def _diagonal(twists: Array) -> Array:
    """b of (31); the twists are [linear; angular], as those of `ClosedForm`."""
    result = np.zeros((len(twists), len(twists)))
    for i in range(0, len(twists), 6):
        angular_first = np.asarray(twists[i : i + 6])[[3, 4, 5, 0, 1, 2]]
        swapped = ad(angular_first)
        result[i : i + 6, i : i + 6] = np.roll(np.roll(swapped, 3, axis=0), 3, axis=1)
    return result.view(type(twists))
