"""MuJoCo's compiler, kept from stopping, hanging or leaving files about where it need not."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any
from xml.parsers import expat

from ..errors import LoadError
from .xml_source import content_of, short

MAX_COPIES = 100_000  # of an element that stands for many; more keep MuJoCo busy for minutes
MAX_SIZE = 10_000_000  # of a table


def compile_mjcf(source: Any, name: str) -> tuple[Any, list[str], list[str]]:
    """The MjModel of a path, a text, an MjSpec or an MjModel; what was left out for it; what the compiler warned of."""
    mujoco = mujoco_package(name)
    if isinstance(source, mujoco.MjModel):
        return source, [], []
    with _warnings_kept(mujoco) as heard:
        try:
            spec = _parsed(mujoco, source, name)
            model, left = _compiled(mujoco, spec)
        except LoadError:
            raise
        except Exception as fault:  # ValueError as a rule; RuntimeError and FatalError where memory does not suffice
            message = ", ".join(line.strip(" ,") for line in str(fault).splitlines() if line.strip())
            raise LoadError(f"{name}: mujoco's compiler: {message or type(fault).__name__}") from None
    odd = [warning for warning in heard if "deprecated" not in warning]  # that is about MuJoCo, not about the robot
    return model, left, [f"mujoco's compiler: {warning}" for warning in odd]


def mujoco_package(name: str) -> Any:
    """The package, or an error that says how to get it."""
    try:
        return import_module("mujoco")
    except ImportError as fault:
        raise LoadError(f"{name}: MJCF needs the package mujoco: pip install 'jounce[mjcf]' ({fault})") from None


@contextmanager
def _warnings_kept(mujoco: Any) -> Iterator[list[str]]:
    """Collects MuJoCo's warnings: those of its core, which it would print and write to MUJOCO_LOG.TXT, and Python's."""
    heard: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(heard.append)
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            yield heard
        heard += [str(warning.message) for warning in raised]
    finally:
        mujoco.set_mju_user_warning(before)


def _parsed(mujoco: Any, source: Any, name: str) -> Any:
    if isinstance(source, mujoco.MjSpec):
        return source.copy()
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise LoadError(f"{name}: is not UTF-8: {fault}") from None
    if isinstance(source, str):
        source = source.lstrip("\ufeff \t\r\n")
        if source.startswith("<"):
            _check_counts(source.encode(errors="replace"), name, Path.cwd())
            return mujoco.MjSpec.from_string(source)
    path = Path(source)
    _check_counts(content_of(path), name, path.parent)
    return mujoco.MjSpec.from_file(str(path))


def _check_counts(content: bytes, name: str, folder: Path) -> None:
    """Refuses files, and files they include, where a few words ask for millions of bodies or bytes.

    Faults of the XML are left to MuJoCo, whose parser allows more than expat does.
    """
    todo, seen = [(content, name)], set()
    while todo:
        text, called = todo.pop()
        for file in _counted(text, called):
            path = folder / file
            if path not in seen and path.is_file():
                seen.add(path)
                todo.append((content_of(path), str(path)))


def _counted(content: bytes, name: str) -> list[str]:
    """The files that one file includes."""
    parser = expat.ParserCreate()
    copies, includes = [1], []

    def start(tag: str, attributes: dict[str, str]) -> None:
        several = _product(attributes.get("count", "1"))
        copies.append(copies[-1] * several)
        size = max([0, *(_product(n) for key, n in attributes.items() if tag == "size" and key.startswith("n"))])
        rows = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}.get(tag, ())
        size = max(size, math.prod(_product(attributes.get(key, "1")) for key in rows))
        if copies[-1] > MAX_COPIES or size > MAX_SIZE:
            number = copies[-1] if copies[-1] > MAX_COPIES else size
            raise LoadError(
                f"{name}, line {parser.CurrentLineNumber}: <{short(tag)}> asks for {number:.3g} elements, "
                "more than any robot has"
            )
        if tag == "include" and "file" in attributes:
            includes.append(attributes["file"])

    def end(tag: str) -> None:
        copies.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(content, True)
    except LoadError:
        raise
    except (expat.ExpatError, LookupError, ValueError):  # the last two: an encoding that expat cannot use
        pass
    return includes


def _product(words: str) -> int:
    """Of the whole numbers in an attribute; 1 where they are none, which MuJoCo then says."""
    try:
        return math.prod(max(int(float(word)), 1) for word in words.split()[:6])
    except (ValueError, OverflowError):
        return 1


def _compiled(mujoco: Any, spec: Any) -> tuple[Any, list[str]]:
    """The model, if need be without the files that only draw it."""
    try:
        return spec.compile(), []
    except ValueError as fault:
        message = first = str(fault)
    shapes = [geom for geom in spec.geoms if geom.meshname and _gives_inertia(mujoco, spec, geom)]
    needed = {geom.meshname: geom.parent.name for geom in shapes}
    if _stand_in(mujoco, spec, needed):
        try:
            return spec.compile(), [f"shapes and pictures from files, which the dynamics do not need ({first})"]
        except ValueError as fault:
            message = str(fault)
    for mesh in spec.meshes:
        if _called(mesh) in needed and mesh.file and PurePath(mesh.file).name in message:
            body = needed[_called(mesh)]
            whose = f"body {body!r}" if body else "a body without a name"
            message += f"\nthe inertia of {whose} comes from this mesh: give the file, or the body an <inertial>"
    raise ValueError(message)


def _called(mesh: Any) -> str:
    """What geoms call a mesh: its name, else that of the file without the ending."""
    return str(mesh.name or PurePath(mesh.file.replace("\\", "/")).stem)


def _gives_inertia(mujoco: Any, spec: Any, geom: Any) -> bool:
    """Whether the mass of a body, other than the world, depends on this shape."""
    rule, kinds = spec.compiler.inertiafromgeom, mujoco.mjtInertiaFromGeom
    first, last = spec.compiler.inertiagrouprange
    weighs = geom.mass != 0 if not math.isnan(geom.mass) else geom.density != 0
    stated = rule == kinds.mjINERTIAFROMGEOM_FALSE or (
        rule == kinds.mjINERTIAFROMGEOM_AUTO and geom.parent.explicitinertial
    )
    return bool(weighs and first <= geom.group <= last and not stated and geom.parent.name != "world")


def _stand_in(mujoco: Any, spec: Any, needed: dict[str, str]) -> bool:
    """Puts a tetrahedron for each mesh that no inertia needs, a plane for height fields, grey for pictures."""
    found = False
    for mesh in spec.meshes:
        if mesh.file and _called(mesh) not in needed:
            mesh.file = ""
            mesh.uservert = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
            mesh.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
            found = True
    for field in spec.hfields:
        if field.file:
            field.file, field.nrow, field.ncol, field.userdata = "", 2, 2, [0.0] * 4
            found = True
    for texture in spec.textures:
        if texture.file or any(texture.cubefiles):
            texture.file, texture.builtin = "", mujoco.mjtBuiltin.mjBUILTIN_FLAT
            texture.width, texture.height = 1, 1 if texture.type == mujoco.mjtTexture.mjTEXTURE_2D else 6
            for side in range(len(texture.cubefiles)):
                texture.cubefiles[side] = ""
            found = True
    for skin in list(spec.skins):
        spec.delete(skin) if hasattr(spec, "delete") else skin.delete()  # as until MuJoCo 3.3
        found = True
    return found
