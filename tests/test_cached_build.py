"""Folders of compiled objects that outlive a build (cmake/cached_build.cmake): they save time, and are never stale."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

CMAKE = Path(__file__).parents[1] / "cmake"

pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(
        not all(map(shutil.which, ("cmake", "ninja", "c++"))), reason="there is no CMake, no Ninja or no compiler"
    ),
]

OUTER = f"""cmake_minimum_required(VERSION 3.18)
list(APPEND CMAKE_MODULE_PATH {CMAKE.as_posix()})
project(outer LANGUAGES CXX)
set(JOUNCE_CACHE ${{CMAKE_CURRENT_SOURCE_DIR}}/cache)
include(cached_build)
cached_build(inner SOURCE inner SETTINGS NUMBER=${{NUMBER}} COPIES given=${{GIVEN}} OUTPUTS program
             DESTINATION ${{CMAKE_CURRENT_BINARY_DIR}} FOLDER folder)
"""
INNER = """cmake_minimum_required(VERSION 3.18)
project(inner LANGUAGES CXX)
add_executable(program program.cpp other.cpp)
target_include_directories(program PRIVATE ${CMAKE_BINARY_DIR}/given)
target_compile_definitions(program PRIVATE NUMBER=${NUMBER})
"""
PROGRAM = """#include <cstdio>
#include "given.hpp"
int other();
int main() { std::printf("%d %d %d", NUMBER, GIVEN, other()); }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(OUTER)
    (folder / "inner/CMakeLists.txt").write_text(INNER)
    (folder / "inner/program.cpp").write_text(PROGRAM)
    (folder / "inner/other.cpp").write_text("int other() { return 1; }\n")
    give(folder, "first", 1)
    return folder


def give(project: Path, name: str, value: int) -> None:
    """What is compiled with, in a folder of that name: newer than what has been compiled, as what pip unpacks is."""
    file = project.parent / name / "given.hpp"
    file.parent.mkdir()
    file.write_text(f"#define GIVEN {value}\n")
    os.utime(file, times=2 * (time.time() + 10,))


def begin(project: Path, place: str, given: str = "first", **how: str) -> subprocess.Popen[str]:
    """A build in a folder of its own, as pip would start it."""
    folder = project.parent / place
    shutil.rmtree(folder, ignore_errors=True)
    number = how.pop("number", "7")
    configure = f"cmake -G Ninja -S {project} -B {folder} -DNUMBER={number} -DGIVEN={project.parent / given}"
    return subprocess.Popen(
        ["sh", "-c", f"{configure} && cmake --build {folder}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **how},
        start_new_session=True,
    )


def end(project: Path, place: str, build: subprocess.Popen[str]) -> tuple[str, int]:
    """What the program says, and how many files were compiled for it."""
    said, _ = build.communicate(timeout=600)
    assert build.returncode == 0, said
    program = subprocess.run([project.parent / place / "program"], capture_output=True, text=True, check=True)
    return program.stdout, said.count("Building CXX object CMakeFiles/program.dir")


def built(project: Path, place: str, **how: str) -> tuple[str, int]:
    return end(project, place, begin(project, place, **how))


def test_what_has_not_changed_is_not_compiled_again(project: Path) -> None:
    assert built(project, "a") == ("7 1 1", 2)
    give(project, "second", 1)  # the same, elsewhere, at another time
    assert built(project, "b", given="second") == ("7 1 1", 0)


def test_what_has_changed_is(project: Path) -> None:
    built(project, "a")
    (project / "inner/other.cpp").write_text("int other() { return 2; }\n")
    assert built(project, "b") == ("7 1 2", 1)
    give(project, "second", 3)
    assert built(project, "c", given="second") == ("7 3 2", 1)


def test_other_settings_and_flags_have_folders_of_their_own(project: Path) -> None:
    built(project, "a")
    assert built(project, "b", number="8") == ("8 1 1", 2)
    assert built(project, "c", CXXFLAGS="-DUNUSED") == ("7 1 1", 2)
    assert len(list((project / "cache").iterdir())) == 3
    assert built(project, "d") == ("7 1 1", 0)


def test_a_project_that_was_moved_begins_anew(project: Path) -> None:
    built(project, "a")
    moved = project.rename(project.parent / "moved")
    assert built(moved, "b") == ("7 1 1", 2)


def test_two_builds_at_once_wait_for_each_other(project: Path) -> None:
    builds = {place: begin(project, place) for place in ("a", "b")}
    found = [end(project, place, build) for place, build in builds.items()]
    assert sorted(found) == [("7 1 1", 0), ("7 1 1", 2)]


def test_a_build_that_was_killed_is_finished_by_the_next(project: Path) -> None:
    slow = '#include <regex>\nint other() { return int(std::regex_match("a", std::regex("[a-z]"))); }\n'
    (project / "inner/other.cpp").write_text(slow)
    build = begin(project, "a")
    assert build.stdout
    for line in build.stdout:
        if "Building CXX object CMakeFiles/program.dir" in line:
            break
    os.killpg(build.pid, signal.SIGKILL)
    build.communicate()
    assert built(project, "b")[0] == "7 1 1"
