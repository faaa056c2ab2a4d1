"""``jounce convert``"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from jounce._checks import counted
from jounce.commands.options import (
    allow_option,
    base_option,
    described,
    faults_in_one_line,
    friction_option,
    untrusted_option,
    warn_about,
)

_URDF, _MJCF = (".urdf",), (".xml", ".mjcf")


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(convert)


def convert(
    source: Path = typer.Argument(metavar="IN", help="A URDF or MJCF file."),  # noqa: B008
    target: Path = typer.Argument(metavar="OUT", help="File to write: .urdf, or .xml or .mjcf for MJCF."),  # noqa: B008
    base: str = base_option(),
    allow: list[Path] = allow_option(),  # noqa: B008
    untrusted: bool = untrusted_option(),
    friction: Any = friction_option(),  # noqa: B008
    skip: list[str] = typer.Option(  # noqa: B008
        [], metavar="WORD", help="What to leave out, such as springs or visuals; may be repeated."
    ),
    name: str | None = typer.Option(None, metavar="NAME", help="Of the robot; that of IN when left out."),
) -> None:
    """Write a URDF or MJCF file as the other; its suffix says which."""
    with faults_in_one_line():
        _check_names(source, target)
        description = described(source, base, allow, untrusted, friction)
        warn_about(description)
        robot = description.model()
        write = robot.to_urdf if target.suffix.lower() in _URDF else robot.to_mjcf
        write(target, name=name or description.name or target.stem, skip=skip)
    links = counted(len(robot.frame_names), "link")
    print(f"{target}: {links}, {counted(robot.nv, 'degree')} of freedom")


def _check_names(source: Path, target: Path) -> None:
    if target.suffix.lower() not in _URDF + _MJCF:
        raise ValueError(f"OUT is {str(target)!r}, expected a name that ends in .urdf, or in .xml or .mjcf for MJCF")
    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"OUT is {str(target)!r}, the file to be converted itself")
