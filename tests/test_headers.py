"""The headers themselves: they compile in any order, and those independent of Python have C++ tests (tests/cpp/).

That each compiles on its own takes a compiler run for each, at night.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from time_limits import HANG

ROOT = Path(__file__).parents[1]
HEADERS = sorted(path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.hpp"))
COMPILER = os.environ.get("CXX") or next((c for c in ("g++", "c++", "clang++") if shutil.which(c)), None)
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wno-psabi", "-Wno-unknown-pragmas", f"-I{ROOT / 'include'}"]

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


def assert_compiles(headers: Sequence[Path]) -> None:
    source = "".join(f'#include "{header.as_posix()}"\n' for header in headers) + "int main() {}\n"
    command = [str(COMPILER), *FLAGS, "-Werror", "-fsyntax-only", "-x", "c++", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr


@needs_compiler
@pytest.mark.night
@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_headers_compile_alone(header: Path) -> None:
    assert_compiles([header, header])


@needs_compiler
@pytest.mark.parametrize("order", [1, -1], ids=["forwards", "backwards"])
def test_headers_compile_together(order: int) -> None:
    """In one of the orders, a header comes before the one that it fails to include."""
    assert_compiles([*HEADERS[::order], *HEADERS])


@needs_compiler
@pytest.mark.parametrize("isa", [pytest.param("generic", marks=pytest.mark.night), "native"])
@pytest.mark.parametrize("source", sorted((ROOT / "tests/cpp").glob("*.cpp")), ids=lambda path: path.stem)
def test_headers_without_python(source: Path, isa: str, tmp_path: Path) -> None:
    program = tmp_path / source.stem
    flags = ["-DJOUNCE_BASELINE"] if isa == "generic" else ["-march=native"]
    build = [str(COMPILER), *FLAGS, *flags, "-O1", str(source), "-o", str(program)]
    made = subprocess.run(build, capture_output=True, text=True, timeout=HANG, check=False)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stdout


@needs_compiler
@pytest.mark.night
@pytest.mark.parametrize(
    ("source", "flags"), [("kernel", []), ("operations", ["-DJOUNCE_COUNT"]), ("operations", []), ("peak", [])]
)
def test_benchmark_programs_compile(source: str, flags: list[str]) -> None:
    """They are built on request only (JOUNCE_BENCHMARKS)."""
    command = [str(COMPILER), *FLAGS, *flags, "-DJOUNCE_BASELINE", f"-I{ROOT / 'bindings'}", "-fsyntax-only"]
    command.append(str(ROOT / f"benchmarks/{source}.cpp"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr


def test_layers() -> None:
    """No include and no import points the wrong way, and the picture is up to date."""
    done = subprocess.run([sys.executable, str(ROOT / ".ci/layers.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
