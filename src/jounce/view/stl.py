"""Binary STL, the most common kind of mesh file: 84 bytes, then 50 for each triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_HEAD = 84
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def binary_stl(content: bytes) -> NDArray[np.float32] | None:
    """The corners (F, 3, 3) of its triangles; None if the file is of another kind, such as STL as text."""
    count = int.from_bytes(content[_HEAD - 4 : _HEAD], "little")
    if len(content) < _HEAD or len(content) != _HEAD + count * _TRIANGLE.itemsize:
        return None
    return np.ascontiguousarray(np.frombuffer(content, _TRIANGLE, offset=_HEAD)["corners"], dtype=np.float32)
