"""Prints how many allocations each method of the core makes, for robots, batches and orders of different sizes.

To be run with a preloaded counting malloc that provides `allocations()`: see test_allocation.py. The arguments come
from the signatures, so new methods are counted automatically.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache

import numpy as np

import jounce as jn
from calls import CALLS, signature
from jounce import _core

STACKED = {
    "_inverse_dynamics_derivatives",
    "_forward_kinematics",
    "_forward_kinematics_of",
    "_regressor",
    "_sections",
    "_constraint_rows",
}  # private, so not in the table
OF_ONE_STATE = {"_sections"}
OF_SHAPES = {"_deformation", "_passes", "_expect_order_of_forces"}  # which run no kernel
SINGLE = ("a", "dv", "f", "v_ref", "a_ref")


def methods() -> list[str]:
    """The methods of the core that take a state."""
    named = [n for n in dir(_core.CoreModel) if hasattr(getattr(_core.CoreModel, n), "__nb_signature__")]
    named = [n for n in named if not n.startswith("__") and n not in OF_SHAPES]
    return [n for n in named if {"q", "q0"} & set(parameters(n))]


def parameters(method: str) -> list[str]:
    return list(signature(getattr(_core.CoreModel, method)).parameters)[1:]


def robots() -> dict[str, tuple[jn.Model, ...]]:
    """Small ones and large ones: rigid, with joints that follow, soft, and with constraints."""

    def coupled(fingers: int) -> jn.Model:
        builder = jn.Builder()
        builder.add("palm", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.1, 0.1, 0.1)))
        for i in range(fingers):
            link = jn.Inertia(0.2, (0.1, 0, 0), (0.01, 0.02, 0.02))
            builder.add(f"near {i}", "palm", jn.Revolute((0, 1, 0)), inertia=link)
            follows = jn.Follow(f"near {i}", 0.7)
            builder.add(f"far {i}", f"near {i}", jn.Revolute((0, 1, 0), follows=follows), inertia=link)
        return builder.build()

    def soft(rods: int) -> jn.Model:
        builder = jn.Builder()
        builder.add("palm", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.1, 0.1, 0.1)))
        for i in range(rods):
            builder.add(
                f"rod {i}", f"rod {i - 1}" if i else "palm", body=jn.soft.Rod(0.3, 0.02, 1e3, 1e5, nodes=3, check=False)
            )
        return builder.build()

    def tied(feet: int, gears: int = 0) -> jn.Model:
        """Standing on fixed feet, with some joints geared."""
        builder = jn.Builder()
        builder.add("base", "world", jn.Free(), inertia=jn.Inertia(1.0, rotational=(0.1, 0.1, 0.1)))
        for i in range(feet):
            link = jn.Inertia(0.2, (0.1, 0, 0), (0.01, 0.02, 0.02))
            place = np.eye(4)
            place[:3, 3] = np.cos(i), np.sin(i), 0.1 * i
            for joint, parent, axis in (("hip", "base", (0, 1, 0)), ("knee", f"hip {i}", (1, 0, 0))):
                builder.add(f"{joint} {i}", parent, jn.Revolute(axis), place, link)
        for i in range(gears):
            builder.close(f"gear {i}", f"hip {i}", f"knee {i}", jn.Gear((0.1, 0.5)))
        return builder.build().constrained({f"knee {i}": jn.OnPlane((0.1, 0.2, 1.0)) for i in range(feet)})

    return {
        "rigid": (jn.robots.aerial_manipulator(2, 1), jn.robots.aerial_manipulator(2, 8)),
        "coupled": (coupled(1), coupled(6)),
        "soft": (soft(1), soft(2)),
        "tied": (tied(1), tied(4)),
        "geared": (tied(2, 1), tied(5, 3)),
    }


@cache
def configurations(robot: jn.Model, states: int) -> np.ndarray:
    return robot.random_configuration(np.random.default_rng(0), states)


def arguments(robot: jn.Model, method: str, states: int, rows: int) -> Iterator[tuple[list[object], dict[str, object]]]:
    """The ways to call a method."""
    rng = np.random.default_rng(0)
    table = {"_constrained_dynamics": "constrained_dynamics"}.get(method, method)
    recipes = [c.stacks for c in CALLS.values() if c.method == table]
    for stacks in recipes or [frozenset({"v"}) if method in STACKED else frozenset()]:
        values: dict[str, object] = {
            **{k: configurations(robot, states) for k in ("q", "q0", "q1")},
            **{k: rng.normal(size=(states, robot.nv)) for k in ("v", "tau", "acc", *SINGLE)},
            **{k: rng.normal(size=(states, rows - (k != "v"), robot.nv)) for k in stacks - {"wrenches"}},
            "wrenches": {robot.body_names[-1]: rng.normal(size=(rows - 1, 6) if stacks else 6)},
            **dict.fromkeys(("wrench_frame", "frame", "source", "given_frame"), "world"),
            "target": "mixed",
            "velocity_frame": "mixed",
            "name": robot.body_names[-1],
            "prescribed": np.arange(robot.nv) < 6,
            "columns": None,
            "indices": list(range(len(robot.body_names))),
            "order": None,
            **{"first": 0, "count": len(robot.body_names), "pose_rows": 1},
            **{"motion": None, "moves": [False] * len(robot.constraints), "shares": None, "kp": 0.0, "kd": 0.0},
        }
        if method == "_constrained_dynamics":  # forces only; the other way is hybrid dynamics
            values |= {"acc": None, "prescribed": None}
        if stacks & {"v"}:
            values["a"] = None
        if method in STACKED:
            values["wrenches"] = {robot.body_names[-1]: rng.normal(size=(rows - 1, 6))}
        given = {k: values[k] for k in parameters(method) if k != "out"}
        if method in OF_ONE_STATE:
            given = {k: x[0] for k, x in given.items()}
        function = signature(getattr(_core.CoreModel, method)).parameters
        first = [x for k, x in given.items() if function[k].kind is not function[k].KEYWORD_ONLY]
        yield first, {k: x for k, x in given.items() if function[k].kind is function[k].KEYWORD_ONLY}


def main() -> None:
    with _core.UnjudgedRates():  # which would run kernels again, in some random states
        count_all()


def count_all() -> None:
    count = ctypes.CDLL(None).allocations
    count.restype = ctypes.c_long
    jn.set_num_threads(1)
    robot = jn.robots.aerial_manipulator()
    for rows in (2, 9):  # this method loops over the rows in Python
        before = count()
        robot.torque_coefficients(robot.neutral(), np.zeros((rows, robot.nv)))
        print("Python", count() - before, 1)
    for isa in _core.instruction_sets():
        _core.use_instruction_set(isa)
        for kind, both in robots().items():
            for robot in both:
                for method in methods():
                    if method == "_constrained_derivatives" and kind == "geared":  # whose rows change: done in Python
                        continue
                    for states in (2, 10):
                        for rows in (2, 3, 6):
                            for way, (first, named) in enumerate(arguments(robot, method, states, rows)):
                                call = getattr(robot, method)
                                result = call(*first, **named)  # allocates the workspace
                                if "out" in parameters(method):
                                    named["out"] = result
                                call(*first, **named)
                                before = count()
                                result = call(*first, **named)
                                made = count() - before
                                arrays = len(result) if isinstance(result, tuple) else 1
                                print(f"{method}/{way}/{kind}", made, arrays)


if __name__ == "__main__":
    main()
