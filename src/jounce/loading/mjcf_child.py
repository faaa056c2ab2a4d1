"""MuJoCo's compiler step by step, and a program that takes these steps in a process with limits.

As a program it imports nothing of jounce, so that it starts in a fraction of a second. It reads no files: what it needs
comes by standard input, what it makes goes to standard output, in messages of a length and so many bytes.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any


def parsed(mujoco: Any, text: str, files: Mapping[str, bytes], meshes: Iterable[str]) -> Any:
    """The MjSpec of a document.

    Args:
        mujoco: the package.
        text: the document.
        files: that it names, in memory.
        meshes: names of further files, not to be looked for yet.
    """
    return mujoco.MjSpec.from_string(text, include={**dict.fromkeys(meshes, b"-"), **files})


def needed_meshes(spec: Any, rules: Iterable[str], groups: Sequence[int]) -> dict[str, str]:
    """Meshes that the inertia of a body may depend on, and one such body of each.

    A model that is attached keeps the rules of its own compiler, which the spec does not tell; so a shape counts as
    soon as the rules of one document say so.
    """
    rules = set(rules)
    if rules == {"false"}:
        return {}
    return {
        geom.meshname: geom.parent.name
        for geom in spec.geoms
        if geom.meshname
        and geom.parent.name != "world"
        and weighs(geom)
        and min(groups) <= geom.group <= max(groups)
        and ("true" in rules or not geom.parent.explicitinertial)
    }


def weighs(geom: Any) -> bool:
    return bool(geom.mass != 0 if not math.isnan(geom.mass) else geom.density != 0)


def compiled(mujoco: Any, spec: Any, needed: Mapping[str, str], files: Mapping[str, bytes]) -> Any:
    """The MjModel of a spec, where meshes that are not needed are tetrahedra, and files are in memory."""
    for mesh in spec.meshes:
        if mesh.name not in needed:
            tetrahedron(mesh)
    spec.assets = dict(files)
    without_lengths(mujoco, spec)
    return spec.compile()


def mesh_sources(spec: Any) -> dict[str, Any]:
    """Of each mesh by name: file, scale, what it is moved and turned by, and vertices and faces written out."""
    return {
        mesh.name: (
            mesh.file,
            [float(x) for x in mesh.scale],
            [float(x) for x in mesh.refpos],
            [float(x) for x in mesh.refquat],
            [] if mesh.file else [float(x) for x in mesh.uservert],
            [] if mesh.file else [int(x) for x in mesh.userface],
        )
        for mesh in spec.meshes
    }


def tetrahedron(mesh: Any) -> None:
    """Puts it for a mesh that no inertia needs."""
    mesh.file = ""
    mesh.uservert = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
    mesh.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    mesh.usernormal = mesh.usertexcoord = []


def without_lengths(mujoco: Any, spec: Any) -> None:
    """Keeps the compiler from simulating how far muscles reach, for as long as a file says; no dynamics need it."""
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE


# Messages: a line of JSON, the bytes of its files after it


def send(stream: IO[bytes], message: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    sizes = {name: len(content) for name, content in files.items()}
    stream.write(json.dumps([message, sizes]).encode() + b"\n")
    for content in files.values():
        stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A message and its files; an EOFError where the stream ends before."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message, sizes = json.loads(line)
    files = {name: stream.read(size) for name, size in sizes.items()}
    if any(len(files[name]) != size for name, size in sizes.items()):
        raise EOFError
    return message, files


def main() -> None:
    """Answers a document with the meshes that are needed, and these with the model."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # where MuJoCo and its plugins may print
    try:
        import mujoco
        import numpy as np

        heard: list[str] = []
        mujoco.set_mju_user_warning(heard.append)
        send(sink, {}, {})
        document, files = receive(source)
        _set_limits(document["seconds"], document["memory"])
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            spec = parsed(mujoco, document["text"], files, document["meshes"])
            needed = needed_meshes(spec, document["rules"], document["groups"])
            send(sink, {"meshes": {mesh.file: needed[mesh.name] for mesh in spec.meshes if _is_read(mesh, needed)}}, {})
            files |= receive(source)[1]
            sources = mesh_sources(spec)
            model = compiled(mujoco, spec, needed, files)
        content = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, content)
        heard += [str(warning.message) for warning in raised]
        send(sink, {"warnings": heard, "sources": sources}, {"model": content.tobytes()})
    except Exception as fault:  # as MuJoCo raises them
        send(sink, {"error": str(fault) or type(fault).__name__}, {})


def _is_read(mesh: Any, needed: Mapping[str, str]) -> bool:
    return bool(mesh.file and mesh.name in needed)


def _set_limits(seconds: float, memory: int) -> None:
    """Limits of processor time, which does not run while others use the machine, and of memory."""
    try:
        import resource
    except ImportError:  # Windows
        return
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
