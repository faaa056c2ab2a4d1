"""Pictures on shapes and meshes: triangles with a place on the picture for each corner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.parts.texture import Texture
from jounce.parts.visual import Colour
from jounce.view.creases import split_at_creases
from jounce.view.cube_map import on_cube, sheet
from jounce.view.pictures import Pictures, Rows, mean_colour, packed, rows_of
from jounce.view.wraps import Solid, half_sizes, surface_of

Array = NDArray[np.float64]
Faces = NDArray[np.int32]
_WIDEST = 512  # pixels of a side of a cube


@dataclass(frozen=True, eq=False)
class Wrap:
    """A picture on a mesh.

    Attributes:
        picture: as PNG or JPEG.
        uv: (V, 2) where on it each vertex is, from 0 to 1, from the lower left; beyond that it is repeated.
        normals: (V, 3) of the surface.
    """

    picture: bytes
    uv: NDArray[Any]
    normals: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Print:
    """A picture as it is sent, its mean colour, and where on it the sides (6, 2) of a cube begin, and their extent."""

    picture: bytes
    colour: Colour
    first: Array
    extent: Array


class Prints:
    """What is made of textures, each once."""

    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self._found: dict[tuple[Texture, Colour | None], Print] = {}

    def of(self, texture: Texture, tint: Colour | None) -> Print:
        """The print of a texture, in the colour that tints it.

        Raises:
            PictureError: its picture cannot be drawn.
        """
        key = replace(texture, repeat=(1.0, 1.0), uniform=False), tint
        if key not in self._found:
            self._found[key] = self._made(*key)
        return self._found[key]

    def _made(self, texture: Texture, tint: Colour | None) -> Print:
        found = rows_of(texture, self._pictures)
        first, extent = np.zeros((6, 2)), np.ones((6, 2))
        if isinstance(found, list):
            step = -(-found[0].shape[0] // _WIDEST)
            rows, first, extent = sheet([side[::step, ::step] for side in found])
        else:
            rows = found
        self._pictures.count(rows.shape[0] * rows.shape[1], texture.name)
        rows = rows if tint is None else _tinted(rows, tint)
        return Print(packed(rows), mean_colour(rows), first, extent)


class Coat:
    """A texture that is ready to be laid on shapes.

    Args:
        texture: that it is.
        tint: colour of the shape, which tints it if the texture says so.
        prints: made before; those that differ only in how they are repeated are the same.

    Attributes:
        colour: its mean.

    Raises:
        PictureError: its picture cannot be drawn.
    """

    def __init__(self, texture: Texture, tint: Colour | None, prints: Prints | None = None) -> None:
        self.texture = texture
        made = (prints or Prints(Pictures())).of(texture, tint if texture.tinted else None)
        self.colour, self.picture, self._first, self._extent = made.colour, made.picture, made.first, made.extent

    def on_shape(self, shape: Solid) -> tuple[Array, Faces, Array]:
        """Vertices (V, 3), faces (F, 3) and places on the picture (V, 2)."""
        surface, size = surface_of(shape), half_sizes(shape)
        if self.texture.cube:
            rays = surface.unit * (size if self.texture.uniform else 1.0)
            return self._on_cube(surface.vertices, rays, surface.faces)
        return surface.vertices, surface.faces, self._repeated(surface.uv, size)

    def on_mesh(self, vertices: Array, faces: Faces, uv: Array | None, box: Array) -> tuple[Array, Faces, Array]:
        """The same of a mesh, or a part of one, with the bounds (2, 3) of all of it."""
        middle, size = box.mean(axis=0), np.maximum(np.ptp(box, axis=0) / 2, 1e-9)
        if self.texture.cube:
            return self._on_cube(vertices, (vertices - middle) * (size if self.texture.uniform else 1.0), faces)
        if uv is not None:
            return vertices, faces, self._repeated(uv, size)
        scale = np.array(self.texture.repeat) / (1.0 if self.texture.uniform else size[:2])
        return vertices, faces, 0.5 + 0.5 * scale * (vertices - middle)[:, :2]

    def _repeated(self, uv: Array, size: Array) -> Array:
        """From the upper left, where MuJoCo begins."""
        often = np.array([x if x > 0 else 1.0 for x in self.texture.repeat])
        if self.texture.uniform:
            often = often * size[:2]
        return np.asarray(np.array([0.0, 1.0]) + often * (uv - [0.0, 1.0]))

    def _on_cube(self, vertices: Array, rays: Array, faces: Faces) -> tuple[Array, Faces, Array]:
        corners, side, st = on_cube(vertices, rays, faces)
        uv = self._first[side][:, None] + self._extent[side][:, None] * st
        return corners.reshape(-1, 3), np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3), uv.reshape(-1, 2)


def _tinted(rows: Rows, tint: Colour) -> Rows:
    return np.asarray(rows * np.array(tint[:3])).round().astype(np.uint8)


def with_creases(
    vertices: NDArray[np.float32], faces: Faces, uv: NDArray[Any]
) -> tuple[NDArray[np.float32], Faces, NDArray[Any], NDArray[Any]]:
    """The same surface, with vertices split at creases and at the seams of the picture, uv and normals for each."""
    split, corners, whole = split_at_creases(vertices, faces)
    uv = uv[faces[whole]].reshape(-1, 2).astype(np.float32)
    rows = np.concatenate([corners.reshape(-1, 1), uv], axis=1, dtype=np.float64)
    _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    kept = corners.ravel()[first]
    return split[kept], index.reshape(-1, 3).astype(np.int32), uv[first], _normals(split, corners)[kept]


def _normals(vertices: NDArray[Any], faces: NDArray[Any]) -> Array:
    """(V, 3) of length 1, the mean of the faces around, weighted by area."""
    corners = np.asarray(vertices, dtype=np.float64)[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros((len(vertices), 3))
    for i in range(3):
        np.add.at(total, faces[:, i], across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.maximum(length, 1e-300), [0.0, 0.0, 1.0])
