"""The state that ``jounce simulate`` starts from: named coordinates, and files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce._checks import near, quoted
from jounce.dynamics.named_coordinates import names
from jounce.errors import ConstraintError, LoadError
from jounce.model import Model
from jounce.parts.joints import Free, Spherical
from jounce.trajectory import Trajectory

Array = NDArray[np.float64]


def start_of(robot: Model, file: Path | None, q: Sequence[str], v: Sequence[str]) -> tuple[Array, Array]:
    """The configuration (nq,) and velocity (nv,): the robot's neutral one, as changed by a file, then by name=value.

    Quaternions are scaled to unit length, and a robot with constraints is projected onto them: joints that are named
    stay as given if the others can follow.
    """
    state = robot.neutral(), np.zeros(robot.nv)
    if file is not None:
        _read(robot, file, state)
    called = names(robot)
    for option, given, known, values in (("--q", q, called.q, state[0]), ("--v", v, called.v, state[1])):
        _set(values, known, (_pair(option, each) for each in given), option, ValueError)
    _normalise(robot, state[0])
    if not robot.constraints:
        return state
    named = {_pair("", each)[0] for each in (*q, *v)}
    try:
        position, rates = robot.project(*state, held=sorted(named & set(called.q) & set(called.v)))
    except ConstraintError:
        position, rates = robot.project(*state)
    return position, rates


def _pair(option: str, given: str) -> tuple[str, float]:
    name, equals, value = given.rpartition("=")
    number = _number(value)
    if not equals or number is None:
        raise ValueError(f"{option} is {quoted(given)}, expected a coordinate and a number, such as elbow=0.5")
    return name, number


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _set(
    values: Array, known: Sequence[str], given: Iterator[tuple[str, float]], what: str, fault: type[ValueError]
) -> None:
    for name, value in given:
        if name not in known:
            raise fault(f"{what}: no coordinate is named {quoted(name)}: {near(name, known)}")
        values[known.index(name)] = value


def _normalise(robot: Model, q: Array) -> None:
    for body, joint in zip((b for b, _ in robot._moving()), robot.joint_names, strict=True):
        if isinstance(body.joint, (Free, Spherical)):
            part = q[robot.position(joint)][-4:]
            length = float(np.linalg.norm(part))
            if length == 0:
                raise ValueError(f"the quaternion of {quoted(joint)} has length 0, expected 1")
            part /= length


def _read(robot: Model, file: Path, state: tuple[Array, Array]) -> None:
    """The end of a saved motion, or a JSON file {"q": {name: value}, "v": {name: value}}."""
    called = names(robot)
    if file.suffix.lower() == ".json":
        found = _json(file)
        for key, known, values in (("q", called.q, state[0]), ("v", called.v, state[1])):
            _set(values, known, iter(found.get(key, {}).items()), f"{file}: {key}", LoadError)
        return
    motion = Trajectory.load(file)
    if len(motion) == 0:
        raise LoadError(f"{file}: has no states")
    if (motion.q_names, motion.v_names) != (called.q, called.v):
        differ = sorted(set(motion.q_names) ^ set(called.q)) or ["their order"]
        raise LoadError(f"{file}: is a motion of another robot: {', '.join(differ[:5])} differ")
    state[0][:], state[1][:] = motion[-1].q, motion[-1].v


def _json(file: Path) -> Mapping[str, Mapping[str, float]]:
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise LoadError(f"{file}: is not JSON: {fault}") from None
    expected = 'expected {"q": {"elbow": 0.5}, "v": {}}, coordinates by name'
    if not isinstance(found, dict) or not found.keys() <= {"q", "v"}:
        raise LoadError(f"{file}: holds {quoted(found)}, {expected}")
    for values in found.values():
        numbers = isinstance(values, dict) and all(type(x) in (int, float) for x in values.values())
        if not numbers or not all(abs(x) < 1e300 for x in values.values()):
            raise LoadError(f"{file}: holds {quoted(values)}, {expected}")
    return found
