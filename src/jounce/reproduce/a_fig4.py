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
from .claims import Array, Claim, Result, Tell, judged, silent, unchecked, write_csv

_KINDS = ("inverse", "forward")
_CASADI, _SIMPLIFIED = "CasADi", "CasADi, cse"


class Times:
    """Microseconds of a call, by who, kind, bodies and order; and why somebody is missing."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, int, int], float] = {}
        self.missing: dict[str, str] = {}

    def add(self, kind: str, bodies: int, order: int, result: dict[str, Any]) -> None:
        self.found["jounce", kind, bodies, order] = result["microseconds"]
        for peer in result["peers"]:
            if peer["status"] == "raced":
                self.found[peer["peer"], kind, bodies, order] = peer["microseconds"]
            else:
                self.missing.setdefault(
                    peer["peer"], f"{peer['status']} at N = {bodies}, r = {order}: {peer.get('why', '')}"
                )

    def absent(self, who: str) -> bool:
        """Whether somebody took part in no race."""
        return not any(name == who for name, *_ in self.found)

    def over_bodies(self, who: str, kind: str, order: int) -> tuple[Array, Array]:
        """N and µs, of the trees with five branches."""
        return self._line(
            [(n, t) for (w, k, n, r), t in self.found.items() if (w, k, r) == (who, kind, order) and n != 7]
        )

    def over_order(self, who: str, kind: str, bodies: int) -> tuple[Array, Array]:
        """r and µs."""
        return self._line([(r, t) for (w, k, n, r), t in self.found.items() if (w, k, n) == (who, kind, bodies)])

    @staticmethod
    def _line(points: list[tuple[int, float]]) -> tuple[Array, Array]:
        ordered = np.array(sorted(points), dtype=float).reshape(-1, 2)
        return ordered[:, 0], ordered[:, 1]


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Fig. 4(a) to (c), on fewer sizes than the paper's hundred."""
    bodies = (6, 21, 101) if quick else (6, 21, 51, 101, 201, 501, 996)
    orders = (0, 2) if quick else tuple(range(6))
    large, most = (21, 4) if quick else (101, 10)
    jobs: list[tuple[str, int, int, tuple[str, ...]]] = []
    jobs += [(kind, n, r, ("Pinocchio",) if r == 0 else ()) for kind in _KINDS for n in bodies for r in orders]
    jobs += [(kind, large, r, ()) for kind in _KINDS for r in range(most + 1) if r not in orders]
    jobs += [("inverse", large, r, (_CASADI, _SIMPLIFIED)) for r in range(2 if quick else 5)]
    jobs += [("inverse", 7, r, (_CASADI, _SIMPLIFIED)) for r in range(2 if quick else 7)]
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
            *_scaling(times, orders, large),
            *_differentiation(times, large),
            _pinocchio(times),
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
        notes=[f"{who}: {why}." for who, why in times.missing.items()],
    )  # fmt: skip


def _exponent(x: Array, y: Array) -> float:
    """Of y in x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _misfit(x: Array, y: Array, exponential: bool = False) -> float:
    """The largest relative error of a quadratic fit, or of an exponential one, all points weighted alike."""
    if exponential:
        return float(np.abs(np.exp(np.polyval(np.polyfit(x, np.log(y), 1), x)) / y - 1).max())
    return float(np.abs(np.polyval(np.polyfit(x, y, 2, w=1 / y), x) / y - 1).max())


def _scaling(times: Times, orders: Sequence[int], large: int) -> list[Claim]:
    claims = []
    for kind, figure in zip(_KINDS, "ab", strict=True):
        slopes = []
        for r in orders:
            n, t = times.over_bodies("jounce", kind, r)
            slopes.append(_exponent(n[-4:], t[-4:]))
        claims.append(
            judged(
                f"At a fixed order, the time of {kind} dynamics grows linearly with N: exponents at the upper end, r = "
                f"{orders[0]} to {orders[-1]}",
                f"A, section 7, Fig. 4({figure})", "1", slopes, max(slopes) < 1.3,
            )
        )  # fmt: skip
    for kind, figure in zip(_KINDS, "ab", strict=True):
        x, t = times.over_order("jounce", kind, large)
        exponent = _exponent(x[2:] + 1, t[2:])
        claims.append(
            judged(
                f"At N = {large}, the time of {kind} dynamics grows quadratically with r: exponent in r + 1 to r = "
                f"{int(x[-1])}, and how far a "
                "quadratic fit is off",
                f"A, abstract and section 7, Fig. 4({figure})", "2", [exponent, f"{100 * _misfit(x, t):.0f} %"],
                exponent < 2.3, "Less: the quadratic part is small next to the rest." if exponent < 1.7 else "",
            )
        )  # fmt: skip
    return claims


def _differentiation(times: Times, large: int) -> list[Claim]:
    texts = (
        f"Repeated jtimes grows exponentially with r: factor an order at N = {large}, and how far an exponential and a "
        "quadratic fit are off",
        "The algorithms become significantly faster than automatic differentiation as the order increases: times as "
        "fast, "
        "r = 0 and on",
        "They scale better than automatic differentiation, also where its graph is simplified (cse) after each "
        "jtimes: time "
        "at the highest r over that at r = 0, jounce and CasADi with cse",
    )
    where = "A, abstract and section 7, Fig. 4(c)", "A, caption of Fig. 4", "A, section 8"
    if times.absent(_CASADI):
        return [
            unchecked(text, at, "", f"CasADi is {times.missing[_CASADI]}")
            for text, at in zip(texts, where, strict=True)
        ]
    r, t = times.over_order(_CASADI, "inverse", large)
    ours = np.array([times.found["jounce", "inverse", large, int(k)] for k in r])
    factor = float(np.exp(np.polyfit(r, np.log(t), 1)[0]))
    fits = [f"{100 * _misfit(r, t, exponential):.0f} %" for exponential in (True, False)]
    _, simplified = times.over_order(_SIMPLIFIED, "inverse", large)
    growth = simplified[1:] / simplified[:-1]
    return [
        judged(texts[0], where[0], "exponential", [factor, *fits], factor > 2),
        judged(texts[1], where[1], "significantly", (t / ours).tolist(), bool(t[-1] / ours[-1] > t[0] / ours[0] > 1)),
        judged(
            texts[2],
            where[2],
            "better",
            [float(ours[-1] / ours[0]), float(simplified[-1] / simplified[0])],
            bool(ours[-1] / ours[0] < simplified[-1] / simplified[0]),
            "What grows exponentially is the graph of repeated jtimes, which has most of itself many times over; "
            "simplified "
            f"after each it grows by {growth[0]:.1f} at first and by {growth[-1]:.1f} at last, no longer "
            "exponentially.",
        ),
    ]


def _pinocchio(times: Times) -> Claim:
    text = (
        "The scaling is on par with packages such as Pinocchio: exponents in N at r = 0, jounce and Pinocchio, "
        "inverse and "
        "then forward dynamics"
    )
    if times.absent("Pinocchio"):
        return unchecked(text, "A, section 7", "", f"Pinocchio is {times.missing['Pinocchio']}")
    slopes = []
    for kind in _KINDS:
        n, theirs = times.over_bodies("Pinocchio", kind, 0)
        ours = np.array([times.found["jounce", kind, int(size), 0] for size in n])
        slopes += [_exponent(n[-3:], ours[-3:]), _exponent(n[-3:], theirs[-3:])]
    return judged(text, "A, section 7", "on par", slopes, slopes[0] < slopes[1] + 0.25 and slopes[2] < slopes[3] + 0.25)


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
        for ax, kind, letter in zip(axes[0], _KINDS, "ab", strict=True):
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
        for i, kind in enumerate(_KINDS):
            x, t = times.over_order("jounce", kind, large)
            left.plot(x, t, color=COLOURS[i], ls=DASHES[i], marker="o", ms=3.5, lw=1.3, label=f"{kind} dynamics")
        tidy(left, "order $r$", "", f"(a, b) over the order, $N = {large}$")
        lines = [
            ("jounce", large, COLOURS[0], "-", "o"),
            (_CASADI, large, COLOURS[3], "-", "^"),
            (_SIMPLIFIED, large, COLOURS[3], "-.", "<"),
        ]
        for who, bodies, colour, dashes, marker in lines:
            x, t = times.over_order(who, "inverse", bodies)
            if len(x):
                label = {"jounce": "jounce", _CASADI: "CasADi, repeated jtimes", _SIMPLIFIED: "CasADi, with cse"}[who]
                right.plot(x, t, color=colour, ls=dashes, marker=marker, ms=3.5, lw=1.3, label=label)
        right.set_yscale("log")
        left.set_yscale("log")
        tidy(right, "order $r$", "", f"(c) inverse dynamics, $N = {large}$")
        for ax in (left, right):
            ax.margins(x=0.04)
            ax.legend(frameon=False, fontsize=7)
        for row in axes:
            row[0].set_ylabel("µs a call")
