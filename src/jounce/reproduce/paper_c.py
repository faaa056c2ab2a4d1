"""Paper C's section II: inverse dynamics of a serial arm and its derivatives to any order, as a recursion, in NumPy.

Equations as printed but for (20), which needs M_i D^(k+1) V_i, and indices of the algorithm's box (docs/paper_c.md).
Gravity, which the section leaves out, is the base's upward acceleration. Vectors are [angular; linear]; joint j of the
paper is j - 1 here, and calB_ij of (14) is U[:, i, j].
"""

from __future__ import annotations

from math import comb

import numpy as np

from ..model import Model
from .claims import Array
from .table5 import Ad, ad, skew


def inverse_dynamics(robot: Model, q: Array, v: Array, printed: bool = False) -> Array:
    """Q and its derivatives (r + 1, n), for a stack v (r + 2, n), of an arm of revolute joints.

    Args:
        printed: takes (20) to the letter, with M_i D^(k) V_i.
    """
    n, rows = robot.nv, len(v) - 1
    X, M, dAd = _links(robot, q, v, rows)
    V = _twists(X, dAd, v, rows)
    G = np.zeros((rows, n, 6))  # the base's upward acceleration, carried to every body
    for i in range(n):
        for k in range(rows):
            if i == 0:
                G[k, 0] = dAd[k, 0] @ np.append(np.zeros(3), -robot.gravity)
            else:
                G[k, i] = sum(comb(k, r) * dAd[r, i] @ G[k - r, i - 1] for r in range(k + 1))
    W, Q = np.zeros((rows, n + 1, 6)), np.zeros((rows, n))
    for i in reversed(range(n)):
        for k in range(rows):  # (20)
            W[k, i] = M[i] @ (V[k if printed else k + 1, i] + G[k, i])
            for r in range(k + 1):
                W[k, i] -= comb(k, r) * ad(V[r, i]).T @ M[i] @ V[k - r, i]
                if i + 1 < n:
                    W[k, i] += comb(k, r) * dAd[r, i + 1].T @ W[k - r, i + 1]
            Q[k, i] = X[i] @ W[k, i]
    return Q


def twists(robot: Model, q: Array, v: Array) -> Array:
    """Body-fixed twists and their derivatives (K, n, 6), for a stack v (K, n): the kth-order forward kinematics."""
    X, _, dAd = _links(robot, q, v, len(v) - 1)
    return _twists(X, dAd, v, len(v) - 1)


def _links(robot: Model, q: Array, v: Array, rows: int) -> tuple[Array, Array, Array]:
    """Joint screws X (n, 6), inertias (12) (n, 6, 6), and Ad_{C_i,i-1} with its derivatives (rows + 1, n, 6, 6)."""
    n = robot.nv
    X, M, dAd = np.zeros((n, 6)), np.zeros((n, 6, 6)), np.zeros((rows + 1, n, 6, 6))
    for i, body in enumerate(robot.bodies):
        axis = body.joint.primitives()[0].axis
        X[i, :3] = axis
        d, m, k = skew(body.inertia.com), body.inertia.mass, skew(axis)
        M[i] = np.block([[body.inertia.rotational - m * d @ d, m * d], [-m * d, m * np.eye(3)]])
        turn = np.eye(4)
        turn[:3, :3] += np.sin(q[i]) * k + (1 - np.cos(q[i])) * k @ k
        dAd[0, i] = Ad(np.linalg.inv(body.placement @ turn))
        for order in range(1, rows + 1):
            terms = (comb(order - 1, r) * dAd[r, i] * v[order - r - 1, i] for r in range(order))
            dAd[order, i] = -ad(X[i]) @ sum(terms)
    return X, M, dAd


def _twists(X: Array, dAd: Array, v: Array, rows: int) -> Array:
    """D^(r) V_i, (rows + 1, n, 6), by (9), (14), (15), (17) and (18)."""
    n = len(X)
    B, U = np.zeros((rows + 1, n, n, 6)), np.zeros((rows + 1, n, n + 1, 6))
    for i in range(n):
        B[0, i, i] = X[i]
        for j in range(i):
            B[0, i, j] = dAd[0, i] @ B[0, i - 1, j]
        for r in range(rows + 1):
            if r > 0:
                for j in range(i + 1):
                    B[r, i, j] = sum(comb(r - 1, k) * ad(B[k, i, j]) @ U[r - 1 - k, i, j + 1] for k in range(r))
            for j in reversed(range(i + 1)):  # the sum over j <= a <= i of (18), from the one for j + 1
                U[r, i, j] = U[r, i, j + 1] + sum(comb(r, k) * B[k, i, j] * v[r - k, j] for k in range(r + 1))
    return U[:, :, 0]
