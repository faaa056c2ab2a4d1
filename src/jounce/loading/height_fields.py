"""Height fields of MJCF: ground over a grid, from a picture, from MuJoCo's own binary format, or written out.

The heights are scaled to 0 ... 1 by MuJoCo's compiler, and here: the lowest is at z = 0, the highest at the third of
the four numbers of ``size``. Rows run along y, the first at -y; pictures and written numbers have it last.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.errors import LoadError
from jounce.loading.folders import NamedFile
from jounce.loading.xml_source import short
from jounce.parts.visual import HeightFile, Shape, Triangles, Undrawn

MOST = 400  # rows and columns that are drawn
_PIECE = 100_000  # characters
Array = NDArray[np.float64]
Size = tuple[float, float, float, float]


@dataclass(frozen=True)
class FieldSource:
    """Where the heights of a document come from.

    Attributes:
        file: that they are in; None if there is none.
        grid: rows and columns, as in the document.
        elevation: the numbers, if they are in the document.
    """

    file: NamedFile | None
    grid: tuple[str, str]
    elevation: str

    def shape(self, size: Size) -> Shape:
        """The field as it is drawn."""
        if self.file is not None:
            path, why = self.file.find()
            return (
                Undrawn(short(self.file.name), why)
                if path is None
                else HeightFile(path, self.file.folders.within, size)
            )
        try:
            return surface("height field", self._written(), size)
        except (LoadError, ValueError):
            return Undrawn("a height field", "has no heights that can be read")

    def _written(self) -> Array:
        rows, columns = (int(x) for x in self.grid)
        if not (2 <= rows <= 10_000 and 2 <= columns <= 10_000):
            raise ValueError
        if not self.elevation:
            return np.zeros((2, 2))
        return numbers_in(self.elevation).reshape(rows, columns)[::-1]


def numbers_in(text: str) -> Array:
    """Those that are written in a text, piece by piece: all words at once would take thirty times as much memory."""
    begin, pieces = 0, [np.zeros(0)]
    while begin < len(text):
        end = begin + _PIECE
        while end < len(text) and not text[end].isspace():
            end += 1
        pieces.append(np.array(text[begin:end].split(), dtype=np.float64))
        begin = end
    return np.concatenate(pieces)


def from_bytes(content: bytes) -> Array:
    """The heights (R, C) in MuJoCo's binary format: rows, columns, and the numbers."""
    if len(content) < 8:
        raise LoadError("is not a height field: it has fewer than 8 bytes")
    rows, columns = struct.unpack("<ii", content[:8])
    if rows < 2 or columns < 2 or len(content) != 8 + 4 * rows * columns:
        raise LoadError(f"is not a height field: {rows} x {columns} numbers do not take {len(content)} bytes")
    return np.frombuffer(content, dtype="<f4", offset=8).reshape(rows, columns).astype(np.float64)


def surface(name: str, heights: NDArray[Any], size: Size) -> Triangles:
    """The ground as a closed surface, in the frame of its geom.

    Args:
        name: of the field.
        heights: (R, C), scaled here to 0 ... 1.
        size: half of its extent along x and y, the height of its highest point, and the depth of its base, m.
    """
    if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
        raise LoadError("has heights that are not finite, or fewer than 2 x 2")
    rows, columns = (np.unique(np.linspace(0, n - 1, min(n, MOST), dtype=int)) for n in heights.shape)
    low, high = float(heights.min()), float(heights.max())
    z = size[2] * (heights[np.ix_(rows, columns)] - low) / ((high - low) or 1.0)
    x = size[0] * (2 * columns / (heights.shape[1] - 1) - 1)
    y = size[1] * (2 * rows / (heights.shape[0] - 1) - 1)
    top = np.stack([*np.meshgrid(x, y), z], axis=-1)
    base = top.copy()
    base[..., 2] = -size[3]
    vertices = np.concatenate([top.reshape(-1, 3), base.reshape(-1, 3)])
    return Triangles(name, vertices.astype(np.float32), _faces(*z.shape))


def _faces(rows: int, columns: int) -> NDArray[np.int32]:
    """Of the top, of the four sides, and of the bottom."""
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    made = [_quads(a, b, c, d)]
    around = np.concatenate([index[0, :-1], index[:-1, -1], index[-1, :0:-1], index[:0:-1, 0]])
    after, below = np.roll(around, -1), rows * columns
    made.append(_quads(around, around + below, after + below, after))
    corner = index[[0, -1, -1, 0], [0, 0, -1, -1]] + below
    made.append(_quads(*corner[:, None]))
    return np.concatenate(made).astype(np.int32)


def _quads(a: NDArray[np.int64], b: NDArray[np.int64], c: NDArray[np.int64], d: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.stack([a, b, c], axis=-1).reshape(-1, 3), np.stack([a, c, d], axis=-1).reshape(-1, 3)])
