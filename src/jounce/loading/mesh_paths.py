"""Where the meshes of a URDF are, and which of them may be read.

A mesh is named by ``package://NAME/...``, by ``file://...``, or by a path. A package is a folder of that name: an
allowed folder, a folder inside one, or a folder that contains the file itself. A mesh must be in the folder of the file
or below, in its package (the nearest enclosing folder with a package.xml), in the named package, or in an allowed
folder. Names that lead elsewhere are refused before anything on the disk is touched; links are followed when a mesh is
read, and must not lead elsewhere either.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from jounce.loading.xml_source import short
from jounce.parts.texture import PictureFile
from jounce.parts.visual import HeightFile, MeshFile, Undrawn

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/{1,2}")
_DEPTH = 64  # maximum number of folders above a file that are searched
_HINT = "pass allow= to jounce.load with the folder that it is in"


class MeshPaths:
    """The folders around a file.

    Args:
        main: its path; None for text, which has no folder.
        allow: further folders.
    """

    def __init__(self, main: Path | None, allow: Sequence[Path] = ()) -> None:
        self._main = None if main is None else os.path.abspath(main)  # the working directory may change
        self._allow = tuple(os.path.abspath(folder) for folder in allow)

    def find(self, name: str, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> MeshFile | Undrawn:
        """The mesh of that name, as written in the file, or why there is none."""
        plain = name.strip().replace("\\", "/")
        scheme = _SCHEME.match(plain)
        kind = scheme[1].lower() if scheme else ""
        if kind in ("package", "model") and scheme:
            places, missing = self._in_packages(plain[scheme.end() :].lstrip("/"))
        elif kind in ("", "file"):
            places, missing = self._by_path(plain[len("file://") :] if kind else plain), "does not exist"
        else:
            return Undrawn(short(name), f"has an address of type {short(kind)!r}, which is not read", name, scale)
        refused = False
        for place, roots in places:
            path = os.path.normpath(place)
            within = tuple(root for root in roots if _inside(path, root))
            if not within:
                refused = True
            elif os.path.isfile(path):
                return MeshFile(path, within, scale, name=name)
        outside = f"is outside the folder of the file and its package: {_HINT}"
        return Undrawn(short(name), outside if refused else missing, name, scale)

    def _in_packages(self, rest: str) -> tuple[list[tuple[str, tuple[str, ...]]], str]:
        package, _, inside = rest.partition("/")
        folders = [f for f in self._allow if os.path.basename(f) == package]
        folders += [found for f in self._allow if os.path.isdir(found := os.path.join(f, package))]
        folders += [f for f in self._above if os.path.basename(f) == package]
        if not folders or package in ("", ".", ".."):
            return [], f"is in the package {short(package)!r}, which was not found: {_HINT}"
        return [(os.path.join(f, inside), (f,)) for f in folders], "does not exist"

    def _by_path(self, path: str) -> list[tuple[str, tuple[str, ...]]]:
        homes = [os.path.dirname(main) for main in self._mains] + list(self._allow)
        roots = (*homes, *self._package)
        return [(path, roots)] if os.path.isabs(path) else [(os.path.join(home, path), roots) for home in homes]

    @cached_property
    def _mains(self) -> list[str]:
        """The path of the file, and where it leads if it is a link."""
        return [] if self._main is None else list(dict.fromkeys((self._main, os.path.realpath(self._main))))

    @cached_property
    def _above(self) -> list[str]:
        """The folders that contain the file, nearest first, without the root of the disk."""
        return [folder for main in self._mains for folder in _parents(main)]

    @cached_property
    def _package(self) -> list[str]:
        """The nearest enclosing folder with a package.xml, as in ROS."""
        found = (f for main in self._mains for f in _parents(main) if os.path.isfile(os.path.join(f, "package.xml")))
        return [folder for folder, _ in zip(found, range(1), strict=False)]


def _parents(path: str) -> Iterator[str]:
    for _ in range(_DEPTH):
        path, below = os.path.dirname(path), path
        if path == below or os.path.dirname(path) == path:
            return
        yield path


def _inside(path: str, folder: str) -> bool:
    """Whether a path without dots is inside that folder."""
    path, folder = os.path.normcase(path), os.path.normcase(folder)
    return path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def real_path(mesh: MeshFile | HeightFile | PictureFile) -> Path | None:
    """The path of a mesh or a picture with links followed; None if they lead out of the folders it may be in."""
    real = os.path.realpath(mesh.path)
    return Path(real) if any(_inside(real, os.path.realpath(folder)) for folder in mesh.within) else None
