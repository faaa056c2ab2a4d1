"""How fast jounce should be, as ratios within one run, and whether it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .cases import BATCH, ROBOTS, STANDING, Case
from .subjects import tree_name


@dataclass(frozen=True)
class Goal:
    """The peer should take at least `ratio` times as long as jounce in the race `case`."""

    text: str
    case: str
    peer: str
    ratio: float


def goals(instruction_set: str) -> list[Goal]:
    """All goals; the one for batches depends on the vector width."""
    found = []
    for bodies in (7, 101):
        race = Case("inverse dynamics", tree_name(bodies), 5).name
        found.append(Goal("repeated jtimes as in paper A", race, "CasADi", 300))
        found.append(Goal("Taylor mode, jitted", race, "JAX jet", 100))
    for robot in ROBOTS:
        found.append(Goal("rnea", Case("inverse dynamics", robot).name, "Pinocchio", 2))
    for robot in ROBOTS[:2]:
        found.append(Goal("rnea, for the torque alone", Case("inverse dynamics", robot, 5).name, "Pinocchio", 1))
    for robot in ROBOTS:
        found.append(Goal("aba", Case("forward dynamics", robot).name, "Pinocchio", 2))
    for robot in (ROBOTS[0], ROBOTS[2]):
        found.append(Goal("computeABADerivatives", Case("linearization", robot).name, "Pinocchio", 1.5))
        found.append(Goal("crba", Case("mass matrix", robot).name, "Pinocchio", 1))
        found.append(Goal("computeFrameJacobian", Case("Jacobian", robot).name, "Pinocchio", 1))
    for robot in STANDING:
        race = Case("constrained dynamics", robot).name
        found.append(Goal("constraintDynamics", race, "Pinocchio", 1.7))
        found.append(Goal("joints ordered", race, "Pinocchio, lcaba", 1))
        longer = Case("constrained dynamics", robot, 5).name
        found.append(Goal("in at most three times its time", longer, "jounce, r = 0", 0.333))
    lanes = {"avx512": 4.0, "avx2": 2.5}.get(instruction_set, 1.0)
    for order in (0, 5):
        batch = Case("inverse dynamics", tree_name(7), order, states=BATCH)
        found.append(Goal("the kernel for one state", batch.name, "jounce, one state", lanes))
    for order in (0, 5):
        batch = Case("inverse dynamics", tree_name(7), order, states=BATCH, threads=2)
        found.append(Goal("one thread", batch.name, "jounce, one thread", 1.8))
    return found


def judged(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The goals as JSON, each with the ratio found (None if it was not raced) and whether it is met."""
    found = {(c["name"], p["peer"]): p for c in results["cases"] for p in c["peers"]}
    rows = []
    for goal in goals(results["machine"]["instruction_set"]):
        entry = found.get((goal.case, goal.peer), {})
        ratio = entry.get("ratio")
        rows.append(
            {
                "case": goal.case,
                "peer": goal.peer,
                "what": goal.text,
                "goal": goal.ratio,
                "ratio": ratio,
                "spread": entry.get("spread"),
                "holds": None if ratio is None else bool(ratio >= goal.ratio),
                "status": entry.get("status", "not raced"),
            }
        )
    return rows
