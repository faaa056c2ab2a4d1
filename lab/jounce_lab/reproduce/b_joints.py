"""What paper B's section 2.2 says about joints with several coordinates: claims of B-section5."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from jounce.model import Model
from jounce.parts.joints import Cylindrical, Planar, Prismatic, Revolute, Spherical

from .claims import Array, Claim, agrees, off
from .small_robot import base_and_load


def joints(rng: np.random.Generator) -> list[Claim]:
    """Section 2.2: joints with several coordinates as chains; ball joints directly on SO(3)."""
    pairs = [
        (base_and_load(Cylindrical((0, 0, 1))), base_and_load(Prismatic((0, 0, 1)), Revolute((0, 0, 1)))),
        (base_and_load(Planar()), base_and_load(Prismatic((1, 0, 0)), Prismatic((0, 1, 0)), Revolute((0, 0, 1)))),
    ]
    worst = 0.0
    for a, b in pairs:
        q, v, tau = a.random_configuration(rng), rng.normal(size=a.nv), rng.normal(size=a.nv)
        order = _matching(a, b, q)
        lin = b.linearize(
            np.append(q[:7], q[7:][order]), np.append(v[:6], v[6:][order]), np.append(tau[:6], tau[6:][order])
        )
        own = a.linearize(q, v, tau).A[a.nv :]
        at = np.r_[0:6, 6 + np.array(order)]
        worst = max(worst, off(lin.A[b.nv :], own[np.ix_(at, np.r_[at, a.nv + at])]))
    ball = base_and_load(Spherical())
    q, v, tau = ball.random_configuration(rng), rng.normal(size=ball.nv), rng.normal(size=ball.nv)
    h, steps = 1e-3, np.eye(ball.nv)
    total = np.zeros((ball.nv, ball.nv))
    for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        ahead, behind = (ball.forward_dynamics(ball.integrate(q, s * k * h * steps), v, tau) for s in (1, -1))
        total += weight * (ahead - behind).T / (60 * h)
    return [
        agrees(
            "Cylindrical and planar joints are chains of joints with one coordinate: A of both (relative)",
            "B, section 2.2", worst, 1e-10,
        ),
        agrees(
            "Spherical joints could be handled directly, on SO(3): A of a robot with one, against differences "
            "(relative)",
            "B, section 2.2 (not done there)", off(ball.linearize(q, v, tau).A[ball.nv :, : ball.nv], total), 1e-8,
        ),
    ]  # fmt: skip


def _matching(a: Model, b: Model, q: Array) -> list[int]:
    """Which coordinate of a's last joint each joint of b corresponds to: the permutation that gives the same pose."""
    target = a.pose("load", q)
    for order in permutations(range(a.nq - 7)):
        if np.allclose(b.pose("load", np.append(q[:7], q[7:][list(order)])), target, atol=1e-12):
            return list(order)
    raise AssertionError("the joints are not the same")
