"""The command line: ``jounce demo``."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Entry point of the ``jounce`` command."""
    try:
        import matplotlib  # noqa: F401
        import rich  # noqa: F401
        import typer
    except ImportError as missing:
        sys.exit(f"The command line needs {missing.name}: pip install 'jounce[demo]'")

    app = typer.Typer(help="The dynamics of robots to any order in time.", no_args_is_help=True, add_completion=False)

    @app.callback()
    def root() -> None: ...

    @app.command()
    def demo(output: Path = Path("jounce-demo")) -> None:
        """Fly paper A's aerial manipulator: torque and base wrench to fifth order, as a table and a figure."""
        from .demo import run

        run(output)

    app()
