"""Names of nodes in a browser's scene, where "/" separates a node from its parent."""

from __future__ import annotations

from jounce._free_names import free
from jounce._printable import brief

_SLASH = "\u2215"  # looks like one


def node_name(name: str, taken: set[str]) -> str:
    """A name as part of a path, with a number if it is taken; marks it as taken.

    >>> node_name("left/hip", set())
    'left∕hip'
    """
    plain = brief(name).replace("/", _SLASH).strip() or "_"
    candidate = plain if plain not in taken else free(lambda n: f"{plain} ({n})", taken, 2)
    taken.add(candidate)
    return candidate
