"""B-fig5: paper B's study of the step size of finite differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce.display.style import BLACK, COLOURS, DASHES, picture, tidy

from .claims import Array, Claim, Result, Tell, judged, silent, write_csv
from .nine_joints import LEFT_OUT, PUBLISHED_AVG, PUBLISHED_MAX, REAL, central_differences, difference_errors

_NAMES = (
    "$D_1$, by the pose of the base",
    "$D_2$, by the joints",
    "$D_3$, by the base twist",
    "$D_4$, by the joint rates",
)


def run(output: Path, quick: bool = False, tell: Tell = silent) -> Result:
    """Fig. 5, and what the text says about it."""
    deltas = 10.0 ** -np.arange(1, 13) if quick else np.logspace(-1, -12, 45)
    states = 10 if quick else 100
    largest, average = difference_errors(list(deltas), states, lambda done: tell(0.5 * done, "differences"))
    central = difference_errors(
        list(deltas), states, lambda done: tell(0.5 + 0.4 * done, "central differences"), central_differences
    )[1]
    left = (deltas < 3e-2) & (deltas > 3e-7)
    right = deltas < 3e-9
    falling = [float(np.polyfit(np.log(deltas[left]), np.log(curve[left]), 1)[0]) for curve in average.T]
    rising = [float(np.polyfit(np.log(deltas[right]), np.log(curve[right]), 1)[0]) for curve in average.T]
    best = [float(deltas[i]) for i in average.argmin(axis=0)]
    path = output / "B-fig5.png"
    _draw(deltas, largest, average, path)
    names = [f"e_{kind}_D{i}" for kind in ("max", "avg") for i in range(1, 5)]
    rows = ([d, *a, *b] for d, a, b in zip(deltas, largest, average, strict=True))
    where = "B, section 5, Fig. 5"
    return Result(
        claims=[
            judged(
                "The error of the differences is reduced as δ is reduced: exponent of e^avg in δ, D₁ to D₄ (1 for "
                "one-sided differences)",
                where, "reduced", falling, all(0.9 < e < 1.1 for e in falling),
            ),
            judged(
                "up to the point where rounding errors dominate: exponent beyond it (-1 for rounding)",
                where, "they dominate", rising, all(-1.3 < e < -0.7 for e in rising),
            ),
            judged("That point, the best δ of D₁ to D₄", where, "", best, all(1e-9 < d < 1e-6 for d in best)),
            *_better(average[np.abs(np.log10(deltas) + 6).argmin()], average.min(axis=0), central.min(axis=0)),
            judged(
                "Finite differences are prone to rounding errors: e^avg of D₁ at δ = 1e-12 over the best",
                "B, section 1.2", "", float(average[-1, 0] / average[:, 0].min()), lambda ratio: ratio > 100,
            ),
        ],
        left_out=[
            LEFT_OUT[0],
            ("inertias that a model accepts", REAL),
            LEFT_OUT[2],
            ("the steps δ of Fig. 5", f"{len(deltas)} from 0.1 to 1e-12; {states} robots and states"),
        ],
        figures=[(path, "Fig. 5: errors of finite differences over their step; circles: published, at δ = 1e-6.")],
        data=[write_csv(output / "B-fig5.csv", ["delta", *names], rows)],
    )  # fmt: skip


def _better(there: Array, adapted: Array, central: Array) -> list[Claim]:
    """From e^avg at δ = 1e-6, at the best δ, and of central differences at their best δ."""
    ratios = [[float(x) for x in e / there] for e in (central, adapted)]
    return [
        judged(
            "Central differences would be more accurate: their e^avg at their best δ over that of one-sided ones at "
            "1e-6, D₁ to D₄",
            "B, section 5", "less than 1", ratios[0], max(ratios[0]) < 0.1,
        ),
        judged(
            "Adapted steps would be more accurate: e^avg of one-sided differences at the best δ over that at 1e-6",
            "B, section 5", "less than 1", ratios[1], max(ratios[1]) < 0.7,
        ),
    ]  # fmt: skip


def _draw(deltas: Array, largest: Array, average: Array, path: Path) -> None:
    with picture(path, 1, 2, figsize=(7.5, 2.9), sharey=True) as (_, axes):
        for ax, curves, title, published in zip(
            axes, (largest, average), ("largest", "average"), (PUBLISHED_MAX, PUBLISHED_AVG), strict=True
        ):
            for i, name in enumerate(_NAMES):
                ax.loglog(deltas, curves[:, i], color=COLOURS[i], ls=DASHES[i], lw=1.3, label=name)
                ax.plot(1e-6, published[i], "o", ms=4.5, mfc="white", color=COLOURS[i])
            tidy(ax, "step δ (rad, m, rad/s or m/s)", "", f"{title} difference from A")
        axes[0].set_ylabel("relative error (-)")
        axes[0].legend(frameon=False, fontsize=7, loc="upper center")
        circle = axes[1].plot([], [], "o", ms=4.5, mfc="white", color=BLACK)
        axes[1].legend(circle, ["published, at δ = 1e-6"], frameon=False, fontsize=7, loc="upper center")
