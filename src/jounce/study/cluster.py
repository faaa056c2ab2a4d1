"""Workers: those of a Dask cluster.

The study is the result of a task, so Dask brings it to each worker once, also to those that join later, and makes it
again if those that have it die. A job that goes to a worker is parameters, what comes back measures; only a few jobs
for each thread are on the cluster at any time. Each goes to the worker that has the fewest: left to itself, Dask
prefers those that have the study already, and gives all short jobs to the first.

Dask gives a job whose worker died to another one. After four deaths it gives up, and blames all jobs that were on
these workers, also those that waited there.
"""

from __future__ import annotations

import math
import queue
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from jounce._checks import quoted
from jounce._extras import needed
from jounce.study.description import Study
from jounce.study.errors import StudyError
from jounce.study.pieces import Found, Job, compute
from jounce.study.sending import received, sent
from jounce.study.threads import keep_one

_AHEAD = 2  # jobs on the cluster for each thread
_LOOK = 1.0  # s between looks at how the cluster is
_PATIENCE = 10.0  # s without workers until there is a warning
_ASKING = "(__import__('importlib.metadata').metadata.version('jounce'), *__import__('sys').version_info[:2])"
_SILENT = "its scheduler does not answer any more"
_known: dict[str, Study] = {}  # of a worker: the last study
_lock = threading.Lock()


def _same(study: bytes) -> bytes:
    """The task whose result is the study."""
    return study


def _compute(key: str, study: bytes, jounce: str, job: Job) -> Found:
    """What a worker does."""
    with _lock:
        if key not in _known:
            if (own := version("jounce")) != jounce:
                raise StudyError(f"a worker has jounce {own}, and this is jounce {jounce}")
            keep_one()
            _known.clear()
            _known[key] = received(study)
    return compute(_known[key], job)


class _Cluster:
    deaths, alone = 2, True  # each of them of four workers

    def __init__(self, client: Any, study: bytes) -> None:
        self._client, self._address = client, client.scheduler.address
        self._key = f"jounce-{uuid4().hex[:12]}"
        self._jobs: dict[str, tuple[Job, Any, str]] = {}  # with their futures and workers
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}  # of each worker
        self._due, self._alive = 0.0, time.monotonic()  # when to look, when there were workers
        with self.watched(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # once for all jobs
            self._study = client.submit(_same, study, key=self._key, pure=False)

    def room(self) -> int:
        if time.monotonic() >= self._due:
            with self.watched():
                self._threads = self._client.nthreads()
            now = time.monotonic()
            self._due = now + _LOOK
            if self._threads:
                self._alive = now
            elif now > self._alive + _PATIENCE:
                self._alive = math.inf  # said once
                _warn(self._address, "has no workers left", 6)
        return _AHEAD * max(1, sum(self._threads.values()))

    def give(self, job: Job) -> None:
        key = f"{self._key}-{job.first}-{uuid4().hex[:8]}"
        arguments = self._key, self._study, version("jounce"), job
        busy = Counter(address for _, _, address in self._jobs.values())
        least = min(self._threads, key=lambda each: busy[each] / self._threads[each], default="")
        place: dict[str, Any] = {"workers": [least], "allow_other_workers": True} if least else {}
        with self.watched():
            future = self._client.submit(_compute, *arguments, key=key, pure=False, **place)
        self._jobs[key] = job, future, least
        future.add_done_callback(self._ended.put)

    def take(self, patience: float | None) -> tuple[Job, Found | str] | None:
        from distributed import KilledWorker

        with self.watched():
            try:
                future = self._ended.get(timeout=_LOOK if patience is None else min(_LOOK, patience))
            except queue.Empty:
                if self._client.status != "running":
                    raise OSError(_SILENT) from None
                return None
            if future.status == "cancelled":
                raise OSError(_SILENT)
            job, *_ = self._jobs.pop(future.key)
            try:
                found: Found = future.result()
            except KilledWorker:
                return job, "its worker died, four times in a row"
            except ImportError as fault:
                raise StudyError(f"a worker of {self._address} lacks a module: {fault}") from fault
        return job, found

    def end(self) -> None:
        """Takes back what is not finished."""
        for _, future, _ in self._jobs.values():
            with suppress(Exception):
                future.cancel()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Errors of a cluster that is not there as those of the study."""
        from concurrent.futures import CancelledError

        try:
            yield
        except (OSError, CancelledError, TimeoutError) as fault:
            raise StudyError(f"the cluster at {self._address} is lost: {str(fault) or type(fault).__name__}") from fault


@contextmanager
def cluster(study: Study, client: Any) -> Iterator[_Cluster]:
    """The workers of a client.

    Raises:
        StudyError: they cannot be reached, have another version of jounce, or cannot read the study.
    """
    distributed = needed("distributed", "a cluster")
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise ValueError(f"client is {quoted(client)}, expected a dask.distributed.Client that is not asynchronous")
    if client.status != "running":
        raise StudyError(f"client is {quoted(client)}, which is not connected to a scheduler")
    crew = _Cluster(client, sent(study))
    with crew.watched():
        _await(client)
        _check(client)
    try:
        yield crew
    finally:
        crew.end()


def _await(client: Any) -> None:
    """Until there are workers."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        _warn(client.scheduler.address, "has no workers yet", 7)
        client.wait_for_workers(1)


def _warn(address: str, what: str, depth: int) -> None:
    """At the line of the user, so many calls up."""
    warnings.warn(f"the cluster at {address} {what}: waiting for them", RuntimeWarning, stacklevel=depth)


def _check(client: Any) -> None:
    """Whether the workers have this jounce and this Python; those that join later, and their first job, say so."""
    own = version("jounce"), *sys.version_info[:2]
    found = _within(30.0, lambda: client.run(eval, _ASKING, on_error="return")) or {}
    for address, theirs in found.items():
        if isinstance(theirs, ImportError):
            raise StudyError(f"the worker at {address} has no jounce: {theirs}")
        if isinstance(theirs, tuple) and theirs != own:
            said = "jounce {} on Python {}.{}"
            raise StudyError(f"the worker at {address} has {said.format(*theirs)}, and this is {said.format(*own)}")


def _within(seconds: float, call: Callable[[], Any]) -> Any:
    """What a call returns, or None if a worker dies meanwhile, for which it might wait."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        with suppress(OSError, ValueError):
            answers.put(call())

    threading.Thread(target=ask, daemon=True).start()
    with suppress(queue.Empty):
        return answers.get(timeout=seconds)
    return None
