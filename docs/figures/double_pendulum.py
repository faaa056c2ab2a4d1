"""Draws double_pendulum.png: the swing of getting_started.md.

python docs/figures/double_pendulum.py
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from style import BLUE, DASHES, ORANGE, program, save

page = program("getting_started.md")
robot, swing, path = page["robot"], page["swing"], page["path"][:, [0, 2]]
figure, axes = plt.subplot_mosaic([["path", "angles"], ["path", "energy"]], figsize=(7.5, 3.0), width_ratios=(1.15, 1))

ax = axes["path"]
pieces = LineCollection(np.stack([path[:-1], path[1:]], axis=1), cmap="viridis", lw=1.2)
pieces.set_array(swing.time[:-1])
ax.add_collection(pieces)
for index, width in ((0, 2.4), (-1, 2.4)):
    elbow = robot.pose("lower", swing.q[index])[[0, 2], 3]
    ax.plot(*np.transpose([[0, 0], elbow, path[index]]), "o-", color="0.3" if index else "0.65", lw=width, ms=4)
ax.set(aspect="equal", xlim=(-2.15, 2.15), ylim=(-2.15, 2.15), xlabel="x (m)", ylabel="z (m)", title="path of the tip")
figure.colorbar(pieces, ax=ax, label="time (s)", aspect=30, pad=0.02, shrink=0.8)

for column, (name, color) in enumerate((("upper", BLUE), ("lower", ORANGE))):
    axes["angles"].plot(swing.time, swing.q[:, column], color=color, ls=DASHES[column], label=name)
axes["angles"].set(ylabel="angle (rad)", title="joints")
axes["angles"].legend(loc="upper center", ncols=2)
axes["angles"].tick_params(labelbottom=False)
axes["energy"].plot(swing.time, page["energy"], color=BLUE)
axes["energy"].set(xlabel="time (s)", ylabel="energy (J)", title="energy: the lower joint is damped")
for key in ("angles", "energy"):
    axes[key].margins(x=0)
save(figure, __file__)
