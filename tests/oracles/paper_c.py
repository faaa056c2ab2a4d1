"""Recursive kth-order inverse dynamics of serial chains of 1-DoF joints by paper C's recursion.

Source (paper C): S. Kumar, A. Müller, "Nth Order Analytical Time Derivatives of Inverse Dynamics in Recursive
and Closed Forms", section II, equations (4)-(20) and the algorithm of section II.E.  The code is in
`jounce_lab.reproduce.paper_c`; here it is applied to the neutral trees, including prismatic and helical joints, which
it covers as well. `virtual_work`, which shares nothing with it, verifies it.

Joint friction and springs are not in the paper; they are added for each coordinate.
"""

from __future__ import annotations

import numpy as np

from jounce_lab.reproduce import paper_c
from trees import ONE_DOF, BodySpec, TreeSpec


def inverse_dynamics(tree: TreeSpec, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Generalized forces and their first r derivatives, (r+1, n), for a velocity stack v (r+2, n)."""
    for i, body in enumerate(tree.bodies):
        if body.joint not in ONE_DOF or body.parent != i - 1:
            raise NotImplementedError("paper C treats serial chains of 1-DoF joints on a fixed base")
    Q = paper_c.inverse_dynamics([link_of(body) for body in tree.bodies], tree.gravity, q, v)
    dq = np.vstack([q, v])  # dq[k] is q^(k)
    armature, damping, stiffness = (
        np.array([getattr(b, name) for b in tree.bodies]) for name in ("armature", "damping", "stiffness")
    )
    return Q + armature * dq[2:] + damping * dq[1:-1] + stiffness * dq[:-2]


def link_of(body: BodySpec) -> paper_c.Link:
    turn = body.axis * (body.joint != "prismatic")
    slide = body.axis * {"revolute": 0.0, "prismatic": 1.0, "helical": body.pitch}[body.joint]
    return paper_c.Link(
        body.placement, np.concatenate([turn, slide]), paper_c.inertia(body.mass, body.com, body.inertia)
    )
