"""Pictures on shapes, and how they lie on them.

Like meshes they are light: of a picture in a file the path, of a pattern what it is made from. Only pictures that came
without a file, in a compiled MuJoCo model, are carried as pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

RGB = tuple[float, float, float]  # each 0 to 1
SIDES = ("right", "left", "up", "down", "front", "back")  # +x, -x, +y, -y, +z, -z


@dataclass(frozen=True)
class PictureFile:
    """A picture in a file.

    Attributes:
        path: absolute, as it was found.
        within: folders that it may lie in, once links are followed; None if it may lie anywhere.
        name: as a URDF gives it, such as "package://arm/wood.png"; "" if it came from elsewhere.
    """

    path: str
    within: tuple[str, ...] | None
    name: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class Pixels:
    """A picture that came without a file: rows (H, W, 3) from the top, red, green and blue from 0 to 255.

    The rows of a cube's six sides may follow each other, in the order of `SIDES`.
    """

    name: str
    rows: NDArray[np.uint8]

    def __post_init__(self) -> None:
        rows = np.array(self.rows, dtype=np.uint8)
        rows.flags.writeable = False
        object.__setattr__(self, "rows", rows.view())

    def __reduce__(self) -> tuple[Any, ...]:
        return Pixels, (self.name, self.rows)


@dataclass(frozen=True)
class Pattern:
    """A picture that MuJoCo makes: ``builtin`` of a <texture>.

    Attributes:
        kind: "checker", "gradient" or "flat".
        size: width and height, in pixels; a cube has sides of that width.
        first, second: its colours.
        mark: "none", "edge", "cross" or "random".
        mark_colour: of these.
        density: of random marks, per pixel.
    """

    kind: str
    size: tuple[int, int]
    first: RGB
    second: RGB
    mark: str = "none"
    mark_colour: RGB = (0.0, 0.0, 0.0)
    density: float = 0.01


@dataclass(frozen=True)
class NoPicture:
    """A picture that cannot be drawn, and why: `what` as the file says it, `name` as in `PictureFile`."""

    what: str
    reason: str
    name: str = field(default="", compare=False)


Picture = PictureFile | Pixels | Pattern | NoPicture


@dataclass(frozen=True)
class Texture:
    """A picture on a shape, as in MuJoCo.

    On a mesh with texture coordinates it lies by these. On others, seen from above, it covers the shape's extent in x
    and y. On a box it is on every side, on a sphere, an ellipsoid or a cylinder it goes around once.

    Attributes:
        pictures: one; or for a cube six, in the order of `SIDES`, None for those that are missing.
        cube: whether its pictures are on the sides of a cube around the shape, seen from its middle.
        repeat: how often it is repeated, along the picture's width and height, unless it is a cube.
        uniform: whether it is repeated that often in 2 m, not on the shape; of a cube, whether it is a cube around the
            shape as it is, not around one that is first scaled to a cube.
        grid: rows and columns, where one picture shows the sides of a cube beside each other.
        layout: what they show, row by row, R L U D F B or a dot.
        flip: whether the pictures are turned left to right, and upside down.
        missing: colour of sides that are missing.
        tinted: whether the colour of the shape tints it and it replaces what a mesh file says, as in MuJoCo; otherwise
            it keeps its colours, and those of a mesh file come first, as in RViz.
    """

    pictures: tuple[Picture | None, ...]
    cube: bool = False
    repeat: tuple[float, float] = (1.0, 1.0)
    uniform: bool = False
    grid: tuple[int, int] = (1, 1)
    layout: str = ""
    flip: tuple[bool, bool] = (False, False)
    missing: RGB = (0.8, 0.8, 0.8)
    tinted: bool = True

    @property
    def name(self) -> str:
        """Of its first file, for messages."""
        return next((picture.path for picture in self.pictures if isinstance(picture, PictureFile)), "a texture")
