"""The pixels of pictures: from files, which are not trusted, from patterns, and from compiled models.

A file is read whole, up to a limit, from a folder that may be read, and its size is looked at before it is decoded.
Each is decoded once for a robot, however many materials show it, and all together may have so many pixels.
"""

from __future__ import annotations

import io
import math
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._extras import needed
from jounce.dynamics.interruptible import aside
from jounce.errors import LoadError
from jounce.loading.folders import to_allow
from jounce.loading.regular_files import OutsideError, regular_bytes
from jounce.loading.xml_source import reason_of
from jounce.parts.texture import SIDES, Pattern, Picture, PictureFile, Pixels, Texture
from jounce.view.patterns import pattern_rows, pattern_sides, pattern_size
from jounce.view.tiff_check import MAX_PIECES, tiff_fault

MAX_BYTES = 20_000_000  # of a file
MAX_PIXELS = 50_000_000  # in it
MAX_ALL_PIXELS = 500_000_000  # in all pictures of a robot together
_SCANS = 100  # of a progressive JPEG, each of which goes over all of it and may take only some bytes
MAX_SIDE = 1024  # pixels; larger pictures are made smaller
KINDS = ("PNG", "JPEG", "BMP", "TGA", "TIFF", "GIF", "WEBP")  # Pillow hands others to programs that run them
_QUALITY = 88
_FEW = 64  # colours, of a sample
_PATTERN = "a pattern"
Rows = NDArray[np.uint8]  # (H, W, 3), from the top


class PictureError(LoadError):
    """Why a picture is left out, and which."""

    def __init__(self, why: str, what: str = "") -> None:
        super().__init__(f"{what} {why}".strip())
        self.why, self.what = why, what


class Pictures:
    """The pictures of a robot, each decoded, made and packed once."""

    def __init__(self) -> None:
        self._left = MAX_ALL_PIXELS
        self._rows: dict[Picture, Rows | PictureError] = {}
        self._sides: dict[Pattern, list[Rows]] = {}
        self._packed: dict[int, tuple[Rows, bytes]] = {}  # with the rows, so that no others get their number

    def rows(self, picture: Picture) -> Rows:
        """The pixels of one.

        Raises:
            PictureError: it cannot be drawn, or those before it have too many pixels.
        """
        if picture not in self._rows:
            try:
                self._rows[picture] = self._made(picture)
            except PictureError as fault:
                self._rows[picture] = fault
        found = self._rows[picture]
        if isinstance(found, PictureError):
            raise found
        return found

    def sides(self, pattern: Pattern) -> list[Rows]:
        """The six sides of a cube."""
        if pattern not in self._sides:
            self.count(6 * pattern_size(pattern)[0] ** 2, _PATTERN)
            self._sides[pattern] = pattern_sides(pattern)
        return self._sides[pattern]

    def packed(self, rows: Rows) -> bytes:
        """See `packed`."""
        if id(rows) not in self._packed:
            self._packed[id(rows)] = rows, packed(rows)
        return self._packed[id(rows)][1]

    def _made(self, picture: Picture) -> Rows:
        if isinstance(picture, Pattern):
            self.count(math.prod(pattern_size(picture)), _PATTERN)
            return pattern_rows(picture)
        if isinstance(picture, Pixels):
            return picture.rows
        if isinstance(picture, PictureFile):
            try:
                found = checked_picture(_content(picture))
                self.count(math.prod(found.size))
                return as_rows(found)
            except PictureError as fault:
                raise PictureError(fault.why, picture.path) from None
        raise PictureError(picture.reason, picture.what)

    def count(self, pixels: int, what: str = "") -> None:
        """Counts pixels among those of all pictures.

        Args:
            pixels: how many.
            what: has them, for the message.

        Raises:
            PictureError: they are too many.
        """
        if pixels > self._left:
            why = f"has too many pixels: with those before it, more than the {MAX_ALL_PIXELS:,} that are drawn"
            raise PictureError(why, what)
        self._left -= pixels


def rows_of(texture: Texture, pictures: Pictures | None = None) -> Rows | list[Rows]:
    """The picture of a texture; of a cube its six sides, all (W, W, 3), in the order of `SIDES`.

    Args:
        texture: that it is.
        pictures: those that were decoded before.

    Raises:
        PictureError: one of them cannot be drawn; the message names it and says why.
    """
    pictures = pictures or Pictures()
    first = texture.pictures[0]
    if not texture.cube:
        assert first is not None
        return _flipped(texture, pictures.rows(first))
    if len(texture.pictures) == 1:
        (picture,) = texture.pictures
        assert picture is not None
        if isinstance(picture, Pattern):
            return pictures.sides(picture)
        rows = pictures.rows(picture)
        if isinstance(picture, Pixels):  # as it is in a compiled model
            return [rows] * 6 if rows.shape[0] == rows.shape[1] else np.split(rows, 6)
        return _cells(texture, _flipped(texture, rows))
    sides = [None if picture is None else _flipped(texture, pictures.rows(picture)) for picture in texture.pictures]
    return _alike(texture, sides)


def checked_picture(content: bytes) -> Any:
    """Pillow's picture, not decoded yet.

    Raises:
        PictureError: it is none, or too large.
    """
    if content.startswith(b"\xff\xd8") and content.count(b"\xff\xda") > _SCANS:
        raise PictureError(f"has more than the {_SCANS} scans that are read")
    if fault := tiff_fault(content):
        raise PictureError(fault)
    images = needed("PIL.Image", "reading pictures")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its size
            picture = images.open(io.BytesIO(content), formats=KINDS)
            if picture.size[0] * picture.size[1] > MAX_PIXELS:
                raise images.DecompressionBombError
            if len(picture.tile) > MAX_PIECES:
                raise PictureError(f"is in more than the {MAX_PIECES:,} pieces that are read")
            return picture
    except PictureError:
        raise
    except images.DecompressionBombError:
        raise PictureError(f"has more than the {MAX_PIXELS:,} pixels that are drawn") from None
    except Exception as fault:  # whatever Pillow raises for a file that is not a picture
        raise PictureError(f"is not a picture that can be read ({type(fault).__name__})") from None


def as_rows(picture: Any) -> Rows:
    """Of Pillow's picture, on white, not larger than need be.

    Raises:
        PictureError: it is broken, or of a kind that is not read.
    """
    if picture.format is not None and picture.format not in (*KINDS, "MPO"):  # the latter is JPEG of several pictures
        raise PictureError("is not a picture that can be read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture.draft("RGB", (MAX_SIDE, MAX_SIDE))
            return _on_white(picture) if max(picture.size) <= MAX_SIDE else aside(lambda: _on_white(picture))
    except Exception as fault:
        raise PictureError(f"is not a picture that can be read ({type(fault).__name__})") from None


def _on_white(picture: Any) -> Rows:
    images = needed("PIL.Image", "reading pictures")
    sheer = "A" in picture.mode or "transparency" in picture.info
    small = picture.convert("RGBA" if sheer else "RGB")
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    if sheer:
        opaque = images.new("RGB", small.size, (255, 255, 255))
        opaque.paste(small, mask=small.getchannel("A"))
        small = opaque
    return np.asarray(small, dtype=np.uint8)


def packed(rows: Rows) -> bytes:
    """As PNG if it has few colours, such as a pattern, otherwise as JPEG."""
    images = needed("PIL.Image", "reading pictures")
    some = rows[:: 1 + rows.shape[0] // 256, :: 1 + rows.shape[1] // 256].reshape(-1, 3).astype(np.int32)
    few = len(np.unique(some @ [1 << 16, 1 << 8, 1])) <= _FEW
    with io.BytesIO() as file:
        options = {"format": "PNG"} if few else {"format": "JPEG", "quality": _QUALITY}
        images.fromarray(np.ascontiguousarray(rows)).save(file, **options)
        return file.getvalue()


def mean_colour(rows: Rows) -> tuple[float, float, float, float]:
    """Of all its pixels."""
    red, green, blue = (float(x) / 255 for x in rows.reshape(-1, 3).mean(axis=0))
    return red, green, blue, 1.0


def _content(file: PictureFile) -> bytes:
    try:
        return regular_bytes(file.path, MAX_BYTES, file.within)[1]
    except OutsideError as fault:
        raise PictureError(
            f"leads out of the folders that may be read: {to_allow(os.path.dirname(fault.real))}"
        ) from None
    except LoadError as fault:
        raise PictureError(str(fault)) from None
    except (OSError, ValueError) as fault:
        raise PictureError(f"cannot be read: {reason_of(fault)}") from None


def _flipped(texture: Texture, rows: Rows) -> Rows:
    across, down = texture.flip
    return rows[:: -1 if down else 1, :: -1 if across else 1]


def _cells(texture: Texture, rows: Rows) -> list[Rows]:
    """The sides of a cube, cut out of one picture; the same for all if it is not divided."""
    down, across = texture.grid
    if down * across == 1:
        return [_square(rows)] * 6
    height, width = rows.shape[0] // down, rows.shape[1] // across
    if min(height, width) < 1:
        (picture,) = texture.pictures
        name = picture.path if isinstance(picture, PictureFile) else "a texture"
        raise PictureError(f"has fewer pixels than its grid of {down} x {across} asks for", name)
    found: dict[str, Rows] = {}
    for k, letter in enumerate(texture.layout[: down * across]):
        i, j = divmod(k, across)
        found[letter] = rows[height * i : height * (i + 1), width * j : width * (j + 1)]
    return _alike(texture, [found.get(side[0].upper()) for side in SIDES])


def _alike(texture: Texture, sides: list[Rows | None]) -> list[Rows]:
    """Squares of one size, in the colour for it where one is missing."""
    width = max((side.shape[1] for side in sides if side is not None), default=1)
    blank = np.empty((width, width, 3), dtype=np.uint8)
    blank[:] = [int(255 * min(max(x, 0.0), 1.0)) for x in texture.missing]
    return [blank if side is None else _square(side, width) for side in sides]


def _square(rows: Rows, width: int | None = None) -> Rows:
    width = width or rows.shape[1]
    if rows.shape[:2] == (width, width):
        return rows
    images = needed("PIL.Image", "reading pictures")
    return np.asarray(images.fromarray(np.ascontiguousarray(rows)).resize((width, width)), dtype=np.uint8)
