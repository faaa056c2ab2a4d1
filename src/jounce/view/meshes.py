"""Meshes that are ready to be drawn: triangles of finite numbers with their edges, or the reason why there are none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._extras import needed
from jounce.dynamics.interruptible import aside
from jounce.errors import LoadError
from jounce.loading.height_fields import from_bytes, surface
from jounce.parts.pose import rotation
from jounce.parts.visual import Colour, HeightFile, MeshFile, Triangles
from jounce.view.creases import creased
from jounce.view.mesh_files import MeshReader, content_of_file
from jounce.view.mesh_parsing import MAX_FACES, MeshError, RawPart
from jounce.view.pictures import Pictures, checked_picture
from jounce.view.textures import Coat, Wrap, with_creases
from jounce.view.wraps import Solid

MAX_ALL_FACES = 10_000_000  # of a robot, those that are drawn more than once as often as they are
_MANY = 20_000  # faces, which take a few hundredths of a second


@dataclass(frozen=True, eq=False)
class Part:
    """Vertices (V, 3) and faces (F, 3) of one colour, None if none is given, or with a picture on them."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    colour: Colour | None = None
    wrap: Wrap | None = None


def parts_of(
    mesh: MeshFile | HeightFile | Triangles,
    coat: Coat | None = None,
    missing: dict[str, str] | None = None,
    reader: MeshReader | None = None,
) -> list[Part]:
    """The mesh, with its scale applied, ready to be drawn.

    Args:
        mesh: where it comes from.
        coat: a texture for it.
        missing: gets the pictures that its file names and that cannot be drawn, and why.
        reader: of files; when left out, one for this mesh.

    Raises:
        MeshError: it cannot be drawn; the message says why.
    """
    if reader is None:
        with MeshReader() as own:
            return parts_of(mesh, coat, missing, own)
    raw = _raw(mesh, {} if missing is None else missing, reader)
    with reader.counting():
        if sum(len(part.faces) for part in raw) < _MANY:
            return _drawn(raw, mesh, coat, reader.pictures)
        return aside(lambda: _drawn(raw, mesh, coat, reader.pictures))


def _drawn(
    raw: list[RawPart], mesh: MeshFile | HeightFile | Triangles, coat: Coat | None, pictures: Pictures
) -> list[Part]:
    raw = _checked(raw)
    if isinstance(mesh, MeshFile):
        raw = [_placed(part, mesh) for part in raw]
    for part in raw:
        if not (np.abs(part.vertices) < 1e6).all():
            raise MeshError("has vertices that are not finite, or too large for a robot")
    box = _bounds(raw) if coat is not None else np.zeros((2, 3))
    made = []
    for part in _joined(raw, coat):
        if coat is not None and _takes(part, coat):
            made.append(_wrapped(*coat.on_mesh(part.vertices, part.faces, part.uv, box), coat.picture, coat.colour))
        elif part.picture is not None and part.uv is not None:
            made.append(_wrapped(part.vertices, part.faces, part.uv, pictures.packed(part.picture), part.colour))
        else:
            made.append(Part(*creased(*_small(part.vertices, part.faces)), part.colour))
    return made


def coated(shape: Solid, coat: Coat) -> Part:
    """A shape with a texture on it."""
    return _wrapped(*coat.on_shape(shape), coat.picture, coat.colour)


def triangles_of_file(path: str | os.PathLike[str]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Vertices (V, 3) and triangles (F, 3) of the mesh in a file, as they are there.

    Raises:
        LoadError: there is none; the message says why.
    """
    real = os.path.realpath(path)
    needed("trimesh", "reading meshes")
    try:
        with MeshReader() as reader:
            parts = reader.read(MeshFile(real, (os.path.dirname(real),)), {})
        if not parts:
            raise MeshError("has no faces")
    except MeshError as fault:
        raise MeshError(f"{os.fspath(path)} {fault}") from None
    vertices, faces = _together(parts)
    if not np.isfinite(vertices).all() or not len(faces):
        raise MeshError(f"{os.fspath(path)} is not a mesh of triangles with finite numbers")
    return vertices.astype(np.float64), faces.astype(np.intp)


def _raw(mesh: MeshFile | HeightFile | Triangles, missing: dict[str, str], reader: MeshReader) -> list[RawPart]:
    if isinstance(mesh, MeshFile):
        return reader.read(mesh, missing)
    if isinstance(mesh, HeightFile):
        with reader.counting():
            mesh = _ground(mesh)
    return [RawPart(mesh.vertices, mesh.faces, uv=mesh.uv)]


def _checked(raw: list[RawPart]) -> list[RawPart]:
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
    return [replace(part, vertices=np.asarray(part.vertices, dtype=np.float64)) for part in raw]


def _placed(part: RawPart, mesh: MeshFile) -> RawPart:
    vertices, faces = part.vertices, part.faces
    if any(mesh.shift) or any(mesh.turn[1:]):
        vertices = (vertices - mesh.shift) @ rotation(mesh.turn)
    if np.prod(mesh.scale) < 0:  # mirroring turns faces inside out
        faces = faces[:, ::-1]
    return replace(part, vertices=vertices * mesh.scale, faces=faces)


def _takes(part: RawPart, coat: Coat) -> bool:
    """Whether a part is covered by the texture of the visual, or keeps what its file says."""
    return coat.texture.tinted or (part.picture is None and part.colour is None)


def _joined(parts: list[RawPart], coat: Coat | None) -> list[RawPart]:
    """One part per colour; those with pictures stay as they are."""
    joined: list[RawPart] = []
    plain: dict[Colour | None, list[RawPart]] = {}
    for part in parts:
        if (coat is not None and _takes(part, coat)) or (part.picture is not None and part.uv is not None):
            joined.append(part)
        else:
            plain.setdefault(part.colour, []).append(part)
    return joined + [RawPart(*_together(alike), colour) for colour, alike in plain.items()]


def _together(parts: Sequence[RawPart]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The vertices and faces of several parts."""
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, first[:-1], strict=True)]
    return np.concatenate([part.vertices for part in parts]), np.concatenate(faces)


def _bounds(parts: list[RawPart]) -> NDArray[np.float64]:
    used = np.concatenate([part.vertices[np.unique(part.faces)] for part in parts])
    return np.stack([used.min(axis=0), used.max(axis=0)])


def _small(vertices: NDArray[Any], faces: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    return np.asarray(vertices, dtype=np.float32), np.ascontiguousarray(faces, dtype=np.int32)


def _wrapped(
    vertices: NDArray[Any], faces: NDArray[Any], uv: NDArray[Any], picture: bytes, colour: Colour | None
) -> Part:
    corners, sides, uv, normals = with_creases(*_small(vertices, faces), uv)
    return Part(corners, sides, colour, Wrap(picture, uv, normals))


def _ground(field: HeightFile) -> Triangles:
    """A height field from its file."""
    _, content = content_of_file(field)
    try:
        picture = checked_picture(content) if field.path.lower().endswith(".png") else None

        def made() -> Triangles:
            heights = from_bytes(content) if picture is None else _greys(picture)
            return surface(os.path.basename(field.path), heights, field.size)

        return aside(made)
    except MeshError:
        raise
    except LoadError as fault:
        raise MeshError(str(fault)) from None


def _greys(picture: Any) -> NDArray[Any]:
    """The picture as MuJoCo reads it: 8 bits, red where it has colours, the first row at +y."""
    try:
        if picture.mode.startswith("I"):  # 16 bits
            return np.asarray(picture)[::-1] // 256
        return np.asarray(picture.convert("RGB"))[::-1, :, 0]
    except Exception as fault:  # whatever Pillow raises for a picture that is broken
        raise MeshError(f"is not a picture that can be read ({type(fault).__name__})") from None
