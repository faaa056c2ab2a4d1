"""Instructions that the kernels execute, in two revisions: callgrind counts them, and no noise hides a small change.

    python benchmarks/instructions.py HEAD~1          # against the files as they are
    python benchmarks/instructions.py v0.1 v0.2

Needs git, valgrind, cmake, ninja and nanobind. Each revision is built on its own, which takes some minutes. Valgrind
knows no AVX-512, so that the AVX2 kernels run. It counts instructions, not time: fewer may wait longer for each other.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

ROOT = Path(__file__).resolve().parent.parent
CASES = [(kind, n, r, 1) for kind in ("inverse", "forward") for n in (7, 101) for r in (0, 2, 5)]
CASES += [("inverse", 7, r, 64) for r in (0, 2, 5)]
FEW, MANY = 10, 110  # runs: their difference leaves out what is done once

Case = tuple[str, int, int, int]


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


@contextmanager
def sources(revision: str | None, folder: Path) -> Iterator[Path]:
    """A folder with the files of a revision; None: those that are here."""
    if revision is None:
        yield ROOT
        return
    where = folder / "sources"
    run("git", "-C", ROOT, "worktree", "add", "--detach", where, revision)
    try:
        yield where
    finally:
        run("git", "-C", ROOT, "worktree", "remove", "--force", where)


def built(source: Path, folder: Path) -> Path:
    """The program kernel_benchmark, made of these sources."""
    import nanobind

    python = (f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind.cmake_dir()}")
    run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DJOUNCE_BENCHMARKS=ON", "-DJOUNCE_KERNELS=all", *python)
    run("cmake", "--build", folder, "--target", "kernel_benchmark")
    return folder / "kernel_benchmark"


def instructions(program: Path, case: Case) -> float:
    """Of one run, a state."""
    kind, n, r, states = case

    def counted(runs: int) -> int:
        callgrind = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        text = run(*callgrind, program, kind, n, r, runs, states)
        found = re.search(r"refs:\s+([\d,]+)", text)
        if found is None:
            sys.exit(f"valgrind said nothing of instructions:\n{text}")
        return int(found[1].replace(",", ""))

    return (counted(MANY) - counted(FEW)) / (MANY - FEW) / states


def main() -> None:
    parser = argparse.ArgumentParser(description="Instructions of the kernels in two revisions, by callgrind.")
    parser.add_argument("old", help="a revision, as git names it")
    parser.add_argument("new", nargs="?", help="another; left out, the files as they are")
    given = parser.parse_args()
    for tool in ("git", "valgrind", "cmake", "ninja"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed")
    counts: list[list[float]] = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=2 * (1 + len(CASES)))
        for revision in (given.old, given.new):
            name = revision or "here"
            with tempfile.TemporaryDirectory() as text, sources(revision, folder := Path(text)) as source:
                progress.update(task, description=f"{name}: building")
                program = built(source, folder / "build")
                progress.advance(task)
                counts.append([])
                for case in CASES:
                    progress.update(task, description=f"{name}: {case[0]} N = {case[1]} r = {case[2]}")
                    counts[-1].append(instructions(program, case))
                    progress.advance(task)
    print(f"| kernel | N | r | states | {given.old} | {given.new or 'here'} | new / old |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for (kind, n, r, states), old, new in zip(CASES, *counts, strict=True):
        print(f"| {kind} | {n} | {r} | {states} | {old:,.0f} | {new:,.0f} | {new / old:.3f} |")


if __name__ == "__main__":
    main()
