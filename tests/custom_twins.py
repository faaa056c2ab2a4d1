"""Robots whose joints are given by functions: the same robots as those with named joint types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import jounce as jn


def turned(axis: np.ndarray, angle: Any) -> Any:
    """(3, 3), by Rodrigues' formula, for a number, plain or recorded."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def placed(R: Any, p: Any) -> Any:
    return np.array([[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [0.0, 0.0, 0.0, 1.0]])


def pose_of(joint: jn.Joint) -> Callable[[Any], Any]:
    """The product of its primitives."""

    def pose(q: Any) -> Any:
        T = np.eye(4)
        for x, primitive in zip(q, joint.primitives(), strict=True):
            axis = primitive.axis
            R = np.eye(3) if primitive.kind == "prismatic" else turned(axis, x)
            T = T @ placed(R, primitive.slide * x * axis)
        return T

    return pose


OPTIONS = ("damping", "friction", "friction_speed", "stiffness", "rest", "limits", "name")


def said_by_functions(model: jn.Model, *, general: bool = True) -> jn.Model:
    """The model with a `CustomJoint` for every joint that can be one; if `general`, none runs as a built-in joint."""
    bodies = []
    for b in model.bodies:
        joint = b.joint
        scalar = joint.nq == joint.nv > 0
        if scalar and joint.follows is None and not joint.armature.any():
            scale = [1.0 if p.kind == "prismatic" else np.pi for p in joint.primitives()]
            options = {key: getattr(joint, key) for key in OPTIONS}
            b = replace(b, joint=jn.CustomJoint(pose_of(joint), joint.nv, scale=scale, **options))
            if general:
                b.joint._set(_primitive=None)
        bodies.append(b)
    return jn.Model(bodies, model.gravity, model.constraints)
