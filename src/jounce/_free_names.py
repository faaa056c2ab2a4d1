"""Names with a number where others have the plain one, in files of any kind."""

from __future__ import annotations

from collections.abc import Callable, Container


def free(numbered: Callable[[int], str], taken: Container[str], first: int = 1) -> str:
    """A name that is not taken, quickly: there may be thousands that are.

    Args:
        numbered: the name with a number.
        taken: names.
        first: the least number; it gets that one if it is free, and the next after some that are taken otherwise.

    >>> free("leg {}".format, {"leg 1", "leg 2", "leg 3"})
    'leg 4'
    """
    low, high = first - 1, first
    while numbered(high) in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if numbered(middle) in taken else (low, middle)
    return numbered(high)
