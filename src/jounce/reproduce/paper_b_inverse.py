"""Paper B's Table 9, the inverse mass matrix algorithm IMMAmb, line by line."""

from __future__ import annotations

import numpy as np

from ..model import Model
from .claims import Array
from .paper_b import inertia_of, jcalc


def immamb(robot: Model, s: Array, printed: bool = False) -> Array:
    """M^inv, (6 + n_J, 6 + n_J), for joints s.

    Args:
        printed: lines 1-5 leave out the base's inertia, line 11 puts X before the first term only, and no line fills
            M^inv[7:, 1:6]. Line 18, whose shapes do not fit, is always read as P_lambda(i)[:, i+6:].
    """
    n = len(robot.bodies)
    parent = [body.parent for body in robot.bodies]
    below = [[j] for j in range(n)]
    for i in reversed(range(1, n)):
        below[parent[i]] += below[i]
    MA = [inertia_of(body) for body in robot.bodies]  # 4
    if printed:
        MA[0] = np.zeros((6, 6))
    X, Gamma = [np.eye(6)], [np.zeros(6)]
    for i in range(1, n):  # 1
        step, _, screw = jcalc(robot.bodies[i], s[i - 1])  # 2, 3
        X.append(step)
        Gamma.append(screw)
    inverse, (F, P) = np.zeros((n + 5, n + 5)), np.zeros((2, n, 6, n + 5))
    U, D = np.zeros((n, 6)), np.ones(n)
    for i in reversed(range(1, n)):  # 6
        row, columns = i + 5, [j + 5 for j in below[i]]
        U[i] = MA[i] @ Gamma[i]  # 7
        D[i] = Gamma[i] @ U[i]  # 8
        inverse[row, row] = 1 / D[i]  # 9
        inverse[row, columns] -= Gamma[i] @ F[i][:, columns] / D[i]  # 10
        first, second = F[i][:, columns], np.outer(U[i], inverse[row, columns])
        F[parent[i]][:, columns] += X[i].T @ first + second if printed else X[i].T @ (first + second)  # 11
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
    if not printed:
        inverse[6:, :6] = inverse[:6, 6:].T  # section 4.4
    inverse[:6, :6] = np.linalg.inv(MA[0])  # 26
    return inverse
