"""Whether a mesh file takes its reader little time and memory, whatever it says, so that it needs no process.

What counts is what the reader sees, not what the file looks like: a Collada file is parsed with the parser that the
reader uses, and text is plain only if no reader puts it together differently.
"""

from __future__ import annotations

import re
from itertools import islice
from xml.parsers import expat

from jounce.errors import LoadError

MAX_BYTES = 3_000_000
_ELEMENTS = 4000  # of a Collada file
_SCENE = 10_000_000  # words of it, as often as its scene places a geometry
_PLACING = ("instance_geometry", "instance_controller")
_PARTS = {  # how many of these a file may have: solids; materials, wherever, and lines that are no vertices or faces
    "stl": (re.compile(rb"solid", re.IGNORECASE), 100),
    "obj": (re.compile(rb"usemtl|^[ \t]*(?![ \t]|v[ \t]|vn[ \t]|vt[ \t]|f[ \t]|#|\r?$).", re.MULTILINE), 400),
}


def is_plain(content: bytes, kind: str) -> bool:
    """Whether it is so small, and of so few parts, that reading it takes little time whatever it says.

    Args:
        content: of the file.
        kind: suffix of its name, such as "dae".
    """
    if len(content) > MAX_BYTES:
        return False
    if kind == "dae":
        return _Collada(content).plain
    return kind in _PARTS and _is_plain_text(content, *_PARTS[kind])


def _is_plain_text(content: bytes, part: re.Pattern[bytes], most: int) -> bool:
    """Readers guess how to decode what is not UTF-8, drop bytes, and join lines that end in a backslash."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\\" not in content and sum(1 for _ in islice(part.finditer(content), most + 1)) <= most


class _Collada:
    """A Collada file, as far as its elements go.

    Its reader makes room for as many corners of polygons as the file says, and reads a geometry again each time it is
    placed; nodes that are placed may place others, and so multiply.

    Attributes:
        plain: whether it is.
    """

    def __init__(self, content: bytes) -> None:
        self._elements = self._placed = 0
        self._corners: list[str] = []  # as they are written
        self._parser = parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        words = sum(map(content.count, (b" ", b"\t", b"\r", b"\n")))
        try:
            parser.Parse(content, True)
            corners = sum(abs(int(word)) for word in "".join(self._corners).split())
        except (expat.ExpatError, LookupError, ValueError):
            self.plain = False
        else:
            self.plain = words * self._placed <= _SCENE and corners <= words + 1000

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        own = tag.rpartition(":")[2]
        self._elements += 1
        self._placed += own in _PLACING
        if self._elements > _ELEMENTS or own == "instance_node":
            raise LoadError("has more parts, or other ones, than are plain")
        if own == "vcount":
            self._corners.append(" ")
            self._parser.CharacterDataHandler = self._corners.append

    def _end(self, tag: str) -> None:
        self._parser.CharacterDataHandler = None
