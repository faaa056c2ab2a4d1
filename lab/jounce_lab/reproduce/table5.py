"""Paper A's Table 5, literally: the aerial manipulator's kinematics, inverse and forward dynamics up to first order.

Vectors are [angular; linear], as in the paper; bodies are numbered 1 to 7; `q[k]` is the k-th derivative of the
joints, with entries for joints 2 to 7 at [0] to [5], and `V1[k]` that of the spatial twist of the base.
"""

from __future__ import annotations

import numpy as np

from .claims import Array
from .paper_a import Ad, ad, exp, skew

PARENT = {2: 1, 3: 2, 4: 3, 5: 1, 6: 5, 7: 6}
CHILDREN = {1: (2, 5), 2: (3,), 3: (4,), 4: (), 5: (6,), 6: (7,), 7: ()}
_AXIS = {2: 1, 5: 1, 3: 0, 6: 0, 4: 2, 7: 2}  # e_j of section 7.1
_B, _C, _D = 0.10, 0.18, 0.06  # Table 3
_G0 = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -9.81])


def path(j: int) -> list[int]:
    """P(1, j): the bodies from the base to j."""
    return [1] if j == 1 else [*path(PARENT[j]), j]


def _shift(x: float, z: float) -> Array:
    C = np.eye(4)
    C[0, 3], C[2, 3] = x, z
    return C


def _home() -> dict[int, Array]:
    """A_j^0, products along the path."""
    step = {1: np.eye(4), 2: _shift(_C / 2, -_B - _D), 5: _shift(-_C / 2, -_B - _D)}
    step |= {j: _shift(0.0, -2 * _D) for j in (3, 4, 6, 7)}
    home = {1: step[1]}
    for j, parent in PARENT.items():
        home[j] = home[parent] @ step[j]
    return home


class Kinematics:
    """Table 5(a), and the inertias (60), (61)."""

    def __init__(self, C1: Array, V1: Array, q: Array) -> None:
        bodies, home = range(1, 8), _home()
        self.C, self.Y, self.S = {}, {}, {}
        F = {1: np.eye(4)}
        for j in range(2, 8):
            p, e = (home[j] @ [0, 0, _D, 1])[:3], np.eye(3)[_AXIS[j]]
            self.Y[j] = np.concatenate([e, skew(p) @ e])
            F[j] = F[PARENT[j]] @ exp(self.Y[j], q[0, j - 2])
        for j in bodies:
            self.C[j] = C1 @ F[j] @ home[j]
            if j > 1:
                self.S[j] = Ad(self.C[j] @ np.linalg.inv(home[j])) @ self.Y[j]
        on = {j: path(j)[1:] for j in bodies}
        S = self.S
        self.V, self.dV, self.ddV, self.dS, self.ddS, self.dddS = (dict[int, Array]() for _ in range(6))
        dS, ddS = self.dS, self.ddS
        for j in bodies:
            self.V[j] = V1[0] + sum(S[i] * q[1, i - 2] for i in on[j])
            if j > 1:
                dS[j] = ad(self.V[j]) @ S[j]
            self.dV[j] = V1[1] + sum(S[i] * q[2, i - 2] + dS[i] * q[1, i - 2] for i in on[j])
            if j > 1:
                ddS[j] = ad(self.dV[j]) @ S[j] + ad(self.V[j]) @ dS[j]
            self.ddV[j] = V1[2] + sum(
                S[i] * q[3, i - 2] + 2 * dS[i] * q[2, i - 2] + ddS[i] * q[1, i - 2] for i in on[j]
            )
            if j > 1:
                self.dddS[j] = ad(self.ddV[j]) @ S[j] + 2 * ad(self.dV[j]) @ dS[j] + ad(self.V[j]) @ ddS[j]
        self.M, self.dM, self.ddM = {}, {}, {}
        for j in bodies:
            own = np.diag([0.03, 0.03, 0.05, 2.5, 2.5, 2.5] if j == 1 else [0.002, 0.002, 0.001, 0.25, 0.25, 0.25])
            back = np.linalg.inv(Ad(self.C[j]))
            M, aV, adV = back.T @ own @ back, ad(self.V[j]), ad(self.dV[j])
            dM = -(M @ aV + aV.T @ M)
            self.M[j], self.dM[j] = M, dM
            self.ddM[j] = -(dM @ aV + aV.T @ dM) - (M @ adV + adV.T @ M)
        self.P = {j: self.M[j] @ self.V[j] for j in bodies}
        self.dP = {j: self.M[j] @ self.dV[j] + self.dM[j] @ self.V[j] for j in bodies}
        self.ddP = {j: self.M[j] @ self.ddV[j] + 2 * self.dM[j] @ self.dV[j] + self.ddM[j] @ self.V[j] for j in bodies}


def inverse_dynamics(k: Kinematics) -> tuple[Array, Array, Array, Array]:
    """Table 5(b): tau (6,), its rate, the base's wrench in its own axes (6,), and its rate."""
    Q, dQ = dict[int, Array](), dict[int, Array]()
    for j in range(7, 0, -1):
        Q[j] = k.dP[j] - k.M[j] @ _G0 + sum(Q[i] for i in CHILDREN[j])
        dQ[j] = k.ddP[j] - k.dM[j] @ _G0 + sum(dQ[i] for i in CHILDREN[j])
    tau = np.array([k.S[j] @ Q[j] for j in range(2, 8)])
    rate = np.array([k.dS[j] @ Q[j] + k.S[j] @ dQ[j] for j in range(2, 8)])
    to_body = Ad(k.C[1]).T
    return tau, rate, to_body @ Q[1], to_body @ (ad(k.V[1]).T @ Q[1] + dQ[1])


def forward_dynamics(
    C1: Array, V1: Array, q: Array, tau: Array, rate: Array, wrench: Array, wrench_rate: Array
) -> tuple[Array, Array, Array, Array]:
    """Table 5(c) and (d): V1', q'' (6,), V1'' and q''' from the state V1 (6,), q (2, 6) and the forces."""
    zero = np.zeros(6)
    k = Kinematics(C1, np.array([V1, zero, zero]), np.array([q[0], q[1], zero, zero]))
    MA, WA, share = _articulated(k, {j: -ad(k.V[j]).T @ k.M[j] @ k.V[j] - k.M[j] @ _G0 for j in range(1, 8)}, tau, {
        j: k.dS[j] * q[1, j - 2] for j in range(2, 8)
    }, {})  # fmt: skip
    back = np.linalg.inv(Ad(C1)).T
    dV1 = np.linalg.solve(MA[1], back @ wrench - WA[1])
    dV, ddq = _outward(k, MA, dV1, share, {j: k.dS[j] * q[1, j - 2] for j in range(2, 8)})

    k = Kinematics(C1, np.array([V1, dV1, zero]), np.array([q[0], q[1], ddq, zero]))
    bias = {j: 2 * k.dS[j] * ddq[j - 2] + k.ddS[j] * q[1, j - 2] for j in range(2, 8)}
    own = {j: 2 * k.dM[j] @ k.dV[j] + k.ddM[j] @ k.V[j] - k.dM[j] @ _G0 for j in range(1, 8)}
    known = {j: k.dS[j] @ (MA[j] @ dV[j] + WA[j]) for j in range(2, 8)}
    MA1, dWA, share = _articulated(k, own, rate, bias, known)
    ddV1 = np.linalg.solve(MA1[1], back @ wrench_rate - dWA[1] - ad(V1).T @ (MA[1] @ dV1 + WA[1]))
    _, dddq = _outward(k, MA, ddV1, share, bias)
    return dV1, ddq, ddV1, dddq


def _articulated(
    k: Kinematics, own: dict[int, Array], tau: Array, bias: dict[int, Array], known: dict[int, Array]
) -> tuple[dict[int, Array], dict[int, Array], dict[int, Array]]:
    """Table 5(c): articulated inertias, bias wrenches, and q~ of the joints."""
    MA, WA, share = {}, {}, {}
    for j in range(7, 0, -1):
        MA[j], WA[j] = k.M[j], own[j]
        for i in CHILDREN[j]:
            S = k.S[i]
            D = S @ MA[i] @ S
            share[i] = (tau[i - 2] - known.get(i, 0.0) - S @ (MA[i] @ bias[i] + WA[i])) / D
            MA[j] = MA[j] + MA[i] - np.outer(MA[i] @ S, S @ MA[i]) / D
            WA[j] = WA[j] + WA[i] + MA[i] @ (S * share[i] + bias[i])
    return MA, WA, share


def _outward(
    k: Kinematics, MA: dict[int, Array], V1: Array, share: dict[int, Array], bias: dict[int, Array]
) -> tuple[dict[int, Array], Array]:
    """Table 5(d)."""
    V, q = {1: V1}, np.zeros(6)
    for j, parent in PARENT.items():
        S = k.S[j]
        q[j - 2] = share[j] - S @ MA[j] @ V[parent] / (S @ MA[j] @ S)
        V[j] = V[parent] + S * q[j - 2] + bias[j]
    return V, q
