"""Motions as tables, CSV: a line for each time, all numbers with as many digits as it takes to read them back exactly.

The columns are the time, then q, v, a and tau, each coordinate with its name and unit: ``q elbow [rad]``. So no cell
begins like a formula, which programs for tables would compute, whoever named the joint; and names in which one could
begin, where such a program separates cells otherwise, are refused.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import IO

import numpy as np

from jounce._checks import quoted
from jounce.trajectory import Trajectory
from jounce.units import UNITS, over_time

_TIME = "time [s]"
_UNKNOWN = ("?", "?")
_FORMULA = re.compile(r"[;|\t\r\n][\s\"']*[=+@\uff1d\uff0b\uff20\uff0d-]")  # the latter as wide as Chinese characters
_BY_RATE = {  # the units of accelerations and forces, by that of the velocity
    units.rate: (over_time(unit, 2).replace("²", "^2"), units.force) for unit, units in UNITS.items()
}


def write_table(motion: Trajectory, path: Path) -> None:
    """Writes the file.

    Raises:
        ValueError: a name is like a formula.
    """
    for name in (*motion.q_names, *motion.v_names):
        if _FORMULA.search(name):
            raise ValueError(
                f"a coordinate is named {quoted(name)}, where programs for tables may find a formula: save it as .npz"
            )
    text = StringIO()
    lines = csv.writer(text)
    lines.writerow(_header(motion.q_names, motion.q_units, motion.v_names, motion.v_units))
    table = np.column_stack([motion.time, motion.q, motion.v, motion.a, motion.tau])
    lines.writerows([repr(x) for x in row.tolist()] for row in table)
    path.write_bytes(text.getvalue().encode())


def read_table(file: IO[str]) -> Trajectory:
    """The motion, whose numbers may be anything.

    Raises:
        ValueError: the file holds none.
    """
    lines = csv.reader(file, strict=True)
    header = next(lines, [])
    q_names, q_units = _columns("q", header)
    v_names, v_units = _columns("v", header)
    if header != _header(q_names, q_units, v_names, v_units):
        raise ValueError(f"its first line is {','.join(header)!r}, expected {_TIME!r}, then columns of q, v, a and tau")
    values = array("d")
    for row in lines:
        if len(row) != len(header):
            raise ValueError(f"line {lines.line_num} has {len(row)} numbers, expected {len(header)}")
        values.extend(map(float, row))
    table = np.frombuffer(values).reshape(-1, len(header))
    widths = (1, len(q_names), *[len(v_names)] * 3)
    time, q, v, a, tau = (part.copy() for part in np.split(table, np.cumsum(widths)[:-1], axis=1))
    return Trajectory(time[:, 0], q, v, a, tau, q_names, v_names, q_units, v_units)


def _header(
    q_names: Sequence[str], q_units: Sequence[str], v_names: Sequence[str], v_units: Sequence[str]
) -> list[str]:
    known = [_BY_RATE.get(rate, _UNKNOWN) for rate in v_units]
    columns = [("q", q_names, q_units), ("v", v_names, v_units)]
    columns += [("a", v_names, [rate for rate, _ in known]), ("tau", v_names, [force for _, force in known])]
    named = [f"{kind} {name} [{unit}]" for kind, own, units in columns for name, unit in zip(own, units, strict=True)]
    return [_TIME, *named]


def _columns(kind: str, header: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names and units of the columns of q or v."""
    own = [column.removeprefix(f"{kind} ").removesuffix("]") for column in header if column.startswith(f"{kind} ")]
    pairs = [each.rpartition(" [") for each in own]
    return tuple(name for name, _, _ in pairs), tuple(unit for *_, unit in pairs)
