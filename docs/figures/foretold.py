"""Draws foretold.png: how far ahead the derivatives at one instant predict the motion of a falling arm.

python docs/figures/foretold.py
"""

import matplotlib.pyplot as plt
import numpy as np
from style import COLOURS, DASHES, program, save

page = program("forward_dynamics.md")
figure, ax = plt.subplots(figsize=(7.5, 2.8))
for (order, errors), color, dashes in zip(page["errors"].items(), COLOURS, DASHES, strict=False):
    print(f"order {order}: within 1 mrad for {page['reach'][order]:.3f} s")
    ax.semilogy(page["times"], np.degrees(errors).clip(1e-13), color=color, ls=dashes, label=f"order {order}")
ax.set(xlabel="time (s)", ylabel="largest error of a joint (°)", ylim=(1e-11, 1e2), xlim=(0, 0.3))
ax.set_title("an arm falls: one call of forward_dynamics at time zero against the motion")
ax.legend(loc="lower right")
save(figure, __file__)
