"""The table of file formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from jounce.loading import Description, Format, Options, Source, add_format, describe, formats


@pytest.fixture
def _own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {name: formats._formats[name] for name in ("URDF", "MJCF")}
    monkeypatch.setattr(formats, "_formats", own)


def one_body(source: Source, options: Options) -> Description:
    b = jn.Builder()
    b.add(str(source.content).strip(), "world", jn.Revolute(damping=options.damping * 0.5), inertia=jn.Inertia(1.0))
    robot = b.build()
    return Description(source.name, "word", "word", list(robot.bodies), np.zeros(3))


WORD = Format("word", "a word", lambda source: source.suffix == ".word", one_body)


@pytest.mark.usefixtures("_own_table")
def test_a_format_that_was_added(tmp_path: Path) -> None:
    add_format(WORD)
    file = tmp_path / "arm.WORD"
    file.write_text("arm")
    robot = jn.load(file, gravity=(0, 0, -1), damping=False)
    assert robot.body_names == ("b'arm'",)
    assert robot.gravity.tolist() == [0, 0, -1]
    assert describe(file).kind == "word"
    with pytest.raises(jn.LoadError, match=r"expected <robot> \(URDF\) or <mujoco> \(MJCF\) or a word"):
        jn.load("<nothing/>")


@pytest.mark.usefixtures("_own_table")
def test_a_format_that_was_added_is_asked_first() -> None:
    everything = Format("all", "anything", lambda source: isinstance(source.given, str), one_body)
    add_format(everything)
    assert describe("<robot name='x'><link name='a'/></robot>").kind == "word"


@pytest.mark.usefixtures("_own_table")
def test_what_is_no_format() -> None:
    with pytest.raises(ValueError, match=r"format is 'URDF', expected a jounce.loading.Format"):
        add_format("URDF")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="name is 'URDF', which is the name of another format"):
        add_format(Format("URDF", "", lambda _: True, one_body))


def test_sources() -> None:
    assert Source(Path("a.URDF"), "a").suffix == ".urdf"
    assert Source("<robot/>", "text").element == "robot"
    assert Source(object(), "thing").element == ""
    with pytest.raises(jn.LoadError):
        _ = Source("no XML", "text").element
    with pytest.raises(ValueError, match="thing is an object, which has no text"):
        _ = Source(object(), "thing").content
