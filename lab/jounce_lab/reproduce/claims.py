"""A paper's claims, what was found, and whether they hold."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of floats
Verdict = Literal[
    "holds",
    "holds, in one reading",
    "holds, read from a damaged copy",
    "holds with a change",
    "does not hold",
    "cannot be checked",
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Tell = Callable[[float, str], None]  # progress, 0 to 1, and what comes next


def silent(done: float, doing: str) -> None:
    """A `Tell` that does nothing."""


@dataclass(frozen=True)
class Claim:
    """One statement of a paper.

    Attributes:
        text: what it says.
        where: paper and place, such as "A, section 7, Fig. 4".
        paper: its number or word, as printed; empty if it has none.
        ours: what was found here.
        verdict: "holds"; "holds, in one reading" of what the paper leaves open; "holds, read from a damaged copy",
            where the only text at hand has lost something and the print may be right; "holds with a change" to what
            the authors wrote; "does not hold"; or "cannot be checked".
        why: explanation of a verdict that needs one: which reading, which damage, which change.

    >>> judged("2 + 2 is 5", "nowhere", "5", 2 + 2, lambda sum: sum == 5).verdict
    'does not hold'
    """

    text: str
    where: str
    paper: str
    ours: str
    verdict: Verdict
    why: str = ""


def judged(
    text: str,
    where: str,
    paper: str,
    ours: Any,
    holds: bool | Callable[[Any], bool],
    why: str = "",
    *,
    reading: str = "",
    damage: str = "",
    change: str = "",
) -> Claim:
    """A claim that was checked; `holds` may be a function of what was found. Numbers are written to two digits.

    Args:
        reading: how something that the paper leaves open was read; empty if nothing was.
        damage: how a damaged line of the text at hand was read.
        change: what was changed in what the authors wrote for it to hold. At most one of the three is given.
    """
    true = holds(ours) if callable(holds) else holds
    kinds: dict[Verdict, str] = {
        "holds, in one reading": reading,
        "holds, read from a damaged copy": damage,
        "holds with a change": change,
    }
    said = {verdict: how for verdict, how in kinds.items() if how}
    if len(said) > 1:
        raise ValueError(f"{text!r} {' and '.join(said)}: expected one of them")
    verdict: Verdict = next(iter(said), "holds") if true else "does not hold"
    return Claim(text, where, paper, written(ours), verdict, " ".join(part for part in (*said.values(), why) if part))


def agrees(text: str, where: str, error: float, tolerance: float, why: str = "", **how: str) -> Claim:
    """A claim that holds if an error, which is what was found, is below the tolerance; `how` as in `judged`."""
    return judged(text, where, "", error, error < tolerance, why, **how)


def unchecked(text: str, where: str, paper: str, why: str, ours: str = "") -> Claim:
    """A claim that cannot be checked, and why."""
    return Claim(text, where, paper, ours, "cannot be checked", why)


@dataclass(eq=False)
class Result:
    """What an experiment found.

    Attributes:
        claims: in the order of the paper.
        left_out: (what the paper does not say, what was chosen instead).
        figures: (path of a PNG, its caption).
        data: CSV files.
        notes: whatever else a reader should know.
    """

    claims: list[Claim] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    figures: list[tuple[Path, str]] = field(default_factory=list)
    data: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For ``json.dumps``."""
        return {
            "claims": [asdict(claim) for claim in self.claims],
            "left_out": [{"what": what, "chosen": chosen} for what, chosen in self.left_out],
            "figures": [{"file": path.name, "caption": caption} for path, caption in self.figures],
            "data": [path.name for path in self.data],
            "notes": self.notes,
        }


def written(value: Any) -> str:
    """Numbers to two or three digits, lists of them with commas.

    >>> written([1.23456e-7, 12.3456])
    '1.2e-07, 12.3'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        return ", ".join(written(x) for x in value)
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}" if value == 0 or 1e-3 < abs(value) < 1e5 else f"{value:.1e}"


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """A table with a header; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)
    return path


def off(result: Any, truth: Any) -> float:
    """The largest difference of two arrays, relative to the largest entry of the second."""
    a, b = np.asarray(result), np.asarray(truth)
    if a.shape != b.shape:
        raise ValueError(f"result has shape {a.shape}, truth {b.shape}: expected the same")
    return float(np.abs(a - b).max() / np.abs(b).max())
