"""The content of regular files, wherever they are or only within some folders. Pipes and devices are never waited for.

Within folders, links are followed one by one, and the first step that leads out is refused before anything there is
looked at: what becomes of a link does not depend on whether there is something at its end. The path without links is
then opened step by step from the root of the disk down, and no step may be a link. So nothing outside is opened, even
if someone exchanges a folder for a link meanwhile, and be it the one that may be read. Where the system cannot open a
file relative to a folder (Windows), the path is looked at again once the file is open.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from jounce.errors import LoadError

Within = tuple[str, ...] | None  # folders without links, their subfolders included; None: all there are
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_MOST_LINKS, _MOST_STEPS = 40, 1000  # in one path; Linux has as many links
_STEPS = os.open in os.supports_dir_fd and os.stat in os.supports_dir_fd and os.stat in os.supports_follow_symlinks


class OutsideError(LoadError):
    """A file is outside the folders that may be read; `real` is where, as far as that can be said without a look."""

    def __init__(self, real: str) -> None:
        super().__init__(f"leads to {real}, which is outside the folders that may be read")
        self.real = real


def regular_bytes(path: str | os.PathLike[str], limit: int, within: Within = None) -> tuple[Path, bytes]:
    """The path of a file with links followed, and its content, of at most `limit` bytes.

    Raises:
        OutsideError: it is not within these folders.
        LoadError: it is no regular file, or too large; the message is to be prefixed with its name.
        OSError, ValueError: of the system.
    """
    if within is None:
        real = os.path.realpath(path)
        check_kind(os.stat(real), limit)  # before it is opened, which may itself have side effects
        handle = os.open(real, _FILE)
    else:
        real = _followed(path, within)
        handle = _opened(real, limit)
    with os.fdopen(handle, "rb") as file:
        check_kind(os.fstat(handle), limit)  # it may have been replaced in the meantime
        content = file.read(limit + 1)
    if len(content) > limit:
        raise LoadError(too_large(limit + 1, limit))
    return Path(real), content


def status_of(path: str, within: Within) -> os.stat_result | None:
    """What there is, links followed; None if there is nothing.

    Raises:
        OutsideError: it is not within these folders, whether it exists or not.
    """
    try:
        return os.stat(path) if within is None else os.lstat(_followed(path, within))
    except OutsideError:
        raise
    except (OSError, ValueError):  # there is none; the name is too long, or has a null character
        return None


def is_inside(path: str, folder: str) -> bool:
    """Whether a path without links and dots is that folder or inside it."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def _followed(path: str | os.PathLike[str], within: Sequence[str]) -> str:
    """A path with its links followed; only what is in these folders is looked at."""
    if not _STEPS:
        real = os.path.realpath(path)
        if not any(is_inside(real, folder) for folder in within):
            raise OutsideError(real)
        return real
    here, rest, links, steps = os.sep, _reversed_steps(os.path.join(os.getcwd(), path)), 0, 0
    while rest:
        step, steps = rest.pop(), steps + 1
        here = os.path.dirname(here) if step == os.pardir else os.path.join(here, step)
        if any(is_inside(folder, here) for folder in within):  # above such a folder, or the folder: no link
            continue
        if not any(is_inside(here, folder) for folder in within):
            raise OutsideError(os.path.normpath(os.path.join(here, *reversed(rest))))
        is_link = stat.S_ISLNK(os.lstat(here).st_mode)
        links += is_link
        if links > _MOST_LINKS or steps > _MOST_STEPS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if not is_link:
            continue
        target = os.readlink(here)
        here = os.sep if os.path.isabs(target) else os.path.dirname(here)
        rest += _reversed_steps(target)
    if not any(is_inside(here, folder) for folder in within):
        raise OutsideError(here)
    return here


def _reversed_steps(path: str) -> list[str]:
    return [step for step in reversed(path.split(os.sep)) if step not in ("", os.curdir)]


def _opened(real: str, limit: int) -> int:
    """A file by its path without links."""
    if not _STEPS:
        return _opened_and_looked_at_again(real, limit)
    *folders, name = real.strip(os.sep).split(os.sep)
    here = os.open(os.sep, _FOLDER)
    try:
        for each in folders:
            try:
                below = os.open(each, _FOLDER | _NO_LINK, dir_fd=here)
            except NotADirectoryError:  # it has become a link
                raise OutsideError(real) from None
            os.close(here)
            here = below
        check_kind(os.stat(name, dir_fd=here, follow_symlinks=False), limit)
        return os.open(name, _FILE | _NO_LINK, dir_fd=here)
    finally:
        os.close(here)


def _opened_and_looked_at_again(real: str, limit: int) -> int:
    check_kind(os.stat(real), limit)
    handle = os.open(real, _FILE)
    if os.path.realpath(real) != real or not os.path.samestat(os.stat(real), os.fstat(handle)):
        os.close(handle)
        raise OutsideError(real)
    return handle


def check_kind(status: os.stat_result, limit: int) -> None:
    """Raises an error unless this is a regular file of at most `limit` bytes."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise LoadError("is a device or a pipe, expected a file")
    if status.st_size > limit:
        raise LoadError(too_large(status.st_size, limit))


def too_large(size: int, limit: int) -> str:
    """The fault of a file, in words."""
    return f"has {size / 1e6:.0f} MB, more than the {limit / 1e6:.0f} MB that are read"
