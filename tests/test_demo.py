"""The demo: paper A's reference motion, and the command itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jounce import demo, robots


def test_reference_motion_is_consistent() -> None:
    """The velocity stack is what the configurations do, row by row."""
    robot = robots.aerial_manipulator()
    t = np.array([3.7])
    h = 0.02
    nodes = np.arange(-4, 5)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / h
    q, v = demo.reference_motion(t + h * nodes, 7)
    rates = np.tensordot(weights, robot.difference(q[4], q), axes=1)
    body = robot.change_velocity_frame(q[4], v[4], "mixed", "body")
    np.testing.assert_allclose(rates, body[0], rtol=0, atol=1e-11)
    for k in range(6):
        np.testing.assert_allclose(np.tensordot(weights, v[:, k], axes=1), v[4, k + 1], rtol=0, atol=1e-11)


def test_rows_are_the_slopes_of_the_rows_above() -> None:
    flight = demo.fly(robots.aerial_manipulator())
    assert flight.tau.shape == (3000, 6, 12)
    assert max(demo.derivative_error(flight)) < 1e-10
    weight = 9.81 * (2.5 + 6 * 0.25)
    np.testing.assert_allclose(flight.tau[:, 0, 2], weight, rtol=1e-3)  # it flies level


def test_command(tmp_path: Path) -> None:
    environment = {**os.environ, "COLUMNS": "120"}
    command = [sys.executable, "-c", "from jounce.cli import main; main()", "demo", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=True)
    assert "Aerial manipulator" in done.stdout
    assert (tmp_path / "aerial_manipulator_forces.png").stat().st_size > 50_000


def test_command_says_what_is_missing() -> None:
    code = "import sys; sys.modules['typer'] = None; from jounce.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "pip install 'jounce[demo]'" in done.stderr


@pytest.mark.parametrize(("branches", "links", "bodies"), [(2, 3, 7), (5, 20, 101), (5, 199, 996)])
def test_trees_of_paper_a(branches: int, links: int, bodies: int) -> None:
    assert len(robots.aerial_manipulator(branches, links).body_names) == bodies
