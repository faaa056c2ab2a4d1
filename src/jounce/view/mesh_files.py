"""Meshes from files: STL, OBJ, DAE, PLY, OFF, GLB.

Files are not trusted. So a file is read whole, up to a limit, and if it must be from a folder that may be read; nothing
else is opened except the materials and pictures of an OBJ or a DAE, likewise. Binary STL, by far the most common, is
read here. So are small files of few parts by trimesh, at no risk: its readers take time in proportion to size, but some
in proportion to the square of the number of parts, or to what grows with references. All else it reads in a process of
its own, one for all meshes of a robot, which has some seconds for each. Each file is read once for a robot, and what
becomes of its meshes and pictures until they are drawn has some seconds in all.
"""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import numpy as np

from jounce.dynamics.interruptible import aside
from jounce.errors import LoadError
from jounce.loading.apart import Apart, NoProcessError
from jounce.loading.folders import to_allow
from jounce.loading.mjcf_child import receive, send
from jounce.loading.regular_files import OutsideError, Within, is_inside, regular_bytes
from jounce.loading.xml_source import reason_of, short
from jounce.parts.visual import HeightFile, MeshFile
from jounce.view.mesh_child import unpacked_parts
from jounce.view.mesh_parsing import MeshError, RawPart, parsed
from jounce.view.pictures import Pictures, checked_picture
from jounce.view.plain_meshes import MAX_BYTES as PLAIN_BYTES
from jounce.view.plain_meshes import is_plain
from jounce.view.stl import binary_stl

T = TypeVar("T")
SECONDS = 10.0  # of processor time for a file
MAX_BYTES = 100_000_000
MAX_MEMORY = 4 << 30  # bytes, of the process that reads meshes
_LARGE = 10_000_000  # bytes
_ON_THE_CLOCK = 6  # times as long, for a busy machine
_ALL = 6  # times as long for all meshes and pictures of a robot together
_BESIDE, _EACH = 300_000_000, 20_000_000  # bytes of all files that a mesh names together, and of one
_NAMES = 1000  # files that it may name
_PLAIN_NAMES = 50  # files that a mesh may name to be read here
_PLAIN_PIXELS = 20_000_000  # in all of these together
_SUFFIXES = (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".mtl")
_KINDS = ("stl", "obj", "dae", "ply", "off", "glb")
_DECLARATION = re.compile(  # all that may be before the encoding: whoever reads the file must find the same one
    rb"<\?xml\s+version\s*=\s*([\"'])[\w.]+\1(?:\s+encoding\s*=\s*([\"'])([-\w.:]+)\2)?"
    rb"(?:\s+standalone\s*=\s*([\"'])(?:yes|no)\4)?\s*\?>"
)
_ENCODINGS = (b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")


class SlowMeshError(MeshError):
    """Reading a mesh takes too long."""


def content_of_file(file: MeshFile | HeightFile) -> tuple[Path, bytes]:
    """The path of a file, with links followed, and what is in it.

    Raises:
        MeshError: it cannot be read, or must not be.
    """
    try:
        path, content = regular_bytes(file.path, MAX_BYTES, file.within)
    except OutsideError as fault:
        raise MeshError(f"leads out of the folders that may be read: {to_allow(os.path.dirname(fault.real))}") from None
    except LoadError as fault:
        raise MeshError(str(fault)) from None
    except (OSError, ValueError) as fault:
        raise MeshError(f"cannot be read: {reason_of(fault)}") from None
    if content.startswith(b"version https://git-lfs"):
        raise MeshError("is a Git LFS pointer: run `git lfs pull` where it came from")
    return path, content


class MeshReader:
    """Reads the meshes of a robot; `close` ends the process that it may have started.

    Args:
        seconds: of processor time for each file, on Windows on the clock; in other processes, six times as many there.
            All files of a robot together, pictures included, may take six times as long until they are drawn.

    Attributes:
        pictures: of the robot.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._spent = 0.0
        self._child: Apart | None = None
        self.pictures = Pictures()
        self._found: dict[tuple[str, Within], tuple[list[RawPart] | MeshError, dict[str, str]]] = {}

    def __enter__(self) -> MeshReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Counts the processor time of a block among that of all files together.

        Raises:
            SlowMeshError: they have taken too long before.
        """
        if self._spent > _ALL * self._seconds:
            raise SlowMeshError(f"is not read: those before it took {self._spent:.3g} s, see mesh_seconds")
        begin = _processor_time()
        try:
            yield
        finally:
            self._spent += _processor_time() - begin

    def read(self, mesh: MeshFile, missing: dict[str, str]) -> list[RawPart]:
        """The parts of a mesh file, which is read the first time it is asked for.

        Args:
            mesh: the file.
            missing: gets the pictures that it names and that cannot be drawn, and why.

        Raises:
            SlowMeshError: it takes too long.
            MeshError: it is not a mesh that can be read.
        """
        key = mesh.path, mesh.within
        if key not in self._found:
            unread: dict[str, str] = {}
            parts: list[RawPart] | MeshError
            try:
                with self.counting():
                    parts = self._read(mesh, unread)
            except MeshError as fault:
                parts = fault
            self._found[key] = parts, unread
        parts, unread = self._found[key]
        missing.update(unread)
        if isinstance(parts, MeshError):
            raise parts
        return parts

    def _read(self, mesh: MeshFile, missing: dict[str, str]) -> list[RawPart]:
        kind = Path(mesh.path).suffix.lower().lstrip(".")
        if kind not in _KINDS:
            raise MeshError(f"is of kind {kind!r}, expected one of {', '.join(_KINDS)}")
        path, content = content_of_file(mesh)
        if kind == "stl" and (corners := _in_time(binary_stl, content)) is not None:
            return [RawPart(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))]
        if kind == "dae":
            _check_collada(content)
        if is_plain(content, kind):
            few, found = _Named(path.parent, mesh, _PLAIN_NAMES, PLAIN_BYTES, _PLAIN_PIXELS), dict(missing)
            parts = parsed(content, kind, few.content, found)
            if not few.too_many:
                missing.update(found)
                return parts
        return self._read_apart(content, kind, _Named(path.parent, mesh, _NAMES, _BESIDE), missing)

    def _read_apart(self, content: bytes, kind: str, named: _Named, missing: dict[str, str]) -> list[RawPart]:
        try:
            child = self._child = self._child or _started()
        except NoProcessError as fault:
            raise MeshError(f"is not plain enough to be read without {fault}") from None
        try:
            with child.killed_after(self._seconds * (_ON_THE_CLOCK if sys.platform != "win32" else 1)):
                asked = {"kind": kind, "seconds": self._seconds, "memory": MAX_MEMORY}
                send(child.sink, asked, {"content": content})
                while "fetch" in (answer := receive(child.source))[0]:
                    try:
                        send(child.sink, {}, {"content": named.content(answer[0]["fetch"])})
                    except LoadError as fault:
                        send(child.sink, {"error": str(fault)}, {})
        except (EOFError, OSError):
            status = child.status()
            self.close()
            if status in ({-signal.SIGPROF, -signal.SIGKILL} if sys.platform != "win32" else {1}):
                self._spent += self._seconds
                raise SlowMeshError(f"takes more than {self._seconds:g} s to be read, see mesh_seconds") from None
            raise MeshError(f"breaks its reader, or needs more than {MAX_MEMORY >> 30} GB") from None
        except BaseException:  # Ctrl-C: what it was at is of no use
            self.close()
            raise
        said, arrays = answer
        self._spent += said["seconds"]
        missing.update(said["missing"])
        if "error" in said:
            raise MeshError(said["error"])
        return unpacked_parts(said["parts"], arrays)


def _in_time(call: Callable[[bytes], T], content: bytes) -> T:
    """What a call gives, with looks for Ctrl-C if there is so much that a step may take a tenth of a second."""
    return call(content) if len(content) < _LARGE else aside(lambda: call(content))


def _processor_time() -> float:
    """Of this thread; if it is the main one, also of those that work for it (`aside`)."""
    return time.process_time() if threading.current_thread() is threading.main_thread() else time.thread_time()


def _started() -> Apart:
    child = Apart("from jounce.view.mesh_child import main; main()", site=True)
    try:
        receive(child.source)  # once trimesh is imported
    except (EOFError, OSError):
        child.end()
        raise NoProcessError("a process of its own, and that does not start") from None
    except BaseException:
        child.end()
        raise
    return child


class _Named:
    """Files that a mesh names, from its folder.

    Args:
        folder: that it is in.
        mesh: which says what may be read.
        count, size, pixels: files, and bytes and pixels in all of them together, that are read.

    Attributes:
        too_many: whether there were more.
    """

    def __init__(self, folder: Path, mesh: MeshFile, count: int, size: int, pixels: float = math.inf) -> None:
        self._folder, self._within = folder, mesh.within
        self._count, self._left, self._pixels = count, size, pixels
        self.too_many = False

    def content(self, name: str) -> bytes:
        """That of a material or picture.

        Raises:
            LoadError: why there is none.
        """
        self._count -= 1
        self.too_many |= self._count < 0
        why = "is one of too many" if self.too_many else "does not exist"
        for place in () if self.too_many else (self._folder / name, self._folder / os.path.basename(name)):
            if place.suffix.lower() not in _SUFFIXES:
                continue
            if self._within is not None and not any(is_inside(os.path.abspath(place), f) for f in self._within):
                why = "is outside the folders that may be read"  # and is not even looked at
                continue
            try:
                content = regular_bytes(place, _EACH, self._within)[1]
                self._left -= len(content)
                if place.suffix.lower() != ".mtl":
                    self._pixels -= math.prod(checked_picture(content).size)
                self.too_many |= self._left < 0 or self._pixels < 0
                if self.too_many:
                    raise LoadError("is one of too many")
                return content
            except OutsideError:
                why = "is outside the folders that may be read"
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (LoadError, OSError, ValueError) as fault:
                why = str(fault) if isinstance(fault, LoadError) else f"cannot be read: {reason_of(fault)}"
        raise LoadError(why)


def _check_collada(content: bytes) -> None:
    """Rejects what is not plain XML: readers of Collada also unpack archives, to any size."""
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"<") or b"\0" in content:
        raise MeshError("is not a mesh that can be read: expected XML in UTF-8")
    if start.startswith(b"<?xml"):
        said = _DECLARATION.match(start)
        if said is None:
            raise MeshError("is not a mesh that can be read: its XML declaration is broken")
        if said[3] and said[3].lower() not in _ENCODINGS:
            raise MeshError(f"is in {short(said[3].decode(errors='replace'))}, expected UTF-8")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise MeshError("has a document type, which a mesh does not need")
