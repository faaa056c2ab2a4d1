"""Mass added to a frame.

One that is many times as far away as the robot is long was given in other units, as a rule.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import pose, quoted
from jounce.core_tables import BodyRecord
from jounce.editing.tree import Tree
from jounce.errors import ModelWarning
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed

_FAR = 10.0  # lengths of the robot


def loaded(tree: Tree, name: str, inertia: Inertia, placement: ArrayLike | None) -> Tree:
    """See `Model.payload`."""
    if not isinstance(inertia, Inertia):
        raise ValueError(f"inertia is {quoted(inertia)}, expected a jounce.Inertia")
    added = inertia if placement is None else inertia.moved(pose("placement", placement))
    length, reach = _length(tree), _reach(added)
    if reach > _FAR * length > 0:
        warnings.warn(
            f"inertia reaches {reach:.3g} m away from {quoted(name)}, on a robot {length:.3g} m long from joint to "
            "joint: expected metres, kilograms and kg m^2",
            ModelWarning,
            stacklevel=3,
        )
    index, bodies = tree.index(name), list(tree.bodies)
    body = bodies[index]
    if body.soft is None:
        bodies[index] = replace(body, inertia=body.inertia + added)
        return replace(tree, bodies=bodies)
    frame = f"{name}.payload"  # a soft body has no inertia of its own
    at = next((i for i, b in enumerate(bodies) if b.name == frame and b.parent == index), None)
    if at is not None:
        bodies[at] = replace(bodies[at], inertia=bodies[at].inertia + added)
    elif tree.index(frame) >= 0:
        raise ValueError(f"name is {quoted(name)}: its payload needs a frame named {frame!r}, the name of another body")
    else:
        bodies.append(BodyRecord(frame, index, Fixed(), np.eye(4), added))
    return replace(tree, bodies=bodies)


def _length(tree: Tree) -> float:
    """Of the longest chain of bodies, along its levers and to the last mass, wherever it stands in the world."""
    ends: list[float] = []
    longest = 0.0
    for body in tree.bodies:
        start = ends[body.parent] + float(np.linalg.norm(body.placement[:3, 3])) if body.parent >= 0 else 0.0
        ends.append(start + (0.0 if body.soft is None else body.soft.length))
        longest = max(longest, ends[-1], start + _reach(body.inertia))
    return longest


def _reach(inertia: Inertia) -> float:
    """How far from the origin its mass is: the centre, and the radius of gyration beyond."""
    if inertia.mass == 0:
        return 0.0
    gyration = np.sqrt(np.linalg.norm(inertia.rotational, 2) / inertia.mass)
    return float(np.linalg.norm(inertia.com) + gyration)
