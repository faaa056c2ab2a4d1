"""Draws difference_steps.png: paper B's Fig. 5, errors of finite differences against our linearization over their step.

The robots, states and errors are those of the tests (paper B, section 5, (82)-(91)): nine joints on a floating base,
100 random robots and states.

    python docs/figures/difference_steps.py
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from build import jounce_model
from oracles import paper_b

deltas = np.logspace(-1, -12, 45)
curves = paper_b.finite_difference_errors(jounce_model, deltas, states=100)

# Okabe and Ito's colours, told apart by the colour-blind.
LINES = (
    ("$D_1$, by the pose of the base", "#0072B2", "-"),
    ("$D_2$, by the joints", "#D55E00", "--"),
    ("$D_3$, by the base twist", "#009E73", "-."),
    ("$D_4$, by the joint rates", "#CC79A7", ":"),
)
style = {"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}
with plt.rc_context(style):
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.9), sharey=True, layout="constrained")
    for ax, curve, title, published in zip(
        axes, curves, ("largest", "average"), (paper_b.PUBLISHED_MAX, paper_b.PUBLISHED_AVG), strict=True
    ):
        for column, (name, color, dashes) in zip(curve.T, LINES, strict=True):
            ax.loglog(deltas, column, color=color, ls=dashes, lw=1.3, label=name)
        for value, (_, color, _) in zip(published, LINES, strict=True):
            ax.plot(1e-6, value, "o", ms=4.5, mfc="white", color=color)
        ax.set_title(f"{title} difference from A")
        ax.set_xlabel("step δ (rad, m, rad/s or m/s)")
        ax.grid(alpha=0.25, linewidth=0.5)
    axes[0].set_ylabel("relative error (-)")
    axes[0].legend(frameon=False, fontsize=7, loc="upper center")
    published = axes[1].plot([], [], "ko", ms=4.5, mfc="white")
    axes[1].legend(published, ["published, at δ = 1e-6"], frameon=False, fontsize=7, loc="upper center")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200)
