"""The same robot in other units of length, mass and time: whatever the motion determines is the same after conversion.

Units are powers of two, so that conversion rounds nothing. Numbers that are not determined by the motion, how redundant
rows share a load, which state `project` finds, which coordinates are independent, are defined by natural sizes, and so
are the same, too; and so are errors and warnings. Exceptions are calls whose arguments have units that jounce does not
know: the weights of `constrained_inverse_dynamics` and of regulators, and `atol` of `simulate`, are numbers in the
units of the robot, and so are their defaults.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import jounce as jn
from jounce import trajectory

Array = np.ndarray
DAY, NIGHT = (*range(60), 306, 313, 395), range(60, 1000)  # three that were wrong once


class Units(NamedTuple):
    """How many new units one old unit is."""

    length: float
    mass: float
    time: float

    def of(self, length: float = 0, mass: float = 0, time: float = 0) -> float:
        """What a number of these dimensions is multiplied by."""
        return float(self.length**length * self.mass**mass * self.time**time)


SI = Units(1.0, 1.0, 1.0)


# --- robots, drawn in any units -------------------------------------------------------------------------


def unit_vector(rng: np.random.Generator) -> Array:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def place(rng: np.random.Generator, u: Units) -> Array:
    x = rng.normal(size=4)
    w, a, b, c = x / np.linalg.norm(x)
    K = np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
    pose = np.eye(4)
    pose[:3, :3] = np.eye(3) + 2 * w * K + 2 * K @ K
    pose[:3, 3] = 0.5 * rng.normal(size=3) * u.length
    return pose


def inertia(rng: np.random.Generator, u: Units) -> jn.Inertia:
    spread = rng.normal(size=(4, 3)) * 0.2
    moments = sum(float(x @ x) * np.eye(3) - np.outer(x, x) for x in spread)
    mass = float(10 ** rng.uniform(-1, 1))
    return jn.Inertia(mass * u.mass, 0.2 * rng.normal(size=3) * u.length, mass * moments * u.of(2, 1))


JOINTS: dict[str, Callable[[np.random.Generator, Units], jn.Joint]] = {
    "revolute": lambda rng, u: jn.Revolute(unit_vector(rng), damping=0.2 * u.of(2, 1, -1), armature=0.1 * u.of(2, 1)),
    "prismatic": lambda rng, u: jn.Prismatic(unit_vector(rng), damping=0.2 * u.of(0, 1, -1), armature=0.1 * u.of(0, 1)),
    "helical": lambda rng, u: jn.Helical(unit_vector(rng), 0.3 * u.length),
    "cylindrical": lambda rng, u: jn.Cylindrical(unit_vector(rng)),
    "universal": lambda rng, u: jn.Universal(unit_vector(rng), unit_vector(rng)),
    "planar": lambda rng, u: jn.Planar(),
    "spherical": lambda rng, u: jn.Spherical(),
    "free": lambda rng, u: jn.Free(),
}
CLOSINGS: dict[str, Callable[[np.random.Generator, Units], object]] = {
    "fixed": lambda rng, u: jn.Fixed(),
    "revolute": lambda rng, u: jn.Revolute(unit_vector(rng)),
    "prismatic": lambda rng, u: jn.Prismatic(unit_vector(rng)),
    "helical": lambda rng, u: jn.Helical(unit_vector(rng), 0.2 * u.length),
    "cylindrical": lambda rng, u: jn.Cylindrical(unit_vector(rng)),
    "universal": lambda rng, u: jn.Universal((1, 0, 0), (0, 1, 0)),
    "planar": lambda rng, u: jn.Planar(),
    "spherical": lambda rng, u: jn.Spherical(),
    "on plane": lambda rng, u: jn.OnPlane(unit_vector(rng)),
    "on line": lambda rng, u: jn.OnLine(unit_vector(rng)),
}


class Drawn(NamedTuple):
    robot: jn.Model
    q: Array  # obeys all ties that have a place
    v: Array  # need not


def drawn(seed: int, u: Units) -> Drawn:
    """A tree of two to five bodies, sometimes with a rod, with one to three ties."""
    rng = np.random.default_rng(seed)
    b = jn.Builder(gravity=np.array([0.0, 0.0, -9.81]) * u.of(1, 0, -2))
    names, single = ["world"], []
    for i in range(int(rng.integers(2, 6))):
        kind = "free" if i == 0 and rng.random() < 0.4 else str(rng.choice(list(JOINTS)[:-1]))
        name = f"{kind} {i}"
        b.add(name, str(rng.choice(names[-2:])), JOINTS[kind](rng, u), place(rng, u), inertia(rng, u))
        names.append(name)
        single += [name] if kind in ("revolute", "prismatic", "helical") else []
    if rng.random() < 0.25:
        rod = jn.soft.Rod(0.4 * u.length, 0.02 * u.length, 1e3 * u.of(-3, 1), 1e5 * u.of(-1, 1, -2), check=False)
        b.add("rod", names[-1], None, place(rng, u), body=rod)
    free = b.build()
    units = trajectory.of(free, np.zeros(1), *([free.neutral()[None]] + 3 * [np.zeros((1, free.nv))]))
    q = free.integrate(free.neutral(), 0.7 * rng.normal(size=free.nv) * lengths(units.v_units, u))
    contacts: dict[str, object] = {}
    for k in range(int(rng.integers(1, 4))):
        how = rng.choice(["loop", "contact", "gear", "distance", "rolling", "again"])
        a, c = (str(x) for x in rng.choice(names, 2, replace=len(names) < 2))
        if how == "gear" and len(single) > 1:
            first, second = (str(x) for x in rng.choice(single, 2, replace=False))
            ratio = float(10 ** rng.uniform(-3, 3) * rng.choice([-1, 1]))
            by = u.length ** (int("prismatic" in second) - int("prismatic" in first))
            angle = [float(q[range(free.nq)[position(free, x)][0]]) for x in (first, second)]
            b.close(f"tie {k}", first, second, jn.Gear((angle[1] - ratio * by * angle[0], ratio * by)))
        elif how == "contact" and a != "world":
            kind = CLOSINGS[str(rng.choice(list(CLOSINGS)))](rng, u)
            contacts[a] = jn.Contact(kind, free.pose(a, q)) if rng.random() < 0.5 else kind
        elif how == "rolling" and a != "world":
            axis = unit_vector(rng) if rng.random() < 0.5 else None
            contacts[a] = jn.Rolling(0.1 * u.length, axis=axis, normal=unit_vector(rng))
        elif how == "distance" and a != c:
            poses = [free.pose(x, q) if x != "world" else np.eye(4) for x in (a, c)]
            apart = float(np.linalg.norm(poses[0][:3, 3] - poses[1][:3, 3]))
            if apart > 1e-3 * u.length:
                b.close(f"tie {k}", a, c, jn.Distance(apart))
        elif a != c:
            kind = CLOSINGS[str(rng.choice(list(CLOSINGS)))](rng, u)
            poses = [free.pose(x, q) if x != "world" else np.eye(4) for x in (a, c)]
            on_a = place(rng, u)
            there = np.linalg.inv(poses[1]) @ poses[0] @ on_a
            for again in range(2 if how == "again" else 1):  # redundant from then on
                b.close(f"tie {k} {again}", a, c, kind, placement_a=on_a, placement_b=there)
    robot = b.build()
    robot = robot.constrained(contacts) if contacts else robot  # type: ignore[arg-type]
    return Drawn(robot, q, rng.normal(size=robot.nv) * lengths(units.v_units, u) * u.of(0, 0, -1))


def position(robot: jn.Model, name: str) -> slice:
    return robot.position(name)


def lengths(units: tuple[str, ...], u: Units) -> Array:
    """Of coordinates, or of their rates but for time."""
    powers = {"rad": 0, "m": 1, "1": 0, "1/m": -1}
    return np.array([u.length ** powers[re.sub(r"/s$|/\(m s\)$", "/m" if "(m s)" in x else "", x)] for x in units])


# --- questions, with the dimensions of their answers ----------------------------------------------------


class Case:
    """A robot in some units, and factors that convert its numbers from SI."""

    def __init__(self, seed: int, u: Units) -> None:
        self.u = u
        self.robot, self.q, v = drawn(seed, u)
        rest = np.zeros((1, self.robot.nv))
        named = trajectory.of(self.robot, np.zeros(1), self.q[None], rest, rest, rest)
        self.Q, self.V = lengths(named.q_units, u), lengths(named.v_units, u)
        self.F = u.of(2, 1, -2) / self.V  # generalized forces
        self.v = v
        rng = np.random.default_rng(seed + 10**6)
        rates = np.array([u.of(0, 0, -k) for k in range(4)])[:, None]
        self.tau = rng.normal(size=(3, len(self.V))) * self.F * rates[:3]
        self.stack = np.concatenate([v[None], rng.normal(size=(2, len(v))) * self.V * u.of(0, 0, -1) * rates[1:3]])
        self.wrench = np.repeat(u.of(1, 1, -2) * np.array([1.0, u.length]), 3)

    def times(self, k: int) -> float:
        """Of the k-th derivative."""
        return self.u.of(0, 0, -k)

    def forces(self, found: dict[str, Array], extra: Array | float = 1.0) -> Iterator[tuple[str, Array, Any]]:
        """Wrenches (..., 6), and forces of gears (..., 2), by name; `extra`: factors besides."""
        for name, x in found.items():
            kind = next(c.kind for c in self.robot.constraints if c.name == name)
            own = self.wrench
            if isinstance(kind, jn.Gear):
                c = next(c for c in self.robot.constraints if c.name == name)
                own = np.array([self.F[self.robot.coordinate(j).start] for j in (c.a, c.b)])
            yield name, x, own * extra


Answers = dict[str, tuple[Array, Any]]  # a number, and its factor from SI
Question = Callable[[Case], Answers]


def stacked(factor: Array, case: Case, first: int, rows: int) -> Array:
    return factor * np.array([case.times(first + k) for k in range(rows)])[:, None]


def constrained_dynamics(c: Case) -> Answers:
    found = c.robot.constrained_dynamics(c.q, c.v, c.tau, wrench_frame="mixed")
    rates = np.array([c.times(k) for k in range(3)])[:, None]
    answers: Answers = {"acc": (found.acc, stacked(c.V, c, 2, 3))}
    return answers | {f"force of {n}": (x, f) for n, x, f in c.forces(found.forces, rates)}


def derivatives(c: Case) -> Answers:
    d = c.robot.constrained_dynamics_derivatives(c.q, c.v, c.tau[0])
    allowed = c.robot.independent_coordinates(c.q)  # along others, rows that are redundant here may not be
    A, by_q = c.V * c.times(2), c.V[allowed.columns]
    answers: Answers = {
        "acc_q": (d.acc_q @ allowed.G, A[:, None] / by_q),
        "acc_v": (d.acc_v, A[:, None] / (c.V * c.times(1))),
        "acc_tau": (d.acc_tau, A[:, None] / c.F),
    }
    for key, by in (("forces_v", c.V * c.times(1)), ("forces_tau", c.F)):
        answers |= {f"{key} {n}": (x, f[:, None] / by) for n, x, f in c.forces(getattr(d, key))}
    return answers | {f"forces_q {n}": (x @ allowed.G, f[:, None] / by_q) for n, x, f in c.forces(d.forces_q)}


def forward(c: Case) -> Answers:
    return {"acc": (c.robot.forward_dynamics(c.q, c.v, c.tau), stacked(c.V, c, 2, 3))}


def reduced(c: Case) -> Answers:
    lin = c.robot.linearize(c.q, c.v, c.tau[0])
    A, _ = lin.reduced()
    whole = np.concatenate([c.V, c.V * c.times(1)])
    assert lin.lift is not None
    assert lin.independent is not None
    onto = lin.lift @ lin.independent
    return {
        "size": (np.array(A.shape), 1.0),
        "A": (lin.A, whole[:, None] / whole * c.times(1)),
        "onto": (onto, whole[:, None] / whole),
    }


def project(c: Case) -> Answers:
    near = c.robot.integrate(c.q, 0.05 * c.V * np.sin(np.arange(len(c.V))))
    q, v = c.robot.project(near, c.stack)
    return {"q": (q, c.Q), "v": (v, stacked(c.V, c, 1, 3))}


def impact(c: Case) -> Answers:
    found = c.robot.impact(c.q, c.v, wrench_frame="world")
    answers: Answers = {"v": (found.v, c.V * c.times(1))}
    return answers | {f"impulse {n}": (x, f) for n, x, f in c.forces(found.impulses, c.u.time)}


def independent(c: Case) -> Answers:
    found = c.robot.independent_coordinates(c.q)
    return {"columns": (found.columns, 1.0), "G": (found.G, c.V[:, None] / c.V[found.columns])}


def jacobian(c: Case) -> Answers:
    J = c.robot.constraint_jacobian_derivatives(c.q, c.stack)
    rows, columns, loads, length = c.robot._natural_sizes()
    rates = np.array([c.times(k) for k in range(4)])[:, None, None]
    return {
        "J": (J / rows[:, None] * columns, rates),
        "coordinates": (columns, c.V),
        "loads": (loads / rows, 1.0),
        "length": (np.array(length), c.u.length),
        "residual": (c.robot.residual(c.q) / rows, 1.0),
    }


def inverse(c: Case) -> Answers:
    """With as many motors as needed for a unique answer to the question of what they do."""
    q, stack = c.robot.project(c.q, c.stack)
    chosen = c.robot.independent_coordinates(q)
    found = c.robot.constrained_inverse_dynamics(q, stack, actuated=chosen.columns)
    return {"tau": (found.tau, stacked(c.F, c, 0, 2))}


def tree(c: Case) -> Answers:
    """Calls that constraints have no say in."""
    r, n = c.robot.unconstrained(), len(c.V)
    power, rates = c.u.of(2, 1, -3), np.array([c.times(k) for k in range(4)])[:, None]
    M = c.u.of(2, 1) / c.V[:, None] / c.V
    return {
        "inverse_dynamics": (r.inverse_dynamics(c.q, c.stack), stacked(c.F, c, 0, 2)),
        "forward_dynamics": (r.forward_dynamics(c.q, c.v, c.tau), stacked(c.V, c, 2, 3)),
        "mass_matrix": (r.mass_matrix(c.q), M),
        "inverse_mass_matrix": (r.inverse_mass_matrix(c.q), 1 / M),
        "coriolis_matrix": (r.coriolis_matrix(c.q, c.v), M * c.times(1)),
        "gravity_force": (r.gravity_force(c.q), c.F),
        "kinetic_energy": (r.kinetic_energy(c.q, c.v), power * c.u.time),
        "potential_energy": (r.potential_energy(c.q) - r.potential_energy(r.neutral()), power * c.u.time),
        "center_of_mass": (r.center_of_mass(c.q), c.u.length),
        "linearize": (r.linearize(c.q, c.v, c.tau[0]).A[n:, :n], c.V[:, None] / c.V * c.times(2)),
        "regular rates": (rates, rates),
    }


QUESTIONS: dict[str, Question] = {
    "constrained_dynamics": constrained_dynamics,
    "constrained_dynamics_derivatives": derivatives,
    "forward_dynamics": forward,
    "linearize": reduced,
    "project": project,
    "impact": impact,
    "independent_coordinates": independent,
    "constraint_jacobian": jacobian,
    "constrained_inverse_dynamics": inverse,
    "tree": tree,
}


# --- comparison -----------------------------------------------------------------------------------------


def asked(question: Question, case: Case) -> tuple[Answers, list[str]]:
    """The answers and the names of warnings; an error is an answer by name."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            answers = question(case)
        except (jn.Error, ValueError) as fault:
            answers = {type(fault).__name__: (np.zeros(0), 1.0)}
    return answers, sorted({w.category.__name__ for w in said})


def differences(seed: int, u: Units) -> Iterator[str]:
    here, there = Case(seed, SI), Case(seed, u)
    if not here.robot.constraints:
        return
    for name, question in QUESTIONS.items():
        (mine, said), (other, said_there) = asked(question, here), asked(question, there)
        if set(mine) != set(other) or said != said_there:
            yield f"{seed} {name}: {set(mine) ^ set(other)}, {said} and {said_there}"
            continue
        sizes: dict[str, float] = {}  # of all answers of a kind; numbers in SI are some ones
        for key, (x, _) in mine.items():
            kind = key.split()[0]
            sizes[kind] = max(sizes.get(kind, 1.0), float(np.abs(x).max(initial=0.0)))
        for key, (x, _) in mine.items():
            y, factor = other[key]
            if np.shape(x) != np.shape(y):
                yield f"{seed} {name} {key}: {np.shape(x)} and {np.shape(y)}"
                continue
            off = float(np.abs(np.asarray(y, float) / factor - x).max(initial=0.0)) / sizes[key.split()[0]]
            if not off < 1e-6:  # unequal masses lose digits, in all units
                yield f"{seed} {name} {key}: off by {off:.1e}"


OTHER = [Units(2.0**10, 1.0, 1.0), Units(2.0**-10, 2.0**7, 2.0**3), Units(1.0, 2.0**-20, 2.0**-8)]


@pytest.mark.parametrize("u", OTHER, ids=["millimetres", "kilometres", "grains and minutes"])
def test_other_units(u: Units) -> None:
    wrong = [x for seed in DAY for x in differences(seed, u)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.night
@pytest.mark.parametrize("u", OTHER, ids=["millimetres", "kilometres", "grains and minutes"])
def test_other_units_of_many(u: Units) -> None:
    wrong = [x for seed in NIGHT for x in differences(seed, u)]
    assert not wrong, "\n".join(wrong)
