"""Higher-order forward and hybrid dynamics of trees by paper A's algorithms, for joints of all kinds.

Source (paper A): A. Ali, C. Gabellieri, A. Franchi, "Lie Group Formulation of Recursive Dynamics Algorithms
of Higher Order for Floating-Base Robots": Algorithm 3 (H-GABI-FBS), Algorithm 4 (H-GHYB-FBS), Lemma 2,
Appendices C and E.  Spatial (world) representation, angular part first.
Algorithm 3 is Algorithm 4 with no joint prescribed, so both are `hybrid` below.

Reading of the paper:
- Order r needs V^(r) and S^(r+1), which follow only from the forward pass of order r-1, so "Input: Alg. 1"
  means Algorithm 1 once more at each order.
- (W_j^A)^(r) is not the r-th derivative of W_j^A but Lemma 2's W_{j,r}^A, the bias at order r; it is
  (W_j)^(r) = M_j^A (V_j)^(r+1) + W_{j,r}^A that is a derivative.  Algorithm 4 uses (W_j)^(k) in Q_j without
  defining it: it is this one.
- (24) and Algorithm 4's sum over J_q lack a closing parenthesis after (V_{i,bias})^(r+1).
- Algorithm 4's given torque is tau_j, without tau_{j,ext}, which (25) adds; elsewhere (Table 2, Appendix C)
  the same symbol with the bar includes tau_{j,ext}.

Extensions: the base is one joint among others, whose S_j is 6x6 (the paper's own base case is
`base_acceleration_spatial`); spherical joints have three columns, so that S^T M^A S is a matrix; joints with
several plain coordinates are 1-DoF joints in series with massless bodies between them, whose M^A is only
semidefinite; passive forces are -tau_{j,ext}, their armature part being added to S^T M^A S.
"""

from __future__ import annotations

from math import comb

import numpy as np

from oracles import paper_a
from trees import TreeSpec

Wrenches = dict[int, np.ndarray]


def forward_dynamics(
    tree: TreeSpec, q: np.ndarray, v: np.ndarray, tau: np.ndarray, wrenches: Wrenches | None = None
) -> np.ndarray:
    """Algorithm 3: dv/dt and its derivatives, (r+1, nv), for the velocity v (nv,) and forces tau (r+1, nv).

    wrenches: for some bodies, (r+1, 6) stacks as in `paper_a.inverse_dynamics`.
    """
    return hybrid(tree, q, v, np.full_like(tau, np.nan), tau, np.zeros(tree.nv, bool), wrenches)[0]


def hybrid_dynamics(
    tree: TreeSpec,
    q: np.ndarray,
    v: np.ndarray,
    acc: np.ndarray,
    tau: np.ndarray,
    prescribed: np.ndarray,
    wrenches: Wrenches | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Algorithm 4: the complete stacks acc and tau, both (r+1, nv), and v (nv,).

    prescribed: (nv,), True where acc is given and False where tau is, the same for all of a joint; the
    other entries of acc and tau are not used.
    """
    for at in tree.v_slices():
        assert prescribed[at].all() or not prescribed[at].any(), "whole joints only"
    return hybrid(tree, q, v, acc, tau, prescribed, wrenches)[:2]


def base_acceleration_spatial(
    tree: TreeSpec,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    base_wrench: np.ndarray,
    wrenches: Wrenches | None = None,
) -> np.ndarray:
    """Algorithm 3 with its own base case: (V_1)^(1..r+1), (r+1, 6), [linear; angular] at the world origin.

    Body 0 is the base. base_wrench: (W_{1,prop})^(0..r), (r+1, 6), [force; moment] about the world origin,
    all that acts through the free joint (`paper_a.base_wrench_spatial`); its columns of tau are not used.
    """
    acc, none = np.full_like(tau, np.nan), np.zeros(tree.nv, bool)
    W_prop = base_wrench[:, paper_a.ANGULAR_FIRST]
    return hybrid(tree, q, v, acc, tau, none, wrenches, W_prop)[2][0][:, paper_a.ANGULAR_FIRST]


def articulated_inertias(tree: TreeSpec, q: np.ndarray) -> list[np.ndarray | None]:
    """Lemma 2: M_j^A of every body, (6, 6), [linear; angular], in body axes about the body's origin.

    It maps the acceleration of the body to the wrench on it when all joints beyond it move freely; the
    body's own joint plays no role. None for fixed bodies: they are part of their parent's inertia.
    """
    links, link_of = paper_a.links_of(tree, q, np.zeros((1, tree.nv)))
    C, _, S = paper_a.forward(links, 0)
    M_A, _ = articulated(tree, links, C, S, [False] * len(links))
    order = np.ix_(paper_a.ANGULAR_FIRST, paper_a.ANGULAR_FIRST)
    in_body = [(paper_a.Ad(C[j]).T @ M_A[j] @ paper_a.Ad(C[j]))[order] for j in link_of]
    return [None if body.joint == "fixed" else M for body, M in zip(tree.bodies, in_body, strict=True)]


def leading_matrix(tree: TreeSpec, q: np.ndarray, v: np.ndarray, order: int) -> np.ndarray:
    """d tau^(order) / d v^(order+1), (nv, nv), for a velocity stack v (at least order+1, nv).

    The inverse dynamics is affine in the top row; with a row of the bias' size the difference loses no digits.
    """

    def tau(top: np.ndarray) -> np.ndarray:
        return paper_a.inverse_dynamics(tree, q, np.vstack([v[: order + 1], top]))[order]

    bias = tau(np.zeros(tree.nv))
    size = max(1.0, np.abs(bias).max())
    return np.column_stack([(tau(size * e) - bias) / size for e in np.eye(tree.nv)])


def columns_of(links: list[paper_a.Link]) -> list[slice]:
    """The columns of tau that belong to each link."""
    ends = np.cumsum([link.screws.shape[1] for link in links])
    return [slice(e - link.screws.shape[1], e) for e, link in zip(ends, links, strict=True)]


def passive(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """-(tau_{j,ext})^(0..r), (r+1, nv), for a velocity stack v (r+2, nv)."""
    at = zip(tree.bodies, tree.q_slices(), tree.v_slices(), strict=True)
    return np.hstack([paper_a.passive(body, q[q_at], v[:, v_at]) for body, q_at, v_at in at])


def articulated(
    tree: TreeSpec, links: list[paper_a.Link], C: np.ndarray, S: list[np.ndarray], prescribed: list[bool]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """M_j^A of every link, first lines of Algorithms 3 and 4, and D_j = S_j^T M_j^A S_j + armature."""
    armature = np.repeat([body.armature for body in tree.bodies], [body.nv for body in tree.bodies])
    at = columns_of(links)
    M_A = np.array([paper_a.mass_matrices(C_j, [], link.mass_matrix)[0] for C_j, link in zip(C, links, strict=True)])
    D: list[np.ndarray] = [np.zeros((0, 0))] * len(links)
    for j in reversed(range(len(links))):
        S_j, p = S[j][0], links[j].parent
        D[j] = S_j.T @ M_A[j] @ S_j + np.diag(armature[at[j]])
        if p >= 0 and prescribed[j]:
            M_A[p] += M_A[j]
        elif p >= 0:
            M_A[p] += M_A[j] @ (np.eye(6) - S_j @ np.linalg.solve(D[j], S_j.T @ M_A[j]))
    return M_A, D


def hybrid(
    tree: TreeSpec,
    q: np.ndarray,
    v: np.ndarray,
    acc: np.ndarray,
    tau: np.ndarray,
    prescribed: np.ndarray,
    wrenches: Wrenches | None,
    W_prop: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Algorithm 4: acc and tau complete, and (V_j)^(1..r+1) of every link.

    With W_prop link 0 is the paper's base: its (V_1)^(r+1) comes from W_prop rather than from tau.
    """
    orders = len(tau)
    tau = tau.copy()
    G = np.concatenate([np.zeros(3), tree.gravity])
    v = np.vstack([v, np.zeros((orders, tree.nv))])  # rows 1, 2, ... are filled in order by order
    n = len(paper_a.links_of(tree, q, v)[0])
    W = np.zeros((n, orders, 6))  # (W_j)^(k) of Lemma 2
    V_dot = np.zeros((n, orders, 6))  # (V_j)^(k+1)
    for r in range(orders):
        links, link_of = paper_a.links_of(tree, q, v[: r + 2])
        C, V, S = paper_a.forward(links, r + 1)  # row r+1 of V, with v^(r+1) still zero, is not used
        at = columns_of(links)
        J_q = [bool(prescribed[at_j].any()) for at_j in at]
        applied = {link_of[i]: np.asarray(w)[: r + 1, paper_a.ANGULAR_FIRST] for i, w in (wrenches or {}).items()}
        if r == 0:
            M_A, D = articulated(tree, links, C, S, J_q)  # once: Lemma 2
        known = tau[r] - passive(tree, q, v[: r + 2])[r]  # tau + tau_ext, less the armature's force

        W_A, V_bias = np.zeros((2, n, 6))
        q_tilde: list[np.ndarray] = [np.zeros(0)] * n  # that of J_tau, and q_bar of J_q
        for j in reversed(range(n)):
            # Backward: second line of (24); the children have already added theirs
            M = paper_a.mass_matrices(C[j], V[j, : r + 1], links[j].mass_matrix)
            Pi_bias = sum(comb(r + 1, k) * M[r + 1 - k] @ V[j, k] for k in range(r + 1))
            W_A[j] += Pi_bias - M[r] @ G
            if j in applied:
                W_A[j] -= paper_a.applied_wrenches(C[j], V[j], applied[j])[r]
            V_bias[j] = sum(comb(r + 1, k) * S[j][k] @ links[j].v[r + 1 - k] for k in range(1, r + 2))
            if J_q[j]:
                q_tilde[j] = acc[r, at[j]]
            else:  # (25)
                tau_tilde = sum(comb(r, k) * S[j][r - k].T @ W[j, k] for k in range(r))
                bias = S[j][0].T @ (M_A[j] @ V_bias[j] + W_A[j])
                q_tilde[j] = np.linalg.solve(D[j], known[at[j]] - tau_tilde - bias)
            if links[j].parent >= 0:
                W_A[links[j].parent] += W_A[j] + M_A[j] @ (S[j][0] @ q_tilde[j] + V_bias[j])

        for j in range(n):
            # Forward: (26)
            p, S_j = links[j].parent, S[j][0]
            V_p = V_dot[p, r] if p >= 0 else np.zeros(6)
            if j == 0 and W_prop is not None:
                V_1 = np.linalg.solve(M_A[0], W_prop[r] - W_A[0])
                v[r + 1, at[0]] = np.linalg.solve(S_j, V_1 - V_bias[0])
            elif J_q[j]:
                v[r + 1, at[j]] = q_tilde[j]
            else:
                v[r + 1, at[j]] = -np.linalg.solve(D[j], S_j.T @ M_A[j] @ V_p) + q_tilde[j]
            V_dot[j, r] = V_p + S_j @ v[r + 1, at[j]] + V_bias[j]
            W[j, r] = M_A[j] @ V_dot[j, r] + W_A[j]
        tau_ext = -passive(tree, q, v[: r + 2])[r]
        for j in range(n):
            if J_q[j]:
                Q = sum(comb(r, k) * S[j][r - k].T @ W[j, k] for k in range(r + 1))
                tau[r, at[j]] = Q - tau_ext[at[j]]
    return v[1:], tau, V_dot
