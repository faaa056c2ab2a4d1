"""MuJoCo's procedural pictures: a checker, a gradient or one colour, with marks one pixel wide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jounce.parts.texture import SIDES, Pattern

MAX_SIDE = 512  # pixels; larger patterns are made smaller
Rows = NDArray[np.uint8]
Array = NDArray[np.float64]


def pattern_size(pattern: Pattern) -> tuple[int, int]:
    """Width and height as it is made."""
    width, height = (min(max(n, 1), MAX_SIDE) for n in pattern.size)
    return width, height


def pattern_rows(pattern: Pattern) -> Rows:
    """(H, W, 3), of a flat picture."""
    width, height = pattern_size(pattern)
    if pattern.kind == "gradient":
        x, y = _grid(width, height)
        rows = _between(2 * np.hypot(x, y) - 1, pattern.second, pattern.first)
    else:
        rows = _plain(pattern, width, height)
    return _marked(rows, pattern, np.random.default_rng(42))


def pattern_sides(pattern: Pattern) -> list[Rows]:
    """Six of (W, W, 3), the sides of a cube."""
    width, _ = pattern_size(pattern)
    dots = np.random.default_rng(42)
    return [_marked(_side(pattern, width, side), pattern, dots) for side in SIDES]


def _side(pattern: Pattern, width: int, side: str) -> Rows:
    """The gradient goes from the first colour, up, to the second, down; a flat cube has the second below."""
    first, second = pattern.first, pattern.second
    if pattern.kind == "flat" and side == "down":
        return _plain(pattern, width, width, second, first)
    if pattern.kind == "checker" and side in ("front", "back"):
        return _plain(pattern, width, width, second, first)
    if pattern.kind != "gradient":
        return _plain(pattern, width, width)
    x, y = _grid(width, width)
    far = np.sqrt(1 + x**2 + y**2)
    if side in ("up", "down"):
        height = (1 - 2 * np.arccos(1 / far) / np.pi) * (1 if side == "up" else -1)
    else:
        height = 2 * np.arcsin(y / far) / np.pi
    return _between(height, first, second)


def _plain(
    pattern: Pattern,
    width: int,
    height: int,
    first: Sequence[float] | None = None,
    second: Sequence[float] | None = None,
) -> Rows:
    """A checker of two by two fields, or one colour."""
    rows = np.empty((height, width, 3), dtype=np.uint8)
    rows[:] = _bytes(pattern.first if first is None else first)
    if pattern.kind == "checker":
        rows[: height // 2, width // 2 :] = rows[height // 2 :, : width // 2] = _bytes(
            pattern.second if second is None else second
        )
    return rows


def _grid(width: int, height: int) -> tuple[Array, Array]:
    """x and y (H, W) of pixels, from -1 to 1, y up."""
    x, y = (np.linspace(-1.0, 1.0, n) if n > 1 else np.zeros(1) for n in (width, height))
    return np.broadcast_to(x, (height, width)), np.broadcast_to(-y[:, None], (height, width))


def _between(at: Array, one: Sequence[float], other: Sequence[float]) -> Rows:
    """From the other colour at -1 to the one at 1, through a sigmoid."""
    share = np.clip(0.5 * (1 + np.sqrt(2) * at / np.sqrt(1 + at**2)), 0.0, 1.0)[..., None]
    return _bytes(share * np.asarray(one) + (1 - share) * np.asarray(other))


def _marked(rows: Rows, pattern: Pattern, dots: np.random.Generator) -> Rows:
    """Its edges, a cross or some of its pixels in the colour of marks."""
    height, width, _ = rows.shape
    colour = _bytes(pattern.mark_colour)
    if pattern.mark == "edge":
        rows[[0, -1]] = rows[:, [0, -1]] = colour
    elif pattern.mark == "cross":
        rows[height // 2] = rows[:, width // 2] = colour
    elif pattern.mark == "random":
        rows[dots.random((height, width)) < pattern.density] = colour
    return rows


def _bytes(colour: Sequence[float] | Array) -> Rows:
    return (255 * np.clip(colour, 0.0, 1.0)).astype(np.uint8)
