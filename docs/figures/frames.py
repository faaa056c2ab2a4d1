"""Draws frames.png: the reference point and the axes of a twist in the three frames, for a drone seen from the side.

The picture is to scale: the velocities are computed from the same x' and w in each panel. y points into the page.

    python docs/figures/frames.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc, Circle, Ellipse, FancyArrowPatch, Polygon

# Okabe and Ito's colours, safe for colour-blind readers.
AXES, LINEAR, ANGULAR, GREY, LIGHT = "#0072B2", "#D55E00", "#007A5A", "#9A9A9A", "#E4E8EC"

X = np.array([2.55, 1.62])  # position of the body's origin, x to the right and z up
PITCH, RATE = np.radians(24), 0.40  # about y: clockwise on the page
V = np.array([1.30, 0.42])  # x'
R = np.array([[np.cos(PITCH), np.sin(PITCH)], [-np.sin(PITCH), np.cos(PITCH)]])
V_AT_ORIGIN = V - RATE * np.array([X[1], -X[0]])  # x' - w x x
WORLD = np.zeros(2)


def arrow(ax, start, vector, color, width, zorder=3):
    ax.add_patch(
        FancyArrowPatch(
            start, start + vector, arrowstyle="-|>", mutation_scale=5.5 * width, lw=width, color=color,
            shrinkA=0, shrinkB=0, zorder=zorder, joinstyle="miter",
        )
    )  # fmt: skip


def triad(ax, origin, axes, names, used, sides):
    color, width = (AXES, 2.4) if used else (GREY, 1.1)
    for axis, name, side in zip(axes.T, names, sides, strict=True):
        arrow(ax, origin, 0.8 * axis, color, width, zorder=4 if used else 2)
        ax.text(*(origin + 0.8 * axis + side), name, color=color, ha="center", va="center", fontsize=11)


def drone(ax):
    def at(*points):
        return X + np.array(points) @ R.T

    ax.add_patch(Polygon(at((-0.92, -0.05), (0.92, -0.05), (0.92, 0.05), (-0.92, 0.05)), fc=LIGHT, ec=GREY, lw=0.8))
    ax.add_patch(Polygon(at((-0.3, -0.15), (0.3, -0.15), (0.24, 0.15), (-0.24, 0.15)), fc=LIGHT, ec=GREY, lw=0.8))
    for side in (-0.84, 0.84):
        ax.plot(*at((side, 0.05), (side, 0.22)).T, color=GREY, lw=1.6, zorder=1)
        ax.add_patch(Ellipse(at((side, 0.24))[0], 0.78, 0.07, angle=-np.degrees(PITCH), fc=LIGHT, ec=GREY, lw=0.8))


def components(ax, start, vector, axes):
    """Draws the vector as the sum of its components along the axes."""
    for axis in axes.T:
        along = (vector @ axis) * axis
        ax.plot(*np.array([start + along, start + vector]).T, color=LINEAR, lw=0.9, ls=(0, (3, 2)), zorder=2)


def turning(ax, center):
    ax.add_patch(Arc(center, 0.84, 0.84, theta1=195, theta2=300, color=ANGULAR, lw=1.8, zorder=3))
    end = np.radians(195)
    tip = center + 0.42 * np.array([np.cos(end), np.sin(end)])
    arrow(ax, tip, np.array([-0.035, 0.13]), ANGULAR, 1.8)
    ax.text(center[0] - 0.20, center[1] - 0.56, r"$\omega$", color=ANGULAR, ha="center", va="center", fontsize=12)


def panel(ax, title, formula, caption, point, vector, axes, body_axes_used, name, name_at):
    ax.plot(*np.array([WORLD, X]).T, color=GREY, lw=1.1, ls=(0, (1, 2.2)), zorder=1)
    drone(ax)
    triad(ax, WORLD, np.eye(2), ("$x$", "$z$"), title == "world", ((0.17, 0), (-0.17, 0)))
    if title == "mixed":
        triad(ax, X, np.eye(2), ("$x$", "$z$"), True, ((0.16, 0.01), (0, 0.17)))
    else:
        triad(ax, X, R, ("$x_b$", "$z_b$"), body_axes_used, ((-0.13, -0.20), (-0.17, 0.10)))
    components(ax, point, vector, axes)
    arrow(ax, point, vector, LINEAR, 2.6, zorder=5)
    ax.text(*(point + vector + name_at), name, color=LINEAR, ha="left", va="center", fontsize=12)
    turning(ax, point)
    ax.add_patch(Circle(point, 0.075, fc="black", ec="white", lw=0.8, zorder=6))
    ax.text(1.75, 3.22, f'"{title}"', ha="center", fontsize=12.5, family="monospace", weight="bold")
    ax.text(1.75, 2.84, formula, ha="center", fontsize=12)
    ax.text(1.75, -1.2, caption, ha="center", va="center", fontsize=10.5, linespacing=1.35)
    ax.set(xlim=(-0.75, 4.3), ylim=(-1.5, 3.5), aspect="equal")
    ax.axis("off")


plt.rcParams.update({"font.family": "DejaVu Sans", "mathtext.fontset": "cm"})
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.25))
panel(
    panels[0], "body", r"$H^{-1}\dot H$", "point: the body's origin\naxes: the body's",
    X, V, R, True, r"$\dot x$", (0.06, 0.08),
)  # fmt: skip
panel(
    panels[1], "world", r"$\dot H H^{-1}$", "point: of the body, at the world's origin\naxes: the world's",
    WORLD, V_AT_ORIGIN, np.eye(2), False, r"$\dot x - \omega\times x$", (0.10, 0.05),
)  # fmt: skip
panel(
    panels[2], "mixed", r"$(\dot x,\ \omega)$", "point: the body's origin\naxes: the world's",
    X, V, np.eye(2), False, r"$\dot x$", (0.06, 0.08),
)  # fmt: skip
figure.subplots_adjust(left=0, right=1, bottom=0, top=1, wspace=0)
figure.savefig(Path(__file__).with_suffix(".png"), dpi=200, facecolor="white")
