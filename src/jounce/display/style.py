"""One look for all figures: small type, light grid, and colour-blind-safe colours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jounce._extras import needed

BLUE, ORANGE, GREEN, PINK, AMBER, SKY = COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip  # Okabe and Ito's
BLACK, GREY = "#222222", "#888888"
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (3, 1)))  # to go with the colours when printed in grey
RC: Any = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}


@contextmanager
def picture(path: Path, rows: int = 1, columns: int = 1, **options: Any) -> Iterator[tuple[Any, Any]]:
    """A figure and its axes, saved to `path` at the end; needs no display and selects no backend.

    Args:
        options: ``figsize`` in inches; all others go to ``Figure.subplots``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with picture(Path(folder) / "line.png") as (figure, ax):
    ...         _ = ax.plot([0, 1], color=BLUE)
    ...     (Path(folder) / "line.png").exists()
    True
    """
    needed("matplotlib", "a figure")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC):
        figure = Figure(figsize=options.pop("figsize", (7.5, 3.0)), layout="constrained")
        axes = figure.subplots(rows, columns, **options)
        yield figure, axes
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)


def tidy(ax: Any, xlabel: str = "", ylabel: str = "", title: str = "") -> None:
    """Labels, grid, and no margin along x."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title)
    ax.margins(x=0)
    ax.grid(alpha=0.25, linewidth=0.5)


def legend_above(ax: Any, columns: int = 3) -> None:
    """A legend between the title and the axes, on the right: the power of ten of the axis is on the left."""
    ax.set_title(ax.get_title(), pad=24)
    ax.legend(
        ncols=columns, fontsize=7, frameon=False, columnspacing=1, handlelength=1.4, labelspacing=0.1,
        loc="lower right", bbox_to_anchor=(1.02, 0.98), borderpad=0,
    )  # fmt: skip
