"""Draws flight.png: the aerial manipulator on its reference motion, its joint torques and their derivatives.

The robot is robot_in_flight.jpg, which viewing.py draws: a moment of the animation that `jounce demo` writes.

    python docs/figures/flight.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from style import COLOURS, save

import jounce as jn
from jounce.robots import HORIZON, reference_motion

MOMENT = 18.0  # s
robot = jn.robots.aerial_manipulator()
times = np.linspace(0.0, HORIZON, 601)
q, v = reference_motion(times, 5)
tau = robot.inverse_dynamics(q, v, frame="mixed")[..., 6:]

figure = plt.figure(figsize=(7.5, 3.1))
grid = figure.add_gridspec(4, 2, width_ratios=(1.3, 1))
picture = figure.add_subplot(grid[:, 0])
picture.imshow(plt.imread(Path(__file__).with_name("robot_in_flight.jpg")))
picture.axis("off")
for row, (name, unit) in enumerate((("τ", ""), ("τ′", "/s"), ("τ″", "/s²"), ("τ‴", "/s³"))):
    ax = figure.add_subplot(grid[row, 1])
    for joint, color in enumerate(COLOURS[:6]):
        ax.plot(times, tau[:, row, joint], color=color, lw=1.1)
    ax.axvline(MOMENT, color="0.4", lw=0.8, ls=(0, (2, 2)))
    ax.set_ylabel(f"{name} (N m{unit})", fontsize=7)
    ax.ticklabel_format(axis="y", scilimits=(-2, 3), useMathText=True)
    ax.yaxis.get_offset_text().set_fontsize(6.5)
    ax.tick_params(labelsize=7, labelbottom=row == 3)
    ax.margins(x=0)
    if row == 0:
        ax.set_title("torques of the six joints, and three derivatives", fontsize=8)
ax.set_xlabel("time (s)", fontsize=7.5)
save(figure, __file__)
