"""Which files a robot description may read: regular files, and which of them depends on who is trusted.

What a path that the caller names says is trusted: it may name any file. What text says, or an untrusted file, is not:
then files must be in the folder of the main file or below, or in allowed folders. There, a name is first turned into a
path as written, and refused if that leads out of these folders, before anything on the disk is touched: merely looking
could mount a network drive, or send a password to a Windows share. Then links are followed, each to where it says, and
that must be inside as well. So no message tells whether there is something outside. All that is read beside the main
file is found here, while a robot is loaded and when it is shown.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jounce._checks import quoted
from jounce.errors import LoadError
from jounce.loading.regular_files import OutsideError, Within, is_inside, regular_bytes, status_of
from jounce.loading.xml_source import Element, content_of, reason_of, short

HINT = "pass allow= to jounce.load with the folder that it is in"
_LONGEST = 300  # characters of a folder in a message


def to_allow(folder: str) -> str:
    """What to do so that files in a folder are read."""
    return HINT if len(folder) > _LONGEST else f"pass allow={folder!r} to jounce.load"


class Folders:
    """The folders that a load may read from, including their subfolders.

    Args:
        main: path of the main file; None for text, which has no folder.
        allow: one or more folders, besides that of the main file. Names in text are looked up in these.
        untrusted: whether only these folders may be read; those of text always are.

    Attributes:
        allow: paths of the allowed folders.
        home: the folders that relative names start from.
        main: path of the main file, if there is one, without links; of an untrusted one its folder's are followed.
        within: the folders that may be read, without links; None if all may.
        untrusted: as given.
    """

    def __init__(self, main: Path | None, allow: Any = (), untrusted: bool = False) -> None:
        allowed = folders_of(allow)
        self.allow = tuple(os.path.abspath(folder) for folder in allowed)  # the working directory may change
        self.home = list(map(Path, self.allow)) if main is None else [Path(os.path.abspath(main.parent))]
        self.untrusted = untrusted
        self._given = main
        self.within: Within = None
        self._real: dict[str, str] = {}  # folders as written, and without links
        if main is None or untrusted:
            self._real = {folder: _real(folder) for folder in (*map(str, self.home), *self.allow)}
            self.within = tuple(sorted(set(self._real.values())))
        self.main = None
        if main is not None:
            self.main = os.path.join(_real(main.parent), main.name) if untrusted else _real(main)

    def content(self) -> bytes:
        """That of the main file.

        Raises:
            LoadError: it cannot be read, or must not be.
        """
        assert self._given is not None
        return content_of(self._given, self.within, self.main)

    def inside(self, path: str) -> str | None:
        """A path without dots, as written, as one in the folders that may be read; None if it is outside of them."""
        if self.within is None or any(is_inside(path, folder) for folder in self.within):
            return path
        for written, real in self._real.items():
            if is_inside(path, written):
                return os.path.normpath(os.path.join(real, os.path.relpath(path, written)))
        return None

    def has_folder(self, path: str) -> bool:
        """Whether there is a folder, or what may be one outside."""
        try:
            at = self.inside(path)
            there = None if at is None else status_of(at, self.within)
        except OutsideError:
            return True
        return there is not None and stat.S_ISDIR(there.st_mode)

    def find(self, paths: Iterable[str], missing: str = "") -> tuple[str | None, str]:
        """The first of these paths where there is a file that may be read; or None, and why there is none.

        Args:
            paths: as written, likeliest first.
            missing: why, unless one of them is outside; when left out, that it does not exist.
        """
        refused = ""
        for each in paths:
            path = os.path.abspath(each)
            try:
                at = self.inside(path)
                if at is None:
                    raise OutsideError(path)
                there = status_of(at, self.within)
            except OutsideError as fault:
                refused = refused or fault.real
                continue
            if there is not None and stat.S_ISREG(there.st_mode):
                return at, ""
        if refused:
            whose = "the folders of allow=" if self.main is None else "the folder of the file"
            return None, f"is outside {whose}: {to_allow(os.path.dirname(refused))}"
        return None, missing or ("does not exist" if self.home else f"is in no folder that is read: {HINT}")

    def read(self, element: Element, name: str, places: Iterable[Path], limit: int) -> tuple[Path, Path, bytes]:
        """The first file of that name in one of the places: its path as written and without links, and its content.

        Args:
            element: that names the file, for messages.
            name: as written there.
            places: folders where it may be, the likeliest first.
            limit: bytes.
        """
        refused = None
        for path in paths_of(name, places):
            try:
                if (at := self.inside(path)) is not None:
                    return Path(path), *regular_bytes(at, limit, self.within)
                refused = refused or self._refusal(element, name, f"is {path}", path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except IsADirectoryError:
                raise element.error(f"file {short(name)!r} is a directory") from None
            except OutsideError as fault:
                refused = refused or self._refusal(element, name, f"is a link to {fault.real}", fault.real)
            except LoadError as fault:
                raise element.error(f"file {short(name)!r} {fault}") from None
            except (OSError, ValueError) as fault:
                raise element.error(f"file {short(name)!r} cannot be read: {reason_of(fault)}") from None
        if refused is None and self.within is not None and not self.home:
            refused = element.error(
                f"file {short(name)!r} is not read: XML given as text reads no files; "
                "pass allow= with the folder that the file is in, or give the path of the XML"
            )
        raise refused or element.missing(name)

    def _refusal(self, element: Element, name: str, leads: str, path: str) -> LoadError:
        home = "the folders of allow=" if self.main is None else f"the folder of the main file, {self.home[0]}"
        folder = os.path.dirname(path)
        if len(path) > _LONGEST:
            return element.error(f"file {short(name)!r} is outside {home}: {HINT}")
        return element.error(
            f"file {short(name)!r} {leads}, which is outside {home}; to read it nevertheless, pass allow={folder!r}"
        )


@dataclass(frozen=True)
class NamedFile:
    """A file that a document names, for later.

    Attributes:
        name: as in the document.
        paths: where it may be.
        folders: that may be read.
    """

    name: str
    paths: tuple[str, ...]
    folders: Folders

    def find(self) -> tuple[str | None, str]:
        """Its path; or None, and why there is none."""
        return self.folders.find(self.paths)


def paths_of(name: str, places: Iterable[Path]) -> Iterable[str]:
    """Paths of a file of that name in those places."""
    return (os.path.abspath(place / name.replace("\\", "/")) for place in places)


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


def _real(path: str | Path) -> str:
    """With links followed, as far as that is possible."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a null character, which is reported when it is opened
        return os.path.abspath(path)
