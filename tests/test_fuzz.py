"""The fuzzer reports what it is meant to find: crashes, calls that do not end, growing memory, differences."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from time_limits import HANG

PROGRAM = Path(__file__).parents[1] / "fuzz" / "calls.py"
pytestmark = [
    pytest.mark.night,  # and .ci/run
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

# A child that makes few calls, one of which misbehaves.
CHILD = """
import mmap, os, pathlib, struct, sys, time
folder, first = pathlib.Path(sys.argv[1]), int(sys.argv[2])
file = (folder / "state").open("r+b")
state = mmap.mmap(file.fileno(), 32)
kept = []
for number in range(first, 8):
    struct.pack_into("qqqd", state, 0, number, number + 1, True, time.monotonic())
    if number == 3:
        {deed}
    struct.pack_into("qqqd", state, 0, number, number + 1, False, time.monotonic())
"""


@pytest.fixture
def fuzz(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [*sys.path])  # to which it adds
    specification = importlib.util.spec_from_file_location("fuzz_calls", PROGRAM)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def run(fuzz: ModuleType, deed: str) -> int:
    class Watch(fuzz.Watch):
        def command(self, first: int) -> list[str]:
            return [sys.executable, "-c", CHILD.format(deed=deed), str(self.folder), str(first)]

    return Watch(0, 8, None).run()


def test_nothing_to_report(fuzz: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(fuzz, "pass") == 0
    assert "8 calls in 7 rounds" in (printed := capsys.readouterr().out)
    assert "no findings" in printed


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("os.abort()", "the process died, status -6"),
        ("os.kill(os.getpid(), 11)", "the process died, status -11"),
        ("sys.exit(3)", "the process died, status 3"),
        ("while True: pass", "takes more than 0.3 s"),
        ("time.sleep(1000)", "takes more than 0.3 s"),
    ],
)
def test_what_ends_a_child(
    fuzz: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, deed: str, words: str
) -> None:
    """It is reported with the call, and the rest still runs."""
    monkeypatch.setattr(fuzz, "SLOW", 0.3)
    assert run(fuzz, deed) == 1
    printed = capsys.readouterr().out
    kind, call, seed = fuzz.choice(0, 3)
    assert f"{kind}: {call}: {words}\n" in printed
    assert f'--kind "{kind}" --call "{call}" --seed {seed}' in printed
    assert "8 calls in 7 rounds" in printed
    assert printed.count("takes more") + printed.count("died") == 1


def test_memory_that_grows(
    fuzz: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "LINE", 0.05)
    monkeypatch.setattr(fuzz, "GROWTH", 20.0)
    grow = "exec('while True: kept.append(bytearray(300_000)); time.sleep(0.005)')"
    assert run(fuzz, grow) == 1
    assert "memory has grown from" in capsys.readouterr().out


def test_a_short_round() -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, "--calls", "60", "--seed", "5"], capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no findings" in done.stdout


def test_one_call_again() -> None:
    command = [sys.executable, PROGRAM, "--kind", "soft", "--call", "mass_matrix", "--seed", "104"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG)
    assert (done.returncode, done.stdout) == (0, "nothing is wrong\n")
