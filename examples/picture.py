"""How the examples draw: one style, lines that differ in colour and in dashes. Not an example itself."""

import sys
from contextlib import contextmanager
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure  # needs no display

STYLE = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE, GREEN, GREY = (
    {"color": color, "ls": dashes, "lw": 1.3}
    for color, dashes in (
        ("#0072B2", "-"),  # Okabe and Ito's colours, told apart by the colour-blind
        ("#D55E00", (0, (5, 1.5))),
        ("#009E73", (0, (1.5, 1))),
        ("0.45", (0, (5, 1, 1, 1))),
    )
)


def asked(name: str) -> Path:
    """Where to save: what the command line says, or docs/figures/<name>.png."""
    return Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "figures" / f"{name}.png"


@contextmanager
def panels(path: Path, *labels: tuple[str, str, str]):
    """Axes side by side, one for each (title, x label, y label); saved to the path in the end."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.5, 2.6), layout="constrained")
        axes = figure.subplots(1, len(labels))
        for ax, (title, x, y) in zip(axes, labels, strict=True):
            ax.set(title=title, xlabel=x, ylabel=y)
            ax.margins(x=0)
            ax.grid(alpha=0.25, linewidth=0.5)
        yield axes
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
    print(f"figure: {path}")
