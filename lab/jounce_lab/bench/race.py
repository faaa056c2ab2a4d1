"""One race: the same problem for jounce and for others, answers compared first, then timed in turns.

A sample is as many calls as take half a millisecond; jounce and a peer alternate, sample by sample, so that any other
load on the machine affects both alike. Up to five calls before each sample are not timed: they refill the caches after
the other's turn, which for a graph of a million operations is everything. The best sample counts, and the spread is
given by the quartiles of the ratios within a turn.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jounce._core import num_threads, set_num_threads
from numpy.typing import NDArray

from jounce.errors import Error
from jounce.model import Model

Array = NDArray[np.float64]
TOLERANCE = 1e-8  # relative to the largest number in a row of the answer
_SAMPLE = 5e-4  # s
_WARM = 5e-3  # s


class LeftOut(Error, RuntimeError):  # noqa: N818
    """A peer could take part in principle, but not here; the message says why."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot of the race, as jounce's model and as the URDF that other libraries read."""

    name: str
    model: Model
    urdf: str
    floating: bool
    is_tree: bool = False  # one of paper A's
    independent: Model | None = None  # if `model` has followers or damping: without them, as peers read the file

    @property
    def bodies(self) -> int:
        return len(self.model.body_names)


@dataclass(frozen=True, eq=False)
class Problem:
    """The input for all: q (nq,), v (order + 2, nv), tau (order + 1, nv); in a batch, with a leading axis of states."""

    subject: Subject
    quantity: str
    order: int
    states: int
    q: Array
    v: Array
    tau: Array

    @property
    def model(self) -> Model:
        return self.subject.model


@dataclass(frozen=True, eq=False)
class Call:
    """The call that is timed, and its answer.

    Attributes:
        label: the function's name.
        run: called repeatedly.
        answer: the result of `run` in jounce's coordinates.
        part: the part of jounce's answer to compare it with; all of it when left out.
        states: number of states per `run`.
        threads: how many jounce may use.
        overhead: also timed; its time is subtracted, turn by turn.
        keep: objects that must live as long as the call.
    """

    label: str
    run: Callable[[], object]
    answer: Callable[[], Array]
    part: Callable[[Array], Array] = field(default=lambda x: x)
    states: int = 1
    threads: int = 1
    overhead: Callable[[], object] | None = None
    keep: object = None


@dataclass(frozen=True)
class Times:
    """Seconds per state, for each sample. For differences of two times, both noisy, the best is the median."""

    samples: tuple[float, ...]
    differences: bool = False

    @property
    def best(self) -> float:
        return float(np.median(self.samples)) if self.differences else min(self.samples)


def disagreement(ours: Array, theirs: Array) -> float:
    """The largest difference of two answers, relative to the largest number in the same row; infinity for NaN.

    A row that is nearly zero is measured by a millionth of the whole.
    """
    if ours.shape != theirs.shape:
        raise ValueError(f"the answers have shapes {ours.shape} and {theirs.shape}")
    scale = np.abs(ours).max(axis=-1, keepdims=True, initial=0.0)
    scale = np.maximum(scale, 1e-6 * scale.max(initial=0.0))
    error = np.abs(ours - theirs) / np.where(scale > 0, scale, 1.0)
    return float(error.max(initial=0.0)) if np.isfinite(error).all() else np.inf


def timed(calls: Sequence[Call], seconds: float, samples: int = 300) -> list[Times]:
    """Times the calls in turns, at most `samples` times and, after five times, for at most `seconds` in total."""
    runs = [call.run for call in calls] + [call.overhead for call in calls if call.overhead is not None]
    threads = [call.threads for call in calls] + [1] * (len(runs) - len(calls))
    timers = [timeit.Timer(run) for run in runs]
    found: list[list[float]] = [[] for _ in runs]
    before = num_threads()
    try:
        plans = [_plan(timer, n) for timer, n in zip(timers, threads, strict=True)]
        spent = 0.0
        while len(found[0]) < samples and (len(found[0]) < 5 or spent < seconds):
            for timer, (warm, number), n, times in zip(timers, plans, threads, found, strict=True):
                set_num_threads(n)
                spent += timer.timeit(warm)
                times.append(timer.timeit(number) / number)
                spent += times[-1] * number
    finally:
        set_num_threads(before)
    lost = iter(found[len(calls) :])
    return [_times(call, times, lost) for call, times in zip(calls, found, strict=False)]


def spread(ours: Times, theirs: Times) -> tuple[float, float]:
    """Quartiles of how many times as long the peer took, turn by turn."""
    ratios = np.array(theirs.samples) / np.array(ours.samples)
    low, high = np.quantile(ratios, [0.25, 0.75])
    return float(low), float(high)


def _times(call: Call, times: list[float], overheads: Iterator[list[float]]) -> Times:
    if call.overhead is None:
        return Times(tuple(t / call.states for t in times))
    return Times(tuple((t - o) / call.states for t, o in zip(times, next(overheads), strict=True)), differences=True)


def _plan(timer: timeit.Timer, threads: int) -> tuple[int, int]:
    """The number of warm-up calls before a sample, and of calls in it."""
    set_num_threads(threads)
    timer.timeit(1)
    once = timer.timeit(1)
    if once < _SAMPLE:
        once = max(timer.timeit(10) / 10, 1e-8)
    return min(5, 1 + int(_WARM / once)), max(1, int(_SAMPLE / once))
