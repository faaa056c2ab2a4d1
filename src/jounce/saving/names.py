"""Names that are not taken yet."""

from __future__ import annotations

import itertools


def unused(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; marks it as taken."""
    numbered = (f"{name}_{n}" for n in itertools.count(2))
    free = next(each for each in itertools.chain([name], numbered) if each not in taken)
    taken.add(free)
    return free
