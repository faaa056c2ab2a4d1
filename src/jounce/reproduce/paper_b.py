"""Paper B's Table 4, the extended inverse dynamics EIDAmb, line by line. Twists are [linear; angular].

``printed`` takes the line to the letter where it is a misprint, else as docs/paper_b.md reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..compile import BodyRecord
from ..model import Model
from .claims import Array


@dataclass
class Extended:
    """The intermediate variables of EIDAmb; lists run over the bodies, 0 is the base."""

    parent: list[int]  # lambda(i)
    X: list[Array]  # ^iX_lambda(i); ^0X_A for the base
    X_s: list[Array]  # its derivative by s_i
    Gamma: list[Array]
    M: list[Array]
    Mc: list[Array]
    v: list[Array]
    vj: list[Array]
    ar: list[Array]
    avp: list[Array]
    m: list[Array]
    bc: list[Array]
    bvp: list[Array]
    a0: list[Array]  # ^i a_{A,0}
    F: list[dict[int, Array]]  # F[i][j] is _jF_Bi, for j on the way from i to the base
    r_dot: Array
    tau: Array  # (6 + n_J,), [tau_b; tau], (32)

    @property
    def joints(self) -> range:
        return range(1, len(self.parent))


def hat(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def transform(H: Array) -> Array:
    """Velocity transformation ^CX_D of ^CH_D; the wrench transformation _DX^C is its transpose."""
    R, o = H[:3, :3], H[:3, 3]
    return np.block([[R, hat(o) @ R], [np.zeros((3, 3)), R]])


def cross(v: Array) -> Array:
    """(18): v x."""
    return np.block([[hat(v[3:]), hat(v[:3])], [np.zeros((3, 3)), hat(v[3:])]])


def cross_star(v: Array) -> Array:
    """v xbar*, minus the transpose of v x."""
    return -cross(v).T


def inertia_of(body: BodyRecord) -> Array:
    c, m = hat(body.inertia.com), body.inertia.mass
    return np.block([[m * np.eye(3), -m * c], [m * c, body.inertia.rotational - m * c @ c]])


def jcalc(body: BodyRecord, s: float) -> tuple[Array, Array, Array]:
    """^iX_lambda(i), its derivative by s, and Gamma, of a joint with one coordinate: dX/ds = -Gamma x X."""
    (primitive,) = body.joint.primitives()
    linear = primitive.slide * primitive.axis
    angular = (primitive.kind != "prismatic") * primitive.axis
    k, H = hat(angular), np.eye(4)
    H[:3, :3] += np.sin(s) * k + (1 - np.cos(s)) * k @ k
    H[:3, 3] = linear * s
    Gamma = np.concatenate([linear, angular])
    X = transform(np.linalg.inv(body.placement @ H))
    return X, -cross(Gamma) @ X, Gamma


def eidamb(robot: Model, q: Array, v: Array, a: Array, printed: bool = False) -> Extended:
    """EIDAmb at q, with v and a in body axes; to the letter, a_grav of line 6 is "the gravitational acceleration"."""
    n, s, r, r_dot = len(robot.bodies), q[7:], v[6:], a[6:]
    a_grav = np.append(robot.gravity if printed else -robot.gravity, np.zeros(3))
    M = [inertia_of(body) for body in robot.bodies]
    X0 = transform(np.linalg.inv(robot.pose(0, q)))  # 1-4
    X, X_s, Gamma = [X0], [np.zeros((6, 6))], [np.zeros(6)]
    V, ar, vj = [v[:6]], [X0 @ a_grav], [np.zeros(6)]  # 5, 6
    avp, Mc, m = [ar[0]], [M[0]], [M[0] @ V[0]]  # 7-9
    bc = [M[0] @ ar[0] + cross_star(V[0]) @ m[0]]  # 10
    bvp = [bc[0]]  # 11
    parent = [body.parent for body in robot.bodies]
    for i in range(1, n):  # 12
        p = parent[i]
        step, step_s, screw = jcalc(robot.bodies[i], s[i - 1])  # 13, 15
        X, X_s, Gamma = [*X, step], [*X_s, step_s], [*Gamma, screw]
        vj.append(Gamma[i] * r[i - 1])  # 14
        V.append(X[i] @ V[p] + vj[i])  # 16
        turned = cross(V[i]) @ vj[i]
        ar.append(X[i] @ ar[p] + Gamma[i] * r_dot[i - 1] + turned)  # 17
        avp.append(X[i] @ avp[p] + turned)  # 18
        Mc.append(M[i])  # 19
        m.append(M[i] @ V[i])  # 20
        bc.append(M[i] @ ar[i] + cross_star(V[i]) @ m[i])  # 21
        bvp.append(M[i] @ avp[i] + cross_star(V[i]) @ m[i])  # 22
    for i in reversed(range(1, n)):  # 24
        p = parent[i]
        Mc[p] = Mc[p] + X[i].T @ Mc[i] @ X[i]  # 25
        bc[p] = bc[p] + X[i].T @ bc[i]  # 26
        bvp[p] = bvp[p] + X[i].T @ bvp[i]  # 27
    a0, tau, F = [a[:6]], np.zeros(n - 1), [dict[int, Array]() for _ in range(n)]
    for i in range(1, n):  # 29
        a0.append(X[i] @ a0[parent[i]])  # 30
        tau[i - 1] = Gamma[i] @ (Mc[i] @ a0[i] + bc[i])  # 31
        F[i][i], j = Mc[i] @ Gamma[i], i  # 32, 33
        while j > 0:  # 34
            F[i][parent[j]] = X[j].T @ F[i][j]  # 35, 38
            j = parent[j]  # 36
    tau_b = Mc[0] @ a0[0] + sum((F[i][0] * r_dot[i - 1] for i in range(1, n)), np.zeros(6)) + bvp[0]  # 40
    return Extended(parent, X, X_s, Gamma, M, Mc, V, vj, ar, avp, m, bc, bvp, a0, F, r_dot, np.append(tau_b, tau))
