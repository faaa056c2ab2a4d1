"""The command line: commands that other packages add, or would add if installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from jounce.cli import main; main()"]


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    places = [*([str(path)] if path else []), *sys.path]
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(places)}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)


def test_a_package_adds_a_command(tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text(
        "def add(app):\n    @app.command()\n    def greet():\n        print('good day')\n"
    )
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[jounce.commands]\ngreeting = greeting:add\n")
    assert run("greet", path=tmp_path).stdout == "good day\n"
    assert "greet" in run("--help", path=tmp_path).stdout


@pytest.mark.parametrize("name", ["bench", "reproduce"])
def test_commands_of_a_package_that_is_not_installed(name: str) -> None:
    done = run(name, "all", "--quick")
    if done.returncode == 0 or "jounce-lab" not in done.stderr:
        pytest.skip("jounce-lab is installed")
    assert (
        done.stderr == f"jounce: {name!r} is a command of jounce-lab: pip install ./lab, in a clone of the repository\n"
    )


def test_the_lab_has_them() -> None:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "jounce_lab", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=True)
    assert "bench" in done.stdout
    assert "reproduce" in done.stdout
