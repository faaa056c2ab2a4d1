"""Robots of the papers and of the examples, built in code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._checks import whole
from .builder import Builder
from .inertia import Inertia
from .joints import Fixed, Free, Revolute
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
    whole("branches", branches, 0, 100_000)
    whole("links", links, 0, 100_000)
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


def quadrotor_arm(payload: float = 0.0) -> Model:
    """A quadrotor that carries an arm of two links, which turn about its y axis and hang down at zero.

    1.5 kg and two links of 0.18 m, 0.15 kg and 0.10 kg. Rotors can push along the base's z axis and turn the base about
    all three: with the arm's motors the columns 2 to 7 of tau are actuated, 0 and 1, forces along x and y, are not.

    Args:
        payload: a point mass at the end of the arm, the frame "tool", kg.

    >>> robot = quadrotor_arm()
    >>> robot.joint_names, robot.nv
    (('base', 'shoulder', 'elbow'), 8)
    """
    length = 0.18
    builder = Builder()
    builder.add("quadrotor", "world", Free(name="base"), inertia=Inertia(1.5, rotational=(0.016, 0.016, 0.028)))
    parent, placement = "quadrotor", _shift(0.0, 0.0, -0.04)
    for body, joint, mass in (("upper_arm", "shoulder", 0.15), ("forearm", "elbow", 0.10)):
        across = mass * length**2 / 12
        rod = Inertia(mass, com=(0.0, 0.0, -length / 2), rotational=(across, across, 2e-5))
        builder.add(body, parent, Revolute((0.0, 1.0, 0.0), name=joint), placement, rod)
        parent, placement = body, _shift(0.0, 0.0, -length)
    builder.add("tool", parent, Fixed(), placement, Inertia(payload))
    return builder.build()


def _shift(x: float, y: float, z: float) -> NDArray[np.float64]:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
