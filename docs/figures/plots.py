"""Draws plots.png: the two figures of simulation.md, one above the other.

python docs/figures/plots.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import program

page = program("simulation.md")
pictures = [plt.imread(page["folder"] / name) for name in ("torques.png", "motion.png")]
width = max(picture.shape[1] for picture in pictures)
padded = [np.pad(p, ((0, 0), (0, width - p.shape[1]), (0, 0)), constant_values=1.0) for p in pictures]
plt.imsave(__file__.replace(".py", ".png"), np.vstack(padded), dpi=200)
