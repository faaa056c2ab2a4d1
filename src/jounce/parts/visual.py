"""What a body looks like: shapes, where they are on it, and their colours.

A model carries these, so they are light: of a mesh the path, unless the mesh came without a file. And as most robots
are never looked at, what a file says of them is read when it is asked for, or when the model is pickled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args, overload

import numpy as np
from numpy.typing import NDArray

from jounce._checks import array_of, frozen, pose, quoted
from jounce.parts.texture import Texture

Array = NDArray[np.float64]
Colour = tuple[float, float, float, float]  # red, green, blue, opacity, each 0 to 1


@dataclass(frozen=True)
class Box:
    """A box about the origin, with the lengths of its edges, m."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Sphere:
    """A sphere about the origin; its radius in m."""

    radius: float


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z about the origin; its radius and length in m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z about the origin with a hemisphere on each end; `length` is that of the cylinder alone, m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid about the origin, with its semi-axes, m."""

    radii: tuple[float, float, float]


@dataclass(frozen=True)
class MeshFile:
    """A mesh in a file.

    Attributes:
        path: absolute, as it was found.
        within: folders that it may lie in, once links are followed; None if it may lie anywhere.
        scale: of its x, y and z.
        shift, turn: what it is moved by, then turned by (a quaternion w x y z), before it is scaled.
        name: as a URDF gives it, such as "package://arm/meshes/hand.stl"; "" if it came from elsewhere.
    """

    path: str
    within: tuple[str, ...] | None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    name: str = field(default="", compare=False)


@dataclass(frozen=True)
class HeightFile:
    """Ground over a grid, its heights in a file: a PNG, or MuJoCo's binary format.

    Attributes:
        path: absolute, as it was found.
        within: folders that it may lie in, once links are followed; None if it may lie anywhere.
        size: half of its extent along x and y, the height of its highest point above the lowest, and the depth of its
            base below that, m.
    """

    path: str
    within: tuple[str, ...] | None
    size: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Triangles:
    """A mesh that came without a file: vertices (V, 3) and the three corners of each face (F, 3).

    For a picture on it, `uv` (V, 2) is where on that each vertex is, from 0 to 1 and from the lower left.
    """

    name: str
    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    uv: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        for key in ("vertices", "faces", "uv"):
            if getattr(self, key) is not None:
                array = np.array(getattr(self, key))
                array.flags.writeable = False
                object.__setattr__(self, key, array.view())

    def __reduce__(self) -> tuple[Any, ...]:
        return Triangles, (self.name, self.vertices, self.faces, self.uv)


@dataclass(frozen=True)
class Undrawn:
    """What cannot be drawn, and why: `what` as the file says it; `name` and `scale` of a mesh that was not found."""

    what: str
    reason: str
    name: str = field(default="", compare=False)
    scale: tuple[float, float, float] = field(default=(1.0, 1.0, 1.0), compare=False)


Shape = Box | Sphere | Cylinder | Capsule | Ellipsoid | MeshFile | HeightFile | Triangles | Undrawn


@dataclass(frozen=True, eq=False)
class Visual:
    """One shape on a body.

    Attributes:
        shape: what it is.
        placement: (4, 4) its pose in the frame of the body; the identity when left out.
        colour: red, green, blue and opacity, each 0 to 1; None where the file gives none.
        texture: the picture on it, if there is one.
    """

    shape: Shape
    placement: Array = field(default_factory=lambda: np.eye(4))
    colour: Colour | None = None
    texture: Texture | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "placement", frozen(self.placement))

    def __reduce__(self) -> tuple[Any, ...]:
        return Visual, (self.shape, self.placement, self.colour, self.texture)


def checked_visuals(what: str, given: object) -> tuple[Visual, ...]:
    """Visuals as a user gives them.

    Args:
        what: their name in messages.
        given: a sequence of `Visual`.
    """
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise ValueError(f"{what} is {quoted(given)}, expected a list of jounce.view.Visual")
    return tuple(_checked(f"{what}[{i}]", each) for i, each in enumerate(given))


def _checked(what: str, given: object) -> Visual:
    if not isinstance(given, Visual):
        hint = ": put it into a Visual" if isinstance(given, get_args(Shape)) else ""
        raise ValueError(f"{what} is {quoted(given)}, expected a jounce.view.Visual{hint}")
    if not isinstance(given.shape, get_args(Shape)):
        raise ValueError(f"shape of {what} is {quoted(given.shape)}, expected one such as jounce.view.Box")
    for key, count in _SIZES.get(type(given.shape), {}).items():
        sizes = array_of(f"{key} of {what}", getattr(given.shape, key), (count,) if count else ())
        if not (sizes > 0).all():
            raise ValueError(f"{key} of {what} is {quoted(getattr(given.shape, key))}, expected more than 0 m")
    if given.colour is not None:
        numbers = array_of(f"colour of {what}", given.colour, (4,))
        if not ((numbers >= 0) & (numbers <= 1)).all():
            raise ValueError(f"colour of {what} is {quoted(given.colour)}, expected four numbers from 0 to 1")
    if given.texture is not None and not isinstance(given.texture, Texture):
        raise ValueError(f"texture of {what} is {quoted(given.texture)}, expected a jounce.view.Texture")
    return Visual(given.shape, pose(f"placement of {what}", given.placement), given.colour, given.texture)


_SIZES: dict[type, dict[str, int]] = {  # of shapes, and how many numbers each is
    Box: {"size": 3},
    Sphere: {"radius": 0},
    Cylinder: {"radius": 0, "length": 0},
    Capsule: {"radius": 0, "length": 0},
    Ellipsoid: {"radii": 3},
}


class ReadLater(Sequence[Visual]):
    """The visuals of a body, read when one looks; in a pickle they are a plain tuple.

    Args:
        read: gives them. It is called once, and never fails.
    """

    def __init__(self, read: Callable[[], tuple[Visual, ...]]) -> None:
        self._read: Callable[[], tuple[Visual, ...]] | None = read
        self._found: tuple[Visual, ...] = ()

    @property
    def _visuals(self) -> tuple[Visual, ...]:
        if self._read is not None:
            with _reading:
                if self._read is not None:
                    self._found = self._read()
                    self._read = None
        return self._found

    def __len__(self) -> int:
        return len(self._visuals)

    @overload
    def __getitem__(self, index: int) -> Visual: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Visual]: ...
    def __getitem__(self, index: int | slice) -> Visual | Sequence[Visual]:
        return self._visuals[index]

    def __repr__(self) -> str:
        return repr(self._visuals)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._visuals,)


_reading = threading.RLock()
