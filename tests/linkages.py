"""Robots with constraints for the tests, each with a configuration that obeys them."""

from __future__ import annotations

import numpy as np

import jounce as jn
from build import jounce_model
from trees import random_pose, random_rotation, random_tree

HINGE = (0.0, 1.0, 0.0)


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def random_joints(rng: np.random.Generator) -> list[jn.Joint]:
    """One of each kind that can close a loop."""
    x, y = random_rotation(rng)[:2]
    axis = rng.normal(size=3)
    return [
        jn.Fixed(),
        jn.Revolute(axis),
        jn.Prismatic(axis),
        jn.Helical(axis, 0.1),
        jn.Cylindrical(axis),
        jn.Universal(x, x + 2 * y),
        jn.Planar(x, y),
        jn.Spherical(),
    ]


def joint_pose(joint: jn.Joint, rng: np.random.Generator) -> np.ndarray:
    """A pose that a joint allows."""
    b = jn.Builder()
    b.add("body", "world", joint, inertia=jn.Inertia(1.0, (0, 0, 0), np.eye(3)))
    robot = b.build()
    return robot.pose("body", robot.random_configuration(rng))


def tied(kind: object, rng: np.random.Generator) -> np.ndarray:
    """A pose of B in A that obeys a constraint."""
    if isinstance(kind, jn.Joint):
        return joint_pose(kind, rng)
    pose = random_pose(rng)
    p = pose[:3, 3]
    if isinstance(kind, jn.Distance):
        pose[:3, 3] *= kind.length / np.linalg.norm(p)
    elif isinstance(kind, jn.OnPlane):
        pose[:3, 3] -= kind.normal * (kind.normal @ p)
    elif isinstance(kind, jn.OnLine):
        pose[:3, 3] = kind.axis * (kind.axis @ p)
    elif isinstance(kind, jn.Rolling):
        height = kind.radius
        if kind.axis is not None:
            height *= np.sqrt(1 - (kind.normal @ pose[:3, :3] @ kind.axis) ** 2)
        pose[:3, 3] += kind.normal * (height - kind.normal @ p)
    return pose


def closed(seed: int, *kinds: object, bodies: int = 8, floating: bool = True) -> tuple[jn.Model, np.ndarray]:
    """A random tree whose last bodies are tied to others, one per constraint."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, bodies, joints=("revolute", "prismatic", "universal", "spherical"), floating=floating)
    robot = jounce_model(tree)
    q = robot.random_configuration(rng)
    builder = jn.Builder.from_model(robot)
    for i, kind in enumerate(kinds):
        second = robot.body_names[-1 - i]
        first = "world" if i % 2 else robot.body_names[1]
        at = random_pose(rng)
        there = (np.eye(4) if first == "world" else robot.pose(first, q)) @ at @ tied(kind, rng)
        builder.close(
            f"{i}", first, second, kind, placement_a=at, placement_b=np.linalg.inv(robot.pose(second, q)) @ there
        )
    return builder.build(), q


def four_bar(pin: object = None, spring: float = 0.0) -> jn.Model:
    """Crank 0.3, coupler 0.7, rocker 0.5 and ground 0.6 m, in the x-z plane; all hinges along y."""
    b = jn.Builder()
    hinge = jn.Revolute(HINGE)
    b.add("crank", "world", jn.Revolute(HINGE, stiffness=spring), inertia=jn.Inertia(0.5, (0.15, 0, 0), [1e-3] * 3))
    b.add("coupler", "crank", hinge, shift(0.3), jn.Inertia(0.8, (0.35, 0, 0), [0.02] * 3))
    b.add("rocker", "world", hinge, shift(0.6), jn.Inertia(0.6, (0.25, 0, 0), [0.01] * 3))
    kind = jn.Revolute(HINGE) if pin is None else pin
    b.close("pin", "coupler", "rocker", kind, placement_a=shift(0.7), placement_b=shift(0.5))
    return b.build()


def quadruped(contact: object, held: bool = False) -> tuple[jn.Model, np.ndarray]:
    """A box on four legs of three joints each, its feet held, at given places or wherever they are."""
    b = jn.Builder()
    b.add("base", "world", jn.Free(), inertia=jn.Inertia(10.0, (0.01, 0, 0.02), [0.2, 0.4, 0.5]))
    q = [0, 0, 0.5, 0, 0, 0, 1.0]
    for name, x, y in (("lf", 0.3, 0.2), ("rf", 0.3, -0.2), ("lh", -0.3, 0.2), ("rh", -0.3, -0.2)):
        b.add(f"{name}_hip", "base", jn.Revolute((1, 0, 0)), shift(x, y), jn.Inertia(0.5, (0, 0.02, 0), [1e-3] * 3))
        thigh, shank = jn.Inertia(0.7, (0, 0, -0.12), [3e-3] * 3), jn.Inertia(0.2, (0, 0, -0.1), [1e-3] * 3)
        b.add(f"{name}_thigh", f"{name}_hip", jn.Revolute(HINGE), shift(0, 0.05 * np.sign(y)), thigh)
        b.add(f"{name}_shank", f"{name}_thigh", jn.Revolute(HINGE), shift(z=-0.25), shank)
        b.add(f"{name}_foot", f"{name}_shank", jn.Fixed(), shift(z=-0.25))
        q += [0.1 * np.sign(y), 0.6 * np.sign(x), -1.2 * np.sign(x)]
    robot, feet = b.build(), [f"{name}_foot" for name in ("lf", "rf", "lh", "rh")]
    place = {name: robot.pose(name, q) if held else None for name in feet}
    return robot.constrained({name: jn.Contact(contact, place[name]) for name in feet}), np.array(q)


def two_arms() -> tuple[jn.Model, np.ndarray]:
    """Two planar arms of three joints each that hold one plate from both sides: three more motors than motions."""
    b = jn.Builder()
    q = {"l": (0.8, 0.7, -0.3), "r": (-0.7, -0.9, 0.2)}
    for side, x in (("l", -0.5), ("r", 0.5)):
        at, parent = shift(x), "world"
        for i in range(3):
            b.add(f"{side}{i}", parent, jn.Revolute(HINGE), at, jn.Inertia(1.0 + i, (0.01, 0.02, 0.2), [0.02] * 3))
            at, parent = shift(z=0.4), f"{side}{i}"
    robot = b.build()
    start = np.array([*q["l"], *q["r"]])
    there = np.linalg.inv(robot.pose("r2", start)) @ robot.pose("l2", start)
    b.close("plate", "l2", "r2", jn.Fixed(), placement_b=there)
    return b.build(), start


def geared_parallelogram() -> tuple[jn.Model, np.ndarray]:
    """Two cranks kept parallel by a rod and a gear: how the two share forces depends on the angle."""
    b = jn.Builder()
    for name, x in (("a", 0.0), ("b", 0.5)):
        b.add(name, "world", jn.Revolute(HINGE), shift(x), jn.Inertia(1.0 + x, (0.2, 0, 0.1), [0.03] * 3))
        b.add(f"{name}_tip", name, jn.Fixed(), shift(0.3))
    b.close("rod", "a_tip", "b_tip", jn.Distance(0.5))
    b.close("gear", "a", "b", jn.Gear((0.0, 1.0)))
    return b.build(), np.array([0.7, 0.7])
