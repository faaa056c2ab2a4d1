"""Forward dynamics as an expression graph for CasADi: the articulated-body algorithm with 3-vectors, in body axes.

`acc` is the classical acceleration of a body's origin less gravity, as in the Newton-Euler recursion, and `alpha` the
angular one. Only one half of each symmetric matrix is part of the graph, and entries that are zero because a robot's
axes are x, y or z are not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jounce.core_tables import BodyRecord
from jounce.model import Model

from .vectors import Matrix, Vector, cross, dot, rotation, times, total


class _Articulated(NamedTuple):
    """Wrench to move a body with all it carries: M acc + H alpha + force, and H' acc + J alpha + moment."""

    M: Matrix
    H: Matrix
    J: Matrix
    force: Vector
    moment: Vector


class _Joint(NamedTuple):
    """Its acceleration is free - push . acc - twist . alpha, with acc and alpha of the body carried by its parent."""

    free: Any
    push: Vector
    twist: Vector


def accelerations(model: Model, g: Vector, q: Vector, v: Vector, tau: Vector) -> list[Any]:
    """Accelerations of a free base and revolute joints; g is gravity in the base's axes."""
    bodies = model.bodies
    axes = [[], *(b.joint.axis.tolist() for b in bodies[1:])]  # type: ignore[attr-defined]
    places = [b.placement[:3, 3].tolist() for b in bodies]
    turn = [[], *(rotation(b, angle) for b, angle in zip(bodies[1:], q, strict=True))]
    back = [_transposed(R) for R in turn]
    w, swing, drift = [v[3:6]], [[0.0] * 3], [[0.0] * 3]  # acc and alpha when neither parent nor joint accelerates
    for i, b in enumerate(bodies[1:], 1):
        carried, rate = times(back[i], w[b.parent]), [x * v[i + 5] for x in axes[i]]
        w.append(total(carried, rate))
        swing.append(times(back[i], cross(w[b.parent], cross(w[b.parent], places[i]))))
        drift.append(cross(carried, rate))
    inertia = [_rigid(b, spin) for b, spin in zip(bodies, w, strict=True)]
    joint: dict[int, _Joint] = {}
    for i in range(len(bodies) - 1, 0, -1):
        above = bodies[i].parent
        rest, joint[i] = _let_go(inertia[i], axes[i], tau[i + 5], swing[i], drift[i])
        inertia[above] = _joined(inertia[above], _moved(rest, turn[i], places[i]))
    base = _of_the_base(inertia[0], tau[:6])
    acc, alpha = [base[:3]], [base[3:]]
    a = [x + y - z for x, y, z in zip(base[:3], g, cross(v[3:6], v[:3]), strict=True)] + base[3:]
    for i, b in enumerate(bodies[1:], 1):
        acc.append(total(times(back[i], total(acc[b.parent], cross(alpha[b.parent], places[i]))), swing[i]))
        carried = total(times(back[i], alpha[b.parent]), drift[i])
        a.append(joint[i].free - dot(joint[i].push, acc[i]) - dot(joint[i].twist, carried))
        alpha.append(total(carried, [x * a[-1] for x in axes[i]]))
    return a


def _rigid(b: BodyRecord, w: Vector) -> _Articulated:
    m, c, moments = b.inertia.mass, b.inertia.com, b.inertia.rotational
    arm = np.cross(np.eye(3), c)  # arm @ x = c cross x
    M, H, J = (x.tolist() for x in (m * np.eye(3), m * arm.T, moments + m * arm.T @ arm))
    force = [m * x for x in cross(w, cross(w, c.tolist()))]
    return _Articulated(M, H, J, force, total(cross(w, times(moments.tolist(), w)), cross(c.tolist(), force)))


def _let_go(whole: _Articulated, axis: Vector, tau: Any, swing: Vector, drift: Vector) -> tuple[_Articulated, _Joint]:
    """The body as seen by its parent through the joint, and the terms of the joint's acceleration."""
    M, H, J, force, moment = whole
    push, twist = times(H, axis), times(J, axis)
    rate = 1 / dot(axis, twist)
    given = [x * rate for x in push], [x * rate for x in twist]
    u = tau - dot(axis, moment)
    kept = [0.0 if abs(x) == 1 else 1.0 for x in axis]  # no moment is transmitted about an axis x, y or z
    M = _mirrored(_less(M, push, given[0]))
    H = [[x * k for x, k in zip(row, kept, strict=True)] for row in _less(H, push, given[1])]
    J = _mirrored(_less(J, twist, given[1]))
    J = [[x * k * h for x, k in zip(row, kept, strict=True)] for row, h in zip(J, kept, strict=True)]
    force = total(force, times(M, swing), times(H, drift), [x * u for x in given[0]])
    moment = total(moment, times(_transposed(H), swing), times(J, drift), [x * u for x in given[1]])
    return _Articulated(M, H, J, force, moment), _Joint(u * rate, *given)


def _moved(x: _Articulated, R: Matrix, p: Vector) -> _Articulated:
    """In the parent's axes, about the parent's origin."""
    M, H, J = _mirrored(_turned(R, x.M)), _turned(R, x.H), _mirrored(_turned(R, x.J))
    arm = _less_crossed(H, M, p)
    lever = _transposed([cross(p, column) for column in _transposed(arm)])
    J = [total(*rows) for rows in zip(_less_crossed(J, _transposed(H), p), lever, strict=True)]
    force = times(R, x.force)
    return _Articulated(M, arm, _mirrored(J), force, total(times(R, x.moment), cross(p, force)))


def _joined(one: _Articulated, other: _Articulated) -> _Articulated:
    blocks = zip(one[:3], other[:3], strict=True)
    M, H, J = ([total(*rows) for rows in zip(*pair, strict=True)] for pair in blocks)
    return _Articulated(_mirrored(M), H, _mirrored(J), total(one.force, other.force), total(one.moment, other.moment))


def _of_the_base(x: _Articulated, wrench: Vector) -> Vector:
    """acc and alpha, by elimination without pivots: the matrix is symmetric and positive definite."""
    A = [m + h for m, h in zip(x.M, x.H, strict=True)] + [h + j for h, j in zip(_transposed(x.H), x.J, strict=True)]
    b = [y - z for y, z in zip(wrench, x.force + x.moment, strict=True)]
    pivots = []
    for k in range(6):
        pivots.append(1 / A[k][k])
        for i in range(k + 1, 6):
            factor = A[k][i] * pivots[k]
            A[i] = [y - factor * z for y, z in zip(A[i], A[k], strict=True)]
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(6)):
        b[k] = (b[k] - sum(A[k][i] * b[i] for i in range(k + 1, 6))) * pivots[k]
    return b


def _transposed(A: Matrix) -> Matrix:
    return [list(column) for column in zip(*A, strict=True)]


def _mirrored(A: Matrix) -> Matrix:
    """The matrix made symmetric from its upper half."""
    return [[A[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]


def _turned(R: Matrix, A: Matrix) -> Matrix:
    """R A R'."""
    half = [times(R, column) for column in _transposed(A)]  # (R A)'
    return [times(R, row) for row in _transposed(half)]


def _less(A: Matrix, x: Vector, y: Vector) -> Matrix:
    """A - x y'."""
    return [[A[i][j] - x[i] * y[j] for j in range(3)] for i in range(3)]


def _less_crossed(A: Matrix, B: Matrix, p: Vector) -> Matrix:
    """A - B [p], where [p] x = p cross x."""
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(A, (cross(b, p) for b in B), strict=True)]
