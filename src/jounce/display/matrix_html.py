"""Matrices in a notebook: numbers if there are few, otherwise a picture, with the names of rows and columns."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jounce.display.html import folded, number, plain, table

Array = NDArray[np.float64]
_NUMBERS = 12  # columns of matrices that are written out
_WIDE = 420.0  # pixels, of a map


def matrices_html(
    matrices: Mapping[str, Array], rows: Sequence[str], columns: Sequence[str], legends: Mapping[str, Sequence[str]]
) -> str:
    """Matrices next to each other.

    Args:
        matrices: by name, with the same rows.
        rows, columns: their names; the columns are those of all matrices, one after the other.
        legends: names of which there is a list below a picture, by what they are the names of.
    """
    all_of_them = _without_noise(np.concatenate(list(matrices.values()), axis=1))
    if all_of_them.shape[1] <= _NUMBERS:
        head = ["", *(plain(name) for name in columns)]
        return table((), [head] + [[plain(n), *map(number, row)] for n, row in zip(rows, all_of_them, strict=True)])
    ends = np.cumsum([0, *(each.shape[1] for each in matrices.values())])
    parts = {name: slice(*ends[i : i + 2]) for i, name in enumerate(matrices)}
    lists = [table(("", key), [[str(i), plain(n)] for i, n in enumerate(names)]) for key, names in legends.items()]
    named = folded(f"names of {' and '.join(legends)}", f'<div class="side">{"".join(lists)}</div>')
    return _map(all_of_them, parts) + named


def _without_noise(matrix: Array) -> Array:
    """0 in place of rounding errors: what is tiny next to the rest of its row, whose unit is often one and the same."""
    size = np.abs(matrix)
    floor = np.maximum(1e-12 * size.max(axis=1, keepdims=True, initial=0.0), 1e-16 * size.max(initial=0.0))
    return np.where(size <= floor, 0.0, matrix)


def _map(matrix: Array, parts: Mapping[str, slice]) -> str:
    """A picture: orange for positive and blue for negative numbers, stronger for larger ones, by decades."""
    size = np.abs(matrix) / max(float(np.abs(matrix).max(initial=0.0)), 1e-300)
    strength = np.clip(1 + np.log10(np.maximum(size, 1e-300)) / 5, 0.0, 1.0)  # over five decades
    pixels = np.zeros((*matrix.shape, 4), dtype=np.uint8)
    pixels[..., :3] = np.where((matrix > 0)[..., None], (0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2))
    pixels[..., 3] = (255 * np.where(strength > 0, 0.12 + 0.88 * strength, 0.0)).astype(np.uint8)
    rows, columns = matrix.shape
    cell = min(9.0, _WIDE / columns)
    look = "image-rendering:pixelated;border:1px solid #8886"
    shown = []
    for name, part in parts.items():
        some = pixels[:, part]
        if some.size:
            data = base64.b64encode(png(np.ascontiguousarray(some))).decode()
            wide, high = cell * some.shape[1], cell * rows
            style = f"width:{wide:.0f}px;height:{high:.0f}px;background:none;max-width:none;{look}"
            picture = f'<img alt="{plain(name)}" src="data:image/png;base64,{data}" style="{style}">'
            shown.append(f'<div><div class="dim">{plain(name)}</div>{picture}</div>')
    return f'<div class="side">{"".join(shown)}</div>'


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG file of (rows, columns, 4) pixels: red, green, blue, opacity."""
    rows, columns, _ = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
