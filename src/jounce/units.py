"""Units of coordinates, of their rates and of the forces on them.

A force times a rate is a power, so the unit of one gives that of the other. "1" is dimensionless: quaternions, and
strains of soft bodies that are not scaled by a length. "?" is for coordinates whose unit jounce does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from jounce._checks import quoted


class Units(NamedTuple):
    """The units of the rate of a coordinate, and of the force on it."""

    rate: str
    force: str


UNITS = {
    "m": Units("m/s", "N"),
    "rad": Units("rad/s", "N m"),
    "1": Units("1/s", "N m"),
    "1/m": Units("1/(m s)", "N m^2"),
    "?": Units("?/s", "?"),
}


def over_time(unit: str, order: int) -> str:
    """The unit of the time derivative of that order.

    >>> over_time("rad", 1), over_time("N m^2", 2), over_time("1/m", 1)
    ('rad/s', 'N m²/s²', '1/(m s)')
    """
    written = unit.replace("^2", "²")
    if order == 0:
        return written
    seconds = "s" + (str(order) if order > 1 else "").translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    above, _, below = written.partition("/")
    return f"{above}/({below} {seconds})" if below else f"{above}/{seconds}"


def labels(what: str, names: Any, units: Any, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of n coordinates as given, checked; without names the result has none, without units all "?"."""
    for key, given in ((f"{what}names", names), (f"{what}units", units)):
        listed = isinstance(given, Sequence) and not isinstance(given, str)
        if not listed or len(given) not in (0, n) or not all(isinstance(x, str) and x for x in given):
            raise ValueError(f"{key} is {quoted(given)}, expected {n} strings, one for each coordinate")
    if len(set(names)) < len(names):
        raise ValueError(f"{what}names is {quoted(names)}, expected each at most once")
    if not set(units) <= set(UNITS):
        raise ValueError(f"{what}units is {quoted(units)}, expected each to be one of {', '.join(map(repr, UNITS))}")
    return tuple(names), tuple(units) or ("?",) * n
