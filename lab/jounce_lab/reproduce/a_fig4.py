"""A-fig4: paper A's benchmark, time over the number of bodies and over the order: races of `jounce_lab.bench`."""

from __future__ import annotations

import importlib.util
import timeit
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jounce._core import num_threads, set_num_threads

from jounce import robots
from jounce.display.style import COLOURS, DASHES, GREY, picture, tidy

from ..bench.cases import Case
from ..bench.peers import PEERS
from ..bench.run import raced
from ..bench.subjects import tree_name
from . import a_axes, a_casadi, a_operations
from .a_authors import Authors
from .a_operations import differentiation, over_bodies, over_order
from .a_scaling import AUTHORS, BODY, CASADI, KINDS, SIMPLIFIED, Times, exponent, faster, pinocchio, published
from .claims import Array, Claim, Result, Tell, judged, silent, unchecked, write_csv

_FORWARD_IN_BODY_AXES = 38_014  # operations, N = 7, r = 5: docs/performance.md
_Job = tuple[str, int, int, tuple[str, ...]]  # kind, N, r, peers


def run(
    output: Path, quick: bool = False, tell: Tell = silent, full: bool = False, authors: Path | None = None
) -> Result:
    """Fig. 4(a) to (c).

    Args:
        full: CasADi's forward dynamics as well, its inverse dynamics at N = 7 to r = 8 (5 GiB of memory), and the
            size of its graphs at N = 101 to r = 8.
        authors: a clone of the paper's published code, to be built and raced.
    """
    peers = dict(PEERS)
    if authors is not None:
        peers[AUTHORS] = Authors(authors)
    bodies: Sequence[int] = (
        (6, 21, 101) if quick else sorted((*range(6, 997, 10), 101))
    )  # Table 4's hundred sizes, and that of (c)
    orders = (0, 2) if quick else tuple(range(6))
    large, most = (21, 4) if quick else (101, 10)
    jobs = list(_jobs(bodies, orders, large, most, quick, full))
    if authors is not None:
        jobs += [(kind, n, r, (AUTHORS,)) for kind in KINDS for n, r in ((7, 0), (7, 5), (large, 5), (bodies[-1], 5))]
    times = Times()
    for i, (kind, n, r, who) in enumerate(jobs):
        tell(0.85 * i / len(jobs), f"{kind} dynamics, N = {n}, r = {r}")
        seconds = 0.005 if quick or not who else 0.1
        times.add(kind, n, r, raced(Case(f"{kind} dynamics", tree_name(n), r, who), seconds, peers))
    tell(0.85, "counting operations")
    quadratic, counts = over_order(most, 101)
    claims = [
        *over_bodies(orders),
        *quadratic,
        *differentiation(3 if quick else 4),
        faster(times, large),
        pinocchio(times),
        _articulated_body(quick),
        *published(times),
        *_words(),
    ]
    figures = []
    if full and not quick and importlib.util.find_spec("casadi") is not None:
        graphs = {kind: a_casadi.instructions(kind, lambda what: tell(0.9, what)) for kind in KINDS}
        claims += a_casadi.claims(graphs, counts)
        caption = "Fig. 4(c): instructions of differentiated graphs at the paper's sizes, operations of its algorithms."
        figures.append((a_casadi.draw(graphs, counts, output / "A-fig4c.png"), caption))
    tell(0.97, "figure")
    path = output / "A-fig4.png"
    _draw(times, orders, large, path)
    rows = ([*key, t] for key, t in sorted(times.found.items()))
    columns = ["order", "inverse", "forward"]
    return Result(
        claims=claims,
        left_out=[
            ("how five branches are arranged on the base", "evenly on the circle on which the two are"),
            ("the random inputs", "normal, with seed 1; the pose of the base is random, too, not the identity"),
            ("the mean of 1000 calls", "the best of many samples, which other work on the machine disturbs least"),
            ("CasADi's graph of forward dynamics", "in body axes, with --full only; of inverse dynamics the paper's"),
        ],
        figures=[
            (path, "Fig. 4: time of a call over the number of bodies and over the order, and of CasADi's graph."),
            *figures,
        ],
        data=[
            write_csv(output / "A-fig4.csv", ["who", "kind", "bodies", "order", "microseconds"], rows),
            write_csv(output / "A-fig4-operations.csv", columns, ([r, *n] for r, n in enumerate(counts))),
        ],
        notes=[_growth(times, orders, large), *(f"{who} is {why}." for who, why in times.missing.items())],
    )  # fmt: skip


def _jobs(
    bodies: Sequence[int], orders: Sequence[int], large: int, most: int, quick: bool, full: bool
) -> Iterator[_Job]:
    """Races, grouped by size, so that each model is made only once."""
    some = set(bodies[::10]) | {bodies[1], bodies[-1], large}
    for n in bodies:
        for kind in KINDS:
            for r in orders:
                yield kind, n, r, ("Pinocchio",) if r == 0 and (quick or n in some) else ()
    for kind in KINDS:
        for r in range(most + 1):
            if r not in orders:
                yield kind, large, r, ()
    for n, highest in ((large, 1 if quick else 4), (7, 1 if quick else 6)):
        for r in range(highest + 1):
            yield "inverse", n, r, (CASADI, SIMPLIFIED)
    if full:
        for r in (7, 8):
            yield "inverse", 7, r, (CASADI,)
        for n, highest in ((large, 3), (7, 5)):
            for r in range(highest + 1):
                yield "forward", n, r, (BODY, SIMPLIFIED)


def _growth(times: Times, orders: Sequence[int], large: int) -> str:
    """The measured growth of jounce's own times."""
    parts = []
    for kind in KINDS:
        slopes = [exponent(*(x[-len(x) // 2 :] for x in times.over_bodies("jounce", kind, r))) for r in orders]
        r, t = times.over_order("jounce", kind, large)
        parts.append(
            f"{kind} dynamics {min(slopes):.2f} to {max(slopes):.2f} in N, {exponent(r[2:] + 1, t[2:]):.2f} in r + 1"
        )
    return f"Exponents of jounce's own times: {'; '.join(parts)}. Fixed costs and vectors hide the quadratic part."


def _articulated_body(quick: bool) -> Claim:
    """Forward dynamics by articulated inertias against solving with the mass matrix, in batches, on one thread."""
    ratios, sizes = [], (1, 4) if quick else (1, 4, 20, 40)
    rng, states = np.random.default_rng(0), 128
    before = num_threads()
    set_num_threads(1)
    try:
        for links in sizes:
            robot = robots.aerial_manipulator(5, links)
            q = robot.random_configuration(rng, (states,))
            v, tau = rng.normal(size=(2, states, robot.nv))

            def solved(q: Array = q, v: Array = v, tau: Array = tau, robot: Any = robot) -> Array:
                return np.linalg.solve(robot.mass_matrix(q), (tau - robot.bias_force(q, v))[..., None])

            def recursive(q: Array = q, v: Array = v, tau: Array = tau, robot: Any = robot) -> Array:
                return np.asarray(robot.forward_dynamics(q, v, tau))

            slow, fast = (min(timeit.repeat(f, number=1, repeat=20)) for f in (solved, recursive))
            ratios.append(slow / fast)
    finally:
        set_num_threads(before)
    return judged(
        "The articulated-body algorithm is the fastest for trees of N >= 6: times as fast as solving with the mass "
        f"matrix (LAPACK), in batches of {states}, N = {', '.join(str(1 + 5 * n) for n in sizes)}",
        "A, section 5, citing Featherstone", "> 1", ratios, min(ratios) > 1.2,
        "Asked is a factor of 1.2. Other ways, such as sparse factorizations, were not tried.",
    )  # fmt: skip


def _words() -> list[Claim]:
    counted, robot = a_axes.compared(), robots.aerial_manipulator()
    in_world = a_operations.counted(robot, 5, zeros=False)[1]
    return [
        judged(
            "Spatial screws allow a more compact formulation than body-fixed ones",
            "A, section 5", "more compact",
            "operations of inverse dynamics, N = 7, r = 5: "
            + ", ".join(f"{made} in {frame} axes" for frame, made in counted.items()),
            True, f"In operations, body axes are the compact ones, {counted['world'] / counted['body']:.1f} times, in "
            "formulas that use what each frame makes easy (a_axes.py), which section 8 leaves as future work. By the "
            "core's recursion and its like in world axes they are 14,023 and 43,951, docs/performance.md.",
            reading="Compact as formulas: Algorithms 2 and 3 transform nothing from one body's frame to another's.",
        ),
        judged(
            "A comparison with body-frame formulations shows trade-offs: operations of forward dynamics, N = 7, r = 5",
            "A, section 8 (left as future work there)", "",
            f"{_FORWARD_IN_BODY_AXES} in body axes, {in_world} in world axes",
            in_world > 1.5 * _FORWARD_IN_BODY_AXES,
            "In body axes by the core, docs/performance.md; in world axes by Algorithm 3, without those on zeros.",
        ),
        unchecked(
            "The methods are preferable over automatic differentiation since they converge faster",
            "A, section 8", "", "Nothing in them iterates, so nothing converges; that they scale better is above.",
        ),
    ]  # fmt: skip


def _draw(times: Times, orders: Sequence[int], large: int, path: Path) -> None:
    with picture(path, 2, 2, figsize=(7.5, 5.4), sharey="row") as (_, axes):
        for ax, kind, letter in zip(axes[0], KINDS, "ab", strict=True):
            for i, r in enumerate(orders):
                n, t = times.over_bodies("jounce", kind, r)
                ax.loglog(n, t, color=COLOURS[i], ls=DASHES[i], lw=1.2, label=f"$r = {r}$")
            n, t = times.over_bodies("Pinocchio", kind, 0)
            if len(n):
                ax.loglog(n, t, color=GREY, marker="s", ms=3, lw=1, label="Pinocchio, $r = 0$")
            tidy(ax, "bodies $N$", "", f"({letter}) {kind} dynamics")
            ax.margins(x=0.04)
            ax.legend(frameon=False, fontsize=7)
        left, right = axes[1]
        for i, kind in enumerate(KINDS):
            x, t = times.over_order("jounce", kind, large)
            left.plot(x, t, color=COLOURS[i], ls=DASHES[i], marker="o", ms=3.5, lw=1.3, label=f"{kind} dynamics")
        tidy(left, "order $r$", "", f"(a, b) over the order, $N = {large}$")
        lines = [
            ("jounce", "inverse", COLOURS[0], "-", "o", "jounce"),
            (CASADI, "inverse", COLOURS[3], "-", "^", "CasADi, repeated jtimes"),
            (SIMPLIFIED, "inverse", COLOURS[3], "-.", "<", "CasADi, with cse"),
            (BODY, "forward", COLOURS[2], ":", "v", "CasADi, forward dynamics"),
        ]
        for who, kind, colour, dashes, marker, label in lines:
            x, t = times.over_order(who, kind, large)
            if len(x):
                right.plot(x, t, color=colour, ls=dashes, marker=marker, ms=3.5, lw=1.3, label=label)
        right.set_yscale("log")
        left.set_yscale("log")
        tidy(right, "order $r$", "", f"(c) inverse dynamics, $N = {large}$")
        for ax in (left, right):
            ax.margins(x=0.04)
            ax.legend(frameon=False, fontsize=7)
        for row in axes:
            row[0].set_ylabel("µs a call")
