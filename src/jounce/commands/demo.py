"""``jounce demo``"""

from __future__ import annotations

from pathlib import Path

import typer

from jounce._extras import needed
from jounce.commands.options import faults_in_one_line, need_viewer


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(demo)


def demo(
    output: Path = typer.Option(Path("jounce-demo"), metavar="FOLDER", help="Where the files are written."),  # noqa: B008
) -> None:
    """Fly paper A's aerial manipulator: forces to fifth order and back, as tables, figures and an animation."""
    with faults_in_one_line():
        needed("matplotlib", "a figure")
        need_viewer()
    from jounce.demo import run

    run(output)
