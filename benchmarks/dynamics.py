"""Inverse and forward dynamics from Python, one state a call, one thread: a race with Pinocchio, and how time grows.

    pip install . './lab[peers]' && python benchmarks/dynamics.py

The peer runs in the same process on the same robots, samples alternate, and the best of many counts: the ratio is what
means something on a shared machine. The answers are compared before anything is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import pinocchio as pin
from timing import microseconds

import jounce as jn
from build import jounce_model
from jounce import _core
from peers import PinocchioTree
from trees import TreeSpec, random_body, random_configuration, random_stack, random_tree


def quadruped(rng: np.random.Generator) -> TreeSpec:
    """A floating base with four legs of three joints."""
    bodies = [random_body(rng, "base", -1, "free")]
    for leg in range(4):
        parent = 0
        for link in range(3):
            bodies.append(random_body(rng, f"leg{leg}{link}", parent, "revolute"))
            parent = len(bodies) - 1
    return TreeSpec(tuple(bodies))


def race(name: str, tree: TreeSpec, rng: np.random.Generator) -> None:
    robot, peer = jounce_model(tree), PinocchioTree(tree)
    q, stack = random_configuration(rng, tree), random_stack(rng, tree, 7)
    v, a = stack[:2]
    tau = robot.inverse_dynamics(q, stack)
    q_pin, v_pin, a_pin, tau_pin = peer.q_to_pin(q), peer.v_to_pin(v), peer.v_to_pin(a), peer.v_to_pin(tau[0])
    theirs = peer.v_from_pin(pin.rnea(peer.model, peer.data, q_pin, v_pin, a_pin))
    np.testing.assert_allclose(tau[0], theirs, rtol=1e-10, atol=1e-10)
    theirs = peer.v_from_pin(pin.aba(peer.model, peer.data, q_pin, v_pin, tau_pin))
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau[0]), theirs, rtol=1e-8, atol=1e-8)
    out = np.empty(tree.nv)
    print(f"{name} ({tree.nv} degrees of freedom)")
    _print_race(
        {
            "pin.rnea": lambda: pin.rnea(peer.model, peer.data, q_pin, v_pin, a_pin),
            "inverse_dynamics, r = 0": lambda: robot.inverse_dynamics(q, v, a),
            "inverse_dynamics, r = 0, out=": lambda: robot.inverse_dynamics(q, v, a, out=out),
            "inverse_dynamics, r = 5": lambda: robot.inverse_dynamics(q, stack),
        }
    )
    _print_race(
        {
            "pin.aba": lambda: pin.aba(peer.model, peer.data, q_pin, v_pin, tau_pin),
            "forward_dynamics, r = 0": lambda: robot.forward_dynamics(q, v, tau[0]),
            "forward_dynamics, r = 5": lambda: robot.forward_dynamics(q, v, tau),
        }
    )


def _print_race(calls: dict[str, Callable[[], object]]) -> None:
    best = microseconds(calls)
    peer = next(iter(calls))
    for case, time in best.items():
        print(f"  {case:30s} {time:7.3f} µs   {best[peer] / time:5.2f} times as fast as {peer}")


def inverse_call(robot: jn.Model, order: int, rng: np.random.Generator) -> Callable[[], object]:
    q, v = robot.random_configuration(rng), rng.uniform(-1, 1, (order + 2, robot.nv))
    out = np.empty((order + 1, robot.nv))
    return lambda: robot.inverse_dynamics(q, v, out=out)


def forward_call(robot: jn.Model, order: int, rng: np.random.Generator) -> Callable[[], object]:
    q, v, tau = robot.random_configuration(rng), rng.uniform(-1, 1, robot.nv), rng.uniform(-1, 1, (order + 1, robot.nv))
    out = np.empty((order + 1, robot.nv))
    return lambda: robot.forward_dynamics(q, v, tau, out=out)


def growth(
    name: str, call: Callable[[jn.Model, int, np.random.Generator], Callable[[], object]], rng: np.random.Generator
) -> None:
    print(f"{name}: growth with N (paper A's tree of five arms)")
    links = [2, 4, 10, 20, 40, 100, 199]
    sizes = np.array([1 + 5 * n for n in links])
    for order in (0, 5):
        calls = {str(n): call(jn.robots.aerial_manipulator(5, n), order, rng) for n in links}
        times = np.array(list(microseconds(calls, 10).values()))
        exponent = np.polyfit(np.log(sizes[2:]), np.log(times[2:]), 1)[0]
        points = "  ".join(f"{n}: {t:.1f}" for n, t in zip(sizes, times, strict=True))
        print(f"  r = {order}: time ~ N^{exponent:.2f}   (N: µs)  {points}")

    print(f"{name}: growth with r")
    orders = np.arange(13)
    for arms, n in ((2, 3), (5, 20)):
        robot = jn.robots.aerial_manipulator(arms, n)
        times = np.array(list(microseconds({str(r): call(robot, int(r), rng) for r in orders}, 10).values()))
        exponent = np.polyfit(np.log(orders + 1), np.log(times), 1)[0]
        points = "  ".join(f"{r}: {t:.2f}" for r, t in zip(orders, times, strict=True))
        print(f"  N = {len(robot.body_names)}: time ~ (r + 1)^{exponent:.2f}   (r: µs)  {points}")


def main() -> None:
    rng = np.random.default_rng(0)
    jn.set_num_threads(1)
    print(f"jounce {jn.__version__} with {_core.instruction_set()} kernels, Pinocchio {pin.__version__}")
    race("arm of seven joints", random_tree(rng, 7, joints=("revolute",), serial=True), rng)
    race("floating base with four legs of three joints", quadruped(rng), rng)
    growth("inverse_dynamics", inverse_call, rng)
    growth("forward_dynamics", forward_call, rng)


if __name__ == "__main__":
    main()
