"""The demo: paper A's reference motion, the flight, the propellers, the animation, and the command itself."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce import demo, robots
from jounce.demo.animation import thrusts_of, write_animation
from jounce.demo.command import _show_forces
from jounce.demo.looks import dressed
from time_limits import HANG

WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])


@pytest.fixture(scope="module")
def flight() -> demo.Flight:
    return demo.fly(robots.aerial_manipulator(), repeats=1)


def test_reference_motion_is_consistent() -> None:
    """The velocity stack matches the configurations, row by row."""
    robot = robots.aerial_manipulator()
    t = np.array([3.7])
    h = 0.02
    nodes = np.arange(-4, 5)
    q, v = robots.reference_motion(t + h * nodes, 7)
    rates = np.tensordot(WEIGHTS / h, robot.difference(q[4], q), axes=1)
    body = robot.change_velocity_frame(q[4], v[4], "mixed", "body")
    np.testing.assert_allclose(rates, body[0], rtol=0, atol=1e-11)
    for k in range(6):
        np.testing.assert_allclose(np.tensordot(WEIGHTS / h, v[:, k], axes=1), v[4, k + 1], rtol=0, atol=1e-11)


def test_rows_are_the_slopes_of_the_rows_above(flight: demo.Flight) -> None:
    assert flight.tau.shape == (3000, 6, 12)
    assert max(demo.derivative_error(flight)) < 1e-10
    weight = 9.81 * (2.5 + 6 * 0.25)
    np.testing.assert_allclose(flight.tau[:, 0, 2], weight, rtol=1e-3)  # it flies level


def test_the_way_back(flight: demo.Flight) -> None:
    errors = demo.round_trip_error(flight)
    assert max(errors[:3]) < 1e-8
    assert max(errors) < 1e-5  # limited by rounding of the forces, docs/forward_dynamics.md


# --- propellers ----------------------------------------------------------------------------------------


def test_speeds_give_the_wrench(flight: demo.Flight) -> None:
    base = robots.TiltHex()
    speeds = base.speeds(flight.wrench)
    assert speeds.shape == (3000, 6, 6)
    np.testing.assert_allclose(speeds[:, 0] ** 2 @ base.allocation().T, flight.wrench[:, 0], rtol=0, atol=1e-12)
    step = flight.time[1] - flight.time[0]
    for k in range(5):  # each row is the slope of the row above
        slope = sum(w * speeds[i : 2992 + i, k] for i, w in enumerate(WEIGHTS / step))
        row = speeds[4:-4, k + 1]
        assert np.abs(slope - row).max() < 1e-8 * np.abs(row).max()


def test_base_is_fully_actuated() -> None:
    for alpha, beta in ((0.6, -0.2), (0.3, 0.4)):
        ranks = [
            np.linalg.matrix_rank(robots.TiltHex(alpha=alpha, beta=beta, drag=drag, alternates=alternates).allocation())
            for drag, alternates in ((4.75e-7, True), (4.75e-7, False), (0.0, True), (0.0, False))
        ]
        assert ranks == [6, 6, 6, 3]  # with one alpha, as in (28), by drag alone


def test_propellers_only_push() -> None:
    pull = np.zeros((1, 6))
    pull[0, 2] = -10.0
    with pytest.raises(ValueError, match="asks a propeller to pull"):
        robots.TiltHex().speeds(pull)


# --- output --------------------------------------------------------------------------------------------


def test_animation_is_one_page(flight: demo.Flight, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    base = robots.TiltHex()
    coarse = replace(flight, time=flight.time[::100], q=flight.q[::100])
    speeds = base.speeds(flight.wrench)[::100]
    path = write_animation(robots.aerial_manipulator(), coarse, base, speeds, tmp_path / "new" / "a.html")
    page = path.read_text(encoding="utf-8")
    assert "<title>Aerial manipulator in flight</title>" in page
    assert not re.search(r'<link[^>]*href="http|<script src|@import', page)  # no external resources
    for said in ("forces: 0.1 m is 3.33 N", "forces (rates): 0.1 m is ", " N/s", "path of tool 1", "path of tool 2"):
        assert said in page


def test_thrusts_are_the_wrench_on_the_base(flight: demo.Flight) -> None:
    """The arrows of the page, moved to the base, add up to its force and to its rate; their drag is not drawn."""
    base = robots.TiltHex()
    clad = dressed(robots.aerial_manipulator(), base)
    wrenches = thrusts_of(base, base.speeds(flight.wrench)[::300, :2])
    q = flight.q[::300]
    for i in range(len(q)):
        total = np.zeros((2, 3))
        for k in range(6):
            turn = np.linalg.inv(clad.pose("B1", q[i])) @ clad.pose(f"p{k + 1}", q[i])
            total += wrenches[i, :, k, :3] @ turn[:3, :3].T
        np.testing.assert_allclose(total, flight.wrench[300 * i, :2, :3], rtol=1e-9, atol=1e-9)


def test_the_robot_of_the_page_is_the_same(flight: demo.Flight) -> None:
    robot = robots.aerial_manipulator()
    clad = dressed(robot, robots.TiltHex())
    q, v = flight.q[700], flight.v[700]
    np.testing.assert_allclose(clad.inverse_dynamics(q, v), robot.inverse_dynamics(q, v), rtol=1e-12)
    for tool, link in (("tool 1", "B4"), ("tool 2", "B7")):
        end = robot.pose(link, q) @ np.array([0, 0, -0.12, 1])
        np.testing.assert_allclose(clad.pose(tool, q)[:3, 3], end[:3], atol=1e-12)
    assert all(len(b.visuals) >= 2 for b in clad.bodies[:7])


@pytest.mark.parametrize("slower", [1.0, 5.0, 50.0, 900.0])
def test_table_fits_whatever_the_times(flight: demo.Flight, slower: float) -> None:
    from rich.console import Console

    times = {"inverse": [9.996 * slower] * 6, "forward": [1.0 * slower] * 6}
    console = Console(width=80, file=io.StringIO(), highlight=False)
    _show_forces(replace(flight, **times), console)
    printed = console.file.getvalue()
    assert "…" not in printed
    assert printed.count(" µs") == 12


def test_command(tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    command = [sys.executable, "-c", "from jounce.cli import main; main()", "demo", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    assert "Aerial manipulator" in done.stdout
    assert "…" not in done.stdout, done.stdout  # the tables fit
    for name in ("motion", "forces", "rotors"):
        assert (tmp_path / f"aerial_manipulator_{name}.png").stat().st_size > 50_000
    assert (tmp_path / "aerial_manipulator.html").stat().st_size > 100_000


def test_command_says_what_is_missing() -> None:
    code = "import sys; sys.modules['typer'] = None; from jounce.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode != 0
    assert "pip install 'jounce[demo]'" in done.stderr


@pytest.mark.parametrize(("branches", "links", "bodies"), [(2, 3, 7), (5, 20, 101), (5, 199, 996)])
def test_trees_of_paper_a(branches: int, links: int, bodies: int) -> None:
    assert len(robots.aerial_manipulator(branches, links).body_names) == bodies
