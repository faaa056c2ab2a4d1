"""Pictures like Fig. 3(a) and (b) of paper A, and the propellers' speeds."""

from __future__ import annotations

from pathlib import Path

from jounce.demo.flight import ORDER, Flight
from jounce.display.style import BLACK, COLOURS, legend_above, picture, tidy
from jounce.robots import Array

_JOINTS = [f"$q_{j}$" for j in range(2, 8)]
_AXES = ["$x$", "$y$", "$z$"]


def _per(unit: str, k: int) -> str:
    return unit if k == 0 else f"{unit}/s" if k == 1 else f"{unit}/s$^{{{k}}}$"


def draw_motion(flight: Flight, path: Path) -> None:
    """Fig. 3(a): the motion given to inverse dynamics and, dashed, the one that forward dynamics returns."""
    columns = [
        ("base, linear", "m", slice(0, 3), _AXES),
        ("base, angular", "rad", slice(3, 6), _AXES),
        ("joints", "rad", slice(6, 12), _JOINTS),
    ]
    with picture(path, ORDER + 1, 3, figsize=(7.5, 8.6), sharex=True) as (figure, axes):
        for c, (title, unit, part, names) in enumerate(columns):
            for k in range(ORDER + 1):
                ax = axes[k, c]
                for i, name in enumerate(names):
                    ax.plot(
                        flight.time, flight.v[:, k + 1, part][:, i], color=COLOURS[i], lw=1.8, alpha=0.6, label=name
                    )
                for i in range(len(names)):
                    ax.plot(flight.time, flight.back[:, k, part][:, i], color=BLACK, lw=0.7, ls=(0, (4, 4)))
                tidy(ax, "time (s)" if k == ORDER else "", _per(unit, k + 2), title if k == 0 else "")
                ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
                if c == 0:
                    ax.annotate(f"$r = {k}$", (-0.6, 0.5), xycoords="axes fraction", va="center", fontsize=9)
            legend_above(axes[0, c])
        figure.suptitle(
            "Spatial acceleration of the flight and its derivatives: given (colour), and back from the forces (dashed)",
            fontsize=10,
        )


def draw_forces(flight: Flight, path: Path) -> None:
    """Fig. 3(b): the forces and their derivatives."""
    columns = [
        ("moment on the base", "N m", slice(3, 6), _AXES),
        ("force on the base", "N", slice(0, 3), _AXES),
        ("joint torques", "N m", slice(6, 12), [f"$\\tau_{j}$" for j in range(2, 8)]),
    ]
    with picture(path, ORDER + 1, 3, figsize=(7.5, 8.6), sharex=True) as (figure, axes):
        for c, (title, unit, part, names) in enumerate(columns):
            for k in range(ORDER + 1):
                ax = axes[k, c]
                for i, name in enumerate(names):
                    ax.plot(flight.time, flight.tau[:, k, part][:, i], color=COLOURS[i], lw=1.1, label=name)
                tidy(ax, "time (s)" if k == ORDER else "", _per(unit, k), title if k == 0 else "")
                ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
                if c == 0:
                    ax.annotate(f"$r = {k}$", (-0.56, 0.5), xycoords="axes fraction", va="center", fontsize=9)
            legend_above(axes[0, c])
        figure.suptitle(
            "Aerial manipulator: the forces of its flight and their time derivatives to order $r$", fontsize=10
        )


def draw_rotors(flight: Flight, speeds: Array, path: Path) -> None:
    """The propellers' speeds (T, K, 6) and their first two derivatives."""
    with picture(path, 1, 3, figsize=(7.5, 2.5), sharex=True) as (figure, axes):
        for k, (ax, unit) in enumerate(zip(axes, ("rad/s", "rad/s$^2$", "rad/s$^3$"), strict=True)):
            for i in range(6):
                ax.plot(flight.time, speeds[:, k, i], color=COLOURS[i], lw=1.2, label=f"$p_{i + 1}$")
            titles = "propeller speeds $\\omega$", "$\\dot\\omega$", "$\\ddot\\omega$"
            tidy(ax, "time (s)", unit, titles[k])
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, handlelength=1.4)
