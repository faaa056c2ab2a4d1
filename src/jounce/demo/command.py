"""``jounce demo``: flies, prints two tables, saves figures and the animation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jounce import robots
from jounce.demo.animation import write_animation
from jounce.demo.figures import draw_forces, draw_motion, draw_rotors
from jounce.demo.flight import ORDER, Flight, derivative_error, fly, round_trip_error
from jounce.robots import HORIZON, STEP, Array, TiltHex


def run(output: Path) -> list[Path]:
    """Flies, prints the tables, writes the figures and the animation; returns their paths."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    console = Console(highlight=False)
    robot, hexarotor = robots.aerial_manipulator(), TiltHex()
    console.print(
        f"[bold]Aerial manipulator[/bold] of paper A, section 7: {len(robot.body_names)} bodies, {robot.nv} degrees of "
        f"freedom, on its reference motion for {HORIZON:g} s in {round(HORIZON / STEP)} steps.\n"
    )
    paths = [output / f"aerial_manipulator_{name}.png" for name in ("motion", "forces", "rotors")]
    page = output / "aerial_manipulator.html"
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("dynamics to order 5", total=2 * ORDER + 7)

        def advance(doing: str | None = None) -> None:
            progress.update(task, advance=1, description=doing)

        flight = fly(robot, advance)
        speeds = hexarotor.speeds(flight.wrench)
        advance("figures")
        draw_motion(flight, paths[0])
        advance()
        draw_forces(flight, paths[1])
        advance()
        draw_rotors(flight, speeds, paths[2])
        advance("animation")
        write_animation(robot, flight, hexarotor, speeds, page)
    _show_forces(flight, console)
    _show_rotors(speeds, hexarotor, console)
    for path in (*paths, page):
        console.print(f"written: {escape(str(path))}", soft_wrap=True)
    return [*paths, page]


def _show_forces(flight: Flight, console: Any) -> None:
    table = _table(
        "Largest magnitudes over the flight, base in world axes about the origin",
        ("r", "force", "moment", "torque", "unit", "slope", "back", "inverse", "forward"),
    )
    slopes, back = derivative_error(flight), round_trip_error(flight)
    for k in range(ORDER + 1):
        force, moment, torque = (np.abs(flight.tau[:, k, s]).max() for s in (slice(0, 3), slice(3, 6), slice(6, 12)))
        per = "" if k == 0 else "/s" if k == 1 else f"/s^{k}"
        table.add_row(
            str(k), f"{force:.3g}", f"{moment:.3g}", f"{torque:.3g}", f"N{per}", f"{slopes[k - 1]:.0e}" if k else "",
            f"{back[k]:.0e}", _time(flight.inverse[k]), _time(flight.forward[k]),
        )  # fmt: skip
    console.print(table)
    console.print(
        "Force and moment on the base, torque of the joints (N m likewise). Slope: how far the row is from the slope "
        "in "
        "time of the row above, relative. Back: how far forward dynamics, fed with these rows, is from the motion "
        "they came from, "
        "relative (float64 allows about 1e-6 at r = 5: that derivative of the motion is small, and the rounding of the "
        "forces is not). Inverse, forward: one call from Python for all rows up to r.\n"
    )


def _time(microseconds: float) -> str:
    """Four characters and the unit, so that the table keeps its width on a busy machine."""
    digits = 2 if microseconds < 9.995 else 1 if microseconds < 99.95 else 0
    return f"{microseconds:.{digits}f} µs"


def _show_rotors(speeds: Array, hexarotor: TiltHex, console: Any) -> None:
    headings = ("", *(f"p{i}" for i in range(1, 7)), "unit")
    table = _table("Propellers of the TiltHex base: speeds and their largest derivatives", headings)
    for name, row in (("slowest", speeds[:, 0].min(axis=0)), ("fastest", speeds[:, 0].max(axis=0))):
        table.add_row(name, *(f"{x:.1f}" for x in row), "rad/s")
    for k, name in enumerate(("rate", "2nd", "3rd", "4th", "5th"), 1):
        table.add_row(name, *(f"{x:.3g}" for x in np.abs(speeds[:, k]).max(axis=0)), f"rad/s^{k + 1}")
    console.print(table)
    console.print(
        "The paper leaves out the geometry and the coefficients of the propellers. Chosen here: a = "
        f"{hexarotor.a:g} m, alpha = ±{np.rad2deg(hexarotor.alpha):.0f}°, beta = {np.rad2deg(hexarotor.beta):.0f}°, "
        "c_f = "
        f"{hexarotor.thrust:g} N s², c_d = ±{hexarotor.drag:g} N m s², alpha and the sense of rotation alternating "
        "as on the real TiltHex.\n"
    )


def _table(title: str, headings: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table
