"""What varies from member to member: numbers drawn from distributions, or the points of a grid.

A distribution is its quantile function: `at` maps points of the unit interval to values, so that any sequence of points
there, random or of low discrepancy, gives a sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from jounce._checks import quoted, real, reals
from jounce._extras import needed

Array = NDArray[np.float64]


@runtime_checkable
class Distribution(Protocol):
    """What a parameter may be drawn from: those of this file, or a class of your own."""

    @property
    def unit(self) -> str: ...
    def at(self, u: Array) -> Array:
        """The values (n,) at points (n,) between 0 and 1."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Any value from low to high, all as likely.

    >>> Uniform(1.0, 3.0, unit="kg").at(np.array([0.25]))
    array([1.5])
    """

    low: float
    high: float
    unit: str = ""

    def __post_init__(self) -> None:
        _between(self.low, self.high, -math.inf)

    def at(self, u: Array) -> Array:
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True)
class LogUniform:
    """Any value from low to high, each decade as likely: for stiffnesses and other numbers whose size is uncertain."""

    low: float
    high: float
    unit: str = ""

    def __post_init__(self) -> None:
        _between(self.low, self.high, 0.0)

    def at(self, u: Array) -> Array:
        return np.asarray(self.low * (self.high / self.low) ** u)


@dataclass(frozen=True)
class Normal:
    """A normal distribution, cut off below low and above high."""

    mean: float
    deviation: float
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not math.isfinite(real("mean", self.mean)):
            raise ValueError(f"mean is {self.mean}, expected a finite number")
        if not 0 < real("deviation", self.deviation) < math.inf:
            raise ValueError(f"deviation is {self.deviation}, expected a positive number")
        if not real("low", self.low) < real("high", self.high):
            raise ValueError(f"low and high are {self.low} and {self.high}, expected low < high")

    def at(self, u: Array) -> Array:
        special = needed("scipy.special", "a normal distribution")
        ends = special.ndtr([(end - self.mean) / self.deviation for end in (self.low, self.high)])
        values = self.mean + self.deviation * special.ndtri(ends[0] + (ends[1] - ends[0]) * u)
        return np.asarray(np.clip(values, self.low, self.high))


@dataclass(frozen=True, eq=False)
class Drawn:
    """A distribution of SciPy: ``Drawn(scipy.stats.triang(0.5, 0.0, 2.0), unit="kg")``."""

    distribution: Any
    unit: str = ""

    def __post_init__(self) -> None:
        if not callable(getattr(self.distribution, "ppf", None)):
            raise ValueError(
                f"distribution is {quoted(self.distribution)}, expected one of scipy.stats with its parameters, such "
                "as scipy.stats.triang(0.5, 0.0, 2.0)"
            )

    def at(self, u: Array) -> Array:
        return np.asarray(self.distribution.ppf(u), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Grid:
    """These values, every one of them: several grids make all combinations.

    >>> Grid([0.0, 0.5, 1.0], unit="kg").values.tolist()
    [0.0, 0.5, 1.0]
    """

    values: Array
    unit: str = ""

    def __init__(self, values: Sequence[float] | Array, unit: str = "") -> None:
        given = reals("values", values).copy()
        if given.ndim != 1 or not given.size or not np.isfinite(given).all():
            raise ValueError(f"values is {quoted(values)}, expected one or more finite numbers")
        if np.unique(given).size != given.size:
            raise ValueError(f"values is {quoted(values)}, expected each of them once")
        given.flags.writeable = False
        object.__setattr__(self, "values", given)
        object.__setattr__(self, "unit", unit)


def _between(low: float, high: float, least: float) -> None:
    if not least < real("low", low) < real("high", high) < math.inf:
        above = "" if least == -math.inf else f"{least:g} < "
        raise ValueError(f"low and high are {low} and {high}, expected {above}low < high, finite")
