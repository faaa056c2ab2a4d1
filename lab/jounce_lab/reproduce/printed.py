"""Formulas as printed against the truth, and what to say if the print is in doubt."""

from __future__ import annotations

import numpy as np

from .claims import Array, Claim, judged, off, written


def to_the_letter(text: str, where: str, printed: Array, truth: Array, why: str, tolerance: float = 1e-9) -> Claim:
    """A formula as the paper prints it: where it differs most from the truth, its value and the right one."""
    error = off(printed, truth)
    worst = np.unravel_index(np.abs(printed - truth).argmax(), np.shape(truth))
    paper, ours = (written(float(x[worst])) for x in (printed, truth))
    return judged(
        f"{text}: the entry that differs most", where, paper, f"{ours} (relative error {written(error)})",
        error < tolerance, why,
    )  # fmt: skip


def in_doubt(
    text: str,
    where: str,
    literal: Array,
    read: Array,
    truth: Array,
    how: str,
    confirmed: str = "",
    tolerance: float = 1e-9,
) -> Claim:
    """A line that is damaged in the only text available: what is judged is how it is read here.

    Args:
        literal, read: results of the line as it stands there, and as it is read here.
        how: how it is read.
        confirmed: where the authors themselves have it so.
    """
    error = off(read, truth)
    ours = f"relative error {written(error)} as read here, {written(off(literal, truth))} as it stands"
    return judged(
        text, where, "", ours, error < tolerance, confirmed,
        damage=f"The text at hand is damaged there, and the print may be right. Read here: {how}",
    )  # fmt: skip
