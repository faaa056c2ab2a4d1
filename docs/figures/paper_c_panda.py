"""Draws paper_c_panda.png: paper C's Figs. 1 to 5 by jounce, on top of the published curves.

Robot, motion and curves are those of the authors' code: see lab/jounce_lab/reproduce/panda.py.

    python docs/figures/paper_c_panda.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import save

from jounce_lab.reproduce.panda import FIGURES, motion, published, published_curves, times

robot, t, curves = published(), times(), published_curves()
q, v = motion(t, 5)
tau = robot.inverse_dynamics(q, v)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666")
LABELS = ("q (rad)", "Q (N m)", "Q′ (N m/s)", "Q″ (N m/s²)", "Q‴ (N m/s³)")
figure, axes = plt.subplots(5, 1, figsize=(7.5, 8.0), sharex=True, layout="constrained")
for ax, ours, (name, (_, low, high)), label in zip(
    axes, (q, *np.moveaxis(tau, 1, 0)), FIGURES.items(), LABELS, strict=True
):
    for joint, color in enumerate(COLOURS):
        ax.plot(t, curves[name][:, joint], color=color, lw=4.5, alpha=0.3, solid_capstyle="butt")
        ax.plot(t, ours[:, joint], color=color, lw=0.9, label=f"joint {joint + 1}")
    ax.set_title(name)
    ax.set_ylabel(label)
    ax.set_ylim(low, high)
axes[-1].set_xlabel("time (s)")
axes[-1].set_xlim(t[0], t[-1])
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, handlelength=1.4)
save(figure, __file__)
