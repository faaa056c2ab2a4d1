"""Robots drawn by lot with soft bodies in shapes near and far from straight, and what they answer with any nodes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

import jounce as jn
from jounce.parts.sections import SoftBody

ORDERS = 6  # the quantity and its derivatives
PROMISED = np.array([1e-6, 1e-6, 1e-6, 1e-3, 1e-3, 1e-3])  # of the largest entry of each


Answer = Callable[[jn.Model], np.ndarray]  # (orders, ...) of a robot


class Bent:
    """A robot, a state of it, and the same robot with converged nodes and steps."""

    def __init__(self, seed: int, pool: int = 0) -> None:
        """pool: the number of bodies to choose from, which are made only once; 0 for bodies of its own."""
        rng = np.random.default_rng(seed)
        builder = jn.Builder(gravity=rng.normal(size=3) * rng.choice([0.0, 5.0]))
        parent = "world"
        if rng.random() < 0.3:
            builder.add("base", "world", jn.Free(), inertia=self._inertia(rng))
            parent = "base"
        for i in range(rng.choice([1, 1, 2, 3])):
            if rng.random() < 0.4:
                joint = jn.Revolute(rng.normal(size=3))
                builder.add(f"link{i}", parent, joint, placement=self._placement(rng), inertia=self._inertia(rng))
                parent = f"link{i}"
            body = pooled(int(rng.integers(pool))) if pool else soft_body(rng)
            builder.add(f"soft{i}", parent, placement=self._placement(rng), body=body)
            parent = f"soft{i}"
        if rng.random() < 0.5:
            builder.add("tool", parent, jn.Fixed(), placement=self._placement(rng), inertia=self._inertia(rng))
        self.robot = builder.build()
        self.truth = refined(self.robot, 4)
        self.q = self._state(rng)
        self.stack = rng.normal(size=(8, self.robot.nv)) / self._sizes()
        self.orders = ORDERS if rng.random() < 0.3 else 3
        rows = self.truth.inverse_dynamics(self.q, self.stack[: self.orders + 1])
        self.tau = rows if rng.random() < 0.5 else rng.normal(size=rows.shape) * np.abs(rows).max()

    def converged(self, answer: Answer) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer(self.truth)

    @cached_property
    def condition(self) -> float:
        """Of the mass matrix."""
        return float(np.linalg.cond(self.truth.mass_matrix(self.q)))

    def rounding(self, answer: Answer, solves: bool) -> np.ndarray:
        """What it may take of each order."""
        return 10 * np.maximum(self.scatter(answer), self.condition * 2.2e-16 if solves else 0.0)

    def scatter(self, answer: Answer) -> np.ndarray:
        """How far robots whose nodes have converged differ: nobody knows more digits."""
        truth = self.converged(answer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.max([apart(answer(refined(self.robot, times)), truth) for times in (3, 5, 6)], axis=0)

    def least_apart(self, answer: Answer, given: np.ndarray) -> np.ndarray:
        """How far each order is from the nearest of some converged answers, which differ by their own rounding."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.min([apart(given, answer(refined(self.robot, times))) for times in (2, 3, 6)], axis=0)

    @staticmethod
    def _inertia(rng: np.random.Generator) -> jn.Inertia:
        size = 10.0 ** rng.uniform(-2, 0)
        return jn.Inertia(size, com=0.05 * rng.normal(size=3), rotational=size * 0.01 * np.ones(3))

    @staticmethod
    def _placement(rng: np.random.Generator) -> np.ndarray:
        return jn.placement(xyz=0.1 * rng.normal(size=3), rpy=rng.normal(size=3))

    def _state(self, rng: np.random.Generator) -> np.ndarray:
        q = self.robot.random_configuration(rng)
        for b in self.robot.bodies:
            if b.soft is None:
                continue
            most, _ = b.soft.deformation()
            turns, strain = 10.0 ** rng.uniform(-2.0, 1.0), rng.uniform(0.0, 0.3)
            shape = rng.uniform(-1.0, 1.0, b.soft.n)
            bends = most[3:].max(axis=0) > 0
            turned = np.linalg.norm(np.abs(shape) @ most[3:].T)
            strained = np.linalg.norm(np.abs(shape * ~bends) @ most[:3].T)
            shape[bends] *= 2 * np.pi * turns / max(turned, 1e-300)
            shape[~bends] *= strain / max(strained, 1e-300)
            q[self.robot.position(b.shape_name)] = shape
        return q

    def _sizes(self) -> np.ndarray:
        sizes = np.ones(self.robot.nv)
        for b in self.robot.bodies:
            if b.soft is not None:
                sizes[self.robot.coordinate(b.shape_name)] = b.soft.deformation()[0].max(axis=0)
        return sizes


@cache
def pooled(k: int) -> SoftBody:
    return soft_body(np.random.default_rng([7, k]))


@cache
def more_nodes(body: SoftBody, times: int) -> SoftBody:
    return body.refined(times * body.resolution)


def soft_body(rng: np.random.Generator) -> SoftBody:
    """A rod, mostly, of any basis, with any number of nodes."""
    length, radius = 10.0 ** rng.uniform(-1.5, 0.5), 10.0 ** rng.uniform(-2.5, -1.0)
    young, damping = 10.0 ** rng.uniform(3, 6), 10.0 ** rng.uniform(-3, -1)
    if rng.random() < 0.08:
        nodes = None if rng.random() < 0.5 else int(rng.integers(3, 20))
        return jn.soft.VariableRadius(length, 0.1 * length, 1000.0, young, damping=damping, nodes=nodes)
    strains = ("shear_x", "shear_y", "stretch", "bend_x", "bend_y", "twist")
    some = [s for s in strains if rng.random() < 0.5] or ["bend_y"]
    kind = rng.integers(0, 7)
    strain: Any = jn.soft.constant_curvature(planar=bool(rng.random() < 0.3), elongation=bool(rng.random() < 0.7))
    if kind == 3:
        strain = jn.soft.constant_strain(*some)
    elif kind == 4:
        strain = jn.soft.polynomial({name: int(rng.integers(0, 4)) for name in some[:3]})
    elif kind == 5:
        strain = jn.soft.gaussian(rng.uniform(0.3, 0.7), rng.uniform(0.1, 0.5) * length)
    elif kind == 6:
        wave = int(rng.integers(1, 3))
        strain = lambda s: np.array([[0], [0], [0], [np.cos(wave * np.pi * s / length) / length], [1 / length], [0]])  # noqa: E731
    nodes = None if rng.random() < 0.6 else int(10.0 ** rng.uniform(0.5, 1.6))
    tip = radius * rng.uniform(0.2, 1.0)
    rest = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    if rng.random() < 0.2:
        rest[3:] = rng.normal(size=3) * 2 / length
    actuators = [tendon(rng, f"tendon {k}", length, radius) for k in range(rng.integers(0, 3))]
    return jn.soft.Rod(
        length,
        radius * length if rng.random() < 0.7 else (radius * length, tip * length),
        1000.0,
        young,
        damping=damping,
        strain=strain,
        rest=rest,
        section="disk" if rng.random() < 0.8 else "line",
        nodes=nodes,
        actuators=actuators,
    )


def tendon(rng: np.random.Generator, name: str, length: float, radius: float) -> jn.soft.Actuator:
    """Straight, or a helix of up to six turns."""
    turns, away = rng.choice([0.0, rng.uniform(0.0, 6.0)]), 0.8 * radius * length

    def route(s: float) -> tuple[float, float]:
        angle = 2 * np.pi * turns * s / length
        return away * np.cos(angle), away * np.sin(angle)

    return jn.soft.Tendon(name, route) if rng.random() < 0.7 else jn.soft.Chamber(name, route, area=1e-4)


def refined(robot: jn.Model, times: int) -> jn.Model:
    """The same robot with so many times the nodes and steps of its soft bodies, unchecked."""
    bodies = [b if b.soft is None else replace(b, soft=more_nodes(b.soft, times)) for b in robot.bodies]
    return jn.Model(bodies, robot.gravity, robot.constraints)


def questions(bent: Bent) -> dict[str, tuple[bool, Answer]]:
    """By name: whether equations are solved, and the answer."""
    q, v, orders = bent.q, bent.stack, bent.orders
    place = bent.robot.body_names[-1]
    asked: dict[str, tuple[bool, Answer]] = {
        "M": (False, lambda robot: robot.mass_matrix_derivatives(q, v[: orders - 1])),
        "torques": (False, lambda robot: robot.inverse_dynamics(q, v[: orders + 1])),
        "accelerations": (True, lambda robot: robot.forward_dynamics(q, v[0], bent.tau[:orders])),
        "poses": (False, lambda robot: robot.pose_derivatives(q, v[: orders - 1])),
        "J": (False, lambda robot: robot.jacobian_derivatives(place, q, v[: orders - 1])),
        "A": (False, lambda robot: robot.actuation_matrix(q)[None]),
    }
    soft = [b for b in bent.robot.bodies if b.soft is not None]
    name, along = soft[-1].name, soft[-1].soft.length * np.array([0.3, 1.0])
    return asked | {"backbone": (False, lambda robot: robot.backbone(name, q, along)[None])}


def faults(seed: int, pool: int = 0, most: int = 7) -> list[str]:
    """What was silently wrong, or warned of without need, of the answers to at most so many questions."""
    bent = Bent(seed, pool)
    found = []
    asked = list(questions(bent).items())
    for k in np.random.default_rng([seed, 1]).permutation(len(asked))[:most]:
        name, (solves, answer) = asked[k]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                given = answer(bent.robot)
            except jn.SingularError as fault:
                own = np.linalg.cond(refined(bent.robot, 1).mass_matrix(bent.q))  # with few nodes it may be singular
                if not solves or own < 1e12:
                    found.append(f"{seed}: {name} is refused (cond(M) {own:.0e}): {fault}")
                continue
        warned = any(issubclass(w.category, jn.PrecisionWarning) for w in caught)
        off = apart(given, bent.converged(answer))
        if warned:
            # Half of what rounding explains at most, as the check knows an error within a factor of two.
            need = np.full(len(off), 5 * bent.condition * 2.2e-16 if solves else 0.0)
            need[3:] = np.minimum(need[3:], 1e-4)  # such losses are to be told
            own = apart(given, bent.converged(answer), 0.0)
            bar = np.maximum(1e-9, need)
            if (np.maximum(off, own) < bar).all() and (bent.scatter(answer) < bar).all():
                found.append(f"{seed}: {name} is off by {off} only, and warned of: {caught[0].message}")
        elif (off > PROMISED[: len(off)]).any() and not (solves and bent.condition > 1e14):  # singular but for rounding
            rounding = bent.rounding(answer, solves)
            if solves:
                rounding[3:] = 0.0  # such losses are to be told
            off[3:] = np.minimum(off, bent.least_apart(answer, given))[3:]
            if (off > np.maximum(PROMISED[: len(off)], rounding)).any():
                found.append(f"{seed}: {name} is off by {off} without a warning (rounding {rounding})")
    return found


def apart(x: np.ndarray, y: np.ndarray, zero: float = 1e-10) -> np.ndarray:
    """By how much each order differs, relative to its largest entry, or a part of the largest of all orders."""
    rows = len(y)
    a, b = x.reshape(rows, -1), y.reshape(rows, -1)
    size = np.abs(b).max(axis=1, initial=0.0)
    size = np.maximum(size, zero * size.max(initial=0.0))  # derivatives that are zero but for rounding
    size = np.maximum(size, 1e-25)  # such as the inertia of a line that turns about itself
    return np.abs(a - b).max(axis=1, initial=0.0) / size
