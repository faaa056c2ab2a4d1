"""Random robots with two arms tied to each other, to the world or to a platform, and states that obey."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import jounce as jn

BODIES = {
    "rigid": {},
    "floating": {"floating": True},
    "soft": {"soft": True},
    "followers": {"follows": True},
    "all of it": {"floating": True, "soft": True, "follows": True},
}

# Given a random axis, and another one.
CLOSINGS: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
    "fixed": lambda a, b: jn.Fixed(),
    "revolute": lambda a, b: jn.Revolute(a),
    "prismatic": lambda a, b: jn.Prismatic(a),
    "helical": lambda a, b: jn.Helical(a, 0.3),
    "cylindrical": lambda a, b: jn.Cylindrical(a),
    "universal": lambda a, b: jn.Universal(a, b),
    "planar": lambda a, b: jn.Planar(),
    "spherical": lambda a, b: jn.Spherical(),
    "distance": lambda a, b: jn.Distance(0.7),
    "on a plane": lambda a, b: jn.OnPlane(a),
    "on a line": lambda a, b: jn.OnLine(a),
    "ball": lambda a, b: jn.Rolling(0.2, normal=a),
    "wheel": lambda a, b: jn.Rolling(0.2, axis=b, normal=a),
}


def placed(rng: np.random.Generator) -> np.ndarray:
    pose = np.eye(4)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose[:3, :3] = turn * np.sign(np.linalg.det(turn))
    pose[:3, 3] = rng.uniform(-0.3, 0.3, 3)
    return pose


def some_inertia(rng: np.random.Generator) -> jn.Inertia:
    return jn.Inertia(rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), np.diag(rng.uniform(0.1, 0.15, 3)))


def arms(
    rng: np.random.Generator, *, floating: bool = False, soft: bool = False, follows: bool = False
) -> tuple[jn.Builder, str, str]:
    """A builder, and the ends of the arms a and b; rods are soft enough for derivatives to keep their digits."""
    builder = jn.Builder(gravity=(0.7, -0.4, -9.6))
    builder.add("base", "world", jn.Free() if floating else jn.Spherical(), placed(rng), some_inertia(rng))
    ends = []
    for arm in "ab":
        end = "base"
        axes = rng.normal(size=(4, 3))
        joints = [jn.Revolute(axes[0]), jn.Prismatic(axes[1]), jn.Spherical(), jn.Revolute(axes[3])]
        if follows and arm == "b":
            joints[3] = jn.Revolute(axes[3], follows=jn.Follow("a3", 0.7, 0.1))
        for i, joint in enumerate(joints):
            builder.add(f"{arm}{i}", end, joint, placed(rng), some_inertia(rng))
            end = f"{arm}{i}"
        if soft:
            rod = jn.soft.Rod(0.3, 0.03, 1050.0, 2e4, poisson=0.4, damping=1e-3, nodes=4, check=False)
            builder.add(f"{arm}rod", end, None, placed(rng), body=rod)
            end = f"{arm}rod"
        ends.append(end)
    return builder, *ends


@dataclass(frozen=True, eq=False)
class Case:
    """A robot with constraints, the same one without, and a state that obeys them."""

    held: jn.Model
    free: jn.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray  # a stack of order + 1


def _case(free: jn.Model, held: jn.Model, rng: np.random.Generator, order: int) -> Case:
    q, _ = held.project(held.random_configuration(rng), np.zeros(held.nv))
    v = held.project(q, rng.normal(size=held.nv))[1]
    return Case(held, free, q, v, rng.normal(size=(order + 1, held.nv)))


def loop(closing: str, bodies: str, order: int, seed: int = 0) -> Case:
    """The arms are tied to each other; in the middle of the rod if they are soft."""
    rng = np.random.default_rng(seed)
    builder, a, b = arms(rng, **BODIES[bodies])
    if "soft" in BODIES[bodies]:
        builder.add("loop.a", a, jn.Fixed(), at=0.15)  # as in close() itself, so that the free robot has it, too
        a = "loop.a"
    free = builder.build()
    if closing == "gear":
        builder.close("loop", "a0", "b0", jn.Gear((0.1, 0.5, 0.2, -0.3)))
    else:
        kind = CLOSINGS[closing](*rng.normal(size=(2, 3)))
        builder.close("loop", a, b, kind, placement_a=placed(rng), placement_b=placed(rng))
    return _case(free, builder.build(), rng, order)


def contacts(bodies: str, order: int, seed: int = 0) -> Case:
    """One hand slides on a rail, the other is held by a ball joint; if the base floats, a foot of it rolls."""
    rng = np.random.default_rng(seed)
    builder, a, b = arms(rng, **BODIES[bodies])
    free = builder.build()
    held = {a: jn.Prismatic(rng.normal(size=3)), b: jn.Spherical()}
    if "floating" in BODIES[bodies]:
        held["base"] = jn.Rolling(0.2)
    return _case(free, free.constrained(held), rng, order)


def given_back(case: Case, found: jn.ConstrainedDynamics) -> dict[str, np.ndarray]:
    """The forces as wrenches in the world, on first bodies and with opposite sign on second ones."""
    wrenches: dict[str, np.ndarray] = {}
    for record in case.held.constraints:
        force = found.forces[record.name]
        pairs = [(record.name, force)] if record.contact else [(record.a, force), (record.b, -force)]
        for body, wrench in pairs:
            if body != "world":
                wrenches[body] = wrenches.get(body, 0.0) + wrench
    return wrenches
