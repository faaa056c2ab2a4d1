"""A Dask cluster on this machine, started as a user would: a scheduler and workers, on the loopback only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from time_limits import HANG

_DASK = [sys.executable, "-m", "dask"]
_HERE = str(Path(__file__).parent)


class Cluster:
    """Its processes: `scheduler`, and `workers`, whose nannies start them again unless there are none."""

    def __init__(self, folder: Path, workers: int, nanny: bool) -> None:
        self._folder, self._nanny = folder, nanny
        self._file = folder / "scheduler.json"
        local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self._start(["scheduler", "--port", "0", "--scheduler-file", str(self._file), *local])
        wait(self._file.exists)
        self.address: str = json.loads(self._file.read_text(encoding="utf-8"))["address"]
        self.workers = [self.worker() for _ in range(workers)]

    def worker(self) -> subprocess.Popen[bytes]:
        more = ["--nthreads", "1", "--nanny" if self._nanny else "--no-nanny", "--dashboard-address", "127.0.0.1:0"]
        more += ["--local-directory", str(self._folder)]
        return self._start(["worker", self.address, "--host", "127.0.0.1", *more])

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([_HERE, os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PYTHONPATH": path}
        with (self._folder / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen([*_DASK, *words], stdout=log, stderr=log, env=environment, start_new_session=True)

    def end(self) -> None:
        for each in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


@contextmanager
def cluster(folder: Path, workers: int = 2, nanny: bool = False) -> Iterator[Cluster]:
    """A cluster, gone at the end."""
    folder.mkdir(parents=True)
    started = Cluster(folder, workers, nanny)
    try:
        yield started
    finally:
        started.end()


def wait(ready: Callable[[], object]) -> None:
    """Until it is so."""
    end = time.monotonic() + HANG
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)
