"""What a failed build says first: which compiler or which headers it needs (cmake/needed.cmake)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MODULE = Path(__file__).parents[1] / "cmake/needed.cmake"

pytestmark = [
    pytest.mark.night,
    pytest.mark.skipif(shutil.which("cmake") is None, reason="there is no CMake"),
    pytest.mark.skipif(os.name == "nt", reason="looks for compilers of Unix"),
]

GOOD = {
    "CMAKE_CXX_COMPILER": "/usr/bin/c++",
    "CMAKE_CXX_COMPILER_ID": "GNU",
    "CMAKE_CXX_COMPILER_VERSION": "11.1.0",
    "Python_EXECUTABLE": "/usr/bin/python3",
    "Python_VERSION": "3.11.2",
    "Python_Interpreter_FOUND": "TRUE",
    "Python_Development.Module_FOUND": "TRUE",
    "Python_NumPy_FOUND": "TRUE",
}


def said(folder: Path, cxx: str = "", **values: str) -> str:
    """By CMake, on a machine of which it has found out these."""
    found = {name: value for name, value in (GOOD | values).items() if value}
    script = folder / "script.cmake"
    lines = [f'set({name} "{value}")' for name, value in found.items()]
    script.write_text("\n".join([*lines, f'include("{MODULE}")', "check_compiler()", "check_python()"]))
    environment = {**os.environ, "CXX": cxx}
    command = ["cmake", "-P", str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(done.stderr)
    return " ".join(done.stderr.split())


def test_nothing_if_all_is_there(tmp_path: Path) -> None:
    assert said(tmp_path) == ""
    assert said(tmp_path, CMAKE_CXX_COMPILER_ID="Clang", CMAKE_CXX_COMPILER_VERSION="14.0") == ""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"CMAKE_CXX_COMPILER_VERSION": "10.2.1"}, "GCC 11, Clang 14, or newer; /usr/bin/c++ is GNU 10.2.1. On Debian"),
        ({"CMAKE_CXX_COMPILER_ID": "Clang", "CMAKE_CXX_COMPILER_VERSION": "13.0"}, "/usr/bin/c++ is Clang 13.0."),
        ({"CMAKE_CXX_COMPILER": "", "cxx": "no-such-compiler -m64"}, "there is no no-such-compiler here. On Debian"),
        (
            {"Python_Development.Module_FOUND": "FALSE", "Python_NumPy_FOUND": "FALSE"},
            "jounce needs the headers of Python, which /usr/bin/python3 3.11.2 is here without. On Debian and Ubuntu: "
            "apt install python3-dev.",
        ),
        ({"Python_NumPy_FOUND": "FALSE"}, "NumPy, which /usr/bin/python3 does not have: pip install numpy"),
        ({"Python_Interpreter_FOUND": "FALSE", "Python_VERSION": "3.9.2"}, "jounce needs Python 3.10 or newer;"),
    ],
)
def test_what_is_missing(tmp_path: Path, values: dict[str, str], message: str) -> None:
    assert message in said(tmp_path, **values)
