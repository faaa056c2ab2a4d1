"""Which tests run, and in how many processes.

Some tests are for the night, marked so because they take too long; `pytest` leaves them out unless asked or unless they
are named. The whole suite runs in one process per core, if pytest-xdist is installed; anything less, in one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import pytest

MEMORY = 1 << 30  # bytes for a worker
# By processor time: a worker that began one of these last would end long after the others.
LONG = ("test_constraints_truth", "test_twins", "test_view_browser", "test_reproduce", "test_differential")
# Test files that take long, and that Pythons and NumPys hardly change.
SAME_WITH_EVERY_PYTHON = (
    *("allocation", "bench", "cached_build", "guarantees", "headers", "load_robustness"),  # sizes, times, builds
    *("examples", "notebooks", "plots", "view_browser", "view_geometry", "view_textures"),  # pictures
    *("closed_form_printed", "closed_form_soft", "reproduce", "soft_oracles"),  # the papers, oracles
    *("constraints_truth", "differential", "implicit_constraints", "inverse_dynamics", "large_robots", "random_ties"),
    *("discretization", "inside_out", "soft_dynamics", "stability", "units"),
    *("closed_form", "constraints_derivatives", "constraints_physics", "held_joints", "higher_derivatives", "implicit"),
    *("demo", "natural_sizes", "riccati", "statics", "typing", "view_loops", "view_meshes", "view_slow_meshes"),
)
# Of these, with many cases that differ by robot, call, page or file, other Pythons run one in three.
MANY_CASES = ("bad_input", "constraints_calls", "custom_joint", "docs", "frozen", "load_hostile", "odd_input", "twins")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jounce")
    group.addoption("--night", action="store_true", help="run the tests that take too long by day, and only these")
    group.addoption(
        "--all", action="store_true", dest="day_and_night", help="run the tests of the day and of the night"
    )
    group.addoption("--other-python", action="store_true", help="leave out what Pythons and NumPys hardly change")


# --- which tests ------------------------------------------------------------------------------------------


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    name = collection_path.stem.removeprefix("test_")
    return True if config.option.other_python and name in SAME_WITH_EVERY_PYTHON else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _meant(item, config)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        out = set(left_out)
        items[:] = [item for item in items if item not in out]
    if hasattr(config, "workerinput"):
        place = {name: i for i, name in enumerate(LONG)}
        items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


def _meant(item: pytest.Item, config: pytest.Config) -> bool:
    if config.option.other_python and _one_of_many(item):
        return False
    if config.option.day_and_night or config.option.markexpr:
        return True
    at_night = item.get_closest_marker("night") is not None
    return at_night == config.option.night or (at_night and _named(item, config))


def _one_of_many(item: pytest.Item) -> bool:
    """Whether it is a case that other Pythons leave out: two in three, the same ones every time."""
    many = item.path.stem.removeprefix("test_") in MANY_CASES
    return many and item.name.endswith("]") and crc32(item.name.encode()) % 3 > 0


def _named(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether the command line names this very test, or the function whose case it is."""
    own = item.nodeid.partition("::")[2]
    named = (name.partition("::") for name in config.args)
    return any(Path(path).name == item.path.name and test in (own, own.partition("[")[0]) for path, _, test in named)


# --- how much memory --------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _memory_goes_back() -> Iterator[None]:
    """To the system, after each module: glibc keeps what was freed, a third of a process by the end."""
    yield
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


# --- how many processes -----------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Asks for workers if the whole suite is meant, a module to each, long ones first."""
    option = config.option
    some = option.keyword or option.markexpr or option.collectonly or option.capture == "no"
    some = some or any(getattr(option, name, False) for name in ("usepdb", "trace", "lf", "stepwise"))
    if some or not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    if config.args_source is config.ArgsSource.TESTPATHS and option.numprocesses is None and not option.tx:
        option.numprocesses = "auto" if _workers() > 1 else None
    if option.numprocesses:
        workers = _workers() if option.numprocesses in ("auto", "logical") else option.numprocesses
        threads = str(max(1, _cores() // workers))
        os.environ.setdefault("OMP_NUM_THREADS", threads)  # read when a worker imports NumPy
        os.environ.setdefault("OPENBLAS_NUM_THREADS", threads)
        if option.dist == "no":
            option.dist, option.loadscopereorder = "loadfile", False


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        import jounce as jn

        jn.set_num_threads(max(1, _cores() // config.workerinput["workercount"]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    return _workers()


def _workers() -> int:
    return max(1, min(_cores(), _memory() // MEMORY))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    """Bytes that this machine has, or that its container may take."""
    try:
        here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a Unix
        return MEMORY * _cores()
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            return min(here, int(limit.read()))
    except (OSError, ValueError):  # no container, or no limit
        return here
