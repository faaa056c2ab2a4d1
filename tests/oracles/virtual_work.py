"""Inverse dynamics and its time derivatives from positions only: the truth for all other code here.

Source: d'Alembert's principle in Lagrange's form.  For point masses m at x(t) and any coordinate j,

    tau_j = sum m (x'' - g) . dx/d(coordinate j),

so no twist, spatial inertia, bracket or Newton-Euler equation occurs.  Each body is a set of 13 point
masses (`point_masses`).  Everything is a Taylor polynomial in t: positions come from the motion q(t) that
the input (q, v, dv/dt, ...) defines, derivative k of tau is k! times coefficient k of tau(t).

Coordinate j of body i's joint moves all bodies at and below i rigidly: dx = A_j x, with
A_j = dH_i/d(coordinate j) H_i^-1 and x = (position, 1).  The sum over points is thus regrouped as

    tau_j = sum_ab (A_j)_ab F_ab,   F = sum over the points at and below i of m (x'' - g) x^T  (3 x 4).

Numbers: integers counting 2^-320 (about 1e-96), as NumPy arrays of Python ints; a polynomial has its
powers of t along axis 0.  Input floats (down to 1e-80) convert exactly, and each product or division
errs by at most one unit.  With millions of operations, factorials up to 14! = 1e11 and magnitudes up to
1e15 the results still have far more than 60 digits; they are rounded once, to float64, at the end.
Unit axes, unit quaternions and the rotations of placements are exact only to float64 precision;
they are first made exact to all 96 digits (nearest rotation), which changes them by a rounding error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from math import factorial, isqrt

import mpmath
import numpy as np

from trees import BodySpec, TreeSpec

BITS = 320
ONE = 1 << BITS
EYE3 = np.eye(3, dtype=int).astype(object) * ONE
Poly = np.ndarray  # of Python ints; axis 0 is the power of t

# Coefficient of the virtual displacement H exp(eps G): along each body axis, then about each body axis.
GENERATORS = np.zeros((6, 4, 4), dtype=object)
for _a, _b, _c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    GENERATORS[_a, _a, 3] = 1
    GENERATORS[3 + _a, _c, _b], GENERATORS[3 + _a, _b, _c] = 1, -1

# --- numbers and polynomials ---------------------------------------------------------------------------


def _fixed(x: object) -> np.ndarray:
    """Fixed-point integers of float64 numbers; an array of Python ints already holds such integers."""
    if isinstance(x, np.ndarray) and x.dtype.kind == "O":
        return x
    ratio = np.frompyfunc(lambda y: (y.as_integer_ratio()[0] << BITS) // y.as_integer_ratio()[1], 1, 1)
    return np.asarray(ratio(np.asarray(x, dtype=float)), dtype=object)


def _derivatives(p: Poly) -> np.ndarray:
    """float64 values at t = 0 of the polynomial and its time derivatives."""
    scale = np.array([factorial(k) for k in range(len(p))], dtype=object)
    return np.frompyfunc(lambda x: x / ONE, 1, 1)((p.T * scale).T).astype(float)


def _taylor(derivatives: np.ndarray) -> Poly:
    """The polynomial with these derivatives (rows) at t = 0."""
    rows = [_fixed(row) // factorial(k) for k, row in enumerate(derivatives)]
    return np.array(rows, dtype=object).reshape(np.shape(derivatives))


def _mul(a: Poly, b: Poly, product: Callable = operator.matmul) -> Poly:
    """Product of polynomials, truncated to the length of the shorter."""
    n = min(len(a), len(b))
    if product is operator.matmul and a.ndim == b.ndim == 3:  # the sum as one product, (a_0 ... a_k) (b_k ... b_0)
        wide, tall, m = np.concatenate(a[:n], axis=1), np.concatenate(b[:n][::-1]), b.shape[1]
        return np.array([wide[:, : (k + 1) * m] @ tall[(n - 1 - k) * m :] >> BITS for k in range(n)], dtype=object)
    return np.array([sum(product(a[i], b[k - i]) for i in range(k + 1)) >> BITS for k in range(n)], dtype=object)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b; np.cross refuses some arrays of Python's integers before NumPy 2.3."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def _rate(p: Poly) -> Poly:
    """dp/dt, one coefficient shorter."""
    return (p[1:].T * np.arange(1, len(p)).astype(object)).T


def _unit(a: np.ndarray) -> np.ndarray:
    return (a << BITS) // isqrt(int(a @ a))


def _skew(a: np.ndarray) -> np.ndarray:
    """Matrix of `a x`, for the last axis of a."""
    return np.tensordot(a, GENERATORS[3:, :3, :3], 1)


def _sin_cos(angle: Poly) -> tuple[Poly, Poly]:
    """sin' = cos angle', cos' = -sin angle', coefficient by coefficient."""
    with mpmath.workprec(BITS + 64):
        start = mpmath.mpf(int(angle[0])) / ONE
        s, c = [int(mpmath.sin(start) * ONE)], [int(mpmath.cos(start) * ONE)]
    for k in range(1, len(angle)):
        ds = sum(j * angle[j] * c[k - j] for j in range(1, k + 1))
        dc = -sum(j * angle[j] * s[k - j] for j in range(1, k + 1))
        s.append((ds // k) >> BITS)
        c.append((dc // k) >> BITS)
    return np.array(s, dtype=object), np.array(c, dtype=object)


# --- bodies and joints ---------------------------------------------------------------------------------


def point_masses(body: BodySpec) -> tuple[np.ndarray, np.ndarray]:
    """Weights (13,) and homogeneous body-frame positions (4, 13) of points equivalent to the body.

    About the centre of mass c the inertia is I = tr(S) 1 - S with second moments S = sum m d d^T, hence
    S = tr(I)/2 1 - I.  Pairs at c +- e_a and c +- (e_a + e_b) with half the weights w_a and S_ab give

        sum m d d^T = sum_a w_a e_a e_a^T + sum_{a<b} S_ab (e_a + e_b)(e_a + e_b)^T,

    which is S when w_a = S_aa - sum_{b != a} S_ab.  The rest of the mass (of either sign) is at c.
    """
    inertia = (_fixed(body.inertia) + _fixed(body.inertia).T) // 2
    second = inertia.trace() // 2 * np.eye(3, dtype=int).astype(object) - inertia
    weights, arms = [], []
    for a in range(3):
        weights.append(2 * second[a, a] - second[a].sum())
        arms.append(EYE3[a])
    for a, b in ((0, 1), (0, 2), (1, 2)):
        weights.append(second[a, b])
        arms.append(EYE3[a] + EYE3[b])
    com = _fixed(body.com)
    points = [com] + [com + s * d for d in arms for s in (1, -1)]
    masses = [_fixed(body.mass).item() - sum(weights)] + [w // 2 for w in weights for _ in "+-"]
    return np.array(masses, dtype=object), np.vstack([np.array(points).T, [ONE] * 13])


def _placement(body: BodySpec) -> np.ndarray:
    return _exact_pose(body.placement)


def _exact_pose(placement: np.ndarray) -> np.ndarray:
    pose = _fixed(placement).copy()
    rotation = pose[:3, :3]
    for _ in range(4):  # Newton's iteration to the nearest rotation, R (3 - R^T R) / 2; error squares
        rotation = (rotation @ (3 * EYE3 - (rotation.T @ rotation >> BITS))) >> (BITS + 1)
    pose[:3, :3] = rotation
    return pose


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """Rotation of the unit quaternion x y z w: 1 + 2 w [u] + 2 [u]^2."""
    u = _skew(quaternion[:3])
    return EYE3 + ((2 * quaternion[3] * u + 2 * u @ u) >> BITS)


def _one_dof(shift: np.ndarray | None, axis: np.ndarray | None, q: Poly) -> tuple[Poly, Poly]:
    """Trans(shift q) Rot(axis, q) and its derivative by q; Rot = a a^T + cos q (1 - a a^T) + sin q [a]."""
    pose, partial = np.zeros((2, len(q), 4, 4), dtype=object)
    pose[0] = np.eye(4, dtype=int).astype(object) * ONE
    if axis is not None:
        sin, cos = (p[:, None, None] for p in _sin_cos(q))
        along = np.outer(axis, axis) >> BITS
        pose[:, :3, :3] = (cos * (EYE3 - along) + sin * _skew(axis)) >> BITS
        pose[0, :3, :3] += along
        partial[:, :3, :3] = (cos * _skew(axis) - sin * (EYE3 - along)) >> BITS
    if shift is not None:
        pose[:, :3, 3] = np.outer(q, shift) >> BITS
        partial[0, :3, 3] = shift
    return pose, partial


def _factors(body: BodySpec) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
    """(shift, axis) of each coordinate, for the joints whose q are plain numbers."""
    a, b = _unit(_fixed(body.axis)), _unit(_fixed(body.axis2))
    return {
        "fixed": [],
        "revolute": [(None, a)],
        "prismatic": [(a, None)],
        "helical": [(a * _fixed(body.pitch) >> BITS, a)],
        "cylindrical": [(a, None), (None, a)],
        "planar": [(a, None), (b, None), (None, _unit(_cross(a, b) >> BITS))],
        "universal": [(None, a), (None, b)],
    }[body.joint]


def _motion(body: BodySpec, q: np.ndarray, v: Poly) -> tuple[Poly, list[Poly]]:
    """Pose of the body in its joint frame, and its derivative by each coordinate, as polynomials."""
    if body.joint in ("spherical", "free"):
        generators = GENERATORS[-body.nv :]
        pose = np.zeros((len(v) + 1, 4, 4), dtype=object)
        pose[0, :3, :3] = _rotation(_unit(_fixed(q[-4:])))
        pose[0, :3, 3] = _fixed(q[:3]) if body.joint == "free" else 0
        pose[0, 3, 3] = ONE
        twist = np.tensordot(v, generators, 1)
        for k in range(len(v)):  # R' = R [w], x' = R v
            pose[k + 1] = sum(pose[i] @ twist[k - i] for i in range(k + 1)) // (k + 1) >> BITS
        return pose, [pose @ g for g in generators]
    paths = _plain_path(q, v)
    moves = [_one_dof(*factor, paths[:, j]) for j, factor in enumerate(_factors(body))]
    if not moves:
        return _one_dof(None, None, np.zeros(len(v) + 1, dtype=object))[0], []
    pose = reduce(_mul, [m[0] for m in moves])
    partials = [reduce(_mul, [m[i == j] for i, m in enumerate(moves)]) for j in range(len(moves))]
    return pose, partials


def _plain_path(q: np.ndarray, v: Poly) -> Poly:
    """q(t) = q + integral of v, for plain-number coordinates."""
    return np.vstack([_fixed(q)[None], *((v[k] // (k + 1))[None] for k in range(len(v)))])


def _rotation_vector(quaternion: np.ndarray, w: Poly) -> Poly:
    """log R(t) for R(0) of that quaternion and R' = R [w].

    With the quaternion (n sin a, cos a), 0 <= a <= pi/2, the vector is 2 a n = 2 (n sin a) a / sin a, and
    a / sin a = sum_n c_n s^n, s = sin(a/2)^2 = (1 - cos a)/2 <= 1/2, c_n = c_{n-1} 2n/(2n + 1), c_0 = 1.
    """
    start = _unit(_fixed(quaternion))
    path = [start if start[3] >= 0 else -start]
    rate = np.zeros((len(w), 4, 4), dtype=object)  # (u, c)' = (c w + u x w, -u . w) / 2
    rate[:, :3, :3], rate[:, :3, 3], rate[:, 3, :3] = -_skew(w), w, -w
    for k in range(len(w)):
        path.append(sum(rate[i] @ path[k - i] for i in range(k + 1)) // (2 * (k + 1)) >> BITS)
    u, cos = np.array(path)[:, :3], np.array(path)[:, 3]
    one = np.array([ONE] + [0] * len(w), dtype=object)
    s = (one - cos) // 2
    ratio = one
    for n in range(BITS + 20 * len(one), 0, -1):  # the tail is below 2^-BITS in every power of t
        ratio = one + _mul(s, ratio, operator.mul) * (2 * n) // (2 * n + 1)
    return 2 * _mul(ratio, u, operator.mul)


def _passive(body: BodySpec, q: np.ndarray, v: Poly, motion: Poly) -> Poly:
    """armature dv/dt + damping v + stiffness * displacement."""
    total = (_fixed(body.armature) * _rate(v) + _fixed(body.damping) * v[:-1]) >> BITS
    if body.stiffness == 0:
        return total
    if body.joint in ("spherical", "free"):
        displacement = _rotation_vector(q[-4:], v[:, -3:])
        if body.joint == "free":
            position = _mul(motion[:, :3, :3].swapaxes(1, 2), motion[:, :3, 3])  # R^T x
            displacement = np.hstack([position, displacement])
    else:
        displacement = _plain_path(q, v)
    return total + (_fixed(body.stiffness) * displacement[: len(total)] >> BITS)


# --- trees ---------------------------------------------------------------------------------------------


def _poses(tree: TreeSpec, q: np.ndarray, v: Poly) -> tuple[list[Poly], list[list[Poly]], list[Poly]]:
    """World pose H of each body, dH by each coordinate of its own joint, and its pose in its joint frame."""
    poses: list[Poly] = []
    partials, motions = [], []
    for body, q_at, v_at in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        motion, motion_partials = _motion(body, q[q_at], v[:, v_at])
        joint = np.zeros((len(v) + 1, 4, 4), dtype=object)
        joint[0] = _placement(body)
        if body.parent >= 0:
            joint = poses[body.parent] @ joint[0] >> BITS
        poses.append(_mul(joint, motion))
        partials.append([_mul(joint, p) for p in motion_partials])
        motions.append(motion)
    return poses, partials, motions


def _inverse(pose: Poly) -> Poly:
    """(R, x)^-1 = (R^T, -R^T x)."""
    inverse = pose.copy()
    inverse[:, :3, :3] = pose[:, :3, :3].swapaxes(1, 2)
    inverse[:, :3, 3] = -_mul(inverse[:, :3, :3], pose[:, :3, 3])
    return inverse


def _displacements(poses: list[Poly], partials: list[list[Poly]], powers: int) -> list[list[Poly]]:
    """A_j = dH/d(coordinate j) H^-1 of each body's own coordinates."""
    return [
        [_mul(partial[:powers], back) for partial in own]
        for own, back in zip(partials, (_inverse(pose[:powers]) for pose in poses), strict=True)
    ]


def _applied(pose: Poly, wrench: Poly) -> Poly:
    """The 3 x 4 matrix F of an applied body-axes wrench (f, m), whose virtual work is sum_ab A_ab F_ab.

    The force R f works on the displacement A (x, 1) of the origin x.  The moment R m works on the rotation
    vector d of A's skew 3 x 3 block [d]; and (R m) . d = 1/2 sum_ab [R m]_ab [d]_ab.
    """
    force, moment = (_mul(pose[:, :3, :3], half) for half in (wrench[:, :3], wrench[:, 3:]))
    work = _mul(force[:, :, None], pose[:, None, :, 3])
    work[:, :, :3] += _skew(moment) // 2
    return work


def inverse_dynamics(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, wrenches: dict[int, np.ndarray] | None = None
) -> np.ndarray:
    """Generalized forces and their first r derivatives, (r+1, nv), for a velocity stack v (r+2, nv)."""
    applied = {i: _taylor(w) for i, w in (wrenches or {}).items()}
    return _derivatives(forces(tree, q, _taylor(v), applied))


def forces(tree: TreeSpec, q: np.ndarray, speed: Poly, wrenches: dict[int, Poly]) -> Poly:
    """The same in polynomials, with one power of t fewer than the velocity."""
    poses, partials, motions = _poses(tree, q, speed)
    displacements = _displacements(poses, partials, len(speed) - 1)
    return forces_along(tree, q, speed, wrenches, poses, displacements, motions)


def forces_along(
    tree: TreeSpec,
    q: np.ndarray,
    speed: Poly,
    wrenches: dict[int, Poly],
    poses: list[Poly],
    displacements: list[list[Poly]],
    motions: list[Poly],
) -> Poly:
    """Along a motion whose poses are known."""
    rows, work = len(speed) - 1, []
    for i, (body, pose) in enumerate(zip(tree.bodies, poses, strict=True)):
        masses, points = point_masses(body)
        x = pose @ points >> BITS
        acceleration = _rate(_rate(x))[:, :3]
        acceleration[0] -= _fixed(tree.gravity)[:, None]
        work.append(_mul(acceleration * masses >> BITS, x.swapaxes(1, 2)))
        if i in wrenches:
            work[i] -= _applied(pose, wrenches[i][:rows])
    tau = np.zeros((rows, tree.nv), dtype=object)
    for i in reversed(range(len(tree.bodies))):
        body, q_at, v_at = tree.bodies[i], tree.q_slices()[i], tree.v_slices()[i]
        for j, A in enumerate(displacements[i]):
            tau[:, v_at.start + j] = _mul(A[:, :3], work[i], operator.mul).sum(axis=(1, 2))
        tau[:, v_at] += _passive(body, q[q_at], speed[:, v_at], motions[i])
        if body.parent >= 0:
            work[body.parent] += work[i]
    return tau


def mass_matrix(tree: TreeSpec, q: np.ndarray) -> np.ndarray:
    """sum m dx/di . dx/dj = sum_ab (A_i S)_ab (A_j)_ab, with S = sum m x x^T of the points that i and j move."""
    poses, partials, _ = _poses(tree, q, np.zeros((0, tree.nv), dtype=object))
    M = np.zeros((tree.nv, tree.nv), dtype=object)
    moving: list[dict[int, np.ndarray]] = []  # for each body, A of the coordinates that move it
    for body, at, pose, own in zip(
        tree.bodies, tree.v_slices(), poses, _displacements(poses, partials, 1), strict=True
    ):
        carried = moving[body.parent] if body.parent >= 0 else {}
        moving.append(carried | {at.start + j: A[0, :3] for j, A in enumerate(own)})
        masses, points = point_masses(body)
        x = pose[0] @ points >> BITS
        S = (x * masses >> BITS) @ x.T >> BITS
        for i, A in moving[-1].items():
            for j, B in moving[-1].items():
                M[i, j] += ((A @ S >> BITS) * B).sum() >> BITS
        M[range(at.start, at.stop), range(at.start, at.stop)] += _fixed(body.armature)
    return M


def body_poses(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """World pose matrix of each body and its time derivatives, (K+1, nbodies, 4, 4), for K rows of v."""
    return _derivatives(np.stack(_poses(tree, q, _taylor(v))[0], axis=1))
