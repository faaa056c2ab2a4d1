"""``jounce info``"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from jounce.commands.options import (
    allow_option,
    base_option,
    described,
    faults_in_one_line,
    file_argument,
    friction_option,
    in_shell_terms,
    untrusted_option,
)

if TYPE_CHECKING:
    from jounce.loading import Description

_MOST = 10  # lines about what is not drawn


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(info)


def info(
    file: Path = file_argument(),  # noqa: B008
    base: str = base_option(),
    allow: list[Path] = allow_option(),  # noqa: B008
    untrusted: bool = untrusted_option(),
    friction: Any = friction_option(),  # noqa: B008
) -> None:
    """Show a URDF or MJCF file: its tree, joints, limits and masses, suspicious entries and what is ignored."""
    from rich.console import Console

    from jounce.display.info import show

    with faults_in_one_line():
        found = described(file, base, allow, untrusted, friction)
    ignored = [*found.ignored, *(_not_drawn(found) if untrusted else ())]
    ignored, warnings = ([in_shell_terms(line) for line in lines] for lines in (ignored, found.warnings))
    show(replace(found, ignored=ignored, warnings=warnings), Console(highlight=False))


def _not_drawn(found: Description) -> list[str]:
    """Lines about shapes and pictures that `view` would leave out, as they are missing or must not be read."""
    every = [f"not drawn: {line}" for line in found.undrawn()]
    return every[:_MOST] + ([f"not drawn: {len(every) - _MOST} more"] if len(every) > _MOST else [])
