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
    candidate, number = plain, 2
    while candidate in taken:
        candidate, number = f"{plain} ({number})", number + 1
    taken.add(candidate)
    return candidate
