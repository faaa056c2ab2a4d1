"""What notebooks show is made of: a frame, tables, numbers, names that stay names; it follows light and dark themes.

Colours are those of the page, or readable on both white and black; nothing is fetched, no script is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from jounce._checks import printable
from jounce.display.style import BLACK, COLOURS

Array = NDArray[np.float64]
_STYLE = (
    ".jounce{font-size:.9em;line-height:1.35}.jounce b.title{font-weight:600}.jounce .dim{opacity:.62}"
    ".jounce .side{display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start}.jounce svg{max-width:100%}"
    ".jounce table{border-collapse:collapse;border:0;margin:.3em 0;font-size:.92em;width:auto}"
    ".jounce :is(th,td){padding:.08em .6em;text-align:left!important;white-space:pre;border:0;background:none}"
    ".jounce th{font-weight:600;opacity:.62}.jounce td.n{text-align:right!important;font-variant-numeric:tabular-nums}"
    ".jounce summary{cursor:pointer}.jounce .guide{opacity:.4;font-family:monospace}"
)


def boxed(*parts: str) -> str:
    """Everything that is shown of an object."""
    return f'<div class="jounce"><style>{_STYLE}</style>{"".join(parts)}</div>'


def plain(words: str) -> str:
    """Text that is shown as it is, also within an attribute."""
    return escape(printable(words), quote=True)


def title(words: str, *more: str) -> str:
    """The first line: a bold name, and what else there is to say."""
    rest = "".join(f' <span class="dim">· {plain(each)}</span>' for each in more)
    return f'<div><b class="title">{plain(words)}</b>{rest}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML already; those that begin with a digit or a sign are aligned to the right."""
    top = "".join(f"<th>{plain(each)}</th>" for each in head)
    body = "".join(f"<tr>{''.join(_cell(each) for each in row)}</tr>" for row in rows)
    return f"<table class='plain'>{f'<thead><tr>{top}</tr></thead>' if top else ''}<tbody>{body}</tbody></table>"


def _cell(words: str) -> str:
    counts = (words[:1].isdigit() or words[:1] in ("-", "+", "−")) and "…" not in words
    kind = ' class="n"' if counts else ""
    return f"<td{kind}>{words}</td>"


def folded(summary: str, content: str, opened: bool = False) -> str:
    """Content that is shown when asked for."""
    return f"<details{' open' if opened else ''}><summary>{plain(summary)}</summary>{content}</details>"


def number(value: float) -> str:
    """Four digits, with a real minus sign."""
    return f"{value + 0.0:.4g}".replace("-", "−")


def colour(index: int) -> str:
    """The colour of a line: those of plots, with the colour of the page's text in place of black."""
    chosen = (*COLOURS, BLACK, "#888888")[index % 8]
    return "currentColor" if chosen == BLACK else chosen


def svg(width: float, height: float, content: str, label: str) -> str:
    """A picture, with a description for those who cannot see it."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg {size} role="img" aria-label="{plain(label)}" font-family="sans-serif">{content}</svg>'


def path(points: Array) -> str:
    """The d of a path through points (n, 2), interrupted where they are not finite; one decimal, in few characters."""
    words: list[str] = []
    before: tuple[int, int] | None = None
    for x, y in (10 * points).tolist():
        if x - x != 0 or y - y != 0:  # not finite
            before = None
            continue
        now = round(x), round(y)
        words.append(f"M{_tenths(now[0])} {_tenths(now[1])}" if before is None else _step(now, before))
        before = now
    return "".join(words)


def _step(now: tuple[int, int], before: tuple[int, int]) -> str:
    return f"l{_tenths(now[0] - before[0])} {_tenths(now[1] - before[1])}"


def _tenths(value: int) -> str:
    return str(value // 10) if value % 10 == 0 else f"{value / 10:.1f}"
