"""The names of mesh files and pictures in a document that is written somewhere else than the one they came from."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.parts.pose import pose, rotation
from jounce.parts.texture import PictureFile
from jounce.parts.visual import HeightFile, MeshFile

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def has_address(name: str) -> bool:
    """Whether it begins with a scheme such as ``package://``."""
    return bool(_ADDRESS.match(name))


def file_name(mesh: MeshFile | HeightFile | PictureFile, path: Path | None) -> str:
    """Relative to the folder of the document, if that is written to a file and they share a disk; else absolute."""
    if path is None:
        return Path(mesh.path).as_posix()
    try:
        return Path(os.path.relpath(mesh.path, os.path.dirname(os.path.abspath(path)))).as_posix()
    except ValueError:  # another disk
        return Path(mesh.path).as_posix()


def unmoved(mesh: MeshFile) -> NDArray[np.float64] | None:
    """(4, 4) pose that stands for a mesh's `shift` and `turn`; None if it is scaled too unevenly for that.

    A vertex x becomes S R^T (x - shift), which for an even scale S is R^T (S x) - R^T S shift.
    """
    turn, even = rotation(mesh.turn), len(set(mesh.scale)) == 1
    if not even and (turn != np.eye(3)).any():
        return None
    moved = pose(np.zeros(3), (1.0, 0.0, 0.0, 0.0))
    moved[:3, :3], moved[:3, 3] = turn.T, -turn.T @ (np.array(mesh.scale) * np.array(mesh.shift))
    return moved
