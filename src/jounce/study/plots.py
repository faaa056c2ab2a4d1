"""Figures of results, with matplotlib: how a measure is distributed, maps, convergence, Sobol indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jounce._checks import near, quoted
from jounce._extras import needed
from jounce.display.style import BLUE, GREY, ORANGE, RC, tidy
from jounce.study import reading

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def plot(
    results: xr.Dataset, measures: Sequence[str] | None = None, *, path: str | PathLike[str] | None = None
) -> Figure:
    """How often each measure is below a value: its distribution function, with the 5, 50 and 95 % quantiles.

    Args:
        results: as `Study.run` returns them.
        measures: which; all when left out.
        path: file to save the figure to.
    """
    names = list(results.attrs["measures"]) if measures is None else list(measures)
    columns = min(len(names), 3)
    rows = -(-len(names) // columns)
    with _figure(2.5 * max(columns, 2), 2.3 * rows, path) as figure:
        for i, name in enumerate(names):
            values = np.sort(reading.of(results, name))
            values = values[np.isfinite(values)]
            ax = figure.add_subplot(rows, columns, i + 1)
            ax.step(values, np.arange(1, len(values) + 1) / max(len(values), 1), where="post", color=BLUE, lw=1.3)
            for part in (0.05, 0.5, 0.95) if len(values) else ():
                at = float(np.quantile(values, part))
                ax.plot([at, at], [0, part], color=ORANGE, lw=0.8, ls=(0, (4, 2)))
                ax.annotate(f"{at:.3g}", (at, 0), (2, 2), textcoords="offset points", fontsize=7, rotation=90)
            tidy(ax, label(results, name), "fraction of members" if i % columns == 0 else "")
            ax.set_ylim(0, 1)
    return figure


def plot_map(
    results: xr.Dataset,
    x: str,
    y: str,
    measure: str,
    *,
    level: float | None = None,
    path: str | PathLike[str] | None = None,
) -> Figure:
    """A measure over two parameters: over a grid the mean of what else is drawn, otherwise a point for each member.

    Args:
        results: as `Study.run` returns them.
        x, y: names of parameters.
        measure: its name; ``"failures"`` is the fraction of members that have no measures.
        level: a value whose contour is drawn; over a grid only.
        path: file to save the figure to.
    """
    known = list(results.attrs["parameters"])
    for each in (x, y):
        if each not in known:
            raise ValueError(f"no parameter is named {quoted(each)}: {near(str(each), known)}")
    failed = measure == "failures"
    values = (results["status"].values != 0).astype(float) if failed else reading.of(results, measure)
    words = "part without measures" if failed else label(results, measure)
    with _figure(3.8, 3.0, path) as figure:
        ax = figure.add_subplot()
        if {x, y} <= set(results.attrs["grids"]):
            columns, column = np.unique(results[x].values, return_inverse=True)
            rows, row = np.unique(results[y].values, return_inverse=True)
            total, count = np.zeros((2, len(rows), len(columns)))
            there = np.isfinite(values)
            np.add.at(total, (row[there], column[there]), values[there])
            np.add.at(count, (row[there], column[there]), 1)
            with np.errstate(invalid="ignore"):
                mean = total / count
            drawn: Any = ax.pcolormesh(columns, rows, mean, shading="nearest", cmap="cividis", rasterized=True)
            if level is not None and np.nanmin(mean) < level < np.nanmax(mean):
                ax.contour(columns, rows, mean, [level], colors=ORANGE, linewidths=1.3)
        else:
            order = np.argsort(np.where(np.isfinite(values), values, -np.inf))
            at = results[x].values[order], results[y].values[order]
            lost = ~np.isfinite(values[order])
            drawn = ax.scatter(at[0][~lost], at[1][~lost], c=values[order][~lost], s=6, lw=0, cmap="cividis")
            ax.scatter(at[0][lost], at[1][lost], marker="x", s=8, lw=0.6, color=ORANGE)
        figure.colorbar(drawn, ax=ax, label=words).outline.set_visible(False)
        ax.set(xlabel=label(results, x), ylabel=label(results, y))
    return figure


def plot_convergence(convergence: xr.Dataset, name: str = "", *, path: str | PathLike[str] | None = None) -> Figure:
    """An estimate over the number of members, with its interval, as `convergence` returns it."""
    with _figure(3.6, 2.4, path) as figure:
        ax = figure.add_subplot()
        count = convergence["count"].values
        ax.fill_between(count, convergence["low"], convergence["high"], color=BLUE, alpha=0.2, lw=0)
        ax.plot(count, convergence["estimate"], color=BLUE, lw=1.3, marker="o", ms=3)
        ends = np.stack([convergence["low"].values, convergence["high"].values])[:, len(count) // 2 :]
        ends = ends[np.isfinite(ends)]
        if ends.size and np.ptp(ends) > 0:  # with few members the interval is wider than the picture
            ax.set_ylim(ends.min() - 0.3 * np.ptp(ends), ends.max() + 0.3 * np.ptp(ends))
        ax.set_xscale("log", base=2)
        unit = convergence["estimate"].attrs.get("units", "")
        tidy(ax, "members", f"{name} ({unit})" if unit not in ("", "1") else name)
    return figure


def plot_indices(indices: xr.Dataset, *, path: str | PathLike[str] | None = None) -> Figure:
    """Sobol indices with their intervals, as `sobol_indices` returns them."""
    with _figure(3.6, 0.9 + 0.36 * indices.sizes["parameter"], path) as figure:
        ax = figure.add_subplot()
        place = np.arange(indices.sizes["parameter"])[::-1]
        for key, shift, colour, words in (
            ("first_order", 0.17, BLUE, "by itself"),
            ("total", -0.17, GREY, "with others"),
        ):
            middle = indices[key].values
            ends = np.abs(np.stack([indices[f"{key}_low"].values, indices[f"{key}_high"].values]) - middle)
            ax.barh(place + shift, middle, 0.3, xerr=ends, color=colour, label=words, error_kw={"lw": 0.8})
        ax.set_yticks(place, indices["parameter"].values)
        tidy(ax, f"part of the variance of {indices.attrs['measure']}")
        ax.set_xlim(0)
        ax.legend(frameon=False, fontsize=7, loc="lower right")
    return figure


def label(results: xr.Dataset, name: str) -> str:
    """A name with its unit."""
    unit = results[name].attrs.get("units", "")
    return f"{name} ({unit})" if unit not in ("", "1") else name


@contextmanager
def _figure(width: float, height: float, path: str | PathLike[str] | None) -> Iterator[Figure]:
    """A figure in the style of all others, inches, saved at the end if there is a path; it needs no display."""
    needed("matplotlib", "a figure")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=200)
