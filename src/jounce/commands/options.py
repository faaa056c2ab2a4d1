"""Options that several commands share, and how all of them report errors."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

if TYPE_CHECKING:
    from jounce.loading import Base
    from jounce.model import Model


def base_option() -> Any:
    """--base"""
    words = "'fixed', or 'floating' where the root link moves freely."
    return typer.Option("fixed", help=words, autocompletion=lambda: ["fixed", "floating"])


def allow_option() -> Any:
    """--allow"""
    return typer.Option([], help="Folder that may be read from, besides that of the file; may be repeated.")


def number(text: str) -> float:
    """Of an option; typer's own message does not say what was given."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r}, expected a number") from None


def whole_number(text: str) -> int:
    """Likewise."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r}, expected a whole number") from None


def vector(text: str) -> tuple[float, float, float]:
    """Three numbers with commas or spaces between them."""
    words = text.replace(",", " ").split()
    try:
        x, y, z = map(float, words)
    except ValueError:
        raise typer.BadParameter(f"{text!r}, expected three numbers, such as 0,0,-9.81") from None
    return x, y, z


def loaded(file: Path, base: str, allow: list[Path], gravity: tuple[float, float, float] | None = None) -> Model:
    """The robot of a file."""
    from jounce.loading import load

    return load(file, cast("Base", base), allow=allow, gravity=gravity)


@contextmanager
def faults_in_one_line() -> Iterator[None]:
    """Ends the program with a line about an error of the user's, and shows warnings as lines too."""
    from jounce.errors import Error

    def shown(message: Warning | str, *_: object, **__: object) -> None:
        print(one_line(str(message)), file=sys.stderr)

    with warnings.catch_warnings():
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = cast("Any", shown)
        try:
            yield
        except (Error, ImportError, ValueError) as fault:
            sys.exit(one_line(str(fault)))
        except OSError as fault:
            name = f"{fault.filename}: " if fault.filename else ""
            sys.exit(one_line(f"{name}{fault.strerror or fault}"))


def one_line(message: str) -> str:
    """A message, as the command says it."""
    return f"jounce: {' '.join(message.split())}"
