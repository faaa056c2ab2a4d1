"""One mesh with a picture on it as binary glTF 2.0: a header, a chunk of JSON, and a chunk of bytes."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FLOAT, _WHOLE = 5126, 5125  # types of numbers
_VERTICES, _INDICES = 34962, 34963  # what a piece of the bytes is for


def as_glb(
    vertices: NDArray[Any], faces: NDArray[Any], normals: NDArray[Any], uv: NDArray[Any], picture: bytes
) -> bytes:
    """The mesh as a file.

    Args:
        vertices: (V, 3).
        faces: (F, 3).
        normals: (V, 3).
        uv: (V, 2) places on the picture, from 0 to 1 and from the lower left; beyond that it is repeated.
        picture: as PNG or JPEG.
    """
    tables = (
        ("VEC3", np.asarray(vertices, dtype="<f4"), _FLOAT, _VERTICES),
        ("VEC3", np.asarray(normals, dtype="<f4"), _FLOAT, _VERTICES),
        ("VEC2", np.asarray(uv * [1.0, -1.0] + [0.0, 1.0], dtype="<f4"), _FLOAT, _VERTICES),
        ("SCALAR", np.asarray(faces, dtype="<u4").reshape(-1), _WHOLE, _INDICES),
    )
    pieces = [*(array.tobytes() for _, array, _, _ in tables), picture]
    starts = np.cumsum([0, *(_even(len(piece)) for piece in pieces)]).tolist()
    views: list[dict[str, Any]] = [
        {"buffer": 0, "byteOffset": start, "byteLength": len(piece)}
        for start, piece in zip(starts[:-1], pieces, strict=True)
    ]
    accessors: list[dict[str, Any]] = []
    for i, (form, array, kind, use) in enumerate(tables):
        views[i]["target"] = use
        accessors.append({"bufferView": i, "componentType": kind, "count": len(array), "type": form})
    accessors[0] |= {"min": tables[0][1].min(axis=0).tolist(), "max": tables[0][1].max(axis=0).tolist()}
    attributes = {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}
    surface = {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0, "roughnessFactor": 0.8}
    said = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 3, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": surface, "doubleSided": True}],
        "textures": [{"source": 0}],
        "images": [{"bufferView": 4, "mimeType": "image/png" if picture[:4] == b"\x89PNG" else "image/jpeg"}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": starts[-1]}],
    }
    text = json.dumps(said, separators=(",", ":")).encode()
    chunks = (
        (b"JSON", text.ljust(_even(len(text)))),
        (b"BIN\0", b"".join(p.ljust(_even(len(p)), b"\0") for p in pieces)),
    )
    body = b"".join(struct.pack("<I4s", len(content), kind) + content for kind, content in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _even(count: int) -> int:
    """The next multiple of 4."""
    return -(-count // 4) * 4
