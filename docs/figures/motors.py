"""Draws motors.png: torques and torque rates that the joints of an arm need, over many random states.

python docs/figures/motors.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import COLOURS, DASHES, program, save

page = program("batches.md")
needed, share = page["needed"], np.logspace(0, -4, 200)
figure, axes = plt.subplots(1, 2, figsize=(7.5, 2.8), sharey=True)
for ax, row, title, unit in zip(axes, (0, 1), ("torque", "torque rate"), ("N m", "N m/s"), strict=True):
    for joint in range(7):
        curve = np.quantile(needed[:, row, joint], 1 - share)
        ax.semilogy(curve, 100 * share, color=COLOURS[joint], ls=DASHES[joint], label=f"joint {joint + 1}")
    ax.set(title=title, xlabel=f"{title} ({unit})", xlim=(0, None), ylim=(1e-2, 100))
axes[0].set_ylabel("states that need more (%)")
axes[1].legend(loc="upper right", ncols=2)
print("99.9 % of the states:", page["limits"].round(1))
save(figure, __file__)
