"""One thread for a member: the cores are for the workers, and sums have the same order everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jounce._core import num_threads, set_num_threads
from jounce._extras import needed


def keep_one() -> None:
    """Lets batches of the engine, BLAS and OpenMP use one thread from now on, in all of this process."""
    needed("threadpoolctl", "a study").threadpool_limits(1)
    set_num_threads(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Likewise, within the block."""
    before = num_threads()
    with needed("threadpoolctl", "a study").threadpool_limits(1):
        set_num_threads(1)
        try:
            yield
        finally:
            set_num_threads(before)
