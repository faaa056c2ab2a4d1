"""Pinocchio: rnea, aba, crba, computeMinverse, Jacobians, the derivatives of rnea and aba, and rneaInParallel.

If the robot has damping or joints that follow others, which these functions do not support, Pinocchio is timed on its
model of the same file, with independent joints, in the same state; jounce's answer is compared with what follows from
Pinocchio's equations for the coupled joints (see `independent`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jounce.conversions import Pinocchio

from ..race import Array, Call, LeftOut, Problem
from . import independent, pinocchio_contacts

_MAX_NV = 300


def call(problem: Problem) -> Call | None:
    """It has order 0 only, and computes that even when raced against a higher order of jounce."""
    import pinocchio as pin

    if problem.quantity in ("constrained dynamics", "contacts"):
        return pinocchio_contacts.dynamics(problem)
    if problem.subject.independent is not None:
        return independent.call(problem, call)

    if problem.model.nv > _MAX_NV:
        raise LeftOut(f"its Data holds tensors of nv^3 numbers, {problem.model.nv**3 * 8 / 1e9:.1f} GB each")
    root = [pin.JointModelFreeFlyer(), problem.model.joint_names[0]] if problem.subject.floating else []
    model = pin.buildModelFromXML(problem.subject.urdf, *root)
    model.gravity.linear = np.array(problem.model.gravity)
    data, convert = model.createData(), Pinocchio(problem.model, model)
    q, v, a = convert.to(problem.q, problem.v[..., 0, :], problem.v[..., 1, :])
    tau = convert.force_to(problem.q, problem.tau[..., 0, :])
    # our index of each of Pinocchio's coordinates, and its index of each of ours
    there = convert.to(problem.model.neutral(), np.arange(problem.model.nv, dtype=float))[1].astype(int)
    here = np.argsort(there)

    def forces(x: Any) -> Array:
        return np.array(x)[..., here][..., None, :]

    def matrix(x: Any) -> Array:
        return np.array(x)[..., here, :][..., here]

    def first_row(x: Array) -> Array:
        return x[..., :1, :]

    if problem.states > 1:
        if problem.quantity != "inverse dynamics":
            return None
        pool = pin.ModelPool(model, 1)
        Q, V, A = (np.asfortranarray(x.T) for x in (q, v, a))
        out = np.zeros((model.nv, problem.states), order="F")

        def run() -> None:
            pin.rneaInParallel(1, pool, Q, V, A, out)

        def answer() -> Array:
            run()
            return forces(out.T)

        return Call("rneaInParallel", run, answer, first_row, problem.states)

    def rnea_derivatives() -> Any:
        return pin.computeRNEADerivatives(model, data, q, v, a)

    def aba_derivatives() -> Any:
        return pin.computeABADerivatives(model, data, q, v, tau)

    def rnea_matrices(x: Any) -> Array:
        dq, dv, M = (np.array(part) for part in x)
        return matrix(np.stack([dq, dv, np.triu(M) + np.triu(M, 1).T]))

    def aba_matrices(x: Any) -> Array:
        dq, dv, inverse = (np.array(part) for part in x)
        return matrix(np.stack([dq, dv, np.triu(inverse) + np.triu(inverse, 1).T]))

    calls: dict[str, tuple[str, Callable[[], Any], Callable[[Any], Array]]] = {
        "inverse dynamics": ("rnea", lambda: pin.rnea(model, data, q, v, a), forces),
        "forward dynamics": ("aba", lambda: pin.aba(model, data, q, v, tau), forces),
        "mass matrix": ("crba", lambda: pin.crba(model, data, q), matrix),
        "Jacobian": (
            "computeFrameJacobian",
            lambda: pin.computeFrameJacobian(model, data, q, frame),
            lambda x: np.array(x)[:, here],
        ),
        "inverse mass matrix": ("computeMinverse", lambda: pin.computeMinverse(model, data, q), matrix),
        "bias force": ("nonLinearEffects", lambda: pin.nonLinearEffects(model, data, q, v), lambda x: forces(x)[0]),
        "derivatives of inverse dynamics": ("computeRNEADerivatives", rnea_derivatives, rnea_matrices),
        "derivatives of forward dynamics": ("computeABADerivatives", aba_derivatives, aba_matrices),
        "linearization": ("computeABADerivatives", aba_derivatives, aba_matrices),
    }
    frame = model.getFrameId(problem.model.body_names[-1]) if problem.quantity == "Jacobian" else 0
    label, single, form = calls[problem.quantity]
    part = first_row if problem.quantity in ("inverse dynamics", "forward dynamics") else lambda x: x
    return Call(label, single, lambda: form(single()), part)
