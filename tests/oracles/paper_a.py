"""Higher-order inverse dynamics of floating-base trees by paper A's expressions, for joints of all kinds.

Source (paper A): A. Ali, C. Gabellieri, A. Franchi, "Lie Group Formulation of Recursive Dynamics Algorithms
of Higher Order for Floating-Base Robots": Algorithm 1 (forward kinematics), Algorithm 2 (H-GRNE-FBS),
equations (60)-(70) of Appendix E, joint arrangements of Appendix D.  Spatial (world, right-trivialized)
representation, angular part first; [linear; angular] of trees.py is reordered at the edges only.

The expressions are shared with `jounce_lab.reproduce.paper_a`; `virtual_work`, which shares nothing with them,
verifies them. G^0 takes any gravity vector, not only (0, 0, -g).

Extensions: the base is one joint among others; joints with several plain coordinates are 1-DoF joints in
series with massless bodies between them; a spherical or free joint has constant columns Y_j in the body,
so that S_j = Ad_{F_j} Y_j and S_j' = ad_{V_j} S_j hold as for a single screw (with 3 or 6 columns).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jounce_lab.reproduce.paper_a import (
    Ad,
    applied_wrenches,
    exp,
    generalized_force,
    inverse,
    mass_matrices,
    momentum,
    pose,
    screws_and_twists,
    skew,
)
from trees import BodySpec, TreeSpec

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]  # exchanges the halves of a twist or wrench, either way
FREE = np.eye(6)[ANGULAR_FIRST]  # columns: linear x y z, angular x y z; rows: angular first


@dataclass
class Link:
    """One joint of Algorithm 1 with the (possibly massless) body that it moves."""

    parent: int
    placement: np.ndarray  # A_j^{p{j}}
    screws: np.ndarray  # (6, k) columns of the joint in body axes
    q: np.ndarray
    v: np.ndarray  # (r+2, k)
    mass_matrix: np.ndarray  # M_j^b


def group_element(q: np.ndarray) -> np.ndarray:
    """Pose of a spherical (x y z w) or free (position, x y z w) joint."""
    u, w = q[-4:-1], q[-1]
    R = np.eye(3) + 2 * w * skew(u) + 2 * skew(u) @ skew(u)
    return pose(R, q[:-4] if len(q) == 7 else np.zeros(3))


def body_mass_matrix(body: BodySpec) -> np.ndarray:
    c, m = skew(body.com), body.mass
    return np.block([[body.inertia - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


def joint_screws(body: BodySpec) -> list[np.ndarray]:
    """Body-axes screws of the 1-DoF joints in series, or all columns at once for spherical and free."""
    a, b, zero = body.axis, body.axis2, np.zeros(3)
    turn = {"revolute": [[a, zero]], "universal": [[a, zero], [b, zero]], "helical": [[a, body.pitch * a]]}
    slide = {"prismatic": [[zero, a]], "cylindrical": [[zero, a], [a, zero]]}
    planar = {"planar": [[zero, a], [zero, b], [np.cross(a, b), zero]]}
    if body.joint in ("fixed", "spherical", "free"):
        return [FREE[:, 6 - body.nv :]]
    return [np.concatenate(s)[:, None] for s in (turn | slide | planar)[body.joint]]


def links_of(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> tuple[list[Link], list[int]]:
    """The tree as links, and the link of each body (the last one of its joint)."""
    links: list[Link] = []
    link_of: list[int] = []
    for body, q_at, v_at in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        parent = link_of[body.parent] if body.parent >= 0 else -1
        placement = body.placement
        screws = joint_screws(body)
        q_parts = np.split(q[q_at], len(screws))
        v_parts = np.split(v[:, v_at], len(screws), axis=1)
        for S, q_part, v_part in zip(screws, q_parts, v_parts, strict=True):
            links.append(Link(parent, placement, S, q_part, v_part, np.zeros((6, 6))))
            parent, placement = len(links) - 1, np.eye(4)
        links[-1].mass_matrix = body_mass_matrix(body)
        link_of.append(len(links) - 1)
    return links, link_of


def forward(links: list[Link], order: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Algorithm 1: C_j^0, (V_j)^(0..order) and S_j^(0..order) of every link."""
    n = len(links)
    F, A, C = np.zeros((3, n, 4, 4))
    V = np.zeros((n, order + 1, 6))
    S = []
    for j, link in enumerate(links):
        p = link.parent
        A[j] = (A[p] if p >= 0 else np.eye(4)) @ link.placement
        Y = Ad(A[j]) @ link.screws  # spatial screws at home
        if link.screws.shape[1] == 1:
            step = exp(Y[:, 0], link.q[0])
        elif len(link.q):
            step = A[j] @ group_element(link.q) @ inverse(A[j])
        else:
            step = np.eye(4)
        F[j] = (F[p] if p >= 0 else np.eye(4)) @ step
        C[j] = F[j] @ A[j]
        screws, V[j] = screws_and_twists(Ad(F[j]) @ Y, V[p] if p >= 0 else [], link.v, order)
        S.append(np.array(screws))
    return C, V, S


def backward(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, wrenches: dict[int, np.ndarray] | None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Algorithm 2: (Q_j)^(0..r) of every link, each (r+1, k), and (W_j)^(0..r)."""
    rows = len(v) - 1
    links, link_of = links_of(tree, q, v)
    C, V, S = forward(links, rows)
    applied = {link_of[i]: np.asarray(W)[:, ANGULAR_FIRST] for i, W in (wrenches or {}).items()}
    G = np.concatenate([np.zeros(3), tree.gravity])
    W = np.zeros((len(links), rows, 6))
    Q: list[np.ndarray] = [np.zeros(0)] * len(links)
    for j in reversed(range(len(links))):
        M = mass_matrices(C[j], V[j], links[j].mass_matrix)
        for r in range(rows):
            W[j, r] += momentum(M, V[j], r + 1) - M[r] @ G  # (62), (64); the children have already added theirs
        if j in applied:
            W[j] -= applied_wrenches(C[j], V[j], applied[j])
        Q[j] = np.array([generalized_force(S[j], W[j], r) for r in range(rows)])
        if links[j].parent >= 0:
            W[links[j].parent] += W[j]
    return Q, W


def passive(body: BodySpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """armature q'' + damping q' + stiffness q, and derivatives."""
    total = body.armature * v[1:] + body.damping * v[:-1]
    if body.stiffness and body.joint in ("spherical", "free"):
        raise NotImplementedError("stiffness of spherical and free joints")
    if body.stiffness:
        total += body.stiffness * np.vstack([q, v[:-2]])
    return total


def inverse_dynamics(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, wrenches: dict[int, np.ndarray] | None = None
) -> np.ndarray:
    """Generalized forces and their first r derivatives, (r+1, nv), for a velocity stack v (r+2, nv)."""
    tau = np.hstack(backward(tree, q, v, wrenches)[0])
    for body, q_at, v_at in zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True):
        tau[:, v_at] += passive(body, q[q_at], v[:, v_at])
    return tau


def base_wrench_spatial(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, wrenches: dict[int, np.ndarray] | None = None
) -> np.ndarray:
    """(W_1)^(0..r) of Algorithm 2 as [force; moment] about the world origin, (r+1, 6); body 0 is the base."""
    return backward(tree, q, v, wrenches)[1][0][:, ANGULAR_FIRST]
