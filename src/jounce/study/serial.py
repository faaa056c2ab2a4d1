"""Workers: none but this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jounce.study.description import Study
from jounce.study.pieces import Found, Job, compute
from jounce.study.threads import one_thread


class _Serial:
    deaths, alone = 1, False

    def __init__(self, study: Study) -> None:
        self._study = study
        self._job: Job | None = None

    def room(self) -> int:
        return 1

    def give(self, job: Job) -> None:
        self._job = job

    def take(self, patience: float | None) -> tuple[Job, Found | str]:
        assert self._job is not None
        return self._job, compute(self._study, self._job)


@contextmanager
def serial(study: Study) -> Iterator[_Serial]:
    """This process."""
    with one_thread():
        yield _Serial(study)
