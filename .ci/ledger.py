"""The ledger of the night: for each part, the commit, day and result of its last run. It is tracked, in ledger.md."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

LEDGER = Path(".ci/ledger.md")
OLD = 14  # days
CHANGES = "+changes"
HEAD = """# The night

Written by `.ci/nightly`, one line for the last run of each part. A commit with `+changes` had changes on top that were
not committed.

| part | commit | date | result | seconds | its last line |
|---|---|---|---|--:|---|
"""


@dataclass(frozen=True)
class Entry:
    part: str
    commit: str
    date: str
    result: str  # "passes" or "fails"
    seconds: int
    said: str


def read(root: Path) -> dict[str, Entry]:
    """The entries, by part."""
    file = root / LEDGER
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [line.strip("|").split("|", 5) for line in lines if line.startswith("| ")][1:]
    cells = ([cell.strip() for cell in row] for row in rows)
    return {row[0]: Entry(row[0], row[1], row[2], row[3], int(row[4]), row[5]) for row in cells}


def record(root: Path, entry: Entry, parts: Iterable[str]) -> None:
    """Replaces the part's line. `parts`: all there are, in their order; lines of others are removed."""
    entries = {**read(root), entry.part: entry}
    rows = [" | ".join(map(str, astuple(entries[part]))) for part in parts if part in entries]
    new = root / LEDGER.with_suffix(".new")
    new.write_text(HEAD + "".join(f"| {row} |\n" for row in rows), encoding="utf-8")
    os.replace(new, root / LEDGER)


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)


def commit_of(root: Path) -> str:
    """What is checked out; the ledger itself is not a change."""
    changed = _git(root, "status", "--porcelain", "--", ".", f":!{LEDGER}").stdout
    return _git(root, "rev-parse", "--short", "HEAD").stdout.strip() + (CHANGES if changed else "")


def ages(root: Path, watched: dict[str, tuple[str, ...]], today: datetime.date) -> dict[str, list[str]]:
    """Why the last run of a part says little about the code as it is now, and of which parts that is true.

    `watched`: by part, the paths of the code that it watches.
    """
    found: dict[str, list[str]] = {}
    entries = read(root)
    for part, paths in watched.items():
        for reason in _reasons(root, entries.get(part), paths, today):
            found.setdefault(reason, []).append(part)
    return found


def _reasons(root: Path, entry: Entry | None, paths: tuple[str, ...], today: datetime.date) -> Iterable[str]:
    if entry is None:
        yield "never run"
        return
    if entry.result != "passes":
        yield "failed"
    if (today - datetime.date.fromisoformat(entry.date)).days > OLD:
        yield f"older than {OLD} days"
    commit = entry.commit.removesuffix(CHANGES)
    if _git(root, "cat-file", "-e", f"{commit}^{{commit}}").returncode:
        yield "unknown commit"
    elif _git(root, "diff", "--quiet", commit, "HEAD", "--", *paths).returncode:
        yield "older than the code they watch"
    if entry.commit.endswith(CHANGES):
        yield "on changes that were not committed"


def summary(root: Path, watched: dict[str, tuple[str, ...]], today: datetime.date) -> str:
    found = ages(root, watched, today)
    late = {part for parts in found.values() for part in parts}
    lines = [f"The night: {len(watched) - len(late)} of {len(watched)} parts are up to date."]
    return "\n".join([*lines, *(f"  {reason}: {', '.join(parts)}" for reason, parts in sorted(found.items()))])
