"""MuJoCo's compiler step by step, and a program that runs these steps in a process with limits.

As a program it imports nothing from jounce, so that it starts in a fraction of a second. It reads no files: input comes
through standard input and results go to standard output, as length-prefixed messages.
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
        files: that it refers to, in memory.
        meshes: names of further files, not needed yet.
    """
    return mujoco.MjSpec.from_string(text, include={**dict.fromkeys(meshes, b"-"), **files})


def needed_meshes(spec: Any, rules: Iterable[str], groups: Sequence[int]) -> dict[str, str]:
    """Meshes that the inertia of a body may depend on, and one such body for each.

    An attached model keeps the rules of its own compiler, which the spec does not expose; so a shape counts if the
    rules of any document say so.
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
    """The MjModel of a spec, with tetrahedra for meshes that are not needed and with files in memory."""
    for mesh in spec.meshes:
        if mesh.name not in needed:
            tetrahedron(mesh)
    spec.assets = dict(files)
    without_lengths(mujoco, spec)
    return spec.compile()


def mesh_sources(spec: Any) -> dict[str, Any]:
    """For each mesh by name: file, scale, shift, rotation, and what the document itself gives.

    That is vertices, faces, places on a picture, and which of these belong to the corners of the faces.
    """
    return {
        mesh.name: (
            mesh.file,
            [float(x) for x in mesh.scale],
            [float(x) for x in mesh.refpos],
            [float(x) for x in mesh.refquat],
            [] if mesh.file else [float(x) for x in mesh.uservert],
            [] if mesh.file else [int(x) for x in mesh.userface],
            [] if mesh.file else [float(x) for x in mesh.usertexcoord],
            [] if mesh.file else [int(x) for x in mesh.userfacetexcoord],
        )
        for mesh in spec.meshes
    }


def tetrahedron(mesh: Any) -> None:
    """Replaces a mesh that no inertia depends on by a tetrahedron."""
    mesh.file = ""
    mesh.uservert = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
    mesh.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    mesh.usernormal = mesh.usertexcoord = []


def without_lengths(mujoco: Any, spec: Any) -> None:
    """Keeps the compiler from simulating muscle lengths, for as long as a file says; the dynamics do not need them."""
    spec.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE


# Messages: a line of JSON, followed by the bytes of its files


def send(stream: IO[bytes], message: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    sizes = {name: len(content) for name, content in files.items()}
    stream.write(json.dumps([message, sizes]).encode() + b"\n")
    for content in files.values():
        stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """A message and its files; EOFError if the stream ends early."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message, sizes = json.loads(line)
    files = {name: stream.read(size) for name, size in sizes.items()}
    if any(len(files[name]) != size for name, size in sizes.items()):
        raise EOFError
    return message, files


def main() -> None:
    """Replies to a document with the names of the needed meshes, and to these meshes with the model."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # MuJoCo and its plugins may print to it
    os.environ["MUJOCO_GL"] = "disable"  # otherwise it looks for a window system, with a process of its own
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
    except Exception as fault:  # whatever MuJoCo raises
        send(sink, {"error": str(fault) or type(fault).__name__}, {})


def _is_read(mesh: Any, needed: Mapping[str, str]) -> bool:
    return bool(mesh.file and mesh.name in needed)


def _set_limits(seconds: float, memory: int) -> None:
    """Limits the memory and the processor time, which does not count while other processes use the machine."""
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
