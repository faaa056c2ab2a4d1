"""Plots of motions and of stacks over time, with matplotlib: a row of panels for each kind of coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import one_of, printable, quoted, reals
from jounce._extras import needed
from jounce.display import panels
from jounce.display.panels import LINES, Coordinate, Panel, Quantity
from jounce.display.style import BLACK, COLOURS, GREY, RC
from jounce.dynamics.named_coordinates import Names, names
from jounce.model import Model, a_model
from jounce.trajectory import Trajectory, check_owner

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
_COLOURS = (*COLOURS, BLACK, GREY)
_STYLES = ("-", "--", ":", "-.")
_STEPS = [1, 2, 5, 10]  # between ticks
_LONGEST = 28  # characters of a name in a legend
_LIMIT: Any = {"linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1.5}
_BEYOND: Any = {"alpha": 0.25, "linewidth": 0, "interpolate": True, "zorder": 1}


def plot(
    time: ArrayLike,
    stack: ArrayLike,
    robot: Model | None = None,
    *,
    what: Literal["force", "velocity", "input"] = "force",
    joints: Sequence[str] | None = None,
    path: str | PathLike[str] | None = None,
) -> Figure:
    """Draws forces, velocities or inputs and their time derivatives: a column of panels for each order.

    Needs matplotlib: ``pip install 'jounce[demo]'``.

    Args:
        time: (T,) s.
        stack: (T, K, nv), rows of which are the derivatives, as `Model.inverse_dynamics` returns them for T states, or
            only (T, nv); for inputs of soft bodies nu instead of nv. Numbers that are not finite leave gaps.
        robot: whose coordinates they are: gives names, units, and the limits of velocities, accelerations and jerks, or
            of forces and their rates, dashed while a joint is close to them. When left out, lines are numbered.
        what: the quantity in the first row of the stack: forces, unless "velocity" or "input" is given. Numbers do not
            tell them apart: of a motion, ``what="velocity"`` is needed for its units and limits to be right.
        joints: names of the joints, soft bodies or coordinates to draw; all when left out.
        path: file to save the figure to, its format given by the suffix; when left out, the figure belongs to pyplot,
            for ``plt.show()``. A notebook shows it once.

    Returns:
        The matplotlib figure.

    Raises:
        ValueError: an argument has the wrong shape, or a joint does not exist.

    >>> from tempfile import TemporaryDirectory
    >>> import jounce as jn
    >>> robot, time = jn.robots.panda(), np.linspace(0.0, 1.0, 50)
    >>> motion = [np.sin(time + k * np.pi / 2)[:, None] * np.ones(7) for k in range(4)]  # an angle and its derivatives
    >>> tau = robot.inverse_dynamics(motion[0], np.stack(motion[1:], axis=1))  # (50, 2, 7)
    >>> with TemporaryDirectory() as folder:
    ...     figure = jn.plot(time, tau, robot, path=Path(folder) / "torques.png")
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['moment (N m)', 'rate of moment (N m/s)']
    """
    one_of("what", what, "force", "velocity", "input")
    at, values = _over_time(time, stack)
    lines = _lines(values.shape[-1], robot, what)
    columns = []
    for k in range(values.shape[1]):
        labels = panels.input_labels(k)
        if robot is not None and what != "input":
            labels = panels.motion_labels(k + 1) if what == "velocity" else panels.force_labels(k)
        elif what != "input":
            labels = {"?": labels["?"].replace("input", what)}
        limits = None if robot is None or what == "input" else _rate_limits(robot, what, k, values)
        columns.append(Quantity(values[:, k], lines, labels, limits))
    return _drawn(at, panels.rows(columns, joints, robot), path)


def plot_trajectory(
    motion: Trajectory, path: str | PathLike[str] | None, joints: Sequence[str] | None, robot: Model | None
) -> Figure:
    """See `Trajectory.plot`."""
    return _drawn(motion.time, panels.rows(columns_of(motion, robot), joints, robot), path)


def columns_of(motion: Trajectory, robot: Model | None = None) -> list[Quantity]:
    """Positions, velocities and forces of a motion, with the limits of a robot."""
    own = Names(motion.q_names, motion.v_names, motion.q_units, motion.v_units)
    if robot is not None:
        check_owner(motion, robot)
    q, v, tau = panels.of_motion(own)
    ends: tuple[Array | None, ...] = (None,) * 3
    if robot is not None:
        places = np.stack([robot.lower, robot.upper], axis=1)
        ends = places, _either_way(robot.velocity_limit), _either_way(robot.effort_limit)
    return [
        Quantity(motion.q, q, panels.position_labels(), ends[0]),
        Quantity(motion.v, v, panels.motion_labels(1), ends[1]),
        Quantity(motion.tau, tau, panels.force_labels(0), ends[2]),
    ]


def _rate_limits(robot: Model, what: str, order: int, values: Array) -> Array | None:
    """The limits of one row of a stack (T, K, nv); those of acceleration depend on the velocity."""
    if what == "velocity" and order == 1:
        slowing, other, forwards = robot.deceleration_limit, robot.acceleration_limit, np.sign(values[:, 0])
        return np.stack([-np.where(forwards > 0, slowing, other), np.where(forwards < 0, slowing, other)], axis=-1)
    known = {
        ("velocity", 0): robot.velocity_limit,
        ("velocity", 2): robot.jerk_limit,
        ("force", 0): robot.effort_limit,
        ("force", 1): robot.effort_rate_limit,
    }
    return _either_way(known[what, order]) if (what, order) in known else None


def _either_way(most: Array) -> Array:
    return np.stack([-most, most], axis=-1)


def _over_time(time: ArrayLike, stack: ArrayLike) -> tuple[Array, Array]:
    """(T,) and (T, K, n)."""
    at, values = reals("time", time), reals("stack", stack)
    if at.ndim != 1 or not np.isfinite(at).all():
        raise ValueError(f"time is {quoted(time)}, expected finite times (T,)")
    if values.ndim not in (2, 3) or len(values) != len(at):
        raise ValueError(f"stack has shape {values.shape}, expected ({len(at)}, n) or ({len(at)}, K, n)")
    return at, values if values.ndim == 3 else values[:, None]


def _lines(count: int, robot: Model | None, what: str) -> list[Coordinate]:
    if robot is None:
        return [Coordinate(str(i), str(i), "?", "?") for i in range(count)]
    if what == "input":
        found = [Coordinate(name, name, "?", "?") for name in a_model("robot", robot).input_names]
    else:
        _, v, tau = panels.of_motion(names(a_model("robot", robot)))
        found = v if what == "velocity" else tau
    if len(found) != count:
        size = "nu" if what == "input" else "nv"
        raise ValueError(f"stack has {count} columns, expected {size} = {len(found)}, one for each {what} of the robot")
    return found


def _drawn(time: Array, rows: list[list[Panel | None]], path: str | PathLike[str] | None) -> Figure:
    needed("matplotlib", "a figure")
    from matplotlib import rc_context

    from jounce.display.figure import ShownOnce

    if path is not None and not isinstance(path, (str, PathLike)):
        raise ValueError(f"path is {quoted(path)}, expected the name of a file")
    count = max((len(row) for row in rows), default=1)
    wide = min(4.6, max(2.3, 9.3 / count))
    size = wide * count + 1.2, (1.55 if len(rows) > 1 else 1.9) * max(len(rows), 1) + 0.4
    figure = _on_screen(size) if path is None else ShownOnce(figsize=size, layout="constrained")
    with rc_context(RC):
        axes = figure.subplots(len(rows), count, sharex=True, squeeze=False) if rows else np.zeros((0, 0), dtype=object)
        for row, across in zip(rows, axes, strict=True):
            for panel, ax in zip(row, across, strict=True):
                _draw_panel(ax, time, panel)
            _draw_legend(across[-1], [panel for panel in row if panel is not None])
        for ax in axes[-1:].flat:
            ax.set_xlabel("time (s)")
        figure.align_ylabels()
        if path is not None:
            figure.savefig(Path(path), dpi=200)
    return figure


def _on_screen(size: tuple[float, float]) -> Figure:
    """A figure of pyplot, made outside of `rc_context`, which would undo what a notebook sets up for its first one."""
    import matplotlib.pyplot as plt

    from jounce.display.figure import ShownOnce

    return plt.figure(figsize=size, layout="constrained", FigureClass=ShownOnce)


def _draw_panel(ax: Axes, time: Array, panel: Panel | None) -> None:
    if panel is None:
        ax.set_axis_off()
        return
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    for i, number in enumerate(panel.colours):
        ax.plot(time, panel.values[:, i], **_line(number))
    _draw_limits(ax, time, panel)
    ax.set_ylabel(panel.label if len(panel.label) <= 26 else panel.label.replace(" (", "\n("))
    ax.margins(x=0)
    ax.grid(alpha=0.25, linewidth=0.5)
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=_STEPS))
    numbers = ScalarFormatter(useOffset=False)
    numbers.set_powerlimits((-3, 4))
    ax.yaxis.set_major_formatter(numbers)


def _line(number: int) -> dict[str, Any]:
    style = _STYLES[number // len(_COLOURS) % len(_STYLES)]
    return {"color": _COLOURS[number % len(_COLOURS)], "linestyle": style, "linewidth": 1.1}


def _draw_limits(ax: Axes, time: Array, panel: Panel) -> None:
    """Dashes at the limits of a line, in its colour, while it is close; what is beyond them is filled.

    Between the limits of a single line there is a band; bands of several would cover each other.
    """
    beyond = _beyond(panel)
    for i, side in np.argwhere(np.isfinite(panel.limits).any(axis=0)):
        colour, limit = _line(panel.colours[i])["color"], panel.limits[:, i, side]
        ax.plot(time, limit, color=colour, **_LIMIT)
        if beyond[:, i, side].any():
            ax.fill_between(time, panel.values[:, i], limit, where=beyond[:, i, side], color=colour, **_BEYOND)
    margin = 0.06 * (panel.top - panel.bottom)
    ends = panel.bottom - margin, panel.top + margin
    ax.set_ylim(*ends)
    if len(panel.names) == 1 and np.isfinite(panel.limits).any():
        lower, upper = np.where(np.isfinite(panel.limits[:, 0]), panel.limits[:, 0], ends).T
        shade = {"color": _line(panel.colours[0])["color"], "alpha": 0.07, "linewidth": 0, "zorder": 0}
        if np.ptp(lower) == 0 and np.ptp(upper) == 0:
            ax.axhspan(lower[0], upper[0], **shade)
        else:
            ax.fill_between(time, lower, upper, **shade)


def _beyond(panel: Panel) -> NDArray[np.bool_]:
    """(T, m, 2): where a line is beyond its limits, by more than rounding errors."""
    least = 1e-9 * (panel.top - panel.bottom)
    lower, upper = panel.limits[..., 0], panel.limits[..., 1]
    return np.stack([lower - panel.values > least, panel.values - upper > least], axis=-1)


def _draw_legend(ax: Axes, row: list[Panel]) -> None:
    """The names of a row's lines, to the right of it."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    panel = row[0]
    handles: list[Line2D | Patch] = [Line2D([], [], **_line(number)) for number in panel.colours[:LINES]]
    shown = [_short(printable(name)) for name in panel.names[:LINES]]
    if len(panel.names) > LINES:
        handles.append(Line2D([], [], linestyle=""))
        shown.append(f"and {len(panel.names) - LINES} more")
    if any(np.isfinite(each.limits).any() for each in row):
        handles.append(Line2D([], [], color=GREY, **_LIMIT))
        shown.append("limits")
    if any(_beyond(each).any() for each in row):
        handles.append(Patch(color=GREY, alpha=_BEYOND["alpha"], linewidth=0))
        shown.append("beyond limits")
    legend = ax.legend(
        handles,
        ["name"] * len(handles),  # matplotlib skips labels that begin with _, and reads $ as mathematics
        loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False, handlelength=1.4, labelspacing=0.35,
    )  # fmt: skip
    for text, name in zip(legend.get_texts(), shown, strict=True):
        text.set(text=name, parse_math=False, usetex=False)


def _short(name: str) -> str:
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[: half - 1]}…{name[-half:]}"
