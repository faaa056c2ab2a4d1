"""``jounce convert``"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import typer

from jounce.commands.options import allow_option, base_option, faults_in_one_line

_URDF, _MJCF = (".urdf",), (".xml", ".mjcf")


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(convert)


def convert(
    source: Path = typer.Argument(metavar="IN", help="A URDF or MJCF file."),  # noqa: B008
    target: Path = typer.Argument(metavar="OUT", help="File to write: .urdf, or .xml or .mjcf for MJCF."),  # noqa: B008
    base: str = base_option(),
    allow: list[Path] = allow_option(),  # noqa: B008
    skip: list[str] = typer.Option([], help="What to leave out, such as springs or visuals; may be repeated."),  # noqa: B008
    name: str | None = typer.Option(None, help="Of the robot; that of IN when left out."),
) -> None:
    """Write a URDF or MJCF file as the other; its suffix says which."""
    with faults_in_one_line():
        _check_names(source, target)
        from jounce.loading import Base, describe
        from jounce.loading.description import LoadWarning

        description = describe(source, cast(Base, base), allow=allow)
        if complaint := description.complaint():
            import warnings

            warnings.warn(complaint, LoadWarning, stacklevel=2)
        robot = description.model()
        write = robot.to_urdf if target.suffix.lower() in _URDF else robot.to_mjcf
        write(target, name=name or description.name or target.stem, skip=skip)
    print(f"{target}: {len(robot.frame_names)} links, {robot.nv} degree{'s' * (robot.nv != 1)} of freedom")


def _check_names(source: Path, target: Path) -> None:
    if target.suffix.lower() not in _URDF + _MJCF:
        raise ValueError(f"OUT is {str(target)!r}, expected a name that ends in .urdf, or in .xml or .mjcf for MJCF")
    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"OUT is {str(target)!r}, the file to be converted itself")
