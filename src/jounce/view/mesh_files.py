"""Meshes from files, through trimesh: STL, OBJ, DAE, PLY, OFF, GLB.

Files are not trusted. So a file is read whole, up to a limit, from a folder that may be read; nothing else is opened
except the materials and pictures of an OBJ or a DAE, from the same folders.
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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.errors import LoadError
from jounce.loading.folders import HINT
from jounce.loading.regular_files import OutsideError, Within, regular_bytes
from jounce.loading.xml_source import reason_of, short
from jounce.parts.visual import Colour, HeightFile, MeshFile
from jounce.view.glb_check import check_glb
from jounce.view.pictures import PictureError, Rows, as_rows, checked_picture, mean_colour
from jounce.view.stl import binary_stl

MAX_BYTES = 100_000_000
_MATERIALS = 20_000_000  # bytes
_PICTURES = (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff")
_KINDS = ("stl", "obj", "dae", "ply", "off", "glb")
_ENCODING = re.compile(rb"<\?xml[^>]*\bencoding\s*=\s*[\"']([-\w]+)[\"']")
_ENCODINGS = (b"utf-8", b"utf8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([-+.0-9eE]+)[\"']")


class MeshError(LoadError):
    """Why a mesh is left out."""


@dataclass(frozen=True, eq=False)
class RawPart:
    """Vertices (V, 3) and faces (F, 3) as they are in a file, of one colour or with one picture.

    Attributes:
        colour: None if the file gives none.
        uv: (V, 2) places on a picture, from 0 to 1 and from the lower left, if the file has these.
        picture: that the file puts there.
    """

    vertices: NDArray[Any]
    faces: NDArray[Any]
    colour: Colour | None = None
    uv: NDArray[Any] | None = None
    picture: Rows | None = None


def content_of_file(file: MeshFile | HeightFile) -> tuple[Path, bytes]:
    """The path of a file, with links followed, and what is in it.

    Raises:
        MeshError: it cannot be read, or must not be.
    """
    try:
        path, content = regular_bytes(file.path, MAX_BYTES, file.within)
    except OutsideError:
        raise MeshError(f"is a link that leads out of the folders that may be read: {HINT}") from None
    except LoadError as fault:
        raise MeshError(str(fault)) from None
    except (OSError, ValueError) as fault:
        raise MeshError(f"cannot be read: {reason_of(fault)}") from None
    if content.startswith(b"version https://git-lfs"):
        raise MeshError("is a Git LFS pointer: run `git lfs pull` where it came from")
    return path, content


def read_mesh(mesh: MeshFile, missing: dict[str, str]) -> list[RawPart]:
    """The parts of a mesh file.

    Args:
        mesh: the file.
        missing: gets the pictures that it names and that cannot be drawn, and why.

    Raises:
        MeshError: it is not a mesh that can be read.
    """
    kind = Path(mesh.path).suffix.lower().lstrip(".")
    if kind not in _KINDS:
        raise MeshError(f"is of kind {kind!r}, expected one of {', '.join(_KINDS)}")
    path, content = content_of_file(mesh)
    if kind == "dae":
        _check_collada(content)
    try:
        if kind == "glb":
            check_glb(content)
        with _quiet():
            return _parsed(content, kind, _Beside(path.parent, mesh.within, missing))
    except MeshError:
        raise
    except MemoryError:
        raise MeshError("needs more memory than is available") from None
    except Exception as fault:  # whatever trimesh and its readers raise for a file that is not a mesh
        said = " ".join(str(fault).split())[:200]
        raise MeshError(
            f"is not a mesh that can be read ({type(fault).__name__}{': ' if said else ''}{said})"
        ) from None


def _parsed(content: bytes, kind: str, beside: _Beside) -> list[RawPart]:
    if kind == "stl" and (corners := binary_stl(content)) is not None:
        return [RawPart(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))]
    scene = _scene(content, kind, beside)
    if kind == "dae" and len(scene.graph.nodes_geometry) < content.count(b"<instance_geometry"):
        scene = _scene(_without_bindings(content), kind, beside)  # a broken material drops its geometry
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
        visual = given.visual if kind != "stl" else None
        made += _by_colour(unit * vertices, faces, visual, kind != "obj" or beside.has_materials)
    return made


def _check_collada(content: bytes) -> None:
    """Rejects what is not plain XML: readers of Collada also unpack archives, to any size."""
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"<") or b"\0" in content:
        raise MeshError("is not a mesh that can be read: expected XML in UTF-8")
    if (said := _ENCODING.match(start[:300])) and said[1].lower() not in _ENCODINGS:
        raise MeshError(f"is in {short(said[1].decode())}, expected UTF-8")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise MeshError("has a document type, which a mesh does not need")


def _without_bindings(content: bytes) -> bytes:
    """Collada without <bind_material>."""
    kept, at, end = [], 0, b"</bind_material>"
    while (first := content.find(b"<bind_material>", at)) >= 0 and (last := content.find(end, first)) >= 0:
        kept.append(content[at:first])
        at = last + len(end)
    return b"".join([*kept, content[at:]])


def _scene(content: bytes, kind: str, beside: _Beside) -> Any:
    trimesh: Any = import_module("trimesh")
    options = {"resolver": beside} if kind in ("obj", "dae") else {}
    return trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False, **options)


def _by_colour(vertices: NDArray[np.float64], faces: NDArray[Any], visual: Any, given: bool) -> list[RawPart]:
    """One part for each colour; where no material is `given`, trimesh makes one up."""
    if visual is None or not getattr(visual, "defined", False):
        return [RawPart(vertices, faces)]
    if visual.kind == "texture":
        uv = None if visual.uv is None else np.asarray(visual.uv, dtype=np.float64)
        if uv is not None and (uv.shape != (len(vertices), 2) or not (np.abs(uv) < 1e6).all()):
            uv = None
        if not given:
            return [RawPart(vertices, faces, uv=uv)]
        rows = _rows_of(visual.material)
        one = rows is not None and max(rows.shape[:2]) < 2  # one pixel is a colour
        colour = mean_colour(rows) if rows is not None else _of_material(visual.material)
        return [RawPart(vertices, faces, colour, uv, None if one or uv is None else rows)]
    colours = np.asarray(visual.face_colors)
    if len(colours) != len(faces):
        return [RawPart(vertices, faces)]
    kinds, which = np.unique(colours, axis=0, return_inverse=True)
    if len(kinds) > 32:  # painted vertex by vertex
        return [RawPart(vertices, faces, _colour(colours.mean(axis=0)))]
    which = which.reshape(-1)
    return [RawPart(vertices, faces[which == i], _colour(kinds[i])) for i in range(len(kinds))]


def _rows_of(material: Any) -> Rows | None:
    """The picture of a material as trimesh read it."""
    picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    try:
        return None if picture is None else as_rows(picture)
    except PictureError:
        return None


def _of_material(material: Any) -> Colour | None:
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
    """Files that a mesh names, for trimesh: materials of an OBJ and pictures, only from folders that may be read.

    Pictures that cannot be drawn are noted in `missing`; `has_materials` says whether materials were found.
    """

    def __init__(self, folder: Path, within: Within, missing: dict[str, str]) -> None:
        self._folder, self._within, self._missing = folder, within, missing
        self.has_materials = False

    def get(self, name: Any) -> bytes:
        plain = os.fsdecode(name).strip().removeprefix("file://").replace("\\", "/")
        is_picture = not plain.lower().endswith(".mtl")
        why = "does not exist"
        for place in (self._folder / plain, self._folder / os.path.basename(plain)):
            if place.suffix.lower() not in (*_PICTURES, ".mtl"):
                continue
            try:
                content = regular_bytes(place, _MATERIALS, self._within)[1]
                if is_picture:
                    checked_picture(content).verify()
                self.has_materials |= not is_picture
                return content
            except OutsideError:
                why = "is outside the folders that may be read"
            except (FileNotFoundError, NotADirectoryError):
                continue
            except LoadError as fault:
                why = str(fault)
            except Exception as fault:  # of the disk, or of Pillow
                why = f"is not a picture that can be read ({type(fault).__name__})"
        if is_picture:
            self._missing.setdefault(short(plain), why)
        raise FileNotFoundError(plain)

    def __getitem__(self, name: Any) -> bytes:
        return self.get(name)

    def namespaced(self, namespace: Any) -> _Beside:
        return self

    def keys(self) -> list[str]:
        return []
