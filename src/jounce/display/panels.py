"""What a plot of a motion shows where, whatever draws it: rows of related coordinates, one panel for each quantity.

A row has coordinates of one kind: the places of `Free` joints, orientations, and then all others by unit. It is split
where it would have more lines than can be told apart, between families of joints (names that differ only in numbers)
if possible: the arms and legs of a humanoid get a row each. In all panels of a row a coordinate has the same colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted
from jounce.core_tables import joint_hint
from jounce.units import UNITS, over_time

if TYPE_CHECKING:
    from jounce.core_tables import BodyRecord
    from jounce.dynamics.named_coordinates import Names
    from jounce.model import Model

Array = NDArray[np.float64]
LINES = 8  # that can be told apart in one panel
_ROWS = 12  # of one kind of coordinates
_QUANTITIES = {  # by the unit of a coordinate: the coordinate, its rate, its further rates, and the force on it
    "m": ("position", "velocity", "", "force"),
    "rad": ("angle", "angular velocity", "angular ", "moment"),
    "1": ("strain", "strain rate", "strain ", "force on strains"),
    "1/m": ("curvature", "curvature rate", "curvature ", "force on curvatures"),
    "?": ("coordinate", "rate of coordinate", "coordinate ", "force on coordinate"),
}
_LATER = {2: "acceleration", 3: "jerk", 4: "snap"}
_DUAL = {"v": "f", "w": "n"}  # from the names of twists to those of wrenches [f; n]


class Coordinate(NamedTuple):
    """One coordinate of q, v or tau.

    Attributes:
        name: in the legend.
        key: the same for q, v and tau, so that it has the same colour.
        row: the kind of row it belongs to: "place", "turn", or a unit.
        unit: of the coordinate, or "quaternion".
    """

    name: str
    key: str
    row: str
    unit: str


@dataclass(frozen=True, eq=False)
class Quantity:
    """One column of panels: (T, n) numbers, over time, of n coordinates.

    Attributes:
        labels: for the axis, by the unit of the coordinate.
        limits: (n, 2) lower and upper, infinite where there are none; (T, n, 2) if they change; None if there are none
            at all.
    """

    values: Array
    coordinates: Sequence[Coordinate]
    labels: dict[str, str]
    limits: Array | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Lines over time: values (T, m), their names, the numbers of their colours, and the limits (T, m, 2) near them.

    Limits are NaN at times when the line is far from them.
    """

    label: str
    values: Array
    names: list[str]
    colours: list[int]
    limits: Array
    bottom: float
    top: float


def rows(
    quantities: Sequence[Quantity], joints: Sequence[str] | None, robot: Model | None = None
) -> list[list[Panel | None]]:
    """The panels, row by row; None where a quantity has none of the row's coordinates.

    The robot, if it is known, helps who asks for the joint of a body.
    """
    wanted = _chosen([c for one in quantities for c in one.coordinates], joints, () if robot is None else robot.bodies)
    found: list[list[Panel | None]] = []
    order = ("place", "turn", *UNITS)
    for kind in order:
        keys = [c.key for one in quantities for c in one.coordinates if c.row == kind and c.key in wanted]
        for some in _split(list(dict.fromkeys(keys)), kind):
            found.append([_panel(one, some, quantities) for one in quantities])
    return found


def of_motion(names: Names) -> tuple[list[Coordinate], list[Coordinate], list[Coordinate]]:
    """The coordinates of q, v and tau."""
    plain = set(names.q) & set(names.v)  # the others belong to joints with orientations
    unit_of = {units.rate: unit for unit, units in UNITS.items()}
    q = [_coordinate(name, unit, name in plain) for name, unit in zip(names.q, names.q_units, strict=True)]
    v = [_coordinate(name, unit_of[rate], name in plain) for name, rate in zip(names.v, names.v_units, strict=True)]
    tau = [one if one.name in plain else one._replace(name=_of_force(one.name)) for one in v]
    return q, v, tau


def _coordinate(name: str, unit: str, plain: bool) -> Coordinate:
    if plain:
        return Coordinate(name, name, unit, unit)
    joint, _, axis = name.rpartition(".")
    row = "place" if unit == "m" else "turn"
    return Coordinate(name, f"{joint}.{row}.{axis[-1:]}", row, "quaternion" if unit == "1" else unit)


def _of_force(name: str) -> str:
    return name[:-2] + _DUAL.get(name[-2:-1], "") + name[-1:]


def position_labels() -> dict[str, str]:
    """The labels of q, by unit."""
    return {unit: f"{words[0]} ({unit})" for unit, words in _QUANTITIES.items()} | {"quaternion": "quaternion"}


def motion_labels(order: int) -> dict[str, str]:
    """The labels of the derivative of that order of the coordinates, 1 for velocities."""
    found = {}
    for unit, (position, rate, prefix, _) in _QUANTITIES.items():
        later = prefix + _LATER[order] if order in _LATER else f"{nth(order)} rate of {position}"
        found[unit] = f"{rate if order == 1 else later} ({over_time(unit, order)})"
    return found


def force_labels(order: int) -> dict[str, str]:
    """The labels of the derivative of that order of forces, 0 for the forces themselves."""
    return {
        unit: f"{_rate(order)}{words[3]} ({over_time(UNITS[unit].force, order)})" for unit, words in _QUANTITIES.items()
    }


def input_labels(order: int) -> dict[str, str]:
    """The labels of inputs or of columns without a robot, whose units are not known."""
    return {"?": f"{_rate(order)}input"}


def _rate(order: int) -> str:
    return "" if order == 0 else "rate of " if order == 1 else f"{nth(order)} rate of "


def nth(number: int) -> str:
    """2nd, 3rd, ..."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _chosen(coordinates: Iterable[Coordinate], joints: Sequence[str] | None, bodies: Sequence[BodyRecord]) -> set[str]:
    """The keys of the coordinates of some joints, given by names of joints, soft bodies or single coordinates."""
    keys: dict[str, set[str]] = {}  # by all the names that a coordinate can be asked for by
    for one in coordinates:
        words = one.name.split(".")
        for end in range(1, len(words) + 1):
            keys.setdefault(".".join(words[:end]), set()).add(one.key)
    if joints is None:
        return set().union(*keys.values())
    listed = isinstance(joints, Sequence) and not isinstance(joints, (str, bytes))
    if not listed or not joints or not all(isinstance(name, str) for name in joints):
        raise ValueError(f"joints is {quoted(joints)}, expected a list of names")
    for name in joints:
        if name not in keys:
            hint = joint_hint(bodies, name, keys)
            raise ValueError(f"joints: no joint or coordinate is named {quoted(name)}: {hint}")
    return set().union(*(keys[name] for name in joints))


def _split(keys: list[str], kind: str) -> list[list[str]]:
    """The keys in parts of at most `LINES`, or more if there would be too many; families stay together if they can."""
    if not keys:
        return []
    most = max(LINES, -(-len(keys) // _ROWS))
    families: list[list[str]] = []
    before = None
    for key in keys:
        family = key.rpartition(".")[0] if kind in ("place", "turn") else re.sub(r"\d+", "", key.split(".")[0])
        if family != before or len(families[-1]) == most:
            families.append([])
        families[-1].append(key)
        before = family
    count = len(_packed(families, most))
    return next(parts for size in range(1, most + 1) if len(parts := _packed(families, size)) <= count)


def _packed(families: list[list[str]], most: int) -> list[list[str]]:
    """Families one after the other, a new part where the next one does not fit."""
    parts: list[list[str]] = []
    for family in families:
        if not parts or len(parts[-1]) + len(family) > most:
            parts.append([])
        parts[-1].extend(family)
    return parts


def _panel(one: Quantity, keys: list[str], all_of_them: Sequence[Quantity]) -> Panel | None:
    which = [i for i, c in enumerate(one.coordinates) if c.key in keys]
    if not which:
        return None
    chosen = [one.coordinates[i] for i in which]
    values = one.values[:, which]
    limits = np.array((-np.inf, np.inf)) if one.limits is None else one.limits[..., which, :]
    floor = noise(one.values, [each.values for each in all_of_them])
    limits = np.broadcast_to(limits, (*values.shape, 2))
    bottom, top = _reach(values, floor, limits)
    close = _close(values, limits)
    if len(which) == 1:  # its band ends where it does
        close = np.where((limits >= bottom) & (limits <= top), limits, close)
    shown = close[np.isfinite(close)]
    bottom, top = float(shown.min(initial=bottom)), float(shown.max(initial=top))
    label = one.labels[chosen[0].unit]
    return Panel(label, values, [c.name for c in chosen], [keys.index(c.key) for c in chosen], close, bottom, top)


def _close(values: Array, limits: Array) -> Array:
    """The limits (T, m, 2) while lines are close to them, or beyond; NaN at other times.

    Close is the outer quarter of the range on either side; with one limit only, twice the line's own reach. A limit
    that is the only line's is there at all times, if the line ever comes close.
    """
    found = np.full((*values.shape, 2), np.nan)
    for i, line in enumerate(values.T):
        finite = line[np.isfinite(line)]
        if not finite.size:
            continue
        lower, upper = limits[:, i, 0], limits[:, i, 1]
        margin = (upper - lower) / 4
        margin = np.where(np.isfinite(margin), margin, 2 * float(finite.max() - finite.min()))
        below, above = line < lower + margin, line > upper - margin
        for side, limit, within in ((0, lower, below), (1, upper, above)):
            within = within & np.isfinite(limit)
            if within.any():
                shown = _widened(within) if values.shape[1] > 1 else np.isfinite(limit)
                found[shown, i, side] = limit[shown]
    return found


def _widened(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """With the times before and after, so that a single time makes a line."""
    wide = chosen.copy()
    wide[1:] |= chosen[:-1]
    wide[:-1] |= chosen[1:]
    return wide


def _reach(values: Array, floor: float, limits: Array) -> tuple[float, float]:
    """The lowest and highest value, 0 in place of rounding errors; more if all lines are level but for these.

    Lines at zero get a scale of their own, at most that of their limits: another one's, of other units perhaps, would
    say that they are small.
    """
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if high - low > max(floor, 1e-9 * max(abs(low), abs(high))):
        return (0.0 if abs(low) <= floor else low), (0.0 if abs(high) <= floor else high)
    centre = (low + high) / 2
    if abs(centre) > floor:
        return centre - 0.1 * abs(centre), centre + 0.1 * abs(centre)
    widest = float(np.abs(limits[np.isfinite(limits)]).max(initial=0.0))
    scale = max(widest if 0 < widest < 1 else 1.0, 1e3 * floor)
    return -scale, scale


def noise(values: Array, others: Iterable[Array]) -> float:
    """What counts as rounding error among numbers of one kind, next to others that were computed with them."""
    return max(1e-12, 1e-9 * largest(values), *(1e-12 * largest(each) for each in others))


def largest(values: Array) -> float:
    """The largest finite magnitude."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
