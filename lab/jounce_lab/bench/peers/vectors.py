"""Vectors of three scalars, numbers or CasADi's symbols: a graph of scalars alone is the smallest possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jounce.core_tables import BodyRecord

Vector = list[Any]
Matrix = list[Vector]


def cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def times(M: Sequence[Sequence[Any]], x: Vector) -> Vector:
    return [row[0] * x[0] + row[1] * x[1] + row[2] * x[2] for row in M]


def total(*vectors: Vector) -> Vector:
    return [sum(x[1:], x[0]) for x in zip(*vectors, strict=True)]


def rotation(b: BodyRecord, angle: Any) -> Matrix:
    """Rotation of the body in its parent: Rodrigues' formula keeps entries that are zero for an axis x, y or z zero."""
    import casadi

    axis = b.joint.axis  # type: ignore[attr-defined]
    along, across = np.outer(axis, axis), np.cross(np.eye(3), axis)
    P, c, s = b.placement[:3, :3], casadi.cos(angle), casadi.sin(angle)
    fixed, cosine, sine = ((P @ x).tolist() for x in (along, np.eye(3) - along, across))
    return [[fixed[i][j] + c * cosine[i][j] + s * sine[i][j] for j in range(3)] for i in range(3)]
