"""Simulation, Taylor's method against Runge-Kutta-Munthe-Kaas: seconds for a given accuracy, one thread.

    pip install . && python benchmarks/simulate.py

The aerial manipulator tumbles and falls for ten seconds from the same random states. The error is the largest in the
final q (rad, m) and v, against the Taylor method at its tightest, which Runge-Kutta at its tightest confirms first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

import jounce as jn
from jounce.simulation.simulate import simulate
from jounce.trajectory import State

HORIZON = 10.0  # s
STATES = 3
SAMPLES = 5
GOAL = 1e-10


def starts(robot: jn.Model) -> list[State]:
    rng = np.random.default_rng(0)
    return [State(0.0, robot.random_configuration(rng), 0.2 * rng.normal(size=robot.nv)) for _ in range(STATES)]


def run(robot: jn.Model, method: str, tolerance: float, order: int | None = None) -> tuple[list[State], float]:
    """Final states, and the best time in seconds for one of them."""
    best = np.inf
    for _ in range(SAMPLES):
        begin = time.perf_counter()
        ends = [
            simulate(robot, q, v, [t, HORIZON], method=method, rtol=tolerance, atol=tolerance, order=order)[-1]
            for t, q, v in starts(robot)
        ]
        best = min(best, (time.perf_counter() - begin) / STATES)
    return ends, best


def error(robot: jn.Model, ends: Iterable[State], truth: Iterable[State]) -> float:
    pairs = list(zip(ends, truth, strict=True))
    apart = [np.abs(robot.difference(a.q, b.q)).max() for a, b in pairs] + [np.abs(a.v - b.v).max() for a, b in pairs]
    return float(max(apart))


def main() -> None:
    jn.set_num_threads(1)
    robot = jn.robots.aerial_manipulator()
    truth, _ = run(robot, "taylor", 1e-15, 28)
    confirmed, _ = run(robot, "rkmk", 1e-13)
    print(f"jounce {jn.__version__}, {robot.nv} degrees of freedom, {HORIZON:g} s")
    print(f"reference: the two methods at their tightest differ by {error(robot, confirmed, truth):.1e}")
    fastest: dict[str, float] = {}
    for method, tolerances in (("taylor", 10.0 ** -np.arange(5, 15)), ("rkmk", 10.0 ** -np.arange(5.0, 13.5, 0.5))):
        for tolerance in tolerances:
            ends, seconds = run(robot, method, tolerance)
            off = error(robot, ends, truth)
            print(f"  {method:7s} tolerance {tolerance:.0e}   error {off:.1e}   {seconds * 1e3:8.2f} ms")
            if off <= GOAL:
                fastest[method] = min(fastest.get(method, np.inf), seconds)
    print(f"to {GOAL:g}: " + ", ".join(f"{method} {seconds * 1e3:.1f} ms" for method, seconds in fastest.items()))
    if len(fastest) == 2:
        print(f"taylor is {fastest['rkmk'] / fastest['taylor']:.1f} times as fast")

    print("the order of the Taylor method, tolerance 1e-10")
    for order in (6, 9, 12, 15, 18, 21, 25, 30):
        ends, seconds = run(robot, "taylor", 1e-10, order)
        print(f"  order {order:2d}   error {error(robot, ends, truth):.1e}   {seconds * 1e3:8.2f} ms")


if __name__ == "__main__":
    main()
