"""Where the meshes and pictures of a URDF are.

They are named by ``package://NAME/...``, by ``file://...``, or by a path. A package is a folder of that name: an
allowed folder, a folder inside one, the folder of the file, one inside that, or, if the file is trusted, a folder that
contains it. What may be read of these, `Folders` decides.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property

from jounce.loading.folders import HINT, Folders, to_allow
from jounce.loading.xml_source import short
from jounce.parts.visual import MeshFile, Undrawn

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}")
_DEPTH = 64  # maximum number of folders above a file that are searched


class MeshPaths:
    """The folders around a file.

    Args:
        folders: from which it may read files.
    """

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._homes = [] if folders.main is None else list(map(str, folders.home))
        if folders.main is not None and folders.within is None:  # it may be a link, with its meshes beside the target
            self._homes = list(dict.fromkeys((*self._homes, os.path.dirname(folders.main))))

    def find(self, name: str, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> MeshFile | Undrawn:
        """The mesh of that name, as written in the file, or why there is none."""
        plain = name.strip().replace("\\", "/")
        scheme = _SCHEME.match(plain)
        kind = scheme[1].lower() if scheme else ""
        if kind in ("package", "model") and scheme:
            places, missing = self._in_packages(plain[scheme.end() :].lstrip("/"))
        elif kind in ("", "file"):
            places, missing = self._by_path(plain[len("file://") :] if kind else plain), ""
        else:
            return Undrawn(short(name), f"has an address of type {short(kind)!r}, which is not read", name, scale)
        path, why = self._folders.find(places, missing)
        return (
            Undrawn(short(name), why, name, scale)
            if path is None
            else MeshFile(path, self._folders.within, scale, name=name)
        )

    def _in_packages(self, rest: str) -> tuple[list[str], str]:
        package, _, inside = rest.partition("/")
        if package in ("", ".", ".."):
            return [], f"is in the package {short(package)!r}, which was not found: {HINT}"
        allow, has = self._folders.allow, self._folders.has_folder
        folders = [f for f in allow if os.path.basename(f) == package]
        folders += [found for f in allow if has(found := os.path.join(f, package))]
        folders += [f for f in self._around if os.path.basename(f) == package]
        folders += [found for f in self._homes if has(found := os.path.join(f, package))]
        if not folders:
            return [], f"is in the package {short(package)!r}, which was not found: {self._to_allow(package)}"
        return [os.path.join(f, inside) for f in folders], ""

    def _to_allow(self, package: str) -> str:
        """What to do so that a package is found: by names alone, without a look."""
        above = (
            folder for home in self._homes for folder in _with_parents(home) if os.path.basename(folder) == package
        )
        if self._folders.within is not None and (folder := next(above, None)) is not None:
            return to_allow(folder)
        return f"pass allow= to jounce.load with the folder {short(package)!r}, or with the one that it is in"

    def _by_path(self, path: str) -> list[str]:
        return (
            [path]
            if os.path.isabs(path)
            else [os.path.join(home, path) for home in (*self._homes, *self._folders.allow)]
        )

    @cached_property
    def _around(self) -> list[str]:
        """The folder of the file, and if that is trusted those that contain it, nearest first, without the root."""
        if self._folders.within is not None:
            return self._homes
        return [folder for home in self._homes for folder in _with_parents(home)]


def _with_parents(path: str) -> Iterator[str]:
    for _ in range(_DEPTH):
        if os.path.dirname(path) == path:
            return
        yield path
        path = os.path.dirname(path)
