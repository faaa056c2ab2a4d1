"""What a joint given by a function costs: an arm of seven hinges, all of them written as a `CustomJoint`; and of knees.

A hinge written as a function has a constant screw and runs as a hinge; a knee, which rolls as it turns, does not.

    python benchmarks/custom_joint.py

Each time is the best of several rounds, in turns, from Python; ratios are to the arm with built-in joints.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import jounce as jn


def turned(axis: np.ndarray, rolls: float) -> Callable[[Any], Any]:
    """Turns about the axis and moves aside by `rolls` metres per radian."""
    x, y, z = axis
    aside = rolls * np.cross(axis, np.roll(axis, 1))
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])

    def pose(q: Any) -> Any:
        R = np.eye(3) + np.sin(q[0]) * K + (1 - np.cos(q[0])) * (K @ K)
        return np.array([[*row, q[0] * x] for row, x in zip(R, aside, strict=True)] + [[0, 0, 0, 1]])

    return pose


def arm(custom: range, rolls: float = 0.0) -> jn.Model:
    rng, b = np.random.default_rng(0), jn.Builder()
    for i in range(7):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        placement = np.eye(4)
        placement[:3, 3] = rng.normal(size=3)
        joint = jn.CustomJoint(turned(axis, rolls), n=1) if i in custom else jn.Revolute(axis)
        inertia = jn.Inertia(1 + rng.random(), rng.normal(size=3), np.diag([1.0, 1.2, 1.3]))
        b.add(f"link {i}", f"link {i - 1}" if i else "world", joint, placement, inertia)
    return b.build()


def seconds(call: Callable[[], object], count: int = 300) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def main() -> None:
    robots = [arm(range(0)), arm(range(7)), arm(range(3, 4), 0.03), arm(range(7), 0.03)]
    rng = np.random.default_rng(1)
    q, stack = rng.normal(size=7), rng.normal(size=(7, 7))
    calls: dict[str, Callable[[jn.Model], object]] = {
        "inverse_dynamics": lambda r: r.inverse_dynamics(q, stack[0], stack[1]),
        "inverse_dynamics to order 5": lambda r: r.inverse_dynamics(q, stack),
        "forward_dynamics": lambda r: r.forward_dynamics(q, stack[0], stack[1]),
        "forward_dynamics to order 5": lambda r: r.forward_dynamics(q, stack[0], stack[1:]),
        "mass_matrix": lambda r: r.mass_matrix(q),
        "coriolis_matrix": lambda r: r.coriolis_matrix(q, stack[0]),
        "jacobian": lambda r: r.jacobian("link 6", q),
        "linearize": lambda r: r.linearize(q, stack[0], stack[1]),
    }
    print(f"{'':30}{'built in':>10}{'hinges':>18}{'one knee':>18}{'seven knees':>18}")
    for name, call in calls.items():
        best = [np.inf] * 4
        for _ in range(15):
            best = [min(b, seconds(lambda r=r, c=call: c(r))) for b, r in zip(best, robots, strict=True)]
        slower = [f"{1e6 * t:8.2f} µs ({t / best[0]:.2f}x)" for t in best[1:]]
        print(f"{name:30}{1e6 * best[0]:7.2f} µs{''.join(slower)}")


if __name__ == "__main__":
    main()
