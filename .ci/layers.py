"""The layers of the code, from its actual includes and imports: fails if one points the wrong way.

    python .ci/layers.py            # checks
    python .ci/layers.py --draw     # and writes docs/figures/layers.svg

A header or module may use those of its own folder and of folders below it in the lists here. Imports for types only, or
inside a function, do not count.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADERS = [  # from the bottom up
    ("ring", "numbers: Taylor series, registers, recorded functions"),
    ("matrix", "small dense matrices: exponential, Riccati equations"),
    ("tree", "the robot as tables"),
    ("spatial", "vectors, twists, rotations, inertias"),
    ("soft", "sections of soft bodies and of joints of one's own"),
    ("motion", "a motion as series, joint by joint and body by body"),
    ("algorithms", "what is computed, one file each"),
    ("constraints", "loops and contacts"),
]
MODULES = [
    (
        "base",
        "checks, errors, units",
        (
            *("_checks", "_core", "_elsewhere", "_extras", "_free_names", "_printable", "_signatures"),
            *("core_build", "errors", "twists", "units"),
        ),
    ),
    ("recording", "functions of users, recorded", ("recording",)),
    ("parts", "joints, inertias, sections, ties", ("parts", "poses")),
    ("soft", "rods and modules", ("soft",)),
    ("tables", "what the core is given", ("core_tables", "unphysical")),
    ("editing", "robots made from others", ("editing",)),
    ("dynamics", "derivatives, statics, loops and contacts", ("dynamics", "display.tree_text", "display.style")),
    ("model", "the robot that users have", ("model", "builder", "denavit_hartenberg", "robots", "trajectory")),
    (
        "around it",
        "files, simulation, control, the viewer",
        ("loading", "saving", "simulation", "control", "conversions", "display", "view"),
    ),
    ("study", "many robots and flights, on many machines", ("study",)),
    ("programs", "command line and demo", ("__main__", "cli", "commands", "demo")),
]


def headers() -> Iterator[tuple[str, str, str, str]]:
    """(folder, file, folder it includes from, line)."""
    for path in sorted((ROOT / "include/jounce").rglob("*.hpp")):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r'#include "jounce/(?:(\w+)/)?(\w+)\.hpp"', line)
            if found:
                yield path.parent.name, path.name, found[1] or "", line.strip()


def modules() -> Iterator[tuple[str, str, str, str]]:
    for path in sorted((ROOT / "src/jounce").rglob("*.py")):
        name = _module(path)
        for node in _at_import(ast.parse(path.read_text(encoding="utf-8")).body):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("jounce"):
                continue
            module = (node.module or "").removeprefix("jounce").removeprefix(".")
            for each in [module] if module else [alias.name for alias in node.names]:
                yield _layer(name), name, _layer(each), f"from {node.module} import {node.names[0].name}"


def _at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _at_import(node.body)


def _layer(module: str) -> str:
    """That of the longest listed name that contains the module."""
    found = [(len(own), name) for name, _, names in MODULES for own in names if f"{module}.".startswith(f"{own}.")]
    return max(found)[1] if found else "programs" if not module else f"no layer: {module}"


def _module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT / "src/jounce").with_suffix("").parts)
    return name.removesuffix("__init__").removesuffix(".")


def faults(edges: list[tuple[str, str, str, str]], order: list[str]) -> list[str]:
    found = []
    for layer, name, below, line in edges:
        if layer not in order or below not in order:
            found.append(f"{name} ({layer}) or what it uses ({below}) is in no layer: {line}")
        elif order.index(below) > order.index(layer):
            found.append(f"{name} is in {layer!r} and uses {below!r}, which is above it: {line}")
    return found


def drawn(stacks: list[tuple[str, list[tuple[str, str]], dict[str, int]]]) -> str:
    """An SVG: for each language a stack of layers, each with its number of files."""
    width, height, gap = 470, 46, 10
    rows = max(len(layers) for _, layers, _ in stacks)
    size = (len(stacks) * (width + 40) + 40, rows * (height + gap) + 80)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif">']
    out.append(f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>')

    def write(x: float, y: float, text: str, size: float, more: str = "") -> None:
        out.append(f'<text x="{x}" y="{y}" font-size="{size}" fill="#263238" {more}>{escape(text)}</text>')

    for i, (title, layers, files) in enumerate(stacks):
        x = 40 + i * (width + 40)
        write(x, 38, title, 19, 'font-weight="bold"')
        for k, (name, text) in enumerate(reversed(layers)):
            y, shade = 60 + k * (height + gap), 96 - 5 * (len(layers) - 1 - k)
            box = f'x="{x}" y="{y}" width="{width}" height="{height}" rx="7"'
            out.append(f'<rect {box} fill="hsl(200, 35%, {shade}%)"/>')
            write(x + 14, y + 20, name, 15, 'font-weight="bold"')
            write(x + 14, y + 37, text, 12.5)
            count = files.get(name, 0)
            write(x + width - 14, y + 28, f"{count} file{'s' * (count != 1)}", 12.5, 'text-anchor="end"')
    return "\n".join([*out, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="write docs/figures/layers.svg")
    draw = parser.parse_args().draw
    in_cpp, in_python = list(headers()), list(modules())
    wrong = faults(in_cpp, [name for name, _ in HEADERS]) + faults(in_python, [name for name, _, _ in MODULES])
    count_cpp = {name: len(list((ROOT / "include/jounce" / name).glob("*.hpp"))) for name, _ in HEADERS}
    count_python: dict[str, int] = {}
    for path in (ROOT / "src/jounce").rglob("*.py"):
        name = (
            ".".join(path.relative_to(ROOT / "src/jounce").with_suffix("").parts)
            .removesuffix("__init__")
            .removesuffix(".")
        )
        count_python[_layer(name)] = count_python.get(_layer(name), 0) + 1
    stacks = [
        ("C++, include/jounce/", HEADERS, count_cpp),
        ("Python, src/jounce/", [(name, text) for name, text, _ in MODULES], count_python),
    ]
    file = ROOT / "docs/figures/layers.svg"
    picture = drawn(stacks)
    if draw:
        file.write_text(picture, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != picture:
        wrong.append("docs/figures/layers.svg is not what the code is like: python .ci/layers.py --draw")
    print(f"{len(in_cpp)} includes and {len(in_python)} imports, {len(wrong)} of them wrong", *wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
