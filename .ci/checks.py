#!/usr/bin/env python3
"""Must pass before a change lands: README's two commands in a copy of the tree, then the tests of what tests, a short
round of the fuzzers, linters, type checks, the headers as CUDA source, the documentation, and the tests on the oldest
and newest Python here.

Stops at the first step that fails. Longer checks are in .ci/nightly; at the end it says which of those are due.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from pathlib import Path

from ledger import summary
from newcomer import ROOT, copy_of_tree, readme_lines
from parts import parts
from shell import end_like_ctrl_c, run

LIMIT = 20  # minutes, for all of it
TESTS_OF_TESTS = "tests/oracles tests/test_ci.py tests/test_fuzz.py tests/test_fuzz_targets.py"
SOURCES = "include/jounce/*/*.hpp bindings/*.?pp bindings/kernels/*.?pp benchmarks/*.cpp cmake/*.cpp .ci/*.cu"


def steps() -> dict[str, str]:
    """Lines of shell, by name; README's leave an environment in .venv, which the others use."""
    demo, test = readme_lines((ROOT / "README.md").read_text(encoding="utf-8"))
    pip = ".venv/bin/pip install --quiet"
    own = "$(.venv/bin/python -c \"import sys; print(*sys.version_info[:2], sep='.')\")"
    return {
        "README's demo": demo,
        "README's tests": test,
        "tests of the tests": f".venv/bin/pytest -n auto --night {TESTS_OF_TESTS}",
        "fuzzers": ".venv/bin/python fuzz/run.py",  # a short round, the same one every time
        "lint": f"{pip} --upgrade pip && {pip} --group lint && "
        ".venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && "
        f".venv/bin/clang-format --dry-run --Werror {SOURCES}",
        "device": f"{pip} --group device && .venv/bin/python .ci/device_check.py",
        "documentation": f"{pip} 'jounce[docs]' && .venv/bin/pytest tests/test_site.py",  # jounce is not built again
        "other Pythons": f".ci/pythons --folder . --without {own}",
    }


def main() -> int:
    end_like_ctrl_c()
    took: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "jounce")
        copy_of_tree(folder)
        for name, line in steps().items():
            print(f"--- {name}: {line}", flush=True)
            began = time.monotonic()
            status = run(line, folder)
            took[name] = time.monotonic() - began
            if status:
                print(f"--- {name}: FAILS, status {status}, after {took[name]:.0f} s")
                return 1
    print("---", ", ".join(f"{name}: {seconds:.0f} s" for name, seconds in took.items()))
    minutes = sum(took.values()) / 60
    print(f"--- passes in {minutes:.1f} minutes{f', more than {LIMIT}' if minutes > LIMIT else ''}")
    print(summary(ROOT, {part.name: part.watches for part in parts()}, datetime.date.today()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
