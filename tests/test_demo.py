"""The demo: paper A's reference motion, the flight, the propellers, the animation, and the command itself."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce import demo, robots
from jounce.demo.animation import write_animation
from jounce.demo.command import _show_forces

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
    q, v = demo.reference_motion(t + h * nodes, 7)
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
    base = demo.TiltHex()
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
            np.linalg.matrix_rank(demo.TiltHex(alpha=alpha, beta=beta, drag=drag, alternates=alternates).allocation())
            for drag, alternates in ((4.75e-7, True), (4.75e-7, False), (0.0, True), (0.0, False))
        ]
        assert ranks == [6, 6, 6, 3]  # with one alpha, as in (28), by drag alone


def test_propellers_only_push() -> None:
    pull = np.zeros((1, 6))
    pull[0, 2] = -10.0
    with pytest.raises(ValueError, match="asks a propeller to pull"):
        demo.TiltHex().speeds(pull)


# --- output --------------------------------------------------------------------------------------------


def test_animation_is_one_page(flight: demo.Flight, tmp_path: Path) -> None:
    base = demo.TiltHex()
    path = write_animation(robots.aerial_manipulator(), flight, base, base.speeds(flight.wrench), tmp_path / "a.html")
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://|<link|<script src|@import", page)  # no external resources
    found = re.search(r"const DATA = (\{.*\});", page)
    assert found is not None
    data = json.loads(found[1])
    frames = np.array(data["frames"])
    assert frames.shape == (600, 37)
    np.testing.assert_allclose(frames[:, :7], flight.q[::5, :7], atol=1e-4)
    arms = frames[:, 7:31].reshape(-1, 2, 4, 3)
    np.testing.assert_allclose(np.linalg.norm(np.diff(arms, axis=2), axis=-1), 0.12, atol=3e-4)  # links of 2 d
    assert np.array(data["rotors"]).shape == (6, 3, 4)
    assert [len(curves) for curves in data["torques"]] == [6] * 6


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
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "Aerial manipulator" in done.stdout
    assert "…" not in done.stdout, done.stdout  # the tables fit
    for name in ("motion", "forces", "rotors"):
        assert (tmp_path / f"aerial_manipulator_{name}.png").stat().st_size > 50_000
    assert (tmp_path / "aerial_manipulator.html").stat().st_size > 100_000


def test_command_says_what_is_missing() -> None:
    code = "import sys; sys.modules['typer'] = None; from jounce.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "pip install 'jounce[demo]'" in done.stderr


@pytest.mark.parametrize(("branches", "links", "bodies"), [(2, 3, 7), (5, 20, 101), (5, 199, 996)])
def test_trees_of_paper_a(branches: int, links: int, bodies: int) -> None:
    assert len(robots.aerial_manipulator(branches, links).body_names) == bodies
