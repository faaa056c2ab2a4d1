"""Pieces of a study: which members are computed and stored together, and how.

The study cuts them, from the number of its members alone. A member depends on nothing but the study, its own number and
its parameters, so it does not matter who computes which piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jounce.errors import SimulationError, SingularError
from jounce.study.deadline import OutOfTime, limited
from jounce.study.errors import MemberError
from jounce.study.members import Flight, Member

if TYPE_CHECKING:
    from jounce.study.description import Study

Array = NDArray[np.float64]
MISSING = -1  # the status of a member that is not computed yet
STATUSES = ("done", "failed", "stopped", "out of time", "no solution", "not finite", "error", "crashed")
DONE, FAILED, STOPPED, OUT_OF_TIME, NO_SOLUTION, NOT_FINITE, ERROR, CRASHED = range(len(STATUSES))
LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class Job:
    """Members to compute: `rows` are their parameters (n, parameters), `first` the number of the first of them."""

    piece: int
    first: int
    rows: Array


@dataclass(frozen=True)
class Found:
    """What came of n members: the measures (measures, n), NaN where there are none, and the statuses with reasons."""

    values: Array
    status: NDArray[np.int8]
    reasons: list[str]


def size_of(members: int) -> int:
    """Members to a piece: a thousand pieces, or pieces of ten thousand members."""
    return min(max(1, -(-members // 1000)), 10_000)


def compute(study: Study, job: Job) -> Found:
    """All members of a job, one after another."""
    count = len(job.rows)
    found = Found(np.full((len(study.measures), count), np.nan), np.zeros(count, np.int8), [""] * count)
    for i, row in enumerate(job.rows.tolist()):
        member = Member(dict(zip(study.parameters, row, strict=True)), job.first + i, study.seed)
        found.status[i], found.reasons[i] = _attempt(study, member, found.values[:, i])
    return found


def crashed(study: Study, job: Job, why: str) -> Found:
    """What is stored of members that end every process that computes them."""
    count = len(job.rows)
    nothing = np.full((len(study.measures), count), np.nan)
    return Found(nothing, np.full(count, CRASHED, np.int8), [why] * count)


def joined(parts: list[Found]) -> Found:
    """Several, one after another."""
    values = np.concatenate([each.values for each in parts], axis=1)
    return Found(values, np.concatenate([p.status for p in parts]), [r for p in parts for r in p.reasons])


def flight(study: Study, member: Member) -> Flight:
    """The robot of a member, and what the scenario makes of it."""
    robot = study.robot_of(member)
    return Flight(robot, member, study.scenario(robot, member))


def _attempt(study: Study, member: Member, into: Array) -> tuple[int, str]:
    """Writes the measures of a member; its status, and the reason if it has none."""
    try:
        with limited(study.time_limit):
            flown = flight(study, member)
            values = [_number(name, measure(flown)) for name, measure in study.measures.items()]
    except OutOfTime:
        return OUT_OF_TIME, f"it took longer than {study.time_limit:g} s"
    except MemberError as fault:
        return FAILED, _short(fault)
    except SimulationError as fault:
        return STOPPED, _short(fault)
    except (SingularError, np.linalg.LinAlgError) as fault:
        return NO_SOLUTION, _short(fault)
    except Exception as fault:
        return ERROR, f"{type(fault).__name__}: {_short(fault)}"
    for name, value in zip(study.measures, values, strict=True):
        if not np.isfinite(value):
            return NOT_FINITE, f"{name} is {value}"
    into[:] = values
    return DONE, ""


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"measure {name!r} returned {type(value).__name__}, expected a number") from None


def _short(fault: BaseException) -> str:
    words = " ".join(str(fault).split()) or type(fault).__name__
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 4]} ..."
