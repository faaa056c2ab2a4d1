"""MuJoCo's compiler, kept from crashing, hanging, and reading or leaving behind files that it need not.

It gets the content of a file as documents that `mjcf_document` has read. Plain ones are compiled directly. Those that
may require much work (through copies, meshes that give inertia, thousands of elements, plugins) are compiled in a
process with limits on time and memory. An MjSpec is compiled as it is: its files have been read already.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np

from jounce._extras import needed
from jounce.errors import LoadError, MissingFileError
from jounce.loading import mjcf_child
from jounce.loading.apart import Apart, NoProcessError
from jounce.loading.folders import Folders, NamedFile, paths_of
from jounce.loading.height_fields import FieldSource
from jounce.loading.mjcf_child import (
    compiled,
    mesh_sources,
    needed_meshes,
    parsed,
    receive,
    send,
    tetrahedron,
    weighs,
    without_lengths,
)
from jounce.loading.mjcf_document import MAX_DEPTH, MAX_ELEMENTS, Documents, FileName, documents_of
from jounce.loading.mjcf_textures import TextureSource, mesh_with_uv
from jounce.loading.mjcf_visuals import MeshSource
from jounce.loading.xml_source import from_tree, read_xml, short
from jounce.parts.pose import rotation
from jounce.parts.visual import Triangles

MAX_SECONDS = 5  # of processor time for MuJoCo to compile a file
MAX_WAIT = 60  # seconds of wall clock, for a busy machine or one without limits on processor time
MAX_MEMORY = 4 << 30  # bytes
Meshes = dict[str | int | tuple[str, int], MeshSource | Triangles | FieldSource | TextureSource]
Keys = list[dict[str, str]]  # the attributes of each
_PROGRAM = str(mjcf_child.__file__)
_WAY_OUT = "; if you trust the file, compile it yourself and pass the mujoco.MjModel"


def compile_mjcf(
    source: Any, name: str, folders: Folders | None = None
) -> tuple[Any, list[str], list[str], Meshes | None, Keys | None]:
    """The MjModel of a source; what was left out; the compiler's warnings; where the meshes come from; keyframes.

    The last two are None if the model contains them. Otherwise meshes that no inertia depends on are stand-ins.

    Args:
        source: a path, text, an element, an MjSpec or an MjModel.
        name: for messages.
        folders: that files may be read from; when left out, any for a path, none for text.
    """
    mujoco = mujoco_package(name)
    if isinstance(source, mujoco.MjModel):
        return source, [], [], None, None
    documents = keys = None
    with _warnings_kept(mujoco) as heard:
        try:
            if isinstance(source, mujoco.MjSpec):
                if folders is not None and folders.untrusted:
                    raise LoadError(f"{name}: is read by MuJoCo, wherever its files are: untrusted=True needs a file")
                model, left = _compiled(mujoco, source.copy())
                meshes = None
            else:
                documents = _documents(source, name, folders)
                model, found = _compiled_documents(mujoco, documents, heard)
                left, meshes, keys = [], _sources(documents, found), documents.keys
        except LoadError:
            raise
        except Exception as fault:  # usually ValueError; RuntimeError and FatalError if out of memory
            said = str(fault) if documents is None else documents.in_our_words(str(fault))
            message = ", ".join(line.strip(" ,") for line in said.splitlines() if line.strip())
            raise LoadError(f"{name}: mujoco's compiler: {message or type(fault).__name__}") from None
    odd = [warning for warning in heard if "deprecated" not in warning]  # deprecations concern MuJoCo, not the robot
    return model, left, [f"mujoco's compiler: {warning}" for warning in odd], meshes, keys


def mujoco_package(name: str) -> Any:
    """The package, or an error that says how to install it."""
    try:
        with _safe_path():
            return needed("mujoco", "MJCF")
    except ImportError as fault:
        raise LoadError(f"{name}: {fault}") from None


@contextmanager
def _safe_path() -> Iterator[None]:
    """Python that is started meanwhile imports nothing from the working directory, from Python 3.11 on.

    The package glfw, which MuJoCo imports, starts it to ask a library for its version.
    """
    if "mujoco" in sys.modules:
        yield
        return
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        del os.environ["PYTHONSAFEPATH"]
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _warnings_kept(mujoco: Any) -> Iterator[list[str]]:
    """Collects MuJoCo's warnings: Python's, and those of its core, otherwise printed and written to MUJOCO_LOG.TXT."""
    heard: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(heard.append)
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            yield heard
        heard += [str(warning.message) for warning in raised]
    finally:
        mujoco.set_mju_user_warning(before)


def _documents(source: Any, name: str, folders: Folders | None) -> Documents:
    if hasattr(source, "tag"):
        root = from_tree(source, name, max_depth=MAX_DEPTH, max_elements=MAX_ELEMENTS)
        return documents_of(root, folders or Folders(None))
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        content: str | bytes = source.lstrip("\ufeff \t\r\n")
        folders = folders or Folders(None)
    elif isinstance(source, bytes):
        content, folders = source, folders or Folders(None)
    else:
        folders = folders or Folders(Path(source))
        content = folders.content()
    if isinstance(content, bytes):
        _check_encoding(content, name)
    return documents_of(read_xml(content, name, max_depth=MAX_DEPTH, max_elements=MAX_ELEMENTS), folders)


def _check_encoding(content: bytes, name: str) -> None:
    """Reports bytes that are not UTF-8 and do not declare another encoding."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"encoding" in content[:100]:
        return
    try:
        content.decode()
    except UnicodeDecodeError as fault:
        raise LoadError(f"{name}: is not UTF-8: {fault}") from None


def _compiled_documents(mujoco: Any, documents: Documents, heard: list[str]) -> tuple[Any, dict[str, Any]]:
    """The model, built only from files that its dynamics need, and its `mesh_sources`.

    Warnings are appended to `heard`.
    """
    if documents.plain:
        spec = parsed(mujoco, documents.text, documents.models, documents.meshes)
        if not needed_meshes(spec, documents.rules, documents.groups):
            found = mesh_sources(spec)
            return compiled(mujoco, spec, {}, {}), found
    content, found = _compiled_apart(documents, heard)
    return mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": content}), found


def _sources(documents: Documents, found: dict[str, Any]) -> Meshes:
    """Where the meshes of the documents are, by name, the height fields, by number, and the textures."""
    sources: Meshes = {}

    def named(file: FileName) -> NamedFile:
        return NamedFile(file.name, tuple(paths_of(file.name, file.places)), documents.folders)

    for name, (word, scale, shift, turn, vertices, faces, places_on, of_faces) in found.items():
        file = documents.meshes.get(word)
        if file is not None:
            sources[name] = MeshSource(named(file), tuple(scale), tuple(shift), tuple(turn))
        elif vertices and faces:
            corners = np.array(vertices, dtype=np.float64).reshape(-1, 3) - shift
            corners = corners @ rotation(turn) * scale
            flat = np.array(faces, dtype=np.int32).reshape(-1, 3)
            sources[name] = mesh_with_uv(name, corners, flat, np.array(places_on), np.array(of_faces, dtype=np.int32))
    for i, field in enumerate(documents.fields):
        sources[i] = FieldSource(None if field.file is None else named(field.file), field.grid, field.elevation)
    for i, texture in enumerate(documents.textures):
        files = {key: named(file) for key, file in texture.files.items()}
        sources["texture", i] = TextureSource(texture.said, files)
    return sources


def _compiled_apart(documents: Documents, heard: list[str]) -> tuple[bytes, dict[str, Any]]:
    """The model in MuJoCo's binary format, compiled in a process with limits, and its `mesh_sources`."""
    document = {"text": documents.text, "meshes": list(documents.meshes), "seconds": MAX_SECONDS, "memory": MAX_MEMORY}
    document |= {"rules": list(documents.rules), "groups": documents.groups}
    with _process(documents.source) as (sink, source):
        send(sink, document, documents.models)
        answer, files = receive(source)
        if "meshes" in answer:
            send(sink, {}, {word: _mesh(documents, word, body) for word, body in answer["meshes"].items()})
            answer, files = receive(source)
    if "error" in answer:
        raise ValueError(answer["error"])
    heard += answer["warnings"]
    return files["model"], answer["sources"]


@contextmanager
def _process(name: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Streams to and from `mjcf_child` running as a program, which is killed after some time."""
    try:
        child = Apart(f"import runpy; runpy.run_path({_PROGRAM!r}, run_name='__main__')")
    except NoProcessError as fault:
        by = "by" if "interpreter" in str(fault) else "in"
        raise LoadError(f"{name}: has to be compiled {by} {fault}{_WAY_OUT}") from None
    try:
        receive(child.source)  # once MuJoCo is imported
        with child.killed_after(MAX_WAIT):
            yield child.sink, child.source
    except LoadError:  # of a file that it asked for; one that is missing is an OSError, too
        raise
    except (EOFError, OSError):
        slow = child.status() == -getattr(signal, "SIGXCPU", 0)
        time, memory = f"takes more than {MAX_SECONDS} s", f"breaks down, or needs more than {MAX_MEMORY >> 30} GB"
        raise LoadError(f"{name}: mujoco's compiler {time if slow else memory}{_WAY_OUT}") from None
    finally:
        child.end()


def _mesh(documents: Documents, word: str, body: str) -> bytes:
    try:
        return documents.mesh(word)
    except LoadError as fault:
        whose = f"body {short(body)!r}" if body else "a body without a name"
        said = f"{fault}; the inertia of {whose} comes from this mesh: give the file, or the body an <inertial>"
        raise (
            MissingFileError(said, fault.filename) if isinstance(fault, MissingFileError) else LoadError(said)
        ) from None


def _compiled(mujoco: Any, spec: Any) -> tuple[Any, list[str]]:
    """The model of a spec, if necessary without the files that are only for drawing."""
    without_lengths(mujoco, spec)
    try:
        return spec.compile(), []
    except ValueError as fault:
        message = first = str(fault)
    shapes = [geom for geom in spec.geoms if geom.meshname and _gives_inertia(mujoco, spec, geom)]
    needed = {geom.meshname: geom.parent.name for geom in shapes}
    if _stand_in(mujoco, spec, needed):
        try:
            return spec.compile(), [f"shapes and pictures from files, which the dynamics do not need ({first})"]
        except ValueError as fault:
            message = str(fault)
    for mesh in spec.meshes:
        if _called(mesh) in needed and mesh.file and PurePath(mesh.file).name in message:
            body = needed[_called(mesh)]
            whose = f"body {body!r}" if body else "a body without a name"
            message += f"\nthe inertia of {whose} comes from this mesh: give the file, or the body an <inertial>"
    raise ValueError(message)


def _called(mesh: Any) -> str:
    """The name by which geoms refer to a mesh: its own, or that of its file without the suffix."""
    return str(mesh.name or PurePath(mesh.file.replace("\\", "/")).stem)


def _gives_inertia(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether the mass of a body, other than the world, depends on this shape."""
    rule, kinds = spec.compiler.inertiafromgeom, mujoco.mjtInertiaFromGeom
    first, last = spec.compiler.inertiagrouprange
    stated = rule == kinds.mjINERTIAFROMGEOM_FALSE or (
        rule == kinds.mjINERTIAFROMGEOM_AUTO and geom.parent.explicitinertial
    )
    return bool(weighs(geom) and first <= geom.group <= last and not stated and geom.parent.name != "world")


def _stand_in(mujoco: Any, spec: Any, needed: dict[str, str]) -> bool:
    """Replaces meshes that no inertia depends on by tetrahedra, height fields by planes, textures by white."""
    found = False
    for mesh in spec.meshes:
        if mesh.file and _called(mesh) not in needed:
            tetrahedron(mesh)
            found = True
    for field in spec.hfields:
        if field.file:
            field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, [0.0] * 4
            found = True
    for texture in spec.textures:
        if texture.file or any(texture.cubefiles):
            texture.file, texture.builtin = "", mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.rgb1 = texture.rgb2 = [1.0, 1.0, 1.0]  # which leaves the colour of a material as it is
            texture.width, texture.height = 1, 1 if texture.type == mujoco.mjtTexture.mjTEXTURE_2D else 6
            for side in range(len(texture.cubefiles)):
                texture.cubefiles[side] = ""
            found = True
    for skin in list(spec.skins):
        spec.delete(skin) if hasattr(spec, "delete") else skin.delete()  # until MuJoCo 3.3
        found = True
    return found
