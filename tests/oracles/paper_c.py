"""Recursive kth-order inverse dynamics of serial chains of 1-DoF joints, literally, in NumPy float64.

Source (paper C): S. Kumar, A. Müller, "Nth Order Analytical Time Derivatives of Inverse Dynamics in Recursive
and Closed Forms", section II, equations (4)-(20) and the algorithm of section II.E.  Body-fixed
representation, angular part first.  D^(k) is the kth time derivative; B_ij is the screw of joint j in
frame i; calB_ij of (14) is written U_ij below.

Read with these corrections:
- (20) and the algorithm: M_i D^(k+1) V_i, not M_i D^(k) V_i; q is needed up to order k+2.
- Algorithm, D^(r) calB_ij: sum over a (printed k) of D^(l) B_ia q_a^(r-l+1), j < a <= i as in (18), and
  V_i = calB_i0 as in (15), not calB_i1; D^(r) B_ij holds from r = 1 on; B_ij = Ad B_{i-1,j} for j < i only.
- D^(k) Ad: the factor is the (k-r)th derivative of q, not of q'; likewise q_1^(r+1) in D^(r) V_1.
- The backward recursion starts at i = n, with no W_{n+1}.
- Gravity: (32), (33) with the base's upward acceleration, V_0' = (0, -gravity); it adds
  G_i = Ad_{C_i}^-1 V_0' to V_i'.  Here G_i = Ad_{C_{i,i-1}} G_{i-1}, differentiated by Leibniz' rule (2).

Joint friction and springs are not in the paper; they are added coordinate by coordinate.
"""

from __future__ import annotations

from math import comb

import numpy as np

from trees import ONE_DOF, TreeSpec


def tilde(a: np.ndarray) -> np.ndarray:
    return np.cross(a, -np.eye(3))


def adjoint(C: np.ndarray) -> np.ndarray:
    R, x = C[:3, :3], C[:3, 3]
    result = np.zeros((6, 6))
    result[:3, :3] = result[3:, 3:] = R
    result[3:, :3] = tilde(x) @ R
    return result


def bracket(V: np.ndarray) -> np.ndarray:
    """ad_V."""
    result = np.zeros((6, 6))
    result[:3, :3] = result[3:, 3:] = tilde(V[:3])
    result[3:, :3] = tilde(V[3:])
    return result


def screw_motion(X: np.ndarray, q: float) -> np.ndarray:
    """exp(X q) for an axis through the origin: rotation about the angular part, shift by the linear part."""
    turn = tilde(X[:3])
    C = np.eye(4)
    C[:3, :3] += np.sin(q) * turn + (1 - np.cos(q)) * turn @ turn
    C[:3, 3] = X[3:] * q
    return C


def inverse_dynamics(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Generalized forces and their first r derivatives, (r+1, n), for a velocity stack v (r+2, n)."""
    n, rows = len(tree.bodies), len(v) - 1
    for i, body in enumerate(tree.bodies):
        if body.joint not in ONE_DOF or body.parent != i - 1:
            raise NotImplementedError("paper C treats serial chains of 1-DoF joints on a fixed base")
    dq = np.vstack([q, v])  # dq[k] is q^(k)

    # Joint screws X_i, mass matrices (12), Ad_{C_{i,i-1}} with its derivatives.
    X = np.zeros((n, 6))
    M = np.zeros((n, 6, 6))
    DAd = np.zeros((rows + 1, n, 6, 6))
    for i, body in enumerate(tree.bodies):
        X[i, :3] = body.axis * (body.joint != "prismatic")
        X[i, 3:] = body.axis * {"revolute": 0.0, "prismatic": 1.0, "helical": body.pitch}[body.joint]
        d, m = tilde(body.com), body.mass
        M[i] = np.block([[body.inertia - m * d @ d, m * d], [-m * d, m * np.eye(3)]])
        DAd[0, i] = np.linalg.inv(adjoint(body.placement @ screw_motion(X[i], q[i])))
        for k in range(1, rows + 1):
            terms = (comb(k - 1, r) * DAd[r, i] * dq[k - r, i] for r in range(k))
            DAd[k, i] = -bracket(X[i]) @ sum(terms)

    # kth-order forward kinematics: (9), (14), (17), (18), (15); joint j of the paper is j - 1 here in B, dq.
    B = np.zeros((rows + 1, n, n, 6))
    U = np.zeros((rows + 1, n, n + 1, 6))
    for i in range(n):
        B[0, i, i] = X[i]
        for j in range(i):
            B[0, i, j] = DAd[0, i] @ B[0, i - 1, j]
        for r in range(rows + 1):
            for j in range(i + 1):
                if r > 0:
                    terms = (comb(r - 1, k) * bracket(B[k, i, j]) @ U[r - 1 - k, i, j + 1] for k in range(r))
                    B[r, i, j] = sum(terms)
            for j in range(i + 1):
                for a in range(j, i + 1):
                    U[r, i, j] += sum(comb(r, k) * B[k, i, a] * dq[r - k + 1, a] for k in range(r + 1))
    V = U[:, :, 0]

    # Base acceleration against gravity, carried to every body.
    G = np.zeros((rows, n, 6))
    for i in range(n):
        if i == 0:
            V0 = np.concatenate([np.zeros(3), -tree.gravity])
            G[:, 0] = DAd[:rows, 0] @ V0
        else:
            for k in range(rows):
                G[k, i] = sum(comb(k, r) * DAd[r, i] @ G[k - r, i - 1] for r in range(k + 1))

    # kth-order inverse dynamics: (20).
    W = np.zeros((rows, n + 1, 6))
    Q = np.zeros((rows, n))
    for i in reversed(range(n)):
        for k in range(rows):
            W[k, i] = M[i] @ (V[k + 1, i] + G[k, i])
            for r in range(k + 1):
                W[k, i] -= comb(k, r) * bracket(V[r, i]).T @ M[i] @ V[k - r, i]
                if i + 1 < n:
                    W[k, i] += comb(k, r) * DAd[r, i + 1].T @ W[k - r, i + 1]
            Q[k, i] = X[i] @ W[k, i]

    armature, damping, stiffness = (
        np.array([getattr(b, name) for b in tree.bodies]) for name in ("armature", "damping", "stiffness")
    )
    return Q + armature * dq[2:] + damping * dq[1:-1] + stiffness * dq[:-2]
