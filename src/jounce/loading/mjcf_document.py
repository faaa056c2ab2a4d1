"""An MJCF file and everything it includes and attaches, read here and rewritten for MuJoCo.

MuJoCo's own reader opens any file it finds named, anywhere on the disk, waits for pipes, and continues past broken XML.
So it only sees what this module has read and understood: one document for the main file, with its includes expanded,
and one for each attached model. In these documents files have placeholder names, which do not exist on the disk.

    include             replaced by its elements
    model               read likewise, passed to MuJoCo in memory
    flexcomp            its file is passed to MuJoCo in memory, since its points become bodies
    mesh                read later, and only if an inertia depends on it
    hfield              read when it is drawn: replaced by a plane, whose number of columns says which field it is
    texture             read when it is drawn: replaced by a point, whose colour says which texture it is
    size, sensor, ...   left out, since the dynamics do not depend on them (`_LEFT_OUT`); keyframes are read from here

Every element has its own line, numbered on across documents, so that a line number in MuJoCo's messages identifies the
element and its file.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from jounce.errors import LoadError
from jounce.loading.folders import Folders
from jounce.loading.xml_source import MAX_BYTES, Element, read_xml, short, too_deep
from jounce.parts.texture import SIDES

MAX_DEPTH = 450  # MuJoCo's parser stops at 500
MAX_ELEMENTS = 100_000  # as written, in all files together
MAX_ATTRIBUTES = 200  # of an element: MuJoCo's parser compares all pairs
MAX_COPIES = 20_000  # of an element, through nested counts
MAX_FILES = 1000  # of XML, counted each time they are named
MAX_NESTED = 10  # models inside each other
MAX_TOTAL = 300_000_000  # bytes of all files together
MAX_FIELDS = 100  # height fields that are drawn
PICTURES = ("file", *(f"file{side}" for side in SIDES))  # attributes of a texture that name files

_LEFT_OUT = {"size", "sensor", "keyframe", "custom", "visual", "statistic", "skin"}
_PLAIN_ELEMENTS, _PLAIN_LENGTH = 1000, 5000
_PLAIN = frozenset(
    (
        *("mujoco", "compiler", "option", "flag", "default", "asset", "mesh", "hfield", "texture", "material", "layer"),
        *("worldbody", "body", "frame", "inertial", "joint", "freejoint", "geom", "site", "camera", "light"),
        *("contact", "pair", "exclude", "equality", "connect", "weld", "tendon", "spatial", "fixed", "pulley"),
        *("actuator", "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle"),
        "adhesion",
    )
)
_COUNTS = {"actdim", "nsample", "builtin"}  # attributes that can make a plain element expensive

_NAME = re.compile(r"[A-Za-z_][\w:.\-]*", re.ASCII)
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans({character: f"&#{ord(character)};" for character in '&<>"\t\n\r'})


@dataclass
class FileName:
    """A file that an element names, and where it may be."""

    element: Element
    name: str
    places: list[Path]


@dataclass
class HeightField:
    """What an element says of a height field: its file, if it has one, its rows and columns, and its numbers."""

    file: FileName | None
    grid: tuple[str, str]
    elevation: str


@dataclass
class TextureElement:
    """What an element says of a texture, and the files it names, by attribute."""

    said: dict[str, str]
    files: dict[str, FileName]


@dataclass
class Documents:
    """What MuJoCo gets in place of a file.

    Attributes:
        folders: where files may be read.
        source: name of the main file in messages.
        text: the main document.
        models: documents of models and files of flexcomps, by placeholder.
        meshes: files that are not read yet, by placeholder.
        fields: height fields; the one at index i has 2 + i columns in the documents.
        textures: the one at index i has the colour i, as a number of three bytes, in the documents.
        keys: the keyframes of the main document, each as what it says.
        names: of the files, by placeholder.
        lines: the element of each line, from line 1 on.
        rules: ``inertiafromgeom`` of each document.
        groups: the groups of shapes that give inertia, from each document.
        plain: whether this is a robot written out element by element, which compiles quickly.
        elements: as written in all XML so far.
    """

    folders: Folders
    source: str
    text: str = ""
    models: dict[str, bytes] = field(default_factory=dict)
    meshes: dict[str, FileName] = field(default_factory=dict)
    fields: list[HeightField] = field(default_factory=list)
    textures: list[TextureElement] = field(default_factory=list)
    keys: list[dict[str, str]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    lines: list[Element] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    groups: list[int] = field(default_factory=list)
    plain: bool = True
    elements: int = 0
    _bytes: int = 0
    _files: int = 0

    def mesh(self, word: str) -> bytes:
        """The content of the mesh file with that placeholder."""
        return self.read(self.meshes[word])[2]

    def in_our_words(self, message: str) -> str:
        """A message from MuJoCo with the line numbers and names of the original files."""

        def place(match: re.Match[str]) -> str:
            number = int(match[1] or match[2])
            if not 0 < number <= len(self.lines):
                return match[0]
            element = self.lines[number - 1]
            if element.line is None:
                return element.label()
            of = "" if element.source == self.source else f" of {element.source}"
            return f"line {element.line}{of}"

        message = re.sub(r"(?<=, )line (\d+)|\bline = (\d+)", place, message)
        return re.sub(r"jounce-\d+(\.\w+)?", lambda word: short(self.names.get(word[0], word[0])), message)

    def read(self, file: FileName) -> tuple[Path, Path, bytes]:
        """The path of a file, as written and without links, and its content."""
        path, real, content = self.folders.read(file.element, file.name, file.places, MAX_BYTES)
        self._bytes += len(content)
        if self._bytes > MAX_TOTAL:
            raise file.element.error(f"together with the files before it, this has more than {MAX_TOTAL / 1e6:.0f} MB")
        return path, real, content

    def read_xml(self, file: FileName) -> tuple[Path, Path, Element]:
        """The path of a file, as written and without links, and its outermost element."""
        self._files += 1
        if self._files > MAX_FILES:
            raise file.element.error(f"with this file there are more than {MAX_FILES}")
        path, real, content = self.read(file)
        root = read_xml(content, str(path), max_depth=MAX_DEPTH, max_elements=MAX_ELEMENTS)
        self.elements += sum(1 for _ in _all(root))
        if self.elements > MAX_ELEMENTS:
            raise file.element.error(f"together with the files before it, this has more than {MAX_ELEMENTS} elements")
        return path, real, root


def documents_of(root: Element, folders: Folders) -> Documents:
    """The documents for MuJoCo in place of a file.

    Args:
        root: its outermost element.
        folders: from which it may read files.
    """
    made = Documents(folders, root.source, elements=sum(1 for _ in _all(root)))
    if root.tag != "mujoco":
        raise root.error("is a part that other files include, expected <mujoco>")
    made.text = _Document(made, root, folders.home, folders.main, 0).text
    return made


class _Document:
    """One document: a file with its includes expanded.

    Args:
        made: shared by all documents of a load.
        root: of the file.
        home: its folder; several for text.
        real: its path without links; None for text.
        depth: number of models that it is nested in.
    """

    def __init__(self, made: Documents, root: Element, home: list[Path], real: str | None, depth: int) -> None:
        self._made = made
        self._home = home
        self._depth = depth
        self._folders: dict[str, Path] = {}  # of included files, by name
        self._put_in_includes(root, {real})
        elements = list(_all(root))
        self._read_compilers(elements)
        for element in elements:
            self._replace_files(element)
        made.plain &= len(elements) <= _PLAIN_ELEMENTS and all(map(_is_plain, elements))
        self.text = self._written(root)

    # Includes

    def _put_in_includes(self, root: Element, seen: set[str | None]) -> None:
        """Replaces includes by the content of their files, and leaves out what the dynamics do not need."""
        todo = [(root, 1, 1.0)]
        while todo:
            element, depth, copies = todo.pop()
            copies *= _count(element)
            if depth > MAX_DEPTH:
                raise element.error(too_deep(MAX_DEPTH))
            if len(element.attributes) > MAX_ATTRIBUTES:
                raise element.error(f"has {len(element.attributes)} attributes, expected at most {MAX_ATTRIBUTES}")
            if copies > MAX_COPIES:
                raise _too_many(element, copies)
            pending, element.children = deque(element.children), []
            while pending:
                child = pending.popleft()
                if child.tag.lower() == "include":  # MuJoCo accepts any case
                    pending.extendleft(reversed(self._included(child, element, seen)))
                elif child.tag not in _LEFT_OUT:
                    element.children.append(child)
                elif child.tag == "keyframe" and self._depth == 0:
                    self._made.keys += [key.attributes for key in child.children if key.tag == "key"]
            todo += [(child, depth + 1, copies) for child in reversed(element.children)]

    def _included(self, include: Element, parent: Element, seen: set[str | None]) -> list[Element]:
        """The elements of an included file, as children of the including element."""
        if include.children:
            raise include.error("has elements inside, expected none")
        name = include.text("file")
        path, real, root = self._made.read_xml(FileName(include, name, self._places(include)))
        if str(real) in seen:  # without links, so that a folder that links to itself cannot bypass the check
            raise include.error(f"file {short(name)!r} is already included")
        seen.add(str(real))
        if not root.children:
            raise include.error(f"file {short(name)!r} is empty")
        self._folders[str(path)] = path.parent
        for child in root.children:
            child.parent = parent
        return root.children

    def _places(self, element: Element, folder: str = "") -> list[Path]:
        """Where a file named by an element may be: relative to the main file, or to the file with the element."""
        own = self._folders.get(element.source)
        return [*(home / folder for home in self._home), *([own] if own is not None else [])]

    # Files

    def _read_compilers(self, elements: list[Element]) -> None:
        """Removes the asset folders from the document, and records which shapes may have mass."""
        self._asset_folder = self._mesh_folder = self._picture_folder = ""
        self._strip = False
        rule, groups = "auto", [0, 5]
        for element in elements:
            if element.tag != "compiler":
                continue
            said = element.attributes
            self._asset_folder = said.pop("assetdir", self._asset_folder)
            self._mesh_folder = said.pop("meshdir", self._mesh_folder)
            self._picture_folder = said.pop("texturedir", self._picture_folder)
            self._strip = said.get("strippath", str(self._strip).lower()) == "true"
            rule = said.get("inertiafromgeom", rule)
            given = [int(n) for n in said.get("inertiagrouprange", "").split() if re.fullmatch(r"[-+]?\d{1,9}", n)]
            groups = given or groups
        self._made.rules.add(rule)
        self._made.groups += groups

    def _replace_files(self, element: Element) -> None:
        """Replaces file names by placeholders or removes them; refuses file names in any other element."""
        tag, said = element.tag, element.attributes
        name = said.get("file", "")
        if tag in ("mesh", "hfield", "texture") and name and not said.get("name"):
            said["name"] = PurePath(name.replace("\\", "/")).stem
        if tag == "model":
            said.pop("content_type", None)
            said["file"] = self._model(element, element.text("file"))
        elif tag == "hfield":
            said |= {"nrow": "2", "ncol": self._field(element, name)}
            _keep(element, "name", "size", "class", "nrow", "ncol")
        elif tag == "texture":
            said["rgb1"] = self._texture(element)
            _keep(element, "name", "type", "class", "rgb1")
            said |= {"builtin": "flat", "width": "1", "height": "1" if said.get("type") == "2d" else "6"}
        elif tag == "mesh" and name:
            said["file"] = word = self._word(name)
            self._made.meshes[word] = self._asset(element, name)
        elif tag == "flexcomp" and name:
            content = self._made.read(self._asset(element, name))[2]
            said["file"] = word = self._word(name)
            self._made.models[word] = content
        elif name:
            raise element.error(f"names a file, {short(name)!r}, expected none in this element")

    def _asset(self, element: Element, name: str, folder: str = "") -> FileName:
        places = self._places(element, (folder or self._mesh_folder or self._asset_folder).replace("\\", "/"))
        return FileName(element, PurePath(name.replace("\\", "/")).name if self._strip else name, places)

    def _field(self, element: Element, name: str) -> str:
        """Records a height field; returns the number of columns of its stand-in."""
        said, known = element.attributes, self._made.fields
        if len(known) < MAX_FIELDS:
            file = self._asset(element, name) if name else None
            grid = said.get("nrow", "0"), said.get("ncol", "0")
            known.append(HeightField(file, grid, said.get("elevation", "")))
            return str(1 + len(known))
        return str(2 + MAX_FIELDS)

    def _texture(self, element: Element) -> str:
        """Records a texture; returns the colour of its stand-in."""
        said, known = dict(element.attributes), self._made.textures
        folder = self._picture_folder or self._asset_folder or "."
        files = {key: self._asset(element, said[key], folder) for key in PICTURES if said.get(key)}
        known.append(TextureElement(said, files))
        number = (len(known) - 1).to_bytes(3, "big")
        return " ".join(f"{(byte + 0.5) / 255:.6f}" for byte in number)

    def _word(self, name: str) -> str:
        """A unique placeholder for a file, with the same suffix, which tells the format."""
        ending = PurePath(name.replace("\\", "/")).suffix
        word = f"jounce-{len(self._made.names)}{ending if re.fullmatch(r'[.][A-Za-z0-9]{1,8}', ending) else ''}"
        self._made.names[word] = name
        return word

    def _model(self, element: Element, name: str) -> str:
        """The placeholder for a model that is passed to MuJoCo as a separate document."""
        if self._depth == MAX_NESTED:
            raise element.error(f"is inside {MAX_NESTED} other models, expected fewer")
        path, real, root = self._made.read_xml(FileName(element, name, self._places(element)))
        if root.tag != "mujoco":
            raise root.error("expected <mujoco>")
        document = _Document(self._made, root, [path.parent], str(real), self._depth + 1)
        word = self._word(name if PurePath(name).suffix == ".xml" else "model.xml")
        self._made.models[word] = document.text.encode()
        return word

    # Writing

    def _written(self, root: Element) -> str:
        """The document as text, one element per line, starting at the line where the last document ended."""
        parts = ["\n" * len(self._made.lines)]
        todo: list[tuple[Element, bool]] = [(root, False)]
        while todo:
            element, done = todo.pop()
            if done:
                parts.append(f"</{element.tag}>")
                continue
            self._made.lines.append(element)
            parts.append(f"\n{_start(element)}{'>' if element.children else '/>'}")
            if element.children:
                todo.append((element, True))
                todo += [(child, False) for child in reversed(element.children)]
        return "".join(parts)[1:]


def _all(root: Element) -> Iterator[Element]:
    """The elements of a tree in the order of the file."""
    todo = [root]
    while todo:
        element = todo.pop()
        yield element
        todo += reversed(element.children)


def _is_plain(element: Element) -> bool:
    """Whether an element produces nothing beyond itself, and is small."""
    said = element.attributes
    return (
        element.tag in _PLAIN
        and all(len(value) <= _PLAIN_LENGTH for value in said.values())
        and (element.tag == "texture" or not _COUNTS & said.keys())
    )


def _count(element: Element) -> float:
    """The product of the numbers in ``count``; 1 if they are not numbers, which MuJoCo will then report."""
    try:
        return math.prod(max(float(word), 1.0) for word in element.attributes.get("count", "").split()[:6])
    except ValueError:
        return 1.0


def _too_many(element: Element, copies: float) -> LoadError:
    line = "" if element.line is None else f", line {element.line}"
    return LoadError(
        f"{element.source}{line}: <{short(element.tag)}> asks for {copies:.3g} elements, more than any robot has"
    )


def _start(element: Element) -> str:
    """The tag and attributes as XML.

    Elements of a tree made in Python may have invalid names. And MuJoCo uses names as the format string of some of its
    messages, where "%n" writes to memory.
    """
    for name in (element.tag, *element.attributes):
        if not _NAME.fullmatch(name):
            raise element.error(f"{short(name)!r} is not a name that an element or attribute can have")
    for key, value in element.attributes.items():
        if _NO_XML.search(value):
            raise element.error(f"{key} is {short(value)!r}, expected characters that XML allows")
        if "%" in value:
            raise element.error(f"{key} is {short(value)!r}, expected no '%': MuJoCo takes it for a C format string")
    return f"<{element.tag}" + "".join(f' {key}="{v.translate(_ESCAPES)}"' for key, v in element.attributes.items())


def _keep(element: Element, *keys: str) -> None:
    for key in [key for key in element.attributes if key not in keys]:
        del element.attributes[key]
