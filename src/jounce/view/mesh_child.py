"""A program that reads meshes for another process: `mesh_parsing` with a limit on time and memory for each.

It opens nothing: the content of a mesh comes through standard input, and it asks there for the files that a mesh names.
Results go to standard output, as numbers without any code in them.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from jounce.errors import LoadError
from jounce.loading.mjcf_child import receive, send
from jounce.view.mesh_parsing import MeshError, RawPart, parsed
from jounce.view.pictures import KINDS

_KEYS = {"vertices": ("<f8", 3), "faces": ("<i8", 3), "uv": ("<f8", 2)}  # types and widths of the arrays of a part


def packed_parts(parts: list[RawPart]) -> tuple[list[Any], dict[str, bytes]]:
    """The parts as what JSON has, and bytes."""
    said, files = [], {}
    for i, part in enumerate(parts):
        for key, (kind, _) in _KEYS.items():
            if (array := getattr(part, key)) is not None:
                files[f"{i} {key}"] = np.ascontiguousarray(array, dtype=kind).tobytes()
        if part.picture is not None:
            files[f"{i} picture"] = np.ascontiguousarray(part.picture).tobytes()
        said.append([part.colour, None if part.picture is None else part.picture.shape[:2]])
    return said, files


def unpacked_parts(said: list[Any], files: Mapping[str, bytes]) -> list[RawPart]:
    """And back."""
    made = []
    for i, (colour, size) in enumerate(said):
        arrays: dict[str, Any] = dict.fromkeys(_KEYS)
        for key, (kind, width) in _KEYS.items():
            if f"{i} {key}" in files:
                arrays[key] = np.frombuffer(files[f"{i} {key}"], dtype=kind).reshape(-1, width)
        picture = None if size is None else np.frombuffer(files[f"{i} picture"], dtype=np.uint8).reshape(*size, 3)
        made.append(RawPart(**arrays, colour=None if colour is None else tuple(colour), picture=picture))
    return made


def main() -> None:
    """Reads meshes until there are no more."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # readers may print to it
    for needed in ("trimesh", "collada"):
        try:
            __import__(needed)
        except ImportError:
            continue
    _forget_other_pictures()
    send(sink, {}, {})

    def fetch(name: str) -> bytes:
        send(sink, {"fetch": name}, {})
        answer, files = receive(source)
        if "error" in answer:
            raise LoadError(answer["error"])
        return files["content"]

    while True:
        try:
            asked, files = receive(source)
        except EOFError:
            return
        _limit(asked["seconds"], asked["memory"])
        missing: dict[str, str] = {}
        begin = time.process_time()
        answer: dict[str, Any] = {"missing": missing}
        try:
            answer["parts"], arrays = packed_parts(parsed(files["content"], asked["kind"], fetch, missing))
        except MeshError as fault:
            answer["error"], arrays = str(fault), {}
        except MemoryError:
            answer["error"], arrays = "needs more memory than is available", {}
        answer["seconds"] = time.process_time() - begin
        _limit(0.0, asked["memory"])
        send(sink, answer, arrays)


def _forget_other_pictures() -> None:
    """Lets Pillow, which trimesh opens pictures in a GLB with, know no others than are read: it runs PostScript."""
    try:
        from PIL import Image
    except ImportError:
        return
    Image.init()
    Image.ID[:] = [kind for kind in Image.ID if kind in KINDS]


def _limit(seconds: float, memory: int) -> None:
    """Ends this process after so much processor time from now on, 0 for none, or where it needs more memory."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
