"""A time limit for a function that may run in any thread: when it is over, an exception is raised there."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTime(BaseException):
    """Not an ``Exception``, which functions of users may catch."""


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raises `OutOfTime` within the block if it takes longer, on the clock.

    A call into compiled code ends first.
    """
    if seconds is None:
        yield
        return
    thread, lock, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), False

    def end() -> None:
        with lock:
            if not over:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(OutOfTime))

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
        timer.cancel()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)  # one that is on its way
