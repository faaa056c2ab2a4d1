"""Fuzzing: nearly valid bytes for everything that reads bytes. fuzz/README.md says how."""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

TARGETS = sorted(path.stem for path in (HERE / "targets").glob("[a-z]*.py"))
SLOW = 20  # seconds that one may take, on a busy machine


def main() -> int:
    given = arguments()
    if given.again:
        target(given.targets[0]).check(given.again.read_bytes())
        print("nothing is wrong")
        return 0
    if given.child:
        return (guided if given.guided else mutations)(given)
    failed = 0
    for name in given.targets:
        failed += watched(name, given)
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="of " + ", ".join(TARGETS) + " (default: all)")
    parser.add_argument("--seconds", type=float, help="how long to go on with each; a short round if left out")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: %(default)s)")
    parser.add_argument("--guided", action="store_true", help="guided by coverage, with atheris")
    parser.add_argument("--again", type=Path, metavar="FILE", help="one input only")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.targets = given.targets or TARGETS
    for name in given.targets:
        if name not in TARGETS:
            parser.error(f"no target {name!r}, expected some of {', '.join(TARGETS)}")
    return given


def target(name: str) -> ModuleType:
    return importlib.import_module(f"targets.{name}")


def seeds_of(name: str) -> list[bytes]:
    kept = [path.read_bytes() for path in sorted((HERE / "corpus" / name).glob("*"))]
    return [*target(name).seeds(), *kept]


# The parent


def watched(name: str, given: argparse.Namespace) -> int:
    """Runs a child, and another whenever an input takes it down; returns how many did."""
    began, inputs, findings = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        while True:
            left = None if given.seconds is None else given.seconds - (time.monotonic() - began)
            if left is not None and left <= 0:
                break
            command = [sys.executable, __file__, name, "--child", folder, "--seed", str(given.seed)]
            command += ["--guided"] if given.guided else []
            command += [] if left is None else ["--seconds", str(left)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder)
            if not (state / "count").exists():
                raise SystemExit(f"{name} does not start:\n{done.stderr}")
            inputs = int((state / "count").read_text() or 0)
            if done.returncode == 0:
                break
            findings += 1
            report(name, state, done)
            if given.guided or findings >= 10:
                break
    seconds = time.monotonic() - began
    print(f"{name}: {inputs} inputs in {seconds:.0f} s, {findings or 'no'} findings", flush=True)
    return findings


def report(name: str, state: Path, done: subprocess.CompletedProcess[str]) -> None:
    current = next(iter(state.glob("crash-*")), None) or next(iter(state.glob("timeout-*")), None) or state / "input"
    data = current.read_bytes() if current.exists() else b""
    (HERE / "found").mkdir(exist_ok=True)
    kept = HERE / "found" / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
    kept.write_bytes(data)
    print(f"{name}: status {done.returncode}; python fuzz/run.py {name} --again {kept.relative_to(HERE.parent)}")
    print("\n".join((done.stdout + done.stderr).splitlines()[-12:]), flush=True)


# The child


def mutations(given: argparse.Namespace) -> int:
    import plain

    name, state = given.targets[0], given.child
    module = target(name)
    end = None if given.seconds is None else time.monotonic() + given.seconds
    done = int((state / "count").read_text()) if (state / "count").exists() else 0
    with (state / "input").open("wb") as last, (state / "count").open("wb") as count:
        os.pwrite(count.fileno(), f"{done:<20}".encode(), 0)
        made = plain.inputs(seeds_of(name), module.WORDS, given.seed, getattr(module, "mutated", None))
        for number, data in enumerate(made):
            if number < done:  # by the previous child
                continue
            if (end is None and number >= module.SHORT) or (end is not None and time.monotonic() > end):
                break
            os.pwrite(last.fileno(), data, 0)
            os.ftruncate(last.fileno(), len(data))
            os.pwrite(count.fileno(), f"{number + 1:<20}".encode(), 0)
            faulthandler.dump_traceback_later(SLOW, exit=True)
            module.check(data)
            faulthandler.cancel_dump_traceback_later()
    return 0


def guided(given: argparse.Namespace) -> int:
    import atheris

    name, state = given.targets[0], given.child
    with atheris.instrument_imports(include=["jounce"]):
        module = target(name)
    corpus, words = state / "corpus", state / "words"
    corpus.mkdir(exist_ok=True)
    for i, data in enumerate(seeds_of(name)):
        (corpus / f"seed{i}").write_bytes(data)
    quoted = ("".join(map("\\x{:02x}".format, word)) for word in module.WORDS if word)
    words.write_text("".join(f'"{word}"\n' for word in quoted) or '"\\x00"\n')
    runs = 0
    count = (state / "count").open("wb")

    def check(data: bytes) -> None:
        nonlocal runs
        runs += 1
        os.pwrite(count.fileno(), f"{runs:<20}".encode(), 0)
        module.check(data)

    options = [
        f"-max_total_time={int(given.seconds or 60)}",
        f"-seed={given.seed + 1}",
        f"-timeout={SLOW}",
        "-max_len=20000",
    ]
    atheris.Setup([sys.argv[0], str(corpus), f"-dict={words}", "-rss_limit_mb=4096", *options], check)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
