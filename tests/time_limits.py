"""Limits on time that a busy machine does not reach: on processor time, and on waiting for what hangs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

HANG = 600  # s: a process that has not answered by then never will, however slow and busy the machine


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fails if the block needs more processor time, of all threads together."""
    begin = time.process_time()
    yield
    used = time.process_time() - begin
    assert used < seconds, f"{used:.3g} s of processor time, expected less than {seconds:g}"
