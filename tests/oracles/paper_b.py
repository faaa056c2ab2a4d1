"""Paper B's tables on the robots of the tests.

The tables themselves, line by line, are in `jounce_lab.reproduce`: `paper_b`, `paper_b_derivatives`, `paper_b_inverse`.
They use NumPy alone, and get the numbers of a TreeSpec here, not those of a model. The truth they are checked against,
positions differentiated in high precision, is in `directional` and `virtual_work`. Body 0 is free, all others are on
joints with one coordinate.
"""

from __future__ import annotations

import numpy as np

from jounce_lab.reproduce import paper_b_inverse
from jounce_lab.reproduce.paper_b import Tree, cross, extended, hat, inertia, transform
from trees import BodySpec, TreeSpec

__all__ = [
    "cross",
    "extended",
    "hat",
    "immamb",
    "inverse_dynamics_derivatives",
    "linearization",
    "transform",
    "tree_of",
]


def tree_of(spec: TreeSpec) -> Tree:
    bodies = spec.bodies
    return Tree(
        [b.parent for b in bodies],
        [b.placement for b in bodies],
        [np.zeros(6), *(_screw(b) for b in bodies[1:])],
        [inertia(b.mass, b.com, b.inertia) for b in bodies],
        spec.gravity,
    )


def _screw(body: BodySpec) -> np.ndarray:
    linear = {"revolute": 0.0, "prismatic": 1.0, "helical": body.pitch}[body.joint]
    return np.concatenate([linear * body.axis, (body.joint != "prismatic") * body.axis])


def immamb(spec: TreeSpec, s: np.ndarray) -> np.ndarray:
    return paper_b_inverse.immamb(tree_of(spec), s)


def inverse_dynamics_derivatives(
    spec: TreeSpec, q: np.ndarray, v: np.ndarray, a: np.ndarray, held: str = "body"
) -> tuple[np.ndarray, np.ndarray]:
    return paper_b_inverse.inverse_dynamics_derivatives(tree_of(spec), q, v, a, held)


def linearization(spec: TreeSpec, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return paper_b_inverse.linearization(tree_of(spec), q, v, a)
