"""<visual> of a URDF: primitives and mesh files.

A capsule, which few readers know, is written as a cylinder with a sphere at each end, which looks the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.parts.pose import shift
from jounce.parts.texture import NoPicture, PictureFile, Texture
from jounce.parts.visual import (
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    MeshFile,
    Shape,
    Sphere,
    Undrawn,
    Visual,
)
from jounce.saving.document import Element, a_name, add, number, numbers
from jounce.saving.left_out import LeftOut
from jounce.saving.meshes import file_name, has_address, unmoved
from jounce.saving.origin import add_origin

Array = NDArray[np.float64]


class UrdfVisuals:
    """Writes the visuals of links, and the materials they share.

    Args:
        path: of the document, for the names of meshes; None for text.
        left_out: notes what cannot be drawn.
    """

    def __init__(self, path: Path | None, left_out: LeftOut) -> None:
        self._path, self._left_out = path, left_out
        self._materials: dict[tuple[Colour | None, str], str] = {}

    def add(self, link: Element, body: str, visuals: Sequence[Visual]) -> None:
        """Adds them to a link; none if they are to be left out."""
        for visual in () if "visuals" in self._left_out.skip else visuals:
            material = visual.colour, self._picture(body, visual)
            for shape, placement in self._parts(body, visual):
                element = add(link, "visual")
                add_origin(element, visual.placement @ placement)
                self._add_shape(add(element, "geometry"), shape)
                if material != (None, ""):
                    kind = "picture" if material[1] else "colour"
                    name = self._materials.setdefault(material, f"{kind}_{len(self._materials) + 1}")
                    add(element, "material", {"name": name})

    def materials(self) -> Iterator[Element]:
        """The <material> of each colour and picture."""
        for (colour, picture), name in self._materials.items():
            material = Element("material", {"name": name})
            if colour is not None:
                add(material, "color", {"rgba": numbers(colour)})
            if picture:
                add(material, "texture", {"filename": a_name("name of a picture", picture)})
            yield material

    def _picture(self, body: str, visual: Visual) -> str:
        """The name of the picture on it, "" for none."""
        texture = visual.texture
        if texture is None:
            return ""
        if texture == Texture(texture.pictures, tinted=texture.tinted):
            (picture,) = texture.pictures
            if isinstance(picture, PictureFile):
                return picture.name if self._keeps(picture.name) else file_name(picture, self._path)
            if isinstance(picture, NoPicture) and picture.name:
                return picture.name
        self._left_out.mention(f"texture of {quoted(body)}", "URDF has no such textures")
        return ""

    def _keeps(self, name: str) -> bool:
        """Whether a name holds anywhere, or nothing better is known."""
        return bool(name) and (has_address(name) or self._path is None)

    def _parts(self, body: str, visual: Visual) -> Iterator[tuple[Shape, Array]]:
        """The shapes that URDF has for a visual, and their poses in its place."""
        shape, here = visual.shape, np.eye(4)
        if isinstance(shape, Capsule):
            yield Cylinder(shape.radius, shape.length), here
            for end in (-0.5, 0.5):
                yield Sphere(shape.radius), shift((0.0, 0.0, end * shape.length))
        elif isinstance(shape, (Box, Sphere, Cylinder)) or (isinstance(shape, Undrawn) and shape.name):
            yield shape, here
        elif isinstance(shape, MeshFile) and (moved := unmoved(shape)) is not None:
            yield shape, moved
        else:
            why = shape.reason if isinstance(shape, Undrawn) else "URDF has no such shape"
            what = "ellipsoid" if isinstance(shape, Ellipsoid) else getattr(shape, "what", "mesh")
            self._left_out.mention(f"{what} of {quoted(body)}", why)

    def _add_shape(self, geometry: Element, shape: Shape) -> None:
        if isinstance(shape, Box):
            add(geometry, "box", {"size": numbers(shape.size)})
        elif isinstance(shape, Sphere):
            add(geometry, "sphere", {"radius": number(shape.radius)})
        elif isinstance(shape, Cylinder):
            add(geometry, "cylinder", {"radius": number(shape.radius), "length": number(shape.length)})
        elif isinstance(shape, (MeshFile, Undrawn)):
            scale = {} if shape.scale == (1.0, 1.0, 1.0) else {"scale": numbers(shape.scale)}
            add(geometry, "mesh", {"filename": a_name("name of a mesh", self._mesh(shape)), **scale})

    def _mesh(self, mesh: MeshFile | Undrawn) -> str:
        """Its original name if that holds anywhere, or if nothing better is known."""
        if self._keeps(mesh.name) or (mesh.name and isinstance(mesh, Undrawn)):
            return mesh.name
        assert isinstance(mesh, MeshFile)
        return file_name(mesh, self._path)
