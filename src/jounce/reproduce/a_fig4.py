"""A-fig4: paper A's benchmark, time over the number of bodies and over the order, with the races of `jounce.bench`."""

from __future__ import annotations

import timeit
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import robots
from ..bench.cases import Case
from ..bench.run import raced
from ..bench.subjects import tree_name
from ..style import COLOURS, DASHES, GREY, picture, tidy
from .a_scaling import CASADI, KINDS, SIMPLIFIED, Times, differentiation, pinocchio, scaling
from .claims import Array, Claim, Result, Tell, judged, silent, unchecked, write_csv


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Fig. 4(a) to (c), on fewer sizes than the paper's hundred."""
    bodies = (6, 21, 101) if quick else (6, 21, 51, 101, 201, 501, 996)
    orders = (0, 2) if quick else tuple(range(6))
    large, most = (21, 4) if quick else (101, 10)
    jobs: list[tuple[str, int, int, tuple[str, ...]]] = []
    jobs += [(kind, n, r, ("Pinocchio",) if r == 0 else ()) for kind in KINDS for n in bodies for r in orders]
    jobs += [(kind, large, r, ()) for kind in KINDS for r in range(most + 1) if r not in orders]
    jobs += [("inverse", large, r, (CASADI, SIMPLIFIED)) for r in range(2 if quick else 5)]
    jobs += [("inverse", 7, r, (CASADI, SIMPLIFIED)) for r in range(2 if quick else 7)]
    times = Times()
    for i, (kind, n, r, peers) in enumerate(jobs):
        tell(0.95 * i / len(jobs), f"{kind} dynamics, N = {n}, r = {r}")
        times.add(kind, n, r, raced(Case(f"{kind} dynamics", tree_name(n), r, peers), 0.01 if quick else 0.1))
    tell(0.95, "figure")
    path = output / "A-fig4.png"
    sizes = ", ".join(map(str, bodies))
    _draw(times, orders, large, path)
    rows = ([*key, t] for key, t in sorted(times.found.items()))
    return Result(
        claims=[
            *scaling(times, orders, large),
            *differentiation(times, large),
            pinocchio(times),
            _articulated_body(quick),
            *_words(),
        ],
        left_out=[
            ("how five branches are arranged on the base", "evenly on the circle on which the two are"),
            ("the random inputs", "normal, with seed 1; the pose of the base is random, too, not the identity"),
            ("the sweep is reduced", f"N = {sizes} for 100 sizes; the best of many samples for the mean of 1000"),
            ("CasADi's forward dynamics", "left out: its inverse dynamics is raced, with the paper's graph"),
        ],
        figures=[(path, "Fig. 4: time of a call over the number of bodies and over the order, and of CasADi's graph.")],
        data=[write_csv(output / "A-fig4.csv", ["who", "kind", "bodies", "order", "microseconds"], rows)],
        notes=[f"{who} is {why}." for who, why in times.missing.items()],
    )  # fmt: skip


def _articulated_body(quick: bool) -> Claim:
    """Forward dynamics by articulated inertias against solving with the mass matrix."""
    ratios, sizes = [], (1, 4) if quick else (1, 4, 20, 40)
    rng = np.random.default_rng(0)
    for links in sizes:
        robot = robots.aerial_manipulator(5, links)
        q, v, tau = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)

        def solved(q: Array = q, v: Array = v, tau: Array = tau, robot: Any = robot) -> Array:
            return np.linalg.solve(robot.mass_matrix(q), tau - robot.bias_force(q, v))

        def recursive(q: Array = q, v: Array = v, tau: Array = tau, robot: Any = robot) -> Array:
            return np.asarray(robot.forward_dynamics(q, v, tau))

        slow, fast = (min(timeit.repeat(f, number=5, repeat=100)) for f in (solved, recursive))
        ratios.append(slow / fast)
    return judged(
        "The articulated-body algorithm is the fastest for trees of N >= 6: times as fast as solving with the mass "
        "matrix "
        f"(LAPACK), N = {', '.join(str(1 + 5 * n) for n in sizes)}",
        "A, section 5, citing [7]", "> 1", ratios, min(ratios) > 1,
    )  # fmt: skip


def _words() -> list[Claim]:
    return [
        unchecked(
            "Spatial screws allow a more compact formulation than body-fixed ones",
            "A, section 5", "", "Compactness has no number. jounce computes in body frames.",
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
                ax.loglog(n, t, color=COLOURS[i], ls=DASHES[i], marker="o", ms=3, lw=1.2, label=f"$r = {r}$")
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
            ("jounce", large, COLOURS[0], "-", "o"),
            (CASADI, large, COLOURS[3], "-", "^"),
            (SIMPLIFIED, large, COLOURS[3], "-.", "<"),
        ]
        for who, bodies, colour, dashes, marker in lines:
            x, t = times.over_order(who, "inverse", bodies)
            if len(x):
                label = {"jounce": "jounce", CASADI: "CasADi, repeated jtimes", SIMPLIFIED: "CasADi, with cse"}[who]
                right.plot(x, t, color=colour, ls=dashes, marker=marker, ms=3.5, lw=1.3, label=label)
        right.set_yscale("log")
        left.set_yscale("log")
        tidy(right, "order $r$", "", f"(c) inverse dynamics, $N = {large}$")
        for ax in (left, right):
            ax.margins(x=0.04)
            ax.legend(frameon=False, fontsize=7)
        for row in axes:
            row[0].set_ylabel("µs a call")
