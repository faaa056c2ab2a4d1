"""Draws set_points.png: distance of a tool from its path between set points with increasingly high joint derivatives.

The robot, the path and the set points are those of docs/kinematics.md.

    python docs/figures/set_points.py
"""

import matplotlib.pyplot as plt
from style import program, save

page = program("kinematics.md")
LINES = (
    ("velocity", "#D55E00"),
    ("acceleration", "#E69F00"),
    ("jerk", "#009E73"),
    ("snap", "#56B4E9"),
    ("crackle", "#0072B2"),
)
figure, ax = plt.subplots(figsize=(7.5, 2.8))
for rows, (name, color) in enumerate(LINES, 1):
    times, errors = page["circle_errors"](rows)
    print(f"to {name:12s} at most {errors.max():.1e} m")
    ax.semilogy(times, errors.clip(1e-16) * 1e3, color=color, lw=1.1)
    end = (1.01, errors[-1] * 1e3)
    ax.annotate(f"to {name}", end, xycoords=("axes fraction", "data"), color=color, va="center")
ax.set(xlabel="time (s)", ylabel="distance from the path (mm)", ylim=(1e-7, 10))
ax.set_title("tool on a circle, set points of the joints every 20 ms, held to a derivative")
ax.margins(x=0)
save(figure, __file__)
