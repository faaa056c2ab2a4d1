"""Paper B's Tables 5 to 8, the derivatives of the extended inverse dynamics by H, s, v and r, line by line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .claims import Array
from .paper_b import Extended, cross, cross_star, hat


def each(operator: Callable[[Array], Array], columns: Array, vector: Array) -> Array:
    """The product of each column with the vector, such as d v_i / dH xbar* m."""
    return np.stack([operator(column) @ vector for column in columns.T], axis=1)


def by_pose(e: Extended, held: str = "body", printed: str = "") -> Array:
    """Table 5: D_1 ID, (6 + n_J, 6).

    Args:
        held: the components of the base twist that are held: "world", as in (67), or "body", as in (42) and (82).
        printed: "5.12" adds to the body's own term, not to its parent's.
    """
    H, v_world, a_grav = e.base
    dv = [_base_columns(H, v_world) if held == "world" else np.zeros((6, 6))]  # 1
    dar = [_base_columns(H, a_grav)]  # 2
    return _gathered(e, *_outward(e, dv, dar), printed)


def _base_columns(H: Array, vector: Array) -> Array:
    """(67), (68): the left-trivialized derivative of ^0X_A times a vector fixed in the world."""
    R, o = H[:3, :3], H[:3, 3]
    turn, slide = R.T @ hat(vector[3:]) @ R, R.T @ hat(vector[:3] - hat(o) @ vector[3:]) @ R
    return np.block([[turn, slide], [np.zeros((3, 3)), turn]])


def by_twist(e: Extended) -> Array:
    """Table 7: D_3 ID, (6 + n_J, 6)."""
    return _gathered(e, *_outward(e, [np.eye(6)], [np.zeros((6, 6))]))


def by_rates(e: Extended) -> Array:
    """Table 8: D_4 ID, (6 + n_J, n_J)."""
    zero = np.zeros((6, len(e.joints)))
    dv, dar = [zero], [zero]
    for i in e.joints:  # 1
        p = e.parent[i]
        dv.append(e.X[i] @ dv[p])  # 3
        dv[i][:, i - 1] += e.Gamma[i]  # 2, 4
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))  # 5
        dar[i][:, i - 1] += cross(e.v[i]) @ e.Gamma[i]  # 6
    return _gathered(e, dv, dar)


def _outward(e: Extended, dv: list[Array], dar: list[Array]) -> tuple[list[Array], list[Array]]:
    """5.6, 5.7 and 7.5, 7.6."""
    for i in e.joints:
        p = e.parent[i]
        dv.append(e.X[i] @ dv[p])
        dar.append(e.X[i] @ dar[p] + each(cross, dv[i], e.vj[i]))
    return dv, dar


def _gathered(e: Extended, dv: list[Array], dar: list[Array], printed: str = "") -> Array:
    """The bias wrenches, the backward loop and the outputs of Tables 5, 7 and 8."""
    db = [
        M @ da + each(cross_star, d, m) + cross_star(v) @ M @ d
        for M, m, v, d, da in zip(e.M, e.m, e.v, dv, dar, strict=True)
    ]
    for i in reversed(e.joints):
        p = e.parent[i]
        db[p] = (db[i] if printed == "5.12" else db[p]) + e.X[i].T @ db[i]
    return np.vstack([db[0], *(e.Gamma[i] @ db[i] for i in e.joints)])


def by_joints(e: Extended, printed: str = "") -> Array:
    """Table 6: D_2 ID, (6 + n_J, n_J). With "6.18" as in the text at hand, its last factor is the derivative of
    the wrench transformation; otherwise that of the velocity transformation.
    """
    n = len(e.joints)
    zero = np.zeros((6, n))
    dv, dar, davp, db, dbvp = [zero], [zero], [zero], [zero.copy()], [zero.copy()]
    for i in e.joints:  # 1
        p, k = e.parent[i], i - 1
        for known, above in ((dv, e.v), (dar, e.ar), (davp, e.avp)):
            known.append(e.X[i] @ known[p])  # 4, 6, 8
            if known is not dv:
                known[i] += each(cross, dv[i], e.vj[i])  # 6, 8
            known[i][:, k] += e.X_s[i] @ above[p]  # 5, 7, 9
        turned = each(cross_star, dv[i], e.m[i]) + cross_star(e.v[i]) @ e.M[i] @ dv[i]  # 10
        db.append(e.M[i] @ dar[i] + turned)  # 11
        dbvp.append(e.M[i] @ davp[i] + turned)  # 12
    dMc = np.zeros((n + 1, n, 6, 6))  # by body and s_k
    for i in reversed(e.joints):  # 14
        p, k, X, X_s = e.parent[i], i - 1, e.X[i], e.X_s[i]
        dMc[p] += X.T @ dMc[i] @ X  # 15-17
        dMc[p, k] += X_s.T @ e.Mc[i] @ X + X.T @ e.Mc[i] @ (X_s.T if printed == "6.18" else X_s)  # 18
        for known, wrench in ((db, e.bc), (dbvp, e.bvp)):
            known[p] += X.T @ known[i]  # 19, 21
            known[p][:, k] += X_s.T @ wrench[i]  # 20, 22
    da0, dtau, dFr = [zero], np.zeros((n, n)), np.zeros((6, n))
    for i in e.joints:  # 27
        p, k = e.parent[i], i - 1
        da0.append(e.X[i] @ da0[p])  # 28
        da0[i][:, k] += e.X_s[i] @ e.a0[p]  # 29
        dtau[k] = e.Gamma[i] @ ((dMc[i] @ e.a0[i]).T + e.Mc[i] @ da0[i] + db[i])  # 31, 34
        dF, j = (dMc[i] @ e.Gamma[i]).T, i  # 32, 35
        while j > 0:  # 36
            dF = e.X[j].T @ dF  # 37-39, 43-45
            dF[:, j - 1] += e.X_s[j].T @ e.F[i][j]  # 40, 46
            j = e.parent[j]  # 41
        dFr += dF * e.r_dot[k]  # 47
    return np.vstack([(dMc[0] @ e.a0[0]).T + dFr + dbvp[0], dtau])  # 24-26, 49
