"""Draws soft_flexure.png: the flexure stage of docs/soft_module.md, and its frequency over the load.

python docs/figures/soft_flexure.py
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle
from style import BLUE, GREEN, ORANGE, program, save

page = program("soft_module.md")
stage, known, leaf = page["stage"], page["known"], page["leaf"]
MM, HALF, PLATE = 1e3, 30.0, 5.0  # mm: half the width of the plates, and their height

figure, (left, right) = plt.subplots(1, 2, figsize=(7.5, 2.8), width_ratios=(1.15, 1))
leaf.u = np.linspace(0, 1, 60)
for x, color, alpha in ((-0.015, ORANGE, 0.9), (0.015, GREEN, 0.9), (0.0, "0.3", 1.0)):
    points = MM * np.array(leaf.points(np.array([x])))
    dx, _, top = MM * np.array(leaf.pose(np.array([x])))[:3, 3]
    for side in (-HALF + 4, HALF - 4):
        left.plot(points[:, 0] + side, points[:, 2], color=color, lw=1.6, alpha=alpha)
    left.add_patch(Rectangle((dx - HALF, top), 2 * HALF, PLATE, color=color, alpha=0.35 * alpha, lw=0))
    left.add_patch(Rectangle((dx - HALF, top), 2 * HALF, PLATE, fill=False, ec=color, lw=1.0))
left.add_patch(Rectangle((-HALF - 8, -PLATE), 2 * HALF + 16, PLATE, fc="0.85", ec="0.4", hatch="////", lw=0.8))
sink = 3 * 15**2 / (5 * 60)
left.annotate(
    f"sinks by {sink:.2f} mm",
    (46, 60 - sink),
    (46, 74),
    ha="right",
    arrowprops={"arrowstyle": "-", "lw": 0.6},
    fontsize=7.5,
)
left.set(
    xlabel="$x$ (mm)", ylabel="$z$ (mm)", title="a stage on leaf springs", aspect="equal", xlim=(-52, 52), ylim=(-6, 80)
)
left.grid(False)

limit = (48 * page["EI"] / leaf.L**2 * 5 / 9.81 - 3 * page["leaves"]) / 6
loads = limit - (limit - 0.05) * np.linspace(0, 1, 400)[::-1] ** 2
right.plot(loads, np.sqrt(known(loads).clip(0)) / 2 / np.pi, color=BLUE, label="formula")
dots = np.r_[0.05, 0.1, 0.2, 0.4, 0.7, np.arange(1.0, 6.1, 0.5)]
rates = [np.sqrt(-stage(m).linearize([0.0], [0.0], [0.0]).A[1, 0]) / 2 / np.pi for m in dots]
right.plot(dots, rates, "o", color=ORANGE, ms=3.5, label="jounce")
right.axvspan(limit, 7, color="0.92", lw=0)
right.text(6.55, 12, "it buckles", ha="center", va="center", rotation=90, fontsize=7.5)
right.set(xlabel="load (kg)", ylabel="frequency (Hz)", title="how it swings under a load", xlim=(0, 7), ylim=(0, 26))
right.legend(loc="upper right", bbox_to_anchor=(0.87, 1.0))
print("limit", limit, "kg; largest error", np.max(np.abs(np.array(rates) / np.sqrt(known(dots)) * 2 * np.pi - 1)))
save(figure, __file__)
