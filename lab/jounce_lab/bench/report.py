"""The results, for reading in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def show(results: dict[str, Any], console: Console) -> None:
    """Prints the machine, all races, what was left out, and the goals."""
    from rich.markup import escape
    from rich.table import Table

    console.print(headline(results), soft_wrap=True, markup=False)
    table = Table(
        title="Microseconds a state, best of many; ratio: how many times as long the peer takes", title_justify="left"
    )
    for heading, side in (("race", "left"), ("jounce", "right"), ("peer", "left"), ("its time", "right"),
                          ("ratio", "right"), ("quartiles", "right"), ("answers differ by", "right")):  # fmt: skip
        table.add_column(heading, justify=side, no_wrap=heading not in ("race", "peer"))  # type: ignore[arg-type]
    for case in results["cases"]:
        if "microseconds" not in case:
            continue
        name, time = case["name"], microseconds(case["microseconds"])
        fair = [p for p in case["peers"] if p["status"] == "raced"]
        if not fair:
            table.add_row(escape(name), time, "", "", "", "", "")
        for p in fair:
            low, high = p["spread"]
            time, theirs = microseconds(p["jounce_microseconds"]), microseconds(p["microseconds"])
            ratio = number(p["ratio"])
            between = f"{number(low)} … {number(high)}"
            peer = escape(f"{p['peer']} {p['call']}")
            table.add_row(escape(name), time, peer, theirs, ratio, between, f"{p['error']:.0e}")
            name = ""
    console.print(table)
    for line, wrong in remarks(results):
        console.print(line, style="red" if wrong else "", soft_wrap=True, highlight=False, markup=False)
    goals = Table(title="Goals", title_justify="left")
    for heading, side in (("race", "left"), ("against", "left"), ("goal", "right"), ("found", "right"),
                          ("quartiles", "right"), ("", "left")):  # fmt: skip
        goals.add_column(heading, justify=side)  # type: ignore[arg-type]
    for g in results["goals"]:
        found, between, verdict = "", "", f"[dim]{escape(g['status'])}[/dim]"
        if g["ratio"] is not None:
            found, between = number(g["ratio"]), f"{number(g['spread'][0])} … {number(g['spread'][1])}"
            verdict = "[green]holds[/green]" if g["holds"] else "[red]does not hold[/red]"
        against = escape(f"{g['peer']}, {g['what']}")
        goals.add_row(escape(g["case"]), against, f"{g['goal']:g}", found, between, verdict)
    console.print(goals)


def headline(results: dict[str, Any]) -> str:
    """The machine, the versions and the date in a sentence."""
    m = results["machine"]
    names = {"jounce": "jounce", "pin": "Pinocchio", "mujoco": "MuJoCo", "casadi": "CasADi", "jax": "JAX",
             "adam-robotics": "adam"}  # fmt: skip
    versions = ", ".join(f"{names[k]} {v}" for k, v in m["versions"].items() if k in names and v)
    return (
        f"{m['processor']}, {m['cores']} cores, {m['instruction_set']} kernels, load {m['load']} at the start, "
        f"{m['date']}; Python {m['python']}, {versions}."
    )


def remarks(results: dict[str, Any]) -> list[tuple[str, bool]]:
    """What was not timed and why, one line per reason; True if that is a fault."""
    reasons: dict[tuple[str, str, bool], list[str]] = {}
    for case in results["cases"]:
        if "left_out" in case:
            reasons.setdefault((case["robot"], case["left_out"], False), []).append(case["name"])
        for p in case["peers"]:
            if p["status"] != "raced":
                wrong = p["status"] in ("disagrees", "failed")
                key = p["peer"], p["status"] + (f": {p['why']}" if p.get("why") else ""), wrong
                reasons.setdefault(key, []).append(case["name"])
    return [
        (f"{who} {why} ({cases[0] if len(cases) == 1 else f'{len(cases)} races, such as {cases[0]}'})", wrong)
        for (who, why, wrong), cases in reasons.items()
    ]


def microseconds(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def number(value: float) -> str:
    """A ratio, to two or three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
