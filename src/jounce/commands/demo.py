"""``jounce demo``"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(demo)


def demo(output: Path = Path("jounce-demo")) -> None:
    """Fly paper A's aerial manipulator: forces to fifth order and back, as tables, figures and an animation."""
    try:
        import_module("matplotlib")
    except ImportError:
        sys.exit("The command line needs matplotlib: pip install 'jounce[demo]'")
    from jounce.demo import run

    run(output)
