"""Options that several commands share, and how all of them report errors."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from jounce._checks import printable

if TYPE_CHECKING:
    from jounce.loading import Base, Description
    from jounce.loading.formats import Friction

_BASES = ("fixed", "floating")


def file_argument() -> Any:
    """FILE"""
    return typer.Argument(metavar="FILE", help="A URDF or MJCF file.")


def base_option() -> Any:
    """--base"""
    words = "'floating' where the root link moves freely."
    return typer.Option("fixed", metavar="|".join(_BASES), help=words, autocompletion=lambda: list(_BASES))


def allow_option() -> Any:
    """--allow"""
    words = "Folder to look for files in, besides that of FILE; may be repeated."
    return typer.Option([], metavar="FOLDER", help=words)


def untrusted_option() -> Any:
    """--untrusted"""
    words = "Read only files in the folder of FILE and in those of --allow."
    return typer.Option(False, "--untrusted", help=words)


def friction_option() -> Any:
    """--friction"""
    words = "Include dry friction, smoothed at this speed, rad/s and m/s; 'off' leaves it out without a warning."
    return typer.Option(None, parser=smoothing_speed, metavar="SPEED", help=words)


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


def smoothing_speed(text: str) -> Friction:
    """That of --friction; False for 'off'."""
    from jounce.parts.joints import LEAST_SPEED

    if text == "off":
        return False
    expected = f"{text!r}, expected a speed at which to smooth it, such as 0.01 rad/s and m/s, or 'off'"
    try:
        speed = float(text)
    except ValueError:
        raise typer.BadParameter(expected) from None
    if not LEAST_SPEED <= speed < math.inf:
        raise typer.BadParameter(expected)
    return speed


def described(
    file: Path,
    base: str,
    allow: list[Path],
    untrusted: bool,
    friction: Friction = None,
    gravity: tuple[float, float, float] | None = None,
) -> Description:
    """The content of a file."""
    from jounce._checks import one_of
    from jounce.loading import describe

    one_of("--base", base, *_BASES)
    kind = cast("Base", base)
    return describe(file, kind, friction=friction, gravity=gravity, allow=allow, untrusted=untrusted)


def warn_about(description: Description) -> None:
    """What `jounce.load` would warn about."""
    from jounce.loading import LoadWarning

    if complaint := description.complaint():
        warnings.warn(complaint, LoadWarning, stacklevel=2)


def need_viewer() -> None:
    """Raises an error that says what to install."""
    from jounce.view.show import need_extra

    need_extra()


@contextmanager
def faults_in_one_line() -> Iterator[None]:
    """Ends the program with a line about an error of the user's, and shows warnings as lines too.

    An argument that the library refuses comes from an option: it ends with 2, as an option that typer refuses does.
    """
    from jounce.errors import Error

    def shown(message: Warning | str, *_: object, **__: object) -> None:
        print(one_line(str(message)), file=sys.stderr)

    with warnings.catch_warnings():
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = cast("Any", shown)
        try:
            yield
        except (Error, ImportError, UnicodeError) as fault:
            sys.exit(one_line(str(fault)))
        except ValueError as fault:
            print(one_line(str(fault)), file=sys.stderr)
            sys.exit(2)
        except OSError as fault:
            name = f"{fault.filename}: " if fault.filename else ""
            sys.exit(one_line(f"{name}{fault.strerror or fault}"))


def one_line(message: str) -> str:
    """A message, as the command says it."""
    return f"jounce: {printable(' '.join(in_shell_terms(message).split()))}"


_HINTS = (  # arguments of the library's functions, as options
    (r"\bfriction=0\.01 includes it", "--friction 0.01 includes it"),
    (r"\bfriction=False leaves it out", "--friction off leaves it out"),
    (r"\bpass allow= to jounce\.load\b", "pass --allow"),
    (r"\bpass allow=((['\"]).*?\2) to jounce\.load\b", r"pass --allow \1"),
    (r"\bpass allow= with\b", "pass --allow with"),
    (r"\bpass allow=(?=['\"])", "pass --allow "),
    (r"^(allow|base|host|name|port|save|skip) (?:is|has)\b", r"--\1 is"),
    (r"^time_limit is\b", "--time-limit is"),
    (r"; did you mean jn\.robots\.\w+\(\)\?", ""),  # which have no file
    (r"jn\.robots\.\w+\(\) or | or jn\.robots\.\w+\(\)", ""),
    (r"^rtol and atol are\b", "--rtol and --atol are"),
)


def in_shell_terms(message: str) -> str:
    """A message of the library, with its hints as options of a command."""
    for pattern, option in _HINTS:
        message = re.sub(pattern, option, message)
    return re.sub(r"(?<=; )skip=(.+?)(?= leaves out)", _skips, message)


def _skips(hint: re.Match[str]) -> str:
    return " ".join(f"--skip {word}" for word in re.findall(r"'(\w+)'", hint[1]))
