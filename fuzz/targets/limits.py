"""Files of limits like MoveIt's joint_limits.yaml: a robot with other limits, or a `LoadError`."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np

import jounce as jn

from .urdf import expect_short

_MAXIMA = ("velocity", "acceleration", "deceleration", "jerk", "effort")
WORDS = [
    *(f"has_{key}_limits: true\n    max_{key}: ".encode() for key in _MAXIMA),
    *(b"joint_limits:\n", b"  q1:\n", b"    max_position: ", b"min_position", b"true", b"false", b"yes", b"~", b"null"),
    *(
        b"0",
        b"-1",
        b"nan",
        b".nan",
        b"-.inf",
        b".inf",
        b"1e308",
        b"1e-320",
        b"0x10",
        b"1_0",
        b"1:30",
        b"2020-01-01",
        b"010",
    ),
    *(
        b"!degrees ",
        b"!!float ",
        b"!!python/name:os",
        b"!<tag:yaml.org,2002:binary> ",
        b"&a ",
        b"*a",
        b"<<: ",
        b"? ",
        b": ",
    ),
    *(
        b"- ",
        b"[",
        b"]",
        b"{",
        b"}",
        b"'",
        b'"',
        b"|\n",
        b">-\n",
        b"# ",
        b"---\n",
        b"...\n",
        b"%YAML 1.3\n",
        b"\t",
        b"\xff\xfe",
    ),
]
SHORT = 1000  # inputs of a short round
_FOLDER = tempfile.TemporaryDirectory()
_PANDA = jn.robots.panda()


def seeds() -> list[bytes]:
    joint = "\n".join(f"    has_{key}_limits: true\n    max_{key}: 2.5" for key in _MAXIMA)
    block = f"joint_limits:\n  q1:\n{joint}\n  q2:\n    min_position: !degrees -30\n    has_jerk_limits: false\n"
    flow = "/**: {ros__parameters: {joint_limits: {q3: {has_velocity_limits: yes, max_velocity: 1e-1}}}}\n"
    return [block.encode(), flow.encode()]


def check(data: bytes) -> None:
    path = Path(_FOLDER.name, "joint_limits.yaml")
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", jn.LoadWarning)
        try:
            robot = _PANDA.with_limits(path)
        except jn.LoadError as error:
            expect_short(error)
            return
    for key in ("velocity", "acceleration", "deceleration", "jerk", "effort", "effort_rate"):
        most = getattr(robot, f"{key}_limit")
        assert (most >= 0).all(), most
    assert (robot.lower <= robot.upper).all()
    assert np.array_equal(robot.mass_matrix(robot.neutral()), _PANDA.mass_matrix(_PANDA.neutral()))
