"""Results as one HTML page, with its pictures in it: nothing is fetched, no script runs."""

from __future__ import annotations

import base64
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jounce._checks import counted
from jounce.display.html import boxed, number, plain, table
from jounce.study import plots, reading
from jounce.study.pieces import DONE

if TYPE_CHECKING:
    import xarray as xr

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body{{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222;background:#fff}}
img{{max-width:100%}}h2{{margin-top:2em;font-size:1.15em}}</style></head><body>
<h1>{title}</h1>{body}</body></html>
"""
_REASONS, _WORST = 8, 5


def report(results: xr.Dataset, path: str | PathLike[str]) -> Path:
    """Writes the page: parameters, what became of the members, and for each measure its quantiles, distribution,
    convergence and worst members; Sobol indices and maps where the sample has them.

    Args:
        results: as `Study.run` returns them, finished or not.
        path: of the file.
    """
    path = Path(path)
    results = results.load()
    names = list(results.attrs["measures"])
    done = int((results["status"].values == DONE).sum())
    parts = [
        f"<p>{counted(results.sizes['member'], 'member')}, {done} with measures; sample: "
        f"{plain(results.attrs['method'])}.</p>",
        "<h2>Parameters</h2>",
        boxed(table(("parameter", "unit", "lowest", "highest"), map(_range(results), results.attrs["parameters"]))),
        "<h2>Members</h2>",
        boxed(table(("status", "members"), [[plain(k), str(n)] for k, n in reading.failures(results).items()])),
        _reasons(results),
    ]
    if done:
        found = reading.quantiles(results, (0, 0.05, 0.5, 0.95, 1))
        rows = [[plain(plots.label(results, name)), *map(number, found[name].values.tolist())] for name in names]
        parts += ["<h2>Measures</h2>", boxed(table(("", "least", "5 %", "median", "95 %", "most"), rows))]
        parts.append(_picture(plots.plot(results), "Distributions of the measures"))
        grids = list(results.attrs["grids"])
        for name in names:
            parts += [f"<h2>{plain(name)}</h2>", _worst(results, name)]
            if len(grids) >= 2:
                words = f"{name} over {grids[0]} and {grids[1]}"
                parts.append(_picture(plots.plot_map(results, grids[0], grids[1], name), words))
            elif not grids and done >= 4:
                sure = reading.convergence(results, name)
                parts.append(_picture(plots.plot_convergence(sure, f"mean {name}"), f"convergence of the mean {name}"))
            if results.attrs["method"] == "saltelli" and done == results.sizes["member"]:
                parts.append(_picture(plots.plot_indices(reading.sobol_indices(results, name)), "Sobol indices"))
    path.write_text(_PAGE.format(title=plain(results.attrs["title"]), body="\n".join(parts)), encoding="utf-8")
    return path


def _range(results: xr.Dataset) -> Any:
    def row(name: str) -> list[str]:
        values = results[name].values
        return [plain(name), plain(results[name].attrs.get("units", "")), number(values.min()), number(values.max())]

    return row


def _reasons(results: xr.Dataset) -> str:
    """The first few reasons, each once, with a member that has it."""
    lost = np.flatnonzero(results["status"].values > DONE)
    first: dict[str, int] = {}
    for member in lost.tolist():
        first.setdefault(str(results["reason"].values[member]), member)
        if len(first) == _REASONS:
            break
    rows = [[plain(reason), str(member)] for reason, member in first.items()]
    return boxed(table(("reason", "first member"), rows)) if rows else ""


def _worst(results: xr.Dataset, measure: str) -> str:
    found = reading.worst(results, measure, _WORST)
    parameters = list(results.attrs["parameters"])
    head = ("member", plots.label(results, measure), *(plots.label(results, name) for name in parameters))
    keys = (measure, *parameters)
    rows = [
        [str(int(found["member"][i])), *(number(float(found[key][i])) for key in keys)]
        for i in range(found.sizes["member"])
    ]
    return boxed(table(head, rows))


def _picture(figure: Any, words: str) -> str:
    made = BytesIO()
    figure.savefig(made, format="png", dpi=130)
    return f'<p><img alt="{plain(words)}" src="data:image/png;base64,{base64.b64encode(made.getvalue()).decode()}"></p>'
