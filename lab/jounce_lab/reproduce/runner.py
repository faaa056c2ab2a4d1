"""Runs experiments with a progress bar, prints their claims, writes their results."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .authors import by_paper
from .claims import VERDICTS, Result
from .registry import EXPERIMENTS, Experiment, find
from .report import write_report

COLOURS = dict(zip(VERDICTS, ("green", "green", "magenta", "cyan", "red", "yellow"), strict=True))


def reproduce(
    name: str, output: Path, quick: bool = False, full: bool = False, authors: Sequence[Path] = ()
) -> dict[str, Result]:
    """One experiment, or "all" of them with a report; "list" names them.

    Writes figures, CSV files and ``NAME.json`` into `output`, for "all" also ``report.html``.

    Args:
        full: also what A-fig4 leaves out because it takes long.
        authors: clones of what the papers' authors published: paper A's, which A-fig4 builds and races; paper C's, with
            whose figures C-panda compares; and paper D's, whose moduli D-sim2 reads.

    Raises:
        ValueError: no experiment has that name, or one of `authors` lacks expected files.
    """
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if name.lower() == "list":
        for experiment in EXPERIMENTS.values():
            console.print(f"[bold]{experiment.name:<11}[/bold] {experiment.title}", soft_wrap=True)
        return {}
    chosen = list(EXPERIMENTS.values()) if name.lower() == "all" else [find(name)]
    clones = by_paper(authors)
    begin = time.perf_counter()
    results = _run(chosen, output, quick, console, clones, full=full)
    for experiment in chosen:
        show(experiment, results[experiment.name], console)
    if name.lower() == "all":
        path = write_report(results, output / "report.html", time.perf_counter() - begin)
        console.print(_counted(results))
        console.print(f"written: {escape(str(path))}", soft_wrap=True)
    return results


def _run(
    chosen: list[Experiment], output: Path, quick: bool, console: Any, clones: Mapping[str, Path], **options: object
) -> dict[str, Result]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    results = {}
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        for i, experiment in enumerate(chosen):

            def tell(done: float, doing: str, before: int = i, name: str = experiment.name) -> None:
                progress.update(task, completed=before + min(done, 1.0), description=f"{name}: {doing}")

            tell(0.0, experiment.title)
            output.mkdir(parents=True, exist_ok=True)
            result = experiment.run(output, quick, tell, authors=clones.get(experiment.paper), **options)
            path = output / f"{experiment.name}.json"
            path.write_text(json.dumps(result.as_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            results[experiment.name] = result
    return results


def show(experiment: Experiment, result: Result, console: Any) -> None:
    """Prints the claims, what was left out, and where the files are."""
    from rich import box
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    console.rule(f"[bold]{experiment.name}[/bold]: {experiment.title}", align="left")
    table = Table(box=box.SIMPLE_HEAD, show_lines=False, expand=True)
    for heading, share in (("claim", 5), ("paper", 2), ("ours", 3), ("verdict", 2)):
        table.add_column(heading, ratio=share, overflow="fold")
    for c in result.claims:
        colour = COLOURS[c.verdict]
        table.add_row(
            f"{escape(c.text)} [dim]({escape(c.where)})[/dim]", escape(c.paper), escape(c.ours),
            f"[{colour}]{c.verdict}[/{colour}]",
        )  # fmt: skip
        if c.why:
            table.add_row(f"[dim]  {escape(c.why)}[/dim]", "", "", "")
    console.print(table)
    if result.left_out:
        console.print("[bold]Not in the paper, chosen here[/bold]")
        for what, instead in result.left_out:
            console.print(Padding(escape(f"{what}: {instead}"), (0, 0, 0, 2)))
    for note in result.notes:
        console.print(escape(note))
    for path in (*(path for path, _ in result.figures), *result.data):
        console.print(f"written: {escape(str(path))}", soft_wrap=True)
    console.print()


def _counted(results: dict[str, Result]) -> str:
    verdicts = [c.verdict for r in results.values() for c in r.claims]
    counts = ", ".join(f"{verdicts.count(v)} [{colour}]{v}[/{colour}]" for v, colour in COLOURS.items())
    return f"{len(verdicts)} claims: {counts}."
