"""Draws soft_tentacle.png: the tentacle of docs/soft.md as a tendon is pulled, and after it is cut.

python docs/figures/soft_tentacle.py
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Polygon
from style import BLUE, ORANGE, program, save

page = program("soft.md")
MM, RADII = 1e3, np.linspace(0.012, 0.006, 61)

tentacle = page["tentacle"]


def outline(q):
    """(122, 2) the outline in the xz plane, mm."""
    parts = [tentacle.backbone(name, q, np.linspace(0, 0.1, 21)) for name in ("upper", "middle", "lower")]
    poses = MM * np.concatenate([parts[0], *(part[1:] for part in parts[1:])])
    middle, side = poses[:, [0, 2], 3], poses[:, [0, 2], 0] * RADII[:, None]
    return np.concatenate([middle + side, (middle - side)[::-1]])


figure, (left, middle, right) = plt.subplots(1, 3, figsize=(7.5, 3.1), width_ratios=(1, 1, 1.6))


def drawn(ax, shapes, labels):
    for i, (q, label) in enumerate(zip(shapes, labels, strict=True)):
        color = plt.get_cmap("viridis")(0.9 * i / (len(labels) - 1))
        ax.add_patch(Polygon(outline(q), fc=color, ec="white", lw=0.5))
        ax.plot([], [], color=color, lw=4, label=label)
    ax.plot([-40, 40], [0, 0], color="0.3", lw=2)
    ax.set(xlabel="$x$ (mm)", aspect="equal", xlim=(-75, 125), ylim=(-315, 12), xticks=(-50, 0, 50, 100))
    ax.legend(loc="upper right", handlelength=0.8, labelspacing=0.25, borderaxespad=0.2)


tensions = (0.0, 0.5, 1.0, 1.25, 1.5)
rests = [tentacle.equilibrium([u, 0, 0]) for u in tensions]
print("stable:", [rest.stable for rest in rests])
drawn(left, [rest.q for rest in rests], [f"{u:g} N" for u in tensions])
left.set(title="pulled, at rest", ylabel="$z$ (mm)")
run, tip, shown = page["released"], MM * page["tip_path"], (0.0, 0.08, 0.13, 0.18, 0.43)
drawn(middle, [run.q[np.argmin(np.abs(run.time - t))] for t in shown], [f"{t:g} s" for t in shown])
middle.set(title="cut at 1 N")
right.plot(run.time, tip[:, 0], color=BLUE, label="$x$")
right.plot(run.time, tip[:, 2] + 300, color=ORANGE, ls="--", label="$z$ + 300 mm")
right.set(title="its tip", xlabel="time (s)", ylabel="place (mm)", xlim=(0, 4))
right.legend(loc="upper right")
save(figure, __file__)
