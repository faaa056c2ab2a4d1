"""Keyframes of MJCF: configurations with a name, and the one in which the file draws the robot, MuJoCo's ``qpos0``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.loading.mjcf_left_out import line_of
from jounce.loading.xml_source import MAX_NUMBER

Array = NDArray[np.float64]
DRAWN = "qpos0"
_MOST = 1_000_000  # numbers in all of them together
_FREE, _BALL = 0, 1  # mjtJoint
_SIZES = (7, 4, 1, 1)
_LEAST = 1e-15  # length of a quaternion (mjMINVAL)


def keyframes(
    model: Any, joints: Sequence[str], said: Sequence[Mapping[str, str]] | None
) -> tuple[dict[str, dict[str, Array]], list[str]]:
    """The keyframes of a robot, and a line about those that are left out.

    Args:
        model: an MjModel.
        joints: names of its joints.
        said: attributes of the keyframes of its file; None where the model has them itself.

    Returns:
        of each, by name, the positions of the joints, quaternions x y z w.
    """
    drawn = np.array(model.qpos0)
    given: list[tuple[str, Array | None]]
    if said is None:
        given = [(model.key(i).name, np.array(model.key_qpos[i])) for i in range(model.nkey)]
    else:
        most = _MOST // max(model.nq, 1)
        given = [(key.get("name", ""), _numbers(key.get("qpos"), drawn)) for key in said[:most]]
        given += [(key.get("name", ""), None) for key in said[most:]]
    found = {DRAWN: _by_joint(model, joints, drawn)}
    odd = []
    for i, (name, qpos) in enumerate(given):
        if qpos is None:
            odd.append(name)
        else:
            found[name or f"key {i}"] = _by_joint(model, joints, qpos)
    return found, [line for line in [line_of("keyframes that are not one number for each position:", odd)] if line]


def _numbers(text: str | None, drawn: Array) -> Array | None:
    """The positions that a keyframe says, by default as the file draws the robot; None if they are no positions."""
    if text is None:
        return drawn
    words = text.split(maxsplit=len(drawn))
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        return None
    return found if found.shape == drawn.shape and (np.abs(found) < MAX_NUMBER).all() else None


def _by_joint(model: Any, joints: Sequence[str], qpos: Array) -> dict[str, Array]:
    found = {}
    for name, kind, first in zip(joints, model.jnt_type, model.jnt_qposadr, strict=True):
        q = qpos[first : first + _SIZES[kind]].copy()
        if kind in (_FREE, _BALL):
            w, x, y, z = q[-4:]
            q[-4:] = _unit(np.array([x, y, z, w]))
        found[name] = q
    return found


def _unit(quaternion: Array) -> Array:
    """x y z w of length 1; the identity where it has next to none, as in MuJoCo."""
    length = float(np.linalg.norm(quaternion))
    return quaternion / length if length >= _LEAST else np.array([0.0, 0.0, 0.0, 1.0])
