"""Text of strangers, such as names in files, for terminals and messages."""

from __future__ import annotations


def printable(words: str) -> str:
    r"""Text that stays on its line and moves no cursor: control characters in names are written as "\x1b".

    >>> printable("left\nfinger")
    'left\\nfinger'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in words)


def brief(words: str) -> str:
    """The same, at most about 110 characters of it: a column of a table is as wide as its longest cell.

    >>> len(brief("x" * 10_000_000))
    113
    """
    plain = printable(words if len(words) <= 120 else f"{words[:100]}...{words[-10:]}")
    return plain if len(plain) <= 120 else f"{plain[:100]}...{plain[-10:]}"


def printable_lines(words: object) -> object:
    r"""The same for text of several lines, which stay so; anything but text is returned as it is.

    >>> printable_lines("two\nlines\x1b[2J")
    'two\nlines\\x1b[2J'
    """
    if not isinstance(words, str) or words.isprintable():
        return words
    return "\n".join(map(printable, words.split("\n")))
