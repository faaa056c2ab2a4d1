"""What a GLB file claims, before anything is allocated for it: how many numbers there are, how large its pictures."""

from __future__ import annotations

import json
import struct
from typing import Any

from jounce.view.pictures import PictureError, checked_picture

_JSON = 0x4E4F534A


def check_glb(content: bytes) -> None:
    """Raises a ``ValueError`` about numbers that are not in the file, or pictures that are too large."""
    magic, _, _, size, kind = struct.unpack_from("<4s4I", content)
    if magic != b"glTF" or kind != _JSON:
        raise ValueError("it is not a binary glTF file")
    said = json.loads(content[20 : 20 + size])
    for accessor in said.get("accessors", ()):
        if "bufferView" not in accessor or not 0 <= accessor.get("count", 0) <= len(content):
            raise ValueError("it describes more numbers than it has")
    body = content[20 + size + 8 :]
    for picture in said.get("images", ()):
        if "bufferView" in picture:
            _check_picture(body, said["bufferViews"][picture["bufferView"]])


def _check_picture(body: bytes, view: Any) -> None:
    first = view.get("byteOffset", 0)
    try:
        checked_picture(body[first : first + view["byteLength"]])
    except PictureError as fault:
        raise ValueError(f"a picture in it {fault}") from None
