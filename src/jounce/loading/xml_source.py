"""XML of robot descriptions: read strictly, with the line of every element, and safe against hostile files.

The standard library's expat does the parsing. Document types are refused, and with them entities, external files and
expansions that fill memory; so are nesting and sizes beyond those of any robot. Nothing here recurses.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

from jounce._checks import close
from jounce.errors import LoadError, MissingFileError
from jounce.loading.regular_files import Within, regular_bytes, too_large

MAX_BYTES = 100_000_000
MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 100
_XACRO = "xacro:"
_LABELS = 4  # maximum number of nested elements in a label
MAX_NUMBER = 1e30  # beyond it products overflow; no robot comes near

_LOOKS = (  # how files begin that are passed by mistake
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"PXR-USDC", "USD: export it as URDF or MJCF first"),
    (b"#usda", "USD: export it as URDF or MJCF first"),
    (b"glTF", "a mesh"),
    (b"solid", "a mesh"),
    (b"ply", "a mesh"),
    (b"version https://git-lfs", "a Git LFS pointer: run `git lfs pull` where it came from"),
    (b"{", "JSON"),
)


class Element:
    """An element of a file: its tag, attributes and children, and where it is."""

    __slots__ = ("attributes", "children", "line", "parent", "source", "tag")

    def __init__(self, source: str, line: int | None, parent: Element | None, tag: str, attributes: dict[str, str]):
        self.source = source
        self.line = line
        self.parent = parent
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element] = []

    def missing(self, name: str) -> MissingFileError:
        """The error that a file which this element names does not exist."""
        return MissingFileError(str(self.error(f"file {short(name)!r} does not exist")), name)

    def error(self, fault: str) -> LoadError:
        """An error that says where: file, line, and the element inside the nearest one with a name."""
        line = "" if self.line is None else f", line {self.line}"
        return LoadError(f"{self.source}{line}: {self.label()}: {fault}")

    def label(self) -> str:
        """The element in a form that is easy to find, ``<joint name="elbow"> <origin>``."""
        words: list[str] = []
        element: Element | None = self
        while element is not None and len(words) < _LABELS:
            name = element.attributes.get("name")
            words.append(f"<{short(element.tag)}>" if name is None else f'<{short(element.tag)} name="{short(name)}">')
            above = element.parent
            element = None if name is not None or above is None or above.parent is None else above
        return " ".join(reversed(words))

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """The child with that tag, None if there is none; two are an error."""
        found = None
        for child in self.children:
            if child.tag == tag:
                if found is not None:
                    raise child.error(f"is the second <{tag}>, expected one")
                found = child
        return found

    def required(self, tag: str) -> Element:
        found = self.only(tag)
        if found is None:
            raise self.error(f"has no <{tag}>")
        return found

    def text(self, key: str) -> str:
        """An attribute that must be present and not empty."""
        value = self.attributes.get(key)
        if value is None:
            raise self.error(f"has no attribute {key!r}")
        if not value.strip():
            raise self.error(f"attribute {key!r} is empty")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number; without a default the attribute must be present."""
        value = self.real(key, default)
        if not -MAX_NUMBER < value < MAX_NUMBER:
            raise self._unexpected(key, "a finite number of a robot's size")
        return value

    def real(self, key: str, default: float | None = None) -> float:
        """A number that may be infinite, such as a limit."""
        if default is not None and key not in self.attributes:
            return default
        value = _float(self.text(key))
        if value != value:
            raise self._unexpected(key, "a number")
        return value

    def numbers(self, key: str, count: int, default: tuple[float, ...]) -> Sequence[float]:
        """`count` finite numbers, separated by spaces."""
        given = self.attributes.get(key)
        if given is None:
            return default
        found = [_float(word) for word in given.split(None, count)]
        if len(found) != count or any(x != x for x in found):
            raise self._unexpected(key, f"{count} numbers separated by spaces")
        if max(map(abs, found)) >= MAX_NUMBER:
            raise self._unexpected(key, "finite numbers of a robot's size")
        return found

    def _unexpected(self, key: str, expected: str) -> LoadError:
        value = self.attributes[key]
        hint = ", not a xacro expression" if "${" in value else ""
        return self.error(f"{key} is {short(value)!r}, expected {expected}{hint}")


def _float(word: str) -> float:
    """The number that a word stands for, nan if it is not a number. Python alone would accept 1_000."""
    try:
        return float(word) if len(word) < 1000 and "_" not in word else math.nan
    except ValueError:
        return math.nan


def short(text: str) -> str:
    """At most about 60 characters of a text, for messages, on one line."""
    line = " ".join((text if len(text) < 200 else f"{text[:100]} {text[-50:]}").split())
    return line if len(line) <= 60 else f"{line[:40]}...{line[-10:]}"


def content_of(path: Path, within: Within = None, real: str | None = None) -> bytes:
    """The content of a file; an error if it is not a file, too large, or not within some folders.

    Args:
        path: of it, as messages have it.
        within: these folders.
        real: its path in these, if it is another one.
    """
    try:
        return regular_bytes(real or path, MAX_BYTES, within)[1]
    except FileNotFoundError:
        raise MissingFileError(f"{_shown(path)}: does not exist{_likely(path)}", str(path)) from None
    except IsADirectoryError:
        raise LoadError(f"{path}: is a directory, expected a URDF or MJCF file{_robots_in(path)}") from None
    except LoadError as fault:
        raise LoadError(f"{_shown(path)}: {fault}") from None
    except (OSError, ValueError) as fault:  # no permission; a name too long, or with a null character in it
        raise LoadError(f"{_shown(path)}: cannot be read: {reason_of(fault)}") from None


def reason_of(fault: Exception) -> str:
    return fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)


def _shown(path: Path) -> str:
    name = str(path)
    return name if len(name) < 300 else short(name)


def _robots_in(folder: Path) -> str:
    found = _robot_files(folder)
    return f", such as {short(found[0])!r} in it" if found else ""


def _likely(path: Path) -> str:
    from jounce.loading.robot_names import robots_called  # on demand: few names are wrong

    files = [repr(name) for name in close(short(path.name), _robot_files(path.parent))]
    several = files or (robots_called(path.stem) if path.name == str(path) else [])
    return f"; did you mean {' or '.join(several)}?" if several else ""


def _robot_files(folder: Path) -> list[str]:
    """Names of likely robot files in a folder, among its first thousand files."""
    try:
        names = [entry.name for entry in itertools.islice(folder.iterdir(), 1000)]
    except (OSError, ValueError):
        return []
    return sorted(name for name in names if name.endswith((".urdf", ".xml", ".mjcf")))


def root_tag(content: bytes | str, source: str) -> str:
    """The tag of the outermost element: what kind of file this is."""
    parser = _parser(content)
    found: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        found.append(tag)
        raise StopIteration

    parser.StartElementHandler = start
    _check_begin(content, source)
    with contextlib.suppress(StopIteration):
        _run(parser, content, source)
    return found[0]


def read_xml(
    content: bytes | str,
    source: str,
    known: Collection[str] | None = None,
    *,
    max_depth: int = MAX_DEPTH,
    max_elements: int = MAX_ELEMENTS,
) -> Element:
    """The outermost element of a file with the elements of known tags; others are left out with all their content.

    Args:
        content: of the file.
        source: its name in messages.
        known: tags, or None for all.
        max_depth: of nested elements.
        max_elements: known or not.
    """
    parser = _parser(content)
    roots: list[Element] = []
    open_elements: list[Element] = []
    count = depth = 0  # of all elements, known or not

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, depth
        count += 1
        depth += 1
        if depth > max_depth:
            raise LoadError(f"{source}, line {parser.CurrentLineNumber}: {too_deep(max_depth)}")
        if count > max_elements:
            raise LoadError(f"{source}, line {parser.CurrentLineNumber}: {_too_many(max_elements)}")
        if depth == 1:
            roots.append(Element(source, parser.CurrentLineNumber, None, tag, attributes))
            open_elements.append(roots[0])
        elif len(open_elements) == depth - 1 and (known is None or tag in known or tag.startswith(_XACRO)):
            element = Element(source, parser.CurrentLineNumber, open_elements[-1], tag, attributes)
            _refuse_xacro(element)
            open_elements[-1].children.append(element)
            open_elements.append(element)

    def end(tag: str) -> None:
        nonlocal depth
        if len(open_elements) == depth:
            open_elements.pop()
        depth -= 1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    _check_begin(content, source)
    _run(parser, content, source)
    return roots[0]


def from_tree(
    root: Any,
    source: str,
    known: Collection[str] | None = None,
    *,
    max_depth: int = MAX_DEPTH,
    max_elements: int = MAX_ELEMENTS,
) -> Element:
    """The same from an element of ``xml.etree`` or lxml. The root's namespace is removed from names."""
    space = _space(root.tag)
    top = _of_tree(root, space, source, None)
    todo = [(root, top, 1)]
    count = 1
    while todo:
        given, element, depth = todo.pop()
        if depth > max_depth:
            raise LoadError(f"{source}: {too_deep(max_depth)}")
        for child in given:
            if not isinstance(child.tag, str):  # a comment or a processing instruction
                continue
            count += 1
            if count > max_elements:
                raise LoadError(f"{source}: {_too_many(max_elements)}")
            made = _of_tree(child, space, source, element)
            _refuse_xacro(made)
            if known is None or made.tag in known:
                element.children.append(made)
                todo.append((child, made, depth + 1))
    return top


def too_deep(depth: int) -> str:
    return f"elements are nested more than {depth} deep"


def _too_many(count: int) -> str:
    return f"more than {count} elements"


def _refuse_xacro(element: Element) -> None:
    if element.tag.startswith(_XACRO):
        file = "robot.xacro" if element.source.startswith("<") else element.source
        raise element.error(f"this is a xacro file, a template: run `xacro {file} > robot.urdf` and load that")


def _of_tree(given: Any, space: str, source: str, parent: Element | None) -> Element:
    own = _space(given.tag)
    local = given.tag[len(own) :]
    tag = local if own == space else f"{_XACRO}{local}" if "xacro" in own else given.tag
    attributes = {str(key): str(value) for key, value in given.attrib.items()}
    return Element(source, getattr(given, "sourceline", None), parent, tag, attributes)


def _space(tag: str) -> str:
    return tag[: tag.index("}") + 1] if tag.startswith("{") and "}" in tag else ""


def _parser(content: bytes | str) -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8" if isinstance(content, str) else None)
    parser.buffer_text = True
    return parser


def _run(parser: expat.XMLParserType, content: bytes | str, source: str) -> None:
    def doctype(*_: object) -> None:
        raise LoadError(
            f"{source}, line {parser.CurrentLineNumber}: has a document type (<!DOCTYPE ...>), which is not read: "
            "a robot description needs none; delete it, and write out the entities it defines"
        )

    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(content.encode() if isinstance(content, str) else content, True)
    except expat.ExpatError as fault:
        reason = expat.ErrorString(fault.code)
        raise LoadError(
            f"{source}, line {fault.lineno}, column {fault.offset + 1}: not well-formed: {reason}"
        ) from None
    except (LookupError, ValueError) as fault:  # an encoding that Python does not know or expat cannot use
        if isinstance(fault, LoadError):
            raise
        raise LoadError(f"{source}: has an encoding that cannot be read: {short(str(fault))}") from None


def _check_begin(content: bytes | str, source: str) -> None:
    """Says what the content seems to be if it cannot be XML."""
    if len(content) > MAX_BYTES:
        raise LoadError(f"{source}: {too_large(len(content), MAX_BYTES)}")
    begin = content[:1000].encode(errors="replace") if isinstance(content, str) else content[:1000]
    if not begin.strip(b"\0 \t\r\n"):
        raise LoadError(f"{source}: is empty")
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")) or begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
        return
    for start, what in _LOOKS:
        if begin.startswith(start):
            raise LoadError(f"{source}: is not XML but seems to be {what}")
    kind = "is a binary file" if b"\0" in begin else "is not XML: it does not begin with '<'"
    raise LoadError(f"{source}: {kind}, expected URDF or MJCF")
