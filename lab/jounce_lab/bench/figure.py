"""The two plots of paper A's Fig. 4, with the peers' lines: time over the number of bodies, and over the order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jounce.display.style import AMBER, BLUE, GREEN, ORANGE, PINK, picture, tidy

# markers distinguish the lines when printed in grey
_STYLES: dict[str, dict[str, Any]] = {
    "jounce": {"color": BLUE, "marker": "o", "linewidth": 1.8, "zorder": 5},
    "Pinocchio": {"color": ORANGE, "marker": "s"},
    "MuJoCo": {"color": AMBER, "marker": "D"},
    "CasADi": {"color": PINK, "marker": "^"},
    "CasADi, body axes": {"color": PINK, "marker": "v", "linestyle": "--"},
    "CasADi, cse": {"color": PINK, "marker": "<", "linestyle": "-."},
    "CasADi, cse, compiled": {"color": PINK, "marker": ">", "linestyle": ":"},
    "JAX jet": {"color": GREEN, "marker": "P"},
}
Points = dict[str, list[tuple[float, float]]]


def draw(results: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the plots that have at least two points; returns their paths."""
    trees = [c for c in results["cases"] if c.get("tree") and c["states"] == 1 and "microseconds" in c]
    over_bodies = [
        (f"{kind} dynamics, $r = {r}$", _points(trees, "bodies", quantity=f"{kind} dynamics", order=r))
        for kind in ("inverse", "forward")
        for r in (0, 5)
    ]
    over_order = [
        (f"{kind} dynamics, $N = {n}$", _points(trees, "order", quantity=f"{kind} dynamics", bodies=n))
        for kind in ("inverse", "forward")
        for n in (7, 101)
    ]
    m = results["machine"]
    where = f"from Python, one state a call, one thread; {m['processor']}, {m['instruction_set']}, {m['date']}"
    written = []
    for name, panels, label in (
        ("time_over_bodies", over_bodies, "bodies $N$"),
        ("time_over_order", over_order, "order $r$"),
    ):
        if max(len(points.get("jounce", ())) for _, points in panels) >= 2:
            written.append(_picture(folder / f"{name}.png", panels, label, where))
    return written


def _points(trees: list[dict[str, Any]], along: str, **fixed: object) -> Points:
    """Everybody's microseconds over `along`; peers without derivatives appear for r = 0 only."""
    found: Points = {}
    for c in trees:
        if all(c[key] == value for key, value in fixed.items()):
            found.setdefault("jounce", []).append((c[along], c["microseconds"]))
            for p in c["peers"]:
                if p["status"] == "raced" and p["peer"] in _STYLES:
                    found.setdefault(p["peer"], []).append((c[along], p["microseconds"]))
    return {name: sorted(found[name]) for name in _STYLES if name in found}


def _picture(path: Path, panels: list[tuple[str, Points]], label: str, where: str) -> Path:
    with picture(path, 1, 4, figsize=(10.5, 3.6), sharey=True, sharex=True) as (figure, axes):
        handles: dict[str, Any] = {}
        for ax, (title, points) in zip(axes, panels, strict=True):
            over_order = label.startswith("order")
            for name, pairs in points.items():
                style: dict[str, Any] = {"linewidth": 1.1, "markersize": 3.6, **_STYLES[name]}
                x = [a + 1 if over_order else a for a, _ in pairs]
                (handles[name],) = ax.loglog(x, [b for _, b in pairs], label=name, **style)
            if over_order:
                ax.set_xticks([1, 2, 3, 4, 6, 8, 11], ["0", "1", "2", "3", "5", "7", "10"])
            else:
                ax.set_xticks([6, 21, 101, 996], ["6", "21", "101", "996"])
            ax.minorticks_off()
            tidy(ax, f"{label} (scale of $r + 1$)" if over_order else label, "", title)
            ax.margins(x=0.05)
        axes[0].set_ylabel("µs a call")
        shown = [name for name in _STYLES if name in handles]
        figure.legend([handles[name] for name in shown], shown, loc="outside right center", frameon=False)
        figure.supxlabel(where, fontsize=7, color="0.4", parse_math=False)
    return path
