"""``jounce view``"""

from __future__ import annotations

from pathlib import Path

import typer

from jounce.commands.options import (
    allow_option,
    base_option,
    described,
    faults_in_one_line,
    file_argument,
    untrusted_option,
    warn_about,
    whole_number,
)


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(view)


def view(
    file: Path = file_argument(),  # noqa: B008
    base: str = base_option(),
    allow: list[Path] = allow_option(),  # noqa: B008
    untrusted: bool = untrusted_option(),
    save: Path | None = typer.Option(None, metavar="FILE", help="Write a page that needs no server, and exit."),  # noqa: B008
    host: str = typer.Option(
        "127.0.0.1", metavar="ADDRESS", help="Address to listen on; by default this machine only."
    ),
    port: int = typer.Option(
        8080, parser=whole_number, metavar="NUMBER", help="Port to listen on; the next free one if it is taken."
    ),
    browser: bool = typer.Option(True, help="Open the page in a browser."),
) -> None:
    """Look at a URDF or MJCF file in a browser, with sliders for its joints."""
    with faults_in_one_line():
        name = file.stem if any(c.isalnum() for c in file.stem) else "robot"
        description = described(file, base, allow, untrusted, friction=False)  # which is not to be seen
        warn_about(description)
        robot = description.model()
        viewer = robot.show(name=name, host=host, port=port, browser=browser and save is None, save=save)
    if save is None:
        viewer.wait()
