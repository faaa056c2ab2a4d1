"""The style of the figures, that of jounce itself, and access to the code on the pages.

python docs/figures/NAME.py     # draws NAME.png
"""

import re
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from jounce.display import style
from jounce.display.style import BLUE, GREEN, ORANGE

__all__ = ["BLUE", "COLOURS", "DASHES", "GREEN", "ORANGE", "program", "save"]

COLOURS, DASHES = (*style.COLOURS, style.BLACK), (*style.DASHES, "-")
matplotlib.use("Agg")
plt.rcParams.update(
    style.RC
    | {
        "axes.grid": True,
        "figure.constrained_layout.use": True,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.5,
        "legend.fontsize": 7.5,
        "legend.frameon": False,
        "lines.linewidth": 1.3,
        "savefig.dpi": 200,
    }
)


def program(page: str) -> dict:
    """The names defined by a page of the documentation: its Python blocks, run as they stand."""
    path, names = Path(__file__).parents[1] / page, {}
    blocks = r'^```python(?: title="needs matplotlib")?\n(.*?)^```'
    for code in re.findall(blocks, path.read_text(), re.DOTALL | re.MULTILINE):
        exec(compile(code, path.name, "exec"), names)
    return names


def save(figure: plt.Figure, script: str) -> None:
    """Saved next to the script, under its name."""
    figure.savefig(Path(script).with_suffix(".png"))
