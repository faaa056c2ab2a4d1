"""A motion in a notebook: small plots of its positions, velocities and forces, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jounce.display import panels
from jounce.display.html import boxed, colour, folded, number, path, plain, svg, title
from jounce.display.panels import LINES, Panel
from jounce.display.plots import columns_of

if TYPE_CHECKING:
    from jounce.trajectory import Trajectory

Array = NDArray[np.float64]
_WIDTH, _HEIGHT, _LEFT, _TOP, _NAMES = 232.0, 112.0, 44.0, 16.0, 150.0  # of a panel, its margins, the legend: pixels
_POINTS = 80  # of a line
_OPEN = 3  # rows that are shown without being asked for


def trajectory_html(motion: Trajectory) -> str:
    head = title(repr(motion)[1:-1])
    if len(motion) < 2 or not np.isfinite(motion.time).all():
        return boxed(head)
    pictures = [row_html(motion.time, row) for row in panels.rows(columns_of(motion), None)]
    rest = pictures[_OPEN:]
    more = folded(f"{len(rest)} more row{'s' * (len(rest) > 1)} of coordinates", "".join(rest)) if rest else ""
    return boxed(head, *pictures[:_OPEN], more)


def row_html(time: Array, row: Sequence[Panel | None]) -> str:
    """Panels next to each other, and the names of their lines."""
    parts = [_panel(time, each, i * _WIDTH) for i, each in enumerate(row) if each is not None]
    first = next(each for each in row if each is not None)
    x = len(row) * _WIDTH + 8
    for i, (index, name) in enumerate(zip(first.colours[:LINES], first.names, strict=False)):
        y = _TOP + 8 + 11.5 * i
        parts.append(f'<path d="M{x:g} {y - 3:g}h12" stroke="{colour(index)}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 17:g}" y="{y:g}" font-size="9.5" fill="currentColor">{plain(_short(name))}</text>')
    if len(first.names) > LINES:
        words = f"and {len(first.names) - LINES} more"
        parts.append(f'<text x="{x + 17:g}" y="{_HEIGHT - 2:g}" font-size="9.5" fill="currentColor">{words}</text>')
    label = ", ".join(each.label for each in row if each is not None)
    return svg(len(row) * _WIDTH + _NAMES, _HEIGHT, "".join(parts), f"{label} over time")


def _panel(time: Array, panel: Panel, x: float) -> str:
    left, right, top, bottom = x + _LEFT, x + _WIDTH - 10, _TOP, _HEIGHT - 14
    high, low = panel.top, panel.bottom

    def text(at: float, y: float, words: str, anchor: str, size: float = 8.5) -> str:
        where = f'x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        return f'<text {where} fill="currentColor" fill-opacity=".75">{words}</text>'

    parts = [
        f'<path d="M{left} {top}V{bottom}H{right}" stroke="currentColor" stroke-opacity=".4" fill="none"/>',
        text(left, top - 5, plain(panel.label), "start", 9.5),
        text(left - 4, top + 6, number(high), "end"),
        text(left - 4, bottom, number(low), "end"),
        text(left, bottom + 11, number(float(time[0])), "start"),
        text(right, bottom + 11, f"{number(float(time[-1]))} s", "end"),
    ]
    if low < 0 < high:
        y = bottom - (bottom - top) * (0 - low) / (high - low)
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="currentColor" stroke-opacity=".15"/>')
    width, begin, span = right - left, float(time[0]), float(time[-1] - time[0]) or 1.0
    for i, index in enumerate(panel.colours):
        at, values = sampled(time, panel.values[:, i])
        x_y = left + width * (at - begin) / span, bottom - (bottom - top) * (values - low) / (high - low)
        parts.append(
            f'<path d="{path(np.stack(x_y, axis=1))}" stroke="{colour(index)}" stroke-width="1.3" fill="none"/>'
        )
    return "".join(parts)


def sampled(time: Array, values: Array) -> tuple[Array, Array]:
    """At most `_POINTS` or so of the points: the ends, and the lowest and highest of each stretch of time."""
    if len(time) <= _POINTS:
        return time, values
    kept = {0, len(time) - 1}
    for some in np.array_split(np.arange(len(time)), _POINTS // 2):
        part = values[some]
        if np.isfinite(part).all():
            kept |= {int(some[part.argmin()]), int(some[part.argmax()])}
        else:  # a gap stays a gap
            kept.add(int(some[np.flatnonzero(~np.isfinite(part))[0]]))
    chosen = sorted(kept)
    return time[chosen], values[chosen]


def _short(name: str) -> str:
    return name if len(name) <= 22 else f"{name[:10]}…{name[-11:]}"
