"""What is in a mesh file, by trimesh and its readers: parts with vertices, faces, and colours or pictures.

Nothing is opened here: who calls gives the content of the file, and of the materials and pictures that it names. And
this may run in a process of its own (`mesh_child`), since those readers can take any time.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._extras import needed
from jounce.errors import LoadError
from jounce.loading.xml_source import short
from jounce.parts.visual import Colour
from jounce.view.glb_check import check_glb
from jounce.view.pictures import PictureError, Rows, as_rows, checked_picture, mean_colour

MAX_FACES = 2_000_000  # of a mesh
_PICTURES = 100  # of one mesh; what has more is drawn in plain colours
_UNIT = re.compile(rb"<unit\b([^>]{0,300})>")
_METER = re.compile(rb"\bmeter\s{0,9}=\s{0,9}[\"']([-+.0-9eE]{1,40})[\"']")
Fetch = Callable[[str], bytes]  # the content of a file that a mesh names; a LoadError says why there is none


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


def parsed(content: bytes, kind: str, fetch: Fetch, missing: dict[str, str]) -> list[RawPart]:
    """The parts of a mesh file.

    Args:
        content: of it.
        kind: suffix of its name, such as "dae".
        fetch: gives the materials and pictures that it names.
        missing: gets the pictures that it names and that cannot be drawn, and why.

    Raises:
        MeshError: it is not a mesh that can be read.
    """
    try:
        if kind == "glb":
            check_glb(content)
        with _quiet():
            return _parts(content, kind, _Beside(fetch, missing, kind))
    except MeshError:
        raise
    except MemoryError:
        raise MeshError("needs more memory than is available") from None
    except Exception as fault:  # whatever trimesh and its readers raise for a file that is not a mesh
        said = " ".join(str(fault).split())[:200]
        raise MeshError(
            f"is not a mesh that can be read ({type(fault).__name__}{': ' if said else ''}{said})"
        ) from None


def _parts(content: bytes, kind: str, beside: _Beside) -> list[RawPart]:
    scene = _scene(content, kind, beside)
    if kind == "dae" and len(scene.graph.nodes_geometry) < content.count(b"<instance_geometry"):
        scene = _scene(_without_bindings(content), kind, beside)  # a broken material drops its geometry
    unit = _unit(content) if kind == "dae" else 1.0
    made: list[RawPart] = []
    decoded, faces_so_far, vertices_so_far = _Decoded(), 0, 0
    for name in scene.graph.nodes_geometry:
        pose, geometry = scene.graph[name]
        given = scene.geometry[geometry]
        if not hasattr(given, "faces"):  # lines and points
            continue
        faces_so_far, vertices_so_far = faces_so_far + len(given.faces), vertices_so_far + len(given.vertices)
        if max(faces_so_far, vertices_so_far // 3) > MAX_FACES:  # small files place large meshes many times
            raise MeshError(f"has more than the {MAX_FACES:,} faces that are drawn, or vertices for so many")
        vertices = np.asarray(given.vertices, dtype=np.float64) @ pose[:3, :3].T + pose[:3, 3]
        faces = np.asarray(given.faces)
        if np.linalg.det(pose[:3, :3]) < 0:
            faces = faces[:, ::-1]
        visual = given.visual if kind != "stl" else None
        pictures = decoded if sum(part.picture is not None for part in made) < _PICTURES else None
        made += _by_colour(unit * vertices, faces, visual, kind != "obj" or beside.has_materials, pictures)
    return made


def _unit(content: bytes) -> float:
    """In metres, that of a Collada file: the first <unit> that says it."""
    said = (_METER.search(tag[1]) for tag in _UNIT.finditer(content[:100_000]))
    return next((float(found[1]) for found in said if found), 1.0)


def _without_bindings(content: bytes) -> bytes:
    """Collada without <bind_material>."""
    kept, at, end = [], 0, b"</bind_material>"
    while (first := content.find(b"<bind_material>", at)) >= 0 and (last := content.find(end, first)) >= 0:
        kept.append(content[at:first])
        at = last + len(end)
    return b"".join([*kept, content[at:]])


def _scene(content: bytes, kind: str, beside: _Beside) -> Any:
    trimesh = needed("trimesh", "reading meshes")
    options = {"resolver": beside} if kind in ("obj", "dae") else {}
    return trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False, **options)


def _by_colour(
    vertices: NDArray[np.float64], faces: NDArray[Any], visual: Any, given: bool, pictures: _Decoded | None
) -> list[RawPart]:
    """One part for each colour; where no material is `given`, trimesh makes one up. Pictures count if they are few."""
    if visual is None or not getattr(visual, "defined", False):
        return [RawPart(vertices, faces)]
    if visual.kind == "texture":
        uv = None if visual.uv is None else np.asarray(visual.uv, dtype=np.float64)
        if uv is not None and (uv.shape != (len(vertices), 2) or not (np.abs(uv) < 1e6).all()):
            uv = None
        if not given:
            return [RawPart(vertices, faces, uv=uv)]
        rows = pictures.rows(visual.material) if pictures is not None else None
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


class _Decoded:
    """The pictures of materials as trimesh read them, each decoded once, however many parts have it."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, Rows | None]] = {}  # with the picture, so that no other gets its number

    def rows(self, material: Any) -> Rows | None:
        """That of a material; None if there is none."""
        picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if picture is None:
            return None
        if id(picture) not in self._found:
            try:
                self._found[id(picture)] = picture, as_rows(picture)
            except PictureError:
                self._found[id(picture)] = picture, None
        return self._found[id(picture)][1]


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
    """Files that a mesh names, for trimesh: materials of an OBJ and pictures.

    Pictures that cannot be drawn are noted in `missing`; `has_materials` says whether materials were found. All but the
    one file of materials that an OBJ has must be pictures, whatever their names: Pillow, which trimesh opens them with,
    hands PostScript to a program that runs it.
    """

    def __init__(self, fetch: Fetch, missing: dict[str, str], kind: str) -> None:
        self._fetch, self._missing, self._kind = fetch, missing, kind
        self.has_materials = False

    def get(self, name: Any) -> bytes:
        plain = os.fsdecode(name).strip().removeprefix("file://").replace("\\", "/")
        is_picture = self._kind != "obj" or self.has_materials or not plain.lower().endswith(".mtl")
        try:
            content = self._fetch(plain)
            if is_picture:
                checked_picture(content).verify()
            self.has_materials |= not is_picture
            return content
        except LoadError as fault:
            why = str(fault)
        except Exception as fault:  # of Pillow
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
