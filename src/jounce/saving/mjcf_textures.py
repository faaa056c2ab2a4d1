"""Pictures on shapes as <texture> and <material>."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from jounce.parts.texture import SIDES, NoPicture, Pattern, Picture, PictureFile, Texture
from jounce.parts.visual import Colour
from jounce.saving.document import Element, a_name, add, numbers
from jounce.saving.meshes import file_name
from jounce.saving.names import unused

WHITE = (1.0, 1.0, 1.0, 1.0)
_READ = (".png", ".ktx")


class MjcfTextures:
    """Writes textures and materials that geoms share.

    Args:
        path: of the document, for the names of pictures; None for text.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._textures: dict[Texture, str] = {}
        self._materials: dict[tuple[Texture, Colour], str] = {}
        self._names: set[str] = set()

    def material(self, assets: Element, texture: Texture, colour: Colour) -> str:
        """The name of the material with that texture and colour."""
        key = texture, colour
        if key not in self._materials:
            plain = Texture(texture.pictures, texture.cube, grid=texture.grid, layout=texture.layout, flip=texture.flip,
                            missing=texture.missing)  # fmt: skip
            if plain not in self._textures:
                self._textures[plain] = self._add_texture(assets, plain)
            name = unused(f"{self._textures[plain]} material", self._names)
            said = {"name": name, "texture": self._textures[plain], "rgba": numbers(colour)}
            if texture.repeat != (1.0, 1.0):
                said["texrepeat"] = numbers(texture.repeat)
            if texture.uniform:
                said["texuniform"] = "true"
            add(assets, "material", said)
            self._materials[key] = name
        return self._materials[key]

    def _add_texture(self, assets: Element, texture: Texture) -> str:
        said = {"type": "cube" if texture.cube else "2d"}
        first = texture.pictures[0]
        if isinstance(first, Pattern):
            said |= _pattern(first)
        else:
            keys = ("file",) if len(texture.pictures) == 1 else tuple(f"file{side}" for side in SIDES)
            for key, picture in zip(keys, texture.pictures, strict=True):
                if isinstance(picture, PictureFile):
                    said[key] = a_name("name of a picture", file_name(picture, self._path))
            if texture.grid != (1, 1):
                said |= {"gridsize": f"{texture.grid[0]} {texture.grid[1]}", "gridlayout": texture.layout}
            said |= {key: "true" for key, on in zip(("hflip", "vflip"), texture.flip, strict=True) if on}
            said["rgb1"] = numbers(texture.missing)
        name = unused(a_name("name of a texture", _called(first)), self._names)
        add(assets, "texture", {"name": name, **said})
        return name


def why_no_texture(texture: Texture) -> str:
    """Why MuJoCo cannot read it; "" if it can."""
    for picture in texture.pictures:
        if isinstance(picture, NoPicture):
            return picture.reason
        if isinstance(picture, PictureFile) and Path(picture.path).suffix.lower() not in _READ:
            return f"MuJoCo reads pictures in {', '.join(_READ)}"
        if not isinstance(picture, (PictureFile, Pattern)) and picture is not None:
            return "MJCF has pictures in files only"
    return "" if any(texture.pictures) else "it has no picture"


def _called(picture: Picture | None) -> str:
    if isinstance(picture, PictureFile):
        return PurePosixPath(Path(picture.path).as_posix()).stem or "picture"
    return picture.kind if isinstance(picture, Pattern) else "picture"


def _pattern(pattern: Pattern) -> dict[str, str]:
    width, height = pattern.size
    said = {"builtin": pattern.kind, "width": str(width), "height": str(height)}
    said |= {"rgb1": numbers(pattern.first), "rgb2": numbers(pattern.second)}
    if pattern.mark != "none":
        said |= {"mark": pattern.mark, "markrgb": numbers(pattern.mark_colour), "random": numbers((pattern.density,))}
    return said
