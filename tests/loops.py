"""Loops and contacts for the tests: ties that hold in a robot's current configuration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oracles import virtual_work as exact
from oracles.constraints import held_where_it_is
from oracles.differentiate import _rounded
from oracles.mechanisms import Mechanism, Side
from oracles.ties import Tie, contact_arm
from trees import random_axes, random_pose, random_rotation

JOINTS = ("fixed", "revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical")
KINDS = (*JOINTS, "distance", "on plane", "on line", "ball", "wheel")


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """A rotation, by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def pose_of(rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def pose_at(robot: Mechanism, q: np.ndarray, side: Side) -> np.ndarray:
    still = np.zeros((1, robot.nv), dtype=object)
    return _rounded(robot.frames(exact._fixed(q), still).pose(side)[0])


def displaced(rng: np.random.Generator, tie: Tie) -> np.ndarray:
    """A pose of B in A that the tie allows."""
    angle, shift, other = rng.uniform(-1, 1), *rng.uniform(-0.3, 0.3, 2)
    a, b = (np.array([0.0, 0.0, 1.0]) if x is None else x for x in (tie.axis, tie.axis2))
    any_turn, across = random_rotation(rng), np.cross(a, [shift, other, 0.2])
    n = tie.normal / np.linalg.norm(tie.normal)
    on_plane = np.cross(n, [shift, other, 0.2])
    none, no_turn = np.zeros(3), np.eye(3)
    if tie.kind == "rolling":
        arm = _rounded(contact_arm(tie, exact._exact_pose(pose_of(any_turn, none))[None, :3, :3]))[0]
        return pose_of(any_turn, on_plane - arm)
    rotation, position = {
        "fixed": (no_turn, none),
        "revolute": (turn(a, angle), none),
        "prismatic": (no_turn, shift * a),
        "helical": (turn(a, angle), tie.pitch * angle * a),
        "cylindrical": (turn(a, angle), shift * a),
        "universal": (turn(a, angle) @ turn(b, 2 * shift), none),
        "planar": (turn(np.cross(a, b), angle), shift * a + other * b),
        "spherical": (any_turn, none),
        "distance": (any_turn, tie.length * across / np.linalg.norm(across)),
        "on plane": (any_turn, on_plane),
        "on line": (any_turn, shift * a),
    }[tie.kind]
    return pose_of(rotation, position)


def random_tie(
    rng: np.random.Generator,
    robot: Mechanism,
    q: np.ndarray,
    kind: str,
    first: int,
    second: int,
    at: float | None = None,
) -> Tie:
    """Of a kind in KINDS, between two bodies, the first a rod if `at` is given; obeyed at q up to rounding."""
    a, b = random_axes(rng)
    if kind == "universal":
        b = random_axes(rng)[0]
    normal = random_axes(rng)[0]
    rolling = kind in ("ball", "wheel")
    tie = Tie(
        "rolling" if rolling else kind,
        Side(first, random_pose(rng, 0.2), at),
        Side(second),
        axis=None if kind == "ball" else a,
        axis2=b,
        pitch=rng.uniform(0.05, 0.3),
        length=rng.uniform(0.2, 0.5),
        radius=rng.uniform(0.1, 0.3),
        normal=normal,
    )
    place = np.linalg.inv(pose_at(robot, q, tie.b)) @ pose_at(robot, q, tie.a) @ displaced(rng, tie)
    return replace(tie, b=Side(second, place))


def contact(rng: np.random.Generator, robot: Mechanism, q: np.ndarray, kind: str, body: int, *, held: bool) -> Tie:
    """A contact of a body's own frame with the world: A is where B is (`held`), or where the tie allows B to be."""
    tie = random_tie(rng, robot, q, kind, -1, body)
    tie = replace(tie, b=Side(body), contact=True)
    there = pose_at(robot, q, tie.b) @ np.linalg.inv(displaced(rng, tie))
    return replace(tie, a=Side(-1, held_where_it_is(robot, tie, q) if held else there))
