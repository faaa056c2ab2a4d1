"""``jounce info``"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import typer

from jounce.commands.options import allow_option, base_option, faults_in_one_line


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(info)


def info(file: Path, base: str = base_option(), allow: list[Path] = allow_option()) -> None:  # noqa: B008
    """Show a URDF or MJCF file: its tree, joints, limits and masses, suspicious entries and what is ignored."""
    from rich.console import Console

    from jounce.display.info import show
    from jounce.loading import Base, describe

    with faults_in_one_line():
        description = describe(file, cast(Base, base), allow=allow)
    show(description, Console(highlight=False))
