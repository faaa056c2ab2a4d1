"""Pictures on meshes."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.view.creases import split_at_creases

MAX_PIXELS = 1024  # of either side; larger pictures are made smaller
_QUALITY = 88


@dataclass(frozen=True, eq=False)
class Texture:
    """A picture on a mesh.

    Attributes:
        picture: as JPEG.
        uv: (V, 2) where on it each vertex is, from 0 to 1, from the lower left.
        normals: (V, 3) of the surface, once creases are found.
    """

    picture: bytes
    uv: NDArray[Any]
    normals: NDArray[Any] | None = None


def texture_of(visual: Any, count: int) -> Texture | None:
    """The texture of a mesh of `count` vertices as trimesh read it; None if there is none that can be drawn."""
    picture = picture_of(visual.material)
    uv = None if picture is None or visual.uv is None else np.asarray(visual.uv, dtype=np.float64)
    if picture is None or uv is None or uv.shape != (count, 2) or not (np.abs(uv) < 1e6).all():
        return None
    if max(picture.size) < 2:  # one pixel is a colour
        return None
    try:
        return Texture(_as_jpeg(picture), uv.astype(np.float32))
    except Exception:  # whatever Pillow raises for a picture that is broken
        return None


def picture_of(material: Any) -> Any:
    """The picture of a material as trimesh read it, or None."""
    return getattr(material, "baseColorTexture", None) or getattr(material, "image", None)


def _as_jpeg(picture: Any) -> bytes:
    """The picture on white, not larger than need be."""
    images: Any = import_module("PIL.Image")
    full = picture.convert("RGBA")
    opaque = images.new("RGB", full.size, (255, 255, 255))
    opaque.paste(full, mask=full.getchannel("A"))
    opaque.thumbnail((MAX_PIXELS, MAX_PIXELS))
    with io.BytesIO() as file:
        opaque.save(file, format="JPEG", quality=_QUALITY)
        return file.getvalue()


def with_creases(
    vertices: NDArray[np.float32], faces: NDArray[np.int32], texture: Texture
) -> tuple[NDArray[np.float32], NDArray[np.int32], Texture]:
    """The same surface, with vertices split at creases and at the seams of the picture."""
    split, corners, whole = split_at_creases(vertices, faces)
    uv = texture.uv[faces[whole]].reshape(-1, 2)
    rows = np.concatenate([corners.reshape(-1, 1), uv], axis=1, dtype=np.float64)
    _, first, index = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    kept = corners.ravel()[first]
    found = replace(texture, uv=uv[first], normals=_normals(split, corners)[kept])
    return split[kept], index.reshape(-1, 3).astype(np.int32), found


def _normals(vertices: NDArray[Any], faces: NDArray[Any]) -> NDArray[np.float64]:
    """(V, 3) of length 1, the mean of the faces around, weighted by area."""
    corners = np.asarray(vertices, dtype=np.float64)[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros((len(vertices), 3))
    for i in range(3):
        np.add.at(total, faces[:, i], across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.maximum(length, 1e-300), [0.0, 0.0, 1.0])


def as_glb(vertices: NDArray[Any], faces: NDArray[Any], texture: Texture) -> bytes:
    """The mesh with its picture, as binary glTF."""
    trimesh: Any = import_module("trimesh")
    images: Any = import_module("PIL.Image")
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=images.open(io.BytesIO(texture.picture)),
        metallicFactor=0.0,
        roughnessFactor=0.8,
        doubleSided=True,
    )
    mesh = trimesh.Trimesh(
        vertices,
        faces,
        vertex_normals=texture.normals,
        visual=trimesh.visual.TextureVisuals(uv=texture.uv, material=material),
        process=False,
    )
    return bytes(mesh.export(file_type="glb", include_normals=True))
