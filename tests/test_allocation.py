"""A kernel allocates nothing: what a call allocates does not depend on states, bodies or order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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

PROGRAM = """
import ctypes
import numpy as np
import jounce as jn
from jounce import _core

count = ctypes.CDLL(None).allocations
count.restype = ctypes.c_long
jn.set_num_threads(1)
rng = np.random.default_rng(0)
for isa in _core.instruction_sets():
    _core.use_instruction_set(isa)
    for links in (1, 40):
        robot = jn.robots.aerial_manipulator(2, links)
        for states in (2, 50):
            for rows in (2, 3, 4, 7, 9, 13):
                q, v = robot.random_configuration(rng, states), rng.normal(size=(states, rows, robot.nv))
                wrench = {"B2": rng.normal(size=(rows - 1, 6))}
                out = np.empty((states, rows - 1, robot.nv))
                def call():
                    robot.inverse_dynamics(q, v, wrenches=wrench, wrench_frame="world", out=out)
                call()
                before = count()
                call()
                print("inverse_dynamics", count() - before)
                robot.forward_kinematics(q, v, frame="world")
                before = count()
                robot.forward_kinematics(q, v, frame="world")
                print("forward_kinematics", count() - before)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("cc") is None, reason="needs cc and LD_PRELOAD"
)
def test_kernels_allocate_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "counter.c", tmp_path / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, set[int]] = {}
    for line in done.stdout.splitlines():
        name, number = line.split()
        counts.setdefault(name, set()).add(int(number))
    assert set(counts) == {"inverse_dynamics", "forward_kinematics"}
    for name, numbers in counts.items():
        assert max(numbers) - min(numbers) <= 2, (name, numbers)  # NumPy keeps small arrays for reuse
