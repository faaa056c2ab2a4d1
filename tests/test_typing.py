"""What type checkers say about programs that use jounce."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import types
from pathlib import Path
from xml.etree import ElementTree
import numpy as np
import jounce as jn

robot = jn.load(Path("a.urdf"))
for source in (ElementTree.parse("a.urdf"), ElementTree.fromstring("<robot/>"), types.ModuleType("a"), b"<robot/>"):
    jn.load(source)
motion = jn.simulate(robot, robot.neutral(), np.zeros(robot.nv), np.linspace(0, 1, 5))
times: list[float] = [state.time for state in motion] + [motion[0].time, motion[np.int64(1)].time]
shorter: list[jn.Trajectory] = [motion[1:], motion[motion.time > 0.5], motion[np.array([0, 1])], motion[[0, 1]]]
"""
WRONG = ("jn.load(3)", "jn.load(None)", "jn.load(open('a.urdf'))", "motion['q']", "motion[1.5]", "motion[1:].name")


def test_right_programs_pass_and_wrong_ones_do_not(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    lines = [*PROGRAM.splitlines(), *WRONG]
    program.write_text("\n".join(lines))
    options = ("--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"))
    command = [sys.executable, "-m", "mypy", *options, str(program)]  # in this process it would keep 200 MB
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    faulty = {int(number) for number in re.findall(r":(\d+): error:", done.stdout)}
    assert not done.stderr
    assert [lines[n - 1] for n in sorted(faulty)] == list(WRONG), done.stdout
