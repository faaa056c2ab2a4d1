"""Constrained dynamics of robots drawn by lot against 96 digits: nothing is silently wrong.

What jounce says without a warning must be true to 1e-8 of the largest entry of its kind: coordinates of one unit,
forces, moments. Where the state, rounded to sixteen digits, does not determine it as well as that, as moving the state
by its last digit shows, a warning or an error must say so; and only there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pytest

import jounce as jn
from oracles import virtual_work as exact
from oracles.constraints import Rank, Solution, blocks, forward_dynamics, rank, terms
from oracles.differentiate import _rounded
from oracles.ties import Gear
from random_ties import FAMILIES, GRAVITY, Draw

DAY, NIGHT, CHUNKS = 100, 5000, 20
WRONG = 1e-8
EPSILON = 2.0**-52
ORDER = 2
CONTRADICTION = 1e-5  # of the accelerations involved; jounce says so from 1e-6 on, and measures them in its own way


@dataclass
class Answer:
    """What a call returned, or None if it raised; and what it said."""

    value: object = None
    said: list[str] = field(default_factory=list)


def ask(call: Callable[..., object], *args: object) -> Answer:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, raised = call(*args), []
        except jn.SingularError as error:
            found, raised = None, [f"{type(error).__name__}: {error}"]
    return Answer(found, [f"{w.category.__name__}: {w.message}" for w in caught] + raised)


class Trial:
    """A draw, its state, and what the oracle says of it."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.model, self.names = draw.tied
        self.rate = np.sqrt(GRAVITY / draw.length)
        self.start = ask(self.model.project, draw.start, draw.rates)
        if self.start.value is not None:
            self.q, self.v = self.start.value

    def solved(self, order: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Solution:
        return forward_dynamics(self.draw.mechanism, self.draw.ties, q, v, tau[: order + 1])

    @cached_property
    def truth(self) -> Solution:
        return self.solved(ORDER, self.q, self.v, self.draw.tau)

    @cached_property
    def rank(self) -> Rank:
        return rank(self.draw.mechanism, self.draw.ties, self.q)

    # What is compared: for each kind its entries (r + 1, n), and what is large at each order (r + 1,).

    def accelerations(self, acc: np.ndarray) -> dict[str, np.ndarray]:
        d = self.draw
        kinds = {"rad": ~d.linear & ~d.geared, "m": d.linear & ~d.geared, "geared": d.geared}
        return {kind: acc[:, at] for kind, at in kinds.items() if at.any()}

    def loads(self, forces: list[np.ndarray]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        ties = [f for tie, f in zip(self.draw.ties, forces, strict=True) if not isinstance(tie, Gear)]
        found["force"] = np.concatenate([f[:, :3] for f in ties], axis=1)
        found["moment"] = np.concatenate([f[:, 3:] for f in ties], axis=1)
        for tie, force in zip(self.draw.ties, forces, strict=True):
            if isinstance(tie, Gear):
                found |= {"gear, first": force[:, :1], "gear, second": force[:, 1:]}
        return found

    @cached_property
    def floors(self) -> dict[str, float]:
        """What gravity does, at order zero: it is large even if the truth is zero."""
        d = self.draw
        weight = GRAVITY * d.heaviest
        usual = self.accelerations((d.speeds * self.rate**2)[None])
        return {kind: x.max() for kind, x in usual.items()} | {"force": weight, "moment": weight * d.length}

    @cached_property
    def contradicts(self) -> float:
        """What the acceleration leaves of redundant rows, in natural sizes: large if no motion obeys all rows."""
        d, worst = self.draw, 0.0
        for tie, one in zip(d.ties, self.truth.blocks, strict=True):
            sizes = terms(tie, one, self.truth.frames) @ np.maximum(np.abs(self.truth.acc[0]), d.speeds * self.rate**2)
            left, sizes = np.abs(_rounded(one.slip[1])), np.maximum(sizes, 1e-6 * sizes.max())
            worst = max(worst, *np.divide(left, sizes, out=np.zeros(len(left)), where=sizes > 0))
        return worst

    @cached_property
    def drops(self) -> bool:
        """Whether more rows are independent nearby."""
        d, rng = self.draw, np.random.default_rng(self.draw.seed)
        steps = 1e-3 * d.speeds * rng.uniform(-1, 1, (3, self.model.nv))
        near = (rank(d.mechanism, d.ties, self.model.integrate(self.q, step)) for step in steps)
        return max(len(r.kept) for r in near) > len(self.rank.kept)

    def off(self, found: dict[str, np.ndarray], true: dict[str, np.ndarray]) -> dict[str, float]:
        """The largest error of each kind, at any order.

        Coordinates count as large if they are a hundredth of what the others are, each in its natural size: equations
        have rounding errors of the size of all their terms.
        """
        worst, sizes = {}, self.accelerations(self.draw.speeds[None])
        most = np.max(
            [(np.abs(x) / sizes[kind]).max(axis=1) for kind, x in true.items() if kind in sizes] or [0.0], axis=0
        )
        for kind, value in true.items():
            large = np.abs(value).max(axis=1)
            # a gear's own force counts as large with all its derivatives, as weights do
            floor = self.floors.get(kind, large[0] if kind.startswith("gear, ") else 0.0)
            large = np.maximum(large, floor * self.rate ** np.arange(len(value)))
            if kind in sizes:
                large = np.maximum(large, 1e-2 * most * sizes[kind].min())
            if kind == "moment":
                large = np.maximum(large, self.draw.length * np.abs(true["force"]).max(axis=1))
            error = np.abs(found[kind] - value).max(axis=1)
            off = np.divide(error, large, out=np.where(error > 0, np.inf, 0.0), where=large > 0)
            worst[kind] = float(off.max())
        return worst

    def compared(self, order: int, truth: Solution, found: object) -> dict[str, float]:
        """Of a `Solution` or what jounce returns."""
        acc, expected = (x.acc[: order + 1] for x in (found, truth))
        worst = self.off(self.accelerations(acc), self.accelerations(expected))
        if not truth.redundant:
            forces = found.forces() if isinstance(found, Solution) else [found.forces[n] for n in self.names]
            mine, true = ([f[: order + 1] for f in x] for x in (forces, truth.forces()))
            worst |= self.off(self.loads(mine), self.loads(true))
        return worst

    def sensitivity(self, order: int) -> dict[str, float]:
        """By how much the answer changes when the last digits of the state do."""
        d, rng = self.draw, np.random.default_rng(self.draw.seed)
        sizes = np.concatenate([np.zeros(0), *(self._sizes(b, at) for b, at in self._joints())])
        worst: dict[str, float] = {}
        for _ in range(3):
            signs = [rng.choice([-1.0, 1.0], n) for n in (self.model.nq, self.model.nv)]
            q = exact._fixed(self.q) + exact._fixed(EPSILON * signs[0] * np.maximum(np.abs(self.q), sizes))
            shift = d.speeds * np.abs(self.v / d.speeds).max()
            v = exact._fixed(self.v) + exact._fixed(EPSILON * signs[1] * shift)
            moved = self.solved(order, q, v, d.tau)
            if moved.redundant != self.truth.redundant:
                return dict.fromkeys(("rad", "force"), np.inf)
            worst = {k: max(x, worst.get(k, 0.0)) for k, x in self.compared(order, self.truth, moved).items()}
        return worst

    def _joints(self) -> list[tuple[object, slice]]:
        tree = self.draw.robot.tree
        return list(zip(tree.bodies, tree.v_slices(), strict=True))

    def _sizes(self, body: object, at: slice) -> np.ndarray:
        """What is large for each entry of q."""
        if body.joint in ("spherical", "free"):
            return np.concatenate([np.full(body.nq - 4, self.draw.length), np.ones(4)])
        return self.draw.speeds[at]


# --- what must hold -----------------------------------------------------------------------------------------


def faults(draw: Draw) -> list[str]:
    trial = Trial(draw)
    if trial.start.said:
        return [f"project: {trial.start.said}"]
    found = [] if trial.rank.doubtful else [*projected(trial), *rank_and_impact(trial)]
    for order in (0, ORDER):
        found += dynamics(trial, order)
    return [f"{draw}: {fault}" for fault in found]


def projected(trial: Trial) -> list[str]:
    """The residuals of the state, by the oracle, in natural sizes."""
    d, found = trial.draw, []
    speed = exact._fixed(trial.v)[None]
    frames = d.mechanism.frames(exact._fixed(trial.q), speed)
    for name, tie, one in zip(
        trial.names, d.ties, blocks(d.mechanism, d.ties, exact._fixed(trial.q), speed), strict=True
    ):
        sizes = terms(tie, one, frames)
        there, slip = np.abs(_rounded(one.position[0])), np.abs(_rounded(one.slip[0]))
        room = np.maximum(sizes @ d.speeds, 0.0)
        if there.size and there.max() > 1e-12 * room.max() + 1e-14 * d.length:
            found.append(f"project leaves {name} open by {there.max():.1e}, where {room.max():.1e} is large")
        if (slip > 1e-12 * room * trial.rate + 1e-14 * d.length * trial.rate).any():
            found.append(f"project leaves a speed of {name} of {slip}, where {room * trial.rate} is large")
    return found


def rank_and_impact(trial: Trial) -> list[str]:
    d, found = trial.draw, []
    free = ask(trial.model.independent_coordinates, trial.q)
    expected = trial.model.nv - len(trial.rank.kept)
    if free.value is None:
        found.append(f"independent_coordinates: {free.said}")
    elif free.value.G.shape[1] != expected:
        found.append(f"independent_coordinates has {free.value.G.shape[1]}, expected {expected}")
    struck = ask(trial.model.impact, trial.q, trial.v)
    if struck.value is None:
        found.append(f"impact: {struck.said}")
    elif (off := np.abs(struck.value.v - trial.v) / (d.speeds * trial.rate)).max() > 1e-9:
        found.append(f"impact changes a velocity that obeys by {off.max():.1e}")
    return found


def dynamics(trial: Trial, order: int) -> list[str]:
    d = trial.draw
    answer = ask(trial.model.constrained_dynamics, trial.q, trial.v, d.tau[: order + 1])
    if trial.contradicts > CONTRADICTION:
        return [] if answer.said else [f"silent, order {order}: rows contradict each other by {trial.contradicts:.0e}"]
    off = {} if answer.value is None else trial.compared(order, trial.truth, answer.value)
    wrong = {kind: x for kind, x in off.items() if not x < WRONG}
    if not answer.said and (not wrong or trial.rank.doubtful):  # a row of which a millionth is left may count or not
        return []
    moved = trial.sensitivity(order)
    text = f"order {order}: off by { {k: f'{x:.0e}' for k, x in wrong.items()} }, said {answer.said}, while its last "
    text += f"digits move it by { {k: f'{x:.0e}' for k, x in moved.items()} }"
    if not answer.said:
        return [f"silent, {text}"]
    judged = any("PrecisionWarning" not in x for x in answer.said)  # that digits may be lost is no judgement
    if judged and not trial.truth.doubtful and not trial.drops and max(moved.values()) < 1e-2 * WRONG:
        return [f"without need, {text}"]
    return []


def check(family: str, seeds: range) -> None:
    wrong = [fault for seed in seeds for fault in faults(FAMILIES[family](seed))]
    assert not wrong, "\n".join([f"of {len(seeds)}:", *wrong])


@pytest.mark.parametrize("family", FAMILIES)
def test_robots_drawn_by_lot(family: str) -> None:
    check(family, range(DAY))


# Found among others than those of the night.
SEEN = {
    "the force of a gear is far smaller than those that hold a ball": ("rolling", (15898, 18490)),
    "forces that cancel push what hardly moves": ("rolling", (16527,)),
    "the robot is far larger than the levers on which it is held": ("rolling", (22068,)),
    "what cannot move is tried": ("rolling", (10170,)),
    "a large ball rolls on short levers": ("rolling", (104433,)),
    "something small spins fast far away: errors grow with every order": ("rolling", (40010, 42523, 48256)),
    "an axis goes through what is held, wherever along it its joint is": ("rolling", (45429, 46894)),
    "derivatives are small beside what large accelerations become": ("loops with gears", (47229, 51461)),
    "directions of a joint are perpendicular only to sixteen digits": ("rolling", (702745,)),
    "a row contradicts a combination of others that has little of each": ("rolling", (800853,)),
    "behind its gear a motor is 1e30 times as heavy as the rest": ("loops with gears", (19224, 21278)),
}


@pytest.mark.parametrize("what", SEEN)
def test_robots_that_were_wrong(what: str) -> None:
    family, seeds = SEEN[what]
    for seed in seeds:
        draw = FAMILIES[family](seed)
        wrong = faults(draw) + faults(replace(draw, ties=draw.ties[::-1]))
        assert not wrong, "\n".join(wrong)


def test_what_is_said_does_not_depend_on_the_unit_of_mass() -> None:
    """Of small numbers, too: digits of a force that are lost are lost in any unit."""
    kg, said = FAMILIES["rolling"](702745), []
    for unit in (1.0, 2.0**-60, 2.0**60):
        parts = [
            replace(p, spec=replace(p.spec, mass=unit * p.spec.mass, inertia=unit * p.spec.inertia))
            for p in kg.robot.parts
        ]
        draw = replace(kg, robot=replace(kg.robot, parts=tuple(parts)), tau=unit * kg.tau)
        trial = Trial(draw)
        said.append(ask(trial.model.constrained_dynamics, trial.q, trial.v, draw.tau).said)
    assert said[0] == said[1] == said[2]
    assert "derivative 2 of the forces" in said[0][0]


@pytest.mark.night
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_robots_drawn_by_lot(family: str, chunk: int) -> None:
    count = (NIGHT - DAY) // CHUNKS
    check(family, range(DAY + chunk * count, DAY + (chunk + 1) * count))


# --- the test itself ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_off_is_seen(family: str) -> None:
    """A tie, or a force, that is not quite that of the robot in jounce."""
    seen = []
    for seed in range(10):
        draw = FAMILIES[family](seed)
        trial = Trial(draw)
        trial.truth = trial.solved(ORDER, trial.q, trial.v, draw.tau * (1 + 1e-6))
        pushed = bool(dynamics(trial, 0))
        trial = Trial(draw)
        tie = draw.ties[0]
        place = tie.b.place.copy()
        place[:3, 3] += 1e-7 * draw.length
        trial.draw = replace(draw, ties=(replace(tie, b=replace(tie.b, place=place)), *draw.ties[1:]))
        seen.append((pushed, bool(projected(trial))))
    forces, places = np.sum(seen, axis=0)
    assert forces >= 5  # what cannot move does not show them
    assert places >= 8
