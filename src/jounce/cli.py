"""The command line: ``jounce demo``, ``jounce reproduce``, ``jounce info`` and ``jounce bench``."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import cast


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
        from .demo import run

        run(output)

    @app.command()
    def reproduce(
        name: str = typer.Argument(help="An experiment, such as A-fig3; or 'list', or 'all'."),
        output: Path = Path("jounce-reproduce"),
        quick: bool = typer.Option(False, "--quick", help="Smaller, in seconds: to see that it works."),
        full: bool = typer.Option(False, "--full", help="A-fig4: CasADi's longest races, too (5 GiB of memory)."),
        authors: Path | None = typer.Option(None, help="A-fig4: a clone of paper A's own code, to be raced."),  # noqa: B008
    ) -> None:
        """Repeat a paper's experiment: its claims, what is found here, and whether they hold; figures and data."""
        _need("matplotlib")
        from .reproduce.runner import reproduce

        try:
            reproduce(name, output, quick, full, authors)
        except ValueError as fault:
            sys.exit(f"jounce: {fault}")

    @app.command()
    def info(
        file: Path,
        base: str = typer.Option("fixed", help="'fixed', or 'floating' where the root link moves freely."),
        allow: list[Path] = typer.Option([], help="Folder that an MJCF file may read from; repeat for more."),  # noqa: B008
    ) -> None:
        """Show a URDF or MJCF file: its tree, joints, limits and masses, what is odd about it and what is ignored."""
        from rich.console import Console

        from .info import show
        from .loading import Base, describe

        try:
            description = describe(file, cast(Base, base), allow=allow)
        except ValueError as fault:
            sys.exit(f"jounce: {fault}")
        show(description, Console(highlight=False))

    @app.command()
    def bench(
        output: Path = Path("jounce-bench"),
        full: bool = typer.Option(False, "--full/--quick", help="All sizes and orders (minutes), or some."),
        only: list[str] = typer.Option([], help="Only races whose name contains this; repeat for more."),  # noqa: B008
        results: Path | None = typer.Option(None, help="Run nothing, take this results.json."),  # noqa: B008
        page: list[Path] = typer.Option([], help="Markdown page to put the tables into; repeat for more."),  # noqa: B008
    ) -> None:
        """Race jounce against the libraries that are here; first check that the answers agree."""
        _need("matplotlib")
        from .bench.page import write_into
        from .bench.run import has_faults, run

        try:
            found = run(output, full, only) if results is None else json.loads(results.read_text())
            for path in page:
                write_into(path, found)
        except (OSError, ValueError) as fault:
            sys.exit(f"jounce: {fault}")
        if has_faults(found):
            sys.exit("jounce: some answers do not agree")

    app()


def _need(*modules: str) -> None:
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            sys.exit(f"The command line needs {module}: pip install 'jounce[demo]'")
