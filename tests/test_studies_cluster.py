"""Studies on clusters and on disks that fail: whatever is killed, the results are those of a serial run."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jounce as jn
from clusters import Cluster, cluster, wait
from jounce import study as st
from time_limits import HANG

if sys.version_info < (3, 11):
    pytest.skip("the packages of the extra 'study' need Python 3.11 or newer", allow_module_level=True)

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of Unix"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed", "ignore::ResourceWarning"),
]


class Slow:
    """A scenario of some milliseconds, of one thread; notes who computed which member."""

    def __init__(self, log: Path, seconds: float) -> None:
        self.log, self.seconds = str(log), seconds
        self.deadly: tuple[int, ...] = ()  # members that end their process
        self.weight: np.ndarray | None = None

    def __call__(self, robot: jn.Model, member: st.Member) -> float:
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(f"{member.index} {os.getpid()}\n")
        if member.index in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        threading.Event().wait(self.seconds)
        q = robot.random_configuration(member.rng, 50)
        return float(np.linalg.norm(robot.mass_matrix(q))) * member["a"]

    def lines(self) -> list[list[int]]:
        text = Path(self.log).read_text(encoding="utf-8") if Path(self.log).exists() else ""
        return [[int(word) for word in line.split()] for line in text.splitlines()]

    def computed(self) -> list[int]:
        return [member for member, _ in self.lines()]


def measured(flight: st.Flight) -> float:
    return float(flight.motion)


def study(log: Path, samples: int = 120, seconds: float = 0.01, piece: int = 4) -> st.Study:
    return st.Study(
        robot=jn.robots.panda(),
        parameters={"a": st.Uniform(0.0, 1.0), "load": st.Uniform(0.0, 1.0, unit="kg")},
        edits={"load": st.Payload("link7")},
        scenario=Slow(log, seconds),
        measures={"value": measured},
        samples=samples,
        piece=piece,
    )


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "cluster") as started:
        yield started


def test_a_cluster_that_loses_a_worker(two: Cluster, tmp_path: Path) -> None:
    """Bit for bit the serial results; each member once, or twice if its worker died."""
    asked = study(tmp_path / "log", samples=60, seconds=0.03)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = asked.run(workers=1)
    Path(slow.log).unlink()
    with distributed.Client(two.address, timeout=HANG, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG)

        killed: list[int] = []

        def kill() -> None:
            """The worker that has just begun a member, whichever that is."""
            wait(lambda: len(slow.lines()) >= 20)
            killed.append(slow.lines()[-1][1])
            next(worker for worker in two.workers if worker.pid == killed[0]).kill()

        killer = threading.Thread(target=kill)
        killer.start()
        found = asked.run(client, store=tmp_path / "s.zarr")
        killer.join()
        assert found.load().identical(serial)
        assert len(client.scheduler_info()["workers"]) == 1
    computed = slow.computed()
    lost = {member for member, pid in slow.lines() if pid == killed[0]}
    twice = {member for member in computed if computed.count(member) > 1}
    assert set(computed) == set(range(60))
    assert max((computed.count(member) for member in twice), default=1) <= 2
    assert twice <= lost


def test_an_address_without_a_cluster_is_named() -> None:
    command = [sys.executable, "-m", "jounce", "study", "x.toml", "--workers", "2", "--cluster", "tcp://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 2
    assert done.stderr == "jounce: --workers is for this machine, expected it without --cluster\n"


@pytest.mark.night
def test_workers_that_join_and_die_all_the_time(tmp_path: Path) -> None:
    asked = study(tmp_path / "log", samples=400)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = asked.run(workers=1)
    Path(slow.log).unlink()
    with cluster(tmp_path / "cluster", workers=2, nanny=True) as started:
        client = distributed.Client(started.address, timeout=HANG, set_as_default=False)
        with client:
            client.wait_for_workers(2, timeout=HANG)
            over = threading.Event()

            def kill() -> None:
                for count in (50, 120, 200, 280):
                    wait(lambda count=count: over.is_set() or len(slow.lines()) >= count)
                    if not over.is_set():
                        os.kill(slow.lines()[-1][1], signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            found = asked.run(client, store=tmp_path / "s.zarr")
            over.set()
            killer.join()
    assert found.load().identical(serial)
    assert set(slow.computed()) == set(range(400))
    assert len(slow.computed()) <= 400 + 4 * 4
    assert len({pid for _, pid in slow.lines()}) >= 5  # two, and one for each that died


@pytest.mark.night
def test_idle_workers_share_short_pieces(two: Cluster, tmp_path: Path) -> None:
    """Evenly, also with a study of half a megabyte, which one worker has before the other."""
    asked = study(tmp_path / "log", samples=40, seconds=0.0, piece=1)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    slow.weight = np.zeros(60_000)
    with distributed.Client(two.address, timeout=HANG, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG)
        asked.run(client)  # now both have imported what they need
        Path(slow.log).unlink()
        asked.run(client)
    shares = Counter(pid for _, pid in slow.lines())
    assert len(shares) == 2
    assert min(shares.values()) >= 10  # 19 or 20 on an idle machine


@pytest.mark.filterwarnings("ignore:.*has no workers left")  # on a busy machine, where they take long to start again
@pytest.mark.night
def test_members_that_end_every_worker_are_results(tmp_path: Path) -> None:
    """They are stored as crashed, and none of those that were on the same workers is blamed."""
    asked = study(tmp_path / "log", samples=24, piece=2)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = asked.run(workers=1).load()
    Path(slow.log).unlink()
    slow.deadly = (6, 15)
    with (
        cluster(tmp_path / "cluster", workers=2, nanny=True) as started,
        distributed.Client(started.address, timeout=HANG, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=HANG)
        found = asked.run(client, store=tmp_path / "s.zarr").load()
    assert np.flatnonzero(found["status"].values).tolist() == [6, 15]
    assert found["status"].values[[6, 15]].tolist() == [7, 7]
    assert set(found["reason"].values[[6, 15]].tolist()) == {"its worker died, four times in a row"}
    others = found["member"].values[found["status"].values == 0]
    assert found.sel(member=others)["value"].equals(serial.sel(member=others)["value"])


@pytest.mark.night
def test_a_scheduler_that_is_lost(two: Cluster, tmp_path: Path) -> None:
    asked = study(tmp_path / "log", samples=200)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = asked.run(workers=1)
    Path(slow.log).unlink()
    with distributed.Client(two.address, timeout=HANG, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG)

        def kill() -> None:
            wait(lambda: len(slow.lines()) >= 80)
            two.scheduler.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        words = rf"the cluster at {two.address} is lost: .*; \d+ of 50 pieces are stored in .*s\.zarr"
        with pytest.raises(st.StudyError, match=words):
            asked.run(client, store=tmp_path / "s.zarr")
        killer.join()
    half = st.read(tmp_path / "s.zarr")
    done = np.flatnonzero(half["status"].values == 0)
    assert done.size >= 40
    assert half.isel(member=done).load().equals(serial.isel(member=done))
    Path(slow.log).unlink()
    assert asked.run(store=tmp_path / "s.zarr", workers=1).load().identical(serial)
    assert set(slow.computed()) == set(range(200)) - set(done.tolist())


@pytest.mark.night
@pytest.mark.parametrize("where", ["cluster", "processes"])
def test_a_driver_that_is_killed(where: str, tmp_path: Path) -> None:
    """Killed thrice at different places and started again: the same results, and no finished piece computed again."""
    asked = study(tmp_path / "log", samples=300)
    slow: Slow = asked.scenario  # type: ignore[assignment]
    serial = asked.run(workers=1)
    Path(slow.log).unlink()
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
from pathlib import Path
from test_studies_cluster import distributed, study
from jounce.study import store
store._REST = 0.0  # each piece is written at once, so that the bounds below do not depend on how busy the machine is
if __name__ == "__main__":
    asked = study(Path({str(tmp_path / "log")!r}), samples=300)
    client = distributed.Client(sys.argv[1]) if sys.argv[1] else None
    asked.run(client, store={str(tmp_path / "s.zarr")!r}, **({{}} if client else {{"workers": 2}}))
"""
    (tmp_path / "driver.py").write_text(code, encoding="utf-8")
    with cluster(tmp_path / "cluster") as started:
        address = started.address if where == "cluster" else ""
        for count in (40, 110, 200):
            command = [sys.executable, str(tmp_path / "driver.py"), address]
            driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            wait(lambda count=count, driver=driver: len(slow.lines()) >= count or driver.poll() is not None)
            driver.kill()
            driver.wait()
            done = np.flatnonzero(st.read(tmp_path / "s.zarr")["status"].values == 0).tolist()
            assert len(set(done)) >= count - 40
        subprocess.run([sys.executable, str(tmp_path / "driver.py"), address], timeout=HANG, check=True)
    computed = slow.computed()
    assert st.read(tmp_path / "s.zarr").load().identical(serial)
    assert set(computed) == set(range(300))
    assert max(map(computed.count, range(300))) <= 4
    assert len(computed) <= 300 + 3 * 4 * 6


@pytest.mark.night
def test_a_model_travels_once_a_worker(two: Cluster, tmp_path: Path) -> None:
    """A study with a large constant: a job is small, and each worker unpickles the study once."""
    large = np.random.default_rng(0).random(500_000)
    log = str(tmp_path / "unpickled")

    class Large:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __reduce__(self) -> tuple[object, ...]:
            return _large, (type(self), self.values, log)

        def __call__(self, robot: jn.Model, member: st.Member) -> float:
            threading.Event().wait(0.02)  # so that both workers get some
            return float(self.values[member.index])

    asked = replace(study(tmp_path / "log", samples=400), scenario=Large(large))
    with distributed.Client(two.address, timeout=HANG, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG)
        found = asked.run(client)
    assert (found["value"].values == large[:400]).all()
    assert sorted(set(map(int, Path(log).read_text().split()))) == sorted(each.pid for each in two.workers)
    assert len(Path(log).read_text().split()) == 2


def _large(kind: type, values: np.ndarray, log: str) -> object:
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    return kind(values)


# --- disks ------------------------------------------------------------------------------------------------


def test_a_full_disk(tmp_path: Path) -> None:
    """As seen by a process that may write only small files: an error that says so, and what was written is readable."""
    code = f"""
import resource, signal, sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from test_studies_cluster import study, st
from jounce.study import store
store._REST = 0.0  # each piece is written at once, to know which are
asked = study(Path({str(tmp_path / "log")!r}), samples=40, seconds=0.0)
count = [0]
def measure(flight):
    count[0] += 1
    if count[0] == 13:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))
    return flight.motion
object.__setattr__(asked, "measures", {{"value": measure}})
prints = asked.fingerprint()
object.__setattr__(asked, "fingerprint", lambda: prints)
try:
    asked.run(store={str(tmp_path / "s.zarr")!r}, workers=1)
except st.StudyError as fault:
    print(fault)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
half = st.read({str(tmp_path / "s.zarr")!r}).load()
assert half["status"].values.tolist() == 12 * [0] + 28 * [-1]
assert asked.run(workers=1).isel(member=range(12)).equals(half.isel(member=range(12)))
assert (asked.run(store={str(tmp_path / "s.zarr")!r}, workers=1)["status"] == 0).all()
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 's.zarr'} cannot be written: File too large; 3 of 10 pieces are stored in " + (
        f"{tmp_path / 's.zarr'}\n"
    )


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root mounts disks")
@pytest.mark.night
def test_disks_that_are_full_or_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jounce.study import store

    monkeypatch.setattr(store, "_CHUNK", 20)  # a file for each piece, so that a small study fills the disk
    monkeypatch.setattr(store, "_REST", 0.0)
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], check=False)
    if made.returncode != 0:
        pytest.skip("this machine does not let root mount disks")
    try:
        asked = study(tmp_path / "log", samples=4000, seconds=0.0, piece=20)
        with pytest.raises(st.StudyError, match=r"cannot be written: No space left on device; \d+ of 200 pieces"):
            asked.run(store=disk / "s.zarr", workers=1)
        half = st.read(disk / "s.zarr").load()
        done = np.flatnonzero(half["status"].values == 0)
        assert 0 < done.size < 4000
        assert half.isel(member=done).equals(asked.run(workers=1).isel(member=done))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(st.StudyError, match=r"s\.zarr cannot be opened: Read-only file system"):
            asked.run(store=disk / "s.zarr", workers=1)
        with pytest.raises(st.StudyError, match=r"new\.zarr cannot be opened: Read-only file system"):
            asked.run(store=disk / "new.zarr", workers=1)
        assert st.read(disk / "s.zarr").load().identical(half)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# --- cost -------------------------------------------------------------------------------------------------


@pytest.mark.night
def test_a_million_members_in_a_gigabyte(tmp_path: Path) -> None:
    code = f"""
import resource, time
import jounce as jn
from jounce import study as st
asked = st.Study(
    robot=jn.robots.panda(), parameters={{"a": st.Uniform(0, 1), "b": st.Normal(0, 1)}}, samples=1_000_000,
    scenario=lambda robot, member: member["a"], measures={{"again": lambda flight: flight.motion}})
found = asked.run(store={str(tmp_path / "s.zarr")!r})
assert (found["again"].values == found["a"].values).all()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True)
    own, child, seconds = map(float, done.stdout.split())
    assert own + child * len(os.sched_getaffinity(0)) < 1e6  # kB
    assert seconds < 600


def test_the_machinery_costs_little(tmp_path: Path) -> None:
    """At most 5 % of the processor time of pieces of half a second: of 50 members of 10 ms."""
    code = f"""
import time
import jounce as jn
from jounce import study as st
spent = []
for pieces in (4, 4, 44):
    asked = st.Study(
        robot=jn.robots.panda(), parameters={{"a": st.Uniform(0, 1)}}, samples=50 * pieces, piece=50,
        scenario=lambda robot, member: member["a"], measures={{str(i): lambda flight: 1.0 for i in range(4)}})
    begin = time.process_time()
    asked.run(store={str(tmp_path)!r} + f"/{{len(spent)}}.zarr", workers=1)
    spent.append(time.process_time() - begin)
print((spent[2] - spent[1]) / 40)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True)
    assert float(done.stdout) < 0.05 * 0.5


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.night
def test_workers_of_another_version_are_named(two: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jounce.study import cluster as module

    asked = study(tmp_path / "log")
    with distributed.Client(two.address, timeout=HANG, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=HANG)
        monkeypatch.setattr(module, "version", lambda name: "9.9")
        words = r"the worker at tcp://127\.0\.0\.1:\d+ has jounce .* on Python .*, and this is jounce 9\.9 on Python"
        with pytest.raises(st.StudyError, match=words):
            asked.run(client)
        monkeypatch.setattr(module, "_check", lambda client: None)  # one that joins later
        with pytest.raises(st.StudyError, match=r"a worker has jounce .*, and this is jounce 9\.9; 0 of 30 pieces"):
            asked.run(client)
    assert not (tmp_path / "log").exists()
    with pytest.raises(st.StudyError, match="which is not connected to a scheduler"):
        asked.run(client)


@pytest.mark.night
def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from pathlib import Path\nfrom test_studies_cluster import study\nown = study(Path('log'))\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "jounce", "study", "own.py", "--cluster", "tcp://127.0.0.1:9"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("jounce: the cluster at tcp://127.0.0.1:9 cannot be reached: ")
    assert not (tmp_path / "own.zarr").exists()
