"""The textures of an MjModel's materials: pictures from files, patterns, or pixels in the model.

A document's textures are not read when it is compiled: the model has a point for each, whose colour says which it is
(`loading.mjcf_document`). A model that was compiled elsewhere has their pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.loading.folders import NamedFile
from jounce.loading.xml_source import short
from jounce.parts.texture import RGB, SIDES, NoPicture, Pattern, Picture, PictureFile, Pixels, Texture
from jounce.parts.visual import Triangles

_FLAT = 0  # mjtTexture: 2d
_COLOURS = 1, 8  # mjtTextureRole: RGB, RGBA
_KEYS = ("tex_height", "tex_width", "tex_nchannel", "tex_adr")


@dataclass(frozen=True)
class TextureSource:
    """What a document says of a texture.

    Attributes:
        said: the attributes of the element.
        files: that it names, by attribute.
    """

    said: Mapping[str, str]
    files: Mapping[str, NamedFile]

    def texture(self) -> Texture:
        """The texture, repeated once."""
        said = self.said
        cube = said.get("type", "cube") != "2d"
        pictures: tuple[Picture | None, ...]
        if said.get("builtin", "none") != "none":
            pictures = (self._pattern(),)
        elif "file" in self.files or not cube:
            pictures = (self._picture("file"),)
        else:
            pictures = tuple(self._picture(f"file{side}") if f"file{side}" in self.files else None for side in SIDES)
        down, across = (min(max(int(n), 1), 12) for n in self._numbers("gridsize", (1.0, 1.0)))
        flip = said.get("hflip") == "true", said.get("vflip") == "true"
        layout = said.get("gridlayout", "")[: down * across]
        return Texture(pictures, cube, (1.0, 1.0), False, (down, across), layout, flip, self._rgb("rgb1", 0.8))

    def _pattern(self) -> Pattern:
        said = self.said
        width, height = (int(self._numbers(key, (1.0,))[0]) for key in ("width", "height"))
        (density,) = self._numbers("random", (0.01,))
        first, second, marks = self._rgb("rgb1", 0.8), self._rgb("rgb2", 0.5), self._rgb("markrgb", 0.0)
        return Pattern(said["builtin"], (width, height), first, second, said.get("mark", "none"), marks, density)

    def _picture(self, key: str) -> Picture:
        if (file := self.files.get(key)) is None:
            return NoPicture("a texture", "names no file")
        path, why = file.find()
        return NoPicture(short(file.name), why) if path is None else PictureFile(path, file.folders.within)

    def _rgb(self, key: str, otherwise: float) -> RGB:
        red, green, blue = self._numbers(key, (otherwise,) * 3)
        return red, green, blue

    def _numbers(self, key: str, otherwise: tuple[float, ...]) -> tuple[float, ...]:
        """Those of an attribute; what else it would be if they are not as many, or not numbers that can be used."""
        try:
            found = tuple(float(word) for word in self.said.get(key, "").split())
        except ValueError:
            return otherwise
        return found if len(found) == len(otherwise) and all(abs(x) < 1e6 for x in found) else otherwise


class MjcfTextures:
    """The textures of materials.

    Args:
        model: an MjModel. The parts that are needed are copied.
        materials: those whose textures may be asked for.
        sources: of the model's stand-ins, by ("texture", number); None if it has the pixels.
    """

    def __init__(self, model: Any, materials: Sequence[int], sources: Mapping[Any, TextureSource] | None) -> None:
        self._sources = sources
        roles = [np.array(model.mat_texid)[:, role] for role in _COLOURS]
        self._which = {i: next((int(role[i]) for role in roles if role[i] >= 0), -1) for i in materials}
        self._repeat, self._uniform = np.array(model.mat_texrepeat), np.array(model.mat_texuniform)
        needed = sorted({i for i in self._which.values() if i >= 0})
        self._rows = {i: _pixels(model, i) for i in needed}
        self._flat = {i: int(model.tex_type[i]) == _FLAT for i in needed}
        self._names = {i: model.texture(i).name for i in needed}
        self.of, self._picture = cache(self._read), cache(self._read_pixels)

    def _read(self, material: int) -> Texture | None:
        """The texture of a material, -1 for none."""
        number = self._which.get(material, -1)
        if number < 0:
            return None
        across, down = (float(x) for x in self._repeat[material])
        uniform = bool(self._uniform[material])
        if self._sources is None:
            return Texture((self._picture(number),), not self._flat[number], (across, down), uniform)
        index = int.from_bytes(bytes(self._rows[number][0, 0].tolist()), "big")
        source = self._sources.get(("texture", index))
        if source is None:
            return None
        return replace(source.texture(), repeat=(across, down), uniform=uniform)

    def _read_pixels(self, number: int) -> Pixels | NoPicture:
        name, rows = self._names[number], self._rows[number]
        return Pixels(name, rows) if rows.size else NoPicture(short(name) or "a texture", "has no pixels in the model")


def _pixels(model: Any, number: int) -> NDArray[np.uint8]:
    """(H, W, 3) of a texture."""
    height, width, channels, first = (int(getattr(model, key)[number]) for key in _KEYS)
    rows = np.array(model.tex_data[first : first + height * width * channels]).reshape(height, width, channels)
    return rows[..., :3] if channels >= 3 else np.repeat(rows[..., :1], 3, axis=-1)


def mesh_with_uv(
    name: str, vertices: NDArray[Any], faces: NDArray[Any], places: NDArray[Any], on: NDArray[Any]
) -> Triangles:
    """A mesh of MuJoCo's, with its texture coordinates if it has any.

    Args:
        name: of it.
        vertices: (V, 3).
        faces: (F, 3).
        places: (P, 2) on a picture, from its upper left.
        on: (F, 3) which of them the corners of each face are at; empty if these are those of the vertices.
    """
    corners, sides = vertices.astype(np.float32), faces.astype(np.int32)
    on = on.reshape(-1, 3) if on.size == sides.size else sides
    places = places.reshape(-1, 2) if places.size % 2 == 0 else np.zeros((0, 2))
    if not (_within(on, len(places)) and _within(sides, len(corners))):
        return Triangles(name, corners, sides)
    pairs, index = np.unique(np.stack([sides.ravel(), on.ravel()], axis=1), axis=0, return_inverse=True)
    uv = (places[pairs[:, 1]] * [1.0, -1.0] + [0.0, 1.0]).astype(np.float32)
    return Triangles(name, corners[pairs[:, 0]], index.reshape(-1, 3).astype(np.int32), uv)


def _within(index: NDArray[Any], count: int) -> bool:
    return bool(index.size and index.min() >= 0 and index.max() < count)
