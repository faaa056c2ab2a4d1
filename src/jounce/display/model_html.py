"""A robot in a notebook: a picture, and the tree of its bodies with joints, limits and masses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jounce._checks import counted
from jounce.display.html import boxed, folded, plain, table, title
from jounce.display.stick_figure import stick_figure
from jounce.display.table import COLUMNS, Row, cells_of, rows_of, tie_text
from jounce.parts.joints import Fixed

if TYPE_CHECKING:
    from jounce.model import Model

_OPEN = 12  # rows that are shown without being asked for
_MOST = 150  # rows that are shown at all
_TIES = 50  # constraints


def model_html(robot: Model) -> str:
    ties = robot.constraints
    tied = (f"{counted(len(ties), 'constraint')} of {counted(sum(c.rows for c in ties), 'row')}",) if ties else ()
    head = title(repr(robot)[1:-1], f"{robot.mass:.4g} kg", *tied)
    parts = [_tree(rows_of(robot.bodies))]
    if ties:
        more = [[f"and {len(ties) - _TIES} more"]] if len(ties) > _TIES else []
        lines = table((), [[plain(tie_text(c))] for c in ties[:_TIES]] + more)
        parts.append(folded("constraints", lines, opened=len(ties) <= 6))
    return boxed(head, f'<div class="side">{stick_figure(robot)}<div>{"".join(parts)}</div></div>')


def _tree(rows: list[Row]) -> str:
    shown = [cells_of("", row.body) for row in rows[:_MOST]]
    columns = [i for i in range(len(COLUMNS)) if any(cell[i] for cell in shown)]
    pairs = zip(rows, shown, strict=False)
    lines = [[_named(row, cell[0]), *(_dim(row, cell[i]) for i in columns[1:])] for row, cell in pairs]
    if len(rows) > _MOST:
        lines.append([f"and {len(rows) - _MOST} more"])
    fixed = sum(isinstance(row.body.joint, Fixed) and row.body.soft is None for row in rows)
    summary = counted(len(rows), "link") + (f", {fixed} of them fixed" if fixed else "")
    return folded(summary, table([COLUMNS[i] for i in columns], lines), opened=len(rows) <= _OPEN) if rows else ""


def _named(row: Row, name: str) -> str:
    guide = f'<span class="guide">{row.guide}</span>' if row.guide else ""
    return guide + _dim(row, name)


def _dim(row: Row, words: str) -> str:
    faint = isinstance(row.body.joint, Fixed) and row.body.soft is None
    return f'<span class="dim">{plain(words)}</span>' if faint and words else plain(words)
