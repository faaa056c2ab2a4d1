"""Draws set_points.png: how far a tool is from its path between set points that hold ever higher joint derivatives.

The robot, the path and the set points are those of docs/kinematics.md: its Python blocks are run as they stand.

    python docs/figures/set_points.py
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

page = Path(__file__).parents[1] / "kinematics.md"
names: dict = {}
for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
    exec(compile(code, page.name, "exec"), names)

# Okabe and Ito's colours, told apart by the colour-blind.
LINES = (
    ("velocity", "#D55E00"),
    ("acceleration", "#E69F00"),
    ("jerk", "#009E73"),
    ("snap", "#56B4E9"),
    ("crackle", "#0072B2"),
)
style = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
with plt.rc_context(style):
    figure, ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")
    for rows, (name, color) in enumerate(LINES, 1):
        times, errors = names["circle_errors"](rows)
        print(f"to {name:12s} at most {errors.max():.1e} m")
        ax.semilogy(times, errors.clip(1e-16) * 1e3, color=color, lw=1.1)
        end = (1.01, errors[-1] * 1e3)
        ax.annotate(f"to {name}", end, xycoords=("axes fraction", "data"), color=color, va="center")
    ax.set(xlabel="time (s)", ylabel="distance from the path (mm)", ylim=(1e-7, 10))
    ax.set_title("tool on a circle, set points of the joints every 20 ms, held to a derivative")
    ax.margins(x=0)
    ax.grid(alpha=0.25, linewidth=0.5)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200)
