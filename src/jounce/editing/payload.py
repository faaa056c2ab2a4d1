"""Mass added to a frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from jounce._checks import pose, quoted
from jounce.core_tables import BodyRecord
from jounce.editing.lengths import say_if_far
from jounce.editing.tree import Tree
from jounce.parts.inertia import Inertia
from jounce.parts.joints import Fixed


def loaded(tree: Tree, name: str, inertia: Inertia, placement: ArrayLike | None) -> Tree:
    """See `Model.payload`."""
    if not isinstance(inertia, Inertia):
        raise ValueError(f"inertia is {quoted(inertia)}, expected a jounce.Inertia")
    added = inertia if placement is None else inertia.moved(pose("placement", placement))
    say_if_far(tree, name, added)
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
