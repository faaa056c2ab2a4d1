"""``jounce simulate``"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import typer

from jounce._checks import counted, printable
from jounce._extras import needed
from jounce._printable import brief
from jounce.commands.options import (
    allow_option,
    base_option,
    described,
    faults_in_one_line,
    file_argument,
    friction_option,
    need_viewer,
    number,
    one_line,
    untrusted_option,
    vector,
    warn_about,
)

if TYPE_CHECKING:
    from jounce.loading.formats import Friction
    from jounce.model import Model
    from jounce.trajectory import Trajectory

_SHOWN = 40  # coordinates in the table
Method = Literal["taylor", "rkmk", "implicit"]
_METHODS = ["taylor", "rkmk", "implicit"]
_NUMBER: dict[str, Any] = {"parser": number, "metavar": "NUMBER"}


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(simulate)


def simulate(
    file: Path = file_argument(),  # noqa: B008
    duration: float = typer.Option(5.0, "--time", **_NUMBER, help="How long, s."),
    rate: float = typer.Option(100.0, **_NUMBER, help="States per second in what is saved."),
    q: list[str] = typer.Option([], metavar="NAME=VALUE", help="Where a coordinate starts, rad or m; repeat for more."),  # noqa: B008
    v: list[str] = typer.Option([], metavar="NAME=VALUE", help="Its speed there, rad/s or m/s; repeat for more."),  # noqa: B008
    start: Path | None = typer.Option(  # noqa: B008
        None, metavar="FILE", help="State to start from: the end of an .npz or .csv, or a .json."
    ),
    hold: float | None = typer.Option(None, **_NUMBER, help="Hold the joints by springs of this frequency, Hz."),
    method: str | None = typer.Option(
        None,
        metavar="|".join(_METHODS),
        help="When left out, 'taylor', and 'implicit' with --hold or --friction.",
        autocompletion=lambda: _METHODS,
    ),
    rtol: float = typer.Option(1e-9, **_NUMBER, help="Relative error that a step may make."),
    atol: float = typer.Option(1e-10, **_NUMBER, help="Absolute error that a step may make."),
    time_limit: float | None = typer.Option(None, **_NUMBER, help="Seconds that it may take."),
    gravity: Any = typer.Option(None, parser=vector, metavar="X,Y,Z", help="m/s^2; that of the file when left out."),  # noqa: B008
    friction: Any = friction_option(),  # noqa: B008
    base: str = base_option(),
    allow: list[Path] = allow_option(),  # noqa: B008
    untrusted: bool = untrusted_option(),
    save: Path | None = typer.Option(None, metavar="FILE", help="File to save the motion to, .npz or .csv."),  # noqa: B008
    plot: Path | None = typer.Option(None, metavar="FILE", help="Picture of it over time, .png, .pdf or .svg."),  # noqa: B008
    view: Path | None = typer.Option(None, metavar="FILE", help="Page that plays it in a browser, .html."),  # noqa: B008
) -> None:
    """Let a robot move: under its weight alone, or with its joints held; then save, plot or show the motion."""
    with faults_in_one_line():
        for option, path, endings in (
            ("--save", save, (".npz", ".csv")),
            ("--plot", plot, (".png", ".pdf", ".svg")),
            ("--view", view, (".html", ".htm")),
        ):
            _check_file(option, path, endings)
        times = _times(duration, rate)
        chosen = _chosen(method, hold, friction)
        if plot is not None:  # before a long run, not after it
            needed("matplotlib", "a figure")
        if view is not None:
            need_viewer()
        description = described(file, base, allow, untrusted, friction, gravity)
        warn_about(description)
        robot = description.model()

        import jounce as jn
        from jounce.commands.start import start_of
        from jounce.simulation.hold import holding

        q0, v0 = start_of(robot, start, q, v)
        tau = None if hold is None else holding(robot, q0, hold)
        begin, failure = time.perf_counter(), ""
        try:
            motion = jn.simulate(robot, q0, v0, times, tau, method=chosen, rtol=rtol, atol=atol, time_limit=time_limit)
        except jn.SimulationError as fault:
            motion, failure = fault.trajectory, str(fault)
        if len(motion):  # it may fail at once
            _tell(robot, motion, file.stem, chosen, time.perf_counter() - begin)
            _keep(robot, motion, file.stem, save, plot, view)
    if failure:
        sys.exit(one_line(failure))


def _check_file(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    """Before a long run, not after it."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise ValueError(f"{option} is {str(path)!r}, expected a name that ends in {' or '.join(endings)}")
    if not path.parent.is_dir():
        raise ValueError(f"{option} is {str(path)!r}, but there is no folder {str(path.parent)!r}")


def _times(duration: float, rate: float) -> list[float]:
    if not 0 < duration < 1e9:
        raise ValueError(f"--time is {duration:g}, expected a positive number of seconds")
    if not 0 < rate <= 1e6:
        raise ValueError(f"--rate is {rate:g}, expected a positive number of states per second, up to 1e6")
    count = max(1, round(duration * rate))
    if count > 10_000_000:
        raise ValueError(f"--time and --rate make {count} states, expected at most 10000000")
    return [duration * i / count for i in range(count + 1)]


def _chosen(method: str | None, hold: float | None, friction: Friction) -> Method:
    """The method; one that takes feedback, if the joints are held, and for friction one that is not slow near rest."""
    if method is not None and method not in _METHODS:
        raise ValueError(f"--method is {method!r}, expected {' or '.join(map(repr, _METHODS))}")
    if hold is not None and method == "taylor":
        raise ValueError("--method is 'taylor', which takes no feedback: with --hold, expected 'rkmk' or 'implicit'")
    return cast(Method, method) if method else "implicit" if hold is not None or friction else "taylor"


def _tell(robot: Model, motion: Trajectory, name: str, method: str, seconds: float) -> None:
    """The motion in a few lines: where each coordinate began, ended, and between which values it was."""
    span = motion.time[-1] - motion.time[0]
    states = counted(len(motion), "state")
    print(f"{printable(name)}: {span:g} s of motion, {states}, method {method}, in {seconds:.2g} s")
    energy = [float(robot.kinetic_energy(s.q, s.v) + robot.potential_energy(s.q)) for s in (motion[0], motion[-1])]
    print(f"energy: {energy[0]:.9g} J at the start, {energy[1]:.9g} J at the end\n")
    names = [brief(each) for each in motion.q_names[:_SHOWN]]
    width = max(map(len, ("coordinate", *names)))
    print(f"{'coordinate':{width}}  {'start':>10}  {'end':>10}  {'lowest':>10}  {'highest':>10}")
    for i, each in enumerate(names):
        column = motion.q[:, i]
        values = [x if abs(x) > 1e-12 else 0.0 for x in (column[0], column[-1], column.min(), column.max())]
        unit = "" if motion.q_units[i] == "1" else f" {motion.q_units[i]}"
        print(f"{each:{width}}  {'  '.join(f'{x:10.4g}' for x in values)}{unit}")
    if len(motion.q_names) > _SHOWN:
        print(f"and {len(motion.q_names) - _SHOWN} more")


def _keep(robot: Model, motion: Trajectory, name: str, save: Path | None, plot: Path | None, view: Path | None) -> None:
    if any((save, plot, view)):
        print()
    if save is not None:
        print(f"wrote {motion.save(save)}")
    if plot is not None:
        motion.plot(plot)
        print(f"wrote {plot}")
    if view is not None:
        motion.show(robot, save=view, name=name if any(c.isalnum() for c in name) else "robot")
        print(f"wrote {view}")
