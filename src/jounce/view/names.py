"""Names of nodes in a browser's scene, where "/" separates a node from its parent."""

from __future__ import annotations

from jounce._checks import printable

_SLASH = "\u2215"  # looks like one


def node_name(name: str, taken: set[str]) -> str:
    """A name as part of a path, with a number if it is taken; marks it as taken.

    >>> node_name("left/hip", set())
    'left∕hip'
    """
    plain = printable(name).replace("/", _SLASH).strip() or "_"
    plain = plain if len(plain) <= 120 else f"{plain[:100]}...{plain[-10:]}"
    candidate = plain if plain not in taken else f"{plain} ({_number(plain, taken)})"
    taken.add(candidate)
    return candidate


def _number(plain: str, taken: set[str]) -> int:
    """One that is not taken; the first, if all below it are. There may be thousands."""
    low, high = 1, 2
    while f"{plain} ({high})" in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if f"{plain} ({middle})" in taken else (low, middle)
    return high
