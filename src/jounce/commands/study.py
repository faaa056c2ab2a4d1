"""``jounce study``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from jounce._checks import counted
from jounce._extras import needed
from jounce.commands.options import faults_in_one_line, one_line, whole_number

if TYPE_CHECKING:
    import xarray as xr


def add(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(study)


def study(
    file: Path = typer.Argument(metavar="FILE", help="A .toml file, or a .py file with a study as a variable."),  # noqa: B008
    store: str | None = typer.Option(
        None, metavar="PLACE", help="Folder or URL to write results to; FILE with .zarr when left out."
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on with what is there already."),
    workers: int | None = typer.Option(
        None, parser=whole_number, metavar="NUMBER", help="Processes on this machine; one for each core when left out."
    ),
    cluster: str | None = typer.Option(
        None, metavar="ADDRESS", help="Scheduler of a Dask cluster to use, such as tcp://127.0.0.1:8786."
    ),
    report: Path | None = typer.Option(None, metavar="FILE", help="Page to write about it, .html."),  # noqa: B008
) -> None:
    """Compute a study: a robot and its motion for many parameters, on all cores or on a cluster."""
    with faults_in_one_line():
        _check(report, workers, cluster)
        from jounce.study import report as written
        from jounce.study.files import study_from
        from jounce.study.store import is_there

        described = study_from(file)
        place = str(file.with_suffix(".zarr")) if store is None else store
        if not resume and is_there(place):
            raise ValueError(f"{place} is there already: --resume goes on with it, --store names another place")
        options: dict[str, Any] = {"store": place, "progress": True if sys.stderr.isatty() else None}
        if cluster is None:
            results = described.run(workers=workers, **options)
        else:
            with _connected(cluster) as client:
                results = described.run(client, **options)
        _tell(described.title, results, place)
        if report is not None:
            print(f"wrote {written(results, report)}")


def _check(report: Path | None, workers: int | None, cluster: str | None) -> None:
    if report is not None:
        if report.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"--report is {str(report)!r}, expected a name that ends in .html")
        if not report.parent.is_dir():
            raise ValueError(f"--report is {str(report)!r}, but there is no folder {str(report.parent)!r}")
        needed("matplotlib", "a figure")
    if workers is not None and cluster is not None:
        raise ValueError("--workers is for this machine, expected it without --cluster")


def _connected(address: str) -> Any:
    distributed = needed("distributed", "a cluster")
    try:
        return distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as fault:
        why = " ".join(str(fault).split()) or type(fault).__name__
        sys.exit(one_line(f"the cluster at {address} cannot be reached: {why}"))


def _tell(title: str, results: xr.Dataset, place: str) -> None:
    """What became of the members, and the quantiles of the measures."""
    from jounce.study import failures, quantiles

    said = failures(results)
    print(f"{title}: {counted(results.sizes['member'], 'member')}, in {place}")
    print(", ".join(f"{count} {status}" for status, count in said.items()))
    if "done" not in said:
        return
    names = list(results.attrs["measures"])
    found = quantiles(results, (0, 0.05, 0.5, 0.95, 1))
    width = max(map(len, ("measure", *names)))
    print(f"\n{'measure':{width}}  {'least':>10}  {'5 %':>10}  {'median':>10}  {'95 %':>10}  {'most':>10}")
    for name in names:
        unit = results[name].attrs.get("units", "")
        numbers = "  ".join(f"{value:10.4g}" for value in found[name].values.tolist())
        print(f"{name:{width}}  {numbers}{'' if unit in ('', '1') else ' ' + unit}")
