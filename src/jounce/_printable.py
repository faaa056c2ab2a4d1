"""Text of strangers, such as names in files, for terminals and messages."""

from __future__ import annotations


def printable(words: str) -> str:
    r"""Text that stays on its line and moves no cursor: control characters in names are written as "\x1b".

    >>> printable("left\nfinger")
    'left\\nfinger'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def printable_lines(words: object) -> object:
    r"""The same for text of several lines, which stay so; anything but text is returned as it is.

    >>> printable_lines("two\nlines\x1b[2J")
    'two\nlines\\x1b[2J'
    """
    if not isinstance(words, str) or words.isprintable():
        return words
    return "\n".join(map(printable, words.split("\n")))
