"""The parts of the night: what they run, which code they watch, and how long they take."""

from __future__ import annotations

from dataclasses import dataclass

PYTHON = "build/nightly/venv/bin/python"  # with jounce as INSTALL builds it: the kernels of every instruction set
INSTALL = f"""python3 -m venv build/nightly/venv &&
{PYTHON} -m pip install '.[test]' nanobind --config-settings=cmake.define.JOUNCE_KERNELS=all &&
{{ {PYTHON} -m pip install --only-binary :all: atheris || echo 'no atheris for this Python'; }} &&
{{ {PYTHON} -m pip install s3fs 'moto[s3,server]' || echo 'studies are not tried with S3'; }}"""

CORE = ("include", "bindings", "cmake", "CMakeLists.txt")
LIBRARY = (*CORE, "src")


@dataclass(frozen=True)
class Part:
    name: str
    command: str  # a line of shell, run at the root
    watches: tuple[str, ...]  # paths, as git takes them
    minutes: int  # on two quiet cores, roughly
    needs: str = ""  # a module without which it is left out


READERS = {  # what the fuzzers' inputs are for
    "arguments": ("bindings", "src/jounce/model.py", "src/jounce/dynamics"),
    "limits": ("src/jounce/loading/joint_limits.py", "src/jounce/parts/joints.py"),
    "mjcf": ("src/jounce/loading",),
    "npz": ("src/jounce/trajectory.py",),
    "pickles": ("src/jounce/model.py", "src/jounce/core_tables.py", "src/jounce/parts", "src/jounce/soft"),
    "urdf": ("src/jounce/loading",),
}


def parts(seconds: int = 900, seed: int = 0) -> list[Part]:
    """All of them, in their order. `seconds`: for each fuzzer of files and arguments; `seed`: of all random choices."""
    pytest = f"{PYTHON} -m pytest"
    every_set = "$(grep -l instruction_set tests/test_*.py) tests/test_allocation.py tests/test_differential.py"
    found = [
        Part("tests", f"{pytest} --night", (*LIBRARY, "tests"), 15),
        Part("kernels", f"{pytest} --all -n 2 {every_set}", (*CORE, "tests"), 5),
        Part("sanitize-address", ".ci/sanitize address", (*CORE, ".ci/sanitize"), 45),
        Part("sanitize-thread", ".ci/sanitize thread", (*CORE, ".ci/sanitize", ".ci/thread_stress.py"), 8),
    ]
    for target, paths in READERS.items():
        fuzz = f"{PYTHON} fuzz/run.py {target} --seconds {seconds} --seed {seed}"
        watches, minutes = (*paths, f"fuzz/targets/{target}.py"), -(-seconds // 60)
        found += [
            Part(f"fuzz-{target}", fuzz, watches, minutes),
            Part(f"fuzz-{target}-guided", f"{fuzz} --guided", watches, minutes, needs="atheris"),
        ]
    return [
        *found,
        Part(
            "fuzz-calls",
            f"{PYTHON} fuzz/calls.py --calls 1000000 --minutes 30 --seed {seed}",
            (*LIBRARY, "fuzz/calls.py"),
            30,
        ),
        Part("fuzz-memory", f"{PYTHON} fuzz/memory.py --seed {seed}", (*LIBRARY, "fuzz/memory.py"), 10),
        Part("thread-stress", f"{PYTHON} .ci/thread_stress.py --seconds 300", (*CORE, ".ci/thread_stress.py"), 5),
        Part(
            "page",
            f"{PYTHON} .ci/try_page.py docs/adding_an_algorithm.md",
            (*CORE, "docs/adding_an_algorithm.md", ".ci/try_page.py"),
            4,
        ),
        Part("mutants", f"{PYTHON} .ci/mutants --seed {seed}", (*CORE, "tests", ".ci/mutants"), 80),
        Part("pythons", ".ci/pythons --all --whole", (*LIBRARY, "tests", "README.md", "pyproject.toml"), 40),
        Part("oldest-numpy", ".ci/pythons --oldest-numpy", (*LIBRARY, "tests", "pyproject.toml"), 12),
    ]
