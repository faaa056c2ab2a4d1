"""Fuzzing of all public calls: randomly drawn, over all kinds of robots, and compared with their twins.

    python fuzz/calls.py --calls 1000000 --seed 0           # or --minutes 30
    python fuzz/calls.py --kinds 'constraints, *' closed held --minutes 15    # only over some kinds of robots
    python fuzz/calls.py --kind soft --call linearize --seed 104    # one of them again

Reports what `tests/differences.py` finds, and also crashes, calls that take more than five seconds, and growing
memory. The calls are made in a child process, which is restarted if it dies or is killed. Each finding comes with the
command that reproduces it. The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import faulthandler
import fnmatch
import json
import math
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

SLOW = 5.0  # seconds for one call
GROWTH = 100.0  # MB that memory may grow by, once robots are built and caches are full
LINE = 10.0  # seconds between lines
STATE = struct.Struct("qqqd")  # the round, the calls made, whether one is running, and since when
RANDOM = 0.2  # the fraction of rounds on a randomly drawn robot
FUNCTIONS = 0.02  # and of those not on a robot's methods, which take longer
LEASE = 400  # rounds for which a randomly drawn robot is kept


def choice(seed: int, number: int, kinds: list[str] | None = None) -> tuple[str, str, int]:
    """The kind of robot, the call and the seed of a round; "" as kind for a function that is not a robot's.

    `kinds`: patterns of kinds; functions are then left out.
    """
    import numpy as np

    from calls import CALLS
    from kinds import EVERY
    from odd_values import CALLS as FUNCTION_CALLS

    rng = np.random.default_rng([seed, number])
    own = int(rng.integers(2**31))
    if rng.random() < FUNCTIONS and not kinds:
        return "", list(FUNCTION_CALLS)[int(rng.integers(len(FUNCTION_CALLS)))], own
    methods = sorted({c.method for c in CALLS.values()})
    method = methods[int(rng.integers(len(methods)))]
    drawn = f"random {1000 * seed + number // LEASE}"
    if rng.random() < RANDOM and not kinds:
        return drawn, method, own
    some = matching([*EVERY, *([drawn] if kinds else [])], kinds)
    return some[int(rng.integers(len(some)))], method, own


def matching(names: list[str], patterns: list[str] | None) -> list[str]:
    """The names that match one of the patterns, all without patterns; the program ends if there are none."""
    some = [name for name in names if patterns is None or any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    if not some:
        raise SystemExit(f"--kinds {' '.join(map(repr, patterns or []))}: no kind of robot has such a name")
    return some


def found(kind: str, call: str, seed: int) -> list[str]:
    """What is wrong with one round."""
    from differences import differences
    from drawn_functions import function_differences
    from kinds import EVERY, random_robot

    if not kind:
        return function_differences(call, seed)
    robot = ROBOTS.get(kind) or EVERY.get(kind)
    if robot is None:
        ROBOTS.clear()
        robot = ROBOTS[kind] = random_robot(int(kind.removeprefix("random ")))
    return differences(kind, robot, call, seed)


ROBOTS: dict[str, object] = {}


def child(state: mmap.mmap, findings: Path, seed: int, first: int, calls: int, kinds: list[str] | None = None) -> None:
    """Rounds from `first` on, until `calls` calls have been made."""
    import differences

    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    before, number = STATE.unpack_from(state)[1], first
    differences.listeners.append(
        lambda made, begins: STATE.pack_into(state, 0, number, before + made, begins, time.monotonic())
    )
    with findings.open("a") as report:
        parent = os.getppid()
        while before + differences.made < calls and os.getppid() == parent:  # otherwise nobody is watching
            kind, call, own = choice(seed, number, kinds)
            try:
                wrong = found(kind, call, own)
            except Exception:
                wrong = [f"the test itself fails: {traceback.format_exc()}"]
            for text in wrong:
                print(json.dumps([kind, call, own, text]), file=report, flush=True)
            number += 1
    STATE.pack_into(state, 0, number, before + differences.made, False, time.monotonic())


def memory(process: int) -> float:
    """MB that it occupies."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


def processor_time(process: int) -> float:
    """Seconds that it has used: on a busy machine, wall-clock time says little."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


class Watch:
    """One child after another, and their findings."""

    def __init__(self, seed: int, calls: int, minutes: float | None, kinds: list[str] | None = None) -> None:
        self.seed, self.calls, self.kinds = seed, calls, kinds
        self.end = time.monotonic() + 60 * minutes if minutes is not None else None
        self.problems = 0
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self.findings = self.folder / "findings"
        self.findings.touch()
        self.reported = 0
        (self.folder / "state").write_bytes(bytes(STATE.size))
        with (self.folder / "state").open("r+b") as file:
            self.state = mmap.mmap(file.fileno(), STATE.size)
        self.began = time.monotonic()
        self.last = (0, 0, 0, self.began)

    def problem(self, kind: str, call: str, own: int, text: str) -> None:
        self.problems += 1
        again = f'--kind "{kind}" --call "{call}" --seed {own}'
        print(f"\n{kind or 'function'}: {call}: {text}\n    python fuzz/calls.py {again}", flush=True)

    def report(self) -> None:
        lines = self.findings.read_text().splitlines()
        for line in lines[self.reported :]:
            self.problem(*json.loads(line))
        self.reported = len(lines)

    def run(self) -> int:
        first = 0
        while (made := self.now()[1]) < self.calls and not self.over():
            STATE.pack_into(self.state, 0, first, made, False, time.monotonic())
            process = subprocess.Popen(self.command(first))
            try:
                why = self.watched(process)
            finally:
                process.kill()
                process.wait()
            self.report()
            number = self.now()[0]
            if why:
                self.problem(*choice(self.seed, number, self.kinds), why)
            first = number + 1
        number, made, _, _ = self.now()
        seconds = time.monotonic() - self.began
        self.state.close()
        shutil.rmtree(self.folder)
        print(f"{made} calls in {number} rounds and {seconds:.0f} s: {self.problems or 'no'} findings", flush=True)
        return 1 if self.problems else 0

    def command(self, first: int) -> list[str]:
        """The command that starts a child."""
        arguments = ["--worker", str(self.folder), "--first", str(first), "--calls", str(self.calls)]
        kinds = ["--kinds", *self.kinds] if self.kinds else []
        return [sys.executable, __file__, *arguments, "--seed", str(self.seed), *kinds]

    def now(self) -> tuple[int, int, int, float]:
        """The state, or the previous one while it is being written; the time is written last."""
        found = STATE.unpack_from(self.state)
        if found[3]:
            self.last = found
        return self.last

    def over(self) -> bool:
        return self.end is not None and time.monotonic() > self.end

    def watched(self, process: subprocess.Popen[bytes]) -> str:
        """Waits until it ends; returns why, if not as it should."""
        line, used, seen, sizes = time.monotonic(), 0.0, (-1, 0), []
        while process.poll() is None:
            time.sleep(0.1)
            now = time.monotonic()
            _, made, on, began = self.now()
            if (made, on) != seen:
                seen, used = (made, on), processor_time(process.pid)
            busy = processor_time(process.pid) - used
            if (on and busy > SLOW) or now - began > 20 * SLOW:  # between calls, robots are built
                return self.ended(process, f"takes more than {SLOW:g} s")
            if now - line > LINE:
                line = now
                self.report()
                sizes.append(memory(process.pid))
                speed = made / (now - self.began)
                print(f"{made} calls, {speed:.0f} a second, {sizes[-1]:.0f} MB", flush=True)
                settled, now_least = min(sizes[6:12], default=math.inf), min(sizes[-6:])  # between large calls
                if now_least > settled + GROWTH:
                    return self.ended(process, f"memory has grown from {settled:.0f} to {now_least:.0f} MB")
            if self.over():
                process.terminate()
                process.wait()
                return ""
        return "" if process.returncode == 0 else f"the process died, status {process.returncode}"

    def ended(self, process: subprocess.Popen[bytes], why: str) -> str:
        """Ends it, after a look at where it is."""
        process.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        process.kill()
        process.wait()
        return why


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000, help="how many to make")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, help="how long, if that is over before")
    parser.add_argument(
        "--kinds", nargs="+", metavar="PATTERN", help="of robots, like 'constraints, *' or 'random *'; all if left out"
    )
    parser.add_argument("--kind", help="of one round: the kind of robot")
    parser.add_argument("--call", help="of one round: the call")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.call is not None:
        wrong = found(given.kind or "", given.call, given.seed)
        print("\n".join(wrong) or "nothing is wrong")
        return 1 if wrong else 0
    if given.worker is not None:
        with (given.worker / "state").open("r+b") as file:
            state, findings = mmap.mmap(file.fileno(), STATE.size), given.worker / "findings"
            child(state, findings, given.seed, given.first, given.calls, given.kinds)
        return 0
    choice(given.seed, 0, given.kinds)  # ends here if there are no such kinds
    return Watch(given.seed, given.calls, given.minutes, given.kinds).run()


if __name__ == "__main__":
    sys.exit(main())
