"""Paper C's section II: inverse dynamics of a serial arm and its derivatives to any order, as a recursion.

Shared by C-panda, C-timing and the test oracles, and for numbers of any kind (`counting`). For how it is read, see
docs/paper_c.md: (20) with derivatives of the acceleration, as in (19). Gravity, which the section leaves out, is the
base's upward acceleration. Vectors are [angular; linear]; joint j of the paper is j - 1 here, and calB_ij of the
algorithm's box, whose sum starts at j, is U[r][i][j].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from jounce.dynamics.closed_form import BodyForm, _links_and_places
from jounce.model import Model

from .claims import Array
from .paper_a import Ad, ad, exp, inverse, skew


@dataclass
class Link:
    """A joint and the body that it moves.

    Attributes:
        placement: B_i, the body in the previous one at q_i = 0.
        X: (6,) its screw, in the body's frame.
        M: (6, 6) inertia of the body there, (12).
    """

    placement: Array
    X: Array
    M: Array


def inertia(mass: float, com: Array, rotational: Array) -> Array:
    """(12), with `rotational` about the centre of mass."""
    d = skew(com)
    return np.block([[rotational - mass * d @ d, mass * d], [-mass * d, mass * np.eye(3)]])


def links_of(robot: Model) -> list[Link]:
    """The links of an arm with revolute joints."""
    links = []
    for body in robot.bodies:
        X = np.append(body.joint.primitives()[0].axis, np.zeros(3))
        links.append(Link(body.placement, X, inertia(body.inertia.mass, body.inertia.com, body.inertia.rotational)))
    return links


def inverse_dynamics(links: Sequence[Link], gravity: Array, q: Array, v: Array, printed: bool = False) -> Array:
    """Q and its derivatives (r + 1, n), for a stack v (r + 2, n). Without gravity, nothing is computed for it.

    Args:
        printed: takes (20) with M_i D^(k) V_i.
    """
    n, rows = len(links), len(v) - 1
    dAd = _adjoints(links, q, v, rows)
    V = twists(links, q, v, dAd)
    G = _weight(gravity, dAd) if np.any(gravity) else None
    W: list[list[Any]] = [[None] * n for _ in range(rows)]
    for i in reversed(range(n)):
        M = links[i].M
        for k in range(rows):  # (20)
            rate = V[k if printed else k + 1, i]
            terms = [M @ (rate if G is None else rate + G[k][i])]
            terms += [-comb(k, r) * (ad(V[r, i]).T @ (M @ V[k - r, i])) for r in range(k + 1)]
            if i + 1 < n:
                terms += [comb(k, r) * (dAd[r][i + 1].T @ W[k - r][i + 1]) for r in range(k + 1)]
            W[k][i] = _sum(terms)
    return np.array([[links[i].X @ W[k][i] for i in range(n)] for k in range(rows)])


def _weight(gravity: Array, dAd: list[list[Array]]) -> list[list[Any]]:
    """The base's upward acceleration, carried to every body, and its derivatives."""
    rows, n = len(dAd) - 1, len(dAd[0])
    G: list[list[Any]] = [[None] * n for _ in range(rows)]
    for i in range(n):
        for k in range(rows):
            if i == 0:
                G[k][0] = dAd[k][0] @ np.append(np.zeros(3), -gravity)
            else:
                G[k][i] = _sum([comb(k, r) * (dAd[r][i] @ G[k - r][i - 1]) for r in range(k + 1)])
    return G


def twists(links: Sequence[Link], q: Array, v: Array, dAd: list[list[Array]] | None = None) -> Array:
    """Body-fixed twists and their derivatives (K, n, 6), for a stack v (K, n), by (9), (14), (15), (17) and (18)."""
    n, rows = len(links), len(v) - 1
    known = _adjoints(links, q, v, 0) if dAd is None else dAd
    B: list[list[list[Any]]] = [[[None] * n for _ in range(n)] for _ in range(rows + 1)]
    U: list[list[list[Any]]] = [[[None] * n for _ in range(n)] for _ in range(rows + 1)]
    for i in range(n):
        for j in range(i):
            B[0][i][j] = known[0][i] @ B[0][i - 1][j]
        B[0][i][i] = links[i].X
        for r in range(rows + 1):
            if r > 0:
                for j in range(i + 1):
                    terms = [comb(r - 1, k) * (ad(B[k][i][j]) @ U[r - 1 - k][i][j]) for k in range(r)]
                    B[r][i][j] = _sum(terms)
            for j in reversed(range(i + 1)):  # the sum over j <= a <= i, from the one for j + 1
                own = _sum([comb(r, k) * (B[k][i][j] * v[r - k, j]) for k in range(r + 1)])
                U[r][i][j] = own + U[r][i][j + 1] if j < i else own
    return np.array([[U[r][i][0] for i in range(n)] for r in range(rows + 1)])


def _adjoints(links: Sequence[Link], q: Array, v: Array, rows: int) -> list[list[Array]]:
    """Ad_{C_i,i-1} with its derivatives, by order and joint."""
    dAd = [[Ad(inverse(link.placement @ exp(link.X, x))) for link, x in zip(links, q, strict=True)]]
    for k in range(1, rows + 1):
        dAd.append(
            [
                -ad(link.X) @ _sum([comb(k - 1, r) * (dAd[r][i] * v[k - r - 1, i]) for r in range(k)])
                for i, link in enumerate(links)
            ]
        )
    return dAd


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


class ClosedForm(BodyForm):
    """Section III with the paper's own Coriolis matrix of the links, (30) and (45), in place of the passive one."""

    C = BodyForm.printed_C


def closed_form(robot: Model, q: Array, v: Array) -> ClosedForm:
    """The closed form of an arm whose joints have one coordinate each."""
    return ClosedForm(_links_and_places(robot, q, v)[0], v, robot.gravity)
