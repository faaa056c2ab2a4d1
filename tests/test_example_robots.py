"""Robots of the package example-robot-data, by name."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

import jounce as jn
from jounce.loading import example_robots
from time_limits import HANG
from urdf_peer import urdf_path, urdf_paths


def test_every_robot_has_a_name() -> None:
    names = {"/".join((path.parts[path.parts.index("robots") + 1], path.stem)): path for path in urdf_paths()}
    assert len(names) == len(urdf_paths()) > 50
    for name, path in names.items():
        assert example_robots.example_robot(f"example-robot-data:{name}") == path


def test_by_the_name_of_the_file() -> None:
    robot, same = jn.load("example-robot-data:panda"), jn.load(urdf_path("panda.urdf"))
    assert robot.joint_names == same.joint_names
    assert [b.name for b in robot.bodies] == [b.name for b in same.bodies]
    assert jn.load("example-robot-data:panda.urdf", base="floating").nv == same.nv + 6
    assert any(b.visuals for b in robot.bodies)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("pandaa", r"did you mean 'panda'"),
        ("talos", r"'talos_reduced'"),
        ("solo1", r"did you mean 'solo12'\?"),
        ("", r"there are "),
        ("../panda", r"there are |did you mean "),
    ],
)
def test_names_that_are_not_there(name: str, hint: str) -> None:
    with pytest.raises(
        jn.LoadError, match=rf"^example-robot-data:.*: the package has no such robot: .*{hint}"
    ) as caught:
        jn.load(f"example-robot-data:{name}")
    assert isinstance(caught.value, FileNotFoundError)


def test_a_name_of_two_robots() -> None:
    both = " or ".join(f"'example-robot-data:anymal_{x}_simple_description/anymal'" for x in "bc")
    with pytest.raises(jn.LoadError, match=rf"there are several, expected {both}"):
        jn.load("example-robot-data:anymal")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("panda", "jn.robots.panda() or 'example-robot-data:panda'"),
        ("panda.urdf", "jn.robots.panda() or 'example-robot-data:panda'"),
        ("Pandda", "jn.robots.panda() or 'example-robot-data:panda'"),
        ("aerial-manipulator", "jn.robots.aerial_manipulator()"),
        (
            "anymal",
            "'example-robot-data:anymal_b_simple_description/anymal' or "
            "'example-robot-data:anymal_c_simple_description/anymal'",
        ),
        (
            "talos_red",
            "'example-robot-data:talos_reduced' or 'example-robot-data:talos_reduced_box' or "
            "'example-robot-data:talos_reduced_corrected'",
        ),
    ],
)
def test_the_name_of_a_robot_instead_of_a_file(
    name: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jn.LoadError, match=f"^{re.escape(f'{name}: does not exist; did you mean {hint}?')}$"):
        jn.load(name)
    for each in hint.split(" or "):
        robot = eval(each, {"jn": jn})
        assert isinstance(robot, jn.Model) or jn.load(robot, friction=False).nv > 0


@pytest.mark.parametrize("name", ["gadget", "x", "p", "some/panda", "panda/panda.urdf"])
def test_names_that_are_no_robot(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(jn.LoadError, match=f"^{name}: does not exist$"):
        jn.load(name)


def test_a_file_with_a_similar_name_is_meant_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panda2.urdf").touch()
    with pytest.raises(jn.LoadError, match=r"^panda: does not exist; did you mean 'panda2\.urdf'\?$"):
        jn.load("panda")


def test_robots_without_a_file_need_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.metadata.distribution", missing)
    with pytest.raises(jn.LoadError, match=r"^panda: does not exist; did you mean jn\.robots\.panda\(\)\?$"):
        jn.load("panda")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    with pytest.raises(jn.LoadError, match=r"needs the package example-robot-data: pip install example-robot-data$"):
        jn.load("example-robot-data:panda")


def test_nothing_is_imported() -> None:
    code = "import sys, jounce as jn; jn.load('example-robot-data:panda'); print('pinocchio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=HANG)
    assert done.stdout == "False\n"


def test_on_the_command_line() -> None:
    command = [sys.executable, "-c", "from jounce.cli import main; main()", "info", "example-robot-data:panda"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG)
    assert "panda_finger_joint2" in done.stdout
