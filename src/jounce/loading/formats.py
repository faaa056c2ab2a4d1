"""The file formats that jounce loads: a table to which users can add."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from jounce._checks import a_class, quoted, text
from jounce.loading.description import Description
from jounce.loading.folders import Folders
from jounce.loading.xml_source import root_tag

Base = Literal["fixed", "floating"]
Mimic = Literal["coupled", "independent"]
Friction = float | Literal[False] | None
Allow = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class Options:
    """The options of `jounce.load`: see there."""

    base: Base = "fixed"
    mimic: Mimic = "coupled"
    damping: bool = True
    constraints: bool = True
    allow: Allow = ()
    friction: Friction = None
    untrusted: bool = False


@dataclass(frozen=True, eq=False)
class Source:
    """What is to be read.

    Attributes:
        given: a `Path`, text (str or bytes), an element of an XML tree, or an object of another library.
        name: its name in messages.
        folders: from which it may read further files; when left out, any if it is a path, none otherwise.
    """

    given: Any
    name: str
    folders: Folders = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.folders is None:
            object.__setattr__(self, "folders", Folders(self.given if isinstance(self.given, Path) else None))

    @property
    def suffix(self) -> str:
        """The suffix of the file's name, in lower case, such as ".urdf"; "" if it is not a file."""
        return self.given.suffix.lower() if isinstance(self.given, Path) else ""

    @cached_property
    def content(self) -> bytes | str:
        """The content of a file or text. A file is read once, and refused if it is too large or not a regular file.

        Raises:
            LoadError: it cannot be read.
        """
        if isinstance(self.given, Path):
            return self.folders.content()
        if isinstance(self.given, (bytes, str)):
            return self.given
        raise ValueError(f"{self.name} is {a_class(self.given)}, which has no text")

    @cached_property
    def element(self) -> str:
        """The tag of the outermost XML element; "" for an object of another library.

        Raises:
            LoadError: it is a file or text that is not XML.
        """
        if isinstance(self.given, (bytes, str, Path)):
            return root_tag(self.content, self.name)
        return str(getattr(self.given, "tag", "")).rpartition("}")[2]


@dataclass(frozen=True)
class Format:
    """How files of one kind are recognised and read.

    Attributes:
        name: such as "URDF".
        expected: its description in messages, such as "<robot> (URDF)".
        recognises: whether a source has this format. Formats that were added last are asked first.
        describe: reads it, and raises `jounce.LoadError` if something is wrong with it.
    """

    name: str
    expected: str
    recognises: Callable[[Source], bool]
    describe: Callable[[Source, Options], Description]


_formats: dict[str, Format] = {}


def add_format(given: Format) -> None:
    """Makes `jounce.load`, `jounce info` and `jounce view` accept files of this format."""
    if not isinstance(given, Format):
        raise ValueError(f"format is {quoted(given)}, expected a jounce.loading.Format")
    if text("name", given.name) in _formats:
        raise ValueError(f"name is {given.name!r}, which is the name of another format")
    _formats[given.name] = given


def known_formats() -> list[Format]:
    """All formats, in the order in which they were added."""
    return list(_formats.values())
