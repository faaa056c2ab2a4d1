"""Pinocchio: constraintDynamics and lcaba of a robot whose feet are fixed, in its best configuration.

Constraints are a StdVec_RigidConstraintModel, all memory is preallocated, and lcaba has its joints ordered. It gets the
fewest proximal iterations that match the acceleration of constraintDynamics to `_ENOUGH`; constraintDynamics needs
none, as no rows of J are redundant here. Each answer uses fresh memory: lcaba of Pinocchio 4.1 gives a different one
for TALOS, off by 2e-4, every second time that it runs on the same memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from jounce.conversions import Pinocchio
from jounce.parts.joints import Fixed

from ..race import TOLERANCE, Array, Call, LeftOut, Problem
from . import independent

_ENOUGH = TOLERANCE / 2
_MU = (1e-6, 1e-5, 1e-4, 1e-7, 1e-8, 1e-9, 1e-10)  # the one that Pinocchio calls typical first


class _Held:
    """The robot and its contacts in Pinocchio, in the state of the problem."""

    def __init__(self, problem: Problem) -> None:
        import pinocchio as pin

        if not hasattr(pin, "RigidConstraintModel"):
            raise LeftOut("this version has no constraints")
        root = [pin.JointModelFreeFlyer(), problem.model.joint_names[0]] if problem.subject.floating else []
        self.model = pin.buildModelFromXML(problem.subject.urdf, *root)
        self.model.gravity.linear = np.array(problem.model.gravity)
        convert = Pinocchio(problem.model, self.model)
        self.q, self.v = convert.to(problem.q, problem.v[0])
        self.tau = convert.force_to(problem.q, problem.tau[0])
        there = convert.to(problem.model.neutral(), np.arange(problem.model.nv, dtype=float))[1].astype(int)
        self.here = np.argsort(there)  # Pinocchio's index of each of our coordinates
        self.frames = [self.model.getFrameId(c.b, pin.FrameType.BODY) for c in problem.model.constraints]
        self.contacts = pin.StdVec_RigidConstraintModel()
        for frame, constraint in zip(
            (self.model.frames[i] for i in self.frames), problem.model.constraints, strict=True
        ):
            kind = pin.ContactType.CONTACT_6D if isinstance(constraint.kind, Fixed) else pin.ContactType.CONTACT_3D
            place = frame.parentJoint, frame.placement
            self.contacts.append(pin.RigidConstraintModel(kind, self.model, *place, pin.LOCAL))

    def memory(self) -> tuple[Any, Any]:
        import pinocchio as pin

        data = pin.StdVec_RigidConstraintData()
        for contact in self.contacts:
            data.append(contact.createData())
        return self.model.createData(), data

    def ours(self, x: Any) -> Array:
        return np.array(x)[..., self.here]

    def dynamics(self) -> Callable[[], Any]:
        import pinocchio as pin

        data, contact_data = self.memory()
        pin.initConstraintDynamics(self.model, data, self.contacts, contact_data)
        settings = pin.ProximalSettings(1e-12, 0.0, 1)
        state = self.q, self.v, self.tau
        return partial(pin.constraintDynamics, self.model, data, *state, self.contacts, contact_data, settings)

    def lcaba(self) -> Callable[[], Any]:
        import pinocchio as pin

        if not hasattr(pin, "lcaba"):
            raise LeftOut("this version has no lcaba")
        expected = np.array(self.dynamics()())
        for iterations in range(1, 30):
            for mu in _MU:
                if np.abs(self._lcaba(mu, iterations)() - expected).max() < _ENOUGH * np.abs(expected).max():
                    return self._lcaba(mu, iterations)
        raise LeftOut("its proximal iterations do not come to the acceleration of constraintDynamics")

    def _lcaba(self, mu: float, iterations: int) -> Callable[[], Any]:
        import pinocchio as pin

        data, contact_data = self.memory()
        pin.computeJointMinimalOrdering(self.model, data, self.contacts)
        settings = pin.ProximalSettings(1e-12, 1e-12, mu, iterations)
        return partial(pin.lcaba, self.model, data, self.q, self.v, self.tau, self.contacts, contact_data, settings)

    def rows(self) -> Array:
        """(rows, nv + 1): the Jacobian of the contacts and, last, their acceleration when dv/dt is zero."""
        import pinocchio as pin

        data = self.model.createData()
        pin.computeJointJacobians(self.model, data, self.q)
        pin.forwardKinematics(self.model, data, self.q, self.v, np.zeros(self.model.nv))
        pin.updateFramePlacements(self.model, data)
        found = []
        for frame, contact in zip(self.frames, self.contacts, strict=True):
            J = self.ours(pin.getFrameJacobian(self.model, data, frame, pin.LOCAL))
            size = contact.residualSize()
            kind = pin.getFrameAcceleration if size == 6 else pin.getFrameClassicalAcceleration
            drift = kind(self.model, data, frame, pin.LOCAL).vector
            found.append(np.hstack([J, drift[:, None]])[:size])
        return np.vstack(found)


def dynamics(problem: Problem) -> Call | None:
    """constraintDynamics; it computes the acceleration even when raced against a higher order of jounce."""
    return _call(problem, "constraintDynamics", _Held.dynamics)


def lcaba(problem: Problem) -> Call | None:
    return _call(problem, "joints ordered", _Held.lcaba)


def _call(problem: Problem, label: str, prepared: Callable[[_Held], Callable[[], Any]]) -> Call | None:
    from .pinocchio import call

    if problem.states > 1:
        return None
    if problem.quantity == "contacts":
        rows = _Held(problem).rows()
        return Call("getFrameJacobian", lambda: rows, lambda: rows)
    if problem.quantity != "constrained dynamics":
        return call(problem)
    if problem.subject.independent is not None:
        return independent.call(problem, lambda p: _call(p, label, prepared))
    held = _Held(problem)
    return Call(label, prepared(held), lambda: held.ours(prepared(held)())[None], lambda x: x[:1])
