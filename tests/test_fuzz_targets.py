"""The fuzzer of files and arguments reports what it is meant to find, with the input; its inputs are reproducible."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from time_limits import HANG

pytestmark = pytest.mark.night  # and .ci/run
FUZZ = Path(__file__).parents[1] / "fuzz"
TARGETS = ["arguments", "limits", "mjcf", "npz", "pickles", "urdf"]

# A target for which one of the inputs misbehaves.
TARGET = """
import os, sys, time
SHORT, WORDS = 300, [b"x"]
def seeds(): return [b"good", b"fine"]
def check(data):
    if b"x" in data and len(data) > 5:
        {deed}
"""


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, folder / "run.py", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the fuzzer, without targets."""
    place = tmp_path / "fuzz"
    (place / "targets").mkdir(parents=True)
    for name in ("run.py", "plain.py", "targets/__init__.py"):
        shutil.copy(FUZZ / name, place / name)
    return place


@pytest.mark.parametrize(
    ("deed", "status", "words"),
    [
        ("raise KeyError('odd')", 1, "KeyError: 'odd'"),
        ("os.abort()", -6, ""),
        ("os.kill(os.getpid(), 11)", -11, ""),
        ("time.sleep(1000)", 1, "Timeout"),
    ],
)
def test_a_finding(folder: Path, deed: str, status: int, words: str) -> None:
    (folder / "targets" / "bad.py").write_text(TARGET.format(deed=deed))
    program = folder / "run.py"
    program.write_text(program.read_text().replace("SLOW = 20", "SLOW = 1").replace("findings >= 10", "findings >= 2"))
    done = run(folder, "bad")
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count(f"bad: status {status}; python fuzz/run.py bad --again fuzz/found/bad-") == 2
    assert words in done.stdout
    assert "2 findings" in done.stdout
    found = list((folder / "found").iterdir())
    assert len(found) == 2
    assert all(b"x" in path.read_bytes() for path in found)


def test_no_finding(folder: Path) -> None:
    (folder / "targets" / "good.py").write_text(TARGET.format(deed="pass"))
    done = run(folder, "good")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("good: 300 inputs in ")
    assert done.stdout.endswith(" s, no findings\n")


def test_a_target_that_does_not_start(folder: Path) -> None:
    (folder / "targets" / "odd.py").write_text("import nothing_of_the_kind")
    done = run(folder, "odd")
    assert done.returncode == 1
    assert done.stderr.startswith("odd does not start:")


def test_one_input_again(folder: Path) -> None:
    (folder / "targets" / "bad.py").write_text(TARGET.format(deed="raise KeyError('odd')"))
    for data, status in ((b"xxxxxxx", 1), (b"yyyyyyy", 0)):
        (folder / "data").write_bytes(data)
        assert run(folder, "bad", "--again", folder / "data").returncode == status


def test_targets_and_their_names() -> None:
    done = run(FUZZ, "udrf")
    assert done.returncode == 2
    assert f"no target 'udrf', expected some of {', '.join(TARGETS)}" in done.stderr


@pytest.fixture(scope="module")
def plain() -> ModuleType:
    specification = importlib.util.spec_from_file_location("fuzz_plain", FUZZ / "plain.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_inputs_are_the_same_every_time(plain: ModuleType) -> None:
    def first(seed: int) -> list[bytes]:
        return list(itertools.islice(plain.inputs([b"<robot/>", b"<link/>"], [b"nan"], seed), 500))

    assert first(1) == first(1)
    assert first(1)[:2] == first(2)[:2] == [b"<robot/>", b"<link/>"]
    assert first(1) != first(2)
    assert len(set(first(1))) > 300
    assert any(b"nan" in data for data in first(1))


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_pass(name: str) -> None:
    """Each target's own inputs, including those that once found something."""
    if name == "mjcf":
        pytest.importorskip("mujoco")
    program = f"import run; module = run.target({name!r}); [module.check(data) for data in run.seeds_of({name!r})]"
    subprocess.run([sys.executable, "-c", program], cwd=FUZZ, check=True, timeout=HANG)
