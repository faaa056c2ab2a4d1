"""The table of a study: which values the parameters have in which member.

Parameters with a distribution get the coordinates of points in the unit cube. Parameters with a grid get all
combinations, the last one changing fastest, and at each combination the others have the same sample: what differs
between two points of the grid is then due to the grid, not to luck.

For Sobol indices, the sample is that of Saltelli et al. (Variance based sensitivity analysis of model output,
Comput. Phys. Commun. 181, 2010): two independent tables A and B of n rows, and for every parameter i the table A with
column i of B. They follow each other.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jounce._extras import needed
from jounce.study.parameters import Distribution, Grid

Array = NDArray[np.float64]
Method = Literal["sobol", "halton", "latin", "random", "saltelli"]
METHODS: tuple[str, ...] = ("sobol", "halton", "latin", "random", "saltelli")
_ENGINES = {"sobol": "Sobol", "halton": "Halton", "latin": "LatinHypercube"}
_END = 2.0**-53  # quantiles are finite from here to 1 minus this


def shape(parameters: Mapping[str, Distribution | Grid], samples: int | None, method: Method) -> tuple[int, ...]:
    """The length of each grid, and the number of samples, last; their product is that of the members."""
    drawn = sum(not isinstance(each, Grid) for each in parameters.values())
    count = samples or 1
    grid = tuple(each.values.size for each in parameters.values() if isinstance(each, Grid))
    return (*grid, count * (drawn + 2) if method == "saltelli" else count)


def table(parameters: Mapping[str, Distribution | Grid], samples: int | None, method: Method, seed: int) -> Array:
    """(members, parameters)."""
    sizes = shape(parameters, samples, method)
    drawn = [name for name, each in parameters.items() if not isinstance(each, Grid)]
    points = _points(len(drawn), samples or 1, method, seed)
    columns, place = [], 0
    for name, each in parameters.items():
        if isinstance(each, Grid):
            repeated = np.repeat(each.values, math.prod(sizes[place + 1 :]))
            columns.append(np.tile(repeated, math.prod(sizes[:place])))
            place += 1
            continue
        values = np.asarray(each.at(np.clip(points[:, drawn.index(name)], _END, 1 - _END)), dtype=np.float64)
        if values.shape != (len(points),) or not np.isfinite(values).all():
            raise ValueError(f"parameter {name!r}: its distribution gives values that are not finite numbers, one each")
        columns.append(np.tile(values, math.prod(sizes[:-1])))
    return np.stack(columns, axis=1) if columns else np.empty((sizes[-1], 0))


def _points(dimensions: int, count: int, method: Method, seed: int) -> Array:
    """(n, dimensions) in the unit cube."""
    if dimensions == 0:
        return np.empty((count, 0))
    if method == "random":
        return np.random.default_rng(seed).random((count, dimensions))
    if method != "saltelli":
        return _sequence(_ENGINES[method], dimensions, count, seed)
    both = _sequence("Sobol", 2 * dimensions, count, seed)
    first, second = both[:, :dimensions], both[:, dimensions:]
    mixed = []
    for i in range(dimensions):
        mixed.append(first.copy())
        mixed[-1][:, i] = second[:, i]
    return np.concatenate([first, second, *mixed])


def _sequence(engine: str, dimensions: int, count: int, seed: int) -> Array:
    qmc: Any = needed("scipy.stats.qmc", "a sample of low discrepancy")
    kind = getattr(qmc, engine)
    key = "rng" if "rng" in inspect.signature(kind).parameters else "seed"  # its name before SciPy 1.15
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The balance properties", UserWarning)  # of a number that is no power of 2
        points = kind(dimensions, **{key: np.random.default_rng(seed)}).random(count)
    return np.asarray(points, dtype=np.float64)
