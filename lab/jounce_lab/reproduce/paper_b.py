"""Paper B's Table 4, the extended inverse dynamics EIDAmb, line by line. Twists are [linear; angular].

Tables 5 to 8 are in `paper_b_derivatives`, Table 9 and Proposition 3 in `paper_b_inverse`. Lines are read as in
docs/paper_b.md; those named in ``printed`` are taken as printed instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jounce.model import Model

from .claims import Array


@dataclass(frozen=True, eq=False)
class Tree:
    """A moving base, body 0, and joints with one coordinate: all that the tables need of a robot.

    Attributes:
        parent: lambda(i); the entry of body 0 is ignored.
        placement: (4, 4) each, of a joint in the previous body; that of body 0 in the world.
        screw: Gamma_i (6,) each.
        inertia: M_Bi (6, 6) each, symmetric and positive definite; not necessarily that of a real body.
        gravity: (3,) acceleration of a falling body.
    """

    parent: Sequence[int]
    placement: Sequence[Array]
    screw: Sequence[Array]
    inertia: Sequence[Array]
    gravity: Array

    @staticmethod
    def of(robot: Model) -> Tree:
        """The tree of a robot whose first joint is free, all others having one coordinate."""
        screws = [np.zeros(6)]
        for body in robot.bodies[1:]:
            (primitive,) = body.joint.primitives()
            turns = primitive.kind != "prismatic"
            screws.append(np.concatenate([primitive.slide * primitive.axis, turns * primitive.axis]))
        bodies = [(body.inertia.mass, body.inertia.com, body.inertia.rotational) for body in robot.bodies]
        return Tree(
            [body.parent for body in robot.bodies], [body.placement for body in robot.bodies], screws,
            [inertia(*body) for body in bodies], robot.gravity,
        )  # fmt: skip


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
    F: list[dict[int, Array]]  # F[i][j] is _jF_Bi, for j on the path from i to the base
    r_dot: Array
    base: tuple[Array, Array, Array]  # ^A H_0, ^A v_{A,0}, ^A a_grav
    tau: Array  # (6 + n_J,), [tau_b; tau], (32)

    @property
    def joints(self) -> range:
        return range(1, len(self.parent))

    @property
    def mass_matrix(self) -> Array:
        """(54), (56), and Gamma_j . _jF_Bi if j is on the path from i to the base."""
        n = len(self.parent)
        M = np.zeros((n + 5, n + 5))
        M[:6, :6] = self.Mc[0]
        for i in self.joints:
            M[:6, i + 5] = M[i + 5, :6] = self.F[i][0]
            for j, wrench in self.F[i].items():
                if j > 0:
                    M[i + 5, j + 5] = M[j + 5, i + 5] = self.Gamma[j] @ wrench
        return M


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


def inertia(mass: float, com: Array, rotational: Array) -> Array:
    """(6, 6), of a body with this rotational inertia about its centre of mass."""
    c = hat(com)
    return np.block([[mass * np.eye(3), -mass * c], [mass * c, rotational - mass * c @ c]])


def jcalc(placement: Array, Gamma: Array, s: float) -> tuple[Array, Array]:
    """^iX_lambda(i) and its derivative by s, of a joint with one coordinate: dX/ds = -Gamma x X."""
    k, H = hat(Gamma[3:]), np.eye(4)
    H[:3, :3] += np.sin(s) * k + (1 - np.cos(s)) * k @ k
    H[:3, 3] = Gamma[:3] * s
    X = transform(np.linalg.inv(placement @ H))
    return X, -cross(Gamma) @ X


def base_pose(tree: Tree, q: Array) -> Array:
    """^A H_0 of a configuration [position, quaternion, joints], the real part of the quaternion last."""
    u, H = hat(q[3:6]), np.eye(4)
    H[:3, :3] += 2 * q[6] * u + 2 * u @ u
    H[:3, 3] = q[:3]
    return np.asarray(tree.placement[0] @ H)


def extended(tree: Tree, q: Array, v: Array, a: Array, printed: str = "") -> Extended:
    """EIDAmb at q, with v and a in body axes."""
    H = base_pose(tree, q)
    return eidamb(tree, H, q[7:], transform(H) @ v[:6], v[6:], a[:6], a[6:], printed)


def eidamb(
    tree: Tree, H: Array, s: Array, v_world: Array, r: Array, a_0: Array, r_dot: Array, printed: str = ""
) -> Extended:
    """EIDAmb: ^A H_0, s, ^A v_{A,0}, r, ^0 a_{A,0} and r' to the extended input, (39).

    Args:
        printed: "4.6" takes "the gravitational acceleration" a_grav as that of a falling body; otherwise minus that.
    """
    n, parent = len(tree.parent), list(tree.parent)
    a_grav = np.append(tree.gravity if printed == "4.6" else -tree.gravity, np.zeros(3))
    M = list(tree.inertia)
    X0 = transform(np.linalg.inv(H))  # 1-4
    X, X_s, Gamma = [X0], [np.zeros((6, 6))], list(tree.screw)
    V, ar, vj = [X0 @ v_world], [X0 @ a_grav], [np.zeros(6)]  # 5, 6
    avp, Mc, m = [ar[0]], [M[0]], [M[0] @ V[0]]  # 7-9
    bc = [M[0] @ ar[0] + cross_star(V[0]) @ m[0]]  # 10
    bvp = [bc[0]]  # 11
    for i in range(1, n):  # 12
        p = parent[i]
        step, step_s = jcalc(tree.placement[i], Gamma[i], s[i - 1])  # 13, 15
        X, X_s = [*X, step], [*X_s, step_s]
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
    a0, tau, F = [a_0], np.zeros(n - 1), [dict[int, Array]() for _ in range(n)]
    for i in range(1, n):  # 29
        a0.append(X[i] @ a0[parent[i]])  # 30
        tau[i - 1] = Gamma[i] @ (Mc[i] @ a0[i] + bc[i])  # 31
        F[i][i], j = Mc[i] @ Gamma[i], i  # 32, 33
        while j > 0:  # 34
            F[i][parent[j]] = X[j].T @ F[i][j]  # 35, 38
            j = parent[j]  # 36
    tau_b = Mc[0] @ a0[0] + sum((F[i][0] * r_dot[i - 1] for i in range(1, n)), np.zeros(6)) + bvp[0]  # 40
    return Extended(
        parent, X, X_s, Gamma, M, Mc, V, vj, ar, avp, m, bc, bvp, a0, F, r_dot, (H, v_world, a_grav),
        np.append(tau_b, tau),
    )  # fmt: skip
