"""The results as Markdown, inserted between the markers of a page.

``<!-- bench -->`` ... ``<!-- /bench -->`` takes the goals, ``<!-- bench: all -->`` ... ``<!-- /bench -->`` every race.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .report import headline, microseconds, number, remarks

_MARKED = re.compile(r"(<!-- bench(: all)? -->\n).*?(<!-- /bench -->)", re.DOTALL)


def write_into(page: Path, results: dict[str, Any]) -> None:
    """Replaces what is between the markers of the page.

    Raises:
        ValueError: it has none.
    """
    text, count = _MARKED.subn(lambda m: m[1] + (everything if m[2] else summary)(results) + m[3], page.read_text())
    if count == 0:
        raise ValueError(f"{page} has no <!-- bench --> ... <!-- /bench -->")
    page.write_text(text)


def summary(results: dict[str, Any]) -> str:
    """The goals, with what was found."""
    lines = [
        headline(results),
        "",
        "| race | against | its time | jounce | times as fast | goal |",
        "|---|---|--:|--:|--:|--:|",
    ]
    found = {(c["name"], p["peer"]): p for c in results["cases"] for p in c["peers"]}
    for g in results["goals"]:
        peer = found.get((g["case"], g["peer"]), {})
        if g["ratio"] is None:
            cells = ["", "", g["status"]]
        else:
            theirs, ours = (f"{microseconds(peer[key])} µs" for key in ("microseconds", "jounce_microseconds"))
            cells = [theirs, ours, number(g["ratio"]) if g["holds"] else f"**{number(g['ratio'])}**"]
        lines.append(_row(g["case"], f"{g['peer']}, {g['what']}", *cells, f"{g['goal']:g}"))
    return "\n".join([*lines, "", "In bold: the goal is missed.", ""])


def everything(results: dict[str, Any]) -> str:
    """All races, and what was left out."""
    heading = "| race | jounce | peer | its time | times as fast | quartiles | answers differ by |"
    lines = [headline(results), "", heading, "|---|--:|---|--:|--:|--:|--:|"]
    for case in results["cases"]:
        for p in case["peers"]:
            if p["status"] == "raced":
                between = f"{number(p['spread'][0])} to {number(p['spread'][1])}"
                ours, theirs = (f"{microseconds(p[key])} µs" for key in ("jounce_microseconds", "microseconds"))
                peer = f"{p['peer']} `{p['call']}`"
                lines.append(_row(case["name"], ours, peer, theirs, number(p["ratio"]), between, f"{p['error']:.0e}"))
    left = [f"- {line}" for line, _ in remarks(results)]
    return "\n".join([*lines, "", *(["Not timed:", "", *left, ""] if left else [])])


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
