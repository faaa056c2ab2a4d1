"""How times grow with the number of bodies and with the order: claims of A-fig4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .claims import Array, Claim, judged, unchecked

KINDS = ("inverse", "forward")
CASADI, SIMPLIFIED = "CasADi", "CasADi, cse"


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
                where = "" if peer["status"] == "not installed" else f" at N = {bodies}, r = {order}"
                self.missing.setdefault(peer["peer"], f"{peer['status']}{where}: {peer.get('why', '')}")

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


def _exponent(x: Array, y: Array) -> float:
    """Of y in x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def _misfit(x: Array, y: Array, exponential: bool = False) -> float:
    """The largest relative error of a quadratic fit, or of an exponential one, all points weighted alike."""
    if exponential:
        return float(np.abs(np.exp(np.polyval(np.polyfit(x, np.log(y), 1), x)) / y - 1).max())
    return float(np.abs(np.polyval(np.polyfit(x, y, 2, w=1 / y), x) / y - 1).max())


def scaling(times: Times, orders: Sequence[int], large: int) -> list[Claim]:
    claims = []
    for kind, figure in zip(KINDS, "ab", strict=True):
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
    for kind, figure in zip(KINDS, "ab", strict=True):
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


def differentiation(times: Times, large: int) -> list[Claim]:
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
    if times.absent(CASADI):
        return [
            unchecked(text, at, "", f"CasADi is {times.missing[CASADI]}") for text, at in zip(texts, where, strict=True)
        ]
    r, t = times.over_order(CASADI, "inverse", large)
    ours = np.array([times.found["jounce", "inverse", large, int(k)] for k in r])
    factor = float(np.exp(np.polyfit(r, np.log(t), 1)[0]))
    fits = [f"{100 * _misfit(r, t, exponential):.0f} %" for exponential in (True, False)]
    _, simplified = times.over_order(SIMPLIFIED, "inverse", large)
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


def pinocchio(times: Times) -> Claim:
    text = (
        "The scaling is on par with packages such as Pinocchio: exponents in N at r = 0, jounce and Pinocchio, "
        "inverse and "
        "then forward dynamics"
    )
    if times.absent("Pinocchio"):
        return unchecked(text, "A, section 7", "", f"Pinocchio is {times.missing['Pinocchio']}")
    slopes = []
    for kind in KINDS:
        n, theirs = times.over_bodies("Pinocchio", kind, 0)
        ours = np.array([times.found["jounce", kind, int(size), 0] for size in n])
        slopes += [_exponent(n[-3:], ours[-3:]), _exponent(n[-3:], theirs[-3:])]
    return judged(text, "A, section 7", "on par", slopes, slopes[0] < slopes[1] + 0.25 and slopes[2] < slopes[3] + 0.25)
