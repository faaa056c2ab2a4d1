"""Where a joint puts its body: its pose as a function of its coordinates, in plain numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jounce._checks import array_of
from jounce.parts.custom_joint import CustomJoint
from jounce.parts.joints import Free, Joint, Primitive, Spherical
from jounce.parts.placement import about, placement, unit_quaternion

Array = NDArray[np.float64]


def joint_position(what: str, joint: Joint, value: object) -> Array:
    """The coordinates (nq,) of a joint, checked; one number will do for one coordinate."""
    shapes = ((), (1,)) if joint.nq == 1 else ((joint.nq,),)
    q = array_of(what, value, *shapes).reshape(-1)
    if isinstance(joint, (Free, Spherical)):
        q[-4:] = unit_quaternion(f"the quaternion in {what}", q[-4:])
    return q


def joint_pose(joint: Joint, q: Array) -> Array:
    """The pose (4, 4) of the body in the joint frame at q (nq,)."""
    if isinstance(joint, CustomJoint):
        return joint.pose(q)
    if isinstance(joint, Free):
        return placement(q[:3], quaternion=q[3:])
    if isinstance(joint, Spherical):
        return placement(quaternion=q)
    made = np.eye(4)
    for primitive, x in zip(joint.primitives(), q.tolist(), strict=True):
        made = made @ _step(primitive, x)
    return made


def _step(primitive: Primitive, x: float) -> Array:
    made = np.eye(4)
    made[:3, 3] = primitive.slide * x * primitive.axis
    if primitive.kind != "prismatic":
        made[:3, :3] = about(primitive.axis, x)
    return made
