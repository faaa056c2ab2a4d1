"""How the work of paper A's algorithms grows with N and r, in operation counts: claims of A-fig3 and A-fig4.

Counts are exact and machine-independent. They are for the algorithms as printed, in spatial representation with 6 x 6
matrices, zeros included. The times in the figure are jounce's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import factorial

import numpy as np

from jounce import robots
from jounce.model import Model

from . import paper_a
from .claims import Array, Claim, judged, off
from .counting import as_counted, operations, values
from .graph import Graph, evaluated

KINDS = ("inverse", "forward")
_ALGORITHMS = {"inverse": "Algorithm 2", "forward": "Algorithm 3"}
PAPER = {  # µs, caption of Fig. 3
    "inverse": (2.326, 3.078, 2.867, 4.355, 5.960, 8.171),
    "forward": (4.106, 4.802, 6.486, 6.461, 8.589, 11.085),
}


def counted(robot: Model, order: int, zeros: bool = True) -> tuple[int, int]:
    """Operations of Algorithms 1 and 2 and of Algorithm 3 up to this order, at a random state.

    Args:
        zeros: whether operations on zeros, and products with ones, count.

    Raises:
        ArithmeticError: their results differ from the library's.
    """
    rng = np.random.default_rng(order)
    q, v = robot.random_configuration(rng), rng.normal(size=(order + 2, robot.nv))
    truth = robot.inverse_dynamics(q, v, frame="world")
    tree = paper_a.Tree.of(robot)
    tree.home, tree.M_b = [as_counted(x) for x in tree.home], [as_counted(x) for x in tree.M_b]
    tree.gravity = as_counted(tree.gravity)
    C = as_counted(robot.pose(robot.body_names[0], q))
    base, joints = as_counted(v[:, :6][:, paper_a.SWAP]), as_counted(np.vstack([q[7:], v[:, 6:]]))
    found: list[tuple[Array, Array]] = []
    inverse = operations(lambda: found.append(paper_a.inverse_dynamics(tree, C, base, joints, order)), zeros)
    wrench, tau = found[0]
    forward = operations(
        lambda: found.append(paper_a.forward_dynamics(tree, C, base[0], joints[:2], wrench, tau)), zeros
    )
    errors = [off(values(tau), truth[:, 6:]), off(values(found[1][0][0]), v[1, :6][paper_a.SWAP])]
    if max(errors) > 1e-8:
        raise ArithmeticError(f"paper A's algorithms and jounce's differ by {max(errors):.1e} at order {order}")
    return inverse, forward


def over_bodies(orders: Sequence[int]) -> list[Claim]:
    """Section 7: linear in N."""
    links = (1, 2, 3, 4)
    counts = np.array([[counted(robots.aerial_manipulator(5, n), r) for n in links] for r in orders])  # (r, N, kind)
    claims = []
    for i, (kind, figure) in enumerate(zip(KINDS, "ab", strict=True)):
        steps = np.diff(counts[..., i], axis=1)
        claims.append(
            judged(
                f"At a fixed order, {kind} dynamics is O(N): operations that each body more takes, r = {orders[0]} to "
                f"{orders[-1]}, counted in {_ALGORITHMS[kind]}; the same from N = 6 to 11, to 16 and to 21",
                f"A, section 7, Fig. 4({figure})", "O(N)", (steps[:, 0] // 5).tolist(),
                bool((steps == steps[:, :1]).all()),
            )
        )  # fmt: skip
    return claims


def over_order(most: int, bodies: int) -> tuple[list[Claim], Array]:
    """Section 7: quadratic in r; and the counts (r + 1, kind) at N = `bodies`, from two sizes, as they are linear."""
    small, next_ = (np.array([counted(robots.aerial_manipulator(5, n), r) for r in range(most + 1)]) for n in (1, 2))
    counts = small + (next_ - small) * ((bodies - 6) // 5)
    claims = []
    for i, (kind, figure) in enumerate(zip(KINDS, "ab", strict=True)):
        n = counts[:, i]
        second = np.diff(n, 2)
        c = int(second[0]) / 2
        b = int(n[1] - n[0]) - c
        claims.append(
            judged(
                f"At N = {bodies}, {kind} dynamics is O(r^2): operations of {_ALGORITHMS[kind]}, counted, r = 0 to "
                f"{most}",
                f"A, abstract and section 7, Fig. 4({figure})", "O(r^2)", f"{n[0]} + {b:.0f} r + {c:.0f} r²",
                bool((second == second[0]).all() and second[0] > 0), "Third differences are zero: exactly quadratic.",
            )
        )  # fmt: skip
    return claims, counts


def tractable() -> Claim:
    robot = robots.aerial_manipulator()
    growth = [high / low for low, high in zip(counted(robot, 0), counted(robot, 5), strict=True)]
    paper = [times[-1] / times[0] for times in PAPER.values()]
    return judged(
        "The computations remain highly tractable as the order increases: operations at r = 5 over those at r = 0, "
        "Algorithms 2 and 3 (the paper: times)",
        "A, section 1 and caption of Fig. 3", ", ".join(f"{x:.1f}" for x in paper), growth, max(growth) < 3**5 / 10,
        "Repeated automatic differentiation multiplies by 3 at each order, by 243 at r = 5.",
    )  # fmt: skip


def differentiation(most: int) -> list[Claim]:
    """Fig. 4(c): the graph of repeated differentiation, against Algorithm 2."""
    robot = robots.aerial_manipulator()
    repeated, simplified = (graph_sizes(robot, most, shared) for shared in (False, True))
    factors = [b / a for a, b in pairwise(repeated)]
    ours = [counted(robot, r)[0] for r in range(most + 1)]
    falling = [b / a for a, b in pairwise(simplified)]
    return [
        judged(
            f"Repeated automatic differentiation grows exponentially with r: factor an order of the number of "
            f"operations in its graph, N = 7, r to {most}",
            "A, abstract and section 7, Fig. 4(c)", "exponential", factors,
            min(factors) > 2.5 and factors[-1] >= factors[0],
            f"{repeated[0]} operations at r = 0, {repeated[-1]} at r = {most}.",
        ),
        judged(
            "The algorithms scale better than automatic differentiation, also where its graph has nothing twice: "
            f"operations at r = {most} over those at r = 0, Algorithm 2, repeated differentiation, and that simplified",
            "A, section 8", "better",
            [ours[-1] / ours[0], repeated[-1] / repeated[0], simplified[-1] / simplified[0]],
            1.5 * ours[-1] / ours[0] < simplified[-1] / simplified[0],
            f"Simplified, the graph grows by {falling[0]:.1f} at first and by {falling[-1]:.1f} at last: no longer "
            "exponentially.",
        ),
    ]  # fmt: skip


def graph_sizes(robot: Model, most: int, shared: bool) -> list[int]:
    """Operations in the graph of the r-th time derivative of the inverse dynamics of a motion, r = 0, 1, ...

    Raises:
        ArithmeticError: the last derivative differs from the library's.
    """
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=(most + 2, robot.nv))
    truth = robot.inverse_dynamics(q, v, frame="world")[-1]
    graph = Graph(shared)
    t = graph.variable()

    def along(stack: Array) -> Array:
        """The polynomial in t with these derivatives."""
        result = np.empty(stack[0].shape, dtype=object)
        for at in np.ndindex(*result.shape):
            y = stack[-1][at] / factorial(len(stack) - 1)
            for k in reversed(range(len(stack) - 1)):
                y = t * y + stack[k][at] / factorial(k)
            result[at] = y
        return result

    base, joints = v[:, :6][:, paper_a.SWAP], np.vstack([q[7:], v[:, 6:]])
    C = along(robot.pose_derivatives(q, v[: most + 1], frames=[0], frame="world")[: most + 1, 0])
    V, Q = np.array([along(base[k : k + most + 1]) for k in range(2)]), [along(joints[k:]) for k in range(3)]
    wrench, tau = paper_a.inverse_dynamics(paper_a.Tree.of(robot), C, V, np.array(Q), 0)
    y = [*wrench[0], *tau[0]]
    sizes = [graph.size(y)]
    for _ in range(most):
        y = graph.derivative(y, t)
        sizes.append(graph.size(y))
    error = off(evaluated(y, {id(t): 0.0}), np.concatenate([truth[:6][paper_a.SWAP], truth[6:]]))
    if error > 1e-9:
        raise ArithmeticError(f"the graph and jounce differ by {error:.1e} at order {most}")
    return sizes
