"""Studies in files: Python, or TOML for those that need no code of their own.

A Python file has a `Study` as a variable. A TOML file names a robot's file, parameters, the scenario of ``jounce
simulate`` (a state to start from, joints held by springs, or none) and measures; its format is in docs/studies.md.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jounce._checks import near, quoted
from jounce._extras import needed
from jounce.errors import LoadError, MissingFileError
from jounce.loading import load
from jounce.model import Model
from jounce.study import edits, measures, parameters
from jounce.study.description import Study
from jounce.study.members import Member

_DISTRIBUTIONS: Mapping[str, Callable[..., Any]] = {
    "uniform": parameters.Uniform,
    "log_uniform": parameters.LogUniform,
    "normal": parameters.Normal,
    "grid": lambda *values, unit="": parameters.Grid(values, unit),
}
_EDITS: Mapping[str, Callable[..., Any]] = {
    "payload": edits.Payload,
    "mass": edits.Mass,
    "drive": edits.Drive,
    "limit": edits.Limit,
    "gravity": edits.Gravity,
}
_MEASURES: Mapping[str, Callable[..., Any]] = {
    "peak_torque": measures.PeakTorque,
    "peak_torque_rate": measures.PeakTorqueRate,
    "energy": measures.Energy,
    "margin": measures.Margin,
    "spectral_abscissa": measures.SpectralAbscissa,
}
_SETTINGS = ("title", "samples", "method", "seed", "time_limit", "piece")
_KEYS = ("robot", "base", *_SETTINGS, "parameters", "scenario", "measures")
_SCENARIO = ("time", "rate", "q", "v", "hold", "rtol", "atol")


def study_from(path: str | Path) -> Study:
    """The study in a file.

    Args:
        path: of a .py or .toml file. Code in a .py file is run.

    Raises:
        LoadError: the file is missing, or no study.
    """
    path = Path(path)
    if path.suffix.lower() not in (".py", ".toml"):
        raise LoadError(f"{path}: expected a name that ends in .py or .toml")
    if not path.is_file():
        raise MissingFileError(f"{path}: there is no such file", str(path))
    return _python(path) if path.suffix.lower() == ".py" else _toml(path)


def _python(path: Path) -> Study:
    name = path.stem
    made = importlib.util.spec_from_file_location(name, path)
    assert made is not None
    assert made.loader is not None
    module = importlib.util.module_from_spec(made)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent.resolve()))  # as for a script
    needed("cloudpickle", "a study").register_pickle_by_value(module)  # other machines do not have the file
    made.loader.exec_module(module)
    found = [each for each in vars(module).values() if isinstance(each, Study)]
    if len(found) != 1:
        raise LoadError(f"{path}: has {len(found)} studies as variables, expected one")
    return found[0]


def _toml(path: Path) -> Study:
    import tomllib

    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise LoadError(f"{path}: is not TOML: {fault}") from None
    try:
        return _study(given, path.parent)
    except (TypeError, ValueError) as fault:
        raise LoadError(f"{path}: {fault}") from None


def _study(given: dict[str, Any], folder: Path) -> Study:
    _only("", given, _KEYS)
    for key in ("robot", "parameters", "scenario", "measures"):
        if key not in given:
            raise ValueError(f"{key} is missing")
    drawn: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for name, table in _table("parameters", given["parameters"]).items():
        where = f"parameters.{name}"
        table = dict(_table(where, table))
        unit, edit = table.pop("unit", ""), table.pop("edit", None)
        kind, values = _one(where, table, _DISTRIBUTIONS)
        drawn[name] = kind(*values, unit=unit)
        if edit is not None:
            change, options = _one(f"{where}.edit", _table(f"{where}.edit", edit), _EDITS)
            changes[name] = change(**options) if isinstance(options, dict) else change(*_several(options))
    measured: dict[str, Any] = {}
    for name, table in _table("measures", given["measures"]).items():
        kind, options = _one(f"measures.{name}", _table(f"measures.{name}", table), _MEASURES)
        measured[name] = kind(**_table(f"measures.{name}", options))
    rest = {key: given[key] for key in _SETTINGS if key in given}
    robot = load(folder / str(given["robot"]), given.get("base", "fixed"))
    flown = Simulated.of(robot, _table("scenario", given["scenario"]))
    return Study(robot=robot, parameters=drawn, edits=changes, scenario=flown, measures=measured, **rest)


@dataclass(frozen=True, eq=False)
class Simulated:
    """The scenario of a TOML file: `jounce.simulate` from a state, with joints held by springs or free."""

    times: Any
    q: Mapping[str, float]
    v: Mapping[str, float]
    hold: float | None
    rtol: float
    atol: float

    @staticmethod
    def of(robot: Model, table: Mapping[str, Any]) -> Simulated:
        from jounce.dynamics.named_coordinates import names

        _only("scenario", table, _SCENARIO)
        time, rate = float(table.get("time", 5.0)), float(table.get("rate", 100.0))
        if not (0 < time < 1e9 and 0 < rate * time < 1e7):
            raise ValueError(f"scenario: time and rate are {time:g} and {rate:g}, expected positive numbers")
        for key, known in (("q", names(robot).q), ("v", names(robot).v)):
            for name in _table(f"scenario.{key}", table.get(key, {})):
                if name not in known:
                    raise ValueError(f"scenario.{key}: no coordinate is named {quoted(name)}: {near(name, known)}")
        times = np.linspace(0.0, time, max(2, round(time * rate) + 1))
        hold = None if "hold" not in table else float(table["hold"])
        tolerances = float(table.get("rtol", 1e-6)), float(table.get("atol", 1e-8))
        return Simulated(times, table.get("q", {}), table.get("v", {}), hold, *tolerances)

    def __call__(self, robot: Model, member: Member) -> Any:
        from jounce.dynamics.named_coordinates import names
        from jounce.simulation.hold import holding
        from jounce.simulation.simulate import simulate

        called, q, v = names(robot), robot.neutral(), np.zeros(robot.nv)
        for known, given, into in ((called.q, self.q, q), (called.v, self.v, v)):
            for name, value in given.items():
                into[known.index(name)] = value
        if robot.constraints:
            q, v = robot.project(q, v)
        tau = None if self.hold is None else holding(robot, q, self.hold)
        method: Any = "taylor" if tau is None and not robot.friction.any() else "implicit"
        options: dict[str, Any] = {"method": method, "rtol": self.rtol, "atol": self.atol, "progress": False}
        return simulate(robot, q, v, self.times, tau, **options)


def _one(
    where: str, table: Mapping[str, Any], known: Mapping[str, Callable[..., Any]]
) -> tuple[Callable[..., Any], Any]:
    """The only entry of a table: what its name stands for, and its value."""
    if len(table) != 1:
        raise ValueError(f"{where} has {', '.join(map(repr, table)) or 'nothing'}, expected one of {', '.join(known)}")
    _only(where, table, tuple(known))
    [(key, value)] = table.items()
    return known[key], value


def _only(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"{where and where + ': '}nothing is named {key!r}: {near(key, known)}")


def _table(where: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} is {quoted(value)}, expected a table")
    return value


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is True else [value]
