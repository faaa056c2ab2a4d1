"""Visuals as <geom>, which touch nothing and weigh nothing, and their meshes and textures as <asset>."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from jounce._checks import quoted
from jounce.parts.pose import quaternions
from jounce.parts.visual import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    HeightFile,
    MeshFile,
    Sphere,
    Triangles,
    Undrawn,
    Visual,
)
from jounce.saving.document import Element, a_name, add, numbers
from jounce.saving.left_out import LeftOut
from jounce.saving.meshes import file_name
from jounce.saving.mjcf_textures import WHITE, MjcfTextures, why_no_texture
from jounce.saving.names import unused

_READ = (".stl", ".obj", ".msh")


class MjcfVisuals:
    """Writes the visuals of bodies, and the meshes that they share.

    Args:
        root: the document.
        path: of it, for the names of meshes; None for text.
        left_out: notes what cannot be drawn.
    """

    def __init__(self, root: Element, path: Path | None, left_out: LeftOut) -> None:
        self._root, self._path, self._left_out = root, path, left_out
        self._assets: Element | None = None
        self._textures = MjcfTextures(path)
        self._meshes: dict[object, str] = {}
        self._names: set[str] = set()

    def add(self, parent: Element, body: str, visuals: Sequence[Visual]) -> None:
        """Adds them to a body; none if they are to be left out."""
        for visual in () if "visuals" in self._left_out.skip else visuals:
            said, why = self._shape(visual)
            if why:
                self._left_out.mention(f"{said['type']} of {quoted(body)}", why)
                continue
            said |= {"pos": numbers(visual.placement[:3, 3])}
            if (visual.placement[:3, :3] != np.eye(3)).any():
                said["quat"] = numbers(quaternions(visual.placement[:3, :3]))
            said |= self._paint(body, visual)
            self._expect_default()
            add(parent, "geom", said)

    def _paint(self, body: str, visual: Visual) -> dict[str, str]:
        """The colour and the material of a geom."""
        texture, colour = visual.texture, visual.colour
        if texture is not None and (why := why_no_texture(texture)):
            self._left_out.mention(f"texture of {quoted(body)}", why)
            texture = None
        said = {} if colour is None or (texture is not None and not texture.tinted) else {"rgba": numbers(colour)}
        if texture is not None:
            tint = WHITE if colour is None or not texture.tinted else colour
            said["material"] = self._textures.material(self._expect_assets(), texture, tint)
        return said

    def _expect_assets(self) -> Element:
        if self._assets is None:
            self._expect_default()
            self._assets = Element("asset")
            self._root.insert(3, self._assets)
        return self._assets

    def _expect_default(self) -> None:
        """The properties that all geoms share, before the bodies."""
        if self._root.find("default") is None:
            default = Element("default")
            add(default, "geom", {"contype": "0", "conaffinity": "0", "group": "1", "mass": "0"})
            self._root.insert(2, default)

    def _shape(self, visual: Visual) -> tuple[dict[str, str], str]:
        """The attributes of a geom, and why there is none."""
        shape = visual.shape
        if isinstance(shape, (MeshFile, Triangles)):
            return self._mesh(shape)
        if isinstance(shape, Undrawn):
            return {"type": shape.what}, shape.reason
        if isinstance(shape, HeightFile):
            return {"type": "hfield", "hfield": self._field(shape)}, ""
        if isinstance(shape, Box):
            size: tuple[float, ...] = tuple(x / 2 for x in shape.size)
        elif isinstance(shape, Ellipsoid):
            size = shape.radii
        elif isinstance(shape, (Capsule, Cylinder)):
            size = (shape.radius, shape.length / 2)
        else:
            assert isinstance(shape, Sphere)
            size = (shape.radius,)
        why = "" if min(size) > 0 else "MuJoCo takes no shape without volume"
        return {"type": type(shape).__name__.lower(), "size": numbers(size)}, why

    def _field(self, shape: HeightFile) -> str:
        if shape not in self._meshes:
            name = unused(Path(shape.path).stem, self._names)
            said = {"name": a_name("name of a height field", name), "size": numbers(shape.size)}
            add(self._expect_assets(), "hfield", {**said, "file": a_name("file", file_name(shape, self._path))})
            self._meshes[shape] = name
        return self._meshes[shape]

    def _mesh(self, shape: MeshFile | Triangles) -> tuple[dict[str, str], str]:
        if isinstance(shape, MeshFile) and Path(shape.path).suffix.lower() not in _READ:
            return {"type": f"mesh {Path(shape.path).name}"}, f"MuJoCo reads {', '.join(_READ)}"
        if isinstance(shape, Triangles) and len(shape.faces) == 0:
            return {"type": f"mesh {shape.name}"}, "it has no faces"
        key = shape if isinstance(shape, MeshFile) else id(shape)
        if key not in self._meshes:
            self._meshes[key] = self._add_mesh(shape)
        return {"type": "mesh", "mesh": self._meshes[key]}, ""

    def _add_mesh(self, shape: MeshFile | Triangles) -> str:
        if isinstance(shape, Triangles):
            name = unused(shape.name or "mesh", self._names)
            content = {"vertex": numbers(shape.vertices.ravel()), "face": numbers(shape.faces.ravel())}
            if shape.uv is not None:  # MuJoCo's are from the upper left
                content["texcoord"] = numbers((shape.uv * [1.0, -1.0] + [0.0, 1.0]).ravel())
        else:
            file = file_name(shape, self._path)
            name = unused(PurePosixPath(file).stem, self._names)
            content = {"file": a_name("name of a mesh", file)}
            for key, value, default in (
                ("scale", shape.scale, (1.0, 1.0, 1.0)),
                ("refpos", shape.shift, (0.0, 0.0, 0.0)),
                ("refquat", shape.turn, (1.0, 0.0, 0.0, 0.0)),
            ):
                if value != default:
                    content[key] = numbers(value)
        add(self._expect_assets(), "mesh", {"name": a_name("name of a mesh", name), **content})
        return name
