"""The command line: ``jounce demo``, ``jounce info`` and ``jounce view``, and commands that other packages add.

A package adds commands through an entry point of the group ``jounce.commands``: a function that takes the app.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Entry point of the ``jounce`` command."""
    _need("rich", "typer")
    import typer

    app = typer.Typer(help="The dynamics of robots to any order in time.", no_args_is_help=True, add_completion=False)

    @app.callback()
    def root() -> None: ...

    @app.command()
    def demo(output: Path = Path("jounce-demo")) -> None:
        """Fly paper A's aerial manipulator: forces to fifth order and back, as tables, figures and an animation."""
        _need("matplotlib")
        from jounce.demo import run

        run(output)

    @app.command()
    def info(
        file: Path,
        base: str = typer.Option("fixed", help="'fixed', or 'floating' where the root link moves freely."),
        allow: list[Path] = typer.Option([], help="Folder that an MJCF file may read from; may be repeated."),  # noqa: B008
    ) -> None:
        """Show a URDF or MJCF file: its tree, joints, limits and masses, suspicious entries and what is ignored."""
        from rich.console import Console

        from jounce.display.info import show
        from jounce.loading import Base, describe

        try:
            description = describe(file, cast(Base, base), allow=allow)
        except ValueError as fault:
            sys.exit(f"jounce: {fault}")
        show(description, Console(highlight=False))

    @app.command()
    def view(
        file: Path,
        base: str = typer.Option("fixed", help="'fixed', or 'floating' where the root link moves freely."),
        allow: list[Path] = typer.Option([], help="Folder of packages and meshes; may be repeated."),  # noqa: B008
        save: Path | None = typer.Option(None, help="Write a page that needs no server, and exit."),  # noqa: B008
        host: str = typer.Option("127.0.0.1", help="Address to listen on; by default this machine only."),
        port: int = typer.Option(8080, help="Port to listen on; the next free one if it is taken."),
        browser: bool = typer.Option(True, help="Open the page in a browser."),
    ) -> None:
        """Look at a URDF or MJCF file in a browser, with sliders for its joints."""
        from jounce.loading import Base, load

        try:
            name = file.stem if any(c.isalnum() for c in file.stem) else "robot"
            robot = load(file, cast(Base, base), allow=allow)
            viewer = robot.show(name=name, host=host, port=port, browser=browser and save is None, save=save)
        except (ImportError, OSError, ValueError) as fault:
            sys.exit(f"jounce: {fault}")
        if save is None:
            viewer.wait()

    for entry in entry_points(group="jounce.commands"):
        entry.load()(app)
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    for name in {"bench", "reproduce"} - known:
        _missing(app, name)
    app()


def _missing(app: typer.Typer, name: str) -> None:
    """Adds a placeholder for a command of another package, which says which package that is."""

    @app.command(name, hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def missing() -> None:
        sys.exit(f"jounce: {name!r} is a command of jounce-lab: pip install ./lab, in a clone of the repository")


def _need(*modules: str) -> None:
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            sys.exit(f"The command line needs {module}: pip install 'jounce[demo]'")
