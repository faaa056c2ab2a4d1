"""Which files a robot description may read: those in the folder of the main file, and in allowed folders.

A name is first turned into a path as written, and refused if that leads out of these folders, before anything on the
disk is touched: merely looking could mount a network drive, or send a password to a Windows share. Then links are
followed, and their targets must be inside as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jounce._checks import quoted
from jounce.errors import LoadError
from jounce.loading.xml_source import Element, reason_of, regular_bytes, short


class Folders:
    """The folders that a load may read from, including their subfolders.

    Args:
        main: path of the main file; None for text, which has no folder.
        allow: one or more folders, besides that of the main file. Names in text are looked up in these.

    Attributes:
        home: the folders that relative names start from.
        main: path of the main file without links, if there is one.
    """

    def __init__(self, main: Path | None, allow: Any = ()) -> None:
        allowed = folders_of(allow)
        self.home = allowed if main is None else [main.parent]
        self.main = None if main is None else os.path.realpath(main)
        self._is_text = main is None
        folders = [*allowed] if main is None else [main.parent, *allowed]
        self._as_written = {_case(os.path.abspath(folder)) for folder in folders}
        self._real = {_case(os.path.realpath(folder)) for folder in folders}
        if main is not None:  # the main file may be a link, with its other files beside the target
            self._real.add(_case(os.path.dirname(os.path.realpath(main))))
        self._as_written |= self._real

    def read(self, element: Element, name: str, places: Iterable[Path], limit: int) -> tuple[Path, bytes]:
        """The first file of that name in one of the places, and its content.

        Args:
            element: that names the file, for messages.
            name: as written there.
            places: folders where it may be, the likeliest first.
            limit: bytes.
        """
        refused = None
        for place in places:
            path = Path(os.path.abspath(place / name.replace("\\", "/")))
            real = None
            try:
                if _inside(path, self._as_written):
                    real = Path(os.path.realpath(path))
                    if _inside(real, self._real):
                        return path, regular_bytes(real, limit)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except IsADirectoryError:
                raise element.error(f"file {short(name)!r} is a directory") from None
            except LoadError as fault:
                raise element.error(f"file {short(name)!r} {fault}") from None
            except (OSError, ValueError) as fault:
                raise element.error(f"file {short(name)!r} cannot be read: {reason_of(fault)}") from None
            refused = refused or self._refusal(element, name, path, real)
        if refused is None and self._is_text and not self.home:
            refused = element.error(
                f"file {short(name)!r} is not read: XML given as text reads no files; "
                "pass allow= with the folder that the file is in, or give the path of the XML"
            )
        raise refused or element.missing(name)

    def places(self, name: str, places: Iterable[Path]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Paths of a file of that name in those places that may be read, and the folders that may be read."""
        paths = (Path(os.path.abspath(place / name.replace("\\", "/"))) for place in places)
        return tuple(str(p) for p in paths if _inside(p, self._as_written)), tuple(sorted(self._real))

    def _refusal(self, element: Element, name: str, path: Path, real: Path | None) -> LoadError:
        leads = f"is a link to {real}" if real is not None and _case(str(real)) != _case(str(path)) else f"is {path}"
        home = "the folders of allow=" if self._is_text else f"the folder of the main file, {self.home[0].absolute()}"
        folder = str((real or path).parent)
        return element.error(
            f"file {short(name)!r} {leads}, which is outside {home}; to read it nevertheless, pass allow={folder!r}"
        )


def folders_of(allow: Any) -> list[Path]:
    """The folders of the argument, which must exist."""
    several: Sequence[Any] = [allow] if isinstance(allow, (str, bytes, os.PathLike)) else allow
    try:
        folders = [Path(os.fsdecode(folder)) for folder in several]
    except Exception:  # not a sequence, or one that fails when it is read
        raise ValueError(f"allow is {quoted(allow)}, expected a folder or a sequence of folders") from None
    for folder in folders:
        try:
            there = folder.is_dir()
        except (OSError, ValueError):  # name too long, or a null character
            there = False
        if not there:
            raise ValueError(f"allow has {short(str(folder))!r}, expected a folder that exists")
    return folders


def _case(path: str) -> str:
    return os.path.normcase(path)


def _inside(path: Path, folders: set[str]) -> bool:
    """Whether a path without links and dots is one of the folders or inside one."""
    return any(_case(str(folder)) in folders for folder in (path, *path.parents))
