"""Kernels do not allocate: the allocations of a call do not depend on states, bodies or order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from count_allocations import methods

BINDINGS = Path(__file__).parents[1] / "bindings"
COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
static long count;
#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); ++count
void* malloc(size_t n) { REAL(malloc); return real(n); }
void* realloc(void* p, size_t n) { REAL(realloc); return real(p, n); }
void* aligned_alloc(size_t a, size_t n) { REAL(aligned_alloc); return real(a, n); }
int posix_memalign(void** p, size_t a, size_t n) { REAL(posix_memalign); return real(p, a, n); }
long allocations(void) { return count; }
"""


def test_every_kernel_is_run_by_a_method() -> None:
    """All methods of the core are counted below, and so are all kernels of the registry."""
    registry = (BINDINGS / "kernels.hpp").read_text().partition("#define JOUNCE_ALGORITHMS(X)")[2].split("constexpr")[0]
    algorithms = re.findall(r"X\((\w+), \w+\)", registry)
    assert len(algorithms) >= 20
    source = "".join(path.read_text() for path in BINDINGS.glob("*.cpp"))
    assert [a for a in algorithms if not re.search(rf"(kernels\(\)\.|&Kernels::){a}\b", source)] == []


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs cc and LD_PRELOAD"
)
def test_kernels_allocate_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", "import count_allocations; count_allocations.main()"],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, set[int]] = {}
    arrays: dict[str, int] = {}
    for line in done.stdout.splitlines():
        name, number, results = line.split()
        counts.setdefault(name, set()).add(int(number))
        arrays[name] = int(results)
    fewest, most = sorted(counts.pop("Python"))
    assert most > fewest + 5, "the counter counts"
    assert {name.split("/")[0] for name in counts} == set(methods())
    # NumPy caches small arrays, and those of a result may be small or large.
    off = {name: found for name, found in counts.items() if max(found) - min(found) > 2 * arrays[name]}
    assert not off
