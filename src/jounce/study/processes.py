"""Workers: processes on this machine, each with one thread.

A process gets the study once and then jobs, as pickles through its standard input, and answers on its standard output;
nothing listens. It imports neither the script that runs the study nor anything from the working directory unless the
script does: functions of the script travel with the study. If it dies, another takes its place.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from jounce.study.description import Study
from jounce.study.errors import StudyError
from jounce.study.pieces import Found, Job, compute
from jounce.study.sending import received, sent

_CODE = "import sys; sys.path[:] = {path!r}; from jounce.study.processes import work; work()"


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def work() -> None:
    """The life of such a process."""
    import signal

    from jounce.study.threads import keep_one

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions of the user print goes where errors go
    keep_one()
    try:
        study = received(pickle.load(source))
    except StudyError as fault:
        _answer(sink, fault)
        return
    with suppress(EOFError, BrokenPipeError):  # nobody asks any more
        while True:
            _answer(sink, compute(study, pickle.load(source)))


def _answer(sink: Any, what: object) -> None:
    pickle.dump(what, sink)
    sink.flush()


class _Processes:
    """Several such processes, with a thread for each that waits for its answers."""

    deaths, alone = 3, False

    def __init__(self, study: bytes, count: int) -> None:
        self._study, self._count = study, count
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[tuple[Job, Found | str | BaseException]] = queue.SimpleQueue()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._over = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(count)]
        for each in self._threads:
            each.start()

    def room(self) -> int:
        return 2 * self._count  # so that none waits for the next

    def give(self, job: Job) -> None:
        self._jobs.put(job)

    def take(self, patience: float | None) -> tuple[Job, Found | str] | None:
        try:
            job, found = self._ended.get(timeout=patience)
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        return job, found

    def end(self) -> None:
        self._over = True
        for _ in self._threads:
            self._jobs.put(None)
        for child in list(self._children):
            child.kill()
        for each in self._threads:
            each.join()

    def _serve(self) -> None:
        child: subprocess.Popen[bytes] | None = None
        while (job := self._jobs.get()) is not None and not self._over:
            try:
                if child is None:
                    child = self._started()
                _answer(child.stdin, job)
                found: Any = pickle.load(child.stdout)  # type: ignore[arg-type]
            except (OSError, EOFError, pickle.UnpicklingError):
                found, child = self._buried(child), None
            except BaseException as fault:
                found = fault
            self._ended.put((job, found))
        if child is not None:
            self._buried(child)

    def _started(self) -> subprocess.Popen[bytes]:
        environment = os.environ | {f"{each}_NUM_THREADS": "1" for each in ("OMP", "OPENBLAS", "MKL")}
        command = [sys.executable, "-c", _CODE.format(path=sys.path)]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
        self._children.add(child)
        if self._over:
            child.kill()
        _answer(child.stdin, self._study)
        return child

    def _buried(self, child: subprocess.Popen[bytes] | None) -> str:
        """How a process ended."""
        if child is None:
            return "its process could not be started"
        with suppress(subprocess.TimeoutExpired, OSError, ValueError):
            child.communicate(timeout=0.0 if self._over else 10.0)
        child.kill()  # one that lives, but makes no sense
        child.wait()
        for stream in (child.stdin, child.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self._children.discard(child)
        code = child.returncode
        return f"its process died of signal {-code}" if code < 0 else f"its process ended with {code}"


@contextmanager
def processes(study: Study, count: int) -> Iterator[_Processes]:
    """That many processes."""
    crew = _Processes(sent(study), count)
    try:
        yield crew
    finally:
        crew.end()
