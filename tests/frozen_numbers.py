"""Writes data/coupled_reference.json: the answers of robots with followers, with soft bodies and with constraints on
the day it was run.

    python tests/frozen_numbers.py                   # adds calls, and ways to make them, that are not stored yet
    python tests/frozen_numbers.py "replace, all"    # replaces these, too

Inputs come from a seed and are not stored. To keep the file small,

- an array of more than `LONG` numbers is stored as its product with one fixed vector;
- kinematics are those of the last body;
- results in axes other than the body's are stored only for floating bases, and for Jacobians and twists;
- results of solving with the mass matrix have twelve digits, and none under wrenches: test_frozen.py checks the
  equation they solve.

A call that was refused on that day is null, and stays so. Robots with constraints have the calls that obey them.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import jounce as jn
from calls import CALLS, FRAMES, Call, ask, good, keywords, numbers, outcome
from coupled_robots import FOLLOWERS, SOFT, Robot
from kinds import TIED

FILE = Path(__file__).parent / "data" / "coupled_reference.json"
ROBOTS = FOLLOWERS | SOFT | TIED
OBEY = ("forward_dynamics", "hybrid_dynamics", "linearize", "constrain", "residual", "project", "impact", "loop")
OBEY += ("independent", "inverse_constraint")
ROWS = {"inverse_dynamics": 5, "forward_dynamics": 5, "hybrid_dynamics": 4, "generalized_inverse_dynamics": 4}
ROWS |= {"inverse_dynamics_derivatives": 3, "forward_dynamics_derivatives": 3, "change_force_frame": 3}
LONG = 40
AT_REST = ("module of a user", "with armature, damping and springs", "two rods in series")  # held by springs
PROPERTIES = ("nq", "nv", "gravity", "lower", "upper", "velocity_limit", "effort_limit")
BOTH = ("forward_dynamics", "forward_dynamics_derivatives", "hybrid_dynamics", "linearize")
NAMES = ("body_names", "joint_names", "frame_names", "input_names")


def questions(name: str, call: Call) -> Iterator[tuple[str, dict[str, object], dict[str, object]]]:
    """Label, arguments and keywords of the ways to make a call."""
    ways = list(ways_to_ask(name, call))
    given = good(call, ROBOTS[name], rows=ROWS.get(call.method, 2), seed=11) if ways else {}
    yield from ((label, given, options) for label, options in ways)


def ways_to_ask(name: str, call: Call) -> Iterator[tuple[str, dict[str, object]]]:
    """Label and keywords."""
    robot, rows = ROBOTS[name], ROWS.get(call.method, 2)
    if call.method == "equilibrium" and name not in AT_REST:
        return
    if bool(robot.ties) != call.method.startswith(OBEY) and (robot.ties or call.method not in BOTH):
        return
    for label, options in keywords(call, robot, rows=rows).items():
        turned = options.get("frame", "body") in FRAMES[1:]
        if label == "frame body" or (turned and not floats(robot) and "velocity_frame" not in call.keywords):
            continue
        if "frames" in call.keywords:  # of the last body, in each of the axes
            if "frames" in options or (label and not call.stacks):
                continue
            options = options | {"frames": [robot.parts[-1].spec.name]}
        yield label, options


def floats(robot: Robot) -> bool:
    return any(p.spec.joint == "free" for p in robot.parts)


def is_stored(call: Call, label: str) -> bool:
    if label == "order":  # it says what the arguments are, and changes nothing
        return False
    by_equation = label.startswith(("wrenches", "actuated", "a mask", "columns", "no input"))
    return not (call.solves and call.method != "equilibrium" and by_equation)


def key_of(call: Call, label: str) -> str:
    return f"{call.name}, {label}" if label else call.name


def shortened(array: np.ndarray) -> np.ndarray:
    if array.size <= LONG or array.ndim < 2:
        return array
    return array @ np.cos(np.arange(1.0, array.shape[-1] + 1))


def answers(name: str) -> dict[str, dict[str, list] | None]:
    model = ROBOTS[name].model
    found: dict[str, dict[str, list] | None] = {}
    for call in CALLS.values():
        for label, given, options in questions(name, call):
            arrays = outcome(
                lambda c=call, g=given, o=options: numbers(model, c, ask(model, c, g, **o), o.get("frames"))
            )
            if isinstance(arrays, Exception):
                found[key_of(call, label)] = None
            elif is_stored(call, label):
                found[key_of(call, label)] = {k: _listed(a, 12 if call.solves else 17) for k, a in arrays.items()}
    found["properties"] = {k: np.nan_to_num(getattr(model, k)).tolist() for k in PROPERTIES}
    found["names"] = {k: list(getattr(model, k)) for k in NAMES}
    parameters = outcome(lambda: model.inertial_parameters)
    found["inertial_parameters"] = None if isinstance(parameters, Exception) else {"": parameters.tolist()}
    return found


def _listed(array: np.ndarray, digits: int) -> list:
    array = shortened(array)
    if array.dtype != np.float64:
        return array.tolist()
    short = np.array([float(f"{x:.{digits}g}") for x in array.ravel()])
    return short.reshape(array.shape).tolist()


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    warnings.simplefilter("ignore", jn.ModelWarning)
    stored = json.loads(FILE.read_text())
    robots = []
    for name in ROBOTS:
        before = {key: value for key, value in stored.get(name, {}).items() if key not in sys.argv[1:]}
        refused = tuple(f"{key}, " for key, value in before.items() if value is None)
        found = before | {k: v for k, v in answers(name).items() if k not in before and not k.startswith(refused)}
        lines = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in found.items()]
        robots.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n}")
    FILE.write_text("{\n" + ",\n".join(robots) + "\n}\n")
    print(f"{FILE}: {FILE.stat().st_size} bytes")
