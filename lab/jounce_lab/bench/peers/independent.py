"""A robot whose joints follow others, for a peer with independent joints only.

With v_x = G v the velocities of the independent joints, the equations of the robot are those of the peer, projected:

    tau = G^T tau_x + D v,     M = G^T M_x G,     dtau/dq = G^T (dtau_x/dq) G,     and so on; D the joints' damping.

The peer is timed on its own problem, in the same state; its answer for this robot follows from these equations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from jounce.core_tables import resolve
from jounce.model import Model
from jounce.parts.joints import Fixed, Follow

from ..race import Array, Call, Problem


def expansion(model: Model, independent: Model) -> tuple[Array, Array, Array]:
    """G (nv_x, nv), and P (nq_x, nq) and offset (nq_x,) of q_x = P q + offset."""
    G = np.zeros((independent.nv, model.nv))
    P, offset = np.zeros((independent.nq, model.nq)), np.zeros(independent.nq)
    leaders = resolve(model.bodies)
    for b in model.bodies:
        if isinstance(b.joint, Fixed):
            continue
        leader = leaders.get(b.joint_name) or Follow(b.joint_name)
        v, own_v = independent.coordinate(b.joint_name), model.coordinate(leader.joint)
        q, own_q = independent.position(b.joint_name), model.position(leader.joint)
        G[v, own_v] = leader.ratio * np.eye(v.stop - v.start)
        P[q, own_q] = leader.ratio * np.eye(q.stop - q.start)
        offset[q] = leader.offset
    return G, P, offset


def call(problem: Problem, peers_call: Callable[[Problem], Call | None]) -> Call | None:
    """The peer's call for the independent joints, and its answer for this robot."""
    other = problem.subject.independent
    if other is None or problem.states > 1:
        return None
    G, P, offset = expansion(problem.model, other)
    damping = np.concatenate([b.joint.damping for b in problem.model.bodies if not isinstance(b.joint, Fixed)])
    D = G.T @ (damping[:, None] * G)  # loaders keep the order of the file
    subject = replace(problem.subject, model=other, independent=None)
    tau = problem.tau @ np.linalg.pinv(G)
    there = replace(problem, subject=subject, q=P @ problem.q + offset, v=problem.v @ G.T, tau=tau)
    timed = peers_call(there)
    if timed is None:
        return None

    def said(quantity: str, a: Array) -> Array:
        at = replace(there, quantity=quantity, order=0, v=np.stack([problem.v[0], a]) @ G.T, tau=tau[:1])
        found = peers_call(at)
        assert found is not None
        return found.answer()

    def answer() -> Array:
        v, a = problem.v[0], problem.v[1]
        if problem.quantity == "Jacobian":
            return said("Jacobian", a) @ G
        M = G.T @ said("mass matrix", a) @ G
        bias = said("bias force", a) @ G + D @ v
        if problem.quantity == "constrained dynamics":
            rows = said("contacts", a)
            J, drift = rows[:, :-1] @ G, rows[:, -1]
            matrix = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
            held = np.linalg.solve(matrix, np.concatenate([problem.tau[0] - bias, -drift]))
            return np.asarray(held[None, : len(M)])
        acc = np.linalg.solve(M, problem.tau[0] - bias)
        inverse = np.asarray(np.linalg.inv(M), dtype=np.float64)
        if problem.quantity in ("derivatives of forward dynamics", "linearization"):
            K, C, _ = G.T @ said("derivatives of inverse dynamics", acc) @ G
            return np.stack([-inverse @ K, -inverse @ (C + D), inverse])
        if problem.quantity == "derivatives of inverse dynamics":
            damped: Array = G.T @ said(problem.quantity, a) @ G
            damped[1] += D
            return damped
        answers: dict[str, Array] = {
            "inverse dynamics": (M @ a + bias)[None],
            "forward dynamics": acc[None],
            "mass matrix": M,
            "bias force": bias,
            "inverse mass matrix": inverse,
        }
        return answers[problem.quantity]

    return Call(f"{timed.label}, independent joints", timed.run, answer, timed.part)
