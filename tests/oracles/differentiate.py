"""Jacobians, matrices of the equations of motion, momentum and energy of a motion, with all their time derivatives.

Everything comes from the positions of `virtual_work`: its poses as Taylor polynomials in t, and their derivatives by
each coordinate, in 96 digits. A coordinate j moves the bodies that it carries by dx = A_j x, A_j = dH/d(coordinate j)
H^-1, so the six numbers in A_j are column j of the Jacobian of each of them: world axes, about the world origin. These
are rounded to float64; what remains are sums of products, written below as in a textbook, for point masses.

For a free joint whose rows are given in the frame "world" or "mixed", the coordinates differ: the body moves in its
parent by dH = G_j H (world), or by a shift of its origin or a rotation about it, along the parent's axes (mixed).

Polynomials have the powers of t along axis 0. Every function returns derivatives, coefficients times k!.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np

from trees import BodySpec, TreeSpec

from . import virtual_work as exact


@dataclass(frozen=True)
class Motion:
    """Polynomials of a moving tree, in float64; K rows of velocity were given, in body axes.

    rows: (K, nv) velocity in the coordinates of the frame.
    screws: (K + 1, nv, 6) twist [linear; angular] per unit of each coordinate, in world axes about the world origin.
    poses: (K + 1, nbodies, 4, 4).
    to_body: (K + 1, nv, nv) takes rows of the frame to rows in body axes.
    displacement: (K + 1, nv), that springs resist: q, and for balls and free bodies log R and R^T x.
    """

    tree: TreeSpec
    rows: np.ndarray
    screws: np.ndarray
    poses: np.ndarray
    to_body: np.ndarray
    displacement: np.ndarray


def motions(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> dict[str, Motion]:
    """The motion of a stack v (K, nv) in body axes, for each frame."""
    speed = exact._taylor(v)
    poses, partials, in_joint = exact._poses(tree, q, speed)
    parts = list(zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True))
    springs = np.zeros((len(v) + 1, tree.nv), dtype=object)
    for (body, q_at, at), pose in zip(parts, in_joint, strict=True):
        springs[:, at] = _displacement(body, q[q_at], speed[:, at], pose)
    inverses = [exact._inverse(pose) for pose in poses]
    all_poses = _rounded(np.stack(poses, axis=1))
    result = {}
    for frame in ("body", "world", "mixed"):
        rows, to_body = speed.copy(), np.zeros((len(v) + 1, tree.nv, tree.nv), dtype=object)
        to_body[0] = np.eye(tree.nv, dtype=int).astype(object) * exact.ONE
        screws = np.zeros((len(v) + 1, tree.nv, 6), dtype=object)
        for i, (body, _, at) in enumerate(parts):
            moved = partials[i]
            if body.joint == "free" and frame != "body":
                in_parent = exact._placement(body) @ in_joint[i] >> exact.BITS
                back, moved = exact._inverse(in_parent), _shifts(in_parent, frame)
                to_body[:, at, at] = np.stack([_vee(exact._mul(back, s)) for s in moved], axis=-1)
                rows[:, at] = _rows(in_parent, frame)
                if body.parent >= 0:
                    moved = [exact._mul(poses[body.parent], s) for s in moved]
            for j, partial in enumerate(moved):
                screws[:, at.start + j] = _vee(exact._mul(partial, inverses[i]))
        result[frame] = Motion(tree, _rounded(rows), _rounded(screws), all_poses, _rounded(to_body), _rounded(springs))
        if not any(body.joint == "free" for body in tree.bodies):
            return dict.fromkeys(("body", "world", "mixed"), result[frame])
    return result


def _shifts(pose: exact.Poly, frame: str) -> list[exact.Poly]:
    """Derivative of a pose by each coordinate of its twist in that frame."""
    shifts = [g @ pose for g in exact.GENERATORS]
    if frame == "mixed":
        for s in shifts[3:]:
            s[:, :3, 3] = 0
    return shifts


def _rows(pose: exact.Poly, frame: str) -> exact.Poly:
    """The twist of a pose: H' H^-1 (world), or the velocity of its origin with the same angular half (mixed)."""
    rate = exact._rate(pose)
    twist = _vee(exact._mul(rate, exact._inverse(pose)[: len(rate)]))
    if frame == "mixed":
        twist[:, :3] = rate[:, :3, 3]
    return twist


def _vee(a: exact.Poly) -> exact.Poly:
    return np.concatenate([a[:, :3, 3], np.stack([a[:, 2, 1], a[:, 0, 2], a[:, 1, 0]], axis=1)], axis=1)


def _displacement(body: BodySpec, q: np.ndarray, v: exact.Poly, pose: exact.Poly) -> exact.Poly:
    if body.joint not in ("spherical", "free"):
        return exact._plain_path(q, v)
    if body.stiffness == 0:
        return np.zeros((len(v) + 1, body.nv), dtype=object)
    turned = exact._rotation_vector(q[-4:], v[:, -3:])
    if body.joint == "spherical":
        return turned
    return np.hstack([exact._mul(pose[:, :3, :3].swapaxes(1, 2), pose[:, :3, 3]), turned])


def _rounded(p: exact.Poly) -> np.ndarray:
    return np.frompyfunc(lambda x: x / exact.ONE, 1, 1)(p).astype(float)


# --- polynomials in float64 ----------------------------------------------------------------------------


def product(indices: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``np.einsum`` of two polynomials, truncated to the shorter."""
    n = min(len(a), len(b))
    return np.array([sum(np.einsum(indices, a[i], b[k - i]) for i in range(k + 1)) for k in range(n)])


def rate(p: np.ndarray) -> np.ndarray:
    return (p[1:].T * np.arange(1, len(p))).T


def derivatives(p: np.ndarray) -> np.ndarray:
    return (p.T * [float(factorial(k)) for k in range(len(p))]).T


def skew(a: np.ndarray) -> np.ndarray:
    return np.cross(a[..., None, :], np.eye(3)).swapaxes(-1, -2)


# --- points, bodies and the coordinates that move them -------------------------------------------------


def _carried(tree: TreeSpec) -> np.ndarray:
    """(nbodies, nv): whether coordinate j moves body i."""
    carried = np.zeros((len(tree.bodies), tree.nv))
    for i, (body, at) in enumerate(zip(tree.bodies, tree.v_slices(), strict=True)):
        carried[i] = carried[body.parent] if body.parent >= 0 else 0
        carried[i, at] = 1
    return carried


def _each(tree: TreeSpec, key: str) -> np.ndarray:
    """(nv,)"""
    return np.repeat([getattr(b, key) for b in tree.bodies], [b.nv for b in tree.bodies])


def _masses(m: Motion) -> np.ndarray:
    """Masses of moving bodies: those fixed to the world count as zero."""
    return np.array([b.mass for b in m.tree.bodies]) * _carried(m.tree).any(axis=1)


def _centers(m: Motion) -> np.ndarray:
    """(K + 1, nbodies, 3)"""
    return np.einsum("knab,nb->kna", m.poses, [[*b.com, 1.0] for b in m.tree.bodies])[..., :3]


def _points(m: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Masses (nbodies, 13) and positions (K + 1, nbodies, 13, 3)."""
    both = [exact.point_masses(body) for body in m.tree.bodies]
    masses, points = (np.array([one[part] / exact.ONE for one in both], dtype=float) for part in (0, 1))
    return masses, np.einsum("knab,nbp->knpa", m.poses, points)[..., :3]


def _velocity_of(x: np.ndarray) -> np.ndarray:
    """The matrix that takes the twist of a body, about the world origin, to the velocity of its point at x."""
    matrix = np.concatenate([np.zeros((*x.shape, 3)), -skew(x)], axis=-1)
    matrix[0, ..., :3] = np.eye(3)
    return matrix


def _inertias(m: Motion) -> np.ndarray:
    """(K + 1, nbodies, 6, 6): twice the kinetic energy of a body's points is V^T I V."""
    masses, x = _points(m)
    to_points = _velocity_of(x)
    return product("npac,npad->ncd", masses[..., None, None] * to_points, to_points)


def _jacobians(m: Motion) -> np.ndarray:
    """(K + 1, nbodies, 6, nv), in world axes about the world origin."""
    return m.screws.swapaxes(1, 2)[:, None] * _carried(m.tree)[:, None]


def _momenta(m: Motion) -> np.ndarray:
    """I J of each body."""
    return product("nab,nbj->naj", _inertias(m), _jacobians(m))


# --- quantities for the tests --------------------------------------------------------------------------


def jacobian(m: Motion, body: int, frame: str) -> np.ndarray:
    """(K + 1, 6, nv), of a body."""
    J, pose = _jacobians(m)[:, body], m.poses[:, body]
    if frame != "world":
        J = np.concatenate([product("ab,bj->aj", _velocity_of(pose[:, :3, 3]), J), J[:, 3:]], axis=1)
    if frame == "body":
        J = np.concatenate([product("ba,bj->aj", pose[:, :3, :3], half) for half in (J[:, :3], J[:, 3:])], axis=1)
    return derivatives(J)


def mass_matrix(m: Motion) -> np.ndarray:
    """(K + 1, nv, nv): sum of J^T I J, plus the drives."""
    drives = product("ai,aj->ij", _each(m.tree, "armature")[:, None] * m.to_body, m.to_body)
    return derivatives(product("nai,naj->ij", _jacobians(m), _momenta(m)) + drives)


def coriolis_matrix(m: Motion) -> np.ndarray:
    """(K, nv, nv): paper A, Lemma 1, sum of J^T (I J' - ad_V^T I J), plus the drives."""
    J = _jacobians(m)
    V = product("naj,j->na", J, m.rows)
    ad = np.zeros((*V.shape, 6))
    ad[..., :3, :3] = ad[..., 3:, 3:] = skew(V[..., 3:])
    ad[..., :3, 3:] = skew(V[..., :3])
    force = product("nab,nbj->naj", _inertias(m), rate(J)) - product("nba,nbj->naj", ad, _momenta(m))
    drives = product("ai,aj->ij", _each(m.tree, "armature")[:, None] * m.to_body, rate(m.to_body))
    return derivatives(product("nai,naj->ij", J, force) + drives)


def gravity_force(m: Motion) -> np.ndarray:
    """(K + 1, nv): work against gravity per unit of each coordinate."""
    moved = product("nab,nbj->naj", _velocity_of(_centers(m)), _jacobians(m))
    return derivatives(-np.einsum("n,a,knaj->kj", _masses(m), m.tree.gravity, moved))


def center_of_mass(m: Motion) -> np.ndarray:
    """(K + 1, 3)"""
    return derivatives(np.einsum("n,kna->ka", _masses(m), _centers(m)) / _masses(m).sum())


def momentum_matrix(m: Motion) -> np.ndarray:
    """(K + 1, 6, nv): linear momentum and angular momentum about the centre of mass, per unit of each coordinate."""
    total = _momenta(m).sum(axis=1)
    center = np.einsum("n,kna->ka", _masses(m), _centers(m)) / _masses(m).sum()
    angular = total[:, 3:] - product("ab,bj->aj", skew(center), total[:, :3])
    return derivatives(np.concatenate([total[:, :3], angular], axis=1))


def kinetic_energy(m: Motion) -> np.ndarray:
    """(K,): half the sum of m x'^2 over all points, plus the drives'."""
    masses, x = _points(m)
    drives = product("ij,j->i", m.to_body, m.rows)
    twice = product("npa,npa->", masses[..., None] * rate(x), rate(x))
    return derivatives(twice + product("i,i->", _each(m.tree, "armature") * drives, drives)) / 2


def potential_energy(m: Motion) -> np.ndarray:
    """(K + 1,)"""
    springs = product("i,i->", _each(m.tree, "stiffness") * m.displacement, m.displacement)
    return derivatives(springs / 2 - np.einsum("n,a,kna->k", _masses(m), m.tree.gravity, _centers(m)))
