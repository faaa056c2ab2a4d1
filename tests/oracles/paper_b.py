"""Linearization of moving-base robots, literally as printed, in NumPy float64.

Source (paper B): M. Bos, S. Traversaro, D. Pucci, A. Saccon, "Efficient Geometric Linearization of Moving-Base Rigid
Robot Dynamics": Table 4 (EIDAmb, the extended inverse dynamics), Tables 5 to 8 (its derivatives with respect to H, s, v
and r), Table 9 (IMMAmb, the inverse of the mass matrix), Propositions 1 and 3 for A and B, section 5 for the nine-joint
robot and its finite differences. Body 0 is free, all others hang on joints with one coordinate. Lines of the tables are
cited as "4.17". Twists are [linear; angular], as in trees.py.

Read with these corrections:
- ^A a_grav is the upward acceleration that stands for gravity, minus that of a falling body (4.6).
- 5.1 is d v_0 / dH for a base twist whose *world* components are held. Proposition 1 and (82) hold the *body*
  components: d v_0 / dH = 0. ``held`` says which; the linearization takes "body".
- 5.12 adds to b of the parent, not to that of the body.
- 6.18: the last factor is the derivative of ^iX_lambda(i). 6.47: the derivative of 0F_Bi goes with the scalar r'_i.
- Table 9 starts from M^A_B0 = M_B0, too. 9.11: X stands before the sum of both terms. 9.18: P_lambda(i)[:, i+6:]. F and
  P have 6 + n_J columns. M^inv[7:, 1:6] is the transpose of 9.20, which no line says.
- The order is that of (32), [tau_b; tau]; Tables 4 and 5 say [tau; tau_b].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trees import BodySpec, TreeSpec


@dataclass
class Extended:
    """The inputs, outputs and intermediate variables of EIDAmb; lists run over the bodies, 0 is the base."""

    parent: list[int]  # lambda(i)
    X: list[np.ndarray]  # ^iX_lambda(i); ^0X_A for the base
    X_s: list[np.ndarray]  # its derivative by s_i
    Gamma: list[np.ndarray]
    M: list[np.ndarray]
    Mc: list[np.ndarray]
    v: list[np.ndarray]
    vj: list[np.ndarray]
    ar: list[np.ndarray]
    avp: list[np.ndarray]
    m: list[np.ndarray]
    bc: list[np.ndarray]
    bvp: list[np.ndarray]
    a0: list[np.ndarray]  # ^i a_{A,0}
    F: list[list[np.ndarray]]  # F[i][j] is _jF_Bi, for j on the way from i to the base
    r_dot: np.ndarray
    base: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # ^A H_0, ^A v_{A,0}, ^A a_grav, ^0 a_{A,0}
    tau: np.ndarray  # (6 + n_J,), [tau_b; tau]

    @property
    def joints(self) -> range:
        return range(1, len(self.parent))


# --- six-dimensional vectors ---------------------------------------------------------------------------


def hat(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def transform(H: np.ndarray) -> np.ndarray:
    """Velocity transformation ^CX_D of ^CH_D, as in 4.4; the wrench transformation _DX^C is its transpose."""
    R, o = H[:3, :3], H[:3, 3]
    return np.block([[R, hat(o) @ R], [np.zeros((3, 3)), R]])


def cross(v: np.ndarray) -> np.ndarray:
    """(18): v x."""
    return np.block([[hat(v[3:]), hat(v[:3])], [np.zeros((3, 3)), hat(v[3:])]])


def cross_star(v: np.ndarray) -> np.ndarray:
    """v xbar*, minus the transpose of v x."""
    return -cross(v).T


def each(operator, columns: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The product of each column with the vector, such as d v_i / dH xbar* m."""
    return np.stack([operator(column) @ vector for column in columns.T], axis=1) if columns.size else columns


def mass_matrix_of(body: BodySpec) -> np.ndarray:
    c, m = hat(body.com), body.mass
    return np.block([[m * np.eye(3), -m * c], [m * c, body.inertia - m * c @ c]])


def jcalc(body: BodySpec, s: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """^iX_{lambda(i)|i}, its derivative by s (jcalcderv) and Gamma; for a constant screw dX/ds = -Gamma x X."""
    linear = {"revolute": 0.0, "prismatic": 1.0, "helical": body.pitch}[body.joint] * body.axis
    angular = 0.0 * body.axis if body.joint == "prismatic" else body.axis
    k = hat(angular)
    H = np.eye(4)
    H[:3, :3] += np.sin(s) * k + (1 - np.cos(s)) * k @ k
    H[:3, 3] = linear * s
    Gamma = np.concatenate([linear, angular])
    X = transform(np.linalg.inv(H))
    return X, -cross(Gamma) @ X, Gamma


# --- Table 4 -------------------------------------------------------------------------------------------


def eidamb(
    tree: TreeSpec,
    H: np.ndarray,
    s: np.ndarray,
    v_world: np.ndarray,
    r: np.ndarray,
    a_0: np.ndarray,
    r_dot: np.ndarray,
) -> Extended:
    """EIDAmb: ^A H_0, s, ^A v_{A,0}, r, ^0 a_{A,0} and r' to the extended input, (39)."""
    n = len(tree.bodies)
    a_grav = np.concatenate([-tree.gravity, np.zeros(3)])
    M = [mass_matrix_of(body) for body in tree.bodies]
    X0 = transform(np.linalg.inv(H))  # 1-4
    v, ar, vj = [X0 @ v_world], [X0 @ a_grav], [np.zeros(6)]  # 5, 6
    X, X_s, Gamma = [X0], [np.zeros((6, 6))], [np.zeros(6)]
    avp, Mc = [ar[0]], [M[0].copy()]  # 7, 8
    m = [M[0] @ v[0]]  # 9
    bc = [M[0] @ ar[0] + cross_star(v[0]) @ m[0]]  # 10
    bvp = [bc[0].copy()]  # 11
    parent = [body.parent for body in tree.bodies]
    for i in range(1, n):  # 12
        p, body = parent[i], tree.bodies[i]
        X_joint, X_joint_s, screw = jcalc(body, s[i - 1])  # 13
        fixed = transform(np.linalg.inv(body.placement))
        Gamma.append(screw)
        vj.append(screw * r[i - 1])  # 14
        X.append(X_joint @ fixed)  # 15
        X_s.append(X_joint_s @ fixed)  # 6.2, 6.3
        v.append(X[i] @ v[p] + vj[i])  # 16
        ar.append(X[i] @ ar[p] + screw * r_dot[i - 1] + cross(v[i]) @ vj[i])  # 17
        avp.append(X[i] @ avp[p] + cross(v[i]) @ vj[i])  # 18
        Mc.append(M[i].copy())  # 19
        m.append(M[i] @ v[i])  # 20
        bc.append(M[i] @ ar[i] + cross_star(v[i]) @ m[i])  # 21
        bvp.append(M[i] @ avp[i] + cross_star(v[i]) @ m[i])  # 22
    for i in reversed(range(1, n)):  # 24
        p = parent[i]
        Mc[p] = Mc[p] + X[i].T @ Mc[i] @ X[i]  # 25
        bc[p] = bc[p] + X[i].T @ bc[i]  # 26
        bvp[p] = bvp[p] + X[i].T @ bvp[i]  # 27
    a0, tau, F = [a_0], np.zeros(n - 1), [[np.zeros(6)] * n for _ in range(n)]
    F0 = np.zeros((6, n - 1))
    for i in range(1, n):  # 29
        a0.append(X[i] @ a0[parent[i]])  # 30
        tau[i - 1] = Gamma[i] @ (Mc[i] @ a0[i] + bc[i])  # 31
        F[i][i] = Mc[i] @ Gamma[i]  # 32
        j = i  # 33
        while parent[j] > 0:  # 34
            F[i][parent[j]] = X[j].T @ F[i][j]  # 35
            j = parent[j]  # 36
        F[i][0] = F0[:, i - 1] = X[j].T @ F[i][j]  # 38
    tau_b = Mc[0] @ a_0 + F0 @ r_dot + bvp[0]  # 40
    base = (H, v_world, a_grav, a_0)
    return Extended(parent, X, X_s, Gamma, M, Mc, v, vj, ar, avp, m, bc, bvp, a0, F, r_dot, base, np.append(tau_b, tau))


# --- Tables 5 to 8 -------------------------------------------------------------------------------------


def _base_columns(H: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(67), (68): the left-trivialized derivative of ^0X_A times a vector that stands still in the world."""
    R, o = H[:3, :3], H[:3, 3]
    turn, slide = R.T @ hat(vector[3:]) @ R, R.T @ hat(vector[:3] - hat(o) @ vector[3:]) @ R
    return np.block([[turn, slide], [np.zeros((3, 3)), turn]])


def d_id_dh(e: Extended, held: str) -> np.ndarray:
    """Table 5: D_1 ID o DL_H(I), (6 + n_J, 6), with the base twist held in "body" or "world" components."""
    H, v_world, a_grav, _ = e.base
    dv = [_base_columns(H, v_world) if held == "world" else np.zeros((6, 6))]  # 1
    dar = [_base_columns(H, a_grav)]  # 2
    dm = [e.M[0] @ dv[0]]  # 3
    db = [e.M[0] @ dar[0] + each(cross_star, dv[0], e.m[0]) + cross_star(e.v[0]) @ dm[0]]  # 4
    for i in e.joints:  # 5
        p = e.parent[i]
        dv.append(e.X[i] @ dv[p])  # 6
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))  # 7
        dm.append(e.M[i] @ dv[i])  # 8
        db.append(e.M[i] @ dar[i] + each(cross_star, dv[i], e.m[i]) + cross_star(e.v[i]) @ dm[i])  # 9
    return _gathered(e, db)  # 11-17


def d_id_dv(e: Extended) -> np.ndarray:
    """Table 7: D_3 ID, (6 + n_J, 6)."""
    dv, dar, dm = [np.eye(6)], [np.zeros((6, 6))], [e.M[0]]  # 1, 2
    db = [each(cross_star, dv[0], e.m[0]) + cross_star(e.v[0]) @ dm[0]]  # 3
    for i in e.joints:  # 4
        p = e.parent[i]
        dv.append(e.X[i] @ dv[p])  # 5
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))  # 6
        dm.append(e.M[i] @ dv[i])  # 7
        db.append(e.M[i] @ dar[i] + each(cross_star, dv[i], e.m[i]) + cross_star(e.v[i]) @ dm[i])  # 8
    return _gathered(e, db)  # 10-16


def d_id_dr(e: Extended) -> np.ndarray:
    """Table 8: D_4 ID, (6 + n_J, n_J)."""
    zero = np.zeros((6, len(e.joints)))
    dv, dar, db = [zero], [zero], [zero]
    for i in e.joints:  # 1
        p = e.parent[i]
        dv.append(e.X[i] @ dv[p])  # 3
        dv[i][:, i - 1] += e.Gamma[i]  # 2, 4
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))  # 5
        dar[i][:, i - 1] += cross(e.v[i]) @ e.Gamma[i]  # 6
        dm = e.M[i] @ dv[i]  # 7
        db.append(e.M[i] @ dar[i] + each(cross_star, dv[i], e.m[i]) + cross_star(e.v[i]) @ dm)  # 8
    return _gathered(e, db)  # 10-16


def _gathered(e: Extended, db: list[np.ndarray]) -> np.ndarray:
    """The backward loop and the outputs that Tables 5, 7 and 8 share."""
    db = [columns.copy() for columns in db]
    for i in reversed(e.joints):
        db[e.parent[i]] += e.X[i].T @ db[i]
    return np.vstack([db[0], *(e.Gamma[i] @ db[i] for i in e.joints)])


def d_id_ds(e: Extended) -> np.ndarray:
    """Table 6: D_2 ID, (6 + n_J, n_J)."""
    n = len(e.joints)
    zero = np.zeros((6, n))
    dv, dar, davp, db, dbvp = [zero], [zero], [zero], [zero.copy()], [zero.copy()]
    for i in e.joints:  # 1
        p, k = e.parent[i], i - 1
        dv.append(e.X[i] @ dv[p])  # 4
        dv[i][:, k] += e.X_s[i] @ e.v[p]  # 5
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))  # 6
        dar[i][:, k] += e.X_s[i] @ e.ar[p]  # 7
        davp.append(e.X[i] @ davp[p] + each(cross, dv[i], e.vj[i]))  # 8
        davp[i][:, k] += e.X_s[i] @ e.avp[p]  # 9
        dm = e.M[i] @ dv[i]  # 10
        turned = each(cross_star, dv[i], e.m[i]) + cross_star(e.v[i]) @ dm
        db.append(e.M[i] @ dar[i] + turned)  # 11
        dbvp.append(e.M[i] @ davp[i] + turned)  # 12
    dMc = np.zeros((n + 1, n, 6, 6))  # by body and s_k
    for i in reversed(e.joints):  # 14
        p, k = e.parent[i], i - 1
        dMc[p] += e.X[i].T @ dMc[i] @ e.X[i]  # 15-17
        dMc[p, k] += e.X_s[i].T @ e.Mc[i] @ e.X[i] + e.X[i].T @ e.Mc[i] @ e.X_s[i]  # 18
        db[p] += e.X[i].T @ db[i]  # 19
        db[p][:, k] += e.X_s[i].T @ e.bc[i]  # 20
        dbvp[p] += e.X[i].T @ dbvp[i]  # 21
        dbvp[p][:, k] += e.X_s[i].T @ e.bvp[i]  # 22
    dMa = (dMc[0] @ e.a0[0]).T  # 24-26
    da0, dtau, dFr = [zero], np.zeros((n, n)), np.zeros((6, n))
    for i in e.joints:  # 27
        p, k = e.parent[i], i - 1
        da0.append(e.X[i] @ da0[p])  # 28
        da0[i][:, k] += e.X_s[i] @ e.a0[p]  # 29
        dF = (dMc[i] @ e.Gamma[i]).T  # 32
        dtau[k] = e.Gamma[i] @ ((dMc[i] @ e.a0[i]).T + e.Mc[i] @ da0[i] + db[i])  # 31, 34
        j = i  # 35
        while e.parent[j] > 0:  # 36
            dF = e.X[j].T @ dF  # 37-39
            dF[:, j - 1] += e.X_s[j].T @ e.F[i][j]  # 40
            j = e.parent[j]  # 41
        dF = e.X[j].T @ dF  # 43-45
        dF[:, j - 1] += e.X_s[j].T @ e.F[i][j]  # 46
        dFr += dF * e.r_dot[k]  # 47
    return np.vstack([dMa + dFr + dbvp[0], dtau])  # 49


# --- Table 9, Propositions 1 and 3 ---------------------------------------------------------------------


def immamb(tree: TreeSpec, s: np.ndarray) -> np.ndarray:
    """IMMAmb: the inverse of the mass matrix, (6 + n_J, 6 + n_J)."""
    n = len(tree.bodies)
    parent = [body.parent for body in tree.bodies]
    below = [[j] for j in range(n)]
    for i in reversed(range(1, n)):
        below[parent[i]] += below[i]
    X, Gamma = [np.eye(6)], [np.zeros(6)]
    MA = [mass_matrix_of(body) for body in tree.bodies]  # 4
    for i in range(1, n):  # 1
        X_joint, _, screw = jcalc(tree.bodies[i], s[i - 1])  # 2
        X.append(X_joint @ transform(np.linalg.inv(tree.bodies[i].placement)))  # 3
        Gamma.append(screw)
    inverse = np.zeros((n + 5, n + 5))
    F, P = np.zeros((2, n, 6, n + 5))
    U, D = [np.zeros(6)] * n, [1.0] * n
    for i in reversed(range(1, n)):  # 6
        row, columns = i + 5, [j + 5 for j in below[i]]
        U[i] = MA[i] @ Gamma[i]  # 7
        D[i] = Gamma[i] @ U[i]  # 8
        inverse[row, row] = 1 / D[i]  # 9
        inverse[row, columns] -= Gamma[i] @ F[i][:, columns] / D[i]  # 10
        F[parent[i]][:, columns] += X[i].T @ (F[i][:, columns] + np.outer(U[i], inverse[row, columns]))  # 11
        Ma = MA[i] - np.outer(U[i], U[i]) / D[i]  # 12
        MA[parent[i]] = MA[parent[i]] + X[i].T @ Ma @ X[i]  # 13
    P[0][:, 6:] = -np.linalg.solve(MA[0], F[0][:, 6:])  # 15
    for i in range(1, n):  # 16
        row = i + 5
        moved = X[i] @ P[parent[i]][:, row:]
        inverse[row, row:] -= U[i] @ moved / D[i]  # 17
        P[i][:, row:] = np.outer(Gamma[i], inverse[row, row:]) + moved  # 18
    inverse[:6, 6:] = P[0][:, 6:]  # 20
    inverse[:6, :6] = np.linalg.inv(MA[0])  # 26
    return np.triu(inverse) + np.triu(inverse, 1).T  # 21-25


def state_of(tree: TreeSpec, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
    """H, s, ^A v, r, ^0 a and r' from q, and v and a in body axes."""
    u, c = hat(q[3:6]), q[6]
    H = np.eye(4)
    H[:3, :3] += 2 * c * u + 2 * u @ u
    H[:3, 3] = q[:3]
    H = tree.bodies[0].placement @ H
    return H, q[7:], transform(H) @ v[:6], v[6:], a[:6], a[6:]


def inverse_dynamics_derivatives(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, a: np.ndarray, held: str = "body"
) -> tuple[np.ndarray, np.ndarray]:
    """[D_1 ID, D_2 ID] and [D_3 ID, D_4 ID], each (nv, nv)."""
    e = eidamb(tree, *state_of(tree, q, v, a))
    return np.hstack([d_id_dh(e, held), d_id_ds(e)]), np.hstack([d_id_dv(e), d_id_dr(e)])


def linearization(tree: TreeSpec, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A of Proposition 3, (42), and B of Proposition 1, (23), for the accelerations a that the forces make."""
    by_position, by_velocity = inverse_dynamics_derivatives(tree, q, v, a)
    inverse, n = immamb(tree, q[7:]), tree.nv
    A, B = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, n - 6))
    A[:6, :6], A[:n, n:] = -cross(v[:6]), np.eye(n)
    A[n:] = -inverse @ np.hstack([by_position, by_velocity])
    B[n:] = inverse[:, 6:]
    return A, B


# --- Section 5 -----------------------------------------------------------------------------------------

PUBLISHED_MAX = np.array([4.1023e-5, 4.6853e-3, 1.8230e-5, 1.5693e-4])  # (88)-(91): e^max of D_1 to D_4
PUBLISHED_AVG = np.array([2.3560e-6, 1.3604e-4, 1.3021e-6, 1.3766e-6])
PARENTS = (-1, 0, 1, 1, 0, 4, 4, 0, 7, 7)  # branches at the base, at bodies 1, 4 and 7


def nine_joints(rng: np.random.Generator) -> TreeSpec:
    """The robot of section 5 with random geometry and inertia: each joint type along x, y and z.

    Everything is uniform in [0, 1], orientations by the exponential map. Where the paper draws the entries of inertia
    matrices and keeps the positive definite ones, principal moments and axes are drawn here, and those that a real body
    has are kept. The paper draws the tree in Fig. 4 and does not print the parents.
    """
    kinds = ["free", *(kind for kind in ("revolute", "prismatic", "helical") for _ in range(3))]
    axes = np.eye(3)[[2, *[0, 1, 2] * 3]]
    bodies = []
    for i, (kind, axis, parent) in enumerate(zip(kinds, axes, PARENTS, strict=True)):
        inertia = _inertia(rng)
        mass, com, pitch = rng.uniform(), rng.uniform(size=3), rng.uniform()
        placement = np.eye(4) if i == 0 else exponential(rng.uniform(size=6))
        bodies.append(BodySpec(f"b{i}", parent, kind, placement, mass, com, inertia, axis, pitch=pitch))
    return TreeSpec(tuple(bodies))


def _inertia(rng: np.random.Generator) -> np.ndarray:
    while True:
        moments = rng.uniform(size=3)
        if 2 * moments.max() < moments.sum():
            turn = exponential(rng.uniform(size=6))[:3, :3]
            return turn @ np.diag(moments) @ turn.T


def exponential(twist: np.ndarray) -> np.ndarray:
    """exp of a twist [linear; angular]."""
    G = np.zeros((4, 4))
    G[:3, :3], G[:3, 3] = hat(twist[3:]), twist[:3]
    H = term = np.eye(4)
    for k in range(1, 30):
        term = term @ G / k
        H = H + term
    return H


def random_state(rng: np.random.Generator, tree: TreeSpec) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a, uniform in [0, 1], with the base acceleration that needs no wrench on the base (Definition 3.1)."""
    w = rng.uniform(size=3)
    angle = np.linalg.norm(w)
    q = np.concatenate([rng.uniform(size=3), np.sin(angle / 2) * w / angle, [np.cos(angle / 2)], rng.uniform(size=9)])
    v_world, r, r_dot = rng.uniform(size=6), rng.uniform(size=9), rng.uniform(size=9)
    H, s, *_ = state_of(tree, q, np.zeros(15), np.zeros(15))
    e = eidamb(tree, H, s, v_world, r, np.zeros(6), r_dot)
    a_0 = -np.linalg.solve(e.Mc[0], e.bc[0])  # third remark below Table 4
    return q, np.append(e.v[0], r), np.append(a_0, r_dot)


def finite_difference_errors(
    model_of: Callable[[TreeSpec], Any], deltas: Sequence[float], states: int = 100, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The validation of section 5 and, over several deltas, its Fig. 5.

    Args:
        model_of: makes of a tree a robot with `linearize`, `forward_dynamics` and `integrate`.
        deltas: steps of the differences (82)-(85).

    Returns:
        e^max and e^avg, (86) and (87), of D_1 to D_4, each (len(deltas), 4).
    """
    rng = np.random.default_rng(seed)
    exact, differences = [], []
    for _ in range(states):
        tree = nine_joints(rng)
        q, v, a = random_state(rng, tree)
        tau = np.append(np.zeros(6), eidamb(tree, *state_of(tree, q, v, a)).tau[6:])
        robot = model_of(tree)
        exact.append(robot.linearize(q, v, tau).A[15:])
        steps = np.multiply.outer(deltas, np.eye(15))
        moved = robot.forward_dynamics(robot.integrate(q, steps), v, tau)  # (82), (83)
        pushed = robot.forward_dynamics(q, v + steps, tau)  # (84), (85)
        change = np.concatenate([moved, pushed], axis=1) - robot.forward_dynamics(q, v, tau)
        differences.append(np.swapaxes(change, -1, -2) / np.reshape(deltas, (-1, 1, 1)))
    both = [errors(np.array(exact), column) for column in np.moveaxis(differences, 1, 0)]
    return np.array([e[0] for e in both]), np.array([e[1] for e in both])


def errors(derivative: np.ndarray, difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(86), (87): e^max and e^avg of D_1 to D_4, from [D_1 FD, D_2 FD, D_3 FD, D_4 FD] of all states (E, 15, 30).

    The averages and the maximum run over the entries of the matrices, too: some entries of D_1 are zero.
    """
    ends = [6, 15, 21]
    pairs = zip(np.split(derivative, ends, axis=-1), np.split(difference, ends, axis=-1), strict=True)
    ratios = [np.abs(alg - fin) / np.abs(alg).mean() for alg, fin in pairs]
    return np.array([r.max() for r in ratios]), np.array([r.mean() for r in ratios])
