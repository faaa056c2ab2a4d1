"""How far an answer is from satisfying the equations of motion under constraints, at every order.

Only the tree's inverse dynamics and mass matrix are used, and the Jacobian J of the constraints. With multipliers l, a
motion v and forces tau,

    inverse_dynamics(q, v) = tau + J^T l,    J v = 0,

and all of their time derivatives. Errors are relative to the largest term.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np

import jounce as jn

Array = np.ndarray


def _apply(matrix: Array, vector: Array) -> Array:
    return np.einsum("...ij,...j->...i", matrix, vector)


def _size(*terms: Array) -> float:
    return max(float(np.abs(t).max(initial=0.0)) for t in terms) or 1.0


def leibniz(J: Array, x: Array, k: int, *, transposed: bool = False) -> list[Array]:
    """The terms of the k-th derivative of J x, or of J^T x; orders are the axis -3 of J and -2 of x."""
    way = (lambda m: np.swapaxes(m, -1, -2)) if transposed else (lambda m: m)
    return [comb(k, j) * _apply(way(J[..., j, :, :]), x[..., k - j, :]) for j in range(k + 1)]


def _stacked(question: Any, name: str = "tau") -> Array:
    x = np.asarray(question.given[name], float)
    return x if name in question.call.stacks else x[..., None, :]


def _pushes(question: Any) -> dict[str, object]:
    """The keywords of inverse dynamics for a stack."""
    found = {k: question.given[k] for k in ("wrench_frame", "frame") if k in question.given}
    given = question.given.get("wrenches")
    if given:
        rows = "wrenches" in question.call.stacks
        found["wrenches"] = {k: np.asarray(w) if rows else np.asarray(w)[..., None, :] for k, w in given.items()}
    return found


def off_motion(
    model: jn.Model, question: Any, stack: Array, tau: Array, multipliers: Array | None = None, first: int = 0
) -> float:
    """Error of a motion (..., r + 2, nv) under forces (..., r + 1, nv), from the derivative `first` of J v on."""
    q, orders = question.given["q"], tau.shape[-2]
    frame = {"frame": question.given.get("frame", "body")}
    back = model.inverse_dynamics(q, stack, **_pushes(question))
    left = back - tau
    J = model.constraint_jacobian_derivatives(q, stack[..., : orders + 1, :], **frame)
    M = model.mass_matrix(q, **frame)
    inverse = np.linalg.pinv(np.swapaxes(J[..., 0, :, :], -1, -2), rcond=1e-6)
    worst, found = 0.0, []
    for k in range(orders):
        own = np.abs(_apply(np.abs(M), np.abs(stack[..., k + 1, :])))
        if multipliers is None:  # any that fit
            known = np.zeros_like(left[..., k, :])
            for j in range(1, k + 1):
                known = known + comb(k, j) * _apply(np.swapaxes(J[..., j, :, :], -1, -2), found[k - j])
            found.append(_apply(inverse, left[..., k, :] - known))
            terms = [known, _apply(np.swapaxes(J[..., 0, :, :], -1, -2), found[k])]
        else:
            terms = leibniz(J, multipliers, k, transposed=True)
        worst = max(
            worst, float(np.abs(left[..., k, :] - sum(terms)).max(initial=0.0)) / _size(tau[..., k, :], own, *terms)
        )
    for k in range(first, orders + 1):
        terms = leibniz(J, stack, k)
        if terms[0].size:
            size = _size(*terms, _size(J[..., 0, :, :]) * np.abs(stack[..., k, :]))
            worst = max(worst, float(np.abs(sum(terms)).max()) / size)
    return worst


def _motion(model: jn.Model, question: Any, acc: Array) -> Array:
    v = np.asarray(question.given["v"], float)[..., None, :]
    return np.concatenate([np.broadcast_to(v, (*acc.shape[:-2], 1, model.nv)), acc], axis=-2)


def forward_dynamics(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    acc, tau = found[""], _stacked(question)
    acc = acc if question.call.stacks else acc[..., None, :]
    return off_motion(model, question, _motion(model, question, acc), tau, first=1)


def hybrid_dynamics(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    acc, tau = (x if question.call.stacks else x[..., None, :] for x in (found["0"], found["1"]))
    return off_motion(model, question, _motion(model, question, acc), tau, first=1)


def constrained_dynamics(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    """With a correction, the forces alone; with moving contacts, at order zero, as J moves with them."""
    acc, multipliers = (x if question.call.stacks else x[..., None, :] for x in (found["acc"], found["multipliers"]))
    tau = _stacked(question)
    moved = bool(question.given.get("motions")) or question.given.get("correction") is not None
    first = tau.shape[-2] + 1 if moved else 1
    if question.given.get("motions"):
        one = replace(question, given=dict(question.given))
        one.given["wrenches"] = {k: w[..., :1, :] for k, w in _pushes(question).get("wrenches", {}).items()}
        one = replace(one, call=replace(question.call, stacks=question.call.stacks | {"wrenches"}))
        acc, tau, multipliers, first = acc[..., :1, :], tau[..., :1, :], multipliers[..., :1, :], 2
        return off_motion(model, one, _motion(model, question, acc), tau, multipliers, first)
    return off_motion(model, question, _motion(model, question, acc), tau, multipliers, first)


def constrained_inverse_dynamics(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    tau, multipliers = found["tau"], found["multipliers"]
    stack = np.asarray(question.given["v"], float)
    if "a" in question.given:
        stack = np.stack(np.broadcast_arrays(stack, question.given["a"]), axis=-2)
        tau, multipliers = tau[..., None, :], multipliers[..., None, :]
    return off_motion(model, question, stack, tau, multipliers)


def impact(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    q, v, frame = question.given["q"], question.given["v"], {"frame": question.given.get("frame", "body")}
    J, M = model.constraint_jacobian(q, **frame), model.mass_matrix(q, **frame)
    force = _apply(np.swapaxes(J, -1, -2), found["multipliers"])
    jump = _apply(M, found["v"] - v)
    worst = float(np.abs(jump - force).max(initial=0.0)) / _size(_apply(np.abs(M), np.abs(v)))
    if J.size and not question.given.get("restitution"):
        worst = max(worst, float(np.abs(_apply(J, found["v"])).max()) / _size(_apply(np.abs(J), np.abs(v))))
    return worst


def inverse_constraint_inertia(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    J, M = model.constraint_jacobian(question.given["q"]), model.mass_matrix(question.given["q"])
    expected = J @ np.linalg.solve(M, np.swapaxes(J, -1, -2))
    return float(np.abs(found[""] - expected).max(initial=0.0)) / _size(expected)


def constrained_dynamics_derivatives(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    """Derivatives of J v, as in the answer itself: J dv/dt changes only with J and v.

    A change of the force changes accelerations only as the constraints allow, at order zero.
    """
    q = question.given["q"]
    J, M = model.constraint_jacobian(q), model.mass_matrix(q)
    by_tau = found["acc_tau"][..., 0, 0, :, :] if question.call.stacks else found["acc_tau"]
    worst = float(np.abs(found["jacobian"] - J).max(initial=0.0)) / _size(J)
    worst = max(worst, float(np.abs(J @ by_tau).max(initial=0.0)) / (_size(J) * _size(by_tau)))
    forced = by_tau @ M @ by_tau - by_tau  # a projection: the forces of a motion cause the same motion
    return max(worst, float(np.abs(forced).max(initial=0.0)) / _size(np.abs(by_tau) @ np.abs(M) @ np.abs(by_tau)))


def independent_coordinates(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    J, G = model.constraint_jacobian(question.given["q"]), found["G"]
    own = float(np.abs(G[..., found["columns"], :] - np.eye(G.shape[-1])).max(initial=0.0))
    return max(own, float(np.abs(J @ G).max(initial=0.0)) / _size(np.abs(J) @ np.abs(G)))


def project(model: jn.Model, question: Any, found: dict[str, Array]) -> float:
    """The result obeys all constraints, and states that obey them are left alone."""
    q = found["0"] if "0" in found else found[""]
    worst = float(np.abs(model.residual(q)).max(initial=0.0))
    if "1" in found:
        stack = found["1"] if question.call.stacks else found["1"][..., None, :]
        J = model.constraint_jacobian_derivatives(q, stack)
        for k in range(stack.shape[-2]):
            terms = leibniz(J, stack, k)
            worst = max(worst, float(np.abs(sum(terms)).max(initial=0.0)) / _size(*terms, np.ones(1)))
    again = model.difference(q, model.project(q))
    return max(worst, float(np.abs(again).max(initial=0.0)))


DEMANDS: dict[str, Callable[[jn.Model, Any, dict[str, Array]], float]] = {
    f.__name__: f
    for f in (
        forward_dynamics,
        hybrid_dynamics,
        constrained_dynamics,
        constrained_inverse_dynamics,
        constrained_dynamics_derivatives,
        inverse_constraint_inertia,
        impact,
        independent_coordinates,
        project,
    )
}
