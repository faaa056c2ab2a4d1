"""Runs the tests with mutants: pytest collects once, and each mutant is a fork of that process.

First all tests run without a mutant, to learn how long each takes and which mutants it reaches. A mutant then gets the
tests that reach it, starting with those that are quick and have killed many. A test that fails, crashes or hangs kills
it. A mutant reached before the tests, where test modules make their robots, gets a process that collects with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# Tests of programs around the core, of how processes end and how long they take, and of numbers that the core itself
# once produced: they notice that something changed, not that it is wrong.
LEFT_OUT = ("bench", "demo", "endings", "examples", "frozen", "giving_up", "info", "load_robustness", "reproduce")
ALL = 1 << 20  # cases of a test, or seconds for a mutant: no limit
PATIENCE = 600  # wall-clock seconds for a test
MEMORY = 4 << 30  # bytes that a mutant may take


class Core:
    """The library with the mutants in it."""

    def __init__(self, library: Path, size: int) -> None:
        loaded = ctypes.CDLL(str(library))
        self.chosen = ctypes.c_int.in_dll(loaded, "jounce_mutant")
        self.bytes = (ctypes.c_ubyte * size).in_dll(loaded, "jounce_mutants_seen")

    def select(self, number: int) -> None:
        self.chosen.value = number
        os.environ["JOUNCE_MUTANT"] = str(number)

    def seen(self) -> set[int]:
        """The mutants reached since the last call."""
        found = set(np.flatnonzero(np.frombuffer(self.bytes, np.uint8)).tolist())
        ctypes.memset(self.bytes, 0, len(self.bytes))
        return found


class Runner:
    """A pytest plugin."""

    def __init__(self, scratch: Path, library: Path, size: int, cases: int) -> None:
        self.scratch, self.library, self.cases = scratch, library, cases
        self.core = Core(library, size)
        self.collected: set[int] = set()
        self.failed = False
        self.took = 0.0
        self.kills: dict[str, float] = {}

    # What pytest calls.

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps a number of cases of each test, spread over all of them."""
        by_test: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
        kept = {id(item) for cases in by_test.values() for item in cases[:: -(-len(cases) // self.cases)]}
        items[:] = [item for item in items if id(item) in kept]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and os.environ.get("JOUNCE_MUTANT"):
            sys.stderr.write("collection failed\n")
            os._exit(1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.collected |= self.core.seen()
        self.items = {item.nodeid: item for item in session.items}
        self.work()
        return True

    def work(self) -> None:
        raise NotImplementedError

    # One run after another.

    def run_item(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Whether a test passes; `took` is its processor time, in seconds."""
        self.failed, began = False, time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        self.took = time.process_time() - began
        return not self.failed

    def in_fork(self, job: Any) -> tuple[list[str], str]:
        """The output of a job in a process of its own, line by line, and how it ended: "", "crash" or "time"."""
        sys.stdout.flush()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(read)
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            code = 1
            try:
                job(lambda text: os.write(write, (text + "\n").encode()))
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        said, rest, how = [], b"", ""
        deadline = time.monotonic() + PATIENCE
        while True:
            if not select.select([read], [], [], max(0.0, deadline - time.monotonic()))[0]:
                how = "time"
                break
            block = os.read(read, 1 << 16)
            if not block:
                break
            *lines, rest = (rest + block).split(b"\n")
            said += [line.decode() for line in lines]
            deadline = time.monotonic() + PATIENCE
        os.close(read)
        if how:
            os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        return said, how or ("time" if os.WTERMSIG(status) == signal.SIGPROF else "crash" if status else "")


class Baseline(Runner):
    """The tests not known yet, without a mutant: writes how long they take and which mutants they reach."""

    def work(self) -> None:
        path = self.scratch / "baseline.json"
        known = json.loads(path.read_text()) if path.exists() else {"collected": [], "tests": {}}
        learned = {name: test for name, test in known["tests"].items() if name in self.items or self.cases < ALL}

        def job(say: Any) -> None:
            items = [item for item in self.items.values() if item.nodeid not in learned]
            for item, following in zip(items, [*items[1:], None], strict=True):
                passed = self.run_item(item, following)
                seen = self.core.seen()
                learned[item.nodeid] = {"passed": passed, "seconds": self.took, "seen": sorted(seen)}
                say(item.nodeid)
            path.write_text(json.dumps({"collected": sorted(self.collected), "tests": learned}))

        said, how = self.in_fork(job)
        if how:
            raise SystemExit(f"without a mutant, the tests end by {how} in {said[-1] if said else 'collection'}")


class Hunt(Runner):
    """The mutants, one after another."""

    def __init__(
        self,
        scratch: Path,
        library: Path,
        plan: list[dict[str, Any]],
        size: int,
        limit: int | None,
        budget: float,
        cases: int,
    ) -> None:
        super().__init__(scratch, library, size, cases)
        self.plan, self.budget, self.limit = plan, budget, limit
        self.thorough = budget >= ALL  # then a mutant that is reached before the tests gets a process in any case
        learned = json.loads((scratch / "baseline.json").read_text())
        self.at_start = set(learned["collected"])
        self.tests = {name: test for name, test in learned["tests"].items() if test["passed"]}
        self.meeting: dict[int, list[str]] = {m["number"]: [] for m in plan}
        for name, test in self.tests.items():
            for number in test["seen"]:
                self.meeting.setdefault(number, []).append(name)
        self.only = os.environ.get("JOUNCE_MUTANT")

    def order(self, number: int) -> list[str]:
        """The tests for a mutant; as many as the budget of seconds allows, those likely to kill it first."""
        names = list(self.tests) if self.only else self.meeting[number]

        def cost(name: str) -> float:
            file = name.partition("::")[0]
            luck = 1 + self.kills.get(name, 0) + 0.1 * self.kills.get(file, 0)
            return (float(self.tests[name]["seconds"]) + 0.005) / luck

        chosen, total = [], 0.0
        for name in sorted(names, key=cost):
            total += self.tests[name]["seconds"] + 0.002
            if total <= self.budget and name in self.items:
                chosen.append(name)
        return chosen

    def work(self) -> None:
        path = self.scratch / "results.json"
        results = json.loads(path.read_text()) if path.exists() else {}
        for result in results.values():
            self.learn(result)
        if self.only:
            self.run_here(int(self.only))
        todo = [m for m in self.plan if results.get(str(m["number"]), {"how": "again"})["how"] == "again"]
        random.Random(0).shuffle(todo)  # so that all files have had their share whenever it is stopped
        todo.sort(key=lambda m: str(m["number"]) not in results)
        todo = todo[: self.limit]
        began = time.monotonic()
        for done, mutant in enumerate(todo, 1):
            number = mutant["number"]
            start = time.monotonic()
            result = self.hunt(number) | {"seconds": round(time.monotonic() - start, 1)}
            results[str(number)] = result
            self.learn(result)
            path.with_suffix(".new").write_text(json.dumps(results, indent=1))
            path.with_suffix(".new").replace(path)
            alive = sum(r["how"] in ("survived", "not met") for r in results.values())
            print(
                f"{done}/{len(todo)} {time.monotonic() - began:.0f} s, {alive} alive: "
                f"{mutant['file']}:{mutant['line']} "
                f"{mutant['change']}: {result['how']} {result.get('by', '')}",
                flush=True,
            )

        killers = {r["by"] for r in results.values() if r.get("by") in self.items}
        while killers:  # they must pass without a mutant, in a process like those that had one
            said, how = self.in_fork(self.job(-1, sorted(killers)))
            if self.verdict(said, how, 0)["how"] == "survived":
                break
            wrong = said[-2] if said[-1] == "failed" else said[-1]
            print(f"{wrong} fails without a mutant, too; what it killed is to be done again", flush=True)
            killers.discard(wrong)
            results = {number: r for number, r in results.items() if r.get("by") != wrong}
            path.write_text(json.dumps(results, indent=1))

    def learn(self, result: dict[str, Any]) -> None:
        if by := result.get("by"):
            for name in (by, by.partition("::")[0]):
                self.kills[name] = self.kills.get(name, 0) + 1

    def job(self, number: int, names: list[str]) -> Any:
        def run(say: Any) -> None:
            self.core.select(number)
            items = [self.items[name] for name in names]
            for item, following in zip(items, [*items[1:], None], strict=True):
                say(item.nodeid)
                signal.setitimer(signal.ITIMER_PROF, 5 + 10 * self.tests[item.nodeid]["seconds"])  # its time limit
                if not self.run_item(item, following):
                    say("failed")
                    return
            say("passed")

        return run

    def hunt(self, number: int) -> dict[str, Any]:
        names = self.order(number)
        if names:
            said, how = self.in_fork(self.job(number, names))
            result = self.verdict(said, how, len(names))
            if result["how"] != "survived" or not self.thorough:
                return result
        if number in self.at_start:
            return self.in_process(number)
        return result if names else {"how": "not met"}

    def verdict(self, said: list[str], how: str, tests: int) -> dict[str, Any]:
        if said and said[-1] == "passed":
            return {"how": "survived", "tests": tests}
        if said and said[-1] == "failed":
            return {"how": "failed", "by": said[-2]}
        return {"how": how or "crash", "by": said[-1] if said else "collection"}

    def in_process(self, number: int) -> dict[str, Any]:
        """In a process that collects with the mutant."""
        limits = ["--budget", str(self.budget), "--cases", str(self.cases)]
        command = [sys.executable, str(Path(__file__).parent), "--scratch", str(self.scratch), *limits]
        log = self.scratch / "process.log"
        with log.open("w") as out:
            try:
                child = subprocess.Popen(
                    command,
                    env=os.environ | {"JOUNCE_MUTANT": str(number)},
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                child.wait(PATIENCE + 20 * self.budget)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return {"how": "time", "by": "collection"}
        said = [line.removeprefix("said ") for line in log.read_text().splitlines() if line.startswith("said ")]
        return self.verdict(said, "crash", len(said) - 1)

    def run_here(self, number: int) -> None:
        names = self.order(number)
        said, how = self.in_fork(self.job(number, names))
        print("".join(f"said {line}\n" for line in said), end="", flush=True)
        os._exit(0 if not how else 1)


def pytest_with(plugin: Runner, root: Path) -> None:
    """pytest with a runner, on the tests of the core."""
    os.chdir(root)
    ignored = [f"--ignore=tests/test_{name}.py" for name in LEFT_OUT]
    without = ["-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:xdist", "--no-header", "--capture=no"]
    status = pytest.main(["-q", *without, "--import-mode=importlib", *ignored, "tests"], plugins=[plugin])
    if status in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        sys.exit(int(status))
