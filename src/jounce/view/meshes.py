"""Meshes from files, through trimesh: STL, OBJ, DAE, PLY, OFF, GLB.

Files are not trusted. So a file is read whole, up to a limit, from a folder that may be read; nothing else is opened
except the materials and pictures of an OBJ or a DAE, from the same folders. Whatever trimesh makes of it, the result
is triangles of finite numbers, or the reason why there are none.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.errors import LoadError
from jounce.loading.height_fields import from_bytes, surface
from jounce.loading.mesh_paths import real_path
from jounce.loading.xml_source import reason_of, regular_bytes
from jounce.parts.pose import rotation
from jounce.parts.visual import Colour, HeightFile, MeshFile, Triangles
from jounce.view.creases import creased
from jounce.view.stl import binary_stl
from jounce.view.textures import Texture, picture_of, texture_of, with_creases

MAX_BYTES = 100_000_000
MAX_FACES = 2_000_000
_MATERIALS = 20_000_000  # bytes
_BESIDE = (".mtl", ".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff")
_KINDS = ("stl", "obj", "dae", "ply", "off", "glb")
_BINDINGS = re.compile(rb"<bind_material>.*?</bind_material>", re.DOTALL)
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([-+.0-9eE]+)[\"']")


class MeshError(LoadError):
    """Why a mesh is left out."""


@dataclass(frozen=True, eq=False)
class Part:
    """Vertices (V, 3) and faces (F, 3) of one colour, None if the file gives none, or with a picture on them."""

    vertices: NDArray[Any]
    faces: NDArray[Any]
    colour: Colour | None = None
    texture: Texture | None = None


def parts_of(mesh: MeshFile | HeightFile | Triangles) -> list[Part]:
    """The mesh, with its scale applied, ready to be drawn.

    Raises:
        MeshError: it cannot be drawn; the message says why.
    """
    if isinstance(mesh, HeightFile):
        mesh = _ground(mesh)
    raw = [Part(mesh.vertices, mesh.faces)] if isinstance(mesh, Triangles) else _from_file(mesh)
    for part in raw:
        vertices, faces = np.asarray(part.vertices), np.asarray(part.faces)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
            raise MeshError("is not a mesh of triangles")
        if faces.size and not (faces.min() >= 0 and faces.max() < len(vertices)):
            raise MeshError("has faces without vertices")
    count = sum(len(part.faces) for part in raw)
    if not count:
        raise MeshError("has no faces")
    if count > MAX_FACES:
        raise MeshError(f"has {count:,} faces, more than the {MAX_FACES:,} that are drawn")
    made = []
    for part in _joined(raw):
        vertices, faces = np.asarray(part.vertices, dtype=np.float64), np.asarray(part.faces)
        if isinstance(mesh, MeshFile):
            if any(mesh.shift) or any(mesh.turn[1:]):
                vertices = (vertices - mesh.shift) @ rotation(mesh.turn)
            vertices = vertices * mesh.scale
            if np.prod(mesh.scale) < 0:  # mirroring turns faces inside out
                faces = faces[:, ::-1]
        if not (np.abs(vertices) < 1e6).all():
            raise MeshError("has vertices that are not finite, or too large for a robot")
        corners, sides = vertices.astype(np.float32), np.ascontiguousarray(faces, dtype=np.int32)
        if part.texture is None:
            made.append(Part(*creased(corners, sides), part.colour))
        else:
            corners, sides, texture = with_creases(corners, sides, part.texture)
            made.append(Part(corners, sides, part.colour, texture))
    return made


def triangles_of_file(path: str | os.PathLike[str]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Vertices (V, 3) and triangles (F, 3) of the mesh in a file, as they are there.

    Raises:
        LoadError: there is none; the message says why.
    """
    real = os.path.realpath(path)
    if find_spec("trimesh") is None:
        raise ImportError("reading meshes needs trimesh: pip install 'jounce[view]'")
    try:
        parts = _from_file(MeshFile(real, (os.path.dirname(real),)))
        if not parts:
            raise MeshError("has no faces")
    except MeshError as fault:
        raise MeshError(f"{os.fspath(path)} {fault}") from None
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = np.concatenate([part.faces + start for part, start in zip(parts, first[:-1], strict=True)])
    vertices = np.concatenate([np.asarray(part.vertices, dtype=np.float64) for part in parts])
    if not np.isfinite(vertices).all() or not len(faces):
        raise MeshError(f"{os.fspath(path)} is not a mesh of triangles with finite numbers")
    return vertices, faces.astype(np.intp)


def _joined(parts: list[Part]) -> list[Part]:
    """One part per colour; those with pictures stay as they are."""
    plain = [part for part in parts if part.texture is None]
    joined = [part for part in parts if part.texture is not None]
    for colour in dict.fromkeys(part.colour for part in plain):
        own = [part for part in plain if part.colour == colour]
        first = np.cumsum([0, *(len(part.vertices) for part in own)])
        faces = np.concatenate([part.faces + start for part, start in zip(own, first[:-1], strict=True)])
        joined.append(Part(np.concatenate([part.vertices for part in own]), faces, colour))
    return joined


def _ground(field: HeightFile) -> Triangles:
    """A height field from its file."""
    _, content = _content(field)
    try:
        heights = _greys(content) if field.path.lower().endswith(".png") else from_bytes(content)
        return surface(os.path.basename(field.path), heights, field.size)
    except MeshError:
        raise
    except LoadError as fault:
        raise MeshError(str(fault)) from None


def _greys(content: bytes) -> NDArray[np.float64]:
    """The picture as MuJoCo reads it: 8 bits, red where it has colours, the first row at +y."""
    images: Any = import_module("PIL.Image")
    try:
        with _quiet():
            picture = images.open(io.BytesIO(content))
            if picture.mode.startswith("I"):  # 16 bits
                return np.asarray(picture, dtype=np.float64)[::-1] // 256
            return np.asarray(picture.convert("RGB"), dtype=np.float64)[::-1, :, 0]
    except Exception as fault:  # whatever Pillow raises for a file that is not a picture
        raise MeshError(f"is not a picture that can be read ({type(fault).__name__})") from None


def _content(file: MeshFile | HeightFile) -> tuple[Path, bytes]:
    """The path of a file, with links followed, and what is in it."""
    path = real_path(file)
    if path is None:
        raise MeshError("is a link that leads out of the folders that may be read: pass allow= to jounce.load")
    try:
        content = regular_bytes(path, MAX_BYTES)
    except LoadError as fault:
        raise MeshError(str(fault)) from None
    except (OSError, ValueError) as fault:
        raise MeshError(f"cannot be read: {reason_of(fault)}") from None
    if content.startswith(b"version https://git-lfs"):
        raise MeshError("is a Git LFS pointer: run `git lfs pull` where it came from")
    return path, content


def _from_file(mesh: MeshFile) -> list[Part]:
    kind = Path(mesh.path).suffix.lower().lstrip(".")
    if kind not in _KINDS:
        raise MeshError(f"is of kind {kind!r}, expected one of {', '.join(_KINDS)}")
    path, content = _content(mesh)
    if kind == "dae" and (b"<!DOCTYPE" in content or b"<!ENTITY" in content):
        raise MeshError("has a document type, which a mesh does not need")
    try:
        with _quiet():
            return _parsed(content, kind, path, mesh.within)
    except MeshError:
        raise
    except MemoryError:
        raise MeshError("needs more memory than is available") from None
    except Exception as fault:  # whatever trimesh and its readers raise for a file that is not a mesh
        said = " ".join(str(fault).split())[:200]
        raise MeshError(
            f"is not a mesh that can be read ({type(fault).__name__}{': ' if said else ''}{said})"
        ) from None


def _parsed(content: bytes, kind: str, path: Path, within: tuple[str, ...]) -> list[Part]:
    if kind == "stl" and (corners := binary_stl(content)) is not None:
        return [Part(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))]
    scene = _scene(content, kind, path, within)
    if kind == "dae" and len(scene.graph.nodes_geometry) < content.count(b"<instance_geometry"):
        scene = _scene(_BINDINGS.sub(b"", content), kind, path, within)  # a broken material drops its geometry
    unit = 1.0
    if kind == "dae" and (found := _UNIT.search(content[:100_000])):
        unit = float(found[1])
    made = []
    for name in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[name]
        given = scene.geometry[geometry]
        if not hasattr(given, "faces"):  # lines and points
            continue
        vertices = np.asarray(given.vertices, dtype=np.float64) @ pose[:3, :3].T + pose[:3, 3]
        faces = np.asarray(given.faces)
        if np.linalg.det(pose[:3, :3]) < 0:
            faces = faces[:, ::-1]
        made += _by_colour(unit * vertices, faces, given.visual if kind != "stl" else None)
    return made


def _scene(content: bytes, kind: str, path: Path, within: tuple[str, ...]) -> Any:
    trimesh: Any = import_module("trimesh")
    beside = {"resolver": _Beside(path.parent, within)} if kind in ("obj", "dae") else {}
    return trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False, **beside)


def _by_colour(vertices: NDArray[np.float64], faces: NDArray[Any], visual: Any) -> list[Part]:
    """One part for each colour."""
    if visual is None or not getattr(visual, "defined", False):
        return [Part(vertices, faces)]
    if visual.kind == "texture":
        return [Part(vertices, faces, _of_material(visual.material), texture_of(visual, len(vertices)))]
    colours = np.asarray(visual.face_colors)
    if len(colours) != len(faces):
        return [Part(vertices, faces)]
    kinds, which = np.unique(colours, axis=0, return_inverse=True)
    if len(kinds) > 32:  # painted vertex by vertex
        return [Part(vertices, faces, _colour(colours.mean(axis=0)))]
    which = which.reshape(-1)
    return [Part(vertices, faces[which == i], _colour(kinds[i])) for i in range(len(kinds))]


def _of_material(material: Any) -> Colour | None:
    """The colour of a material, or the mean colour of its texture."""
    if (picture := picture_of(material)) is not None:
        with contextlib.suppress(Exception):
            return _colour(np.asarray(picture.convert("RGBA").resize((8, 8))).reshape(-1, 4).mean(axis=0))
    given = material.main_color
    return None if given is None else _colour(np.asarray(given))


def _colour(rgba: NDArray[Any]) -> Colour:
    red, green, blue, opacity = (float(x) / 255 for x in rgba)
    return red, green, blue, opacity if opacity > 0 else 1.0  # exporters write 0 and mean opaque


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences the log messages and warnings of trimesh and its readers."""
    log = logging.getLogger("trimesh")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)


class _Beside:
    """Files that a mesh names, for trimesh: materials of an OBJ and pictures, only from folders that may be read."""

    def __init__(self, folder: Path, within: tuple[str, ...]) -> None:
        self._folder = folder
        self._within = within

    def get(self, name: Any) -> bytes:
        plain = os.fsdecode(name).strip().removeprefix("file://").replace("\\", "/")
        for place in (self._folder / plain, self._folder / os.path.basename(plain)):
            path = real_path(MeshFile(str(place), self._within))
            if path is not None and os.path.isfile(path) and path.suffix.lower() in _BESIDE:
                return regular_bytes(path, _MATERIALS)
        raise FileNotFoundError(plain)

    def __getitem__(self, name: Any) -> bytes:
        return self.get(name)

    def namespaced(self, namespace: Any) -> _Beside:
        return self

    def keys(self) -> list[str]:
        return []
