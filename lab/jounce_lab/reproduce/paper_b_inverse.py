"""Paper B's Table 9, the inverse mass matrix algorithm IMMAmb, line by line, and Propositions 1 and 3 by the tables."""

from __future__ import annotations

import numpy as np

from .claims import Array
from .paper_b import Tree, cross, extended, jcalc
from .paper_b_derivatives import by_joints, by_pose, by_rates, by_twist


def immamb(tree: Tree, s: Array, printed: str = "") -> Array:
    """M^inv, (6 + n_J, 6 + n_J), for joints s. It starts from M^A_B0 = M_B0, which no line states.

    Args:
        printed: "9.11" puts X before the first of its two terms only. Line 18, whose shapes do not fit in the text at
            hand, is always read as P_lambda(i)[:, i+6:].
    """
    n, parent = len(tree.parent), tree.parent
    below = [[j] for j in range(n)]
    for i in reversed(range(1, n)):
        below[parent[i]] += below[i]
    MA, Gamma = list(tree.inertia), tree.screw  # 4
    X = [np.eye(6), *(jcalc(tree.placement[i], Gamma[i], s[i - 1])[0] for i in range(1, n))]  # 1-3
    inverse, (F, P) = np.zeros((n + 5, n + 5)), np.zeros((2, n, 6, n + 5))
    U, D = np.zeros((n, 6)), np.ones(n)
    for i in reversed(range(1, n)):  # 6
        row, columns = i + 5, [j + 5 for j in below[i]]
        U[i] = MA[i] @ Gamma[i]  # 7
        D[i] = Gamma[i] @ U[i]  # 8
        inverse[row, row] = 1 / D[i]  # 9
        inverse[row, columns] -= Gamma[i] @ F[i][:, columns] / D[i]  # 10
        first, second = F[i][:, columns], np.outer(U[i], inverse[row, columns])
        F[parent[i]][:, columns] += X[i].T @ first + second if printed == "9.11" else X[i].T @ (first + second)  # 11
        Ma = MA[i] - np.outer(U[i], U[i]) / D[i]  # 12
        MA[parent[i]] = MA[parent[i]] + X[i].T @ Ma @ X[i]  # 13
    P[0][:, 6:] = -np.linalg.solve(MA[0], F[0][:, 6:])  # 15
    for i in range(1, n):  # 16
        row = i + 5
        moved = X[i] @ P[parent[i]][:, row:]
        inverse[row, row:] -= U[i] @ moved / D[i]  # 17
        P[i][:, row:] = np.outer(Gamma[i], inverse[row, row:]) + moved  # 18
    inverse[:6, 6:] = P[0][:, 6:]  # 20
    inverse[6:, 6:] = np.triu(inverse[6:, 6:]) + np.triu(inverse[6:, 6:], 1).T  # 21-25
    inverse[6:, :6] = inverse[:6, 6:].T  # "by symmetry", section 4.4
    inverse[:6, :6] = np.linalg.inv(MA[0])  # 26
    return inverse


def inverse_dynamics_derivatives(tree: Tree, q: Array, v: Array, a: Array, held: str = "body") -> tuple[Array, Array]:
    """[D_1 ID, D_2 ID] and [D_3 ID, D_4 ID], each (nv, nv), with v and a in body axes."""
    e = extended(tree, q, v, a)
    return np.hstack([by_pose(e, held), by_joints(e)]), np.hstack([by_twist(e), by_rates(e)])


def linearization(tree: Tree, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """A of Proposition 3, (42), and B of Proposition 1, (23), for the accelerations a under the forces."""
    inverse, n = immamb(tree, q[7:]), len(v)
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n - 6))
    A[:6, :6], A[:n, n:] = -cross(v[:6]), np.eye(n)
    A[n:] = -inverse @ np.hstack(inverse_dynamics_derivatives(tree, q, v, a))
    B[n:] = inverse[:, 6:]
    return A, B


def forward_dynamics(tree: Tree, q: Array, v: Array, tau: Array) -> Array:
    """(81), with the mass matrix and the bias of EIDAmb."""
    e = extended(tree, q, v, np.zeros(len(v)))
    return np.asarray(np.linalg.solve(e.mass_matrix, tau - e.tau))
