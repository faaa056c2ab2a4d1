"""``jounce bench``: runs the races, prints them, writes JSON and pictures."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .cases import Case, cases
from .goals import judged
from .machine import machine
from .ours import our_call
from .peers import PEERS, Peer
from .race import TOLERANCE, Array, Call, LeftOut, disagreement, spread, timed


def selected(full: bool, only: Sequence[str]) -> list[Case]:
    """The cases whose name contains one of the words in `only`, or all cases if it is empty.

    Raises:
        ValueError: a word matches none.
    """
    everything = cases(full)
    for word in only:
        if not any(word.lower() in case.name.lower() for case in everything):
            names = "\n  ".join(case.name for case in everything)
            raise ValueError(f"no race is named {word!r}; there are\n  {names}")
    return [c for c in everything if not only or any(word.lower() in c.name.lower() for word in only)]


def raced(case: Case, seconds: float, peers: Mapping[str, Peer] = PEERS) -> dict[str, Any]:
    """One race, as JSON: jounce's time, and for each peer its status and, if its answer agrees, its time and ratio.

    A peer's status is "raced", "disagrees", "not installed", "left out" or "failed"; "why" says more.
    """
    result: dict[str, Any] = {
        "name": case.name, "quantity": case.quantity, "robot": case.subject, "order": case.order,
        "states": case.states, "threads": case.threads, "peers": [],
    }  # fmt: skip
    try:
        problem = case.problem()
    except LeftOut as reason:
        return {**result, "left_out": str(reason)}
    model = problem.model
    result |= {"bodies": problem.subject.bodies, "nv": model.nv, "tree": problem.subject.is_tree}
    ours = our_call(problem, case.threads)
    truth = ours.answer()
    result |= {"call": ours.label, "microseconds": timed([ours], seconds)[0].best * 1e6}
    for name in case.peers:
        entry: dict[str, Any] = {"peer": name}
        result["peers"].append(entry)
        call = _prepared(peers[name], problem, entry)
        if call is None or not _agrees(call, truth, entry):
            continue
        here, there = timed([ours, call], 2 * seconds)
        result["microseconds"] = min(result["microseconds"], here.best * 1e6)
        entry |= {
            "status": "raced", "microseconds": there.best * 1e6, "jounce_microseconds": here.best * 1e6,
            "ratio": there.best / here.best, "spread": spread(here, there),
        }  # fmt: skip
    return result


def _agrees(call: Call, truth: Array, entry: dict[str, Any]) -> bool:
    entry["call"] = call.label
    try:
        entry["error"] = disagreement(call.part(truth), call.answer())
    except Exception as fault:
        entry |= {"status": "failed", "why": _first_line(fault)}
        return False
    if not entry["error"] <= TOLERANCE:
        entry |= {"status": "disagrees", "why": f"relative difference {entry['error']:.1e}"}
        return False
    return True


def _prepared(peer: Peer, problem: Any, entry: dict[str, Any]) -> Call | None:
    if not peer.is_installed:
        entry |= {"status": "not installed", "why": f"pip install {peer.distribution}"}
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = peer.call(problem)
    except LeftOut as reason:
        entry |= {"status": "left out", "why": str(reason)}
        return None
    except Exception as fault:  # a peer's failure must not end the run
        entry |= {"status": "failed", "why": _first_line(fault)}
        return None
    if call is None:
        entry |= {"status": "left out", "why": f"it has no {problem.quantity} for this"}
    return call


def _first_line(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}".splitlines()[0][:200]


def results_of(
    chosen: Sequence[Case], full: bool, peers: Mapping[str, Peer] = PEERS, tell: Callable[[Case], None] = lambda _: None
) -> dict[str, Any]:
    """The races, the machine and the goals, as JSON; Ctrl-C ends it early, with the races done so far."""
    results: dict[str, Any] = {"format": 1, "full": full, "tolerance": TOLERANCE, "machine": machine(), "cases": []}
    try:
        for case in chosen:
            tell(case)
            results["cases"].append(raced(case, 0.2 if full else 0.1, peers))
    except KeyboardInterrupt:
        results["interrupted"] = True
    results["goals"] = judged(results)
    return results


def has_faults(results: Mapping[str, Any]) -> bool:
    """Whether a peer's answer differed from jounce's."""
    return any(p["status"] == "disagrees" for case in results["cases"] for p in case["peers"])


def run(output: Path, full: bool = False, only: Sequence[str] = ()) -> dict[str, Any]:
    """Races, prints tables, writes ``results.json`` and the pictures into `output`; returns the results."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .figure import draw
    from .report import show

    console = Console()
    chosen = selected(full, only)
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        started = False

        def tell(case: Case) -> None:
            nonlocal started
            progress.update(task, description=case.name, advance=1 if started else 0)
            started = True

        results = results_of(chosen, full, tell=tell)
    show(results, console)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "results.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    for written in (path, *draw(results, output)):
        console.print(f"written: {written}", soft_wrap=True, markup=False)
    return results
