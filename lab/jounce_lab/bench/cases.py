"""The races: paper A's trees over N and r (its Table 4); Panda, ANYmal and TALOS, the last two also standing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .hover import CONTROL, KNOTS
from .ours import STACKS
from .race import Problem
from .subjects import FLYING, INDEPENDENT, on_its_feet, subject, tree_name

ROBOTS = ("Panda", "ANYmal", "TALOS")  # as they are loaded by default
STANDING = ROBOTS[1:]
BATCH = 4096
_MATRICES = (
    "bias force",
    "mass matrix",
    "Jacobian",
    "inverse mass matrix",
    "derivatives of inverse dynamics",
    "derivatives of forward dynamics",
    "linearization",
)
_GRAPHS = {
    "inverse": ("CasADi", "CasADi, body axes", "CasADi, cse"),
    "forward": ("CasADi, body axes", "CasADi, cse"),
}


@dataclass(frozen=True)
class Case:
    """A problem and the peers that are to solve it."""

    quantity: str
    subject: str
    order: int = 0
    peers: tuple[str, ...] = ()
    states: int = 1
    threads: int = 1

    @property
    def name(self) -> str:
        """As ``--only`` matches it, such as "inverse dynamics, r = 5, N = 7, 4096 states, 2 threads"."""
        order = f", r = {self.order}" if self.quantity in STACKS else ""
        states = f", {self.states} states" if self.states > 1 else ""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.quantity}{order}, {self.subject}{states}{threads}"

    def problem(self) -> Problem:
        """Random numbers, the same in every run.

        Raises:
            LeftOut: the robot is not available.
        """
        robot = subject(self.subject)
        if self.quantity == "constrained dynamics":
            robot = on_its_feet(robot)
        rng, n = np.random.default_rng(1), robot.model.nv
        lead = (self.states,) if self.states > 1 else ()
        q = robot.model.random_configuration(rng, lead)
        v, tau = rng.normal(size=(*lead, self.order + 2, n)), rng.normal(size=(*lead, self.order + 1, n))
        if robot.model.constraints:
            v[0] = robot.model.project(q, v[0])[1]
        return Problem(robot, self.quantity, self.order, self.states, q, v, tau)


def cases(full: bool) -> list[Case]:
    """All cases, those with goals first."""
    return [*_robots(), *_standing(), *_control(), *_batches(full), *_trees(full)]


def _robots() -> list[Case]:
    found = []
    for name in ROBOTS:
        found += [Case(f"{kind} dynamics", name, 0, ("Pinocchio",)) for kind in ("inverse", "forward")]
        found += [Case("inverse dynamics", name, 5, ("Pinocchio",))]
        found += [Case(quantity, name, 0, ("Pinocchio",)) for quantity in _MATRICES]
    for name in (name + INDEPENDENT for name in ROBOTS):
        found += [Case(f"{kind} dynamics", name, 0, ("Pinocchio", "MuJoCo")) for kind in ("inverse", "forward")]
        others = {"bias force": ("adam",), "mass matrix": ("adam",)}
        found += [Case(quantity, name, 0, ("Pinocchio", *others.get(quantity, ()))) for quantity in _MATRICES]
    return found


def _standing() -> list[Case]:
    """Robots whose feet are fixed, for which Pinocchio has the acceleration only."""
    peers = "Pinocchio", "Pinocchio, lcaba"
    found = []
    for name in (robot + joints for joints in ("", INDEPENDENT) for robot in STANDING):
        found.append(Case("constrained dynamics", name, 0, peers))
        found.append(Case("constrained dynamics", name, 5, ("jounce, r = 0", *peers)))
    return found


def _control() -> list[Case]:
    """Regulators about a hover and along a short motion, and linear systems in discrete time."""
    found = []
    for name in FLYING:
        for quantity in CONTROL:
            peers = ("SciPy",) if quantity == "regulators" else ("SciPy", "python-control")
            found.append(Case(quantity, name, 0, peers, 1 if quantity == "regulator" else KNOTS))
    return found


def _batches(full: bool) -> list[Case]:
    found = []
    for order in (0, 5):
        there = ("Pinocchio", "JAX jet") if order == 0 else ()
        graph = ("CasADi, cse, compiled",) if full or order == 0 else ()
        found.append(Case("inverse dynamics", tree_name(7), order, ("jounce, one state", *there, *graph), BATCH))
        found.append(Case("inverse dynamics", tree_name(7), order, ("jounce, one thread",), BATCH, threads=2))
    return found


def _trees(full: bool) -> list[Case]:
    """Sweeps over N at r = 0 and 5, and over r at N = 7 and 101."""
    peers: dict[tuple[str, int, int], tuple[str, ...]] = {}
    for bodies in (6, 11, 21, 41, 101, 201, 501, 996) if full else (6, 21, 101, 996):
        for kind in ("inverse", "forward"):
            peers[kind, bodies, 0] = ("Pinocchio", "MuJoCo")
            peers[kind, bodies, 5] = ()
        if full and bodies <= 101:
            peers["inverse", bodies, 0] += ("CasADi", "CasADi, cse, compiled")
            peers["forward", bodies, 0] += ("CasADi, body axes", "CasADi, cse, compiled")
            for kind, graphs in _GRAPHS.items():
                peers[kind, bodies, 5] += (*graphs, "CasADi, cse, compiled")
    for bodies in (7, 101):
        for order in range(11) if full else (0, 2, 5, 10):
            for kind, graphs in _GRAPHS.items():
                asked = list(peers.get((kind, bodies, order), ("Pinocchio", "MuJoCo") if order == 0 else ()))
                if kind == "inverse" and _is_for_jax(bodies, order, full):
                    asked.insert(0, "JAX jet")
                if full or bodies == 7:
                    asked += graphs
                elif kind == "inverse" and order == 5:
                    asked += ["CasADi, body axes"]
                if order in (0, 2, 5) and (full or bodies == 7):
                    asked += ["CasADi, cse, compiled"]
                peers[kind, bodies, order] = tuple(dict.fromkeys(asked))
    found = [Case(f"{kind} dynamics", tree_name(bodies), order, who) for (kind, bodies, order), who in peers.items()]
    return sorted(found, key=lambda case: (case.order != 5 or "JAX jet" not in case.peers, case.order))


def _is_for_jax(bodies: int, order: int, full: bool) -> bool:
    if not full:
        return (bodies, order) == (7, 2)
    return order in ((0, 2, 5, 6) if bodies == 7 else (0, 5, 6))
