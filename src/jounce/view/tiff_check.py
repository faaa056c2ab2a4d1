"""What a TIFF claims, before Pillow makes lists of it: into how many pieces it is cut, and how long its tables are."""

from __future__ import annotations

import struct

MAX_PIECES = 50_000
_MOST = 100_000  # numbers in a table
_ENTRIES = 1000  # tables
_PIECES = (273, 324)  # tags of offsets: of strips, of tiles
_BYTES = (1, 2, 7)  # types of tables that stay as they are, such as profiles of colours


def tiff_fault(content: bytes) -> str:
    """Why a file is not read as a TIFF; "" if it may be, or is none, or is broken in other ways."""
    order = {b"II": "<", b"MM": ">"}.get(content[:2])
    if order is None or not {b"*", b"+"} & {content[2:3], content[3:4]}:
        return ""
    big = content[2:3] == b"+"
    first, count, entry = (order + each for each in (("8xQ", "Q", "HHQ8x") if big else ("4xI", "H", "HHI4x")))
    try:
        (at,) = struct.unpack_from(first, content)
        (entries,) = struct.unpack_from(count, content, at)
    except (struct.error, OverflowError):
        return ""
    begin, size = at + struct.calcsize(count), struct.calcsize(entry)
    some = content[begin : begin + min(entries, _ENTRIES) * size]
    for tag, kind, length in struct.iter_unpack(entry, some[: len(some) // size * size]):  # as far as they are there
        if tag in _PIECES and length > MAX_PIECES:
            return f"is in more than the {MAX_PIECES:,} pieces that are read"
        if kind not in _BYTES and length > _MOST:
            return f"has a table of more than the {_MOST:,} numbers that are read"
    return f"has more than the {_ENTRIES:,} tables that are read" if entries > _ENTRIES else ""
