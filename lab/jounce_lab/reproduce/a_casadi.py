"""Paper A's Fig. 4(c) at its sizes, N = 101 and r = 0 to 8, in instructions of CasADi's graphs: for A-fig4 --full.

At r = 8 such a graph has some 5e8 instructions, and takes tens of gigabytes. But each further branch adds the same
number of them, and so does each further turn of a branch's three axes. So those of five branches of twenty links follow
exactly from those of one and two branches of two and five; at low orders this is compared with the graph itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from jounce import robots
from jounce.display.style import BLUE, GREEN, ORANGE, picture, tidy

from .claims import Array, Claim, judged

ORDERS = range(9)
BODIES = 101  # 5 branches of 20 links
_CHECKED = 2  # up to this order, the graph itself is counted, too


def instructions(kind: str, tell: Callable[[str], None] = lambda _: None) -> list[int]:
    """Of the derivatives of order 0 to 8, at N = 101; `kind` is "inverse" or "forward".

    Raises:
        ArithmeticError: the graph at N = 101 has another number at a low order.
    """
    found = []
    for order in ORDERS:
        tell(f"CasADi's graph of {kind} dynamics, r = {order}")
        one, two = (
            _of(kind, branches, 2, order) + 6 * (_of(kind, branches, 5, order) - _of(kind, branches, 2, order))
            for branches in (1, 2)
        )
        found.append(one + 4 * (two - one))
        if order <= _CHECKED and found[-1] != (whole := _of(kind, 5, 20, order)):
            raise ArithmeticError(f"CasADi's graph of {kind} dynamics has {whole} instructions, not {found[-1]}")
    return found


def _of(kind: str, branches: int, links: int, order: int) -> int:
    from ..bench.peers import casadi as peer

    robot = robots.aerial_manipulator(branches, links)
    if kind == "inverse":
        return int(peer._spatial_function(robot, order).n_instructions())
    return int(peer._body_function.__wrapped__(robot, "forward dynamics", order, False).n_instructions())


def claims(counts: dict[str, list[int]], ours: Array) -> list[Claim]:
    """Exponential, against the operations of Algorithms 2 and 3, `ours` (r + 1, 2), which are quadratic."""
    result = []
    for column, (kind, made) in enumerate(counts.items()):
        factors = [b / a for a, b in pairwise(made)]
        last = len(made) - 1
        result.append(
            judged(
                f"Fig. 4(c) at its sizes: instructions of CasADi's {kind} dynamics differentiated r times grow "
                f"exponentially, N = {BODIES}, r = 0 to {last}: smallest and largest factor an order",
                "A, section 7, Fig. 4(c), Table 4", "exponential", [min(factors), max(factors)], min(factors) > 2,
                f"{made[0]} instructions at r = 0, {made[-1]:.1e} at r = {last}; Algorithm {2 + column} takes "
                f"{ours[last, column] / ours[0, column]:.0f} times as many operations as at r = 0.",
            )
        )  # fmt: skip
    return result


def draw(counts: dict[str, list[int]], ours: Array, path: Path) -> Path:
    """Over the order, with the operations of Algorithms 2 and 3."""
    with picture(path, figsize=(6.0, 3.4)) as (_, ax):
        r: Any = list(ORDERS)
        for i, (kind, made) in enumerate(counts.items()):
            colour, dashes = (ORANGE, GREEN)[i], ("-", "--")[i]
            ax.semilogy(r, made, color=colour, ls=dashes, marker="^", ms=3.5, label=f"CasADi, {kind} dynamics")
            ax.semilogy(r, ours[: len(r), i], color=BLUE, ls=dashes, marker="o", ms=3, label=f"Algorithm {2 + i}")
        tidy(ax, "order $r$", "operations", f"Fig. 4(c), $N = {BODIES}$")
        ax.legend(frameon=False, fontsize=7)
    return path
