"""Whose code a folder has: clones of what the authors published, which this package does not include."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# By paper: where its code is, and a file of it.
PUBLISHED = {
    "A": ("https://github.com/ahmed11406/Dynamics", "grne_id.hpp"),
    "C": ("https://github.com/shivesh1210/nth_order_eom_time_derivatives", "NthOrder_RecursiveInvDyn_BodyFixed.m"),
    "D": ("https://github.com/piepustina/Jelly", "src/classes/BodyTree.m"),
}


def by_paper(folders: Iterable[Path]) -> dict[str, Path]:
    """The folders by the letter of their paper.

    Raises:
        ValueError: one of them has none of that code.
    """
    found = {}
    for folder in folders:
        papers = [paper for paper, (_, file) in PUBLISHED.items() if (folder / file).is_file()]
        if not papers:
            expected = ", or ".join(
                f"of {where} with its {file} (paper {key})" for key, (where, file) in PUBLISHED.items()
            )
            raise ValueError(f"authors is {str(folder)!r}, expected a clone {expected}")
        found[papers[0]] = folder
    return found
