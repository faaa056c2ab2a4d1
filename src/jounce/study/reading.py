"""What the results of a study say: quantiles, worst members, how sure an estimate is, and which parameter matters.

Members without measures are left out, and counted: a quantile of flights that did not fall says nothing of those that
did.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jounce._checks import near, quoted, real, whole
from jounce._extras import needed
from jounce.study.pieces import DONE

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


def quantiles(results: xr.Dataset, at: ArrayLike = (0.05, 0.5, 0.95)) -> xr.Dataset:
    """Of each measure, over the members that have one, along "quantile"; ``count`` is how many these are."""
    points = np.atleast_1d(np.asarray(at, dtype=np.float64))
    if points.ndim != 1 or not ((points >= 0) & (points <= 1)).all():
        raise ValueError(f"at is {quoted(at)}, expected numbers between 0 and 1")
    done = results.isel(member=np.flatnonzero(results["status"].values == DONE))
    if not done.sizes["member"]:
        raise ValueError("no member has measures")
    found = done[results.attrs["measures"]].quantile(points, dim="member", keep_attrs=True)
    return found.assign(count=done.sizes["member"])


def worst(results: xr.Dataset, measure: str, count: int = 5, *, largest: bool | None = None) -> xr.Dataset:
    """The members with the largest measure, or the smallest, the worst first, with their parameters.

    When `largest` is left out, the measure says which are worst: the largest, unless it has an attribute ``worst`` that
    is "smallest", as that of `Margin` is.

    ``study.flight(int(found.member[0])).show()`` shows the worst flight.
    """
    values = of(results, measure)
    if largest is None:
        largest = results[measure].attrs.get("worst") != "smallest"
    order = np.argsort(-values if largest else values, kind="stable")[: whole("count", count, 1, 10**6)]
    return results.isel(member=order[np.isfinite(values[order])])


def failures(results: xr.Dataset) -> dict[str, int]:
    """How many members there are of each status, those that are not there left out."""
    from jounce.study.pieces import MISSING, STATUSES

    status = results["status"].values
    names = {MISSING: "not computed", **dict(enumerate(STATUSES))}
    return {name: int(count) for key, name in names.items() if (count := (status == key).sum())}


def convergence(
    results: xr.Dataset, measure: str | xr.DataArray, what: str | float = "mean", *, confidence: float = 0.95
) -> xr.Dataset:
    """An estimate from the first members, the first two, four, ... up to all, with its interval.

    Args:
        results: of a study without grids; of one with grids, a part: ``unstacked(results).isel(mass=0)``.
        measure: its name, or an array of True and False along the members, such as ``results.status > 0``, of which the
            mean is a probability.
        what: "mean", or a number between 0 and 1 for that quantile.
        confidence: of the interval.

    Returns:
        ``estimate``, ``low`` and ``high`` along "count". The interval of a mean is Student's, that of a probability
        Wilson's, and that of a quantile from order statistics, without assumptions on its distribution. They hold for
        independent members; with a sample of low discrepancy, means are as a rule nearer than they say.
    """
    stats = needed("scipy.stats", "an interval of confidence")
    if not 0 < real("confidence", confidence) < 1:
        raise ValueError(f"confidence is {confidence}, expected a number between 0 and 1")
    if isinstance(measure, str):
        values, unit = of(results, measure), results[measure].attrs.get("units", "")
        values = values[np.isfinite(values)]
    else:
        values, unit = np.asarray(measure), "1"
        if values.dtype != bool or values.ndim != 1:
            raise ValueError("measure is an array, expected the name of a measure, or True and False along members")
    if what != "mean" and not (isinstance(what, (int, float)) and 0 < what < 1):
        raise ValueError(f"what is {quoted(what)}, expected 'mean' or a number between 0 and 1")
    if len(values) < 2:
        raise ValueError(f"{len(values)} members have the measure, expected 2 or more")
    counts = sorted({2**k for k in range(1, len(values).bit_length())} | {len(values)})
    rows = np.array([_estimate(values[:n], what, confidence, stats) for n in counts])
    xarray = needed("xarray", "a study")
    names = "estimate", "low", "high"
    columns = {name: ("count", rows[:, i], {"units": unit}) for i, name in enumerate(names)}
    return xarray.Dataset(columns, {"count": counts}, {"what": str(what), "confidence": confidence})


def _estimate(values: Array, what: str | float, confidence: float, stats: Any) -> tuple[float, float, float]:
    n = len(values)
    if values.dtype == bool:
        hits = int(values.sum())
        found = stats.binomtest(hits, n).proportion_ci(confidence, method="wilson")
        return hits / n, float(found.low), float(found.high)
    if what == "mean":
        mean = float(values.mean())
        reach = float(stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
        return mean, mean - reach, mean + reach
    ordered, part = np.sort(values), float(what)
    below = int(stats.binom.ppf((1 - confidence) / 2, n, part)) - 1  # index of the order statistic
    above = int(stats.binom.ppf((1 + confidence) / 2, n, part))
    low = ordered[below] if below >= 0 else -math.inf  # too few members to say
    high = ordered[above] if above < n else math.inf
    return float(np.quantile(values, part)), float(low), float(high)


def sobol_indices(results: xr.Dataset, measure: str, *, confidence: float = 0.95) -> xr.Dataset:
    """Which part of the variance of a measure each parameter causes: by itself, and together with others.

    By ``scipy.stats.sobol_indices``, from the results of a study with ``method="saltelli"``.

    Returns:
        ``first_order`` and ``total`` along "parameter", each with ``_low`` and ``_high``, ends of a bootstrap interval.
    """
    stats, xarray = needed("scipy.stats", "Sobol indices"), needed("xarray", "a study")
    names = list(results.attrs["parameters"])
    values, rows = of(results, measure), len(names) + 2
    if results.attrs.get("method") != "saltelli":
        raise ValueError("results are of a study with another sample, expected one with method='saltelli'")
    if missing := int((~np.isfinite(values)).sum()):
        raise ValueError(f"{missing} of {len(values)} members have no {measure!r}, and Sobol indices need all of them")
    A, B, *mixed = values.reshape(rows, -1)
    given = {"f_A": A[None], "f_B": B[None], "f_AB": np.stack(mixed)[:, None]}
    found = stats.sobol_indices(func=given, n=len(A))
    boot = found.bootstrap(confidence_level=confidence, n_resamples=999)
    columns = {}
    for key, own, ends in (
        ("first_order", found.first_order, boot.first_order),
        ("total", found.total_order, boot.total_order),
    ):
        low, high = ends.confidence_interval
        for name, column in ((key, own), (f"{key}_low", low), (f"{key}_high", high)):
            columns[name] = "parameter", np.ravel(column)
    return xarray.Dataset(columns, {"parameter": names}, {"measure": measure})


def unstacked(results: xr.Dataset) -> xr.Dataset:
    """The same along the grids, one dimension each, and "sample" last: for maps and tables.

    Of parameters that are drawn, the values are the same at each point of the grid.
    """
    xarray = needed("xarray", "a study")
    sizes = tuple(int(n) for n in results.attrs["shape"])
    if results.sizes["member"] != math.prod(sizes):
        raise ValueError(
            f"results have {results.sizes['member']} members, expected all {math.prod(sizes)} of the study"
        )
    grids = list(results.attrs["grids"])
    dims = (*grids, "sample")
    columns: dict[str, Any] = {}
    coords: dict[str, Any] = {}
    for name in results.variables:
        values = results[name].values.reshape(sizes)
        if name in grids:
            axis = grids.index(name)
            own = np.moveaxis(values, axis, 0).reshape(sizes[axis], -1)[:, 0]
            coords[name] = ((name,), own, results[name].attrs)
        elif name in results.attrs["parameters"]:
            coords[name] = (("sample",), values.reshape(-1, sizes[-1])[0], results[name].attrs)
        elif name == "member":
            coords[name] = (dims, values)
        else:
            columns[name] = (dims, values, results[name].attrs)
    return xarray.Dataset(columns, coords, results.attrs)


def of(results: xr.Dataset, measure: str) -> Array:
    """(members,) the values of a measure, NaN where there are none."""
    known = results.attrs.get("measures", [])
    if measure not in known:
        raise ValueError(f"no measure is named {quoted(measure)}: {near(str(measure), known)}")
    return np.asarray(results[measure].values, dtype=np.float64)
