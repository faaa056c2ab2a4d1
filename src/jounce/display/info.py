"""A human-readable report on a robot file: the tree, the joints' ranges, the masses, and anything odd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jounce._checks import counted, printable
from jounce.display.table import COLUMNS, cells_of, rows_of, tie_text, vector_text
from jounce.loading.description import Description
from jounce.parts.joints import Fixed

if TYPE_CHECKING:
    from rich.console import Console


def show(description: Description, console: Console) -> None:
    """Prints the report; drops the last columns if the terminal is too narrow."""
    from rich.text import Text

    def line(*parts: tuple[str, str]) -> None:
        console.print(Text.assemble(*parts), soft_wrap=True)

    for number, text in enumerate(_headlines(description)):
        line((printable(text), "bold" if number == 0 else ""))
    line()
    rows = rows_of(description.bodies)
    cells: list[tuple[str, ...]] = [COLUMNS]
    cells += [cells_of(row.guide, row.body) for row in rows]
    columns = [i for i in range(len(cells[0])) if any(cell[i] for cell in cells[1:])]
    widths = {i: max(len(cell[i]) for cell in cells) for i in columns}
    while console.is_terminal and len(columns) > 4 and sum(widths[i] + 2 for i in columns) > console.width:
        columns.pop()
    line((_padded(cells[0], columns, widths), "bold dim"))
    for row, cell in zip(rows, cells[1:], strict=True):
        padded = _padded(cell, columns, widths)
        lines, rest = padded[: len(row.guide)], padded[len(row.guide) :]
        line((lines, "dim"), (rest, "dim" if isinstance(row.body.joint, Fixed) else ""))
    if description.constraints:
        line()
        line(("constraints", "bold"))
    for constraint in description.constraints:
        line(("  " + tie_text(constraint), ""))
    found = (("ignored", description.ignored, "cyan"), ("warnings", description.inspect(), "yellow"))
    for title, items, style in found:
        if items:
            line()
            line((f"{title}", f"bold {style}"))
        for item in items:
            line(("  " + printable(item), style))
    if not any(items for _, items, _ in found):
        line()
        line(("nothing ignored, nothing odd", "green"))


def _headlines(description: Description) -> list[str]:
    bodies, model = description.bodies, description.model()
    frames = sum(isinstance(b.joint, Fixed) for b in bodies)
    depth = [0] * len(bodies)
    for i, b in enumerate(bodies):
        depth[i] = (depth[b.parent] if b.parent >= 0 else 0) + (b.joint.nv > 0)
    mass = sum(b.inertia.mass for b in bodies)
    first = f"{description.name or 'robot without a name'}, {description.kind}, {description.source}"
    words = (
        f"{counted(model.nv, 'degree')} of freedom (nq {model.nq}, nv {model.nv})",
        f"{mass:.4g} kg",
        f"{counted(len(bodies), 'link')}, {frames} of them fixed",
        f"at most {counted(max(depth, default=0), 'joint')} in a row",
    )
    ties = description.constraints
    tied = (f"{counted(len(ties), 'constraint')} of {counted(sum(c.rows for c in ties), 'row')}",) if ties else ()
    fall = description.gravity
    gravity = () if np.array_equal(fall, (0.0, 0.0, -9.81)) else (f"gravity {vector_text(fall)} m/s²",)
    return [first, "; ".join((*words, *tied, *gravity))]


def _padded(cell: Sequence[str], columns: Sequence[int], widths: dict[int, int]) -> str:
    return "  ".join(cell[i].ljust(widths[i]) for i in columns).rstrip()
