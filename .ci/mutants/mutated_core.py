"""The core with all mutants in it, compiled once: which of them is active is chosen at run time.

-O1, and one instruction set only, that of the machine.
"""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import nanobind
import numpy as np
from find import Mutation, Source, choose

LEFT_OUT = {
    "docs.hpp",
    "docs_equations.hpp",
    "module.cpp",
    "parallel.cpp",
    "thread_pool.cpp",
    "thread_pool.hpp",
    "standard.hpp",
}
FLAGS = [
    *("-std=c++20", "-O1", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fno-tree-slp-vectorize"),
    *("-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-Wno-psabi", "-Werror=vla", "-fmax-errors=0"),
    *("-DNDEBUG", "-DJOUNCE_BASELINE", "-DNB_COMPACT_ASSERTIONS"),
]

HEADER = """#pragma once
extern "C" {{
extern __attribute__((visibility("default"))) int jounce_mutant;
extern __attribute__((visibility("default"))) unsigned char jounce_mutants_seen[{size}];
}}
inline __attribute__((always_inline)) bool JOUNCE_MUTANT(int i) {{
  jounce_mutants_seen[i] = 1;
  return i == jounce_mutant;
}}
"""
DEFINITION = """#include <cstdlib>
#include "mutants.hpp"
int jounce_mutant = std::getenv("JOUNCE_MUTANT") ? std::atoi(std::getenv("JOUNCE_MUTANT")) : -1;
unsigned char jounce_mutants_seen[{size}];
"""


@dataclass
class Mutant:
    number: int
    file: str
    line: int  # its first, from 1
    last_line: int
    change: str
    was: str  # these lines, without indentation; with the one before, if it is just `continue` or `break`
    mutant: str  # the same, mutated


def sources(root: Path) -> list[str]:
    found = [*root.glob("include/jounce/**/*.hpp"), *root.glob("bindings/**/*.?pp")]
    return sorted(str(path.relative_to(root)) for path in found if path.name not in LEFT_OUT)


def matching(files: list[str], patterns: list[str]) -> list[str]:
    """Those of the files that match one of the patterns; a pattern that no file matches is an error."""
    for pattern in patterns:
        if not fnmatch.filter(files, pattern):
            raise SystemExit(f"--only {pattern!r} matches none of the {len(files)} sources, expected one at least")
    return [file for file in files if any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns)]


class Build:
    def __init__(self, root: Path, scratch: Path, jobs: int = 2) -> None:
        self.root, self.scratch, self.jobs = root, scratch, jobs
        self.source = scratch / "source"
        self.objects = scratch / "objects"
        self.package = scratch / "package"
        self.size = 0  # of the list of mutants, including those that do not compile

    def make(self, count: int, seed: int, only: list[str]) -> list[Mutant]:
        """Generates mutants of files that match, drops those that do not compile, compiles and returns the others."""
        files = matching(sources(self.root), only)
        for folder in (self.source, self.objects, self.package):
            shutil.rmtree(folder, ignore_errors=True)
        self.objects.mkdir(parents=True)
        for part in ("include", "bindings"):
            shutil.copytree(self.root / part, self.source / part)
        chosen = [
            (file, mutation) for file, list_ in choose(self.root, files, count, seed).items() for mutation in list_
        ]
        mutants = [described(self.root, i, *each) for i, each in enumerate(chosen)]
        self.size = len(mutants)
        (self.source / "mutants.hpp").write_text(HEADER.format(size=self.size))
        (self.source / "bindings/mutants.cpp").write_text(DEFINITION.format(size=self.size))
        alive = set(range(len(mutants)))
        self.write(chosen, alive)
        alive &= self.let_through()
        for options in (["-fsyntax-only"], ["-c"]):
            units = self.units(options)
            while units:
                done = dict(zip(units, self.run(units, options), strict=True))
                units = [unit for unit in units if done[unit].returncode]
                bad = self.refused(mutants, alive, [done[unit].stderr for unit in units])
                alive -= bad
                self.write(chosen, alive)
                if bad:
                    print(f"{len(bad)} mutants do not compile, {len(alive)} are left", flush=True)
        self.link()
        return [mutants[i] for i in sorted(alive)]

    def write(self, chosen: list[tuple[str, Mutation]], alive: set[int]) -> None:
        originals = {file: (self.root / file).read_text() for file in sources(self.root)}
        texts = dict(originals)
        for i in sorted(alive, reverse=True):
            file, m = chosen[i]
            texts[file] = texts[file][: m.begin] + m.selected(originals[file], i) + texts[file][m.end :]
        for file, text in texts.items():
            path = self.source / file
            if path.name == "config.hpp":  # every expression appears twice: inlined, that doubles at each level
                text = text.replace("inline __attribute__((always_inline))", "inline")
                text = text.replace("JOUNCE_LAMBDA_INLINE __attribute__((always_inline))", "JOUNCE_LAMBDA_INLINE")
            if path.read_text() != text:
                path.write_text(text)

    def units(self, options: list[str]) -> list[str]:
        found = [str(path) for path in sorted(self.source.glob("bindings/**/*.cpp"))]
        return [*found, str(Path(nanobind.source_dir()) / "nb_combined.cpp")] if options == ["-c"] else found

    def object(self, unit: str) -> Path:
        return self.objects / (
            unit.rpartition("bindings/")[2].replace("/", "_") + ".o" if "bindings/" in unit else "nanobind.o"
        )

    def run(self, units: list[str], options: list[str]) -> list[subprocess.CompletedProcess[str]]:
        nano = Path(nanobind.source_dir())
        include = [
            *(self.source, self.source / "include", self.source / "bindings", nanobind.include_dir(), np.get_include()),
            *(nano.parent / "ext/robin_map/include", sysconfig.get_path("include")),
        ]
        command = [
            "g++",
            *FLAGS,
            *(f"-I{folder}" for folder in include),
            "-include",
            str(self.source / "mutants.hpp"),
            *options,
        ]

        def one(unit: str) -> subprocess.CompletedProcess[str]:
            out = ["-o", str(self.object(unit))] if options == ["-c"] else []
            return subprocess.run([*command, unit, *out], capture_output=True, text=True)

        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(one, units))

    def let_through(self) -> set[int]:
        """The mutants that the preprocessor lets through."""
        found = set()
        for done in self.run(self.units([]), ["-E", "-P"]):
            found |= {int(i) for i in re.findall(r"JOUNCE_MUTANT\((\d+)\)", done.stdout)}
        return found

    def refused(self, mutants: list[Mutant], alive: set[int], complaints: list[str]) -> set[int]:
        """The mutants that the compiler complains about; if a complaint is about no mutant, all that it mentions."""
        bad: set[int] = set()
        where: dict[tuple[str, int], set[int]] = {}
        for i in alive:
            for line in range(mutants[i].line, mutants[i].last_line + 1):
                where.setdefault((mutants[i].file, line), set()).add(i)
        for complaint in complaints:
            named: list[set[int]] = [set(), set()]
            for path, line, kind in re.findall(
                r"^(?:In file included from )?(/[^:\n]+):(\d+):\d*:? *(\w*)", complaint, re.MULTILINE
            ):
                file = path.removeprefix(f"{self.source}/")
                named[kind not in ("error", "fatal")] |= where.get((file, int(line)), set())
            if not any(named):
                raise SystemExit(complaint[:4000])
            bad |= named[0] or named[1]
        return bad

    def copy_python(self) -> None:
        shutil.copytree(self.root / "src/jounce", self.package / "jounce", dirs_exist_ok=True)

    def link(self) -> None:
        self.copy_python()
        target = self.library()
        objects = [str(path) for path in self.objects.glob("*.o")]
        subprocess.run(["g++", "-shared", "-o", str(target), *objects, "-pthread"], check=True)

    def library(self) -> Path:
        return self.package / "jounce" / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"


def described(root: Path, number: int, file: str, m: Mutation) -> Mutant:
    source = Source((root / file).read_text())
    first, last = source.line(m.begin), source.line(m.end - 1)
    alone = squeezed(source.line_text(first)) in ("continue;", "break;")  # which says little without the line before
    begin, end = source.starts[first - alone], source.starts[last] + len(source.line_text(last))
    changed = source.text[begin : m.begin] + m.changed + source.text[m.end : end]
    return Mutant(number, file, first + 1, last + 1, m.change, squeezed(source.text[begin:end]), squeezed(changed))


def squeezed(text: str) -> str:
    return " ".join(text.split())


def as_dict(mutants: list[Mutant]) -> list[dict[str, object]]:
    return [asdict(mutant) for mutant in mutants]
