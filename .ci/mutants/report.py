"""What became of the mutants: a table by file, and the survivors.

equivalent.json lists mutants that compute the same as the original, with the reason.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def equivalents() -> dict[tuple[str, str, str], str]:
    """Reasons, by file and line, original and mutated."""
    entries = json.loads((Path(__file__).parent / "equivalent.json").read_text())
    return {(entry["file"], entry["was"], entry["mutant"]): entry["reason"] for entry in entries}


def alive(plan: list[dict[str, Any]], results: dict[str, Any]) -> list[dict[str, Any]]:
    """The mutants that no test killed, without equivalent ones."""
    known, no = equivalents(), {"how": ""}
    found = [m for m in plan if results.get(str(m["number"]), no)["how"] in ("survived", "not met")]
    return [m for m in found if (m["file"], m["was"], m["mutant"]) not in known]


def report(plan: list[dict[str, Any]], results: dict[str, Any]) -> str:
    known = equivalents()
    rows: dict[str, list[int]] = {}
    living, same = [], []
    for mutant in plan:
        result = results.get(str(mutant["number"]))
        if result is None or result["how"] == "again":
            continue
        killed = result["how"] not in ("survived", "not met")
        reason = known.get((mutant["file"], mutant["was"], mutant["mutant"]))
        row = rows.setdefault(mutant["file"], [0, 0, 0, 0])
        row[0] += 1
        row[1] += killed
        if not killed:
            row[2 if reason else 3] += 1
            (same if reason else living).append((mutant, result, reason))
    total = [sum(column) for column in zip(*rows.values(), strict=True)] if rows else [0, 0, 0, 0]
    lines = ["| file | mutants | killed | equivalent | alive |", "|---|---|---|---|---|"]
    for name, row in [*sorted(rows.items()), ("all", total)]:
        lines.append(
            f"| `{name}` | {row[0]} | {row[1]} | {row[2]} | {row[3]} |"
            if name != "all"
            else "| all | {} | {} | {} | {} |".format(*row)
        )
    real = total[0] - total[2]
    lines.append("")
    for title, group in (("Alive", living), ("Equivalent", same)):
        lines.append(f"{title}: {len(group)}")
        for mutant, result, reason in group:
            lines += [
                f"  {mutant['file']}:{mutant['line']} [{mutant['number']}] {mutant['change']} "
                f"({result['how']}, {result.get('tests', 0)} tests)",
                f"    - {mutant['was']}",
                f"    + {mutant['mutant']}",
            ]
            lines += [f"    {reason}"] if reason else []
    share = 100 * total[1] / max(real, 1)
    lines += ["", f"{len(living)} alive; killed {total[1]} of {real} that are not equivalent: {share:.1f} %."]
    return "\n".join(lines)
