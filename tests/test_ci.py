"""The scripts of .ci: what they read from README, the night and its ledger, the choice of Pythons."""

from __future__ import annotations

import datetime
import importlib.machinery
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
Load = Callable[[str], ModuleType]
Night = Callable[..., tuple[int, str, str]]
TODAY = datetime.date(2026, 11, 18)
README = """# jounce

    not this one

## Two commands

In a clone of this repository:

    python3 -m venv .venv && .venv/bin/pip install '.[demo]' && .venv/bin/jounce demo  # fly
    python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest    # all of it

## Ten lines

    nor this
"""

pytestmark = [
    pytest.mark.night,  # and .ci/run
    pytest.mark.skipif(shutil.which("git") is None, reason="there is no git"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs a shell"),
]


@pytest.fixture
def ci(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Loads a script or module of .ci by its name."""
    monkeypatch.syspath_prepend(ROOT / ".ci")

    def loaded(name: str) -> ModuleType:
        loader = importlib.machinery.SourceFileLoader(f"ci_{name.partition('.')[0]}", str(ROOT / ".ci" / name))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, loader.name, module)  # where dataclasses look for it
        loader.exec_module(module)
        return module

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield loaded
    for name in ("ledger", "newcomer", "parts", "shell"):
        sys.modules.pop(name, None)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a change")
    return git(folder, "rev-parse", "--short", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With the scripts, README, some code, and nothing that is ignored or uncommitted."""
    folder = tmp_path / "repository"
    shutil.copytree(ROOT / ".ci", folder / ".ci", ignore=shutil.ignore_patterns("__pycache__", "ledger.md"))
    (folder / "README.md").write_text(README)
    (folder / "code.py").write_text("1\n")
    (folder / ".gitignore").write_text("build/\n__pycache__/\n")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def called(command: list[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}, check=False
    )


def written(file: Path) -> int:
    """The number that a process writes there."""
    end = time.monotonic() + 60
    while time.monotonic() < end and not (file.exists() and file.read_text().endswith("\n")):
        time.sleep(0.02)
    return int(file.read_text())


def ends(group: int) -> bool:
    """Whether all of these processes are gone, soon."""
    end = time.monotonic() + 10
    while time.monotonic() < end:  # the system may take a moment to notice
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return False


# --- lines of shell -------------------------------------------------------------------------------------


def test_the_status_and_the_output_of_a_line(ci: Load, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as out:
        assert ci("shell.py").run("cat; echo one && pwd >&2; exit 7", tmp_path, log=out) == 7
    assert log.read_text() == f"one\n{tmp_path}\n"


@pytest.mark.parametrize("line", ["sleep 100 & echo $$ > pid", "echo $$ > pid; sleep 100 & sleep 100"])
def test_what_a_line_leaves_running_is_ended(tmp_path: Path, line: str) -> None:
    program = "import pathlib, shell, sys; shell.end_like_ctrl_c(); shell.run(sys.argv[1], pathlib.Path())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / ".ci")}
    process = subprocess.Popen([sys.executable, "-c", program, line], cwd=tmp_path, env=environment)
    group = written(tmp_path / "pid")
    process.terminate()
    process.wait()
    assert ends(group)


def test_what_does_not_want_to_end_is_killed(ci: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell, start, started = ci("shell.py"), subprocess.Popen, []
    monkeypatch.setattr(shell, "PATIENCE", 0.2)
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(start(*a, **k)) or started[0])
    line = "trap '' TERM; while :; do sleep 0.1; done"
    assert shell.run(line, tmp_path, limit=0.5) == shell.TOO_LONG
    assert ends(started[0].pid)


# --- README ---------------------------------------------------------------------------------------------


def test_readme_lines_are_read_as_they_stand(ci: Load) -> None:
    newcomer = ci("newcomer.py")
    demo, test = newcomer.readme_lines(README)
    assert demo == "python3 -m venv .venv && .venv/bin/pip install '.[demo]' && .venv/bin/jounce demo  # fly"
    assert test == "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest    # all of it"
    assert newcomer.with_option(test, "--other-python").endswith("&& .venv/bin/pytest --other-python")


def test_the_readme_has_both_lines(ci: Load) -> None:
    newcomer = ci("newcomer.py")
    demo, test = newcomer.readme_lines((ROOT / "README.md").read_text())
    assert "jounce demo" in demo
    assert newcomer.with_option(test, "--night").endswith("pytest --night")


@pytest.mark.parametrize(
    ("readme", "count"),
    [("# jounce\n", 0), (README.replace("## Ten lines\n", ""), 3), (README.replace("    python3", "python3", 1), 1)],
)
def test_a_readme_of_another_form_is_refused(ci: Load, readme: str, count: int) -> None:
    with pytest.raises(SystemExit, match=f"has {count} indented lines under 'Two commands', expected two"):
        ci("newcomer.py").readme_lines(readme)


def test_an_option_for_something_else_is_refused(ci: Load) -> None:
    with pytest.raises(SystemExit, match="ends in 'demo', expected pytest"):
        ci("newcomer.py").with_option("jounce demo  # then pytest", "--night")


def test_a_copy_has_what_git_has_or_would_add(
    ci: Load, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "new file.py").write_text("2\n")
    (repository / "build").mkdir()
    (repository / "build/kernel.o").write_text("compiled")
    (repository / "README.md").unlink()
    (repository / "code.py").write_text("changed\n")
    newcomer = ci("newcomer.py")
    monkeypatch.setattr(newcomer, "ROOT", repository)
    newcomer.copy_of_tree(tmp_path / "copy")
    copied = {str(path.relative_to(tmp_path / "copy")) for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert {"new file.py", "code.py", ".ci/run"} <= copied
    assert not copied & {"README.md", "build/kernel.o"}
    assert not any(name.startswith(".git/") for name in copied)
    assert (tmp_path / "copy/code.py").read_text() == "changed\n"
    assert os.access(tmp_path / "copy/.ci/run", os.X_OK)


# --- the ledger -----------------------------------------------------------------------------------------


def test_a_ledger_is_read_as_written(ci: Load, repository: Path) -> None:
    ledger = ci("ledger.py")
    first = ledger.Entry("second", "abc1234", "2026-11-17", "passes", 12, "9 passed, 1 / 2 in 3 s")
    other = ledger.Entry("first", "abc1234+changes", "2026-11-18", "fails", 0, "")
    gone = ledger.Entry("gone", "abc1234", "2026-11-18", "passes", 1, "")
    assert ledger.read(repository) == {}
    ledger.record(repository, gone, ["gone", "second"])
    ledger.record(repository, first, ["gone", "first", "second"])
    assert ledger.read(repository) == {"gone": gone, "second": first}
    ledger.record(repository, other, ["first", "second"])
    assert ledger.read(repository) == {"first": other, "second": first}
    lines = (repository / ".ci/ledger.md").read_text().splitlines()
    assert [line.split()[1] for line in lines[-2:]] == ["first", "second"]  # in the order of the parts, one line each
    assert not list((repository / ".ci").glob("*.new"))


def test_the_ledger_of_this_repository_is_read(ci: Load) -> None:
    names = [part.name for part in ci("parts.py").parts()]
    entries = ci("ledger.py").read(ROOT)
    assert set(entries) <= set(names)
    for entry in entries.values():
        assert entry.result in ("passes", "fails")
        assert datetime.date.fromisoformat(entry.date) > datetime.date(2026, 11, 1)


def test_the_commit_of_a_tree(ci: Load, repository: Path) -> None:
    """Says if there are changes; the ledger's own are none."""
    ledger = ci("ledger.py")
    head = git(repository, "rev-parse", "--short", "HEAD")
    (repository / ledger.LEDGER).write_text(ledger.HEAD)
    assert ledger.commit_of(repository) == head
    (repository / "new.py").write_text("")
    assert ledger.commit_of(repository) == f"{head}+changes"


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({}, []),
        ({"date": "2026-11-04"}, []),
        ({"date": "2026-11-03"}, ["older than 14 days"]),
        ({"result": "fails"}, ["failed"]),
        ({"commit": "0123456"}, ["unknown commit"]),
        ({"commit": ""}, ["unknown commit"]),
        ({"commit": "before"}, ["older than the code they watch"]),
        ({"commit": "before", "date": "2026-01-01"}, ["older than 14 days", "older than the code they watch"]),
        ({"part": "of something else"}, ["never run"]),
    ],
)
def test_why_a_part_is_due(ci: Load, repository: Path, change: dict[str, str], reasons: list[str]) -> None:
    ledger = ci("ledger.py")
    before = git(repository, "rev-parse", "--short", "HEAD")
    (repository / "code.py").write_text("2\n")
    at = commit(repository)
    (repository / "notes.txt").write_text("not code\n")
    commit(repository)
    change = {**change, "commit": before} if change.get("commit") == "before" else change
    plain = {"part": "part", "commit": at, "date": "2026-11-18", "result": "passes", "seconds": 1, "said": "1 passed"}
    ledger.record(repository, ledger.Entry(**{**plain, **change}), ["part", "of something else"])
    found = ledger.ages(repository, {"part": ("code.py", "other")}, TODAY)
    assert found == {reason: ["part"] for reason in reasons}
    summary = ledger.summary(repository, {"part": ("code.py", "other")}, TODAY)
    assert summary.startswith(f"The night: {0 if reasons else 1} of 1 parts are up to date.")
    assert summary.count("part") == 1 + len(reasons)


def test_a_part_that_ran_on_changes_is_due(ci: Load, repository: Path) -> None:
    ledger = ci("ledger.py")
    at = f"{git(repository, 'rev-parse', '--short', 'HEAD')}+changes"
    ledger.record(repository, ledger.Entry("part", at, "2026-11-18", "passes", 1, ""), ["part"])
    assert ledger.ages(repository, {"part": (".",)}, TODAY) == {"on changes that were not committed": ["part"]}


def test_ages_where_there_is_no_repository(ci: Load, tmp_path: Path) -> None:
    ledger = ci("ledger.py")
    (tmp_path / ".ci").mkdir()
    ledger.record(tmp_path, ledger.Entry("part", "abc1234", "2026-11-18", "passes", 1, ""), ["part"])
    assert ledger.ages(tmp_path, {"part": ("code.py",)}, TODAY) == {"unknown commit": ["part"]}


# --- the night ------------------------------------------------------------------------------------------


def test_the_parts_of_the_night(ci: Load) -> None:
    found = ci("parts.py").parts()
    assert len({part.name for part in found}) == len(found)
    assert sum(part.minutes for part in found) <= 8 * 60
    for part in found:
        assert part.watches
        for path in part.watches:
            assert (ROOT / path).exists(), f"{part.name} watches {path}"
        for word in part.command.split():
            if word.startswith((".ci/", "fuzz/", "docs/", "tests/")) and "*" not in word:
                assert (ROOT / word).exists(), f"{part.name} runs {word}"


PARTS = """
from dataclasses import dataclass
PYTHON = "installed"
INSTALL = "echo installing >> build/said; {install}"
@dataclass(frozen=True)
class Part:
    name: str
    command: str
    watches: tuple = ("code.py",)
    minutes: float = 1
    needs: str = ""
def parts(seconds=900, seed=0):
    return [
        Part("good", "echo good $((1 + 1)) {{seed}} >> build/said; echo '3 passed | in 2 s'; echo".format(seed=seed)),
        Part("bad", "echo bad >> build/said; echo oh >&2; exit 3"),
        Part("deadly", "[ -e build/dead ] || {{ touch build/dead; kill -9 $PPID; sleep 0.3; }}; echo ! >> build/said"),
        Part("core", "echo with what is installed >> build/said"),
        Part("missing", "echo installed with jax >> build/said", needs="jax"),
        Part("endless", "sleep 60", minutes=0.0),
    ]
"""


@pytest.fixture
def night(repository: Path) -> Night:
    """Runs .ci/nightly with parts that take no time; returns the status, what was printed, and which parts ran."""
    (repository / "build").mkdir()
    (repository / "build/dead").touch()

    def run(*arguments: str, install: str = "true") -> tuple[int, str, str]:
        (repository / "build/said").write_text("")
        (repository / ".ci/parts.py").write_text(PARTS.format(install=install))
        script = repository / ".ci/nightly"
        script.write_text(script.read_text().replace("* part.minutes + 1)", "* part.minutes + 0.005)"))
        commit(repository)
        done = called([sys.executable, script, *arguments])
        assert not done.stderr or done.returncode == 2, done.stderr
        return done.returncode, done.stdout, (repository / "build/said").read_text().replace("\n", "; ")

    return run


def test_the_night_goes_on_after_a_failure_and_keeps_a_ledger(ci: Load, night: Night, repository: Path) -> None:
    status, printed, ran = night("bad", "good")
    head = git(repository, "rev-parse", "--short", "HEAD")
    today = datetime.date.today()
    assert status == 1
    assert ran == f"good 2 {today:%Y%m%d}; bad; "
    first, second = printed.splitlines()
    assert re.fullmatch(rf"good: passes, \d+ s, {head}: 3 passed / in 2 s", first)
    assert re.fullmatch(rf"bad: fails, \d+ s, {head}: oh", second)
    assert (repository / "build/nightly/bad.log").read_text() == "oh\n"
    entries = ci("ledger.py").read(repository)
    assert [(e.part, e.commit, e.date, e.result) for e in entries.values()] == [
        ("good", head, f"{today}", "passes"),
        ("bad", head, f"{today}", "fails"),
    ]
    assert night("good")[0] == 0
    listed = night("--list")[1].splitlines()
    assert listed[0].startswith("good ")
    assert f"passes, {today}, " in listed[0]
    assert "failed" in listed[1]
    assert "never run" in listed[2]


def test_a_killed_night_goes_on_with_the_part_it_was_in(night: Night, repository: Path) -> None:
    names = ("good", "bad", "deadly")
    (repository / "build/dead").unlink()
    status, printed, ran = night(*names)
    assert status == -9
    assert "deadly" not in printed
    time.sleep(0.6)
    assert "!" not in (repository / "build/said").read_text()  # it was ended, too
    assert [line.split()[0] for line in ran.split("; ")[:-1]] == ["good", "bad"]
    status, printed, ran = night("good")  # another request does not end the round
    assert (status, ran.split()[0]) == (0, "good")
    status, printed, ran = night(*names)
    assert status == 1  # because of what failed before
    assert ran == "!; "
    assert printed.startswith("good: done before, passes\nbad: done before, fails\ndeadly: passes, ")
    assert night(*names)[2].startswith("good 2")  # the round has ended, this is the next


def test_a_fresh_night_starts_over(night: Night, repository: Path) -> None:
    (repository / "build/dead").unlink()
    night("good", "deadly")
    assert night("good", "deadly", "--fresh")[2].startswith("good 2")


def test_parts_that_use_the_core_have_it_installed_once(night: Night) -> None:
    status, printed, ran = night("core", "missing")
    assert (status, ran) == (0, "installing; with what is installed; ")
    assert "missing: left out, there is no jax here" in printed
    status, printed, ran = night("core", "missing", install="false")
    assert (status, ran) == (1, "installing; ")
    assert printed.count("jounce is not installed, see build/nightly/install.log") == 2


def test_a_part_that_does_not_end_is_ended(night: Night) -> None:
    status, printed, _ = night("endless")
    assert status == 1
    assert printed.startswith("endless: fails, ")
    assert "ended after 0 minutes" in printed


def test_a_part_that_does_not_exist(night: Night) -> None:
    status, _, ran = night("godo")
    assert (status, ran) == (2, "")


def test_near_names_are_offered(ci: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    nightly = ci("nightly")
    monkeypatch.setattr(sys, "argv", [".ci/nightly", "fuzz-udrf"])
    with pytest.raises(SystemExit):
        nightly.main()
    assert "no part 'fuzz-udrf', did you mean fuzz-urdf or " in capsys.readouterr().err


# --- Pythons --------------------------------------------------------------------------------------------


def pythons(ci: Load, *versions: str) -> list:
    module = ci("pythons")
    return [module.Python(tuple(map(int, v.split("."))), "23.0.1", f"/somewhere/{v}/python3") for v in versions]


@pytest.mark.parametrize(
    ("names", "every", "without", "expected"),
    [
        ([], False, "", "3.10.13 3.14.0"),
        ([], True, "", "3.10.13 3.11.7 3.12.11 3.14.0"),
        ([], False, "3.14", "3.10.13"),
        ([], False, "3.1", "3.10.13 3.14.0"),
        (["3.12"], False, "", "3.12.11"),
        (["3.12.11", "3.10"], False, "", "3.10.13 3.12.11"),
    ],
)
def test_which_pythons_are_used(ci: Load, names: list[str], every: bool, without: str, expected: str) -> None:
    found = pythons(ci, "3.12.1", "3.14.0", "3.12.11", "3.9.18", "3.10.13", "3.11.7", "3.12.9")
    module = ci("pythons")
    some = module.newest_of_each(found, (3, 10))
    assert " ".join(map(str, some)) == "3.10.13 3.11.7 3.12.11 3.14.0"
    assert " ".join(map(str, module.chosen(some, names, every, without))) == expected


def test_one_python_is_the_oldest_and_the_newest(ci: Load) -> None:
    (only,) = pythons(ci, "3.11.7")
    assert ci("pythons").chosen([only], [], False, "") == [only]
    assert ci("pythons").chosen([only], [], False, "3.11") == []


def test_a_python_that_is_not_here(ci: Load) -> None:
    with pytest.raises(SystemExit, match=r"no Python 3\.1 here, expected some of 3\.10\.13, 3\.11\.7"):
        ci("pythons").chosen(pythons(ci, "3.10.13", "3.11.7"), ["3.1"], False, "")


def test_what_only_looks_like_a_python_is_passed_over(
    ci: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a shim of pyenv whose version is not active."""
    (tmp_path / "python3.12").write_text("#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
    (tmp_path / "python3.12").chmod(0o755)
    (tmp_path / "python3.13").write_text("not a program")
    (tmp_path / "python3-config").write_text("")
    (tmp_path / "python3").symlink_to(sys.executable)
    module = ci("pythons")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{tmp_path / 'nowhere'}")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert sorted(path.name for path in module.candidates()) == ["python3", "python3.12", "python3.13"]
    assert module.probed(tmp_path / "python3.12") is None
    assert module.probed(tmp_path / "python3.13") is None
    assert module.probed(tmp_path / "nothing") is None


def test_the_oldest_python_and_numpy_are_those_of_pyproject(ci: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ci("pythons")
    monkeypatch.setattr(sys, "argv", [".ci/pythons", "--oldest-numpy"])
    (line,) = module.lines(module.arguments())
    assert module.oldest_allowed() == (3, 10)
    assert "numpy==1.25 " in line
    for text in ('requires-python = ">=4"', "dependencies = []"):
        monkeypatch.setattr(module, "pyproject", lambda text=text: text)
        with pytest.raises(SystemExit, match="names no oldest"):
            module.oldest_allowed() if "python" in text else module.lines(module.arguments())


@pytest.mark.skipif(importlib.util.find_spec("ensurepip") is None, reason="this Python makes no environments with pip")
@pytest.mark.parametrize(
    ("options", "expected"),
    [("", "pytest --other-python"), ("--whole", "demo pytest"), ("--folder {}", "pytest --other-python")],
)
def test_readme_runs_with_a_python(repository: Path, tmp_path: Path, options: str, expected: str) -> None:
    """With the one asked for, before others on the PATH, and without what another one left."""
    test = "[ ! -e failing ] && echo $(python3 --version) $(ls -d demo .venv 2>/dev/null) pytest"
    (repository / "README.md").write_text(f"## Two commands\n\n    touch demo  # a\n    {test}  # b\n")
    (repository / "pyproject.toml").write_text('requires-python = ">=3.10"\n')
    folder, other, temporary = tmp_path / "copy", tmp_path / "other", tmp_path / "temporary"
    for each in (folder / ".venv", other, temporary):
        each.mkdir(parents=True)
    (other / "python3").write_text("#!/bin/sh\necho Python 3.99.0\n")
    (other / "python3").chmod(0o755)
    path = os.pathsep.join([str(other), str(Path(sys._base_executable).parent), "/usr/bin", "/bin"])
    environment = {"PATH": path, "PYENV_ROOT": str(tmp_path), "TMPDIR": str(temporary)}
    version = ".".join(map(str, sys.version_info[:3]))
    command = [sys.executable, repository / ".ci/pythons", version, *options.format(folder).split()]
    done = called(command, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = done.stdout.splitlines()[-2:]
    assert f"used: {version} with pip " in first
    assert second.startswith(f"Python {version}: passes, ")
    assert second.endswith(f" s: Python {version} {expected}")
    (repository / "failing").touch()
    (folder / "failing").touch()
    done = called(command, **environment)
    assert done.returncode == 1
    assert f"Python {version}: fails, status 1, " in done.stdout
    assert not list(temporary.iterdir())


# --- .ci/run --------------------------------------------------------------------------------------------

STUBS = (
    "mkdir -p .venv/bin && for program in pip python ruff mypy clang-format pytest; do cp stub .venv/bin/$program; done"
)
STUB = '#!/bin/sh\necho "$(basename $0) $* $PYTHONPATH" >> "$SAID"; [ "$(basename $0)" != "$FAILING" ]\n'


@pytest.mark.parametrize("failing", ["", "mypy"])
def test_the_steps_of_a_run(repository: Path, tmp_path: Path, failing: str) -> None:
    (repository / "stub").write_text(STUB)
    (repository / "stub").chmod(0o755)
    (repository / "README.md").write_text(f"## Two commands\n\n    {STUBS}  # a\n    .venv/bin/pytest  # b\n")
    (repository / ".ci/pythons").write_text('#!/bin/sh\necho "pythons $*" >> "$SAID"\n')
    (tmp_path / "temporary").mkdir()
    said = tmp_path / "said"
    environment = {"SAID": str(said), "FAILING": failing, "TMPDIR": str(tmp_path / "temporary"), "PYTHONPATH": "odd"}
    done = called(["bash", repository / ".ci/run"], **environment)
    programs = [line.split()[0] for line in said.read_text().splitlines()]
    assert not list((tmp_path / "temporary").iterdir())
    assert not (repository / ".venv").exists()
    assert "odd" not in said.read_text()
    assert programs[:8] == ["pytest", "pytest", "python", "pip", "pip", "ruff", "ruff", "mypy"]
    if failing:
        assert done.returncode == 1
        assert done.stdout.splitlines()[-1].startswith("--- lint: FAILS, status 1, after ")
        assert len(programs) == 8
    else:
        assert done.returncode == 0, done.stdout + done.stderr
        assert programs[8:] == ["clang-format", "pip", "python", "pip", "pytest", "python", "pythons"]
        assert re.search(r"^--- README's demo: \d+ s, README's tests: \d+ s, ", done.stdout, re.MULTILINE)
        assert re.search(r"^--- passes in \d\.\d minutes\nThe night: 0 of ", done.stdout, re.MULTILINE)
        assert "  never run: tests, kernels, " in done.stdout


def test_a_run_that_is_ended_leaves_nothing(repository: Path, tmp_path: Path) -> None:
    pid, temporary = tmp_path / "pid", tmp_path / "temporary"
    temporary.mkdir()
    (repository / "README.md").write_text(f"## Two commands\n\n    echo $$ > {pid}; sleep 60\n    pytest\n")
    process = subprocess.Popen(["bash", repository / ".ci/run"], env={**os.environ, "TMPDIR": str(temporary)})
    group = written(pid)
    assert list(temporary.iterdir())
    process.terminate()
    assert process.wait(30) == 128 + 15
    assert not list(temporary.iterdir())
    assert ends(group)
