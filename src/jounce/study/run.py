"""Running a study: what is not stored yet is given to workers, and stored as it comes back.

Workers are processes or threads that compute a job: here, on this machine, or on a cluster. A piece whose worker dies
is given to another. If that happens too often, its members are tried one by one, and those that end their worker again
are stored as crashed. Where a worker may take other jobs with it, this is done when all else is computed, one job at a
time, so that none is blamed for another.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from jounce._checks import counted, flag, whole
from jounce.display.progress import progress_bar
from jounce.study.errors import StudyError
from jounce.study.pieces import ERROR, Found, Job, crashed, joined
from jounce.study.store import Store

if TYPE_CHECKING:
    import xarray as xr

    from jounce.study.description import Study


class Crew(Protocol):
    """Workers.

    Attributes:
        deaths: how often the worker of a piece may die until its members are tried one by one.
        alone: whether a job must be alone if it shall be certain that it was what ended its worker.
    """

    deaths: int
    alone: bool

    def room(self) -> int:
        """How many jobs they should have, being computed or waiting for them."""
        ...

    def give(self, job: Job) -> None: ...
    def take(self, patience: float | None) -> tuple[Job, Found | str] | None:
        """A job that has ended, and what was found, or how the worker died that computed it.

        None if none ends within so many seconds, or a little earlier.
        """
        ...


def run(
    study: Study, client: Any, place: str | PathLike[str] | None, workers: int | None, progress: bool | None
) -> xr.Dataset:
    """See `Study.run`."""
    if workers is not None:
        workers = whole("workers", workers, 1, 1000)
        if client is not None:
            raise ValueError(f"workers is {workers}, which is for this machine, and a client is given")
    if progress is not None:
        progress = flag("progress", progress)
    table = study.table()
    store = Store(study, place, table)
    todo = np.flatnonzero(~store.finished).tolist()
    if todo:
        try:
            with _crew(study, client, workers, len(todo)) as crew:
                _drive(study, store, (_job(study, table, piece) for piece in todo), crew, progress)
        except StudyError as fault:
            raise StudyError(f"{fault}; {store.progress()}") from fault
    found = store.dataset()
    _complain(found)
    return found


def _crew(study: Study, client: Any, workers: int | None, pieces: int) -> AbstractContextManager[Crew]:
    if client is not None:
        from jounce.study.cluster import cluster

        return cluster(study, client)
    from jounce.study.processes import cores, processes
    from jounce.study.serial import serial

    count = min(workers or cores(), pieces)
    return serial(study) if count == 1 else processes(study, count)


def _job(study: Study, table: Any, piece: int) -> Job:
    first = piece * study.piece_size
    return Job(piece, first, table[first : first + study.piece_size])


def _drive(study: Study, store: Store, jobs: Iterator[Job], crew: Crew, progress: bool | None) -> None:
    busy, deaths = 0, dict[int, int]()
    singly: dict[int, dict[int, Found]] = {}  # of pieces whose members are tried one by one, by number
    again: deque[Job] = deque()
    text = f"{study.title}: {{task.completed:.0f}} of {{task.total:.0f}} members"
    share = study.members / store.finished.size
    with progress_bar(progress, text, study.members) as told, store.kept():
        while True:
            told(int(share * store.computed))
            while busy < (room := crew.room()) and (fresh := next(jobs, None)):
                crew.give(fresh)
                busy += 1
            while again and busy < (1 if crew.alone else room):
                crew.give(again.popleft())
                busy += 1
            if not busy:
                break
            ended = crew.take(store.rest())
            if ended is None:
                store.write_if_due()
                continue
            job, found = ended
            busy -= 1
            whole_piece = job.piece not in singly
            if isinstance(found, str):
                deaths[job.piece] = deaths.get(job.piece, 0) + 1
                if whole_piece and deaths[job.piece] < crew.deaths:
                    again.append(job)
                    continue
                if whole_piece and len(job.rows) > 1:
                    singly[job.piece] = {}
                    again += [Job(job.piece, job.first + i, job.rows[i : i + 1]) for i in range(len(job.rows))]
                    continue
                found = crashed(study, job, found)
            if not whole_piece:
                parts = singly[job.piece]
                parts[job.first] = found
                first = job.piece * study.piece_size
                if len(parts) < min(study.piece_size, study.members - first):
                    continue
                found = joined([part for _, part in sorted(singly.pop(job.piece).items())])
            store.add(job.piece, found)


def _complain(found: xr.Dataset) -> None:
    """Warns of errors that no scenario foresees, which are mistakes as a rule."""
    status = found["status"].values
    wrong = np.flatnonzero(status == ERROR)
    if wrong.size:
        reason = str(found["reason"][int(wrong[0])].values)
        warnings.warn(
            f"{wrong.size} of {counted(status.size, 'member')} ended with an unexpected error; the first, "
            f"number {wrong[0]}: {reason}",
            RuntimeWarning,
            stacklevel=4,
        )
