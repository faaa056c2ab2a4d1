"""The command line: ``jounce demo``, ``jounce info`` and ``jounce bench``."""

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
        """Fly paper A's aerial manipulator: torque and base wrench to fifth order, as a table and a figure."""
        _need("matplotlib")
        from .demo import run

        run(output)

    @app.command()
    def info(
        file: Path,
        base: str = typer.Option("fixed", help="'fixed', or 'floating' where the root link moves freely."),
    ) -> None:
        """Show a URDF or MJCF file: its tree, joints, limits and masses, what is odd about it and what is ignored."""
        from rich.console import Console

        from .info import show
        from .loading import Base, describe

        try:
            description = describe(file, cast(Base, base))
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
