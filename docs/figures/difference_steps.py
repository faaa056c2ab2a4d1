"""Draws difference_steps.png: paper B's Fig. 5, errors of finite differences against our linearization over their step.

The robots, states and errors are those of `jounce reproduce B-fig5` (paper B, section 5, (82)-(91)): nine joints on a
floating base, 100 random robots and states.

    python docs/figures/difference_steps.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import save

from jounce_lab.reproduce.nine_joints import PUBLISHED_AVG, PUBLISHED_MAX, difference_errors

deltas = np.logspace(-1, -12, 45)
curves = difference_errors(list(deltas), states=100)

LINES = (
    ("$D_1$, by the pose of the base", "#0072B2", "-"),
    ("$D_2$, by the joints", "#D55E00", "--"),
    ("$D_3$, by the base twist", "#009E73", "-."),
    ("$D_4$, by the joint rates", "#CC79A7", ":"),
)
figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.9), sharey=True)
for ax, curve, title, published in zip(
    axes, curves, ("largest", "average"), (PUBLISHED_MAX, PUBLISHED_AVG), strict=True
):
    for column, (name, color, dashes) in zip(curve.T, LINES, strict=True):
        ax.loglog(deltas, column, color=color, ls=dashes, label=name)
    for value, (_, color, _) in zip(published, LINES, strict=True):
        ax.plot(1e-6, value, "o", ms=4.5, mfc="white", color=color)
    ax.set_title(f"{title} difference from A")
    ax.set_xlabel("step δ (rad, m, rad/s or m/s)")
axes[0].set_ylabel("relative error (-)")
axes[0].legend(loc="upper center")
published = axes[1].plot([], [], "ko", ms=4.5, mfc="white")
axes[1].legend(published, ["published, at δ = 1e-6"], loc="upper center")
save(figure, __file__)
