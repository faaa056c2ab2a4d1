"""The commands that this package adds to ``jounce``: ``jounce reproduce`` and ``jounce bench``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import typer

_OUTPUT = "Where the files are written."


def add(app: typer.Typer) -> None:
    """Adds them to the command line of jounce: see ``jounce.commands`` in pyproject.toml."""
    app.command()(reproduce)
    app.command()(bench)


def reproduce(
    name: str = typer.Argument(metavar="NAME", help="An experiment, such as A-fig3; or 'list', or 'all'."),
    output: Path = typer.Option(Path("jounce-reproduce"), metavar="FOLDER", help=_OUTPUT),  # noqa: B008
    quick: bool = typer.Option(False, "--quick", help="Smaller, in seconds: to see that it works."),
    full: bool = typer.Option(False, "--full", help="A-fig4: CasADi's longest races, too (5 GiB of memory)."),
    authors: list[Path] = typer.Option(  # noqa: B008
        [], metavar="FOLDER", help="A clone of what a paper's authors published, to compare with; repeat for more."
    ),
) -> None:
    """Repeat a paper's experiment: its claims, what is found here, and whether they hold; figures and data."""
    from .reproduce.runner import reproduce as run

    try:
        run(name, output, quick, full, authors)
    except ValueError as fault:
        _refuse(fault)


def bench(
    output: Path = typer.Option(Path("jounce-bench"), metavar="FOLDER", help=_OUTPUT),  # noqa: B008
    full: bool = typer.Option(False, "--full/--quick", help="All sizes and orders (minutes), or some."),
    only: list[str] = typer.Option(  # noqa: B008
        [], metavar="WORD", help="Only races whose name contains this; repeat for more."
    ),
    results: Path | None = typer.Option(None, metavar="FILE", help="Run nothing, take this results.json."),  # noqa: B008
    page: list[Path] = typer.Option(  # noqa: B008
        [], metavar="FILE", help="Markdown page to put the tables into; repeat for more."
    ),
) -> None:
    """Race jounce against the libraries that are installed; first check that the answers agree."""
    from .bench.page import write_into
    from .bench.run import has_faults, run

    try:
        found = run(output, full, only) if results is None else json.loads(results.read_text())
        for path in page:
            write_into(path, found)
    except (OSError, json.JSONDecodeError) as fault:
        sys.exit(f"jounce: {fault}")
    except ValueError as fault:
        _refuse(fault)
    if has_faults(found):
        sys.exit("jounce: some answers do not agree")


def _refuse(fault: ValueError) -> NoReturn:
    """Ends the program as other wrong options do."""
    print(f"jounce: {fault}", file=sys.stderr)
    sys.exit(2)
