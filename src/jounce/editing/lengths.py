"""How long robots are, and how far away their masses.

What is many times as far away as the robot is long was given in other units, as a rule.
"""

from __future__ import annotations

import warnings

import numpy as np

from jounce._checks import callers, quoted
from jounce.editing.tree import Tree
from jounce.errors import ModelWarning
from jounce.parts.inertia import Inertia

FAR = 10.0  # lengths of the robot


def say_if_far(tree: Tree, name: str, inertia: Inertia) -> None:
    """Warns of an inertia on a body or frame that is given in millimetres, say."""
    length, reach = length_of(tree), reach_of(inertia)
    if reach > FAR * length > 0:
        warnings.warn(
            f"inertia reaches {reach:.3g} m away from {quoted(name)}, on a robot {length:.3g} m long from joint to "
            "joint: expected metres, kilograms and kg m^2",
            ModelWarning,
            stacklevel=callers(),
        )


def length_of(tree: Tree) -> float:
    """Of the longest chain of bodies, along its levers and to the last mass, wherever it stands in the world."""
    ends: list[float] = []
    longest = 0.0
    for body in tree.bodies:
        start = ends[body.parent] + float(np.linalg.norm(body.placement[:3, 3])) if body.parent >= 0 else 0.0
        ends.append(start + (0.0 if body.soft is None else body.soft.length))
        longest = max(longest, ends[-1], start + reach_of(body.inertia))
    return longest


def reach_of(inertia: Inertia) -> float:
    """How far from the origin its mass is: the centre, and the radius of gyration beyond."""
    if inertia.mass == 0:
        return 0.0
    gyration = np.sqrt(np.linalg.norm(inertia.rotational, 2) / inertia.mass)
    return float(np.linalg.norm(inertia.com) + gyration)
