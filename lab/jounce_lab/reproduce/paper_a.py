"""Paper A's recursions, literally: Algorithms 1 to 3 and the expressions of appendix E, for numbers of any kind.

Equation numbers are the paper's. The representation is spatial, vectors are [angular; linear]. The numbers may be of a
kind that counts operations (`counting`) or records them (`graph`): arrays are then of objects. `Trees` are those of
section 3, a base on SE(3) that carries joints with one coordinate; the test oracles use the same expressions for joints
of all kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from jounce.model import Model
from jounce.parts.joints import Free

from .claims import Array

Rows = Sequence[Array] | Array
SWAP = np.r_[3:6, 0:3]  # [linear; angular] to [angular; linear], and back


def skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def Ad(C: Array) -> Array:
    """(3)."""
    R, x = C[:3, :3], C[:3, 3]
    return np.block([[R, np.zeros((3, 3), R.dtype)], [skew(x) @ R, R]])


def ad(g: Array) -> Array:
    """(5)."""
    w = skew(g[:3])
    return np.block([[w, np.zeros((3, 3), w.dtype)], [skew(g[3:]), w]])


def pose(R: Array, x: Array) -> Array:
    return np.vstack([np.column_stack([R, x]), [0, 0, 0, 1]])


def inverse(C: Array) -> Array:
    R, x = C[:3, :3], C[:3, 3]
    return pose(R.T, -(R.T @ x))


def exp(Y: Array, q: Any) -> Array:
    """(9), exp([Y] q), for Y of (8): its angular part a unit vector or zero."""
    w, v = skew(Y[:3]), Y[3:]
    if not np.any(Y[:3]):
        return pose(np.eye(3), v * q)
    s, c, ww = np.sin(q), 1 - np.cos(q), w @ w
    return pose(np.eye(3) + w * s + ww * c, (np.eye(3) * q + w * c + ww * (q - s)) @ v)


def screws_and_twists(S: Array, carrier: Rows, v: Rows, order: int) -> tuple[list[Array], Array]:
    """The general lines of Algorithm 1: S_j^(0..order) and V_j^(0..order).

    Args:
        S: (6, k) screws of the joint, k = 1 in the paper.
        carrier: V_p^(0..order) of the parent; empty if that is the world.
        v: (k,) rates of the joint and their derivatives, q^(1..order+1).
    """
    screws, twists = [S], list[Array]()
    for r1 in range(order + 1):
        if r1 > 0:
            terms = [comb(r1 - 1, r2) * (ad(twists[r2]) @ screws[r1 - 1 - r2]) for r2 in range(r1)]
            screws.append(_sum(terms))
        own = _sum([comb(r1, r2) * (screws[r2] @ v[r1 - r2]) for r2 in range(r1 + 1)])
        twists.append(carrier[r1] + own if len(carrier) else own)
    return screws, np.array(twists)


def mass_matrices(C: Array, V: Rows, M_b: Array) -> list[Array]:
    """(60), (61): the spatial inertia and its derivatives, as many as there are rows of V."""
    back = Ad(inverse(C))
    M = [back.T @ M_b @ back]
    for r in range(1, len(V) + 1):
        M.append(_next_mass_matrix(M, V, r))
    return M


def _next_mass_matrix(M: Rows, V: Rows, r: int) -> Array:
    terms = []
    for k in range(r):
        a = ad(V[k])
        terms.append(comb(r - 1, k) * (M[r - 1 - k] @ a + a.T @ M[r - 1 - k]))
    return np.asarray(-_sum(terms))


def momentum(M: Rows, V: Rows, r: int, less: int = 0) -> Array:
    """(62): P^(r); with `less` = 1 (65), without the term of V^(r)."""
    return np.asarray(_sum([comb(r, k) * (M[r - k] @ V[k]) for k in range(r + 1 - less)]))


def applied_wrenches(C: Array, V: Array, W_b: Array) -> Array:
    """(69), (70): the spatial wrench and its derivatives from those in body axes."""
    to_world = [Ad(inverse(C)).T]
    W = [to_world[0] @ W_b[0]]
    for r in range(1, len(W_b)):
        to_world.append(-_sum([comb(r - 1, k) * (ad(V[k]).T @ to_world[r - 1 - k]) for k in range(r)]))
        terms = [-ad(V[k]).T @ W[r - k - 1] + to_world[k] @ W_b[r - k] for k in range(r)]
        W.append(_sum([comb(r - 1, k) * term for k, term in enumerate(terms)]))
    return np.array(W)


def generalized_force(S: Rows, W: Rows, r: int, less: int = 0) -> Array:
    """Algorithm 2's Q_j^(r), and, with `less` = 1, the part of (25)'s torque known beforehand."""
    return np.asarray(_sum([comb(r, k) * (S[r - k].T @ W[k]) for k in range(r + 1 - less)]))


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0] if len(terms) else 0.0
    for term in terms[1:]:
        total = total + term
    return total


@dataclass
class Tree:
    """Section 3's trees. Body 0 is the base, and joint j carries body j > 0."""

    parent: list[int]
    home: list[Array]  # A_j^0
    Y: list[Array]  # (6,) spatial screws at home; the base has none
    M_b: list[Array]
    gravity: Array  # G^0

    @classmethod
    def of(cls, model: Model) -> Tree:
        """The tree of a model whose first body has a `Free` joint, and all others one coordinate."""
        first, *others = model.bodies
        if not isinstance(first.joint, Free) or any(b.joint.nv != 1 for b in others):
            raise ValueError("model has other joints, expected a free base that carries joints with one coordinate")
        home, Y, M_b = [np.eye(4)], [np.zeros(6)], []
        for b in others:
            home.append(home[b.parent] @ b.placement)
            p = b.joint.primitives()[0]
            turn = p.axis * (p.kind != "prismatic")
            slide = p.axis * (1.0 if p.kind == "prismatic" else p.slide)
            Y.append(Ad(home[-1]) @ np.concatenate([turn, slide]))
        for b in model.bodies:
            d, m = skew(b.inertia.com), b.inertia.mass
            M_b.append(np.block([[b.inertia.rotational - m * d @ d, m * d], [-m * d, m * np.eye(3)]]))
        return cls([b.parent for b in model.bodies], home, Y, M_b, np.append(np.zeros(3), model.gravity))


def inverse_dynamics(tree: Tree, C1: Array, V1: Array, q: Array, r: int) -> tuple[Array, Array]:
    """Algorithms 1 and 2: the base's wrench (r + 1, 6) and the joint torques (r + 1, N - 1).

    Args:
        C1: pose of the base.
        V1: (r + 2, 6) its spatial twist and derivatives.
        q: (r + 3, N - 1) joints and derivatives.
    """
    n = len(tree.parent)
    F, C = _poses(tree, C1, q[0])
    V, S = [V1], list[Any]([None])
    for j in range(1, n):
        screws, twists = screws_and_twists(_screw(tree, F, j), V[tree.parent[j]], q[1:, j - 1 : j], r + 1)
        S.append(screws)
        V.append(twists)
    W = []
    for j in range(n):
        M = mass_matrices(C[j], V[j][: r + 1], tree.M_b[j])
        W.append([momentum(M, V[j], k + 1) - M[k] @ tree.gravity for k in range(r + 1)])
    for j in reversed(range(1, n)):
        W[tree.parent[j]] = [a + b for a, b in zip(W[tree.parent[j]], W[j], strict=True)]
    tau = [[generalized_force(S[j], W[j], k)[0] for j in range(1, n)] for k in range(r + 1)]
    return np.array(W[0]), np.array(tau)


def forward_dynamics(
    tree: Tree, C1: Array, V1: Array, q: Array, wrench: Array, tau: Array, bias_wrenches: list[Array] | None = None
) -> tuple[Array, Array]:
    """Algorithm 3: V_1^(1..r+1) (r + 1, 6) and q^(2..r+2) (r + 1, N - 1).

    The results of Algorithm 1 and (61) at each order are kept for the next.

    Args:
        V1: (6,) spatial twist of the base.
        q: (2, N - 1) joints and their rates.
        wrench, tau: (r + 1, 6) and (r + 1, N - 1).
        bias_wrenches: gets W^A_{j,r} of (22), (N, 6) of all bodies, order by order.
    """
    n, parent = len(tree.parent), tree.parent
    F, C = _poses(tree, C1, q[0])
    S: list[list[Array]] = [[]] + [[_screw(tree, F, j)] for j in range(1, n)]
    V = [[V1]]
    for j in range(1, n):
        V.append([V[parent[j]][0] + S[j][0][:, 0] * q[1, j - 1]])
    M = [mass_matrices(C[j], [], tree.M_b[j]) for j in range(n)]
    MA = [m[0] for m in M]  # (23)
    D = [None] * n
    for j in reversed(range(1, n)):
        s = S[j][0][:, 0]
        U = MA[j] @ s
        D[j] = s @ U
        MA[parent[j]] = MA[parent[j]] + MA[j] - np.outer(U, U) / D[j]
    rates, W = [q[1]], list[list[Array]]([[] for _ in range(n)])  # q', q'', ...; (22)
    for r in range(len(tau)):
        WA, bias, free = [], [np.zeros(6)] * n, [None] * n
        for j in range(n):
            if j > 0:
                S[j].append(_sum([comb(r, k) * (ad(V[j][k]) @ S[j][r - k]) for k in range(r + 1)]))
                terms = [comb(r + 1, k) * (S[j][k][:, 0] * rates[r + 1 - k][j - 1]) for k in range(1, r + 2)]
                bias[j] = _sum(terms)  # (66)
            M[j].append(_next_mass_matrix(M[j], V[j], r + 1))
            WA.append(momentum(M[j], V[j], r + 1, less=1) - M[j][r] @ tree.gravity)
        for j in reversed(range(1, n)):  # (24), (25)
            s = S[j][0][:, 0]
            known = generalized_force(S[j], W[j], r, less=1)[0] if r else 0.0
            free[j] = (tau[r, j - 1] - known - s @ (MA[j] @ bias[j] + WA[j])) / D[j]
            WA[parent[j]] = WA[parent[j]] + WA[j] + MA[j] @ (s * free[j] + bias[j])
        if bias_wrenches is not None:
            bias_wrenches.append(np.array(WA))
        V[0].append(solve(MA[0], wrench[r] - WA[0]))
        q_next = []
        for j in range(1, n):  # (26)
            s, above = S[j][0][:, 0], V[parent[j]][-1]
            q_next.append(free[j] - s @ (MA[j] @ above) / D[j])
            V[j].append(above + s * q_next[-1] + bias[j])
        for j in range(1, n):
            W[j].append(MA[j] @ V[j][-1] + WA[j])
        rates.append(np.array(q_next))
    return np.array(V[0][1:]), np.array(rates[1:])


def solve(A: Array, b: Array) -> Array:
    """A^-1 b by L D L^T, for numbers of any kind."""
    n = len(b)
    L, D, x = [[0.0] * n for _ in range(n)], list[Any](), list(b)
    for i in range(n):
        for j in range(i):
            L[i][j] = (A[i, j] - sum(L[i][k] * D[k] * L[j][k] for k in range(j))) / D[j]
        D.append(A[i, i] - sum(L[i][k] * L[i][k] * D[k] for k in range(i)))
        x[i] = x[i] - sum(L[i][k] * x[k] for k in range(i))
    for i in reversed(range(n)):
        x[i] = x[i] / D[i] - sum(L[k][i] * x[k] for k in range(i + 1, n))
    return np.array(x)


def _poses(tree: Tree, C1: Array, q: Array) -> tuple[list[Array], list[Array]]:
    """Algorithm 1: F_j and C_j."""
    F = [C1]
    for j in range(1, len(tree.parent)):
        F.append(F[tree.parent[j]] @ exp(tree.Y[j], q[j - 1]))
    return F, [f @ A for f, A in zip(F, tree.home, strict=True)]


def _screw(tree: Tree, F: list[Array], j: int) -> Array:
    return (Ad(F[j]) @ tree.Y[j])[:, None]
