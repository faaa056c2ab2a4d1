"""Python programs in processes of their own, for what may take too long, too much memory, or break down.

The program gets nothing but a statement to run and streams for messages (`mjcf_child.send`, `receive`); its limits are
its own affair, and that of the timer here, for systems without limits on processor time. Whoever starts it ends it, and
then nothing of it is left. It imports nothing from the working directory, which may be a stranger's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from jounce.errors import LoadError
from jounce.loading.xml_source import reason_of

_PACKAGES = str(Path(__file__).resolve().parents[2])  # where jounce is


class NoProcessError(LoadError):
    """There can be no such process; the message says why."""


class Apart:
    """A program that runs.

    Args:
        statement: what it does, after its path to modules is that of this process, without folders that are relative.
        site: whether it imports packages as they are installed here, which may take more than that path.

    Attributes:
        sink, source: streams to it and from it.

    Raises:
        NoProcessError: it cannot be started.
    """

    def __init__(self, statement: str, site: bool = False) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise NoProcessError("a Python interpreter of its own, and there is none")
        folders = [*filter(os.path.isabs, sys.path), _PACKAGES]
        command = [sys.executable, "-Ic" if site else "-ISc", f"import sys; sys.path[:] = {folders!r}; {statement}"]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere)
        except OSError as fault:
            raise NoProcessError(f"a process of its own: {reason_of(fault)}") from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.sink: IO[bytes] = self._process.stdin
        self.source: IO[bytes] = self._process.stdout

    @contextmanager
    def killed_after(self, seconds: float) -> Iterator[None]:
        """Kills it if the block takes longer, on the clock."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def status(self) -> int:
        """That of a program which has closed its streams: minus the signal that ended it."""
        with suppress(OSError):  # from unwritten data
            self._process.communicate()
        return self._process.returncode

    def end(self) -> None:
        """Kills it, and waits until it is gone."""
        self._process.kill()
        with suppress(OSError, ValueError):  # from unwritten data; from streams that are closed
            self._process.communicate()
        self._process.wait()
