"""Paper A, section 7: the 12-DoF aerial manipulator on its reference motion, forces to fifth order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import robots
from .model import Model

Array = NDArray[np.float64]

HORIZON = 30.0  # s; Table 3
STEP = 0.01  # s
ORDER = 5


@dataclass(frozen=True, eq=False)
class Flight:
    """The reference motion and the forces it takes, over time."""

    time: Array  # (T,) s
    q: Array  # (T, nq)
    v: Array  # (T, ORDER + 2, nv), base rows in world axes
    tau: Array  # (T, ORDER + 1, nv), base rows in world axes
    microseconds: list[float]  # a call, single state, for each order


def reference_motion(t: Array, rows: int) -> tuple[Array, Array]:
    """Configurations (T, 13) and velocity stacks (T, rows, 12), base in mixed axes (Table 3 of paper A).

    The base flies a circle of 1 m at height 0 in 20 s while its yaw swings by 25 degrees in 30 s; each joint goes
    half a cosine wave from its initial angle. The paper does not say the phase of the yaw: it starts at zero here.
    """
    circle, swing, bend = 2 * np.pi / 20, 2 * np.pi / 30, np.pi / HORIZON
    amplitude = np.deg2rad(25.0)
    start = np.deg2rad([10.0, -5.0, 15.0, -10.0, 7.0, -12.0])
    reach = np.deg2rad([60.0, 50.0, 40.0, 55.0, 45.0, 35.0])

    q = np.zeros((len(t), 13))
    yaw = amplitude * np.sin(swing * t)
    q[:, 0], q[:, 1] = np.cos(circle * t), np.sin(circle * t)
    q[:, 5], q[:, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
    q[:, 7:] = start + reach / 2 * (1 - np.cos(bend * t))[:, None]

    v = np.zeros((len(t), rows, 12))
    for k in range(rows):  # derivative k + 1 of sin(a t) is a^(k+1) sin(a t + (k+1) pi/2)
        quarter = (k + 1) * np.pi / 2
        v[:, k, 0] = circle ** (k + 1) * np.cos(circle * t + quarter)
        v[:, k, 1] = circle ** (k + 1) * np.sin(circle * t + quarter)
        v[:, k, 5] = amplitude * swing ** (k + 1) * np.sin(swing * t + quarter)
        v[:, k, 6:] = -reach / 2 * (bend ** (k + 1) * np.cos(bend * t + quarter))[:, None]
    return q, v


def fly(robot: Model, advance: Callable[[], None] = lambda: None) -> Flight:
    """Forces along the reference motion, and the time a call takes at each order."""
    t = np.arange(0.0, HORIZON, STEP)
    q, mixed = reference_motion(t, ORDER + 2)
    v = robot.change_velocity_frame(q, mixed, "mixed", "world")
    tau = robot.inverse_dynamics(q, v, frame="world")
    advance()
    body = robot.change_velocity_frame(q, v, "world", "body")
    microseconds = []
    for order in range(ORDER + 1):
        stacks = np.ascontiguousarray(body[:, : order + 2])
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            for state, stack in zip(q, stacks, strict=True):
                robot.inverse_dynamics(state, stack)
            best = min(best, (time.perf_counter() - begin) / len(q))
        microseconds.append(best * 1e6)
        advance()
    return Flight(t, q, v, tau, microseconds)


def derivative_error(flight: Flight) -> list[float]:
    """How far each row of forces is from the slope of the row before it, relative to its magnitude.

    The slope comes from an eighth-order central difference over time, which knows nothing of dynamics.
    """
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / STEP
    errors = []
    for k in range(ORDER):
        slope = sum(w * flight.tau[i : len(flight.tau) - 8 + i, k] for i, w in enumerate(weights))
        row = flight.tau[4:-4, k + 1]
        errors.append(float(np.abs(slope - row).max() / np.abs(row).max()))
    return errors


def draw(flight: Flight, path: Path) -> None:
    """The forces to fifth order, as Fig. 3(b) of paper A draws them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]  # Okabe and Ito's, for all eyes
    columns = [
        ("moment on the base", "N m", slice(3, 6), ["$x$", "$y$", "$z$"]),
        ("force on the base", "N", slice(0, 3), ["$x$", "$y$", "$z$"]),
        ("joint torques", "N m", slice(6, 12), [f"$\\tau_{j}$" for j in range(2, 8)]),
    ]
    with plt.rc_context({"font.size": 8, "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(ORDER + 1, 3, figsize=(7.5, 8.6), sharex=True, layout="constrained")
        for c, (title, unit, part, names) in enumerate(columns):
            for k in range(ORDER + 1):
                ax = axes[k, c]
                for i, name in enumerate(names):
                    ax.plot(flight.time, flight.tau[:, k, part][:, i], color=colours[i], linewidth=1.1, label=name)
                ax.set_ylabel(unit if k == 0 else f"{unit}/s" if k == 1 else f"{unit}/s$^{k}$")
                ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
                ax.margins(x=0)
                ax.grid(alpha=0.25, linewidth=0.5)
                if c == 0:
                    ax.annotate(f"$r = {k}$", (-0.56, 0.5), xycoords="axes fraction", va="center", fontsize=9)
            axes[0, c].set_title(title, pad=24)
            axes[-1, c].set_xlabel("time (s)")
            above = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.97)}
            axes[0, c].legend(
                ncols=3, fontsize=7, frameon=False, columnspacing=1, handlelength=1.2, labelspacing=0.1, **above
            )
        figure.suptitle(
            "Aerial manipulator: the forces of its flight and their time derivatives to order $r$", fontsize=10
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
        plt.close(figure)


def run(output: Path) -> Path:
    """Flies, prints a table, saves the figure; returns its path."""
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    console = Console()
    robot = robots.aerial_manipulator()
    console.print(
        f"[bold]Aerial manipulator[/bold] of paper A, section 7: {len(robot.body_names)} bodies, {robot.nv} degrees of "
        f"freedom, on its reference motion for {HORIZON:g} s in {round(HORIZON / STEP)} steps.\n"
    )
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("inverse dynamics", total=ORDER + 3)

        def advance() -> None:
            progress.advance(task)

        flight = fly(robot, advance)
        path = output / "aerial_manipulator_forces.png"
        draw(flight, path)
        advance()

    table = Table(
        title="Largest magnitudes over the flight, base in world axes about the world origin", title_justify="left"
    )
    headings = ("order", "base force", "base moment", "joint torque", "unit", "check", "time")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    errors = derivative_error(flight)
    for k in range(ORDER + 1):
        force, moment, torque = (np.abs(flight.tau[:, k, s]).max() for s in (slice(0, 3), slice(3, 6), slice(6, 12)))
        per = "" if k == 0 else "/s" if k == 1 else f"/s^{k}"
        check = f"{errors[k - 1]:.0e}" if k > 0 else ""
        table.add_row(
            str(k),
            f"{force:.3g}",
            f"{moment:.3g}",
            f"{torque:.3g}",
            f"N{per}",
            check,
            f"{flight.microseconds[k]:.2f} µs",
        )
    console.print(table)
    console.print(
        "Moments and torques in N m likewise. Check: how far the row is from the slope in time of the row above it, "
        "relative. Time: one call from Python for all rows up to that order."
    )
    console.print(f"\nFigure: {path}")
    return path
