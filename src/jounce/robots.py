"""Robots of the papers, built in code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .inertia import Inertia
from .joints import Free, Revolute
from .model import Model

_AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))  # paper A, (30): y, x, z and again


def aerial_manipulator(branches: int = 2, links: int = 3) -> Model:
    """Paper A's flying robot: a TiltHex base that carries arms of `links` revolute joints (Fig. 2 and Table 3).

    With the defaults it is the 12-DoF robot of section 7, N = 7 bodies. Table 4's larger trees are
    ``aerial_manipulator(5, n)`` with N = 1 + 5 n; where the paper leaves open how five arms are arranged, they are
    spread evenly on the circle on which the two are.

    The frame of a link is its joint frame, d above its centre of mass; the base's is its centre of mass.

    >>> aerial_manipulator().nv
    12
    """
    b, c, d = 0.10, 0.18, 0.06
    builder = Builder()
    builder.add("B1", "world", Free(name="base"), inertia=Inertia(2.5, rotational=(0.03, 0.03, 0.05)))
    number = 1
    for branch in range(branches):
        angle = 2 * math.pi * branch / branches
        parent, placement = "B1", _shift(c / 2 * math.cos(angle), c / 2 * math.sin(angle), -b)
        for link in range(links):
            number += 1
            name = f"B{number}"
            builder.add(
                name,
                parent,
                Revolute(_AXES[link % 3], name=f"q{number}"),
                placement,
                Inertia(0.25, com=(0.0, 0.0, -d), rotational=(0.002, 0.002, 0.001)),
            )
            parent, placement = name, _shift(0.0, 0.0, -2 * d)
    return builder.build()


def _shift(x: float, y: float, z: float) -> NDArray[np.float64]:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
