"""Plotting for the examples: one style, lines that differ in colour and dashes. Not an example itself."""

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure  # needs no display

STYLE = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE, GREEN, GREY = (
    {"color": color, "ls": dashes, "lw": 1.3}
    for color, dashes in (
        ("#0072B2", "-"),  # Okabe and Ito's colours, safe for colour-blind readers
        ("#D55E00", (0, (5, 1.5))),
        ("#009E73", (0, (1.5, 1))),
        ("0.45", (0, (5, 1, 1, 1))),
    )
)


def asked(name: str) -> Path:
    """Where to save: as given on the command line, or docs/figures/<name>.png."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "figures" / f"{name}.png"


@contextmanager
def panels(path: Path, *labels: tuple[str, str, str]):
    """Axes side by side, one for each (title, x label, y label); saved to the path at the end."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.5, 2.6), layout="constrained")
        axes = figure.subplots(1, len(labels))
        for ax, (title, x, y) in zip(axes, labels, strict=True):
            ax.set(title=title, xlabel=x, ylabel=y)
            ax.margins(x=0)
            ax.grid(alpha=0.25, linewidth=0.5)
        yield axes
        _save(figure, path)


@contextmanager
def beside(path: Path, title: str, *rows: tuple[str, str], x: str = "time (s)", height: float = 3.6):
    """A panel for a drawing, without axes, and next to it one plot per row (title, y label), sharing the x axis."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.5, height), layout="constrained")
        grid = figure.add_gridspec(len(rows), 2, width_ratios=(1, 1.25))
        drawing = figure.add_subplot(grid[:, 0])
        drawing.set(title=title, aspect="equal")
        drawing.set_axis_off()
        axes = []
        for i, (label, y) in enumerate(rows):
            ax = figure.add_subplot(grid[i, 1], sharex=axes[0] if axes else None)
            ax.set_title(label, loc="left")
            ax.set(ylabel=y, xlabel=x if i == len(rows) - 1 else "")
            ax.tick_params(labelbottom=i == len(rows) - 1)
            ax.margins(x=0)
            ax.grid(alpha=0.25, linewidth=0.5)
            axes.append(ax)
        yield drawing, axes
        _save(figure, path)


def seen(places, turn: float = 35.0, tilt: float = 15.0):
    """Points in space (..., 3) projected onto paper (..., 2), seen from that many degrees to the side and above."""
    a, b = np.radians(turn), np.radians(tilt)
    right = [np.cos(a), -np.sin(a), 0.0]
    up = [np.sin(a) * np.sin(b), np.cos(a) * np.sin(b), np.cos(b)]
    return np.asarray(places) @ np.transpose([right, up])


def arrow(ax, tail, tip, color: str) -> None:
    """On paper."""
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.5, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tip, tail, zorder=5, arrowprops=style)


def tube(ax, path, radius: tuple[float, float], color: str, alpha: float = 1.0) -> None:
    """The outline of a rod on paper: its axis (n, 2), and its radius at both ends."""
    path = np.asarray(path)
    along = np.gradient(path, axis=0)
    aside = along[:, ::-1] * [-1, 1] / np.linalg.norm(along, axis=1, keepdims=True)
    aside *= np.linspace(*radius, len(path))[:, None]
    outline = np.vstack([path + aside, (path - aside)[::-1]])
    ax.fill(*outline.T, color=color, alpha=0.3 * alpha, lw=0)
    ax.plot(*np.vstack([outline, outline[:1]]).T, color=color, alpha=alpha, lw=0.8, solid_joinstyle="round")


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=200)
    print(f"figure: {path}")
