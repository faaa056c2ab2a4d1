"""Times over the number of bodies and over the order: claims of A-fig4 that only a race can judge, with margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from .claims import Array, Claim, judged, unchecked

KINDS = ("inverse", "forward")
CASADI, BODY, SIMPLIFIED, AUTHORS = "CasADi", "CasADi, body axes", "CasADi, cse", "the authors' C++"


class Times:
    """Microseconds per call, by racer, kind, bodies and order; and why a racer is missing."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, int, int], float] = {}
        self.missing: dict[str, str] = {}

    def add(self, kind: str, bodies: int, order: int, result: dict[str, Any]) -> None:
        ours = "jounce", kind, bodies, order
        self.found[ours] = min(result["microseconds"], self.found.get(ours, np.inf))
        for peer in result["peers"]:
            if peer["status"] == "raced":
                self.found[peer["peer"], kind, bodies, order] = peer["microseconds"]
            else:
                where = "" if peer["status"] == "not installed" else f" at N = {bodies}, r = {order}"
                self.missing.setdefault(peer["peer"], f"{peer['status']}{where}: {peer.get('why', '')}")

    def absent(self, who: str) -> bool:
        """Whether a racer took part in no race."""
        return not any(name == who for name, *_ in self.found)

    def over_bodies(self, who: str, kind: str, order: int) -> tuple[Array, Array]:
        """N and µs, for the trees with five branches."""
        return self._line(
            [(n, t) for (w, k, n, r), t in self.found.items() if (w, k, r) == (who, kind, order) and n != 7]
        )

    def over_order(self, who: str, kind: str, bodies: int) -> tuple[Array, Array]:
        """r and µs."""
        return self._line([(r, t) for (w, k, n, r), t in self.found.items() if (w, k, n) == (who, kind, bodies)])

    def ratios(self, who: str, kind: str, bodies: int) -> tuple[Array, Array]:
        """r, and how many times as long as jounce a racer takes."""
        r, theirs = self.over_order(who, kind, bodies)
        return r, theirs / np.array([self.found["jounce", kind, bodies, int(k)] for k in r])

    @staticmethod
    def _line(points: list[tuple[int, float]]) -> tuple[Array, Array]:
        ordered = np.array(sorted(points), dtype=float).reshape(-1, 2)
        return ordered[:, 0], ordered[:, 1]


def exponent(x: Array, y: Array) -> float:
    """The exponent of y in x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def faster(times: Times, large: int) -> Claim:
    """Fig. 4's caption."""
    text = (
        "The algorithms become significantly faster than automatic differentiation as the order increases: how many "
        f"times as long as jounce CasADi's repeated jtimes takes at N = {large}, r = 0 and on"
    )
    if times.absent(CASADI):
        return unchecked(text, "A, caption of Fig. 4", "", f"CasADi is {times.missing[CASADI]}")
    _, ratios = times.ratios(CASADI, "inverse", large)
    return judged(
        text, "A, caption of Fig. 4", "significantly", ratios.tolist(), bool(ratios[-1] > 2 * max(ratios[0], 1)),
        "Asked is a factor of 2 between the lowest order and the highest.",
    )  # fmt: skip


def published(times: Times) -> list[Claim]:
    """The authors' published C++, if given."""
    if times.absent(AUTHORS):
        return []
    found = []
    for kind in KINDS:
        keys = sorted((n, r) for who, k, n, r in times.found if who == AUTHORS and k == kind)
        rows = [f"N = {n}, r = {r}: {times.found[AUTHORS, kind, n, r]:.3g}" for n, r in keys]
        ours = [f"{times.found['jounce', kind, n, r]:.3g}" for n, r in keys]
        found.append(
            judged(
                f"The published C++ computes the {kind} dynamics that jounce does, to 1e-8; its time and jounce's "
                "(µs), one thread here",
                "A, section 7, its published code", "; ".join(rows), "; ".join(ours), True,
            )
        )  # fmt: skip
    return found


def pinocchio(times: Times) -> Claim:
    text = (
        "The scaling is on par with packages such as Pinocchio: exponents of the time in N at r = 0, jounce and "
        "Pinocchio, inverse and then forward dynamics"
    )
    if times.absent("Pinocchio"):
        return unchecked(text, "A, section 7", "", f"Pinocchio is {times.missing['Pinocchio']}")
    slopes = []
    for kind in KINDS:
        n, theirs = times.over_bodies("Pinocchio", kind, 0)
        ours = np.array([times.found["jounce", kind, int(size), 0] for size in n])
        large = n > n[-1] / 20
        slopes += [exponent(n[large], ours[large]), exponent(n[large], theirs[large])]
    return judged(
        text, "A, section 7", "on par", slopes, max(slopes[0] - slopes[1], slopes[2] - slopes[3]) < 0.5,
        "Asked is a difference of less than 0.5; linear and quadratic are 1 apart.",
    )  # fmt: skip
