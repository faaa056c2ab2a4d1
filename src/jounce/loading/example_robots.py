"""Robots of the package example-robot-data by name: ``jn.load("example-robot-data:panda")``.

The wheel contains files only, in the prefix of cmeel wheels, and its metadata lists them; nothing is imported.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from jounce._checks import near
from jounce.errors import LoadError, MissingFileError
from jounce.loading.xml_source import short

SCHEME = "example-robot-data:"
_PACKAGE = SCHEME[:-1]


def example_robot(source: str) -> Path:
    """The URDF file of ``example-robot-data:NAME``: its name without suffix, or FOLDER/NAME where there are several."""
    name = source[len(SCHEME) :].strip("/").removesuffix(".urdf")
    files = _files(source)
    found = [path for path in files if name in (path.stem, _full(path))]
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(repr(SCHEME + _full(path)) for path in found)
        raise LoadError(f"{short(source)}: there are several, expected {names}")
    known = sorted(path.stem for path in files)
    alike = [each for each in known if name and each.startswith(name)]
    hint = near(name, alike or known) if len(alike) != 1 else f"did you mean {alike[0]!r}?"
    raise MissingFileError(f"{short(source)}: the package has no such robot: {hint}", source)


def example_names() -> list[str]:
    """What may follow "example-robot-data:", the shortest for each robot; none without the package."""
    try:
        files = _files(SCHEME)
    except LoadError:
        return []
    count = Counter(path.stem for path in files)
    return sorted(path.stem if count[path.stem] == 1 else _full(path) for path in files)


def _files(source: str) -> list[Path]:
    """All URDF files of the package."""
    from importlib.metadata import PackageNotFoundError, distribution  # on demand: it imports a lot

    try:
        listed = distribution(_PACKAGE).files or []
    except PackageNotFoundError:
        raise LoadError(f"{short(source)}: needs the package {_PACKAGE}: pip install {_PACKAGE}") from None
    return [Path(str(file.locate())) for file in listed if file.suffix == ".urdf"]


def _full(path: Path) -> str:
    """The name with that of the robot's folder, such as "talos_data/talos_reduced"."""
    parts = path.parts
    return f"{parts[parts.index('robots') + 1]}/{path.stem}" if "robots" in parts[:-1] else path.stem
