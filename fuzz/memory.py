"""Checks whether calls leak: the same calls in one process, twice.

    python fuzz/memory.py --rounds 60000 --seed 0

The first pass fills caches, imports modules and makes the core's workspaces as large as the largest call needs; they
stay. The second pass must leave no more memory in use than the first. Needs Linux with glibc. The exit status is 1 if
it leaves more.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.util
import sys
from pathlib import Path
from typing import NamedTuple

MALLOC = 1.0  # MB in use that the second pass may leave beyond the first
OBJECTS = 0.02  # the fraction of Python's objects that it may leave


class MallocInfo(ctypes.Structure):
    """mallinfo2 of glibc."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks")),
        *((name, ctypes.c_size_t) for name in ("uordblks", "fordblks", "keepcost")),
    ]


class Memory(NamedTuple):
    resident: float  # MB of the process
    in_use: float  # MB that malloc has given out: to the core, NumPy and others
    objects: int  # Python objects that can hold others


def memory(libc: ctypes.CDLL) -> Memory:
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
    info = libc.mallinfo2()
    return Memory(resident, (info.uordblks + info.hblkhd) / 1e6, len(gc.get_objects()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60_000, help="of each time; some four calls a round")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    spec = importlib.util.spec_from_file_location("fuzz_calls", Path(__file__).with_name("calls.py"))
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)  # tests/ has another module of that name
    spec.loader.exec_module(fuzz)
    libc = ctypes.CDLL("libc.so.6")
    libc.mallinfo2.restype = MallocInfo
    left, findings = [], 0
    for time in ("first", "second"):
        for number in range(given.rounds):
            findings += len(fuzz.found(*fuzz.choice(given.seed, number)))
        now = memory(libc)
        left.append(now)
        print(
            f"the {time} time: {now.resident:.1f} MB, {now.in_use:.1f} of malloc in use, {now.objects} objects",
            flush=True,
        )
    first, second = left
    grown = second.in_use > first.in_use + MALLOC or second.objects > first.objects * (1 + OBJECTS)
    print("memory grows" if grown else "memory does not grow", f"; {findings or 'no'} findings", sep="")
    return 1 if grown or findings else 0


if __name__ == "__main__":
    sys.exit(main())
