"""The visuals of a URDF: <visual>, with <origin>, <geometry> and <material>."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from jounce.errors import LoadError
from jounce.loading.mesh_paths import MeshPaths
from jounce.loading.origin import pose_of
from jounce.loading.xml_source import Element, short
from jounce.parts.texture import NoPicture, PictureFile, Texture
from jounce.parts.visual import (
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    MeshFile,
    ReadLater,
    Shape,
    Sphere,
    Undrawn,
    Visual,
)


class UrdfVisuals:
    """The visuals of a file; one with a fault is not drawn, and the fault is kept as the reason, not raised.

    Args:
        root: the <robot>.
        paths: where its meshes may be.
    """

    def __init__(self, root: Element, paths: MeshPaths) -> None:
        self._paths = paths
        self._materials = root.all("material")
        self._known: list[list[Element]] = []

    def of(self, link: Element) -> Sequence[Visual]:
        """The visuals of a link."""
        elements = link.all("visual")
        if not elements:
            return ()
        for element in elements:
            element.parent = None  # so that the rest of the file can be freed
        self._known.append(elements)
        return ReadLater(partial(self._read, link.attributes.get("name", ""), elements))

    def _read(self, link: str, elements: list[Element]) -> tuple[Visual, ...]:
        return tuple(self._visual(link, element) for element in elements)

    def _visual(self, link: str, element: Element) -> Visual:
        try:
            return Visual(self._shape(element), pose_of(element.only("origin")), *self._material(element))
        except LoadError as fault:
            return Visual(Undrawn(f"a visual of link {short(link)!r}", str(fault)), pose_of(None))

    def _shape(self, visual: Element) -> Shape:
        geometry = visual.required("geometry")
        if not geometry.children:
            raise geometry.error("has no shape that is known")
        shape = geometry.children[0]
        if shape.tag == "mesh":
            x, y, z = _numbers(shape, "scale", (1.0, 1.0, 1.0))
            return self._paths.find(shape.text("filename"), (x, y, z))
        if shape.tag == "box":
            return Box(_lengths(shape, "size"))
        if shape.tag == "sphere":
            return Sphere(_length(shape, "radius"))
        if shape.tag == "ellipsoid":
            return Ellipsoid(_lengths(shape, "radii"))
        if shape.tag in ("cylinder", "capsule"):
            make = Cylinder if shape.tag == "cylinder" else Capsule
            return make(_length(shape, "radius"), _length(shape, "length"))
        raise shape.error("is not a shape")

    def _material(self, visual: Element) -> tuple[Colour | None, Texture | None]:
        """Its colour and its picture, or those of the material of that name."""
        material = visual.only("material")
        if material is None:
            return None, None
        own = _colour(material), self._texture(material)
        return own if own != (None, None) else self._named.get(material.attributes.get("name", ""), own)

    @cached_property
    def _named(self) -> dict[str, tuple[Colour | None, Texture | None]]:
        """By material name; materials may be defined anywhere in a file, those at the top level take precedence."""
        nested = [m for elements in self._known for visual in elements for m in visual.all("material")]
        found: dict[str, tuple[Colour | None, Texture | None]] = {}
        for material in (*self._materials, *nested):
            said = _colour(material), self._texture(material)
            if said != (None, None):
                found.setdefault(material.attributes.get("name", ""), said)
        return found

    def _texture(self, material: Element) -> Texture | None:
        """The picture of its <texture>; None if there is none."""
        try:
            element = material.only("texture")
            name = "" if element is None else element.attributes.get("filename", "").strip()
        except LoadError:
            return None
        if not name:
            return None
        found = self._paths.find(name)
        picture: PictureFile | NoPicture = (
            PictureFile(found.path, found.within, name)
            if isinstance(found, MeshFile)
            else NoPicture(found.what, found.reason, name)
        )
        return Texture((picture,), tinted=False)


def _colour(material: Element) -> Colour | None:
    """Its <color>; None if there is none that can be read."""
    try:
        element = material.only("color")
        if element is None or "rgba" not in element.attributes:
            return None
        red, green, blue, opacity = (min(max(x, 0.0), 1.0) for x in element.numbers("rgba", 4, (0.0,) * 4))
    except LoadError:
        return None
    return red, green, blue, opacity


def _numbers(element: Element, key: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = element.numbers(key, 3, default)
    return x, y, z


def _lengths(element: Element, key: str) -> tuple[float, float, float]:
    element.text(key)
    x, y, z = _numbers(element, key, (0.0, 0.0, 0.0))
    if min(x, y, z) < 0:
        raise element.error(f"{key} is {x:g} {y:g} {z:g}, expected non-negative lengths")
    return x, y, z


def _length(element: Element, key: str) -> float:
    value = element.number(key)
    if value < 0:
        raise element.error(f"{key} is {value:g}, expected a non-negative length")
    return value
