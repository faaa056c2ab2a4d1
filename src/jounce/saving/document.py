"""XML as the writers need it: numbers that read back to the last bit, elements in order, two spaces per level."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from jounce._checks import quoted, text
from jounce.errors import SaveError

Element = ElementTree.Element
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def number(value: float) -> str:
    """The shortest digits that read back as the same number; whole numbers without a point.

    >>> number(0.1), number(2.0), number(-0.0), number(1 / 3)
    ('0.1', '2', '0', '0.3333333333333333')
    """
    digits = repr(float(value)).removesuffix(".0")
    return "0" if digits == "-0" else digits


def numbers(values: Iterable[float]) -> str:
    """Several, with spaces between them."""
    return " ".join(number(value) for value in values)


def add(parent: Element, tag: str, attributes: dict[str, str] | None = None) -> Element:
    """A new element at the end of another."""
    return ElementTree.SubElement(parent, tag, attributes or {})


def a_name(what: str, name: str) -> str:
    """The name, if XML can hold it."""
    found = _NO_XML.search(text(what, name))
    if found:
        raise SaveError(f"{what} is {quoted(name)}, which has the character {found[0]!r}, which no XML file can hold")
    return name


def text_of(root: Element) -> str:
    """The document, indented."""
    ElementTree.indent(root)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def a_path(path: object) -> Path | None:
    """Where to write; None for nowhere."""
    if path is None:
        return None
    if not isinstance(path, (str, os.PathLike)) or not (given := os.fsdecode(path)):
        raise ValueError(f"path is {quoted(path)}, expected the name of a file, or None")
    return Path(given)


def write(document: str, path: Path | None) -> str:
    """The document, which is also written to the file, if there is one."""
    if path is not None:
        try:
            path.write_text(document, encoding="utf-8", newline="\n")
        except (OSError, ValueError) as fault:  # the latter for a null character in the name
            reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
            raise SaveError(f"{quoted(str(path))}: cannot be written: {reason}") from None
    return document
