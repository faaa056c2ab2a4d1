"""Time of paper D's algorithms over the number of modules, in jounce: a figure of D-sim2."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from jounce.builder import Builder
from jounce.model import Model
from jounce.soft import Rod

from .claims import Array


def times(quick: bool) -> dict[str, tuple[Array, Array]]:
    """Numbers of soft bodies and seconds per call, for each algorithm; quick: fewer and shorter."""
    counts = np.array([4, 8, 16, 32] if quick else [4, 8, 16, 32, 64, 128])
    seconds: dict[str, list[float]] = {}
    for n in counts:
        robot = chain(int(n))
        q, v, a = np.random.default_rng(0).uniform(-0.3, 0.3, (3, robot.nv)) * np.tile([1, 1, 0.02], n)
        for name, call in algorithms(robot, q, v, a).items():
            seconds.setdefault(name, []).append(_fastest(call, 0.05 if quick else 0.3))
    return {name: (counts, np.array(each)) for name, each in seconds.items()}


def chain(n: int) -> Model:
    """A chain of soft bodies of constant curvature, three coordinates each."""
    b, rod, last = Builder(), Rod(0.1, 0.01, 1000.0, 1e6, damping=0.01, nodes=6), "world"
    for i in range(n):
        b.add(f"rod {i}", last, body=rod)
        last = f"rod {i}"
    return b.build()


def algorithms(robot: Model, q: Array, v: Array, a: Array) -> dict[str, Callable[[], Any]]:
    """Algorithms by name. The paper's forward dynamics takes the columns of M from inverse dynamics, and solves."""
    unit, none = np.eye(robot.nv), np.zeros(robot.nv)

    def columns() -> Array:  # or rows: M is symmetric
        return np.array([robot.generalized_inverse_dynamics(q, none, e) for e in unit])

    def forward() -> Array:
        return np.asarray(np.linalg.solve(columns(), a - robot.inverse_dynamics(q, v, none)))

    return {
        "GID": lambda: robot.generalized_inverse_dynamics(q, v, a),
        "AID": lambda: robot.inverse_dynamics(q, v, a),
        "mass matrix, by GID": columns,
        "forward dynamics, by GID": forward,
        "forward dynamics, jounce": lambda: robot.forward_dynamics(q, v, a),
    }


def in_words(measured: dict[str, tuple[Array, Array]]) -> str:
    """Time of jounce's forward dynamics, for the fewest and the most bodies."""
    counts, seconds = measured["forward dynamics, jounce"]
    each = 1e6 * seconds / counts
    return f"jounce's takes {each[0]:.2g} µs a body with {counts[0]} of them, {each[-1]:.2g} µs with {counts[-1]}"


def _fastest(call: Callable[[], Any], budget: float) -> float:
    """The fastest of some calls, in CPU time of this thread, s."""
    call()
    best, until = np.inf, time.thread_time() + budget
    while True:
        start = time.thread_time()
        call()
        end = time.thread_time()
        best = min(best, end - start)
        if end > until:
            return best
