"""<keyframe>: the robot's keyframes, in the order and the axes of the joints of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.core_tables import resolve
from jounce.loading.mjcf_keyframes import DRAWN
from jounce.parts.joint_pose import joint_pose
from jounce.parts.joints import Free, Joint, Spherical
from jounce.parts.pose import quaternions
from jounce.saving.document import Element, a_name, add, numbers

if TYPE_CHECKING:
    from jounce.model import Model

Array = NDArray[np.float64]


def add_keyframes(root: Element, robot: Model, hinges: dict[str, tuple[str, int, Array]]) -> None:
    """Adds them all, but for one that says how the file draws the robot where it does so anyway.

    Args:
        root: the document, with all its joints.
        robot: the model.
        hinges: of each joint of the file, the robot's joint that it is, its coordinate, and the pose (4, 4) that a
            `Free` one is placed at.
    """
    found = Element("keyframe")
    order = [element.get("name", "") for element in root.iter("joint") if element.get("type") is not None]
    kinds = {body.joint_name: body.joint for body in robot.bodies if body.joint.nv}
    for name, q in robot.keyframes.items():
        if name != DRAWN or not np.array_equal(q, robot.neutral()):
            at = _positions(robot, q)
            qpos = np.concatenate([_qpos(kinds, at, *hinges[joint]) for joint in order])
            add(found, "key", {"name": a_name("name of a keyframe", name), "qpos": numbers(qpos)})
    if len(found):
        root.append(found)


def _positions(robot: Model, q: Array) -> dict[str, Array]:
    """By joint, those of followers included."""
    at = {body.joint_name: q[where] for body, (where, _) in robot._moving()}
    for name, follow in resolve(robot.bodies).items():
        at[name] = follow.ratio * at[follow.joint] + follow.offset
    return at


def _qpos(kinds: dict[str, Joint], at: dict[str, Array], joint: str, k: int, placement: Array) -> Array:
    """The numbers of one joint of the file."""
    kind = kinds[joint]
    if isinstance(kind, Free):
        pose = placement @ joint_pose(kind, at[joint])
        return np.concatenate([pose[:3, 3], quaternions(pose[:3, :3])])
    return at[joint][[3, 0, 1, 2]] if isinstance(kind, Spherical) else at[joint][k : k + 1]
